/*
 * embedded - files that are part of the program: tools/embed.sh makes a table of them when drey is built.
 */
#ifndef DREY_BASE_EMBEDDED_H
#define DREY_BASE_EMBEDDED_H

#include <stddef.h>

struct embedded {
	const char *name; /* of the file, without directory and .md; NULL at the end of the table */
	const char *text; /* ends with a NUL that does not count */
	size_t len_bytes;
	const char *
		sha256; /* of the text, in Base64: libcrypto would cost more memory than the page */
};

extern const struct embedded
	embedded_web[]; /* agent/core/web: the page, its style and its scripts */

#endif
