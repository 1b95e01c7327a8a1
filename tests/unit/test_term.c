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
		{{true, 120, "xterm", NULL}, {120, true, true}},
		{{true, 120, "xterm", ""}, {120, true, true}},
		{{true, 120, "xterm", "1"}, {120, false, true}},
		{{true, 120, "dumb", NULL}, {120, false, false}},
		{{true, 120, NULL, NULL}, {120, false, false}},
		{{true, 120, "", NULL}, {120, false, false}},
		{{true, 0, "xterm", NULL}, {80, true, true}},
		{{true, 1, "xterm", NULL}, {20, true, true}},
		{{false, 120, "xterm", NULL}, {0, false, false}},
		{{false, 0, NULL, NULL}, {0, false, false}},
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
	static const struct term plain = {80, false, true}, colour = {80, true, true};

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
	struct term term = term_of(file);

	CHECK_INT(term.width, ==, 0);
	CHECK(!term.colour);
	fclose(file);
}

int main(int argc, char **argv)
{
	return tap_main(argc, argv);
}
