/*
 * term - how output is laid out: how wide, and whether in colour. The decisions are pure.
 *
 * Scripts get what people get, but no colour and no line breaks: both depend on a terminal.
 */
#ifndef DREY_CMD_TERM_H
#define DREY_CMD_TERM_H

#include <stdbool.h>

#define TERM_MIN_WIDTH     20
#define TERM_DEFAULT_WIDTH 80

struct term {
	int width; /* columns; 0: lines are not broken */
	bool colour;
	int height;    /* rows; 0: not known */
	bool rewrites; /* a line can be replaced in place */
};

/* What the decision is made from; texts may be NULL. */
struct term_facts {
	bool terminal;     /* the output is one */
	int columns, rows; /* as the terminal reports; 0 = it does not */
	const char *type;  /* $TERM */
	const char *
		no_color; /* $NO_COLOR: any text but the empty one forbids colours (no-color.org) */
};

struct term term_decide(const struct term_facts *facts);

/* The same for a descriptor (-1: none), with the environment of this process. */
struct term term_of(int fd);

enum term_colour { TERM_PLAIN, TERM_BOLD, TERM_DIM, TERM_RED, TERM_GREEN, TERM_YELLOW, TERM_CYAN };

/* The sequences that begin and end a colour; "" without colours. */
const char *term_begin(const struct term *term, enum term_colour colour);
const char *term_end(const struct term *term, enum term_colour colour);

#endif
