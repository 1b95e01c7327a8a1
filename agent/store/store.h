/*
 * store - where Flink keeps its snapshots: a directory or an object store, chosen by URI scheme.
 *
 * Life cycle: store_open() with any URI in it -> calls with full URIs of the same scheme and
 * authority -> store_close(). Calls block (they run on worker threads); one store serves one thread
 * at a time, streams included.
 *
 * Names are Flink's (store/uri.h). Errors: ERR_ABSENT only when the store has proven that the file
 * or directory does not exist; ERR_DENIED, ERR_RETRY, ERR_SYS otherwise; ERR_CONFIG for a
 * scheme that nothing here reads. An error is never absence.
 *
 * A store remembers what was seen (store/sightings.h): a file or directory that was listed or has answered
 * before, and is then absent or shorter, is ERR_CONTRADICTED, in every function here. So is a file that
 * ends before its own size.
 *
 * drey itself speaks `file`; `s3`, `s3a`, `s3p` (three names for the same); `swift`. All other schemes
 * are read with Flink's own file systems (store/flinkfs/). A new scheme is one more struct store_ops
 * (store/store_ops.h).
 */
#ifndef DREY_STORE_STORE_H
#define DREY_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "store/store_config.h"

struct sightings;
struct store;
struct store_stream;

/* NULL config: a zeroed one. It is borrowed until store_close(). */
int store_open(const struct store_config *config, const char *uri, struct store **ret_store,
	       struct err *err);
void store_close(struct store *store); /* NULL is allowed */

/* Remember in `seen`, which is borrowed until store_close(), instead of in a memory of its own: what several
 * stores see for one decision belongs together. */
void store_remember_in(struct store *store, struct sightings *seen);

/* Is it a URI with which a store can be opened? No I/O. ERR_CONFIG. */
int store_check(const char *uri, struct err *err);

/* Does `uri` belong to this store? (Same scheme and authority.) */
bool store_serves(const struct store *store, const char *uri);

struct store_stat {
	int64_t size_bytes;
	int64_t mtime_unix_ms;
	/* Its content cannot be read before it was restored from an archive (S3: GLACIER, DEEP_ARCHIVE). */
	bool archived;
};

/* One file. For a directory: ERR_FORMAT. */
int store_stat(struct store *store, const char *uri, struct store_stat *ret, struct err *err);

/* 1: the file exists, 0: proven not to, -1: not known. */
int store_exists(struct store *store, const char *uri, struct err *err);

/* The second witness of an absence: does a new listing name it, as a file or a directory? Of the directory above; in an
 * object store of the names that begin like it, mostly one page. 1: yes, 0: no, or there is no such directory; -1: not
 * known. */
int store_is_listed(struct store *store, const char *uri, struct err *err);

/* The same, and with which size: the second witness of a size. -1: a directory, or not known. */
int store_listed_size(struct store *store, const char *uri, int64_t *ret_size_bytes,
		      struct err *err);

struct store_entry {
	const char *name; /* last name only, no slash; borrowed for the call */
	bool is_prefix;   /* a directory: `stat` is not set */
	struct store_stat stat;
};

/* Return 0 to continue, 1 to end the listing (it then succeeds), -1 with *err set to fail it. */
typedef int (*store_entry_fn)(void *ctx, const struct store_entry *entry, struct err *err);

/*
 * One level of the directory `uri`, in no order. On -1 the listing is void, including what was
 * passed on before: a lost page may have contained anything. ERR_ABSENT: no such directory (an
 * object store has no directories: there it means that no name begins with this prefix).
 */
int store_list(struct store *store, const char *uri, store_entry_fn fn, void *ctx, struct err *err);

/* A file anywhere below a directory. */
struct store_leaf {
	const char *name; /* relative to it: "chk-1/_metadata"; borrowed for the call */
	bool odd;         /* not a file (a symbolic link, a device), or no URI can name it */
	bool in_doubt;    /* the listing may be wrong about its size */
	struct store_stat stat;
};

typedef int (*store_leaf_fn)(void *ctx, const struct store_leaf *leaf, struct err *err);

/* All files below the directory `uri`, at every depth; symbolic links are not followed. Otherwise as
 * store_list(). */
int store_list_tree(struct store *store, const char *uri, store_leaf_fn fn, void *ctx,
		    struct err *err);

/* A directory seen through one file in it. */
struct store_dir {
	const char *name; /* of the directory; borrowed for the call */
	enum { STORE_LEAF_PRESENT, STORE_LEAF_ABSENT, STORE_LEAF_UNREADABLE } leaf;
	bool has_names;         /* an object store has listed names in it, not only itself */
	struct store_stat stat; /* of the file, if present */
	const struct err *why;  /* where unreadable; borrowed for the call */
};

