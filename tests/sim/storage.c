/*
 * Checkpoints and savepoints in storage, and what an observation sees of them: the same reads, in the
 * same order and with the same conclusions, as in agent/run/observe.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "core/resolve/lineage_dirs.h"
#include "core/resolve/listing_doubt.h"
#include "tests/sim/sim.h"

#define METADATA_VERSION 6

const char *storage_dir(enum snapshot_kind kind, int dir)
{
	static const char *const checkpoints[DIRS] = {"file:/cp", "file:/cp1", "file:/cp2"};
	static const char *const savepoints[DIRS] = {"file:/sp", "file:/sp1", "file:/sp2"};

	return kind == SNAPSHOT_CHECKPOINT ? checkpoints[dir] : savepoints[dir];
}

bool snap_usable(const struct snap *snap)
{
	return snap->complete && !snap->deleted && !snap->metadata_damaged && !snap->file_missing;
}

static int list_of(uint64_t path_key)
{
	return (int)(path_key * UINT64_C(0x9E3779B97F4A7C15) >> 56) % PATH_LISTS;
}

int storage_add(struct world *w, enum snapshot_kind kind, int launch, int64_t id)
{
	struct storage *storage = &w->storage;
	const char *job_id = launch >= 0 ? w->truth.launches[launch].job_id : "foreign";
	struct snap *snap;
	const char *dir;

	if (storage->count == storage->capacity) {
		storage->capacity = storage->capacity ? 2 * storage->capacity : 32;
		storage->snaps = xreallocarray(storage->snaps, (size_t)storage->capacity,
					       sizeof(*storage->snaps));
	}
	snap = &storage->snaps[storage->count];
	*snap = (struct snap){.kind = kind, .launch = launch, .id = id};
	if (launch >= 0)
		snap->dir = kind == SNAPSHOT_CHECKPOINT ? w->flink->checkpoint_dir
							: w->flink->savepoint_dir;
	snap->of_wrong = launch >= 0 && w->truth.launches[launch].wrong;
	snap->hidden = launch >= 0 && kind == SNAPSHOT_CHECKPOINT &&
		       snap->dir != w->pods[w->pod].dirs[kind];
	dir = storage_dir(kind, snap->dir) + strlen("file:");
	if (kind == SNAPSHOT_CHECKPOINT)
		snprintf(snap->path, sizeof(snap->path), "%s/%s/chk-%" PRId64, dir, job_id, id);
	else
		snprintf(snap->path, sizeof(snap->path), "%s/savepoint-%.6s-%012x", dir, job_id,
			 (unsigned)storage->count);
	snap->path_key = snapshot_path_key(snap->path);
	snap->next = storage->lists[list_of(snap->path_key)];
	return (storage->lists[list_of(snap->path_key)] = ++storage->count) - 1;
}

void storage_complete(struct world *w, int index)
{
	struct snap *snap = &w->storage.snaps[index];

	snap->complete = true;
	snap->completed_unix_ms = unix_now(w);
	say(w, "%s %s (id %" PRId64 ") is complete", snapshot_kind_name(snap->kind), snap->path,
	    snap->id);
}

int storage_find(const struct world *w, const char *path)
{
	uint64_t key = snapshot_path_key(path);

	for (int i = w->storage.lists[list_of(key)]; i; i = w->storage.snaps[i - 1].next)
		if (w->storage.snaps[i - 1].path_key == key &&
		    snapshot_same_path(w->storage.snaps[i - 1].path, path))
			return i - 1;
	return -1;
}

/* ---- one observation ---- */

static void judge(struct candidate *c, enum integrity integrity, const char *detail)
{
	c->integrity = integrity;
	xstrset(&c->detail, detail);
}

/* The date and the size of _metadata, by which drey trusts what it has verified. Damage is visible in them too: damage that
 * is not is the price of trusting a verification. */
static void see_metadata(struct world *w, struct candidate *c, int index)
{
	const struct snap *snap = &w->storage.snaps[index];

	if (!snap_usable(snap) && !(has(w, FEATURE_LIES) && snap->deleted))
		return;
	c->snapshot.metadata_unix_ms = snap->completed_unix_ms;
	c->snapshot.metadata_bytes = lie_metadata_bytes(w, index, 1000);
}

