#include "store/store.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/store_ops.h"

static const struct store_ops *const all_ops[] = {
	&store_file_ops,
	&store_s3_ops,
	&store_swift_ops,
};

static const struct store_ops *ops_of(const char *scheme)
{
	for (size_t i = 0; i < ARRAY_LEN(all_ops); i++)
		for (size_t j = 0; all_ops[i]->schemes[j]; j++)
			if (!strcmp(all_ops[i]->schemes[j], scheme))
				return all_ops[i];
	return &store_flinkfs_ops;
}

/* The operations for a URI, and its parts, which the caller releases. */
static int parse(const char *uri, const struct store_ops **ret_ops, struct uri *ret_uri,
		 struct err *err)
{
	struct uri parsed = {0};

	if (uri_parse(uri, &parsed, err))
		return -1;
	*ret_ops = ops_of(parsed.scheme);
	if (!(*ret_ops)->check_authority || (*ret_ops)->check_authority(&parsed, err) == 0) {
		*ret_uri = parsed;
		return 0;
	}
	uri_release(&parsed);
	return -1;
}

int store_check(const char *uri, struct err *err)
{
	const struct store_ops *ops;
	struct uri parsed;

	if (parse(uri, &ops, &parsed, err))
		return -1;
	uri_release(&parsed);
	return 0;
}

bool store_object_is_writable(const char *uri)
{
	const struct store_ops *ops;
	struct uri parsed;

	if (parse(uri, &ops, &parsed, NULL))
		return false;
	uri_release(&parsed);
	return ops->object_put != NULL;
}

int store_open(const struct store_config *config, const char *uri, struct store **ret_store,
	       struct err *err)
{
	static const struct store_config unset;
	const struct store_ops *ops;
	struct uri parsed;
	struct store *store;

	if (parse(uri, &ops, &parsed, err))
		return -1;
	if (ops->open(config ? config : &unset, &parsed, &store, err)) {
		uri_release(&parsed);
		return -1;
	}
	store->ops = ops;
	store->scheme = parsed.scheme;
	store->authority = parsed.authority;
	free(parsed.path);
	*ret_store = store;
	return 0;
}

void store_close(struct store *store)
{
	if (!store)
		return;
	free(store->scheme);
	free(store->authority);
	store->ops->close(store);
}

static bool serves(const struct store *store, const struct uri *uri)
{
	return !strcmp(store->scheme, uri->scheme) && !strcmp(store->authority, uri->authority);
}

bool store_serves(const struct store *store, const char *uri)
{
	struct uri parsed = {0};
	bool yes;

	if (uri_parse(uri, &parsed, NULL))
		return false;
	yes = serves(store, &parsed);
	uri_release(&parsed);
	return yes;
}

int store_parse_for(const struct store *store, const char *uri, struct uri *ret, struct err *err)
{
	if (uri_parse(uri, ret, err))
		return -1;
	if (serves(store, ret))
		return 0;
	uri_release(ret);
	return err_set(err, ERR_CONFIG, 0, "'%s' is not in the store %s://%s", uri, store->scheme,
		       store->authority);
}

int store_stat(struct store *store, const char *uri, struct store_stat *ret, struct err *err)
{
	struct uri parsed = {0};
	int rc;

	if (store_parse_for(store, uri, &parsed, err))
		return -1;
	rc = store->ops->stat(store, &parsed, ret, err);
	uri_release(&parsed);
	return rc;
}

int store_exists(struct store *store, const char *uri, struct err *err)
{
	struct err why = {0};
	struct store_stat stat;

	if (!store_stat(store, uri, &stat, &why))
		return 1;
	if (why.kind == ERR_ABSENT)
		return 0;
	if (err)
		*err = why;
	return -1;
}

int store_list(struct store *store, const char *uri, store_entry_fn fn, void *ctx, struct err *err)
{
	struct uri parsed = {0};
	int rc;

	if (store_parse_for(store, uri, &parsed, err))
		return -1;
	rc = store->ops->list(store, &parsed, fn, ctx, err);
	uri_release(&parsed);
	return rc;
}

