/* store_swift: OpenStack Swift through its own API, which Ceph also speaks. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/swift/swift_call.h"
#include "store/swift/swift_list.h"
#include "store/swift/swift_object.h"
#include "store/swift/swift_read.h"

#define CONTAINER_MAX_BYTES 256

/*
 * "container", or "container.service" as Hadoop writes it: the service names a block of Hadoop's
 * configuration with the address; here the address is configured elsewhere. As in Hadoop, a
 * container with a dot in its name cannot be named.
 */
static int check_authority(const struct uri *uri, struct err *err)
{
	const char *authority = uri->authority;
	size_t container = strcspn(authority, "."), rest = strlen(authority) - container;

	if (!container || container > CONTAINER_MAX_BYTES || strpbrk(authority, "@:?#%") ||
	    (rest && (rest == 1 || strchr(authority + container + 1, '.'))))
		return err_set(
			err, ERR_CONFIG, 0,
			"swift://%s is neither swift://container nor swift://container.service",
			authority);
	return 0;
}

static void swift_close(struct store *base)
{
	struct swift_store *store = (struct swift_store *)base;

	swift_auth_free(store->auth);
	http_free(store->http);
	free(store->container);
	free(store);
}

static int swift_open(const struct store_config *config, const struct uri *uri, struct store **ret,
		      struct err *err)
{
	const struct http_config http = {.ca_file = config->swift.ca_file,
					 .ca_setting = "storage.swift.caFile or OS_CACERT"};
	struct swift_store *store;

	store = xcalloc(1, sizeof(*store));
	store->container = xstrndup(uri->authority, strcspn(uri->authority, "."));
	store->http = http_new(&http, err);
	if (store->http)
		store->auth = swift_auth_new(&config->swift, store->http, NULL, err);
	if (!store->auth) {
		swift_close(&store->base);
		return -1;
	}
	*ret = &store->base;
	return 0;
}

static int swift_stat(struct store *base, const struct uri *uri, struct store_stat *ret,
		      struct err *err)
{
	const struct swift_request request = {.method = "HEAD", .object = uri->path};
	cleanup_http_response struct http_response response = {0};

	if (swift_call((struct swift_store *)base, &request, &response, err))
		return -1;
	if (swift_call_stat(&response, false, ret, err))
		return err_wrap(err, "HEAD %s://%s%s", base->scheme, base->authority, uri->path);
	return 0;
}

/* ---- many ---- */

struct looks {
	struct swift_store *store;
	store_uri_fn uri;
	store_look_fn fn;
	void *ctx;
	size_t head_bytes;
	struct swift_attempt *attempts;
	bool ended; /* by fn */
};

static int hand_out(struct looks *looks, const struct store_look *look, struct err *err)
{
	if (looks->fn(looks->ctx, look, err) >= 0)
		return 0;
	looks->ended = true;
	return -1;
}

static int hand_out_failure(struct looks *looks, size_t index, const struct err *why,
			    struct err *err)
{
	struct store_look look = {.index = index, .state = STORE_LOOK_ABSENT};

	if (why->kind != ERR_ABSENT) {
		look.state = STORE_LOOK_UNREADABLE;
		look.why = why;
	}
	return hand_out(looks, &look, err);
}

/* The request of call `index`; *uri has its object, and the caller releases it. */
static int request_of(const struct looks *looks, size_t index, struct uri *uri,
		      struct swift_request *ret, struct err *err)
{
	const char *text = looks->uri(looks->ctx, index);

	if (!store_serves(&looks->store->base, text))
		return err_set(err, ERR_CONFIG, 0, "'%s' is not in the store swift://%s", text,
			       looks->store->base.authority);
	if (uri_parse(text, uri, err))
		return -1;
	*ret = (struct swift_request){
		.method = looks->head_bytes ? "GET" : "HEAD",
		.object = uri->path,
		.count = (int64_t)looks->head_bytes,
	};
	return 0;
}

static int store_swift_prepare(void *ctx, size_t index, struct store_call *ret_call,
			       struct err *err)
{
	struct looks *looks = ctx;
	struct swift_request request;
	cleanup_uri struct uri uri = {0};

	if (request_of(looks, index, &uri, &request, err))
		return -1;
	return swift_call_prepare(looks->store, &request, &looks->attempts[index], ret_call, err);
}

static int store_swift_take(struct looks *looks, size_t index, const struct http_response *response,
			    struct err *err)
{
	struct store_look look = {.index = index, .state = STORE_LOOK_PRESENT};

	if (swift_call_stat(response, looks->head_bytes != 0, &look.stat, err))
		return -1;
	if (looks->head_bytes && response->status != 416) {
		look.head = response->body.data;
		look.head_len_bytes = response->body.len_bytes;
		if (look.head_len_bytes > looks->head_bytes)
			look.head_len_bytes = looks->head_bytes;
	}
	return hand_out(looks, &look, err);
}

static enum store_verdict store_swift_judge(void *ctx, size_t index,
					    const struct http_response *response, struct err *err)
{
	struct looks *looks = ctx;
	struct swift_request request;
	enum store_verdict verdict;
	cleanup_uri struct uri uri = {0};

	if (request_of(looks, index, &uri, &request, err))
		return STORE_FAILED;
	verdict = swift_call_judge(looks->store, &request, &looks->attempts[index], response, err);
	if (verdict == STORE_DONE && store_swift_take(looks, index, response, err))
		verdict = STORE_FAILED;
	return verdict;
}

