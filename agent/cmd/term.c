#include "cmd/term.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/mem.h"

struct term term_decide(const struct term_facts *facts)
{
	bool dumb = !facts->type || !*facts->type || !strcmp(facts->type, "dumb");
	int columns = facts->columns > 0 ? facts->columns : TERM_DEFAULT_WIDTH;

	if (!facts->terminal)
		return (struct term){0};
	return (struct term){
		.width = columns < TERM_MIN_WIDTH ? TERM_MIN_WIDTH : columns,
		.colour = !dumb && !(facts->no_color && *facts->no_color),
		.height = facts->rows,
		.rewrites = !dumb,
	};
}

struct term term_of(int fd)
{
	struct term_facts facts = {.type = getenv("TERM"), .no_color = getenv("NO_COLOR")};
	struct winsize size;

	facts.terminal = fd >= 0 && isatty(fd);
	if (facts.terminal && ioctl(fd, TIOCGWINSZ, &size) == 0) {
		facts.columns = size.ws_col;
		facts.rows = size.ws_row;
	}
	return term_decide(&facts);
}

const char *term_begin(const struct term *term, enum term_colour colour)
{
	static const char *const sequences[] = {"",         "\x1b[1m",  "\x1b[2m", "\x1b[31m",
						"\x1b[32m", "\x1b[33m", "\x1b[36m"};

	return term->colour && (size_t)colour < ARRAY_LEN(sequences) ? sequences[colour] : "";
}

const char *term_end(const struct term *term, enum term_colour colour)
{
	return term->colour && colour != TERM_PLAIN ? "\x1b[0m" : "";
}
