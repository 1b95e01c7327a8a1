/* wrap - text that comes from outside, made harmless (base/visible.h) and broken into lines. Pure. */
#ifndef DREY_CMD_WRAP_H
#define DREY_CMD_WRAP_H

#include <stddef.h>

#include "cmd/shown.h"

/*
 * Append a text to a line that is `column` columns long. A line is broken at a space, where the next word
 * would go beyond `width`; the next line begins with `indent` spaces. Words and what stands between
 * backquotes are never broken, so that a path or a command can be copied. width 0: one line.
 */
void wrap_add(const char *text, size_t column, size_t indent, size_t width, struct shown *ret_text);

#endif
