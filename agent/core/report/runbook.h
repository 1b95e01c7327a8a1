/*
 * runbook - the pages of docs/runbook, one for each cause (cause.h), as text in the binary: the image
 * has no docs. The table is made by the build (tools/embed.sh).
 */
#ifndef DREY_CORE_RUNBOOK_H
#define DREY_CORE_RUNBOOK_H

#include <stddef.h>

#include "base/embedded.h"

/* Sorted by their names, the causes. The text is Markdown; it begins with "# CAUSE\n\n" and one sentence. */
extern const struct embedded runbook_pages[];

/* The page of a cause, whatever the case of its letters; NULL: there is none. */
const struct embedded *runbook_find(const char *cause);

/* The page's sentence: what the cause means; its length in bytes. Borrowed, not terminated. */
const char *runbook_sentence(const struct embedded *page, size_t *ret_len_bytes);

#endif
