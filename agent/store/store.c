#include "store/store.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "store/store_ops.h"

static const struct store_ops *const all_ops[] = {
	&store_file_ops,
};

static void add_schemes(struct buf *text)
{
	for (size_t i = 0; i < ARRAY_LEN(all_ops); i++)
		for (size_t j = 0; all_ops[i]->schemes[j]; j++)
			buf_addf(text, "%s%s", text->len_bytes ? ", " : "", all_ops[i]->schemes[j]);
}

static const struct store_ops *ops_of(const char *scheme)
{
	for (size_t i = 0; i < ARRAY_LEN(all_ops); i++)
		for (size_t j = 0; all_ops[i]->schemes[j]; j++)
			if (!strcmp(all_ops[i]->schemes[j], scheme))
				return all_ops[i];
	return NULL;
}

int store_open(const char *uri, struct store **ret_store, struct err *err)
{
	cleanup_buf struct buf known = BUF_INIT;
	const struct store_ops *ops;
	struct uri parsed = {0};
	struct store *store;

	if (uri_parse(uri, &parsed, err))
		return -1;
	ops = ops_of(parsed.scheme);
	if (!ops) {
		add_schemes(&known);
		err_set(err, ERR_CONFIG, 0, "'%s': scheme '%s' is not supported (supported: %s)",
			uri, parsed.scheme, buf_str(&known));
		uri_release(&parsed);
		return -1;
	}
	if (ops->open(&parsed, &store, err)) {
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

static int parse_for(const struct store *store, const char *uri, struct uri *ret, struct err *err)
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

	if (parse_for(store, uri, &parsed, err))
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

	if (parse_for(store, uri, &parsed, err))
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

	if (parse_for(store, uri, &parsed, err))
		return -1;
	rc = store->ops->list_dirs(store, &parsed, leaf, fn, ctx, err);
	uri_release(&parsed);
	return rc;
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

	if (parse_for(store, uri, &parsed, err))
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
