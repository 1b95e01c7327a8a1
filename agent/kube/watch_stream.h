/*
 * watch_stream - splits the endless answer of a watch into its events, JSON objects one after
 * another, regardless of how it is fragmented and where its line breaks are. Pure.
 *
 * Life cycle: a zeroed struct with max_bytes -> watch_stream_add()... -> watch_stream_release().
 */
#ifndef DREY_KUBE_WATCH_STREAM_H
#define DREY_KUBE_WATCH_STREAM_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"

struct watch_stream {
	size_t max_bytes; /* of one event */
	struct buf text;  /* of the incomplete event */
	int depth;
	bool in_string, escaped;
};

/* each() gets every event that became complete, borrowed for the call; -1 with *err ends it.
 * ERR_FORMAT for anything that is not a JSON object, or is larger than max_bytes. */
int watch_stream_add(struct watch_stream *stream, const char *bytes, size_t len_bytes,
		     int (*each)(void *ctx, const struct json *event, struct err *err), void *ctx,
		     struct err *err);

void watch_stream_release(struct watch_stream *stream); /* zeroed is allowed */

#endif
