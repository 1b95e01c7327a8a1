#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cmd/term.h"
#include "tests/unit/tap.h"

TEST(colour_and_width_follow_the_terminal)
{
	static const struct {
		struct term_facts facts;
		struct term want;
	} rows[] = {
		{{.terminal = true, .columns = 120, .type = "xterm", .no_color = NULL},
		 {.width = 120, .colour = true, .rewrites = true}},
		{{.terminal = true, .columns = 120, .type = "xterm", .no_color = ""},
		 {.width = 120, .colour = true, .rewrites = true}},
		{{.terminal = true, .columns = 120, .type = "xterm", .no_color = "1"},
		 {.width = 120, .colour = false, .rewrites = true}},
		{{.terminal = true, .columns = 120, .type = "dumb", .no_color = NULL},
		 {.width = 120, .colour = false, .rewrites = false}},
		{{.terminal = true, .columns = 120, .type = NULL, .no_color = NULL},
		 {.width = 120, .colour = false, .rewrites = false}},
		{{.terminal = true, .columns = 120, .type = "", .no_color = NULL},
		 {.width = 120, .colour = false, .rewrites = false}},
		{{.terminal = true, .columns = 0, .type = "xterm", .no_color = NULL},
		 {.width = 80, .colour = true, .rewrites = true}},
		{{.terminal = true, .columns = 1, .type = "xterm", .no_color = NULL},
		 {.width = 20, .colour = true, .rewrites = true}},
		{{.terminal = false, .columns = 120, .type = "xterm", .no_color = NULL},
		 {.width = 0, .colour = false, .rewrites = false}},
		{{.terminal = false, .columns = 0, .type = NULL, .no_color = NULL},
		 {.width = 0, .colour = false, .rewrites = false}},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct term got = term_decide(&rows[i].facts);

		tap_note("row %zu", i);
		CHECK_INT(got.width, ==, rows[i].want.width);
		CHECK_INT(got.colour, ==, rows[i].want.colour);
		CHECK_INT(got.rewrites, ==, rows[i].want.rewrites);
	}
}

TEST(without_colour_there_is_no_sequence)
{
	static const struct term plain = {.width = 80}, colour = {.width = 80, .colour = true};

	for (int i = TERM_PLAIN; i <= TERM_CYAN; i++) {
		CHECK_STR(term_begin(&plain, (enum term_colour)i), "");
		CHECK_STR(term_end(&plain, (enum term_colour)i), "");
	}
	CHECK_STR(term_begin(&colour, TERM_PLAIN), "");
	CHECK_STR(term_end(&colour, TERM_PLAIN), "");
	CHECK_STR(term_begin(&colour, TERM_RED), "\x1b[31m");
	CHECK_STR(term_end(&colour, TERM_RED), "\x1b[0m");
}

TEST(a_file_is_no_terminal)
{
	FILE *file = tmpfile();
	struct term term = term_of(fileno(file));

	CHECK_INT(term.width, ==, 0);
	CHECK(!term.colour);
	fclose(file);
}

int main(int argc, char **argv)
{
	return tap_main(argc, argv);
}
