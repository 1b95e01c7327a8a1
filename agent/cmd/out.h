/*
 * out - the one door to the terminal: everything that a command prints goes through it.
 *
 * What is printed comes from jobs, from storage and from the cluster, and may be hostile: escape sequences
 * write to a person's clipboard, clear the screen, or show another text than there is. So a command has no
 * FILE, and nothing of stdio.h that prints (tools/lint.sh); out_put() makes its arguments harmless. Output that is
 * laid out first is a struct shown (shown.h); a document is JSON or YAML (output.h).
 */
#ifndef DREY_CMD_OUT_H
#define DREY_CMD_OUT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "cmd/shown.h"

struct out {
	FILE *raw; /* borrowed; only out.c touches it (tools/lint.sh) */
};

struct out out_of(FILE *stream);

/* As visible_addf(): the format is layout, the arguments are harmless. */
void out_put(struct out out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void out_vput(struct out out, const char *fmt, va_list args) __attribute__((format(printf, 2, 0)));

void out_shown(struct out out, const struct shown *text);

/* A line: the label, blanks up to `indent`, and the text, broken into lines as wide as the terminal that begin there. */
void out_row(struct out out, const char *label, size_t indent, const char *text);

/*
 * Lines of this program itself, or of a document that it has made: newlines and tabs stay, everything else
 * is made harmless. A text from outside must not come here: it could forge a line (tools/lint.sh has who may).
 */
void out_lines(struct out out, const char *text);

/* -1: the output could not be written, now or before. */
int out_flush(struct out out);

/* The descriptor, for questions about a terminal; -1: it has none. */
int out_fd(struct out out);
bool out_is_terminal(struct out out);

/* How to lay out what is printed there (term.h). */
struct term out_term(struct out out);

#endif
