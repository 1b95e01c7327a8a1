/*
 * wrap - text that comes from outside, made harmless and broken into lines. Pure.
 *
 * Names and messages come from storage, from Flink and from people. What could move a cursor, forge a
 * line or reverse the reading order is shown as \xNN (a byte) or \u{NNNN} (a character): control
 * characters, invalid UTF-8, line and paragraph separators, and the marks that change the direction
 * of text. Letters of every script stay as they are.
 */
#ifndef DREY_CMD_WRAP_H
#define DREY_CMD_WRAP_H

#include "base/buf.h"

/* Append the text, harmless; NULL appends nothing. */
void wrap_visible(const char *text, struct buf *ret_text);

/* How many columns the text takes: 0 for combining marks, 2 for wide characters. */
size_t wrap_columns(const char *text, size_t len_bytes);

/*
 * Append harmless text to a line that is `column` columns long. A line is broken at a space, where the
 * next word would go beyond `width`; the next line begins with `indent` spaces. Words and what stands
 * between backquotes are never broken, so that a path or a command can be copied. width 0: one line.
 */
void wrap_add(const char *text, size_t column, size_t indent, size_t width, struct buf *ret_text);

#endif
