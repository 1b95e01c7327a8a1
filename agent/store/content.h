/*
 * content - a file of a store, read through a parser, that distinguishes two kinds of failure:
 * wrong bytes are permanent damage; a failed read proves nothing, whatever the kind of error (an
 * invalid answer from an object store, or from a source of keys, is ERR_FORMAT too).
 *
 * Life cycle: content_open() -> parse content.source -> content_close().
 */
#ifndef DREY_STORE_CONTENT_H
#define DREY_STORE_CONTENT_H

#include <stdbool.h>

#include "format/source.h"
#include "store/store.h"

struct content {
	struct store_stream *stream;
	struct source *source;
	int64_t size_bytes; /* -1: not known */
	bool failed;        /* a read of the store has failed */
};

/* Errors as store_read_open(). The struct must not move until content_close(). */
int content_open(struct content *content, struct store *store, const char *uri, struct err *err);
void content_close(struct content *content);

/* Is the file itself the cause of this error of content_open() or of the parser? */
bool content_is_damage(const struct content *content, const struct store *store,
		       const struct err *err);

/* The same for an error returned by a store. */
bool content_store_says_damage(const struct store *store, const struct err *err);

#endif
