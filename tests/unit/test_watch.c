#include "base/mem.h"
#include "cmd/watch.h"
#include "tests/unit/tap.h"

#define K "\x1b[K\n"

TEST(a_frame_fits_the_screen)
{
	static const struct {
		const char *text;
		size_t rows, columns;
		const char *frame;
	} cases[] = {
		{"", 24, 80, "\x1b[H\x1b[J"},
		{"one\ntwo\n", 24, 80, "\x1b[Hone" K "two" K "\x1b[J"},
		{"one\ntwo\nthree\n", 3, 80, "\x1b[Hone" K "two" K "\x1b[J"},
		/* a line that the terminal breaks takes two rows */
		{"123456\ntwo\nthree\n", 4, 4, "\x1b[H123456" K "two" K "\x1b[J"},
		/* colours take no room */
		{"\x1b[31m1234\x1b[0m\ntwo\n", 3, 4,
		 "\x1b[H\x1b[31m1234\x1b[0m" K "two" K "\x1b[J"},
		{"one\ntwo", 0, 0, "\x1b[Hone" K "two" K "\x1b[J"},
		{"one\n", 1, 80, "\x1b[H\x1b[J"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		cleanup_shown struct shown frame = {0}, lines = {0};

		buf_addstr(&lines.harmless, cases[i].text);
		watch_frame(&lines, cases[i].rows, cases[i].columns, &frame);
		CHECK_STR(shown_str(&frame), cases[i].frame);
	}
}

int main(int argc, char **argv)
{
	return tap_main(argc, argv);
}
