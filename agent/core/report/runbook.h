/*
 * runbook - the pages of docs/runbook, one for each cause (cause.h), as text in the binary: the image
 * has no docs. The table is made by the build (tools/embed-runbook.sh).
 */
#ifndef DREY_CORE_RUNBOOK_H
#define DREY_CORE_RUNBOOK_H

#include <stddef.h>

struct runbook_page {
	const char *cause; /* NULL: the end of the table */
	const char *text;  /* Markdown; begins with "# CAUSE\n\n" and one sentence */
};

extern const struct runbook_page runbook_pages[]; /* sorted by cause */

/* The page of a cause, whatever the case of its letters; NULL: there is none. */
const struct runbook_page *runbook_find(const char *cause);

/* The page's sentence: what the cause means; its length in bytes. Borrowed, not terminated. */
const char *runbook_sentence(const struct runbook_page *page, size_t *ret_len_bytes);

#endif
