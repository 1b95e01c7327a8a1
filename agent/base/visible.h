/*
 * visible - text that comes from outside, made harmless for people's eyes and for terminals. Pure.
 *
 * Names and messages come from storage, from Flink, from the API server and from people. What could move
 * a cursor, forge a line, hide text or reverse the reading order is shown as \xNN (a byte) or \u{NNNN} (a
 * character): control characters (C0, DEL, C1 as UTF-8 or as a byte), invalid UTF-8 with overlong forms and
 * surrogates, line and paragraph separators, marks that change the direction of text, and characters
 * without a width. Letters of every script stay as they are. What is harmless stays as it is, so that
 * nothing is escaped twice.
 */
#ifndef DREY_BASE_VISIBLE_H
#define DREY_BASE_VISIBLE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* Must this character not reach a terminal as it is? Newline and tab are such, too. */
bool visible_is_harmful(uint32_t code_point);

/* Append the text, harmless; NULL appends nothing. */
void visible_add(const char *text, struct buf *ret_text);

/*
 * Append as printf() does. What `fmt` itself says is layout (newlines, colours) and stays; the text of each
 * %s and %c is made harmless, so an argument never is layout. %s of NULL appends nothing. A width counts
 * columns, a precision bytes. Conversions: c d i u x X o e f g s p %, with * and the usual lengths; others
 * end the program.
 */
void visible_addf(struct buf *ret_text, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void visible_addvf(struct buf *ret_text, const char *fmt, va_list args)
	__attribute__((format(printf, 2, 0)));

/* How many columns the text takes: 0 for combining marks, 2 for wide characters. */
size_t visible_columns(const char *text, size_t len_bytes);

#endif
