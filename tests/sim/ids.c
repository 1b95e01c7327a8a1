/*
 * Numbered job ids: there are few of them, so that names are drawn again, run out, and come back. What a dead launch has
 * left is deleted now and then (drey gc, a rule of the bucket); what the job may still need, never. A person who is told
 * that none is left raises kubernetes.launches.
 *
 * This draws from its own stream of random numbers, and only in histories with numbered ids.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/job_id.h"
#include "tests/sim/sim.h"

#define MOST_NAMES 1000 /* of kubernetes.launches */

static bool ids_fails(struct world *w, int per_mille)
{
	return !w->calm && per_mille && stream_odds(&w->ids.rng, per_mille);
}

/* ---- launches ---- */

int truth_of(const struct world *w, const struct launch *launch)
{
	for (int i = w->truth.count - 1; i >= 0 && w->ids.count; i--)
		if (!strcmp(w->truth.launches[i].job_id, launch->job_id) &&
		    launch->number >= w->truth.launches[i].number &&
		    launch->number <= w->truth.launches[i].last_number)
			return i;
	return truth_find(w, launch->job_id);
}

bool truth_is_record(const struct world *w, const struct launch *launch, int index)
{
	return w->ids.count ? truth_of(w, launch) == index
			    : !strcmp(launch->job_id, w->truth.launches[index].job_id);
}

/* ---- the configuration ---- */

static void name_all(struct world *w)
{
	int64_t count = w->config->id_count;

	w->ids.names = xreallocarray(w->ids.names, (size_t)count, sizeof(*w->ids.names));
	for (int64_t n = 0; n < count; n++)
		job_id_name(w->config->id_space, n, w->ids.names[n]);
	w->ids.count = count;
}

/* Many launches: a name comes back only after so many that the journal forgets the one that had it. */
static void draw_haste(struct world *w)
{
	w->chaos.flink_kill_ms = stream_between(&w->ids.rng, 10, 90) * SECOND_MS;
	w->chaos.start_fails = (int)stream_between(&w->ids.rng, 0, 500);
	w->config->max_attempts = 1000;
	w->config->backoff_max_ms = w->config->backoff_first_ms;
	w->calm_ms = stream_between(&w->ids.rng, 60, 240) * MINUTE_MS;
	w->end_ms = w->calm_ms + 90 * MINUTE_MS;
}

/* A journal from a backup does not know which names were used since. With clocks that are set, or directories that others
 * use, an old journal cannot be distinguished from a current one. */
static void draw_losses(struct world *w)
{
	if (w->config->policy.foreign == FOREIGN_IGNORE || w->chaos.clock_step_ms ||
	    has(w, FEATURE_HANDOVER))
		return;
	w->chaos.journal_back_ms = stream_between(&w->ids.rng, 1, 20) * MINUTE_MS;
	if (stream_odds(&w->ids.rng, 300))
		w->chaos.journal_lost_ms = stream_between(&w->ids.rng, 5, 40) * MINUTE_MS;
}

void ids_draw(struct world *w)
{
	if (has(w, FEATURE_LIES)) /* what is left of an id would be hidden, too */
		w->config->id_space = NULL;
	if (!w->config->id_space)
		return;
	rng_seed(&w->ids.rng, w->seed ^ UINT64_C(0x2545f4914f6cdd1d));
	w->config->id_count = stream_odds(&w->ids.rng, 100) ? MOST_NAMES
			      : stream_odds(&w->ids.rng, 600)
				      ? stream_between(&w->ids.rng, 8, 24)
				      : stream_between(&w->ids.rng, 25, 200);
	w->ids.long_paths = stream_odds(&w->ids.rng, 600);
	w->ids.object_store = stream_odds(&w->ids.rng, 500);
	w->ids.clean_ms =
		stream_odds(&w->ids.rng, 800) ? stream_between(&w->ids.rng, 1, 20) * MINUTE_MS : 0;
	w->ids.person_ms = stream_between(&w->ids.rng, 2, 60) * MINUTE_MS;
	if (stream_odds(&w->ids.rng, 120))
		draw_haste(w);
	if (stream_odds(&w->ids.rng, 400))
		draw_losses(w);
	name_all(w);
}

static void plan_ids(struct world *w, int64_t mean_ms, enum item_kind kind)
{
	plan(w, 1 + rng_below(&w->ids.rng, 2 * mean_ms), kind, SCOPE_WORLD);
}

