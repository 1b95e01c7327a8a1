#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"

TEST(an_empty_buffer_is_an_empty_text)
{
	struct buf buf = BUF_INIT;
	char *text;

	CHECK_STR(buf_str(&buf), "");
	buf_clear(&buf);
	text = buf_steal(&buf);
	CHECK_STR(text, "");
	free(text);
	buf_release(&buf);
	buf_release(NULL);
	CHECK(!buf.data);
}

TEST(grows_and_stays_terminated)
{
	cleanup_buf struct buf buf = BUF_INIT;

	for (size_t i = 1; i <= 1000; i++) {
		buf_addch(&buf, 'x');
		if (buf.len_bytes != i || strlen(buf.data) != i || buf.cap_bytes <= i)
			CHECK_INT(buf.len_bytes, ==, i);
	}
	CHECK_INT(strlen(buf_str(&buf)), ==, 1000);
	buf_clear(&buf);
	CHECK_STR(buf_str(&buf), "");
	CHECK_INT(buf.cap_bytes, >, 1000);
}

TEST(keeps_nul_bytes)
{
	cleanup_buf struct buf buf = BUF_INIT;

	buf_add(&buf, "a\0b", 3);
	buf_add(&buf, NULL, 0);
	CHECK_INT(buf.len_bytes, ==, 3);
	CHECK(!memcmp(buf.data, "a\0b\0", 4));
}

TEST(formats_behind_what_is_there)
{
	cleanup_buf struct buf buf = BUF_INIT;

	buf_addstr(&buf, "n=");
	buf_addf(&buf, "%d%s", 42, "");
	buf_addf(&buf, "%s", "");
	/* longer than the first capacity: it has to grow in the middle of formatting */
	buf_addf(&buf, "%0100d", 7);
	CHECK_INT(buf.len_bytes, ==, 104);
	CHECK_HAS(buf_str(&buf), "n=4200000");
	CHECK_STR(buf_str(&buf) + 102, "07");
}

TEST(what_was_stolen_is_the_callers)
{
	struct buf buf = BUF_INIT;
	char *text;

	buf_addstr(&buf, "mine");
	text = buf_steal(&buf);
	CHECK_STR(text, "mine");
	CHECK(!buf.data && !buf.len_bytes && !buf.cap_bytes);
	free(text);
}
