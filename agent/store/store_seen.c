#include "store/store_seen.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void store_seen_uri(const struct uri *uri, struct buf *ret)
{
	buf_clear(ret);
	buf_addstr(ret, uri->scheme); /* for each file of a listing: no format */
	buf_addstr(ret, uri->authority[0] ? "://" : ":");
	buf_addstr(ret, uri->authority);
	if (!uri->authority[0] || strcmp(uri->path, "/") != 0)
		buf_addstr(ret, uri->path);
}

void store_seen_below(const struct uri *uri, const char *name, struct buf *ret)
{
	store_seen_uri(uri, ret);
	if (ret->data[ret->len_bytes - 1] != '/')
		buf_addch(ret, '/');
	buf_addstr(ret, name);
}

int store_seen_size(struct store *store, const char *uri, int64_t size_bytes, struct err *err)
{
	char answer[64];

	if (size_bytes >= 0 && sightings_check(store->seen, uri, size_bytes, "", NULL) < 0) {
		snprintf(answer, sizeof(answer), "answered with %" PRId64 " bytes", size_bytes);
		return sightings_check(store->seen, uri, size_bytes, answer, err);
	}
	sightings_found(store->seen, uri, size_bytes);
	return 0;
}

int store_seen_stream(struct store *store, const char *uri, int64_t offset_bytes,
		      int64_t left_bytes, struct err *err)
{
	char answer[64];

	if (left_bytes < 0)
		return store_seen_size(store, uri, -1, err);
	/* MUT: a read behind the end of a file makes it longer */
	if (left_bytes || !offset_bytes)
		return store_seen_size(store, uri, offset_bytes + left_bytes, err);
	snprintf(answer, sizeof(answer), "has nothing from byte %" PRId64 " on", offset_bytes);
	if (sightings_check(store->seen, uri, offset_bytes, answer, err) < 0)
		return -1;
	return store_seen_size(store, uri, -1, err);
}
