#include "store/flinkfs/flinkfs_wire.h"

#include <string.h>

#include "base/mem.h"
#include "tests/unit/tap.h"

/* A frame without its length, from its parts. */
static void begin(struct buf *frame, char type, uint32_t number)
{
	flinkfs_put_begin(frame, type, number);
	flinkfs_put_end(frame);
	memmove(frame->data, frame->data + FLINKFS_HEAD, frame->len_bytes - FLINKFS_HEAD + 1);
	frame->len_bytes -= FLINKFS_HEAD;
}

static void put_item(struct buf *bytes, char state, char kind, int64_t size, const char *name,
		     const char *extra)
{
	buf_addch(bytes, state);
	buf_addch(bytes, kind);
	flinkfs_put_u32(bytes, 7);
	flinkfs_put_i64(bytes, size);
	flinkfs_put_i64(bytes, 1700000000000);
	flinkfs_put_text(bytes, name);
	flinkfs_put_text(bytes, extra);
}

static int next_of(const struct buf *bytes, enum flinkfs_names names, struct flinkfs_item *item,
		   struct err *err)
{
	const char *at = bytes->data;
	size_t left = bytes->len_bytes;

	return flinkfs_item_next(&at, &left, names, item, err);
}

TEST(a_request_is_a_length_and_as_many_bytes)
{
	static const char want[] =
		"\0\0\0\x19O\0\0\1\2\0\0\0\4hdfs\xff\xff\xff\xff\xff\xff\xff\xfe";
	cleanup_buf struct buf frame = BUF_INIT;

	flinkfs_put_begin(&frame, 'O', 0x102);
	flinkfs_put_text(&frame, "hdfs");
	flinkfs_put_i64(&frame, -2);
	flinkfs_put_end(&frame);
	CHECK_INT(frame.len_bytes, ==, 4 + 1 + 4 + 4 + 4 + 8);
	CHECK_INT(frame.data[3], ==, 1 + 4 + 4 + 4 + 8);
	CHECK_INT(memcmp(frame.data + 4, want + 4, frame.len_bytes - 4), ==, 0);
}

