/*
 * lying_world - the history of one application in a lake (lying_store.h), from a seed: launches that
 * complete checkpoints and savepoints, share files and end; what the journal has noted of it, which lags behind;
 * and what is true. Header-only.
 *
 *   world_begin(&w, seed)  world_live(&w)  -> w.states[], w.newest, w.journal  -> world_end(&w)
 */
#ifndef DREY_TESTS_LYING_WORLD_H
#define DREY_TESTS_LYING_WORLD_H

#include <stdio.h>

#include "base/clock.h"
#include "core/journal/journal.h"
#include "core/resolve/resolve.h"
#include "core/rng.h"
#include "lying_store.h"
#include "metadata_writer.h"
#include "run/observe/observe.h"

#define MINUTE_MS    INT64_C(60000)
#define MAX_STATES   200
#define MAX_LAUNCHES 6
#define MAX_REFS     12
#define NAME_BYTES   160

/* A checkpoint or savepoint that was completed once. */
struct state {
	char name[NAME_BYTES]; /* "/top/ck/<job id>/chk-7" */
	enum snapshot_kind kind;
	int launch;
	int64_t id, unix_ms, tick;
	char files[MAX_REFS][NAME_BYTES]; /* which its _metadata refers to */
	int file_count;
	bool subsumed; /* Flink has deleted it, as it does */
	bool broken;   /* the lie is that it is damaged, and that is true */
};

struct world {
	uint64_t seed;
	struct rng rng;
	struct lake lake;
	const char *top; /* URI of /top */
	struct journal journal;
	struct journal older; /* as it was one launch earlier */
	bool has_older;
	struct state states[MAX_STATES];
	int state_count;
	int newest;                      /* of the living lineage, complete; -1 = none */
	int launch_states[MAX_LAUNCHES]; /* the first state of each */
	int64_t now_unix_ms, next_id;
	int retained, files_made;
	bool claims; /* a job goes on using the files of what it was restored from */
	char ck[64], sp[64];
	struct policy policy;
};

static int64_t below(struct world *w, int64_t bound)
{
	return rng_below(&w->rng, bound);
}

static bool chance(struct world *w, int percent)
{
	return below(w, 100) < percent;
}

static char *uri_in(const struct world *w, const char *name)
{
	return xasprintf("%s%s", w->top, name + strlen("/top"));
}

LAKE_FN void world_begin(struct world *w, uint64_t seed)
{
	*w = (struct world){.seed = seed, .newest = -1, .next_id = 1};
	rng_seed(&w->rng, seed);
	lake_init(&w->lake, chance(w, 40));
	w->top = w->lake.directories ? "file:/top" : "s3://lake/top";
	snprintf(w->ck, sizeof(w->ck), "%s/ck", w->top);
	snprintf(w->sp, sizeof(w->sp), "%s/sp", w->top);
	/* far enough back: no date of a file is in the future */
	w->now_unix_ms = clock_unix_ms() - 600 * MINUTE_MS;
	w->retained = 1 + (int)below(w, 3);
	w->claims = chance(w, 30);
	w->policy.max_loss.max_ms = chance(w, 70) ? LOSS_MAX_AUTO : below(w, 30) * MINUTE_MS;
	w->policy.generation = "g1";
	w->policy.flink_version = "2.3.0";
	journal_init(&w->journal, "orders");
	lake_put(&w->lake, "/top/ck/.keep", "", 0, w->now_unix_ms);
	lake_put(&w->lake, "/top/sp/.keep", "", 0, w->now_unix_ms);
}

LAKE_FN void world_end(struct world *w)
{
	journal_release(&w->journal);
	if (w->has_older)
		journal_release(&w->older);
	lake_release(&w->lake);
}

/* ---- what Flink writes ---- */

/* One operator for each file. Files of the snapshot's own directory are named relative to it. */
static void write_metadata(const struct world *w, const struct state *state, int64_t id,
			   struct buf *to)
{
	wr_head(to, 4, id);
	wr_i32(to, 0);
	wr_i32(to, state->file_count);
	for (int i = 0; i < state->file_count; i++) {
		cleanup_free char *uri = uri_in(w, state->files[i]);

		wr_operator(to, 4, "Map", "map-uid", 7 + i);
		wr_i32(to, 1);
		wr_subtask(to, 4, 0);
		wr_u8(to, 3);
		wr_groups(to);
		if (begins(state->files[i], state->name))
			wr_relative(to, state->files[i] + strlen(state->name) + 1, 20);
		else
			wr_file(to, uri, 20);
		wr_u8(to, 0);
		wr_subtask_end(to, 4);
	}
	wr_tail(to, 4, "org.apache.flink.runtime.checkpoint.CheckpointType");
}

