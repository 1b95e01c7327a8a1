/* utf8 - is this UTF-8? According to RFC 3629: no overlong forms, no surrogates, nothing over
 * U+10FFFF. And where may it be cut, and which characters
 * does it have? */
#ifndef DREY_BASE_UTF8_H
#define DREY_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The length in bytes (1-4) of the character at `text`, of which left_bytes may be read; 0 if there
 * is no valid one. */
size_t utf8_char_bytes(const char *text, size_t left_bytes);

/* The code point of the valid character of `bytes` bytes at `text`. */
uint32_t utf8_code_point(const char *text, size_t bytes);

struct utf8_range {
	uint32_t first, last;
};

bool utf8_is_in(const struct utf8_range *ranges, size_t count, uint32_t code_point);

/* The longest beginning of text of at most max_bytes that does not end inside a character. */
size_t utf8_cut(const char *text, size_t max_bytes);

#endif
