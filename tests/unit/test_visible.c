#include "base/visible.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
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

		visible_add(rows[i].text, &text);
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
		CHECK_INT(visible_columns(rows[i].text, strlen(rows[i].text)), ==, rows[i].columns);
}

/* What printf() says, visible_addf() says, too. */
#define ALIKE(...)                                                                                 \
	({                                                                                         \
		cleanup_buf struct buf alike_got = BUF_INIT;                                       \
		cleanup_free char *alike_want = xasprintf(__VA_ARGS__);                            \
                                                                                                   \
		visible_addf(&alike_got, __VA_ARGS__);                                             \
		CHECK_STR(buf_str(&alike_got), alike_want);                                        \
	})

TEST(numbers_and_layout_are_those_of_printf)
{
	ALIKE("plain");
	ALIKE("%%|%d|%5d|%-5d|%05d|%+d|% d", 7, 7, 7, 7, 7, 7);
	ALIKE("%d %i %u %x %X %o %#x", INT_MIN, INT_MAX, UINT_MAX, 255U, 255U, 8U, 255U);
	ALIKE("%ld %lu %lld %llu", LONG_MIN, ULONG_MAX, LLONG_MIN, ULLONG_MAX);
	ALIKE("%" PRId64 " %" PRIu64 " %" PRId32 " %zu %zd %jd %td", INT64_MIN, UINT64_MAX, -1,
	      SIZE_MAX, (ssize_t)-1, INTMAX_MIN, (ptrdiff_t)-3);
	ALIKE("%hhd %hd %hhu", -1, -2, 200);
	ALIKE("%*d|%-*d|%*d", 6, 1, 6, 2, -6, 3);
	ALIKE("%.3f %6.1f %g %e %.*f", 3.14159, 2.5, 1e9, 1.5, 1, 0.25);
	ALIKE("%7" PRId64 "  %8s  %-39s|", INT64_C(12), "ab", "cd");
	ALIKE("%s|%10s|%-10s|%.2s|%.*s|%c|%*s", "a", "b", "c", "defg", 3, "hijkl", 'm', 4, "");
	ALIKE("%p", (void *)0x1234);
}

TEST(an_argument_is_never_layout)
{
	const char *volatile nothing = NULL;
	cleanup_buf struct buf text = BUF_INIT;

	visible_addf(&text, "\x1b[1m%s\n%c%.2s%s", "a\nb\x1b[2J", '\r', "\xc2\x9bX", nothing);
	CHECK_STR(buf_str(&text), "\x1b[1ma\\x0ab\\x1b[2J\n\\x0d\\u{9b}");
}

TEST(a_width_counts_columns)
{
	cleanup_buf struct buf text = BUF_INIT;

	visible_addf(&text, "%-4s|%4s|%-6s|", "\xc3\xbc", "\xe6\xbc\xa2", "\t");
	CHECK_STR(buf_str(&text), "\xc3\xbc   |  \xe6\xbc\xa2|\\x09  |");
}

int main(int argc, char **argv)
{
	return tap_main(argc, argv);
}
