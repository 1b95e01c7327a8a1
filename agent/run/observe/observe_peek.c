/* observe_peek: the beginnings of many _metadata files, one batch for each store. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "core/resolve/listing_doubt.h"
#include "format/metadata.h"
#include "run/observe/observe_internal.h"
#include "store/content.h"
#include "store/snapshots.h"

/* Its clock may differ from that of the store. */
#define LISTED_LATE_MS 60000

#define NEXT(i) ((size_t)-1 - (i)) /* in place of a candidate: look->next[i] */

struct batch {
	struct look *look;
	struct store *store;
	char **uris;
	size_t *candidates;
	size_t count;
};

void observe_set(struct candidate *candidate, enum integrity integrity, const char *detail)
{
	candidate->integrity = integrity;
	xstrset(&candidate->detail, detail);
}

void observe_note_peek(struct look *look, const struct candidate *candidate)
{
	size_t index = (size_t)(candidate - look->facts->candidates);

	for (size_t i = look->peek_count; i-- > 0;)
		if (look->peek[i] == index)
			return;
	if ((look->peek_count & (look->peek_count - 1)) == 0)
		look->peek = xreallocarray(look->peek, look->peek_count ? 2 * look->peek_count : 1,
					   sizeof(*look->peek));
	look->peek[look->peek_count++] = index;
}

static const char *uri_at(void *ctx, size_t index)
{
	const struct batch *batch = ctx;

	return batch->uris[index];
}

/* The listing did not have it. It may have been written since; else more may be missing from that listing. */
static bool is_older(const struct store_look *seen, int64_t listed_unix_ms)
{
	return seen->stat.mtime_unix_ms < listed_unix_ms - LISTED_LATE_MS;
}

static bool was_left_out(const struct candidate *c, const struct store_look *seen)
{
	return c->integrity == INTEGRITY_INCOMPLETE && facts_is_listed(c->source) &&
	       is_older(seen, c->listed_unix_ms);
}

static void read_header(struct candidate *c, const struct store_look *seen)
{
	cleanup_free char *another = NULL;
	struct metadata_header header;
	struct err err = {0};

	/* MUT: a listing without a _metadata that is there is believed */
	if (was_left_out(c, seen)) {
		observe_set(
			c, INTEGRITY_UNREADABLE,
			"its _metadata is there, and was not listed: the listing may leave out newer ones");
		return;
	}
	c->integrity = INTEGRITY_UNCHECKED;
	if (metadata_peek(seen->head, seen->head_len_bytes, &header, &err) < 0) {
		observe_set(c, err.kind == ERR_FORMAT ? INTEGRITY_DAMAGED : INTEGRITY_UNREADABLE,
			    err.msg);
		return;
	}
	another = facts_is_of_another(c, header.checkpoint_id);
	if (another) {
		/* that it was completed is known, and when: it keeps its place among the others */
		if (c->recorded_id)
			c->snapshot.checkpoint_id = c->recorded_id;
		observe_set(c, INTEGRITY_DAMAGED, another);
		return;
	}
	c->snapshot.checkpoint_id = header.checkpoint_id;
	c->metadata_version = header.version;
	if (c->snapshot.completed_unix_ms <= 0)
		c->snapshot.completed_unix_ms = seen->stat.mtime_unix_ms;
	if (!c->snapshot.metadata_unix_ms) {
		c->snapshot.metadata_unix_ms = seen->stat.mtime_unix_ms;
		c->snapshot.metadata_bytes = seen->stat.size_bytes;
	}
}

/* If it was completed since the listing, more may have been. */
static void looked_next(struct look *look, const char *path, const struct store_look *seen)
{
	/* MUT: a checkpoint that every listing leaves out is not asked for */
	if (seen->state == STORE_LOOK_PRESENT)
		listing_leaves_out(look->facts, path, NULL);
	/* MUT: a checkpoint that could not be asked for is not there */
	if (seen->state == STORE_LOOK_UNREADABLE)
		listing_leaves_out(look->facts, path, seen->why ? seen->why->msg : "not readable");
}