static void put_metadata(struct world *w, const struct state *state, const struct state *content,
			 int64_t id)
{
	cleanup_buf struct buf bytes = BUF_INIT;
	char name[NAME_BYTES + 16];

	write_metadata(w, content, id, &bytes);
	snprintf(name, sizeof(name), "%s/_metadata", state->name);
	lake_put(&w->lake, name, bytes.data, bytes.len_bytes, state->unix_ms);
}

static void add_file(struct world *w, struct state *state, const char *dir)
{
	cleanup_free char *name =
		xasprintf("%s/%08x-0000-4000-8000-%012x", dir, w->files_made, w->files_made);

	w->files_made++;
	memcpy(state->files[state->file_count++], name, strlen(name) + 1);
	lake_put(&w->lake, name, NULL, 20, w->now_unix_ms);
}

/* What a checkpoint shares with the one before it. */
static void take_shared(struct world *w, struct state *state, const struct state *base)
{
	for (int i = 0; base && i < base->file_count && state->file_count < MAX_REFS - 3; i++)
		if (strstr(base->files[i], "/shared/") && chance(w, 70))
			memcpy(state->files[state->file_count++], base->files[i], NAME_BYTES);
}

static bool is_referred(const struct world *w, const char *file)
{
	for (int i = 0; i < w->state_count; i++)
		for (int k = 0; k < w->states[i].file_count && !w->states[i].subsumed; k++)
			if (!strcmp(w->states[i].files[k], file))
				return true;
	return false;
}

static void subsume(struct world *w, struct state *state)
{
	char name[NAME_BYTES + 16];

	state->subsumed = true;
	snprintf(name, sizeof(name), "%s/_metadata", state->name);
	lake_drop(&w->lake, name);
	for (int i = 0; i < state->file_count; i++)
		if (!is_referred(w, state->files[i]))
			lake_drop(&w->lake, state->files[i]);
}

/* Flink keeps so many checkpoints of one job. */
static void subsume_older(struct world *w, int launch)
{
	int kept = 0;

	for (int i = w->state_count - 1; i >= 0; i--) {
		struct state *state = &w->states[i];

		if (state->launch != launch || state->kind != SNAPSHOT_CHECKPOINT ||
		    state->subsumed)
			continue;
		if (++kept > w->retained)
			subsume(w, state);
	}
}

static struct state *complete(struct world *w, enum snapshot_kind kind, int base)
{
	struct launch *launch = journal_launch(&w->journal);
	struct state *state = &w->states[w->state_count];
	cleanup_free char *shared = xasprintf("/top/ck/%s/shared", launch->job_id);
	cleanup_free char *own = NULL;

	w->now_unix_ms += 1000 * (5 + below(w, 40));
	*state = (struct state){.kind = kind,
				.launch = (int)w->journal.launch_count - 1,
				.id = w->next_id++,
				.unix_ms = w->now_unix_ms};
	if (kind == SNAPSHOT_CHECKPOINT)
		snprintf(state->name, NAME_BYTES, "/top/ck/%s/chk-%" PRId64, launch->job_id,
			 state->id);
	else
		snprintf(state->name, NAME_BYTES, "/top/sp/savepoint-%.6s-%012x", launch->job_id,
			 (unsigned)below(w, INT64_C(1) << 30));
	own = xstrdup(state->name);
	if (kind == SNAPSHOT_CHECKPOINT) {
		take_shared(w, state, base >= 0 ? &w->states[base] : NULL);
		add_file(w, state, shared);
	}
	for (int i = (int)below(w, 2); i >= 0; i--)
		add_file(w, state, own);
	put_metadata(w, state, state, state->id);
	state->tick = w->lake.tick;
	w->newest = w->state_count++;
	if (kind == SNAPSHOT_CHECKPOINT)
		subsume_older(w, state->launch);
	return state;
}

/* One that was begun and never completed. */
static void leave_unfinished(struct world *w)
{
	char name[NAME_BYTES];

	snprintf(name, sizeof(name), "/top/ck/%s/chk-%" PRId64 "/%08x-0000-4000-8000-%012x",
		 journal_launch(&w->journal)->job_id, w->next_id++, w->files_made, w->files_made);
	w->files_made++;
	lake_put(&w->lake, name, NULL, 20, w->now_unix_ms);
}