typedef int (*store_dir_fn)(void *ctx, const struct store_dir *dir, struct err *err);

/*
 * Every directory in the directory `uri`, and what is known about the file `leaf` in each. Cheaper
 * than store_list() and a request for each (an object store chooses between listing all names,
 * which come with sizes and dates, and a request for each leaf); otherwise as store_list().
 */
int store_list_dirs(struct store *store, const char *uri, const char *leaf, store_dir_fn fn,
		    void *ctx, struct err *err);

/* What is known about one file of many. */
struct store_look {
	size_t index;
	enum { STORE_LOOK_PRESENT, STORE_LOOK_ABSENT, STORE_LOOK_UNREADABLE } state;
	struct store_stat stat; /* where present */
	/* if present: the first bytes, as many as requested and available */
	const void *head;
	size_t head_len_bytes;
	const struct err *why; /* where unreadable; borrowed for the call */
};

/* The URI of file `index`; borrowed until the next call of it. */
typedef const char *(*store_uri_fn)(void *ctx, size_t index);
/* Return 0 to continue, -1 with *err set to end. */
typedef int (*store_look_fn)(void *ctx, const struct store_look *look, struct err *err);

#define STORE_IN_FLIGHT      32
#define STORE_HEAD_MAX_BYTES 256

/*
 * Read `count` files, each passed to fn exactly once, in no order; at most STORE_IN_FLIGHT requests
 * to an object store are under way. head_bytes 0: size and date only. A file that cannot be read is
 * reported to fn and does not fail the call. -1: fn has failed.
 */
int store_look_many(struct store *store, store_uri_fn uri, size_t count, size_t head_bytes,
		    store_look_fn fn, void *ctx, struct err *err);

/* What became of one file of many. `why` NULL: it is deleted, or was absent; borrowed for the call.
 * Return 0 to continue, -1 with *err set to end. */
typedef int (*store_deleted_fn)(void *ctx, size_t index, const struct err *why, struct err *err);

/*
 * Delete `count` files, each passed to fn exactly once, in no order; at most STORE_IN_FLIGHT requests
 * to an object store are under way. A file that cannot be deleted is reported to fn and does not fail
 * the call. -1: fn has failed; more may have been deleted.
 */
int store_delete_many(struct store *store, store_uri_fn uri, size_t count, store_deleted_fn fn,
		      void *ctx, struct err *err);

/* Remove the empty directories below `uri`, and that one if it is empty then; others stay. An object
 * store has none. ERR_ABSENT: there is no such directory. */
int store_remove_empty(struct store *store, const char *uri, struct err *err);

/* A listing that is made next. */
struct store_next {
	const char *uri; /* borrowed for the call */
	enum { STORE_NEXT_LIST, STORE_NEXT_DIRS, STORE_NEXT_IS_LISTED } kind;
};

#define STORE_AHEAD_MAX 8

/*
 * These listings (at most STORE_AHEAD_MAX; store_list(), store_list_dirs(), store_is_listed()) are made next and do not depend on
 * one another: a store where each costs a round begins them all at once, and each of them then takes what it has got. Nothing
 * else may be asked about these directories in between. No errors: a listing that failed here is made as if it had not begun.
 */
void store_ahead(struct store *store, const struct store_next *next, size_t count);

/*
 * Look at the directory `uri` once more, to know what is gone: a file of it that was seen before, and that
 * this listing does not name, may be absent from now on. For who works beside a running job (gc), where
 * files really vanish: two listings and the file itself agree then. Never for a decision about a start:
 * that begins anew with a new memory. 0 also if there is no such directory.
 */
int store_look_again(struct store *store, const char *uri, struct err *err);

/* How many entries one listing request yields: 1000 for an object store, 1 where a listing costs as
 * much as a stat of each. */
int store_list_page(const struct store *store);

/* Read a file from `offset` on. The stream must be closed before the store. */
int store_read_open(struct store *store, const char *uri, int64_t offset,
		    struct store_stream **ret_stream, struct err *err);

/* A source_read_fn: up to len_bytes; *ret_len_bytes = 0 is the end. */
int store_read(void *stream, void *buf, size_t len_bytes, size_t *ret_len_bytes, struct err *err);

/* The length from `offset` on when the file was opened, -1: not known. */
int64_t store_read_size(const struct store_stream *stream);
void store_read_close(struct store_stream *stream); /* NULL is allowed */

#endif
