#include "format/source.h"

#include <endian.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define SOURCE_BUF_BYTES 65536

struct source {
	source_read_fn read;
	void *ctx;
	int64_t total_bytes;
	int64_t base; /* offset of buf[0] in the input */
	size_t pos, len;
	const unsigned char *memory; /* source_new_bytes(): what is left there */
	size_t memory_bytes;
	unsigned char buf[SOURCE_BUF_BYTES];
	unsigned char string[UINT16_MAX]; /* one that crosses the end of buf */
};

struct source *source_new(source_read_fn read, void *ctx, int64_t total_bytes)
{
	struct source *src = xcalloc(1, sizeof(*src));

	src->read = read;
	src->ctx = ctx;
	src->total_bytes = total_bytes;
	return src;
}

static int read_memory(void *ctx, void *buf, size_t len_bytes, size_t *ret_len_bytes,
		       struct err *err)
{
	struct source *src = ctx;
	size_t part = src->memory_bytes < len_bytes ? src->memory_bytes : len_bytes;

	(void)err;
	if (part)
		memcpy(buf, src->memory, part);
	src->memory += part;
	src->memory_bytes -= part;
	*ret_len_bytes = part;
	return 0;
}

struct source *source_new_bytes(const void *bytes, size_t len_bytes)
{
	static const unsigned char nothing;
	struct source *src = source_new(read_memory, NULL, (int64_t)len_bytes);

	src->ctx = src;
	src->memory = bytes ? bytes : &nothing;
	src->memory_bytes = bytes ? len_bytes : 0;
	return src;
}

void source_free(struct source *src)
{
	free(src);
}

int64_t source_offset(const struct source *src)
{
	return src->base + (int64_t)src->pos;
}

int(source_fail)(int64_t offset, struct err *err, const char *fmt, ...)
{
	char text[ERR_MSG_BYTES];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return err_set(err, ERR_FORMAT, 0, "byte %" PRId64 ": %s", offset, text);
}

/* Fill the next buffer. 1: there is more, 0: the end, -1: a read error. */
static int refill(struct source *src, struct err *err)
{
	size_t got = 0;

	src->base += (int64_t)src->len;
	src->pos = src->len = 0;
	if (src->read(src->ctx, src->buf, sizeof(src->buf), &got, err))
		return -1;
	src->len = got;
	return got > 0;
}

static int fail_short(int64_t offset, int64_t want, int64_t got, const char *what, struct err *err)
{
	return source_fail(offset, err,
			   "expected %s (%" PRId64 " bytes), found the end after %" PRId64, what,
			   want, got);
}

int source_bytes(struct source *src, void *buf, size_t len_bytes, const char *what, struct err *err)
{
	int64_t start = source_offset(src);
	size_t done = 0;

	while (done < len_bytes) {
		size_t part = src->len - src->pos;
		int more;

		if (!part) {
			more = refill(src, err);
			if (more < 0)
				return -1;
			if (!more)
				return fail_short(start, (int64_t)len_bytes, (int64_t)done, what,
						  err);
			continue;
		}
		if (part > len_bytes - done)
			part = len_bytes - done;
		memcpy((char *)buf + done, src->buf + src->pos, part);
		src->pos += part;
		done += part;
	}
	return 0;
}

/* The next bytes in place, or copied into `room` if they cross the end of the buffer. NULL:
 * failed. */
static inline const unsigned char *next_bytes(struct source *src, void *room, size_t len_bytes,
					      const char *what, struct err *err)
{
	const unsigned char *bytes = src->buf + src->pos;

	if (len_bytes > src->len - src->pos)
		return source_bytes(src, room, len_bytes, what, err) ? NULL : room;
	src->pos += len_bytes;
	return bytes;
}

int source_u8(struct source *src, uint8_t *ret, const char *what, struct err *err)
{
	const unsigned char *bytes = next_bytes(src, ret, sizeof(*ret), what, err);

	if (!bytes)
		return -1;
	*ret = *bytes;
	return 0;
}

int source_u16(struct source *src, uint16_t *ret, const char *what, struct err *err)
{
	uint16_t raw;
	const void *bytes = next_bytes(src, &raw, sizeof(raw), what, err);

	if (!bytes)
		return -1;
	memcpy(&raw, bytes, sizeof(raw));
	*ret = be16toh(raw);
	return 0;
}

int source_i32(struct source *src, int32_t *ret, const char *what, struct err *err)
{
	uint32_t raw;
	const void *bytes = next_bytes(src, &raw, sizeof(raw), what, err);

	if (!bytes)
		return -1;
	memcpy(&raw, bytes, sizeof(raw));
	*ret = (int32_t)be32toh(raw);
	return 0;
}

int source_i64(struct source *src, int64_t *ret, const char *what, struct err *err)
{
	uint64_t raw;
	const void *bytes = next_bytes(src, &raw, sizeof(raw), what, err);

	if (!bytes)
		return -1;
	memcpy(&raw, bytes, sizeof(raw));
	*ret = (int64_t)be64toh(raw);
	return 0;
}

int source_skip(struct source *src, int64_t len_bytes, const char *what, struct err *err)
{
	int64_t start = source_offset(src), left = len_bytes;

	if (len_bytes < 0)
		return source_fail(start, err, "%s has a length of %" PRId64, what, len_bytes);
	if (len_bytes <= (int64_t)(src->len - src->pos)) {
		src->pos += (size_t)len_bytes;
		return 0;
	}
	if (src->total_bytes >= 0 && len_bytes > src->total_bytes - start)
		return fail_short(start, len_bytes, src->total_bytes - start, what, err);
	while (left > 0) {
		size_t part = src->len - src->pos;
		int more;

		if (!part) {
			more = refill(src, err);
			if (more < 0)
				return -1;
			if (!more)
				return fail_short(start, len_bytes, len_bytes - left, what, err);
			continue;
		}
		if ((int64_t)part > left)
			part = (size_t)left;
		src->pos += part;
		left -= (int64_t)part;
	}
	return 0;
}