int store_list_dirs(struct store *store, const char *uri, const char *leaf, store_dir_fn fn,
		    void *ctx, struct err *err)
{
	struct uri parsed = {0};
	int rc;

	if (store_parse_for(store, uri, &parsed, err))
		return -1;
	rc = store->ops->list_dirs(store, &parsed, leaf, fn, ctx, err);
	uri_release(&parsed);
	return rc;
}

int store_list_tree(struct store *store, const char *uri, store_leaf_fn fn, void *ctx,
		    struct err *err)
{
	struct uri parsed = {0};
	int rc;

	if (store_parse_for(store, uri, &parsed, err))
		return -1;
	rc = store->ops->list_tree(store, &parsed, fn, ctx, err);
	uri_release(&parsed);
	return rc;
}

int store_delete_many(struct store *store, store_uri_fn uri, size_t count, store_deleted_fn fn,
		      void *ctx, struct err *err)
{
	return store->ops->delete_many(store, uri, count, fn, ctx, err);
}

int store_remove_empty(struct store *store, const char *uri, struct err *err)
{
	struct uri parsed = {0};
	int rc;

	if (store_parse_for(store, uri, &parsed, err))
		return -1;
	rc = store->ops->remove_empty ? store->ops->remove_empty(store, &parsed, err) : 0;
	uri_release(&parsed);
	return rc;
}

/* The first bytes of a file: *ret_len_bytes <= len_bytes. */
static int read_head(struct store *store, const char *uri, void *head, size_t len_bytes,
		     size_t *ret_len_bytes, struct err *err)
{
	struct store_stream *stream;
	size_t have = 0, got = 1;
	int rc = 0;

	if (store_read_open(store, uri, 0, &stream, err))
		return -1;
	while (!rc && got && have < len_bytes) {
		rc = store_read(stream, (char *)head + have, len_bytes - have, &got, err);
		have += rc ? 0 : got;
	}
	store_read_close(stream);
	if (!rc)
		*ret_len_bytes = have;
	return rc;
}

static int look_one(struct store *store, const char *uri, struct store_look *look, void *head,
		    size_t head_bytes, struct err *err)
{
	if (store_stat(store, uri, &look->stat, err))
		return -1;
	look->head = head;
	return head_bytes ? read_head(store, uri, head, head_bytes, &look->head_len_bytes, err) : 0;
}

int store_look_many(struct store *store, store_uri_fn uri, size_t count, size_t head_bytes,
		    store_look_fn fn, void *ctx, struct err *err)
{
	char head[STORE_HEAD_MAX_BYTES];

	if (store->ops->look_many)
		return store->ops->look_many(store, uri, count, head_bytes, fn, ctx, err);
	for (size_t i = 0; i < count; i++) {
		struct store_look look = {.index = i};
		struct err why = {0};

		if (look_one(store, uri(ctx, i), &look, head, head_bytes, &why)) {
			look = (struct store_look){
				.index = i, .state = STORE_LOOK_UNREADABLE, .why = &why};
			if (why.kind == ERR_ABSENT)
				look = (struct store_look){.index = i, .state = STORE_LOOK_ABSENT};
		}
		if (fn(ctx, &look, err) < 0)
			return -1;
	}
	return 0;
}

int store_list_page(const struct store *store)
{
	return store->ops->list_page;
}

int store_read_open(struct store *store, const char *uri, int64_t offset,
		    struct store_stream **ret_stream, struct err *err)
{
	struct uri parsed = {0};
	int rc;

	if (store_parse_for(store, uri, &parsed, err))
		return -1;
	rc = store->ops->read_open(store, &parsed, offset, ret_stream, err);
	if (!rc)
		(*ret_stream)->ops = store->ops;
	uri_release(&parsed);
	return rc;
}

int store_read(void *stream, void *buf, size_t len_bytes, size_t *ret_len_bytes, struct err *err)
{
	struct store_stream *from = stream;

	return from->ops->read(from, buf, len_bytes, ret_len_bytes, err);
}

int64_t store_read_size(const struct store_stream *stream)
{
	return stream->size_bytes;
}

void store_read_close(struct store_stream *stream)
{
	if (stream)
		stream->ops->read_close(stream);
}
