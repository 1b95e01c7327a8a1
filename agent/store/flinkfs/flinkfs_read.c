/* flinkfs_read: the content of a file, one piece with each request. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/flinkfs/flinkfs_store.h"

#define READ_PIECE ((size_t)256 * 1024)

struct flinkfs_stream {
	struct store_stream base;
	struct flinkfs *flinkfs;
	uint32_t number; /* of the request that has opened it */
	uint32_t jvm;
	char *path;
	struct buf piece;
	size_t used_bytes;
	int64_t left_bytes; /* by the size that it had when it was opened */
};

int flinkfs_read_open(struct store *store, const struct uri *uri, int64_t offset,
		      struct store_stream **ret, struct err *err)
{
	struct flinkfs *flinkfs = flinkfs_of(store);
	cleanup_free char *path = flinkfs_path(uri);
	struct flinkfs_request request;
	cleanup_flinkfs_answer struct flinkfs_answer answer = {0};
	struct flinkfs_stream *stream;
	int result;

	flinkfs_begin(flinkfs, 'O', FLINKFS_NAMES_NONE, &request);
	flinkfs_put_text(&request.bytes, path);
	flinkfs_put_i64(&request.bytes, offset);
	result = flinkfs_ask(flinkfs, &request, &answer, err);
	buf_release(&request.bytes);
	if (result < 0)
		return err_wrap(err, "read %s", path);
	stream = xcalloc(1, sizeof(*stream));
	stream->base.size_bytes = answer.first > offset ? answer.first - offset : 0;
	stream->left_bytes = stream->base.size_bytes;
	stream->flinkfs = flinkfs;
	stream->number = request.number;
	stream->jvm = answer.jvm;
	stream->path = path;
	path = NULL;
	*ret = &stream->base;
	return 0;
}

static int stream_ask(struct flinkfs_stream *stream, char type, struct flinkfs_answer *ret_answer,
		      struct err *err)
{
	struct flinkfs_request request;
	int result;

	flinkfs_begin(stream->flinkfs, type, FLINKFS_NAMES_NONE, &request);
	request.jvm = stream->jvm;
	flinkfs_put_u32(&request.bytes, stream->number);
	if (type == 'R')
		flinkfs_put_u32(&request.bytes, (uint32_t)READ_PIECE);
	result = flinkfs_ask(stream->flinkfs, &request, ret_answer, err);
	buf_release(&request.bytes);
	return result;
}

static int next_piece(struct flinkfs_stream *stream, struct err *err)
{
	cleanup_flinkfs_answer struct flinkfs_answer answer = {0};

	if (stream_ask(stream, 'R', &answer, err) < 0)
		return err_wrap(err, "read %s", stream->path);
	buf_release(&stream->piece);
	stream->piece = answer.content;
	answer.content = (struct buf)BUF_INIT;
	stream->used_bytes = 0;
	stream->left_bytes -= (int64_t)stream->piece.len_bytes;
	/* a connection that was cut looks like the end of the file */
	if (!stream->piece.len_bytes && stream->left_bytes > 0)
		err_set(err, ERR_RETRY, 0, "read %s: it ends %" PRId64 " bytes too early",
			stream->path, stream->left_bytes);
	return !stream->piece.len_bytes && stream->left_bytes > 0 ? -1 : 0;
}

int flinkfs_read(struct store_stream *base, void *buf, size_t len_bytes, size_t *ret_len_bytes,
		 struct err *err)
{
	struct flinkfs_stream *stream = (struct flinkfs_stream *)base;
	size_t have;

	if (stream->used_bytes == stream->piece.len_bytes && next_piece(stream, err) < 0)
		return -1;
	have = stream->piece.len_bytes - stream->used_bytes;
	if (have > len_bytes)
		have = len_bytes;
	if (have)
		memcpy(buf, stream->piece.data + stream->used_bytes, have);
	stream->used_bytes += have;
	*ret_len_bytes = have;
	return 0;
}

/* What cannot be closed goes with its JVM. */
void flinkfs_read_close(struct store_stream *base)
{
	struct flinkfs_stream *stream = (struct flinkfs_stream *)base;
	struct flinkfs_answer answer;

	if (stream_ask(stream, 'C', &answer, NULL) == 0)
		flinkfs_answer_release(&answer);
	buf_release(&stream->piece);
	free(stream->path);
	free(stream);
}
