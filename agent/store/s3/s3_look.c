#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/s3/s3_store.h"

#define LOOK_MAX_BYTES ((size_t)64 * 1024) /* of an answer: the first bytes, or an error */

struct looks {
	struct s3_store *s3;
	store_uri_fn uri;
	void *uri_ctx;
	size_t head_bytes;
	store_look_fn fn;
	void *ctx;
	bool *by_get;  /* how each was queried last */
	bool *confirm; /* HEAD says 404, without a body: GET has the mark of S3, or of a proxy */
	const size_t *only; /* the second round: these, with HEAD; NULL in the first */
	size_t *again;      /* for the second round */
	size_t again_count;
	bool ended; /* fn has failed */
	struct err end;
};

static size_t real_index(const struct looks *looks, size_t index)
{
	return looks->only ? looks->only[index] : index;
}

int s3_key_of(const struct s3_store *s3, const char *text, struct uri *ret_uri,
	      const char **ret_key, struct err *err)
{
	const struct store *base = &s3->base;
	bool ours, bucket;

	if (uri_parse(text, ret_uri, err))
		return -1;
	ours = !strcmp(ret_uri->scheme, base->scheme) &&
	       !strcmp(ret_uri->authority, base->authority);
	bucket = !ret_uri->path[1];
	*ret_key = ret_uri->path + 1;
	if (ours && !bucket)
		return 0;
	uri_release(ret_uri);
	if (ours)
		return err_set(err, ERR_FORMAT, 0, "'%s' is a bucket, not a file", text);
	return err_set(err, ERR_CONFIG, 0, "'%s' is not in the store %s://%s", text, base->scheme,
		       base->authority);
}

static int key_of(struct looks *looks, size_t index, struct uri *ret_uri, const char **ret_key,
		  struct err *err)
{
	return s3_key_of(looks->s3, looks->uri(looks->uri_ctx, real_index(looks, index)), ret_uri,
			 ret_key, err);
}

static int s3_look_prepare(void *ctx, size_t index, struct store_call *ret_call, struct err *err)
{
	struct looks *looks = ctx;
	struct s3_ask ask = {.method = "HEAD", .max_bytes = LOOK_MAX_BYTES};
	cleanup_uri struct uri uri = {0};
	char range[40];

	if (key_of(looks, index, &uri, &ask.key, err))
		return -1;
	looks->by_get[index] = !looks->only && (looks->head_bytes || looks->s3->ask_by_get ||
						looks->confirm[index]);
	if (looks->by_get[index]) {
		ask.method = "GET";
		snprintf(range, sizeof(range), "bytes=0-%zu",
			 looks->head_bytes ? looks->head_bytes - 1 : 0);
		ask.range = range;
	}
	return s3_prepare(looks->s3, &ask, ret_call, err);
}

/* ---- answers ---- */

static bool content_length(const struct http_response *response, int64_t *ret)
{
	char text[24];
	size_t digits;

	if (!http_header(response, "Content-Length", text, sizeof(text)))
		return false;
	digits = strspn(text, "0123456789");
	if (!digits || digits > 18 || text[digits])
		return false;
	*ret = strtoll(text, NULL, 10);
	return true;
}

/* The answer to HEAD, or a whole file. */
static bool read_whole(const struct looks *looks, size_t index,
		       const struct http_response *response, struct store_look *look)
{
	if (!looks->by_get[index])
		return content_length(response, &look->stat.size_bytes);
	look->stat.size_bytes = (int64_t)response->body.len_bytes;
	return true;
}

static bool read_part(const struct http_response *response, struct store_look *look)
{
	struct s3_content_range range;

	if (!s3_content_range(response, &range) || range.first != 0 ||
	    range.last + 1 != (int64_t)response->body.len_bytes)
		return false;
	look->stat.size_bytes = range.total;
	return true;
}

static enum store_verdict s3_look_take(struct looks *looks, struct store_look *look,
				       const struct http_response *response, struct err *err)
{
	look->stat.mtime_unix_ms = s3_last_modified(response);
	if (looks->head_bytes) {
		look->head = buf_str(&response->body);
		look->head_len_bytes = response->body.len_bytes < looks->head_bytes
					       ? response->body.len_bytes
					       : looks->head_bytes;
		if (looks->only && look->stat.size_bytes)
			return err_set(err, ERR_RETRY, 0, "it was replaced meanwhile"),
			       STORE_FAILED;
	}
	looks->s3->bucket_seen = true;
	if (looks->fn(looks->ctx, look, &looks->end) >= 0)
		return STORE_DONE;
	looks->ended = true;
	return STORE_FAILED;
}

