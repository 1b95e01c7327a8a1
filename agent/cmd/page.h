/*
 * page - a page of docs/runbook for a terminal: Markdown as these pages have it (headings, paragraphs,
 * lists, tables, blocks of code, links) as text that is broken into lines. Pure.
 */
#ifndef DREY_CMD_PAGE_H
#define DREY_CMD_PAGE_H

#include "cmd/shown.h"
#include "cmd/term.h"

/*
 * Append the page. Lines are at most term->width columns long, but blocks of code keep their lines.
 * A row of a table is a list item: its first cell, and below it the others with the heads of their
 * columns. Of a link only its text remains.
 */
void page_add(const char *markdown, const struct term *term, struct shown *ret_text);

#endif
