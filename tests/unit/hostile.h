/*
 * hostile - 200 texts that a job, a store or a neighbour in the cluster could put into a name or a message, and
 * what must not be left of them where a person looks. Made from a table, always the same ones.
 *
 * What is dangerous is spelled anew here: if base/visible.c forgets something, this does not.
 */
#ifndef DREY_TESTS_HOSTILE_H
#define DREY_TESTS_HOSTILE_H

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

#define HOSTILE_COUNT 200
#define HOSTILE_FORGED                                                                             \
	"FORGED" /* stands at the beginning of a line only if a text could break one */

static const char *const hostile_marks[] = {
	/* escape sequences: title, clipboard, screen, colour, cursor, answer back, device control, hyperlink */
	"\x1b]0;pwned\x07",
	"\x1b]52;c;cm0gLXJmIH4=\x07",
	"\x1b[2J\x1b[H",
	"\x1b[8m",
	"\x1b[1A\x1b[2K",
	"\x1b[6n",
	"\x1bPq#0\x1b\\",
	"\x1b]8;;http://evil/\x1b\\",
	"\x1b[?1049h",
	"\x1b"
	"c",
	/* the same by C1, as a byte and as a character */
	"\x9b"
	"2J",
	"\xc2\x9b"
	"2J",
	"\x9d"
	"0;pwned\x9c",
	"\xc2\x9d"
	"0;pwned\xc2\x9c",
	"\x90q\x9c",
	"\xc2\x85" HOSTILE_FORGED,
	"\x85" HOSTILE_FORGED,
	"\xc2\x80",
	"\xc2\x9f",
	/* other controls */
	"\x01",
	"\x07",
	"\x08\x08\x08",
	"\x0b" HOSTILE_FORGED,
	"\x0c" HOSTILE_FORGED,
	"\r" HOSTILE_FORGED,
	"\n" HOSTILE_FORGED,
	"\r\n" HOSTILE_FORGED,
	"\t",
	"\x0e",
	"\x7f",
	"\x1f",
	/* direction, separators, no width */
	"\xe2\x80\xae"
	"gpj.exe",
	"\xe2\x80\xaa",
	"\xe2\x81\xa6",
	"\xe2\x81\xa9",
	"\xe2\x80\x8e",
	"\xe2\x80\x8f",
	"\xd8\x9c",
	"\xe2\x80\xa8" HOSTILE_FORGED,
	"\xe2\x80\xa9" HOSTILE_FORGED,
	"\xe2\x80\x8b",
	"\xe2\x81\xa0",
	"\xef\xbb\xbf",
	"\xf3\xa0\x80\xa0",
	/* no UTF-8: overlong, surrogates, cut, too large */
	"\xc0\x8a" HOSTILE_FORGED,
	"\xe0\x80\x9b",
	"\xc1\x9b",
	"\xed\xa0\x80",
	"\xed\xbf\xbf",
	"\xf4\x90\x80\x80",
	"\xf8\x88\x80\x80\x80",
	"\xff",
	"\xe2\x80",
	"\xc2",
};

/* Append text number i: each mark alone, in front, inside, behind, doubled, and behind another one. */
static inline void hostile_add(size_t i, struct buf *to)
{
	const char *mark = hostile_marks[i % ARRAY_LEN(hostile_marks)];
	const char *other = hostile_marks[(i * 7 + 3) % ARRAY_LEN(hostile_marks)];

	switch (i / ARRAY_LEN(hostile_marks)) {
	case 0:
		buf_addf(to, "the job %s failed", mark);
		break;
	case 1:
		buf_addf(to, "%sorders", mark);
		break;
	case 2:
		buf_addf(to, "orders%s%s%s", mark, other, mark);
		break;
	default:
		buf_addf(to, "%s\xe6\xbc\xa2 %s \xd7\xa9", mark, other);
		break;
	}
}

/* The length of a character, 0 for none; strict, and not that of base/utf8.c. */
static inline size_t hostile_char(const unsigned char *at, unsigned *ret_code)
{
	size_t bytes = *at < 0x80       ? 1
		       : *at >> 5 == 6  ? 2
		       : *at >> 4 == 14 ? 3
		       : *at >> 3 == 30 ? 4
					: 0;
	static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
	unsigned code = bytes == 1 ? *at : *at & (0x7fu >> bytes);

	for (size_t i = 1; i < bytes; i++) {
		if (at[i] >> 6 != 2)
			return 0;
		code = code << 6 | (at[i] & 0x3f);
	}
	*ret_code = code;
	return bytes && code >= least[bytes] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)
		       ? bytes
		       : 0;
}

static inline bool hostile_code(unsigned code)
{
	return (code < 0x20 && code != '\n') || (code >= 0x7f && code <= 0x9f) || code == 0x61c ||
	       (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2060 && code <= 0x2069) || code == 0xfeff || (code >> 8) == 0xe00;
}

/*
 * What of a printed text would harm a terminal or a reader; NULL: nothing. Newlines are layout, and so are the
 * sequences in `own`, if it is given: up to NULL.
 */
static inline const char *hostile_left(const char *text, const char *const *own)
{
	const unsigned char *at = (const unsigned char *)text;

	for (size_t bytes; *at; at += bytes) {
		unsigned code = 0;

		for (size_t i = 0; own && own[i]; i++)
			if (!strncmp((const char *)at, own[i], strlen(own[i])))
				at += strlen(own[i]);
		if (!*at)
			break;
		bytes = hostile_char(at, &code);
		if (!bytes)
			return "no UTF-8";
		if (hostile_code(code))
			return (const char *)at;
	}
	if (!strncmp(text, HOSTILE_FORGED, strlen(HOSTILE_FORGED)) ||
	    strstr(text, "\n" HOSTILE_FORGED))
		return "a forged line";
	return NULL;
}

#endif