void ids_begin(struct world *w)
{
	if (!w->ids.count)
		return;
	say(w, "%d job ids%s", (int)w->ids.count,
	    w->ids.long_paths ? ", paths are so long that the journal keeps few launches" : "");
	if (w->ids.clean_ms)
		plan_ids(w, w->ids.clean_ms, ITEM_CLEAN);
	plan_ids(w, w->ids.person_ms, ITEM_NAMES);
}

void ids_release(struct world *w)
{
	free(w->ids.names);
}

void ids_shorten(struct world *w, struct journal *journal)
{
	while (w->ids.long_paths && journal->launch_count > JOURNAL_MIN_KEPT)
		if (!journal_shrink(journal))
			return;
}

/* ---- traces ---- */

/* Flink has accepted it: then there is a directory, even if nothing is in it; but not in an object store. */
static bool has_directory(const struct world *w, int launch)
{
	const struct truth_launch *truth = &w->truth.launches[launch];

	return (truth->ran || truth->wrong || truth->unsure) && !truth->dir_deleted &&
	       !w->ids.object_store;
}

static bool has_snapshot(const struct world *w, int launch, enum snapshot_kind kind)
{
	for (int i = 0; i < w->storage.count; i++)
		if (w->storage.snaps[i].launch == launch && w->storage.snaps[i].kind == kind &&
		    !w->storage.snaps[i].deleted)
			return true;
	return false;
}

static bool has_record(const struct world *w, int launch)
{
	const struct truth_launch *truth = &w->truth.launches[launch];

	return (truth->ha.result || truth->end != JOB_END_NONE) && !truth->record_deleted;
}

const char *ids_trace(const struct world *w, int launch)
{
	if (w->truth.launches[launch].ha.exists)
		return "an HA map";
	if (has_snapshot(w, launch, SNAPSHOT_CHECKPOINT))
		return "a checkpoint";
	if (has_snapshot(w, launch, SNAPSHOT_SAVEPOINT))
		return "a savepoint";
	if (has_directory(w, launch))
		return "a directory";
	return has_record(w, launch) ? "a record of its end" : NULL;
}

/* ---- what an observation sees of them ---- */

/* With a journal of no launch: it may be lost. */
static void add_trace(struct world *w, struct facts *facts, enum trace_kind kind, int launch)
{
	const struct journal *journal = &w->agent->life.journal;
	const struct truth_launch *truth = &w->truth.launches[launch];

	if (!journal->launch_count && !journal->former_job_count)
		facts_add_trace(facts,
				&(struct trace){.kind = kind,
						.name = (char *)(uintptr_t)truth->job_id,
						.path = (char *)(uintptr_t) "file:/somewhere",
						.surely_ours = true});
}

static void list_results(struct world *w, struct facts *facts)
{
	bool breaks_off = ids_fails(w, w->chaos.list_fails);

	facts->results_listed.state = breaks_off ? SOURCE_UNREADABLE : SOURCE_ABSENT;
	xstrset(&facts->results_listed.detail, breaks_off ? "the listing broke off" : "listed");
	for (int i = 0; i < w->truth.count; i++) {
		if (!has_record(w, i) || (breaks_off && stream_odds(&w->ids.rng, 500)))
			continue;
		facts_add_job(facts, w->truth.launches[i].job_id);
		if (breaks_off)
			continue;
		facts->results_listed.state = SOURCE_PRESENT;
		add_trace(w, facts, TRACE_RESULT, i);
	}
}

void ids_observe(struct world *w, struct facts *facts)
{
	bool broken = facts->sources[SOURCE_CHECKPOINTS].state == SOURCE_UNREADABLE;

	if (!w->ids.count)
		return;
	for (int i = 0; i < w->truth.count; i++) {
		bool directory = has_directory(w, i) || has_snapshot(w, i, SNAPSHOT_CHECKPOINT);

		if (directory && broken && stream_odds(&w->ids.rng, 500))
			directory = false; /* it comes after the end of what was listed */
		if (directory || has_snapshot(w, i, SNAPSHOT_SAVEPOINT)) {
			facts_add_job(facts, w->truth.launches[i].job_id);
			add_trace(w, facts, TRACE_ID, i);
		}
	}
	list_results(w, facts);
}

