/*
 * table - lines in columns, the first line has the heads. Pure. What is added is made harmless (shown.h).
 *
 * Life cycle: a zeroed one with `columns` set -> table_add() for each cell, row by row -> table_text() ->
 * table_release().
 */
#ifndef DREY_CMD_TABLE_H
#define DREY_CMD_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "cmd/shown.h"
#include "cmd/term.h"

#define TABLE_COLUMNS 12

struct table {
	size_t columns; /* at most TABLE_COLUMNS */
	char **cells;   /* owned */
	size_t count;   /* cells */
};

void table_add(struct table *table, const char *text); /* NULL and "" are "-" */
void table_add_age(struct table *table, int64_t then_unix_ms, int64_t now_unix_ms); /* 0: "-" */

/* Append the lines. In all rows but the heads column `coloured` has the colour that colours[row - 1] says; NULL: none. */
void table_text(const struct table *table, const struct term *term, size_t coloured,
		const enum term_colour *colours, struct shown *ret_text);

void table_release(struct table *table);

#endif
