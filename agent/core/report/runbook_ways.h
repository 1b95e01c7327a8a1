/*
 * runbook_ways - the table "The ways out" of a page of the runbook. Pure.
 */
#ifndef DREY_CORE_RUNBOOK_WAYS_H
#define DREY_CORE_RUNBOOK_WAYS_H

#include <stdbool.h>
#include <stddef.h>

/* A row; the text is Markdown, and borrowed from the page. */
struct runbook_way {
	const char *text;
	size_t text_bytes;
	const char *loses; /* empty: it does not say */
	size_t loses_bytes;
};

/* The next row: a zeroed struct gives the first one, that of the last call the one after it. False: there is no more,
 * or the page has no such table. */
bool runbook_next_way(const char *page, struct runbook_way *way);

#endif