static int looked(void *ctx, const struct store_look *seen, struct err *err)
{
	const struct batch *batch = ctx;
	struct candidate *c;

	(void)err;
	for (size_t i = 0; i < OBSERVE_NEXT; i++)
		if (batch->candidates[seen->index] == NEXT(i)) {
			looked_next(batch->look, batch->look->next[i], seen);
			return 0;
		}
	c = &batch->look->facts->candidates[batch->candidates[seen->index]];
	c->read_unix_ms = clock_unix_ms();
	c->contradicted = false;
	switch (seen->state) {
	case STORE_LOOK_PRESENT:
		read_header(c, seen);
		break;
	case STORE_LOOK_ABSENT:
		observe_set(c, INTEGRITY_INCOMPLETE, "no _metadata");
		break;
	case STORE_LOOK_UNREADABLE:
		observe_set(c,
			    seen->why && content_store_says_damage(batch->store, seen->why)
				    ? INTEGRITY_DAMAGED
				    : INTEGRITY_UNREADABLE,
			    seen->why ? seen->why->msg : "not readable");
		break;
	}
	return 0;
}

/* One that the journal or Flink's HA data name, in a directory that nobody has listed. */
static void confirm_gone(struct batch *batch, size_t index)
{
	const struct facts *facts = batch->look->facts;
	struct candidate *c;
	struct err err = {0};

	if (batch->candidates[index] >= facts->candidate_count) /* NEXT() */
		return;
	c = &facts->candidates[batch->candidates[index]];
	/* MUT: what is not found needs no listing that agrees */
	if (c->integrity == INTEGRITY_INCOMPLETE && !facts_is_listed(c->source) &&
	    !listing_covers(facts, &c->snapshot) &&
	    observe_confirm_absent(batch->store, batch->uris[index], &err) < 0)
		observe_set(c, INTEGRITY_UNREADABLE, err.msg);
}

static void look_at_batch(struct batch *batch, struct store *store)
{
	struct err err = {0};

	batch->store = store;
	store_look_many(store, uri_at, batch->count, METADATA_HEAD_BYTES, looked, batch, &err);
	for (size_t i = 0; i < batch->count; i++) {
		confirm_gone(batch, i);
		free(batch->uris[i]);
	}
	batch->count = 0;
}

void observe_note_next(struct look *look)
{
	const struct observe_plan *plan = look->plan;
	size_t last = plan->job_id_count - 1;

	for (size_t i = plan->job_id_count; i-- > 0 && !look->next[0];) {
		look->next[0] = listing_next(look->facts, plan->job_ids[i]);
		/* MUT: the directory of the last launch may be left out by every listing */
		if (i == last && !look->next[0])
			look->next[1] = xstrdup(plan->first);
	}
}

/* Behind the candidates of their store. */
static void add_next(struct batch *batch, const struct store *store)
{
	struct look *look = batch->look;

	for (size_t i = 0; i < OBSERVE_NEXT; i++) {
		if (!look->next[i] || stores_get(&look->stores, look->next[i], NULL) != store)
			continue;
		batch->candidates[batch->count] = NEXT(i);
		batch->uris[batch->count++] = snapshots_metadata_uri(look->next[i]);
	}
}

void observe_peek(struct look *look)
{
	struct batch batch = {
		.look = look,
		.uris = xcalloc(look->peek_count + OBSERVE_NEXT, sizeof(*batch.uris)),
		.candidates = xcalloc(look->peek_count + OBSERVE_NEXT, sizeof(*batch.candidates))};
	struct store **stores = xcalloc(look->peek_count + 1, sizeof(*stores));
	struct err err = {0};

	for (size_t i = 0; i < look->peek_count; i++) {
		struct candidate *c = &look->facts->candidates[look->peek[i]];

		stores[i] = stores_get(&look->stores, c->snapshot.path, &err);
		if (!stores[i])
			observe_set(c, INTEGRITY_UNREADABLE, err.msg);
		c->unread = c->wanted = false;
	}
	for (size_t s = 0; s < look->stores.count; s++) {
		for (size_t i = 0; i < look->peek_count; i++) {
			const char *path = look->facts->candidates[look->peek[i]].snapshot.path;

			if (stores[i] != look->stores.store[s])
				continue;
			batch.candidates[batch.count] = look->peek[i];
			batch.uris[batch.count++] = snapshots_metadata_uri(path);
		}
		add_next(&batch, look->stores.store[s]);
		if (batch.count)
			look_at_batch(&batch, look->stores.store[s]);
	}
	free(stores);
	free(batch.uris);
	free(batch.candidates);
	for (size_t i = 0; i < OBSERVE_NEXT; i++) {
		free(look->next[i]);
		look->next[i] = NULL;
	}
	free(look->peek);
	look->peek = NULL;
	look->peek_count = 0;
}
