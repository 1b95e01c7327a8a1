#include "kube/watch_stream.h"

#include <string.h>

void watch_stream_release(struct watch_stream *stream)
{
	buf_release(&stream->text);
	*stream = (struct watch_stream){0};
}

static int hand_over(struct watch_stream *stream,
		     int (*each)(void *ctx, const struct json *event, struct err *err), void *ctx,
		     struct err *err)
{
	cleanup_json struct json *event =
		json_parse(buf_str(&stream->text), stream->text.len_bytes, stream->max_bytes, err);

	buf_clear(&stream->text);
	if (!event)
		return err_wrap(err, "an event of a watch");
	return each(ctx, event, err);
}

/* Take one byte into account; true: an event ends with it. Whether it is JSON is for the parser. */
static bool ends_event(struct watch_stream *stream, char ch)
{
	if (stream->in_string) {
		if (stream->escaped)
			stream->escaped = false;
		else if (ch == '\\')
			stream->escaped = true;
		else if (ch == '"')
			stream->in_string = false;
		return false;
	}
	if (ch == '"')
		stream->in_string = true;
	else if (ch == '{' || ch == '[')
		stream->depth++;
	else if (ch == '}' || ch == ']')
		return --stream->depth == 0;
	return false;
}

int watch_stream_add(struct watch_stream *stream, const char *bytes, size_t len_bytes,
		     int (*each)(void *ctx, const struct json *event, struct err *err), void *ctx,
		     struct err *err)
{
	const char *from = bytes, *end = bytes + len_bytes;

	for (const char *p = bytes; p < end; p++) {
		bool ends;

		if (!stream->depth && *p && strchr(" \t\r\n", *p)) {
			from = p + 1; /* between two events */
			continue;
		}
		if (!stream->depth && *p != '{')
			return err_set(err, ERR_FORMAT, 0, "an event of a watch: not an object");
		ends = ends_event(stream, *p);
		if (stream->text.len_bytes + (size_t)(p + 1 - from) > stream->max_bytes)
			return err_set(err, ERR_FORMAT, 0,
				       "an event of a watch is larger than %zu bytes",
				       stream->max_bytes);
		if (!ends)
			continue;
		buf_add(&stream->text, from, (size_t)(p + 1 - from));
		from = p + 1;
		if (hand_over(stream, each, ctx, err))
			return -1;
	}
	buf_add(&stream->text, from, (size_t)(end - from));
	return 0;
}