void ids_observe_map(struct world *w, struct facts *facts, int launch)
{
	if (!w->ids.count)
		return;
	facts_add_job(facts, w->truth.launches[launch].job_id);
	add_trace(w, facts, TRACE_HA, launch);
}

/* ---- what is deleted ---- */

static bool is_of(const struct world *w, int launch, const char *path)
{
	int snap = path ? storage_find(w, path) : -1;

	return snap >= 0 && w->storage.snaps[snap].launch == launch;
}

/* A journal that is in use, or may be put back: what its last launch was started from, or a person has asked for. */
static bool is_named(const struct world *w, int launch, const struct journal *journal)
{
	const struct launch *last = journal_launch_const(journal);
	const char *job_id = w->truth.launches[launch].job_id;

	return is_of(w, launch, journal->intent.restore.path) ||
	       is_of(w, launch, journal->outcome.savepoint) ||
	       is_of(w, launch, journal->operation.path) ||
	       is_of(w, launch, journal->handover.savepoint) ||
	       (last && (is_of(w, launch, last->restore_path) || !strcmp(last->job_id, job_id)));
}

static bool is_used(const struct world *w, int launch)
{
	for (int i = 0; i < PODS; i++) {
		const struct pod *pod = &w->pods[i];

		if (pod->agent.alive && !pod->agent.stands &&
		    is_named(w, launch, &pod->agent.life.journal))
			return true;
		if (pod->flink.alive && !flink_is_held(&pod->flink) && pod->flink.launch == launch)
			return true;
		if (pod->flink.restored >= 0 && pod->flink.alive &&
		    w->storage.snaps[pod->flink.restored].launch == launch)
			return true;
	}
	return (w->store.exists && is_named(w, launch, &w->store.image->journal)) ||
	       (w->store.has_backup && is_named(w, launch, &w->store.backup->journal));
}

/* The newest state is that of the launch that ran last: what earlier ones have left is not needed, except for what
 * that one was started from. */
static bool is_needed(const struct world *w, int launch)
{
	int head = truth_head(w), newest = oracle_newest(w, head);
	int base = head >= 0 ? w->truth.launches[head].base : -1;

	if (head < 0 || newest < 0 || w->storage.snaps[newest].launch != head ||
	    w->truth.launches[head].begun_ms <= w->truth.launches[launch].begun_ms)
		return true;
	return is_used(w, launch) || (base >= 0 && w->storage.snaps[base].launch == launch);
}

static void delete_all(struct world *w, int launch)
{
	struct truth_launch *truth = &w->truth.launches[launch];

	say(w, "what launch %d, job %s, has left is deleted", launch, truth->job_id);
	for (int i = 0; i < w->storage.count; i++) {
		struct snap *snap = &w->storage.snaps[i];

		if (snap->launch != launch)
			continue;
		snap->deleted = true;
		snap->numbered = snap->named = snap->there = (struct knowledge){0};
	}
	truth->ha.exists = truth->ha.result = false;
	truth->ha.count = 0;
	truth->end = JOB_END_NONE;
	truth->dir_deleted = truth->record_deleted = true;
}

static void clean(struct world *w)
{
	for (int i = 0; i < PODS; i++)
		if (w->pods[i].agent.alive && w->pods[i].agent.observing)
			return; /* it would decide on what has been there */
	for (int i = 0; i < w->truth.count; i++)
		if (ids_trace(w, i) && !is_needed(w, i) && stream_odds(&w->ids.rng, 800))
			delete_all(w, i);
}

/* ---- a person ---- */

bool ids_help(struct world *w)
{
	int64_t count = w->config->id_count;

	/* said since the last look, maybe as the answer to a request */
	if (!w->ids.count || !w->agent->alive || w->agent->stands || !w->ids.used_up ||
	    count == MOST_NAMES)
		return false;
	w->ids.used_up = false;
	w->figures->ids_used_up++;
	count = 4 * count < MOST_NAMES ? 4 * count : MOST_NAMES;
	say(w, "user: kubernetes.launches is %d, and the container starts again", (int)count);
	for (int i = 0; i < PODS; i++)
		w->pods[i].config.id_count = count;
	name_all(w);
	container_die(w, "its configuration is another one");
	return true;
}

void ids_item(struct world *w, const struct item *item)
{
	if (w->calm)
		return;
	if (item->kind == ITEM_CLEAN) {
		clean(w);
		plan_ids(w, w->ids.clean_ms, ITEM_CLEAN);
		return;
	}
	for (int i = 0; i < PODS; i++) {
		world_enter(w, i);
		if (ids_help(w))
			break;
	}
	plan_ids(w, w->ids.person_ms, ITEM_NAMES);
}

