/*
 * text - small printing helpers of the commands.
 */
#ifndef DREY_CMD_TEXT_H
#define DREY_CMD_TEXT_H

#include <stdint.h>

#include "base/buf.h"
#include "cmd/out.h"

#define TEXT_SIZE_BYTES 24

/* Each line with `indent` in front, and a newline behind the last one. */
void text_print_lines(const char *text, const char *indent, struct out out);

/* A word quoted for a shell. */
void text_print_shell(const char *word, struct out out);

/* "830 B", "1.5 kB", "2.4 GB" (powers of 1000). Returns `text`. */
const char *text_size(int64_t size_bytes, char text[TEXT_SIZE_BYTES]);

/* Append the text with each id (32 hex digits alone) as its first 8 digits: for one line of a terminal, where the rest of it
 * would hide what follows. */
void text_short_ids(const char *text, struct buf *to);

#endif