/* The header of _metadata. */
void storage_peek(struct world *w, struct candidate *c)
{
	int index = storage_find(w, c->snapshot.path);
	const struct snap *snap = index >= 0 ? &w->storage.snaps[index] : NULL;

	c->unread = c->wanted = false;
	if (chance(w, w->chaos.look_fails))
		judge(c, INTEGRITY_UNREADABLE, "storage does not answer");
	else if (has(w, FEATURE_LIES) && lie_judges(w, c, index))
		return;
	else if (!snap || snap->deleted || !snap->complete)
		judge(c, INTEGRITY_INCOMPLETE, "no _metadata");
	else if (snap->metadata_damaged)
		judge(c, INTEGRITY_DAMAGED, "_metadata is damaged");
	else {
		c->snapshot.checkpoint_id = snap->id;
		c->metadata_version = METADATA_VERSION;
		if (!c->snapshot.metadata_unix_ms)
			see_metadata(w, c, index);
	}
}

/* No _metadata was listed: it is asked for (observe_list.c); what is there, and old, makes the listing void. */
static void ask_by_name(struct world *w, struct candidate *c)
{
	judge(c, INTEGRITY_UNCHECKED, NULL);
	storage_peek(w, c);
	if (c->integrity == INTEGRITY_UNCHECKED &&
	    c->snapshot.completed_unix_ms < unix_now(w) - MINUTE_MS)
		judge(c, INTEGRITY_UNREADABLE, "its _metadata is there, and was not listed");
	if (c->integrity == INTEGRITY_INCOMPLETE)
		c->snapshot.completed_unix_ms = 0;
}

static void list_one(struct world *w, struct facts *facts, enum source_kind source,
		     const struct snap *snap)
{
	char path[PATH_BYTES + 16];
	struct snapshot found = {.path = path,
				 .kind = snap->kind,
				 .checkpoint_id = snap->kind == SNAPSHOT_CHECKPOINT ? snap->id : 0,
				 .completed_unix_ms = snap->completed_unix_ms,
				 .size_bytes = -1,
				 .file_count = -1};
	int index = (int)(snap - w->storage.snaps);
	bool complete = has(w, FEATURE_LIES) ? lie_lists_metadata(w, index) : snap->complete;
	struct candidate *c;

	snprintf(path, sizeof(path), "file://%s", snap->path);
	snprintf(found.job_id, snap->kind == SNAPSHOT_CHECKPOINT ? JOB_ID_BYTES : 7, "%s",
		 w->truth.launches[snap->launch].job_id);
	c = facts_add(facts, source, &found);
	if (complete)
		see_metadata(w, c, index);
	if (!complete)
		ask_by_name(w, c);
	else if (chance(w, w->chaos.look_fails / 10))
		judge(c, INTEGRITY_UNREADABLE, "permission denied");
	else
		c->unread = snap->kind == SNAPSHOT_SAVEPOINT;
	if (c->integrity != INTEGRITY_INCOMPLETE && c->integrity != INTEGRITY_UNREADABLE)
		oracle_tell(w, index);
}

/* What an observation searches: one directory, and only one job in it unless the job is "". */
struct place {
	enum source_kind source;
	enum snapshot_kind kind;
	const char *dir; /* with scheme */
	bool only_ours;  /* only jobs of this application */
};

/* A number that a job has used twice, because Flink had lost its counter, is one directory. */
static bool is_in_another(const struct world *w, const struct snap *snap)
{
	int i = snap->complete ? 0 : w->storage.lists[list_of(snap->path_key)];

	for (; i; i = w->storage.snaps[i - 1].next) {
		const struct snap *other = &w->storage.snaps[i - 1];

		if (other->complete && !other->deleted && other->path_key == snap->path_key &&
		    snapshot_same_path(other->path, snap->path))
			return true;
	}
	return false;
}

static bool lies_in(const struct world *w, const struct snap *snap, const struct place *place)
{
	return snap->kind == place->kind && snap->launch >= 0 && !is_in_another(w, snap) &&
	       snapshot_same_path(storage_dir(snap->kind, snap->dir), place->dir) &&
	       (!place->only_ours ||
		journal_knows_job(&w->agent->life.journal, w->truth.launches[snap->launch].job_id));
}

static bool is_named(struct world *w, int index)
{
	return has(w, FEATURE_LIES) ? lie_lists(w, index) : !w->storage.snaps[index].deleted;
}

