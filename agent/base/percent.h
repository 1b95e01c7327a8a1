/* percent - percent-encoding of RFC 3986, for queries and paths. */
#ifndef DREY_BASE_PERCENT_H
#define DREY_BASE_PERCENT_H

#include <stdbool.h>

#include "base/buf.h"

/* Append text encoded: all but A-Z a-z 0-9 - . _ ~ and, with keep_slash, '/'. */
void percent_encode(struct buf *to, const char *text, bool keep_slash);

/* In place. -1 when a percent sign is not followed by two hex digits or would give a NUL. */
int percent_decode(char *text);

int hex_digit(int ch); /* its value; -1 if it is none */

#endif
