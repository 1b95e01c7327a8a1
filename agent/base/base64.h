/*
 * base64 - RFC 4648 section 4: padded, no line breaks, nothing after the end.
 */
#ifndef DREY_BASE_BASE64_H
#define DREY_BASE_BASE64_H

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

/* Append the decoded bytes of `text`; more than max_bytes, empty text, other characters and stray
 * bits are ERR_FORMAT (`to` may then have a part of them). */
int base64_decode(const char *text, size_t len_bytes, size_t max_bytes, struct buf *to,
		  struct err *err);

/* Append the bytes, encoded. */
void base64_encode(const void *bytes, size_t len_bytes, struct buf *to);

#endif