#define OTHER_JOB "ffffffffffffffffffffffffffffffff"

/* The newest checkpoint of the other application. (In a directory where ours has never run, this could not
 * be distinguished from a lost journal.) */
static void list_other(struct world *w, struct facts *facts)
{
	char path[PATH_BYTES];
	struct snapshot found = {.path = path,
				 .checkpoint_id = 1 + w->now_ms / MINUTE_MS,
				 .job_id = OTHER_JOB,
				 .completed_unix_ms = unix_now(w) - w->now_ms % MINUTE_MS,
				 .size_bytes = -1,
				 .file_count = -1};

	if (!w->shared || !w->agent->life.journal.ever_proven)
		return;
	snprintf(path, sizeof(path), "file:///cp/" OTHER_JOB "/chk-%" PRId64, found.checkpoint_id);
	facts_add(facts, SOURCE_CHECKPOINTS, &found);
}

static void list(struct world *w, struct facts *facts, const struct place *place)
{
	size_t before = facts->candidate_count;
	bool breaks_off = chance(w, w->chaos.list_fails);
	int end = breaks_off ? (int)below(w, w->storage.count + 1) : w->storage.count;
	enum source_state state;
	const char *detail = breaks_off ? "the listing broke off" : "listed";

	for (int i = 0; i < end; i++)
		if (is_named(w, i) && lies_in(w, &w->storage.snaps[i], place))
			list_one(w, facts, place->source, &w->storage.snaps[i]);
	state = breaks_off                        ? SOURCE_UNREADABLE
		: facts->candidate_count > before ? SOURCE_PRESENT
						  : SOURCE_ABSENT;
	facts_add_place(facts, place->source, place->kind, place->dir, state, detail);
}

/* The configured directories, and the others in which the lineage has written. */
static void list_all(struct world *w, struct facts *facts)
{
	const struct lifecycle_config *config = w->config;
	const struct place checkpoints = {SOURCE_CHECKPOINTS, SNAPSHOT_CHECKPOINT,
					  config->listed_checkpoint_dir, false};
	const struct place savepoints = {SOURCE_SAVEPOINTS, SNAPSHOT_SAVEPOINT,
					 config->listed_savepoint_dir, false};
	struct lineage_dirs dirs;

	list(w, facts, &checkpoints);
	list(w, facts, &savepoints);
	lineage_dirs_find(&w->agent->life.journal, checkpoints.dir, savepoints.dir, &dirs);
	for (size_t i = 0; i < dirs.count; i++)
		list(w, facts,
		     &(struct place){SOURCE_LINEAGE, dirs.list[i].kind, dirs.list[i].dir,
				     dirs.list[i].only_ours});
	if (dirs.left_out)
		facts_set_source(facts, SOURCE_LINEAGE, SOURCE_UNREADABLE, "too many directories");
	lineage_dirs_release(&dirs);
}

static void ask_for(struct world *w, struct facts *facts, const char *path)
{
	int64_t other;
	int index = path ? storage_find(w, path) : -1;

	if (index >= 0 && w->storage.snaps[index].complete && !w->storage.snaps[index].deleted &&
	    lie_reads(w, index, &other) != LIE_SAYS_GONE)
		listing_leaves_out(facts, path, NULL);
}

/* As observe_note_next() does, when all candidates are there. */
static void ask_next(struct world *w, struct facts *facts)
{
	const struct journal *journal = &w->agent->life.journal;
	cleanup_free char *path = NULL, *first = NULL;

	for (size_t i = journal->launch_count; i-- > 0 && !path;) {
		path = listing_next(facts, journal->launches[i].job_id);
		if (i == journal->launch_count - 1 && !path)
			first = listing_first(journal, w->config->listed_checkpoint_dir);
	}
	ask_for(w, facts, path);
	ask_for(w, facts, first);
}

/* As in run/observe/observe_peek.c. */
static void confirm_gone(struct world *w, const struct facts *facts, struct candidate *c)
{
	int index = storage_find(w, c->snapshot.path);
	bool is_there =
		index >= 0 && w->storage.snaps[index].complete && !w->storage.snaps[index].deleted;

	if (is_there && c->integrity == INTEGRITY_INCOMPLETE && !facts_is_listed(c->source) &&
	    !listing_covers(facts, &c->snapshot) && lie_lists(w, index) &&
	    lie_lists_metadata(w, index))
		judge(c, INTEGRITY_UNREADABLE, "it is listed, but was not found");
}

