/*
 * s3_store - what the files of the S3 store share; used by store_s3.c and s3_*.c only.
 *
 * s3_request.c signs requests and interprets failures, s3_look.c requests single files,
 * s3_list.c lists, s3_ahead.c begins listings before they are made, s3_delete.c deletes, s3_read.c reads, s3_object.c
 * reads and writes on conditions.
 * Contracts: store/store.h, store/store_object.h.
 */
#ifndef DREY_STORE_S3_STORE_H
#define DREY_STORE_S3_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "store/s3/s3_credentials.h"
#include "store/s3/s3_endpoint.h"
#include "store/store_http.h"
#include "store/store_ops.h"

struct s3_ahead;

struct s3_store {
	struct store base;
	struct http *http;
	struct s3_credentials *credentials;
	const struct s3_keys *keys; /* the last ones used, borrowed; NULL before */
	struct s3_endpoint endpoint;
	int64_t clock_offset_ms; /* the server's clock - ours, once found to matter */
	int64_t refused_ms;      /* when keys were discarded, monotonic; 0: never */
	struct s3_ahead *ahead;  /* NULL: no listing was begun ahead */
	bool bucket_seen;        /* it exists, and the endpoint is S3 */
	bool unconditional;      /* the server has no conditional writes */
	bool ask_by_get;         /* an answer to HEAD has no body: GET tells why it failed */
};

/* One request. The texts are borrowed for the call of s3_prepare(). */
struct s3_ask {
	const char *method;
	const char *key;      /* unencoded, without a leading slash; "" for the bucket */
	const char *query;    /* encoded; NULL none */
	const char *range;    /* "bytes=0-99"; NULL all */
	const char *if_match; /* ETag with its quotes; NULL none */
	bool if_absent;       /* only if there is none of this key */
	bool checksum;        /* with its checksum: a bucket with object lock requires one */
	const char *body;     /* NULL none; must outlive the attempt */
	size_t body_len_bytes;
	size_t max_bytes; /* of the answer; 0 is HTTP_MAX_BYTES */
};

/* Sign it, with the current keys and time. */
int s3_prepare(struct s3_store *s3, const struct s3_ask *ask, struct store_call *ret_call,
	       struct err *err);

/* The key of a file of this store. *ret_uri has it, and must be released. */
int s3_key_of(const struct s3_store *s3, const char *text, struct uri *ret_uri,
	      const char **ret_key, struct err *err);

/* The error for an unexpected answer. ERR_ABSENT only for a 404 with S3's own document (NoSuchKey) about
 * this key: a 404 to HEAD has none, and one of a proxy another. ERR_CONFIG for an archived object. */
enum store_verdict s3_judge_failure(struct s3_store *s3, const struct s3_ask *ask,
				    const struct http_response *response, struct err *err);

/* "bytes 0-99/1000" and "bytes * /1000" (first -1); false if it is neither. */
struct s3_content_range {
	int64_t first, last, total;
};
bool s3_content_range(const struct http_response *response, struct s3_content_range *ret);

/* Does this answer to HEAD say that the content must be restored first? Source: "HeadObject" of Amazon S3
 * (x-amz-storage-class, x-amz-archive-status of INTELLIGENT_TIERING, x-amz-restore). */
bool s3_is_archived(const struct http_response *response);

/* Last-Modified; 0 if absent. */
int64_t s3_last_modified(const struct http_response *response);

int s3_stat(struct store *store, const struct uri *uri, struct store_stat *ret, struct err *err);
int s3_look_many(struct store *store, store_uri_fn uri, size_t count, size_t head_bytes,
		 store_look_fn fn, void *ctx, struct err *err);
int s3_list(struct store *store, const struct uri *uri, store_entry_fn fn, void *ctx,
	    struct err *err);
int s3_list_dirs(struct store *store, const struct uri *uri, const char *leaf, store_dir_fn fn,
		 void *ctx, struct err *err);
int s3_list_tree(struct store *store, const struct uri *uri, store_leaf_fn fn, void *ctx,
		 struct err *err);
/* A thousand of the longest keys, encoded, need half of it. */
#define S3_PAGE_MAX_BYTES ((size_t)8 << 20)

/* A page of a listing. token NULL, after "": the first one. most: of its names; 0: as many as the store likes. */
struct s3_page_ask {
	const char *prefix, *token, *after;
	bool delimited;
	int most;
};

/* Its query is added to *query. */
void s3_list_query(const struct s3_page_ask *ask, struct buf *query);

/* As store_ops.ahead(). */
void s3_fetch_ahead(struct store *store, const struct store_next *next, size_t count);

/* The answer to this query, if it was fetched ahead, once and soon: then *ret is the caller's. */
bool s3_take_ahead(struct s3_store *s3, const char *query, struct http_response *ret);
void s3_ahead_free(struct s3_ahead *ahead); /* NULL is allowed */

int s3_named(struct store *store, const struct uri *uri, bool deep, struct store_named *ret,
	     struct err *err);
int s3_delete_many(struct store *store, store_uri_fn uri, size_t count, store_deleted_fn fn,
		   void *ctx, struct err *err);
int s3_read_open(struct store *store, const struct uri *uri, int64_t offset,
		 struct store_stream **ret, struct err *err);
int s3_read(struct store_stream *stream, void *buf, size_t len_bytes, size_t *ret_len_bytes,
	    struct err *err);
void s3_read_close(struct store_stream *stream);
int s3_object_read(struct store *store, const struct uri *uri, int64_t timeout_ms,
		   struct store_object *ret, struct err *err);
int s3_object_write(struct store *store, const struct uri *uri, const struct store_object *object,
		    int64_t timeout_ms, char ret_etag[STORE_ETAG_BYTES], struct err *err);

int s3_object_put(struct store *store, const struct uri *uri, size_t kept,
		  const struct store_object *object, int64_t timeout_ms,
		  char ret_etag[STORE_ETAG_BYTES], struct err *err);

#endif
