#include "store/flinkfs/flinkfs_wire.h"

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"

/* ---- to the JVM ---- */

static void put_number(struct buf *frame, uint64_t value, size_t bytes)
{
	for (size_t i = bytes; i-- > 0;)
		buf_addch(frame, (char)(value >> (8 * i) & 0xff));
}

void flinkfs_put_begin(struct buf *frame, char type, uint32_t number)
{
	buf_clear(frame);
	put_number(frame, 0, FLINKFS_HEAD); /* flinkfs_put_end() */
	buf_addch(frame, type);
	if (type == 'H') {
		put_number(frame, FLINKFS_MAGIC, 4);
		put_number(frame, FLINKFS_VERSION, 2);
	} else {
		put_number(frame, number, 4);
	}
}

void flinkfs_put_u32(struct buf *frame, uint32_t value)
{
	put_number(frame, value, 4);
}

void flinkfs_put_i64(struct buf *frame, int64_t value)
{
	put_number(frame, (uint64_t)value, 8);
}

void flinkfs_put_text(struct buf *frame, const char *text)
{
	size_t len = text ? strlen(text) : 0;

	put_number(frame, len, 4);
	if (len)
		buf_add(frame, text, len);
}

void flinkfs_put_end(struct buf *frame)
{
	uint32_t len = (uint32_t)(frame->len_bytes - FLINKFS_HEAD);

	for (size_t i = 0; i < FLINKFS_HEAD; i++)
		frame->data[i] = (char)(len >> (8 * (FLINKFS_HEAD - 1 - i)) & 0xff);
}

/* ---- from the JVM ---- */

/* Reads numbers and texts from the bytes, and remembers when one is missing. */
struct wire_reader {
	const char *at;
	size_t left;
	bool failed;
};

static uint64_t take_number(struct wire_reader *reader, size_t bytes)
{
	uint64_t value = 0;

	if (reader->failed || reader->left < bytes) {
		reader->failed = true;
		return 0;
	}
	for (size_t i = 0; i < bytes; i++)
		value = value << 8 | (unsigned char)reader->at[i];
	reader->at += bytes;
	reader->left -= bytes;
	return value;
}

static const char *take_text(struct wire_reader *reader, size_t *ret_len)
{
	size_t len = take_number(reader, 4);
	const char *text = reader->at;

	if (reader->failed || reader->left < len) {
		reader->failed = true;
		*ret_len = 0;
		return "";
	}
	reader->at += len;
	reader->left -= len;
	*ret_len = len;
	return text;
}

static enum err_kind take_kind(struct wire_reader *reader)
{
	static const enum err_kind kinds[] = {ERR_NONE,   ERR_ABSENT, ERR_DENIED, ERR_RETRY,
					      ERR_FORMAT, ERR_CONFIG, ERR_SYS};
	uint64_t number = take_number(reader, 1);

	if (number >= ARRAY_LEN(kinds)) {
		reader->failed = true;
		return ERR_NONE;
	}
	return kinds[number];
}

int flinkfs_frame_length(const char *head, uint32_t *ret_len_bytes, struct err *err)
{
	struct wire_reader reader = {.at = head, .left = FLINKFS_HEAD};
	uint32_t len = (uint32_t)take_number(&reader, FLINKFS_HEAD);

	if (len < 1 || len > FLINKFS_FRAME_MAX)
		return err_set(err, ERR_FORMAT, 0, "a frame of %" PRIu32 " bytes", len);
	*ret_len_bytes = len;
	return 0;
}

static void parse_hello(struct wire_reader *reader)
{
	if (take_number(reader, 4) != FLINKFS_MAGIC || take_number(reader, 2) != FLINKFS_VERSION)
		reader->failed = true;
}

static void parse_rest(struct wire_reader *reader, struct flinkfs_frame *frame)
{
	frame->number = (uint32_t)take_number(reader, 4);
	if (frame->type == 'd') {
		frame->items = (int64_t)take_number(reader, 8);
		frame->first = (int64_t)take_number(reader, 8);
		frame->second = (int64_t)take_number(reader, 8);
		if (frame->items < 0 || frame->first < 0)
			reader->failed = true;
		return;
	}
	if (frame->type == 'e') {
		frame->kind = take_kind(reader);
		frame->bytes = take_text(reader, &frame->len_bytes);
		if (frame->kind == ERR_NONE)
			reader->failed = true;
		return;
	}
	if (frame->type == 'i')
		frame->item_count = (uint32_t)take_number(reader, 4);
	frame->bytes = reader->at;
	frame->len_bytes = reader->left;
	reader->left = 0;
}

int flinkfs_frame_parse(const char *bytes, size_t len_bytes, struct flinkfs_frame *ret_frame,
			struct err *err)
{
	struct wire_reader reader = {.at = bytes, .left = len_bytes};
	struct flinkfs_frame frame = {.type = (char)take_number(&reader, 1), .bytes = ""};

	if (!frame.type || !strchr("hibde", frame.type))
		return err_set(err, ERR_FORMAT, 0, "a frame of an unknown type");
	if (frame.type == 'h')
		parse_hello(&reader);
	else
		parse_rest(&reader, &frame);
	if (reader.failed || reader.left)
		return err_set(err, ERR_FORMAT, 0, "a damaged frame of the type '%c'", frame.type);
	*ret_frame = frame;
	return 0;
}

static bool is_utf8(const char *text, size_t len)
{
	while (len) {
		size_t bytes = *text ? utf8_char_bytes(text, len) : 0;

		if (!bytes)
			return false;
		text += bytes;
		len -= bytes;
	}
	return true;
}

/* One name: not empty, and not what means another directory. */
static bool is_one_name(const char *name, size_t len)
{
	return len && !(len == 1 && name[0] == '.') && !(len == 2 && !memcmp(name, "..", 2)) &&
	       !memchr(name, '/', len);
}

static bool is_name_of(const char *name, size_t len, enum flinkfs_names names)
{
	if (names == FLINKFS_NAMES_NONE)
		return len == 0;
	if (!is_utf8(name, len))
		return false;
	while (names == FLINKFS_NAMES_PATH) {
		const char *slash = memchr(name, '/', len);
		size_t part = slash ? (size_t)(slash - name) : len;

		if (!slash)
			break;
		if (!is_one_name(name, part))
			return false;
		name += part + 1;
		len -= part + 1;
	}
	return is_one_name(name, len);
}

int flinkfs_item_next(const char **bytes, size_t *len_bytes, enum flinkfs_names names,
		      struct flinkfs_item *ret_item, struct err *err)
{
	struct wire_reader reader = {.at = *bytes, .left = *len_bytes};
	struct flinkfs_item item;

	if (!reader.left)
		return 0;
	item = (struct flinkfs_item){.state = (char)take_number(&reader, 1)};
	item.kind = take_kind(&reader);
	item.index = (uint32_t)take_number(&reader, 4);
	item.size_bytes = (int64_t)take_number(&reader, 8);
	item.mtime_unix_ms = (int64_t)take_number(&reader, 8);
	item.name = take_text(&reader, &item.name_len);
	item.extra = take_text(&reader, &item.extra_len);
	if (reader.failed || !item.state || !strchr("fdau", item.state) || item.size_bytes < 0 ||
	    (item.state == 'u') != (item.kind != ERR_NONE) || item.kind == ERR_ABSENT ||
	    !is_name_of(item.name, item.name_len, names))
		return err_set(err, ERR_FORMAT, 0, "a damaged item");
	*bytes = reader.at;
	*len_bytes = reader.left;
	*ret_item = item;
	return 1;
}
