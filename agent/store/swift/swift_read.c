#include "store/swift/swift_read.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "store/swift/swift_call.h"

struct swift_stream {
	struct store_stream base;
	struct swift_store *store;
	char *object;
	char *if_match;     /* NULL: the store sent no ETag */
	int64_t total;      /* size of the object; -1 before the first answer */
	int64_t next;       /* the first byte that was not requested yet */
	int64_t want_bytes; /* of the next range */
	struct buf have;    /* the previous range, of which `used` bytes were handed out */
	size_t used;
};

/* An ETag for If-Match, always in quotes; a weak one does not prove that the bytes are the same. */
static void note_etag(struct swift_stream *stream, const struct http_response *response)
{
	char etag[256];
	size_t len;

	if (!http_header(response, "ETag", etag, sizeof(etag)) || !strncmp(etag, "W/", 2))
		return;
	len = strlen(etag);
	if (!len || len + 1 >= sizeof(etag))
		return;
	stream->if_match = etag[0] == '"' ? xstrdup(etag) : xasprintf("\"%s\"", etag);
}

static int swift_read_fail(const struct swift_stream *stream, struct err *err)
{
	return err_wrap(err, "read %s://%s%s", stream->store->base.scheme,
			stream->store->base.authority, stream->object);
}

/* Does this answer start with the requested byte, and end within the range? */
static int check_range(const struct swift_stream *stream, const struct http_response *response,
		       int64_t total, struct err *err)
{
	int64_t first = 0, last = 0;
	char text[80] = "";

	if (response->status == 200) {
		if (stream->next == 0 && (int64_t)response->body.len_bytes == total)
			return 0;
		return err_set(err, ERR_FORMAT, 0,
			       "the store does not support ranges of an object");
	}
	http_header(response, "Content-Range", text, sizeof(text));
	if (sscanf(text, "bytes %18" SCNd64 "-%18" SCNd64 "/", &first, &last) != 2 ||
	    first != stream->next || last - first + 1 != (int64_t)response->body.len_bytes ||
	    last < first || last >= total)
		return err_set(err, ERR_FORMAT, 0, "the answer is not the requested range");
	return 0;
}

static int fetch(struct swift_stream *stream, struct err *err)
{
	const struct swift_request request = {
		.object = stream->object,
		.if_match = stream->if_match,
		.first = stream->next,
		.count = stream->want_bytes,
		.max_bytes = (size_t)stream->want_bytes,
	};
	cleanup_http_response struct http_response response = {0};
	struct store_stat stat;

	if (swift_call(stream->store, &request, &response, err) ||
	    swift_call_stat(&response, true, &stat, err))
		return -1;
	if (stream->total >= 0 && stat.size_bytes != stream->total)
		return err_set(err, ERR_RETRY, 0, "its size changed during the read");
	buf_clear(&stream->have);
	stream->used = 0;
	if (stream->total < 0)
		note_etag(stream, &response);
	stream->total = stat.size_bytes;
	if (response.status == 416) {
		if (stream->next < stat.size_bytes)
			return err_set(err, ERR_FORMAT, 0, "an existing range was rejected");
		return 0;
	}
	if (check_range(stream, &response, stat.size_bytes, err))
		return -1;
	stream->next += (int64_t)response.body.len_bytes;
	buf_release(&stream->have);
	stream->have = response.body;
	response.body = (struct buf)BUF_INIT;
	if (stream->want_bytes < SWIFT_READ_MAX_BYTES)
		stream->want_bytes *= 4;
	return 0;
}

void swift_read_close(struct store_stream *base)
{
	struct swift_stream *stream = (struct swift_stream *)base;

	buf_release(&stream->have);
	free(stream->object);
	free(stream->if_match);
	free(stream);
}

int swift_read_open(struct store *store, const struct uri *uri, int64_t offset,
		    struct store_stream **ret, struct err *err)
{
	struct swift_stream *stream = xcalloc(1, sizeof(*stream));

	stream->store = (struct swift_store *)store;
	stream->object = xstrdup(uri->path);
	stream->total = -1;
	stream->next = offset;
	stream->want_bytes = SWIFT_READ_FIRST_BYTES;
	if (fetch(stream, err)) {
		swift_read_fail(stream, err);
		swift_read_close(&stream->base);
		return -1;
	}
	stream->base.size_bytes = stream->total > offset ? stream->total - offset : 0;
	*ret = &stream->base;
	return 0;
}

int swift_read(struct store_stream *base, void *buf, size_t len_bytes, size_t *ret_len_bytes,
	       struct err *err)
{
	struct swift_stream *stream = (struct swift_stream *)base;
	size_t left = stream->have.len_bytes - stream->used;

	if (!left && stream->next < stream->total) {
		if (fetch(stream, err))
			return swift_read_fail(stream, err);
		left = stream->have.len_bytes - stream->used;
	}
	if (len_bytes > left)
		len_bytes = left;
	if (len_bytes)
		memcpy(buf, stream->have.data + stream->used, len_bytes);
	stream->used += len_bytes;
	*ret_len_bytes = len_bytes;
	return 0;
}
