#include <string.h>

#include "base/mem.h"
#include "cmd/wrap.h"
#include "tests/unit/tap.h"

TEST(what_could_harm_a_terminal_is_shown)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{"plain", "plain"},
		{"", ""},
		{NULL, ""},
		{"\x1b[2J\x07", "\\x1b[2J\\x07"},
		{"a\nb\tc\r", "a\\x0ab\\x09c\\x0d"},
		{"\x7f", "\\x7f"},
		{"\x9b"
		 "31m",
		 "\\x9b31m"}, /* CSI as a byte: invalid UTF-8 */
		{"\xc2\x9b"
		 "31m",
		 "\\u{9b}31m"}, /* and as a character */
		{"\xe2\x80\xae"
		 "gpj.exe",
		 "\\u{202e}gpj.exe"}, /* the reading order reversed */
		{"\xe2\x81\xa6x", "\\u{2066}x"},
		{"a\xe2\x80\xa8"
		 "b",
		 "a\\u{2028}b"},
		{"\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d",
		 "\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d"}, /* Hebrew */
		{"gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f"},
		{"\xc3", "\\xc3"},
		{"\xed\xa0\x80", "\\xed\\xa0\\x80"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		cleanup_buf struct buf text = BUF_INIT;

		wrap_visible(rows[i].text, &text);
		CHECK_STR(buf_str(&text), rows[i].want);
	}
}

TEST(columns_are_those_of_a_terminal)
{
	static const struct {
		const char *text;
		size_t columns;
	} rows[] = {
		{"", 0},
		{"abc", 3},
		{"\xc3\xbc", 1},
		{"u\xcc\x88", 1},                /* a combining mark */
		{"\xe6\xbc\xa2\xe5\xad\x97", 4}, /* wide */
		{"\xf0\x9f\x98\x80", 2},
		{"\xff", 1},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		CHECK_INT(wrap_columns(rows[i].text, strlen(rows[i].text)), ==, rows[i].columns);
}

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
		cleanup_buf struct buf text = BUF_INIT;

		wrap_add(rows[i].text, rows[i].column, rows[i].indent, rows[i].width, &text);
		CHECK_STR(buf_str(&text), rows[i].want);
	}
}

TEST(a_long_word_and_a_long_text_end)
{
	cleanup_buf struct buf text = BUF_INIT, wrapped = BUF_INIT;

	for (int i = 0; i < 10000; i++)
		buf_addch(&text, 'x');
	wrap_add(buf_str(&text), 5, 2, 20, &wrapped);
	CHECK_INT(wrapped.len_bytes, ==, 10003);
	buf_clear(&wrapped);
	buf_clear(&text);
	for (int i = 0; i < 5000; i++)
		buf_addstr(&text, "` ");
	wrap_add(buf_str(&text), 0, 2, 20, &wrapped);
	CHECK(wrapped.len_bytes >= 9999);
}

int main(int argc, char **argv)
{
	return tap_main(argc, argv);
}
