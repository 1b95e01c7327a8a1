#include "store/store_object.h"

#include <stdio.h>
#include <string.h>

#include "store/store_ops.h"

#define NO_SUCH_ETAG "\"00000000000000000000000000000000\""

static int check_supported(const struct store *store, struct err *err)
{
	if (store->ops->object_write)
		return 0;
	return err_set(err, ERR_CONFIG, 0,
		       "a store of the scheme %s has no conditional writes; use S3", store->scheme);
}

static int check_object(const struct store *store, struct err *err)
{
	if (store->ops->object_put)
		return 0;
	return err_set(err, ERR_CONFIG, 0, "drey does not write to a store of the scheme %s",
		       store->scheme);
}

int store_object_read(struct store *store, const char *uri, int64_t timeout_ms,
		      struct store_object *ret, struct err *err)
{
	cleanup_uri struct uri parsed = {0};

	if (check_object(store, err) || store_parse_for(store, uri, &parsed, err))
		return -1;
	return store->ops->object_read(store, &parsed, timeout_ms, ret, err);
}

int store_object_write(struct store *store, const char *uri, const struct store_object *object,
		       int64_t timeout_ms, char ret_etag[STORE_ETAG_BYTES], struct err *err)
{
	cleanup_uri struct uri parsed = {0};

	if (check_supported(store, err) || store_parse_for(store, uri, &parsed, err))
		return -1;
	return store->ops->object_write(store, &parsed, object, timeout_ms, ret_etag, err);
}

int store_object_put(struct store *store, const char *uri, size_t kept,
		     const struct store_object *object, int64_t timeout_ms,
		     char ret_etag[STORE_ETAG_BYTES], struct err *err)
{
	cleanup_uri struct uri parsed = {0};

	if (check_object(store, err) || store_parse_for(store, uri, &parsed, err))
		return -1;
	/* the path is the end of the URI */
	kept = kept + strlen(parsed.path) > strlen(uri) ? kept + strlen(parsed.path) - strlen(uri)
							: 0;
	return store->ops->object_put(store, &parsed, kept, object, timeout_ms, ret_etag, err);
}

/* A write that must be refused. */
static int check_refused(struct store *store, const char *uri, const char *etag,
			 const char *condition, int64_t timeout_ms, struct err *err)
{
	struct store_object object = {.body = BUF_INIT};
	char ignored[STORE_ETAG_BYTES];
	struct err why = {0};
	int rc;

	snprintf(object.etag, sizeof(object.etag), "%s", etag);
	buf_addstr(&object.body, "drey tries conditional writes with this object\n");
	rc = store_object_write(store, uri, &object, timeout_ms, ignored, &why);
	buf_release(&object.body);
	if (rc == 0)
		return err_set(
			err, ERR_CONFIG, 0,
			"%s: the server ignores %s, so two writers would both win; use a server that knows conditional writes",
			uri, condition);
	if (why.kind == ERR_BUSY)
		return 0;
	return err_pass(err, &why);
}

int store_object_check(struct store *store, const char *uri, int64_t timeout_ms, struct err *err)
{
	struct store_object object = {.body = BUF_INIT};
	char ignored[STORE_ETAG_BYTES];
	struct err why = {0};
	int rc;

	buf_addstr(&object.body, "drey tries conditional writes with this object\n");
	rc = store_object_write(store, uri, &object, timeout_ms, ignored, &why);
	buf_release(&object.body);
	if (rc < 0 && why.kind != ERR_BUSY) { /* else it is there already */
		return err_pass(err, &why);
	}
	if (check_refused(store, uri, "", "If-None-Match", timeout_ms, err) < 0)
		return -1;
	return check_refused(store, uri, NO_SUCH_ETAG, "If-Match", timeout_ms, err);
}