static void look_at(struct world *w, struct facts *facts, enum source_kind source,
		    const struct snapshot *named)
{
	struct snapshot unseen = *named;
	struct candidate *c;

	/* what the journal has on record of them was seen at another time (observe.c) */
	unseen.metadata_unix_ms = unseen.metadata_bytes = 0;
	c = facts_add(facts, source, &unseen);
	if (c->integrity == INTEGRITY_UNCHECKED && !c->metadata_version)
		storage_peek(w, c);
	if (has(w, FEATURE_LIES))
		confirm_gone(w, facts, c);
}

static void look_at_named(struct world *w, struct facts *facts, enum source_kind source,
			  const char *path, enum snapshot_origin origin)
{
	struct snapshot named = {.path = (char *)(uintptr_t)path,
				 .kind = SNAPSHOT_SAVEPOINT,
				 .origin = origin,
				 .size_bytes = -1,
				 .file_count = -1};
	const struct candidate *c;

	if (!path || !*path) {
		facts_set_source(facts, source, SOURCE_NOT_CONFIGURED, NULL);
		return;
	}
	look_at(w, facts, source, &named);
	c = facts_add(facts, source, &named);
	if (c->integrity == INTEGRITY_UNREADABLE)
		facts_set_source(facts, source, SOURCE_UNREADABLE, c->detail);
	else
		facts_set_source(facts, source,
				 c->integrity == INTEGRITY_INCOMPLETE ? SOURCE_ABSENT
								      : SOURCE_PRESENT,
				 c->detail ? c->detail : path);
}

static void look_at_last_checkpoint(struct world *w, struct facts *facts,
				    const struct journal *journal)
{
	for (size_t i = journal->launch_count; i-- > 0;) {
		const struct launch *launch = &journal->launches[i];
		struct snapshot last = {.path = launch->last_checkpoint_path,
					.kind = SNAPSHOT_CHECKPOINT,
					.checkpoint_id = launch->last_checkpoint_id,
					.completed_unix_ms = launch->last_checkpoint_unix_ms,
					.size_bytes = -1,
					.file_count = -1};

		if (!last.path)
			continue;
		memcpy(last.job_id, launch->job_id, sizeof(last.job_id));
		look_at(w, facts, SOURCE_JOURNAL, &last);
		return;
	}
}

static void look_at_journal(struct world *w, struct facts *facts)
{
	const struct journal *journal = &w->agent->life.journal;

	for (size_t i = 0; i < journal->snapshot_count; i++)
		look_at(w, facts, SOURCE_JOURNAL, &journal->snapshots[i]);
	for (size_t i = 0; i < journal->launch_count; i++) {
		const struct launch *launch = &journal->launches[i];
		struct snapshot origin = {.path = launch->restore_path,
					  .kind = launch->restore_kind,
					  .checkpoint_id = launch->restore_checkpoint_id,
					  .completed_unix_ms = launch->restore_completed_unix_ms,
					  .size_bytes = -1,
					  .file_count = -1};

		if (launch->restore_path)
			look_at(w, facts, SOURCE_JOURNAL, &origin);
	}
	look_at_last_checkpoint(w, facts, journal);
}

/* How the last launch ended, if no agent observed it. */
static void look_at_result(struct world *w, struct facts *facts)
{
	const struct launch *launch = journal_open_launch(&w->agent->life.journal);
	int index = launch ? truth_find(w, launch->job_id) : -1;
	const struct truth_launch *truth = index >= 0 ? &w->truth.launches[index] : NULL;
	char path[PATH_BYTES + 16] = "";

	if (!launch) {
		facts_set_source(facts, SOURCE_RESULTS, SOURCE_NOT_CONFIGURED, NULL);
		return;
	}
	if (chance(w, w->chaos.list_fails) || (has(w, FEATURE_LIES) && lie_hides_end(w))) {
		facts_set_source(facts, SOURCE_RESULTS, SOURCE_UNREADABLE, "it broke off");
		return;
	}
	if (truth && truth->end == JOB_END_STOPPED)
		rest_path(w, truth->stop, path, sizeof(path));
	facts_set_end(facts, launch->job_id, truth ? truth->end : JOB_END_NONE, path);
	facts_set_source(facts, SOURCE_RESULTS, facts->ended ? SOURCE_PRESENT : SOURCE_ABSENT,
			 "read");
}

