#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/s3/s3_store.h"

#define CHUNK_BYTES ((int64_t)1 << 20)
#define ETAG_BYTES  128

struct s3_stream {
	struct store_stream base;
	struct s3_store *s3;
	char *key;
	int64_t offset;        /* of the next chunk */
	int64_t total;         /* -1 before the first answer */
	char etag[ETAG_BYTES]; /* of the first chunk; "" not given */
	struct buf chunk;
	size_t used_bytes; /* of the chunk */
};

static struct s3_ask ask_for(const struct s3_stream *stream, const char *range)
{
	return (struct s3_ask){
		.method = "GET",
		.key = stream->key,
		.range = range,
		.if_match = stream->etag[0] ? stream->etag : NULL,
	};
}

static int s3_read_prepare(void *ctx, size_t index, struct store_call *ret_call, struct err *err)
{
	struct s3_stream *stream = ctx;
	struct s3_ask ask;
	char range[64];

	(void)index;
	snprintf(range, sizeof(range), "bytes=%jd-%jd", (intmax_t)stream->offset,
		 (intmax_t)(stream->offset + CHUNK_BYTES - 1));
	ask = ask_for(stream, range);
	return s3_prepare(stream->s3, &ask, ret_call, err);
}

static enum store_verdict broken(const struct s3_stream *stream, enum err_kind kind,
				 const char *why, struct err *err)
{
	const struct store *base = &stream->s3->base;

	err_set(err, kind, 0, "%s://%s/%s: %s", base->scheme, base->authority, stream->key, why);
	return STORE_FAILED;
}

/* All chunks must be of the file whose first chunk was read; the first answer identifies it. */
static bool is_same(struct s3_stream *stream, const struct http_response *response, int64_t total)
{
	char etag[ETAG_BYTES] = "";

	/* a weak one never matches, nor would one that may have been cut */
	if (!http_header(response, "ETag", etag, sizeof(etag)) || etag[0] != '"' ||
	    strlen(etag) == ETAG_BYTES - 1)
		etag[0] = '\0';
	if (stream->total < 0) {
		stream->total = total;
		memcpy(stream->etag, etag, sizeof(etag));
		return true;
	}
	return stream->total == total && (!etag[0] || !strcmp(stream->etag, etag));
}

static enum store_verdict take_part(struct s3_stream *stream, const struct http_response *response,
				    struct err *err)
{
	struct s3_content_range range;
	int64_t len = (int64_t)response->body.len_bytes;

	if (!s3_content_range(response, &range) || range.first != stream->offset ||
	    range.last - range.first + 1 != len ||
	    (len < CHUNK_BYTES && range.last + 1 != range.total) || len > CHUNK_BYTES)
		return broken(stream, ERR_FORMAT, "the answer is not the requested range", err);
	if (!is_same(stream, response, range.total))
		return broken(stream, ERR_RETRY, "it was replaced during the read", err);
	buf_add(&stream->chunk, response->body.data, response->body.len_bytes);
	stream->offset += len;
	return STORE_DONE;
}

/* A server without ranges, or with nothing to split: the whole file. */
static enum store_verdict take_whole(struct s3_stream *stream, const struct http_response *response,
				     struct err *err)
{
	int64_t len = (int64_t)response->body.len_bytes;

	if (!is_same(stream, response, len))
		return broken(stream, ERR_RETRY, "it was replaced during the read", err);
	if (stream->offset < len)
		buf_add(&stream->chunk, response->body.data + stream->offset,
			(size_t)(len - stream->offset));
	stream->offset = len;
	return STORE_DONE;
}

/* There is nothing from our offset on. */
static enum store_verdict take_end(struct s3_stream *stream, const struct http_response *response,
				   struct err *err)
{
	struct s3_content_range range;

	if (stream->total >= 0)
		return broken(stream, ERR_RETRY, "it was replaced during the read", err);
	if (s3_content_range(response, &range) && range.total > stream->offset)
		return broken(stream, ERR_FORMAT, "the requested range is rejected", err);
	stream->total = stream->offset;
	return STORE_DONE;
}

static enum store_verdict s3_read_judge(void *ctx, size_t index,
					const struct http_response *response, struct err *err)
{
	struct s3_stream *stream = ctx;
	enum store_verdict verdict = STORE_DONE;
	struct s3_ask ask;

	(void)index;
	switch (response->status) {
	case 206:
		verdict = take_part(stream, response, err);
		break;
	case 200:
		verdict = take_whole(stream, response, err);
		break;
	case 416:
		verdict = take_end(stream, response, err);
		break;
	case 412:
		return broken(stream, ERR_RETRY, "it was replaced during the read", err);
	default:
		ask = ask_for(stream, NULL);
		return s3_judge_failure(stream->s3, &ask, response, err);
	}
	if (verdict == STORE_DONE)
		stream->s3->bucket_seen = true;
	return verdict;
}

static int fetch(struct s3_stream *stream, struct err *err)
{
	static const struct store_http_ops ops = {.prepare = s3_read_prepare,
						  .judge = s3_read_judge};

	buf_clear(&stream->chunk);
	stream->used_bytes = 0;
	return store_http_one(stream->s3->http, &ops, stream, err);
}

int s3_read_open(struct store *store, const struct uri *uri, int64_t offset,
		 struct store_stream **ret, struct err *err)
{
	struct s3_stream *stream;

	if (!uri->path[1])
		return err_set(err, ERR_FORMAT, 0, "%s://%s is a bucket, not a file", uri->scheme,
			       uri->authority);
	stream = xcalloc(1, sizeof(*stream));
	stream->s3 = (struct s3_store *)store;
	stream->key = xstrdup(uri->path + 1);
	stream->offset = offset;
	stream->total = -1;
	if (fetch(stream, err)) {
		s3_read_close(&stream->base);
		return -1;
	}
	stream->base.size_bytes = stream->total > offset ? stream->total - offset : 0;
	*ret = &stream->base;
	return 0;
}

int s3_read(struct store_stream *base, void *buf, size_t len_bytes, size_t *ret_len_bytes,
	    struct err *err)
{
	struct s3_stream *stream = (struct s3_stream *)base;
	size_t left;

	if (stream->used_bytes == stream->chunk.len_bytes && stream->offset < stream->total &&
	    fetch(stream, err))
		return -1;
	left = stream->chunk.len_bytes - stream->used_bytes;
	if (len_bytes > left)
		len_bytes = left;
	if (len_bytes)
		memcpy(buf, stream->chunk.data + stream->used_bytes, len_bytes);
	stream->used_bytes += len_bytes;
	*ret_len_bytes = len_bytes;
	return 0;
}

void s3_read_close(struct store_stream *base)
{
	struct s3_stream *stream = (struct s3_stream *)base;

	buf_release(&stream->chunk);
	free(stream->key);
	free(stream);
}
