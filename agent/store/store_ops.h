/*
 * store_ops - the interface that a scheme implements; used by store.c and the schemes only.
 *
 * An implementation embeds struct store (and struct store_stream) as its first member and receives
 * parsed URIs whose scheme and authority have been checked. Contracts: store/store.h.
 */
#ifndef DREY_STORE_STORE_OPS_H
#define DREY_STORE_STORE_OPS_H

#include "store/sightings.h"
#include "store/store.h"
#include "store/store_object.h"
#include "store/uri.h"

/* What to do about an archived object, for messages. */
#define STORE_ARCHIVED_REMEDY                                                                      \
	"request its restore (RestoreObject) and wait until it is done, or start from another snapshot"

/* Where a listing has a name. */
struct store_named {
	bool file;
	bool dir;           /* names begin with it and a slash */
	int64_t size_bytes; /* of the file; -1: not known */
};

struct store_ops {
	const char *const *schemes; /* NULL-terminated */
	int list_page;
	const char *absence;        /* what it says of a file that is absent: "answered 404" */
	bool absence_needs_listing; /* that alone is no proof (store_confirm.h) */
	bool lists_ghosts; /* it may list a directory of which only deleted files are left; `named` is set */
	/* Can a store be opened with this URI? ERR_CONFIG. No I/O. NULL: with any */
	int (*check_authority)(const struct uri *uri, struct err *err);
	int (*open)(const struct store_config *config, const struct uri *uri, struct store **ret,
		    struct err *err);
	void (*close)(struct store *store);
	int (*stat)(struct store *store, const struct uri *uri, struct store_stat *ret,
		    struct err *err);
	int (*list)(struct store *store, const struct uri *uri, store_entry_fn fn, void *ctx,
		    struct err *err);
	int (*list_dirs)(struct store *store, const struct uri *uri, const char *leaf,
			 store_dir_fn fn, void *ctx, struct err *err);
	/* `uri` of store_look_many(), not parsed yet; NULL: stat and read_open one after another */
	int (*look_many)(struct store *store, store_uri_fn uri, size_t count, size_t head_bytes,
			 store_look_fn fn, void *ctx, struct err *err);
	int (*list_tree)(struct store *store, const struct uri *uri, store_leaf_fn fn, void *ctx,
			 struct err *err);
	/* What does a new listing of the names that begin like `uri` (not the root) have of it? deep: of all names, not of
	 * one level, so a directory without names is none. NULL: the directory above is listed. */
	int (*named)(struct store *store, const struct uri *uri, bool deep, struct store_named *ret,
		     struct err *err);
	/* store_ahead(); NULL: it is of no use */
	void (*ahead)(struct store *store, const struct store_next *next, size_t count);
	/* `uri` of store_delete_many(), not parsed yet */
	int (*delete_many)(struct store *store, store_uri_fn uri, size_t count, store_deleted_fn fn,
			   void *ctx, struct err *err);
	/* NULL: it has no directories */
	int (*remove_empty)(struct store *store, const struct uri *uri, struct err *err);
	int (*read_open)(struct store *store, const struct uri *uri, int64_t offset,
			 struct store_stream **ret, struct err *err);
	int (*read)(struct store_stream *stream, void *buf, size_t len_bytes, size_t *ret_len_bytes,
		    struct err *err);
	void (*read_close)(struct store_stream *stream);
	/* store_object.h; NULL: drey only reads it; object_write NULL: it has no conditional writes */
	int (*object_put)(struct store *store, const struct uri *uri, size_t kept,
			  const struct store_object *object, int64_t timeout_ms,
			  char ret_etag[STORE_ETAG_BYTES], struct err *err);
	int (*object_read)(struct store *store, const struct uri *uri, int64_t timeout_ms,
			   struct store_object *ret, struct err *err);
	int (*object_write)(struct store *store, const struct uri *uri,
			    const struct store_object *object, int64_t timeout_ms,
			    char ret_etag[STORE_ETAG_BYTES], struct err *err);
};

/* Parse the URI of a call, if it is of this store. *ret must be released. */
int store_parse_for(const struct store *store, const char *uri, struct uri *ret, struct err *err);

struct store {
	const struct store_ops *ops;
	/* set and freed by store.c: */
	char *scheme, *authority;
	struct sightings *seen, *own_seen;      /* own_seen NULL: another's is used */
	const struct store_walk_limits *limits; /* of a listing by pages; NULL: store_walk_limits */
};

struct store_stream {
	const struct store_ops *ops;
	int64_t size_bytes; /* -1 unknown */
	/* set and freed by store.c: */
	char *uri;
	int64_t read_bytes; /* so far */
};

extern const struct store_ops store_file_ops;
extern const struct store_ops store_s3_ops;
extern const struct store_ops store_swift_ops;
extern const struct store_ops store_flinkfs_ops; /* of all other schemes */

#endif
