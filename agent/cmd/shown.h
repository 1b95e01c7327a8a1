/*
 * shown - text that is ready to be shown to people. Pure.
 *
 * Only the functions of this header add to one, and all of them make what comes from outside harmless
 * (base/visible.h). So where a struct shown is asked for, text that nobody has looked at does not compile.
 *
 * Life cycle: struct shown text = {0}; shown_addf() ...; shown_release().
 */
#ifndef DREY_CMD_SHOWN_H
#define DREY_CMD_SHOWN_H

#include <stddef.h>

#include "base/buf.h"
#include "cmd/term.h"

struct shown {
	struct buf harmless; /* only shown.c, wrap.c and watch.c touch it (tools/lint.sh) */
};

/* As visible_addf(): the format is layout, the arguments are harmless. */
void shown_addf(struct shown *to, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The beginning and the end of a colour; nothing where there are no colours. */
void shown_begin(struct shown *to, const struct term *term, enum term_colour colour);
void shown_end(struct shown *to, const struct term *term, enum term_colour colour);

/* What takes more than so many columns is left out, with "..." at the end. For one line without colours. */
void shown_cut(struct shown *text, size_t columns);

size_t shown_columns(const struct shown *text);

/* The text, never NULL; borrowed until the next call. */
const char *shown_str(const struct shown *text);

void shown_release(struct shown *text);

#define cleanup_shown __attribute__((cleanup(shown_release)))

#endif