void storage_gather(struct world *w, struct facts *ret_facts)
{
	const struct journal *journal = &w->agent->life.journal;
	struct snapshot stop;

	if (has(w, FEATURE_LIES))
		lie_observed(w);
	*ret_facts = (struct facts){.max_metadata_version = METADATA_VERSION,
				    .now_unix_ms = pod_unix_now(w)};
	facts_set_source(ret_facts, SOURCE_JOURNAL,
			 journal->launch_count ? SOURCE_PRESENT : SOURCE_ABSENT, "read");
	list_all(w, ret_facts);
	list_other(w, ret_facts);
	ids_observe(w, ret_facts);
	ha_observe(w, ret_facts);
	look_at_result(w, ret_facts);
	if (facts_stop(ret_facts, &stop))
		look_at(w, ret_facts, SOURCE_RESULTS, &stop);
	if (has(w, FEATURE_LIES))
		lie_observe_journal(w, ret_facts);
	look_at_journal(w, ret_facts);
	if (has(w, FEATURE_LIES))
		ask_next(w, ret_facts);
	look_at_named(w, ret_facts, SOURCE_INITIAL,
		      w->storage.initial >= 0 ? w->storage.snaps[w->storage.initial].path : NULL,
		      ORIGIN_INITIAL);
	look_at_named(w, ret_facts, SOURCE_REQUEST, w->agent->request, ORIGIN_REQUEST);
	if (has(w, FEATURE_LIES))
		lie_gathered(w, ret_facts);
	ret_facts->names_read = facts_are_read(ret_facts);
}

static void complete(struct candidate *c, const char *operator_id)
{
	c->integrity = INTEGRITY_COMPLETE;
	c->metadata_version = METADATA_VERSION;
	c->snapshot.verified = true;
	free(c->operators);
	c->operators = xcalloc(1, sizeof(*c->operators));
	c->operator_count = 1;
	snprintf(c->operators[0], sizeof(c->operators[0]), "%s", operator_id);
}

/* From HA data, Flink reads the handle and the state files, not _metadata. */
static void verify_recovery(struct candidate *c, const struct snap *snap)
{
	if (!c->in_ha)
		return;
	if (c->integrity == INTEGRITY_UNREADABLE)
		c->recovery = INTEGRITY_UNREADABLE;
	else
		c->recovery = snap && snap->complete && !snap->deleted && !snap->file_missing
				      ? INTEGRITY_COMPLETE
				      : INTEGRITY_DAMAGED;
}

static void storage_verify(struct world *w, struct candidate *c)
{
	int index = storage_find(w, c->snapshot.path);
	const struct snap *snap = index >= 0 ? &w->storage.snaps[index] : NULL;

	c->unread = false;
	if (chance(w, w->chaos.look_fails))
		judge(c, INTEGRITY_UNREADABLE, "storage does not answer");
	else if (!strcmp(c->snapshot.job_id, OTHER_JOB))
		complete(c, "other");
	else if (has(w, FEATURE_LIES) && lie_judges(w, c, index))
		;
	else if (!snap || !snap->complete || snap->deleted)
		judge(c, INTEGRITY_INCOMPLETE, "no _metadata");
	else if (!snap_usable(snap))
		judge(c, INTEGRITY_DAMAGED, "a file is missing");
	else {
		complete(c, "own");
		c->snapshot.checkpoint_id = snap->id;
	}
	verify_recovery(c, snap);
}

void storage_inspect(struct world *w, struct candidate *c)
{
	storage_verify(w, c);
	if (c->integrity != INTEGRITY_COMPLETE)
		return;
	c->snapshot.size_bytes = 1000;
	c->snapshot.file_count = 3;
}

void storage_check(struct world *w, struct facts *facts, size_t index)
{
	if (!facts->candidates[index].wanted) {
		storage_verify(w, &facts->candidates[index]);
		return;
	}
	for (size_t i = 0; i < facts->candidate_count; i++)
		if (facts->candidates[i].wanted)
			storage_peek(w, &facts->candidates[i]);
}
