/*
 * rows - a list of names and values for people, laid out for the width of a terminal. Pure.
 *
 * Life cycle: struct rows rows = {.term, .now_unix_ms, .to}; rows_begin() -> rows_add() ... for each row;
 * rows_end(). What is added is made harmless (shown.h).
 */
#ifndef DREY_CMD_ROWS_H
#define DREY_CMD_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "cmd/shown.h"
#include "cmd/term.h"

struct rows {
	const struct term *term; /* borrowed */
	int64_t now_unix_ms;     /* for ages */
	struct shown *to;        /* borrowed */
	const char *name;        /* of the row that has begun; NULL: none */
	struct buf value;        /* as it came; harmless where it is laid out */
};

/* End the row before, and begin one: "  NAME           VALUE". `name` is borrowed until the next one. */
void rows_begin(struct rows *rows, const char *name);

void rows_add(struct rows *rows, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* "BEFORE3 min 20 s ago"; nothing for an unknown time (0). */
void rows_add_ago(struct rows *rows, const char *before, int64_t unix_ms);

/* The row gets no second line: what does not fit ends with "...". width 0: that of the terminal. */
void rows_cut(struct rows *rows, int width);

/* End the last row. */
void rows_end(struct rows *rows);

#endif
