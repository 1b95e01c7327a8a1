/* GetObject and PutObject of one small object, with conditions (store/store_object.h). */
#include <stdio.h>
#include <string.h>

#include "store/s3/s3_store.h"

struct exchange {
	struct s3_store *s3;
	const struct uri *uri;
	struct s3_ask ask;
	int64_t timeout_ms;
	struct buf *body; /* GET: of the answer */
	char etag[STORE_ETAG_BYTES];
	bool no_conditions; /* the server has said that it knows none */
};

static int s3_object_prepare(void *ctx, size_t index, struct store_call *ret_call, struct err *err)
{
	struct exchange *exchange = ctx;

	(void)index;
	ret_call->timeout_ms = exchange->timeout_ms;
	return s3_prepare(exchange->s3, &exchange->ask, ret_call, err);
}

/* A weak tag says nothing about the bytes, and one that was cut never matches. */
static enum store_verdict take_etag(struct exchange *exchange, const struct http_response *response,
				    struct err *err)
{
	char etag[STORE_ETAG_BYTES];

	if (http_header(response, "ETag", etag, sizeof(etag)) && etag[0] == '"' &&
	    strlen(etag) < STORE_ETAG_BYTES - 1) {
		memcpy(exchange->etag, etag, sizeof(etag));
		return STORE_DONE;
	}
	err_set(err, ERR_FORMAT, 0, "%s://%s%s: the answer has no ETag", exchange->uri->scheme,
		exchange->uri->authority, exchange->uri->path);
	return STORE_FAILED;
}

static enum store_verdict refused(const struct exchange *exchange,
				  const struct http_response *response, struct err *err)
{
	err_set(err, ERR_BUSY, 0, "%s://%s%s: HTTP %d: it is not as required",
		exchange->uri->scheme, exchange->uri->authority, exchange->uri->path,
		response->status);
	return STORE_FAILED;
}

static enum store_verdict s3_object_judge(void *ctx, size_t index,
					  const struct http_response *response, struct err *err)
{
	struct exchange *exchange = ctx;
	enum store_verdict verdict;

	(void)index;
	if (response->status == 200) {
		exchange->s3->bucket_seen = true;
		if (exchange->body)
			buf_add(exchange->body, response->body.data, response->body.len_bytes);
		return take_etag(exchange, response, err);
	}
	if (exchange->ask.body && (response->status == 412 || response->status == 409))
		return refused(exchange, response, err);
	verdict = s3_judge_failure(exchange->s3, &exchange->ask, response, err);
	if (response->status == 501) {
		err->kind = ERR_CONFIG;
		err_wrap(err, "the server has no conditional writes");
		exchange->no_conditions = true;
	}
	/* a PUT with If-Match, and there is none */
	if (verdict == STORE_FAILED && exchange->ask.body && err->kind == ERR_ABSENT)
		return refused(exchange, response, err);
	return verdict;
}

static int exchange_once(struct exchange *exchange, struct err *err)
{
	static const struct store_http_ops ops = {
		.prepare = s3_object_prepare, .judge = s3_object_judge, .attempts = 1};
	struct err why = {0};

	if (store_http_one(exchange->s3->http, &ops, exchange, &why) == 0)
		return 0;
	return err_pass(err, &why);
}

int s3_object_read(struct store *store, const struct uri *uri, int64_t timeout_ms,
		   struct store_object *ret, struct err *err)
{
	struct buf body = BUF_INIT;
	struct exchange exchange = {.s3 = (struct s3_store *)store,
				    .uri = uri,
				    .timeout_ms = timeout_ms,
				    .body = &body,
				    .ask = {.method = "GET",
					    .key = uri->path + 1,
					    .max_bytes = STORE_OBJECT_MAX_BYTES}};

	if (exchange_once(&exchange, err) < 0) {
		buf_release(&body);
		return -1;
	}
	ret->body = body;
	memcpy(ret->etag, exchange.etag, sizeof(ret->etag));
	return 0;
}

static struct exchange write_of(struct store *store, const struct uri *uri,
				const struct store_object *object, int64_t timeout_ms)
{
	return (struct exchange){.s3 = (struct s3_store *)store,
				 .uri = uri,
				 .timeout_ms = timeout_ms,
				 .ask = {.method = "PUT",
					 .key = uri->path + 1,
					 .body = object->body.data,
					 .body_len_bytes = object->body.len_bytes,
					 .if_match = object->etag[0] ? object->etag : NULL,
					 .if_absent = !object->etag[0]}};
}

int s3_object_write(struct store *store, const struct uri *uri, const struct store_object *object,
		    int64_t timeout_ms, char ret_etag[STORE_ETAG_BYTES], struct err *err)
{
	struct exchange exchange = write_of(store, uri, object, timeout_ms);

	if (exchange_once(&exchange, err) < 0)
		return -1;
	memcpy(ret_etag, exchange.etag, sizeof(exchange.etag));
	return 0;
}

int s3_object_put(struct store *store, const struct uri *uri, size_t kept,
		  const struct store_object *object, int64_t timeout_ms,
		  char ret_etag[STORE_ETAG_BYTES], struct err *err)
{
	struct exchange exchange = write_of(store, uri, object, timeout_ms);
	struct s3_store *s3 = exchange.s3;
	struct err why = {0};

	(void)kept; /* a bucket has no directories */
	exchange.ask.checksum = true;
	if (!s3->unconditional) {
		if (exchange_once(&exchange, &why) == 0) {
			memcpy(ret_etag, exchange.etag, sizeof(exchange.etag));
			return 0;
		}
		if (!exchange.no_conditions)
			return err_pass(err, &why);
	}
	exchange.ask.if_match = NULL;
	exchange.ask.if_absent = false;
	if (exchange_once(&exchange, err) < 0)
		return -1;
	s3->unconditional = true;
	memcpy(ret_etag, exchange.etag, sizeof(exchange.etag));
	return 0;
}
