/*
 * store - where Flink keeps its snapshots: a directory or an object store, chosen by URI scheme.
 *
 * Life cycle: store_open() with any URI in it -> calls with full URIs of the same scheme and
 * authority -> store_close(). Calls block (they run on worker threads); one store serves one thread
 * at a time, streams included.
 *
 * Names are Flink's (store/uri.h). Errors: ERR_ABSENT only when the store has proven that the thing
 * is not there; ERR_DENIED, ERR_RETRY, ERR_SYS otherwise; ERR_CONFIG for a scheme that nothing here
 * speaks. An error is never absence.
 *
 * Supported: `file`; `s3`, `s3a`, `s3p` (one thing under three names); `swift`. A new scheme is one
 * more struct store_ops (store/store_ops.h).
 */
#ifndef DREY_STORE_STORE_H
#define DREY_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "store/store_config.h"

struct store;
struct store_stream;

/* NULL config: a zeroed one. It is borrowed until store_close(). */
int store_open(const struct store_config *config, const char *uri, struct store **ret_store,
	       struct err *err);
void store_close(struct store *store); /* NULL is allowed */

/* Is it a URI that a store here can be opened with? No I/O. ERR_CONFIG. */
int store_check(const char *uri, struct err *err);

/* Can this store be asked about `uri`? (Same scheme and authority.) */
bool store_serves(const struct store *store, const char *uri);

struct store_stat {
	int64_t size_bytes;
	int64_t mtime_unix_ms;
};

/* One file. A directory is no file: ERR_FORMAT. */
int store_stat(struct store *store, const char *uri, struct store_stat *ret, struct err *err);

/* 1 a file is there, 0 proven not to be, -1 not known. */
int store_exists(struct store *store, const char *uri, struct err *err);

struct store_entry {
	const char *name; /* last name only, no slash; borrowed for the call */
	bool is_prefix;   /* a directory: `stat` is not set */
	struct store_stat stat;
};

/* Return 0 to go on, 1 to end the listing (it then succeeds), -1 with *err set to fail it. */
typedef int (*store_entry_fn)(void *ctx, const struct store_entry *entry, struct err *err);

/*
 * One level of the directory `uri`, in no order. On -1 the listing is void, whatever was handed out
 * before: a page that was lost might have held anything. ERR_ABSENT: no such directory (an object
 * store has no directories: there it means that nothing begins with this prefix).
 */
int store_list(struct store *store, const char *uri, store_entry_fn fn, void *ctx, struct err *err);

/* A directory seen through one file in it. */
struct store_dir {
	const char *name; /* of the directory; borrowed for the call */
	enum { STORE_LEAF_PRESENT, STORE_LEAF_ABSENT, STORE_LEAF_UNREADABLE } leaf;
	struct store_stat stat; /* of the file, where present */
	const struct err *why;  /* where unreadable; borrowed for the call */
};

typedef int (*store_dir_fn)(void *ctx, const struct store_dir *dir, struct err *err);

/*
 * Every directory in the directory `uri`, and what is known about the file `leaf` in each. Cheaper
 * than store_list() and a look at each (an object store chooses between reading all names, which
 * come with sizes and dates, and a request for each leaf); otherwise as store_list().
 */
int store_list_dirs(struct store *store, const char *uri, const char *leaf, store_dir_fn fn,
		    void *ctx, struct err *err);

/* What was found out about one file of many. */
struct store_look {
	size_t index;
	enum { STORE_LOOK_PRESENT, STORE_LOOK_ABSENT, STORE_LOOK_UNREADABLE } state;
	struct store_stat stat; /* where present */
	const void *head;       /* idem: the first bytes, as many as were asked for and are there */
	size_t head_len_bytes;
	const struct err *why; /* where unreadable; borrowed for the call */
};

/* The URI of file `index`; borrowed until the next call of it. */
typedef const char *(*store_uri_fn)(void *ctx, size_t index);
/* Return 0 to go on, -1 with *err set to end. */
typedef int (*store_look_fn)(void *ctx, const struct store_look *look, struct err *err);

#define STORE_IN_FLIGHT      32
#define STORE_HEAD_MAX_BYTES 256

/*
 * Look at `count` files, each handed to fn exactly once, in no order; an object store is asked with
 * at most STORE_IN_FLIGHT requests under way. head_bytes 0: size and date only. What cannot be
 * looked at is no failure of the call: fn is told so. -1: fn has failed.
 */
int store_look_many(struct store *store, store_uri_fn uri, size_t count, size_t head_bytes,
		    store_look_fn fn, void *ctx, struct err *err);

/* How many entries one listing request yields: 1000 for an object store, 1 where a listing costs as
 * much as a stat of each. */
int store_list_page(const struct store *store);

/* Read a file from `offset` on. The stream must be closed before the store. */
int store_read_open(struct store *store, const char *uri, int64_t offset,
		    struct store_stream **ret_stream, struct err *err);

/* A source_read_fn: up to len_bytes; *ret_len_bytes = 0 is the end. */
int store_read(void *stream, void *buf, size_t len_bytes, size_t *ret_len_bytes, struct err *err);

/* What is left from `offset` on when the file was opened, -1 unknown. */
int64_t store_read_size(const struct store_stream *stream);
void store_read_close(struct store_stream *stream); /* NULL is allowed */

#endif