TEST(a_greeting_has_magic_and_version)
{
	cleanup_buf struct buf frame = BUF_INIT;
	struct flinkfs_frame parsed;
	struct err err = {0};

	begin(&frame, 'H', 0);
	frame.data[0] = 'h';
	CHECK_INT(flinkfs_frame_parse(frame.data, frame.len_bytes, &parsed, NULL), ==, 0);
	CHECK_INT(parsed.type, ==, 'h');
	frame.data[6] = 2;
	CHECK_INT(flinkfs_frame_parse(frame.data, frame.len_bytes, &parsed, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_FORMAT);
}

TEST(done_has_three_numbers_and_nothing_behind)
{
	cleanup_buf struct buf frame = BUF_INIT;
	struct flinkfs_frame parsed;
	struct err err = {0};

	begin(&frame, 'd', 5);
	flinkfs_put_i64(&frame, 3);
	flinkfs_put_i64(&frame, 4096);
	flinkfs_put_i64(&frame, -1);
	CHECK_INT(flinkfs_frame_parse(frame.data, frame.len_bytes, &parsed, NULL), ==, 0);
	CHECK_INT(parsed.number, ==, 5);
	CHECK_INT(parsed.items, ==, 3);
	CHECK_INT(parsed.first, ==, 4096);
	CHECK_INT(parsed.second, ==, -1);
	for (size_t len = 0; len < frame.len_bytes; len++)
		CHECK_INT(flinkfs_frame_parse(frame.data, len, &parsed, &err), ==, -1);
	buf_addch(&frame, '\0');
	CHECK_INT(flinkfs_frame_parse(frame.data, frame.len_bytes, &parsed, &err), ==, -1);
}

TEST(an_error_has_a_kind_that_is_known)
{
	cleanup_buf struct buf frame = BUF_INIT;
	struct flinkfs_frame parsed;
	struct err err = {0};

	begin(&frame, 'e', 1);
	buf_addch(&frame, 1);
	flinkfs_put_text(&frame, "hdfs://nn/x does not exist");
	CHECK_INT(flinkfs_frame_parse(frame.data, frame.len_bytes, &parsed, NULL), ==, 0);
	CHECK_INT(parsed.kind, ==, ERR_ABSENT);
	CHECK_INT(parsed.len_bytes, ==, strlen("hdfs://nn/x does not exist"));
	for (int kind = 0; kind < 256; kind++) {
		frame.data[5] = (char)kind;
		CHECK_INT(flinkfs_frame_parse(frame.data, frame.len_bytes, &parsed, &err) == 0, ==,
			  kind >= 1 && kind <= 6);
	}
}

TEST(a_frame_that_is_empty_or_too_long_is_rejected)
{
	uint32_t len = 0;
	struct err err = {0};

	CHECK_INT(flinkfs_frame_length("\0\0\1\2", &len, NULL), ==, 0);
	CHECK_INT(len, ==, 0x102);
	CHECK_INT(flinkfs_frame_length("\0\0\0\0", &len, &err), ==, -1);
	CHECK_INT(flinkfs_frame_length("\0\x10\0\1", &len, &err), ==, -1);
	CHECK_INT(flinkfs_frame_length("INFO", &len, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_FORMAT);
}

TEST(an_item_is_a_file_a_directory_absent_or_unreadable)
{
	cleanup_buf struct buf bytes = BUF_INIT;
	struct flinkfs_item item;
	struct err err = {0};

	put_item(&bytes, 'f', 0, 12, "chk-1", "head");
	CHECK_INT(next_of(&bytes, FLINKFS_NAMES_ONE, &item, NULL), ==, 1);
	CHECK_INT(item.state, ==, 'f');
	CHECK_INT(item.index, ==, 7);
	CHECK_INT(item.size_bytes, ==, 12);
	CHECK_INT(item.mtime_unix_ms, ==, 1700000000000);
	CHECK_INT(item.name_len, ==, 5);
	CHECK_INT(item.extra_len, ==, 4);
	for (size_t len = 1; len < bytes.len_bytes; len++) {
		const char *at = bytes.data;
		size_t left = len;

		CHECK_INT(flinkfs_item_next(&at, &left, FLINKFS_NAMES_ONE, &item, &err), ==, -1);
	}
	buf_clear(&bytes);
	put_item(&bytes, 'u', 3, 0, "x", "403");
	CHECK_INT(next_of(&bytes, FLINKFS_NAMES_ONE, &item, NULL), ==, 1);
	CHECK_INT(item.kind, ==, ERR_RETRY);
}

/* What would let an error pass as absence, or as a file. */
TEST(an_item_that_contradicts_itself_is_rejected)
{
	static const struct {
		char state, kind;
		int64_t size;
	} bad[] = {{'u', 0, 0},  {'u', 1, 0}, {'a', 1, 0},  {'f', 3, 1}, {'d', 2, 0},
		   {'f', 0, -1}, {'x', 0, 0}, {'\0', 0, 0}, {'u', 7, 0}};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		cleanup_buf struct buf bytes = BUF_INIT;
		struct flinkfs_item item;
		struct err err = {0};

		put_item(&bytes, bad[i].state, bad[i].kind, bad[i].size, "x", "");
		CHECK_INT(next_of(&bytes, FLINKFS_NAMES_ONE, &item, &err), ==, -1);
		CHECK_INT(err.kind, ==, ERR_FORMAT);
	}
}

TEST(a_name_stays_in_its_directory)
{
	static const struct {
		const char *name;
		bool one, path;
	} names[] = {{"chk-1", true, true},    {"a b", true, true},    {"", false, false},
		     {".", false, false},      {"..", false, false},   {"a/b", false, true},
		     {"a/../b", false, false}, {"/a", false, false},   {"a/", false, false},
		     {"a//b", false, false},   {"\xff", false, false}, {"..a", true, true}};

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		cleanup_buf struct buf bytes = BUF_INIT;
		struct flinkfs_item item;
		struct err err = {0};

		put_item(&bytes, 'f', 0, 1, names[i].name, "");
		CHECK_INT(next_of(&bytes, FLINKFS_NAMES_ONE, &item, &err) == 1, ==, names[i].one);
		CHECK_INT(next_of(&bytes, FLINKFS_NAMES_PATH, &item, &err) == 1, ==, names[i].path);
		CHECK_INT(next_of(&bytes, FLINKFS_NAMES_NONE, &item, &err) == 1, ==,
			  !names[i].name[0]);
	}
}