/* 404 without a body: not yet an absence. */
static enum store_verdict ask_by_get(struct looks *looks, size_t index, struct err *err)
{
	const char *uri = looks->uri(looks->uri_ctx, real_index(looks, index));

	if (looks->only)
		return err_set(err, ERR_CONTRADICTED, 0,
			       "%s: GET says that it is empty, but HEAD answered 404", uri),
		       STORE_FAILED;
	looks->confirm[index] = true;
	err_set(err, ERR_RETRY, 0, "%s: HEAD answered 404", uri);
	return STORE_REPAIRED;
}

static enum store_verdict s3_look_judge(void *ctx, size_t index,
					const struct http_response *response, struct err *err)
{
	struct looks *looks = ctx;
	struct store_look look = {.index = real_index(looks, index), .state = STORE_LOOK_PRESENT};
	struct s3_ask ask = {.method = looks->by_get[index] ? "GET" : "HEAD"};
	cleanup_uri struct uri uri = {0};

	/* what GET answers can be read */
	look.stat.archived = !looks->by_get[index] && s3_is_archived(response);
	if (response->status == 200 && read_whole(looks, index, response, &look))
		return s3_look_take(looks, &look, response, err);
	if (response->status == 206 && looks->by_get[index] && read_part(response, &look))
		return s3_look_take(looks, &look, response, err);
	if (response->status == 416 && looks->by_get[index]) {
		/* it is empty; only HEAD reports its date */
		looks->again[looks->again_count++] = index;
		return STORE_DONE;
	}
	/* MUT: a 404 to HEAD is an absence without a body that says so */
	if (response->status == 404 && !looks->by_get[index])
		return ask_by_get(looks, index, err);
	if (key_of(looks, index, &uri, &ask.key, err))
		return STORE_FAILED;
	return s3_judge_failure(looks->s3, &ask, response, err);
}

static int failed(void *ctx, size_t index, const struct err *why, struct err *err)
{
	struct looks *looks = ctx;
	struct store_look look = {
		.index = real_index(looks, index),
		.state = STORE_LOOK_UNREADABLE,
		.why = why,
	};

	if (looks->ended)
		return err_pass(err, &looks->end);
	if (why->kind == ERR_ABSENT)
		look = (struct store_look){.index = look.index, .state = STORE_LOOK_ABSENT};
	return looks->fn(looks->ctx, &look, err) < 0 ? -1 : 0;
}

static const struct store_http_ops ops = {
	.prepare = s3_look_prepare, .judge = s3_look_judge, .failed = failed};

int s3_look_many(struct store *store, store_uri_fn uri, size_t count, size_t head_bytes,
		 store_look_fn fn, void *ctx, struct err *err)
{
	struct looks looks = {
		.s3 = (struct s3_store *)store,
		.uri = uri,
		.uri_ctx = ctx,
		.head_bytes = head_bytes,
		.fn = fn,
		.ctx = ctx,
		.by_get = xcalloc(count + 1, sizeof(*looks.by_get)),
		.confirm = xcalloc(count + 1, sizeof(*looks.confirm)),
		.again = xcalloc(count + 1, sizeof(*looks.again)),
	};
	int rc = store_http_many(looks.s3->http, &ops, &looks, count, STORE_IN_FLIGHT, err);

	if (!rc && looks.again_count) {
		looks.only = looks.again;
		rc = store_http_many(looks.s3->http, &ops, &looks, looks.again_count,
				     STORE_IN_FLIGHT, err);
	}
	free(looks.by_get);
	free(looks.confirm);
	free(looks.again);
	return rc;
}

/* ---- one ---- */

struct one {
	char *uri;
	struct store_look look;
	struct err why;
};

static const char *one_uri(void *ctx, size_t index)
{
	const struct one *one = ctx;

	(void)index;
	return one->uri;
}

static int on_one(void *ctx, const struct store_look *look, struct err *err)
{
	struct one *one = ctx;

	(void)err;
	one->look = *look;
	if (look->state == STORE_LOOK_ABSENT)
		err_set(&one->why, ERR_ABSENT, 0, "%s does not exist", one->uri);
	else if (look->state == STORE_LOOK_UNREADABLE)
		one->why = *look->why;
	return 0;
}

int s3_stat(struct store *store, const struct uri *uri, struct store_stat *ret, struct err *err)
{
	struct one one = {.uri = xasprintf("%s://%s%s", uri->scheme, uri->authority, uri->path)};
	int rc = s3_look_many(store, one_uri, 1, 0, on_one, &one, err);

	if (!rc && one.look.state == STORE_LOOK_PRESENT) {
		*ret = one.look.stat;
	} else if (!rc) {
		rc = err_pass(err, &one.why);
	}
	free(one.uri);
	return rc;
}
