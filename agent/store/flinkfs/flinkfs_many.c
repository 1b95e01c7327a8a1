/* flinkfs_many: look at and delete many files, a batch of them with each request. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/flinkfs/flinkfs_store.h"

#define MANY_BATCH 1000

struct many_batch {
	struct store *store;
	char type;
	size_t head_bytes;
	store_uri_fn uri;
	void *ctx;
	store_look_fn look; /* one of these two */
	store_deleted_fn deleted;
	size_t first, count, index[MANY_BATCH]; /* index: of those that were sent */
	struct buf paths;
	bool answered[MANY_BATCH];
};

static int pass_look(const struct many_batch *batch, size_t index, const struct flinkfs_item *item,
		     const struct err *why, struct err *err)
{
	struct store_look look = {.index = index, .state = STORE_LOOK_UNREADABLE, .why = why};

	if (item && item->state == 'f') {
		look = (struct store_look){.index = index,
					   .state = STORE_LOOK_PRESENT,
					   .stat = {.size_bytes = item->size_bytes,
						    .mtime_unix_ms = item->mtime_unix_ms},
					   .head = item->extra,
					   .head_len_bytes = item->extra_len < batch->head_bytes
								     ? item->extra_len
								     : batch->head_bytes};
	} else if (item && item->state == 'a') {
		look = (struct store_look){.index = index, .state = STORE_LOOK_ABSENT};
	}
	return batch->look(batch->ctx, &look, err);
}

/* What is known about one of them; item NULL: nothing but `why`. */
static int pass_one(const struct many_batch *batch, size_t index, const struct flinkfs_item *item,
		    const struct err *why, struct err *err)
{
	if (batch->look)
		return pass_look(batch, index, item, why, err) < 0 ? -1 : 0;
	return batch->deleted(batch->ctx, index, item && item->state == 'a' ? NULL : why, err) < 0
		       ? -1
		       : 0;
}

/* Send the paths of the next files; those that are not of this store fail at once. */
static int collect(struct many_batch *batch, size_t end, struct err *err)
{
	for (batch->count = 0; batch->first < end && batch->count < MANY_BATCH; batch->first++) {
		const char *text = batch->uri(batch->ctx, batch->first);
		cleanup_free char *path = NULL;
		struct uri uri = {0};
		struct err why = {0};

		if (!store_serves(batch->store, text))
			err_set(&why, ERR_CONFIG, 0, "'%s' is not in the store %s://%s", text,
				batch->store->scheme, batch->store->authority);
		else if (uri_parse(text, &uri, &why) == 0)
			path = flinkfs_path(&uri);
		uri_release(&uri);
		if (path) {
			flinkfs_put_text(&batch->paths, path);
			batch->answered[batch->count] = false;
			batch->index[batch->count++] = batch->first;
		} else if (pass_one(batch, batch->first, NULL, &why, err) < 0)
			return -1;
	}
	return 0;
}

static int ask_batch(struct many_batch *batch, struct flinkfs_answer *ret_answer, struct err *err)
{
	struct flinkfs_request request;
	int result;

	flinkfs_begin(flinkfs_of(batch->store), batch->type, FLINKFS_NAMES_NONE, &request);
	if (batch->look)
		flinkfs_put_u32(&request.bytes, (uint32_t)batch->head_bytes);
	flinkfs_put_u32(&request.bytes, (uint32_t)batch->count);
	buf_add(&request.bytes, buf_str(&batch->paths), batch->paths.len_bytes);
	result = flinkfs_ask(flinkfs_of(batch->store), &request, ret_answer, err);
	buf_release(&request.bytes);
	return result;
}

/* Each index once: what has no answer is not known. */
static int pass_answer(struct many_batch *batch, const struct flinkfs_answer *answer,
		       struct err *err)
{
	const char *bytes = buf_str(&answer->items);
	size_t left = answer->items.len_bytes;
	struct flinkfs_item item;
	int more;

	while ((more = flinkfs_item_next(&bytes, &left, FLINKFS_NAMES_NONE, &item, err)) > 0) {
		struct err why = {0};

		if (item.index >= batch->count || batch->answered[item.index])
			continue;
		batch->answered[item.index] = true;
		err_set(&why, item.state == 'u' ? item.kind : ERR_RETRY, 0, "%.*s",
			(int)item.extra_len, item.extra);
		if (pass_one(batch, batch->index[item.index], &item, &why, err) < 0)
			return -1;
	}
	return more;
}

static int pass_rest(struct many_batch *batch, const struct err *why, struct err *err)
{
	for (size_t i = 0; i < batch->count; i++)
		if (!batch->answered[i] && pass_one(batch, batch->index[i], NULL, why, err) < 0)
			return -1;
	return 0;
}

static int run_batch(struct many_batch *batch, struct err *err)
{
	struct err why = {.kind = ERR_RETRY, .msg = "no answer about this file"};
	cleanup_flinkfs_answer struct flinkfs_answer answer = {0};
	int result;

	if (!batch->count)
		return 0;
	if (ask_batch(batch, &answer, &why) < 0)
		return pass_rest(batch, &why, err);
	result = pass_answer(batch, &answer, err);
	if (result == 0)
		result = pass_rest(batch, &why, err);
	return result;
}

static int run_batches(struct many_batch *batch, size_t count, struct err *err)
{
	int result = 0;

	while (!result && batch->first < count) {
		buf_clear(&batch->paths);
		result = collect(batch, count, err);
		if (!result)
			result = run_batch(batch, err);
	}
	buf_release(&batch->paths);
	return result;
}

int flinkfs_look_many(struct store *store, store_uri_fn uri, size_t count, size_t head_bytes,
		      store_look_fn fn, void *ctx, struct err *err)
{
	struct many_batch batch = {.store = store,
				   .type = 'M',
				   .head_bytes = head_bytes,
				   .uri = uri,
				   .ctx = ctx,
				   .look = fn};

	return run_batches(&batch, count, err);
}

int flinkfs_delete_many(struct store *store, store_uri_fn uri, size_t count, store_deleted_fn fn,
			void *ctx, struct err *err)
{
	struct many_batch batch = {
		.store = store, .type = 'X', .uri = uri, .ctx = ctx, .deleted = fn};

	return run_batches(&batch, count, err);
}
