#include <string.h>

#include "base/mem.h"
#include "cmd/wrap.h"
#include "tests/unit/tap.h"

TEST(lines_are_broken_at_spaces_only)
{
	static const struct {
		const char *text;
		size_t column, indent, width;
		const char *want;
	} rows[] = {
		{"one two three", 0, 0, 0, "one two three"},
		{"one two three", 0, 0, 7, "one two\nthree"},
		{"one two three", 0, 2, 7, "one two\n  three"},
		{"one two three", 4, 2, 7, "one\n  two\n  three"},
		{"one two three", 5, 2, 7, "\n  one\n  two\n  three"},
		{"one two three", 4, 4, 7, "one\n    two\n    three"},
		{"a  b", 0, 0, 80, "a  b"},
		{"one ", 0, 0, 80, "one"},
		{"   ", 0, 0, 80, ""},
		/* a path stays whole, and so does a command */
		{"at s3://a/very/long/path now", 0, 2, 10, "at\n  s3://a/very/long/path\n  now"},
		{"use `drey resume --from x` now", 0, 2, 20,
		 "use\n  `drey resume --from x`\n  now"},
		{"(`a b`), c", 0, 0, 8, "(`a b`),\nc"},
		/* a single backquote is a letter */
		{"it`s a b c", 0, 0, 6, "it`s a\nb c"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		cleanup_shown struct shown text = {0};

		wrap_add(rows[i].text, rows[i].column, rows[i].indent, rows[i].width, &text);
		CHECK_STR(shown_str(&text), rows[i].want);
	}
}

TEST(a_long_word_and_a_long_text_end)
{
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_shown struct shown wrapped = {0};

	for (int i = 0; i < 10000; i++)
		buf_addch(&text, 'x');
	wrap_add(buf_str(&text), 5, 2, 20, &wrapped);
	CHECK_INT(wrapped.harmless.len_bytes, ==, 10003);
	buf_clear(&wrapped.harmless);
	buf_clear(&text);
	for (int i = 0; i < 5000; i++)
		buf_addstr(&text, "` ");
	wrap_add(buf_str(&text), 0, 2, 20, &wrapped);
	CHECK(wrapped.harmless.len_bytes >= 9999);
}

int main(int argc, char **argv)
{
	return tap_main(argc, argv);
}