/* ---- what drey has noted ---- */

static void note_checkpoint(struct world *w, const struct state *state)
{
	struct launch *launch = journal_launch(&w->journal);

	if (!launch->proven_unix_ms)
		launch->proven_unix_ms = w->now_unix_ms;
	launch->left_state = w->journal.ever_proven = true;
	launch->last_checkpoint_id = state->id;
	launch->last_checkpoint_unix_ms = state->unix_ms;
	free(launch->last_checkpoint_path);
	launch->last_checkpoint_path = uri_in(w, state->name);
}

static void note_savepoint(struct world *w, const struct state *state)
{
	cleanup_free char *path = uri_in(w, state->name);
	struct snapshot snapshot = {.path = path,
				    .kind = SNAPSHOT_SAVEPOINT,
				    .origin = ORIGIN_MANUAL,
				    .checkpoint_id = state->id,
				    .completed_unix_ms = state->unix_ms,
				    .size_bytes = -1,
				    .file_count = -1,
				    .verified = true};

	memcpy(snapshot.job_id, journal_launch(&w->journal)->job_id, JOB_ID_BYTES);
	journal_add_snapshot(&w->journal, &snapshot);
}

static void begin_launch(struct world *w)
{
	struct launch *launch = journal_add_launch(&w->journal);
	const struct state *base = w->newest >= 0 ? &w->states[w->newest] : NULL;

	rng_hex_id(&w->rng, launch->job_id);
	w->launch_states[w->journal.launch_count - 1] = w->state_count;
	w->now_unix_ms += MINUTE_MS;
	launch->checkpoint_dir = xstrdup(w->ck);
	launch->savepoint_dir = xstrdup(w->sp);
	launch->generation = xstrdup("g1");
	launch->flink_version = xstrdup("2.3.0");
	launch->intended_unix_ms = launch->started_unix_ms = w->now_unix_ms;
	launch->verified_unix_ms = w->now_unix_ms + 1000;
	if (!base)
		return;
	launch->restore_path = uri_in(w, base->name);
	launch->restore_kind = base->kind;
	launch->restore_checkpoint_id = base->id;
	launch->restore_completed_unix_ms = base->unix_ms;
}

static void end_launch(struct world *w)
{
	struct launch *launch = journal_launch(&w->journal);

	launch->ended_unix_ms = w->now_unix_ms;
	launch->wait_status = 9;
	launch->end_known = true;
}

static void copy_journal(struct world *w)
{
	cleanup_buf struct buf text = BUF_INIT;

	if (w->has_older)
		journal_release(&w->older);
	w->has_older = !journal_encode(&w->journal, &text, NULL) &&
		       !journal_decode(buf_str(&text), text.len_bytes, &w->older, NULL);
}

static void live_launch(struct world *w)
{
	int64_t steps = below(w, 12);
	int base = w->claims ? w->newest : -1;

	begin_launch(w);
	for (int64_t i = 0; i < steps && w->state_count < MAX_STATES; i++) {
		bool savepoint = chance(w, 15);
		const struct state *state;

		if (chance(w, 10))
			leave_unfinished(w);
		if (savepoint) {
			state = complete(w, SNAPSHOT_SAVEPOINT, -1);
			if (chance(w, 80))
				note_savepoint(w, state);
			continue;
		}
		state = complete(w, SNAPSHOT_CHECKPOINT, base);
		base = w->state_count - 1;
		/* the first one is noted at once, the others once a minute */
		if (chance(w, journal_launch(&w->journal)->proven_unix_ms ? 60 : 90))
			note_checkpoint(w, state);
	}
	end_launch(w);
}

/* Up to the moment at which the next launch is decided. */
LAKE_FN void world_live(struct world *w)
{
	int64_t launches = 1 + below(w, MAX_LAUNCHES - 1);

	for (int64_t i = 0; i < launches; i++) {
		if (i)
			copy_journal(w);
		live_launch(w);
	}
}

/* Does the journal name this state, or one that is as new? */
LAKE_FN bool journal_names(const struct world *w, const struct journal *journal, int index)
{
	const struct state *state = &w->states[index];
	cleanup_free char *path = uri_in(w, state->name);

	for (size_t i = 0; i < journal->launch_count; i++)
		if (snapshot_same_path(journal->launches[i].last_checkpoint_path, path) ||
		    snapshot_same_path(journal->launches[i].restore_path, path))
			return true;
	return journal_snapshot(journal, path) != NULL;
}

#endif
