/* DELETE of single objects (DeleteObject). A bucket that keeps versions keeps the content. */
#include "store/s3/s3_store.h"

struct deletions {
	struct s3_store *s3;
	store_uri_fn uri;
	store_deleted_fn fn;
	void *ctx;
	bool ended; /* fn has failed */
	struct err end;
};

static int s3_delete_prepare(void *ctx, size_t index, struct store_call *ret_call, struct err *err)
{
	struct deletions *deletions = ctx;
	struct s3_ask ask = {.method = "DELETE"};
	cleanup_uri struct uri uri = {0};

	if (s3_key_of(deletions->s3, deletions->uri(deletions->ctx, index), &uri, &ask.key, err))
		return -1;
	return s3_prepare(deletions->s3, &ask, ret_call, err);
}

static enum store_verdict tell_deleted(struct deletions *deletions, size_t index)
{
	if (deletions->fn(deletions->ctx, index, NULL, &deletions->end) >= 0)
		return STORE_DONE;
	deletions->ended = true;
	return STORE_FAILED;
}

static enum store_verdict s3_delete_judge(void *ctx, size_t index,
					  const struct http_response *response, struct err *err)
{
	struct deletions *deletions = ctx;
	struct s3_ask ask = {.method = "DELETE"};
	cleanup_uri struct uri uri = {0};

	if (response->status == 204 || response->status == 200) {
		deletions->s3->bucket_seen = true;
		return tell_deleted(deletions, index);
	}
	if (s3_key_of(deletions->s3, deletions->uri(deletions->ctx, index), &uri, &ask.key, err))
		return STORE_FAILED;
	return s3_judge_failure(deletions->s3, &ask, response, err);
}

static int s3_delete_failed(void *ctx, size_t index, const struct err *why, struct err *err)
{
	struct deletions *deletions = ctx;

	if (deletions->ended)
		return err_pass(err, &deletions->end);
	return deletions->fn(deletions->ctx, index, why->kind == ERR_ABSENT ? NULL : why, err);
}

int s3_delete_many(struct store *store, store_uri_fn uri, size_t count, store_deleted_fn fn,
		   void *ctx, struct err *err)
{
	static const struct store_http_ops ops = {
		.prepare = s3_delete_prepare, .judge = s3_delete_judge, .failed = s3_delete_failed};
	struct deletions deletions = {
		.s3 = (struct s3_store *)store, .uri = uri, .fn = fn, .ctx = ctx};

	return store_http_many(deletions.s3->http, &ops, &deletions, count, STORE_IN_FLIGHT, err);
}
