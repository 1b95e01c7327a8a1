#include "core/web/html.h"

#include "base/mem.h"
#include "tap.h"

static char *escaped(const char *text)
{
	struct buf to = BUF_INIT;

	html_text(&to, text);
	return to.data ? buf_steal(&to) : xstrdup("");
}

TEST(what_has_a_meaning_in_html_is_an_entity)
{
	static const struct {
		const char *text, *html;
	} rows[] = {
		{"orders", "orders"},
		{"<script>", "&lt;script&gt;"},
		{"\" onclick='x' &amp;", "&quot; onclick=&#39;x&#39; &amp;amp;"},
		{"a\nb\tc", "a\nb\tc"},
		/* terminal escapes */
		{"\033[31m\a\177\r", "\\x1b[31m\\x07\\x7f\\x0d"},
		{"\xc2\x9b", "\\u{9b}"},
		/* right-to-left text is text; what turns other text is shown */
		{"\xd8\xb7\xd9\x84", "\xd8\xb7\xd9\x84"},
		{"a\xe2\x80\xae"
		 "b",
		 "a\\u{202e}b"},
		{"\xe2\x81\xa6\xe2\x80\x8b\xef\xbb\xbf\xe2\x80\xa8",
		 "\\u{2066}\\u{200b}\\u{feff}\\u{2028}"},
		{"\xf3\xa0\x81\x81", "\\u{e0041}"},
		/* emoji and joiners are text */
		{"\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb",
		 "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb"},
		/* not UTF-8 */
		{"a\xff\xc3(\xed\xa0\x80", "a\\xff\\xc3(\\xed\\xa0\\x80"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		cleanup_free char *html = escaped(rows[i].text);

		CHECK_STR(html, rows[i].html);
	}
}

TEST(nothing_adds_nothing)
{
	cleanup_free char *html = escaped(NULL);

	CHECK_STR(html, "");
}

TEST(a_long_text_is_cut_between_two_characters)
{
	cleanup_buf struct buf to = BUF_INIT;

	html_cut(&to,
		 "a<\xc3\xa4"
		 "bc",
		 3);
	CHECK_STR(buf_str(&to), "a&lt;... (4 more characters)");
	buf_clear(&to);
	html_cut(&to, "abc", 3);
	CHECK_STR(buf_str(&to), "abc");
	html_cut(&to, NULL, 3);
	CHECK_STR(buf_str(&to), "abc");
}