int source_count(struct source *src, int32_t *ret, int64_t min_bytes, const char *what,
		 struct err *err)
{
	int64_t at = source_offset(src);
	int32_t count;

	if (source_i32(src, &count, what, err))
		return -1;
	if (count < 0)
		return source_fail(at, err, "expected %s, found %" PRId32, what, count);
	if (src->total_bytes >= 0 && count * min_bytes > src->total_bytes - source_offset(src))
		return source_fail(at, err,
				   "expected %s, found %" PRId32 ", more than the %" PRId64
				   " bytes that follow can hold",
				   what, count, src->total_bytes - source_offset(src));
	*ret = count;
	return 0;
}

static void add_utf8(struct buf *text, uint32_t code)
{
	if (code == 0)
		code = 0xFFFD;
	if (code < 0x80) {
		buf_addch(text, (char)code);
	} else if (code < 0x800) {
		buf_addch(text, (char)(0xC0 | code >> 6));
		buf_addch(text, (char)(0x80 | (code & 0x3F)));
	} else if (code < 0x10000) {
		buf_addch(text, (char)(0xE0 | code >> 12));
		buf_addch(text, (char)(0x80 | (code >> 6 & 0x3F)));
		buf_addch(text, (char)(0x80 | (code & 0x3F)));
	} else {
		buf_addch(text, (char)(0xF0 | code >> 18));
		buf_addch(text, (char)(0x80 | (code >> 12 & 0x3F)));
		buf_addch(text, (char)(0x80 | (code >> 6 & 0x3F)));
		buf_addch(text, (char)(0x80 | (code & 0x3F)));
	}
}

/* One UTF-16 unit of modified UTF-8 at raw; its length, or 0 if it is invalid. */
static size_t decode_unit(const unsigned char *raw, size_t len, uint32_t *ret_unit)
{
	if (raw[0] < 0x80) {
		*ret_unit = raw[0];
		return 1;
	}
	if (len >= 2 && (raw[0] & 0xE0) == 0xC0 && (raw[1] & 0xC0) == 0x80) {
		*ret_unit = (uint32_t)((raw[0] & 0x1F) << 6 | (raw[1] & 0x3F));
		return 2;
	}
	if (len >= 3 && (raw[0] & 0xF0) == 0xE0 && (raw[1] & 0xC0) == 0x80 &&
	    (raw[2] & 0xC0) == 0x80) {
		*ret_unit =
			(uint32_t)((raw[0] & 0x0F) << 12 | (raw[1] & 0x3F) << 6 | (raw[2] & 0x3F));
		return 3;
	}
	return 0;
}

/* How many plain ASCII characters come first: nearly always all. */
static size_t ascii_length(const unsigned char *raw, size_t len)
{
	const uint64_t ones = UINT64_C(0x0101010101010101), tops = 0x80 * ones;
	size_t i = 0;
	uint64_t word;

	for (; len - i >= sizeof(word); i += sizeof(word)) {
		memcpy(&word, raw + i, sizeof(word));
		/* no byte has its top bit set, and none is 0, which would borrow one */
		if ((word | (word - ones)) & tops)
			break;
	}
	while (i < len && raw[i] && raw[i] < 0x80)
		i++;
	return i;
}

/* Appends to *text; -1 when the bytes are not modified UTF-8. */
static int decode_modified(const unsigned char *raw, size_t len, struct buf *text)
{
	uint32_t high = 0, unit = 0;
	size_t part = ascii_length(raw, len);

	buf_add(text, raw, part);
	for (size_t i = part; i < len; i += part) {
		part = decode_unit(raw + i, len - i, &unit);
		if (!part)
			return -1;
		if (high && unit >= 0xDC00 && unit < 0xE000) {
			add_utf8(text, 0x10000 + ((high - 0xD800) << 10) + (unit - 0xDC00));
			high = 0;
			continue;
		}
		if (high)
			add_utf8(text, 0xFFFD);
		high = unit >= 0xD800 && unit < 0xDC00 ? unit : 0;
		if (!high)
			add_utf8(text, unit >= 0xDC00 && unit < 0xE000 ? 0xFFFD : unit);
	}
	if (high)
		add_utf8(text, 0xFFFD);
	return 0;
}

int source_utf_of(struct source *src, size_t len_bytes, struct buf *text, const char *what,
		  struct err *err)
{
	int64_t at = source_offset(src);
	const unsigned char *raw = src->buf + src->pos;

	if (len_bytes > sizeof(src->string))
		return source_fail(at, err, "%s is %zu bytes long, but the limit is %zu", what,
				   len_bytes, sizeof(src->string));
	if (len_bytes <= src->len - src->pos) {
		src->pos += len_bytes;
	} else {
		raw = src->string;
		if (source_bytes(src, src->string, len_bytes, what, err))
			return -1;
	}
	if (decode_modified(raw, len_bytes, text))
		return source_fail(at, err, "%s is not text in Java's modified UTF-8", what);
	return 0;
}

int source_utf(struct source *src, struct buf *text, const char *what, struct err *err)
{
	uint16_t len;

	if (source_u16(src, &len, what, err))
		return -1;
	return source_utf_of(src, len, text, what, err);
}

int source_at_end(struct source *src, struct err *err)
{
	int more;

	if (src->pos < src->len)
		return 0;
	more = refill(src, err);
	return more < 0 ? -1 : !more;
}