/* ---- what must be true ---- */

static bool is_a_name(const struct world *w, const char *job_id)
{
	for (int64_t n = 0; n < w->ids.count; n++)
		if (!strcmp(w->ids.names[n], job_id))
			return true;
	return false;
}

/* Of another pod, or of another launch. */
static bool has_living_flink(const struct world *w, const char *job_id)
{
	for (int i = 0; i < PODS; i++) {
		const struct flink *flink = &w->pods[i].flink;

		if (flink->alive && !flink_is_held(flink) &&
		    !strcmp(w->truth.launches[flink->launch].job_id, job_id))
			return true;
	}
	return false;
}

void ids_judge(struct world *w, const char *job_id, const struct journal *before)
{
	const struct facts *facts = &w->agent->facts;
	/* a request of a person overrides what cannot be read of former directories, and a journal from a backup does not know
	 * the name */
	bool unseen = w->truth.journal_changed && !facts->names_read && !facts->ha_unread &&
		      facts->sources[SOURCE_CHECKPOINTS].state != SOURCE_UNREADABLE &&
		      facts->sources[SOURCE_SAVEPOINTS].state != SOURCE_UNREADABLE;

	if (!is_a_name(w, job_id))
		fail(w, "job id %s is none of the %d that the Role allows", job_id,
		     (int)w->ids.count);
	else if (has_living_flink(w, job_id))
		fail(w, "job id %s is that of a job that runs", job_id);
	for (size_t i = 0; i < before->launch_count; i++)
		if (!strcmp(before->launches[i].job_id, job_id))
			fail(w, "job id %s is that of launch %" PRId64, job_id,
			     before->launches[i].number);
	for (int i = 0; i < w->truth.count && !unseen; i++) {
		const char *trace =
			strcmp(w->truth.launches[i].job_id, job_id) != 0 ? NULL : ids_trace(w, i);

		if (trace)
			fail(w, "job id %s is used again, and %s of launch %d is left", job_id,
			     trace, i);
	}
}

void ids_judge_launch(struct world *w, const char *job_id)
{
	struct journal before = w->agent->life.journal;

	before.launch_count--;
	ids_judge(w, job_id, &before);
}

/* What drey may still know of it: no launch that could be started now could use it. */
static bool is_in_journal(const struct journal *journal, const char *job_id)
{
	for (size_t i = 0; i < journal->launch_count; i++)
		if (!strcmp(journal->launches[i].job_id, job_id))
			return true;
	for (size_t i = 0; i < journal->snapshot_count; i++)
		if (!strncmp(journal->snapshots[i].job_id, job_id, strlen("123456")))
			return true;
	return false;
}

/* The candidate of a hand-over that has ended may still hold a Flink of that id; the next offer forgets it, maybe at once. */
void ids_judge_used_up(struct world *w, const char *reserved)
{
	const struct lifecycle *life = &w->agent->life;

	if (!w->ids.count || !w->agent->alive || life->phase != PHASE_HOLDING ||
	    life->cause != CAUSE_JOB_IDS_USED_UP)
		return;
	w->ids.used_up = true;
	if (!w->agent->facts.names_read)
		return;
	for (int64_t n = 0; n < w->config->id_count; n++) {
		const char *job_id = w->ids.names[n];
		bool left = is_in_journal(&life->journal, job_id) || !strcmp(reserved, job_id);

		for (int i = 0; !left && i < w->truth.count; i++)
			left = !strcmp(w->truth.launches[i].job_id, job_id) && ids_trace(w, i);
		if (!left)
			fail(w, "the job ids count as used up, but nothing is left of %s", job_id);
	}
}

/* From now on the copies of what had this name before would be this one's. */
void ids_drawn(struct world *w, const char *job_id)
{
	for (int i = 0; w->ids.count && i < w->truth.count; i++) {
		if (strcmp(w->truth.launches[i].job_id, job_id) != 0)
			continue;
		w->figures->ids_again += w->truth.launches[i].executed;
		w->truth.launches[i].ha_copy.exists = false;
		for (int k = 0; k < w->storage.count; k++)
			if (w->storage.snaps[k].launch == i)
				w->storage.snaps[k].copied = false;
	}
}
