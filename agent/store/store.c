#include "store/store.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/store_confirm.h"
#include "store/store_seen.h"

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
	cleanup_uri struct uri parsed = {0};

	if (parse(uri, &ops, &parsed, err))
		return -1;
	return 0;
}

bool store_object_is_writable(const char *uri)
{
	const struct store_ops *ops;
	cleanup_uri struct uri parsed = {0};

	if (parse(uri, &ops, &parsed, NULL))
		return false;
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
	store->seen = store->own_seen = sightings_new();
	free(parsed.path);
	*ret_store = store;
	return 0;
}

void store_remember_in(struct store *store, struct sightings *seen)
{
	sightings_free(store->own_seen);
	store->own_seen = NULL;
	store->seen = seen;
}

void store_close(struct store *store)
{
	if (!store)
		return;
	free(store->scheme);
	free(store->authority);
	sightings_free(store->own_seen);
	store->ops->close(store);
}

static bool serves(const struct store *store, const struct uri *uri)
{
	return !strcmp(store->scheme, uri->scheme) && !strcmp(store->authority, uri->authority);
}

bool store_serves(const struct store *store, const char *uri)
{
	cleanup_uri struct uri parsed = {0};

	if (uri_parse(uri, &parsed, NULL))
		return false;
	return serves(store, &parsed);
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
	cleanup_buf struct buf name = BUF_INIT;
	cleanup_uri struct uri parsed = {0};
	struct store_stat stat;
	struct err why = {0};
	int rc;

	if (store_parse_for(store, uri, &parsed, err))
		return -1;
	store_seen_uri(&parsed, &name);
	rc = store->ops->stat(store, &parsed, &stat, &why);
	if (rc)
		store_confirm_failure(store, name.data, &why);
	else
		rc = store_seen_size(store, name.data, stat.size_bytes, &why);
	if (rc)
		return err_pass(err, &why);
	*ret = stat;
	return 0;
}

int store_exists(struct store *store, const char *uri, struct err *err)
{
	struct err why = {0};
	struct store_stat stat;

	if (!store_stat(store, uri, &stat, &why))
		return 1;
	if (why.kind == ERR_ABSENT)
		return 0;
	return err_pass(err, &why);
}

int store_remove_empty(struct store *store, const char *uri, struct err *err)
{
	cleanup_buf struct buf name = BUF_INIT;
	cleanup_uri struct uri parsed = {0};
	struct err why = {0};
	int rc;

	if (store_parse_for(store, uri, &parsed, err))
		return -1;
	store_seen_below(&parsed, "", &name);
	rc = store->ops->remove_empty ? store->ops->remove_empty(store, &parsed, &why) : 0;
	if (rc) {
		store_confirm_failure(store, name.data, &why);
		return err_pass(err, &why);
	}
	sightings_forget(store->seen, name.data);
	return 0;
}

int store_list_page(const struct store *store)
{
	return store->ops->list_page;
}

int store_read_open(struct store *store, const char *uri, int64_t offset,
		    struct store_stream **ret_stream, struct err *err)
{
	cleanup_buf struct buf name = BUF_INIT;
	struct store_stream *stream = NULL;
	cleanup_uri struct uri parsed = {0};
	struct err why = {0};
	int rc;

	if (store_parse_for(store, uri, &parsed, err))
		return -1;
	store_seen_uri(&parsed, &name);
	rc = store->ops->read_open(store, &parsed, offset, &stream, &why);
	if (rc) {
		store_confirm_failure(store, name.data, &why);
		return err_pass(err, &why);
	}
	stream->ops = store->ops;
	if (store_seen_stream(store, name.data, offset, stream->size_bytes, &why)) {
		store_read_close(stream);
		return err_pass(err, &why);
	}
	stream->uri = buf_steal(&name);
	*ret_stream = stream;
	return 0;
}

int store_read(void *from, void *buf, size_t len_bytes, size_t *ret_len_bytes, struct err *err)
{
	struct store_stream *stream = from;
	size_t got;

	if (stream->ops->read(stream, buf, len_bytes, &got, err))
		return -1;
	stream->read_bytes += (int64_t)got;
	/* MUT: a file that ends before its size is whole */
	if (len_bytes && !got && stream->read_bytes < stream->size_bytes)
		return err_set(err, ERR_CONTRADICTED, 0,
			       "%s: it was opened with %" PRId64 " bytes, but ends after %" PRId64,
			       stream->uri, stream->size_bytes, stream->read_bytes);
	*ret_len_bytes = got;
	return 0;
}

int64_t store_read_size(const struct store_stream *stream)
{
	return stream->size_bytes;
}

void store_read_close(struct store_stream *stream)
{
	if (!stream)
		return;
	free(stream->uri);
	stream->ops->read_close(stream);
}