static int failed(void *ctx, size_t index, const struct err *why, struct err *err)
{
	struct looks *looks = ctx;

	if (!looks->ended)
		return hand_out_failure(looks, index, why, err);
	return err_pass(err, why);
}

static int look_at_all(struct looks *looks, size_t count, struct err *err)
{
	static const struct store_http_ops ops = {
		.prepare = store_swift_prepare, .judge = store_swift_judge, .failed = failed};
	struct err why = {0};

	/* an unreachable store or a wrong container is reported once, not for each file */
	if (!swift_call_see_container(looks->store, &why))
		return store_http_many(looks->store->http, &ops, looks, count, STORE_IN_FLIGHT,
				       err);
	for (size_t i = 0; i < count; i++)
		if (hand_out_failure(looks, i, &why, err))
			return -1;
	return 0;
}

static int swift_look_many(struct store *base, store_uri_fn uri, size_t count, size_t head_bytes,
			   store_look_fn fn, void *ctx, struct err *err)
{
	struct looks looks = {
		.store = (struct swift_store *)base,
		.uri = uri,
		.fn = fn,
		.ctx = ctx,
		.head_bytes = head_bytes,
		.attempts = xcalloc(count ? count : 1, sizeof(*looks.attempts)),
	};
	int rc = look_at_all(&looks, count, err);

	free(looks.attempts);
	return rc;
}

/* ---- delete ---- */

struct deletions {
	struct swift_store *store;
	store_uri_fn uri;
	store_deleted_fn fn;
	void *ctx;
	struct swift_attempt *attempts;
	bool ended; /* by fn */
	struct err end;
};

/* Without `multipart-manifest`: the segments of a large object stay, and so does what shares them. */
static int deletion_of(const struct deletions *deletions, size_t index, struct uri *uri,
		       struct swift_request *ret, struct err *err)
{
	const char *text = deletions->uri(deletions->ctx, index);

	if (!store_serves(&deletions->store->base, text))
		return err_set(err, ERR_CONFIG, 0, "'%s' is not in the store swift://%s", text,
			       deletions->store->base.authority);
	if (uri_parse(text, uri, err))
		return -1;
	if (!uri->path[1]) { /* DELETE of the container itself */
		uri_release(uri);
		return err_set(err, ERR_FORMAT, 0, "'%s' is a container, not a file", text);
	}
	*ret = (struct swift_request){.method = "DELETE", .object = uri->path};
	return 0;
}

static int swift_delete_prepare(void *ctx, size_t index, struct store_call *ret_call,
				struct err *err)
{
	struct deletions *deletions = ctx;
	struct swift_request request;
	cleanup_uri struct uri uri = {0};

	if (deletion_of(deletions, index, &uri, &request, err))
		return -1;
	return swift_call_prepare(deletions->store, &request, &deletions->attempts[index], ret_call,
				  err);
}

static enum store_verdict swift_delete_judge(void *ctx, size_t index,
					     const struct http_response *response, struct err *err)
{
	struct deletions *deletions = ctx;
	struct swift_request request;
	enum store_verdict verdict;
	cleanup_uri struct uri uri = {0};

	if (deletion_of(deletions, index, &uri, &request, err))
		return STORE_FAILED;
	verdict = swift_call_judge(deletions->store, &request, &deletions->attempts[index],
				   response, err);
	if (verdict == STORE_DONE && deletions->fn(deletions->ctx, index, NULL, &deletions->end)) {
		deletions->ended = true;
		verdict = STORE_FAILED;
	}
	return verdict;
}

static int swift_delete_failed(void *ctx, size_t index, const struct err *why, struct err *err)
{
	struct deletions *deletions = ctx;

	if (deletions->ended)
		return err_pass(err, &deletions->end);
	return deletions->fn(deletions->ctx, index, why->kind == ERR_ABSENT ? NULL : why, err);
}

static int swift_delete_many(struct store *base, store_uri_fn uri, size_t count,
			     store_deleted_fn fn, void *ctx, struct err *err)
{
	static const struct store_http_ops ops = {.prepare = swift_delete_prepare,
						  .judge = swift_delete_judge,
						  .failed = swift_delete_failed};
	struct deletions deletions = {
		.store = (struct swift_store *)base,
		.uri = uri,
		.fn = fn,
		.ctx = ctx,
		.attempts = xcalloc(count ? count : 1, sizeof(*deletions.attempts)),
	};
	struct err why = {0};
	int rc = 0;

	/* a wrong container must not look like objects that are absent */
	if (!swift_call_see_container(deletions.store, &why))
		rc = store_http_many(deletions.store->http, &ops, &deletions, count,
				     STORE_IN_FLIGHT, err);
	else
		for (size_t i = 0; i < count && !rc; i++)
			rc = fn(ctx, i, &why, err);
	free(deletions.attempts);
	return rc;
}

static const char *const schemes[] = {"swift", NULL};

const struct store_ops store_swift_ops = {
	.schemes = schemes,
	.list_page = 1000,
	.absence = "answered 404",
	.check_authority = check_authority,
	.open = swift_open,
	.close = swift_close,
	.stat = swift_stat,
	.list = swift_list,
	.list_dirs = swift_list_dirs,
	.look_many = swift_look_many,
	.list_tree = swift_list_tree,
	.named = swift_named,
	.delete_many = swift_delete_many,
	.read_open = swift_read_open,
	.read = swift_read,
	.read_close = swift_read_close,
	.object_read = swift_object_read,
	.object_put = swift_object_put,
};
