/*
 * What must never happen, and what must happen in the end.
 *
 * The living branch is the last launch that really ran, the snapshot that it really restored, the
 * launch that wrote that snapshot, and so on. A launch must start from the newest usable snapshot of
 * this branch, unless a person has named another one.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/report/readiness.h"
#include "tests/sim/sim.h"

#define ID_ENDLESS INT64_MAX

int truth_find(const struct world *w, const char *job_id)
{
	for (int i = w->truth.count - 1; i >= 0; i--)
		if (!strcmp(w->truth.launches[i].job_id, job_id))
			return i;
	return -1;
}

int truth_head(const struct world *w)
{
	int head = -1;

	for (int i = w->truth.count - 1; i >= 0; i--)
		if (w->truth.launches[i].ran &&
		    (head < 0 || w->truth.launches[i].begun_ms > w->truth.launches[head].begun_ms))
			head = i;
	return head;
}

static bool start_is_unknown(const struct world *w, int launch);

/* What it restored; if Flink restored something else and no agent could notice: what was decided. */
static int base_as_known(const struct truth_launch *truth)
{
	return truth->unsure ? truth->argument : truth->base;
}

/* Identifies the agent that is alive in this pod; each later one has another number. */
static uint64_t this_agent(const struct world *w)
{
	return PODS * w->epochs[SCOPE_AGENT] + (uint64_t)w->pod;
}

/* The job's code wrote it to a directory that no configuration names and of which drey knows no snapshot. */
bool oracle_cannot_see(const struct world *w, const struct snap *snap)
{
	if (!snap->hidden || snap->dir == w->pods[w->pod].dirs[snap->kind])
		return false;
	for (int i = 0; i < w->storage.count; i++) {
		const struct snap *other = &w->storage.snaps[i];

		if (other->launch == snap->launch && other->hidden && other->dir == snap->dir &&
		    (other->numbered.recorded || other->numbered.told == this_agent(w) ||
		     (!w->lies.old_maps && ha_names(w, snap->launch, i))))
			return false;
	}
	return true;
}

/* Does the configured policy allow this snapshot at all? */
static bool eligible(const struct world *w, const struct snap *snap)
{
	if (!snap_usable(snap) || oracle_cannot_see(w, snap) || snap->veiled || snap->slandered)
		return false;
	/* a job that continued, but from something else; what it had made before is good */
	if (w->config->policy.restore == POLICY_LATEST || snap->kind == SNAPSHOT_SAVEPOINT)
		return !(snap->of_wrong && w->truth.launches[snap->launch].wrong);
	/* a checkpoint that a person has named counts as a savepoint, until there is a later savepoint */
	for (int i = w->truth.count - 1; i >= 0 && i >= truth_head(w); i--) {
		int base = base_as_known(&w->truth.launches[i]);

		if (!w->truth.launches[i].executed || w->truth.launches[i].wrong)
			continue;
		if (base >= 0 && &w->storage.snaps[base] == snap)
			return true;
		if (!start_is_unknown(w, i))
			return false;
	}
	return false;
}

int oracle_newest(const struct world *w, int head)
{
	int64_t limit = ID_ENDLESS;

	while (head >= 0) {
		int newest = -1;
		int base = w->truth.launches[head].base;

		for (int i = 0; i < w->storage.count; i++) {
			const struct snap *snap = &w->storage.snaps[i];

			if (snap->launch == head && snap->id <= limit && eligible(w, snap) &&
			    (newest < 0 || snap->id > w->storage.snaps[newest].id))
				newest = i;
		}
		if (newest >= 0)
			return newest;
		if (base < 0)
			return -1;
		if (eligible(w, &w->storage.snaps[base]))
			return base;
		limit = w->storage.snaps[base].id;
		head = w->storage.snaps[base].launch;
	}
	return -1;
}

/* Is `snap` the newest usable one of the branch that ends in `head`? (-1 = there is none) */
static bool is_newest(const struct world *w, int head, int snap)
{
	int newest = oracle_newest(w, head);

	if (newest < 0 || snap < 0)
		return newest == snap;
	return newest == snap || (w->storage.snaps[snap].id == w->storage.snaps[newest].id &&
				  w->storage.snaps[snap].launch == w->storage.snaps[newest].launch);
}

void oracle_tell(struct world *w, int snap)
{
	w->storage.snaps[snap].there.told = this_agent(w);
}

void oracle_tell_number(struct world *w, int snap)
{
	oracle_tell(w, snap);
	w->storage.snaps[snap].numbered.told = this_agent(w);
}

void oracle_tell_name(struct world *w, int snap)
{
	oracle_tell(w, snap);
	w->storage.snaps[snap].named.told = this_agent(w);
}

static void carry(struct knowledge *knowledge, uint64_t agent)
{
	if (knowledge->told == agent)
		knowledge->carried = agent;
}

void oracle_carried(struct world *w)
{
	for (int i = 0; i < w->storage.count; i++) {
		carry(&w->storage.snaps[i].there, this_agent(w));
		carry(&w->storage.snaps[i].numbered, this_agent(w));
		carry(&w->storage.snaps[i].named, this_agent(w));
	}
}

static void record(struct knowledge *knowledge, uint64_t agent)
{
	if (knowledge->carried == agent)
		knowledge->recorded = true;
}

void oracle_recorded(struct world *w)
{
	for (int i = 0; i < w->storage.count; i++) {
		record(&w->storage.snaps[i].there, this_agent(w));
		record(&w->storage.snaps[i].numbered, this_agent(w));
		record(&w->storage.snaps[i].named, this_agent(w));
	}
}

void oracle_forgotten(struct world *w)
{
	for (int i = 0; i < w->storage.count; i++)
		w->storage.snaps[i].there = w->storage.snaps[i].numbered =
			w->storage.snaps[i].named = (struct knowledge){0};
}

/* Is it known to be complete: from storage, from Flink's HA data, by the living agent, or because an agent
 * recorded it? */
static bool is_known(const struct world *w, int index)
{
	const struct snap *snap = &w->storage.snaps[index];

	return snap->complete && !snap->veiled &&
	       (!snap->deleted || snap->there.recorded || snap->there.told == this_agent(w) ||
		(snap->launch >= 0 && ha_names(w, snap->launch, index)));
}

/* A snapshot that was deleted (by accident, or because its job finished) before drey learned of it has left
 * no trace. */
static bool leaves_traces(const struct world *w, int snap)
{
	return w->storage.snaps[snap].complete && !oracle_cannot_see(w, &w->storage.snaps[snap]) &&
	       !w->storage.snaps[snap].veiled &&
	       (!w->storage.snaps[snap].deleted || w->store.image->journal.ever_proven);
}

static bool left_anything(const struct world *w, int launch)
{
	for (int i = 0; i < w->storage.count; i++)
		if (w->storage.snaps[i].launch == launch && is_known(w, i))
			return true;
	return false;
}

static bool anything_completed(const struct world *w, int head)
{
	while (head >= 0) {
		int base = w->truth.launches[head].base;

		for (int i = 0; i < w->storage.count; i++)
			if (w->storage.snaps[i].launch == head && leaves_traces(w, i))
				return true;
		if (base < 0)
			return false;
		if (w->storage.snaps[base].launch < 0)
			return true;
		head = w->storage.snaps[base].launch;
	}
	return false;
}

/* ---- a launch ---- */

/* The previous launch had the same ids. */
static bool is_continued(const struct world *w, const struct launch *launch)
{
	const struct journal *journal = &w->agent->life.journal;

	return journal->launch_count > 1 &&
	       !strcmp(journal->launches[journal->launch_count - 2].job_id, launch->job_id);
}

/* An id that was never given to a Flink is free. A launch that never ran has left nothing under its id: if the
 * journal does not know the id, drey may use it again. */
static bool leaves_id(const struct world *w, const char *job_id)
{
	int index = truth_find(w, job_id);
	const struct truth_launch *truth = index >= 0 ? &w->truth.launches[index] : NULL;

	return truth && truth->executed &&
	       (!w->truth.journal_changed || truth->ran || truth->wrong || truth->ha.exists ||
		truth->ha.result);
}

/* The launch must be in the journal exactly as it happens. */
static void launch_is_on_record(struct world *w, const struct launch *launch)
{
	const struct journal *stored = &w->store.image->journal;
	const struct launch *record = w->store.exists ? journal_launch_const(stored) : NULL;

	if (!record || strcmp(record->job_id, launch->job_id) != 0 ||
	    !xstrsame(record->restore_path, launch->restore_path) ||
	    record->number != launch->number)
		fail(w, "launch %s is not in the journal", launch->job_id);
	else if (stored->intent.do_not_restart)
		fail(w, "a launch although the journal says do-not-restart");
	else if (stored->intent.state != DESIRED_RUNNING)
		fail(w, "a launch although the journal says %s",
		     desired_state_name(stored->intent.state));
	else if (stored->outcome.kind != OUTCOME_NONE)
		fail(w, "a launch although the journal has the outcome %s",
		     outcome_kind_name(stored->outcome.kind));
	else if (journal_is_failed_generation(stored, launch->generation))
		fail(w, "a launch of generation %s, which has failed for good", launch->generation);
	else if (w->flink->alive && !flink_is_held(w->flink))
		fail(w, "a launch while a Flink lives");
	else if (w->ids.count && !is_continued(w, launch))
		ids_judge_launch(w, launch->job_id);
	else if (!w->ids.count && leaves_id(w, launch->job_id) && !is_continued(w, launch))
		fail(w, "job id %s is used again", launch->job_id);
}

static bool *carried_out(struct world *w, const char *token)
{
	return &w->truth.carried_out[strtoul(token + 1, NULL, 10) % MAX_SERIAL];
}

/* A person has requested exactly this, and this launch is the first to carry it out. */
static bool launch_is_requested(struct world *w, const struct launch *launch)
{
	const struct journal *stored = &w->store.image->journal;
	const struct restore_request *request = &stored->intent.restore;

	if (request->kind == RESTORE_NONE || !request->token ||
	    !journal_is_consumed(stored, request->token) || *carried_out(w, request->token) ||
	    !strcmp(w->user.untimely, request->token))
		return false;
	if (request->kind == RESTORE_EMPTY
		    ? launch->restore_path != NULL
		    : !snapshot_same_path(request->path, launch->restore_path))
		return false;
	*carried_out(w, request->token) = true;
	return true;
}

/* Has this launch, or a later one, left a snapshot to continue from? A snapshot that was out of sight when the next
 * launch started belongs to an abandoned branch. */
static bool proven_since(const struct world *w, int launch)
{
	int head = truth_head(w);

	for (int i = 0; i < w->storage.count; i++) {
		const struct snap *snap = &w->storage.snaps[i];

		if (snap->launch >= launch && snap->complete && !snap->deleted && !snap->veiled &&
		    !w->truth.launches[snap->launch].unsure &&
		    !(snap->hidden && snap->launch < head) && !oracle_cannot_see(w, snap))
			return true;
	}
	return false;
}

/* What a person has requested stays in force until a launch from it is proven. */
static bool still_requested(const struct world *w, int base)
{
	for (int i = w->truth.count - 1; i >= 0; i--) {
		const struct truth_launch *truth = &w->truth.launches[i];

		if (truth->requested)
			return base_as_known(truth) == base && !proven_since(w, i);
	}
	return false;
}

/* It has left nothing that is shown, not even HA data that name what it was started from, and the journal, which was lost or
 * is from a backup, does not know it. */
static bool is_forgotten(const struct world *w, int head)
{
	const struct journal *journal = &w->store.image->journal;

	if (!w->truth.journal_changed)
		return false;
	for (size_t i = 0; i < journal->launch_count; i++)
		if (truth_is_record(w, &journal->launches[i], head))
			return false;
	if (ha_newest(w, head) >= 0 && !w->lies.old_maps)
		return false;
	for (int i = 0; i < w->storage.count; i++)
		if (w->storage.snaps[i].launch == head && !w->storage.snaps[i].veiled &&
		    snap_usable(&w->storage.snaps[i]))
			return false;
	return true;
}

/* Starting from a launch that can no longer be judged, or from the previous one, is right. */
static bool continues(const struct world *w, int head, int base)
{
	for (; head >= 0; head--) {
		if (!w->truth.launches[head].ran)
			continue;
		if (is_newest(w, head, base) || oracle_took_for_good(w, head, base))
			return true;
		if (!w->truth.launches[head].unsure && !is_forgotten(w, head) &&
		    !start_is_unknown(w, head) &&
		    !(has(w, FEATURE_LIES) && !left_anything(w, head) &&
		      lie_is_unverified(w, head)))
			return false;
	}
	return is_newest(w, -1, base) || (base >= 0 && base == w->storage.initial) ||
	       oracle_took_for_good(w, -1, base);
}

/* A person has given up the earlier state for this, although that launch never ran: from then on only this counts.
 * After an empty start, the initial savepoint is right too, because it is meant for a first launch; after a start
 * from something damaged, the newest snapshot that it descends from. */
static bool is_given_up(const struct world *w, int base)
{
	for (int i = w->truth.count - 1; i >= 0 && !w->truth.launches[i].ran; i--)
		if (w->truth.launches[i].requested &&
		    (base == w->truth.launches[i].base || (base >= 0 && is_newest(w, i, base)) ||
		     (w->truth.launches[i].base < 0 && base == w->storage.initial)))
			return true;
	return false;
}

/* The newest that is left of what `path`, which is not, descends from. */
static bool is_below(const struct world *w, const char *path, int base)
{
	int from = storage_find(w, path);

	return from >= 0 && !eligible(w, &w->storage.snaps[from]) &&
	       is_newest(w, w->storage.snaps[from].launch, base);
}

/* The same for a launch that is on record and never started: the agent died in between, so drey cannot know. (The
 * last launch on record is the one that is judged.) */
static bool is_given_up_on_record(const struct world *w, int base)
{
	const struct journal *journal = &w->store.image->journal;
	const char *path = base >= 0 ? w->storage.snaps[base].path : NULL;

	for (size_t i = journal->launch_count; i-- > 1;) {
		const struct launch *launch = &journal->launches[i - 1];
		int truth = truth_of(w, launch);

		if (truth >= 0 && w->truth.launches[truth].ran)
			return false;
		if (launch->request_token && !launch->never_started &&
		    (launch->restore_path ? snapshot_same_path(path, launch->restore_path) ||
						    is_below(w, launch->restore_path, base)
					  : !path || base == w->storage.initial))
			return true;
	}
	return false;
}

/* No agent lived long enough to record that it was started or continued, and there is no other trace of it. */
static bool start_is_unknown(const struct world *w, int launch)
{
	const struct journal *journal = &w->store.image->journal;
	bool on_record = false;

	for (size_t i = 0; i < journal->launch_count; i++) {
		if (!truth_is_record(w, &journal->launches[i], launch))
			continue;
		if (journal->launches[i].started_unix_ms)
			return false;
		on_record = true;
	}
	return on_record && !left_anything(w, launch);
}

/* The upgrade is configured as stateless: the generation differs from the previous one, and has left nothing yet. */
static bool stateless(const struct world *w)
{
	if (w->config->upgrade != UPGRADE_STATELESS)
		return false;
	for (int i = w->truth.count - 1; i >= 0; i--) {
		const struct truth_launch *truth = &w->truth.launches[i];

		if (!truth->executed || start_is_unknown(w, i))
			continue;
		if (strcmp(truth->generation, w->config->generation) != 0)
			return true;
		if (truth->base >= 0 || left_anything(w, i))
			return false;
	}
	return false;
}

/* The launch may have waited for the journal since it was decided. */
#define WAITED_MS (5 * MINUTE_MS)

static void launch_is_not_too_old(struct world *w, int base)
{
	int64_t max_age_ms = w->config->policy.max_age_ms;
	const struct snap *snap = base >= 0 ? &w->storage.snaps[base] : NULL;

	if (max_age_ms && snap &&
	    snap->completed_unix_ms + max_age_ms + WAITED_MS < pod_unix_now(w))
		fail(w, "a start from %s, which is too old", snap->path);
}

/* An ancestor has restored something else, and no agent could notice: from there on checkpoint ids do not show
 * which snapshot is older. */
static bool descends_from_unsure(const struct world *w, int launch)
{
	while (launch >= 0 && !w->truth.launches[launch].unsure) {
		int base = w->truth.launches[launch].base;

		launch = base >= 0 ? w->storage.snaps[base].launch : -1;
	}
	return launch >= 0;
}

/* By the HA data of any launch: they also contain what it was started from. */
static bool is_named_by_ha(const struct world *w, int snap)
{
	for (int i = 0; i < w->truth.count; i++)
		if (ha_names(w, i, snap))
			return true;
	return false;
}

/* Is it on record that `snap` is newer than `base`: by their ids or, if only its path was reported, by their times of
 * completion? That of a path that was only reported is by the pod's clock, that of the other one by the store's. */
static bool is_known_as_newer(const struct world *w, const struct snap *snap,
			      const struct snap *base)
{
	bool later = !w->clocks_ms && snap->completed_unix_ms > base->completed_unix_ms;

	return snap->id > base->id && (snap->numbered.recorded || (snap->named.recorded && later));
}

/* The newest snapshot of the branch that ends in `head` that is on record and missing, if nothing at least as new is
 * left of the branch: then drey must not take an older one. -1 = none. */
static int newest_missed(const struct world *w, int head, int start)
{
	int64_t limit = ID_ENDLESS, seen = 0;
	int missed = -1;

	while (head >= 0) {
		int base = w->truth.launches[head].base;

		for (int i = 0; i < w->storage.count; i++) {
			const struct snap *snap = &w->storage.snaps[i];

			if (snap->launch != head || snap->id > limit || !snap->complete ||
			    (snap->kind == SNAPSHOT_CHECKPOINT &&
			     w->config->policy.restore == POLICY_SAVEPOINT))
				continue;
			if ((!snap->deleted || is_named_by_ha(w, i)) && snap->id > seen)
				seen = snap->id; /* even if damaged */
			if (snap->deleted && is_known_as_newer(w, snap, &w->storage.snaps[start]) &&
			    (missed < 0 || snap->id > w->storage.snaps[missed].id))
				missed = i;
		}
		if (base < 0)
			break;
		limit = w->storage.snaps[base].id;
		head = w->storage.snaps[base].launch;
	}
	return missed >= 0 && w->storage.snaps[missed].id > seen ? missed : -1;
}

static void nothing_is_missed(struct world *w, int base)
{
	int missed = base >= 0 ? newest_missed(w, truth_head(w), base) : -1;

	if (missed >= 0)
		fail(w, "a start from %s, but %s was on record, and is gone",
		     w->storage.snaps[base].path, w->storage.snaps[missed].path);
}

/* drey has reported what is missing or damaged and newer than the restore point: it need not do so again. */
static void give_up_what_is_gone(struct world *w, int base)
{
	for (int i = 0; base >= 0 && i < w->storage.count; i++) {
		struct snap *snap = &w->storage.snaps[i];

		if ((!snap_usable(snap) || snap->slandered) && snap->id > w->storage.snaps[base].id)
			snap->numbered = snap->named = (struct knowledge){0};
	}
}

/* Of this job, that Flink's HA has had. Only the journal tells one that had begun when the map was copied. */
static int newest_acknowledged(const struct world *w, int launch)
{
	int newest = -1;

	for (int i = 0; i < w->storage.count; i++) {
		const struct snap *snap = &w->storage.snaps[i];

		if (snap->launch == launch && snap->acknowledged && snap_usable(snap) &&
		    (snap->numbered.recorded || snap->id >= w->truth.launches[launch].ha.counter) &&
		    (newest < 0 || snap->id > w->storage.snaps[newest].id))
			newest = i;
	}
	return newest;
}

/* Out of sight, but found: newer than everything that drey must know of. */
static bool is_found_unexpectedly(const struct world *w, int head, int base)
{
	const struct snap *snap = base >= 0 ? &w->storage.snaps[base] : NULL;
	int newest = oracle_newest(w, head);

	return snap && snap_usable(snap) && oracle_cannot_see(w, snap) &&
	       (newest < 0 || snap->id > w->storage.snaps[newest].id);
}

/* The newest snapshot was out of sight, and a launch started without it. That launch never ran, but drey cannot know
 * this: the launch counts, and the snapshot, when found later, belongs to an abandoned branch. */
static bool is_left_unseen(const struct world *w, int head, int base)
{
	int newest = oracle_newest(w, head);

	if (newest < 0 || !(w->storage.snaps[newest].hidden || w->storage.snaps[newest].unseen))
		return false;
	for (int i = 0; i < w->truth.count; i++) {
		const struct truth_launch *truth = &w->truth.launches[i];

		if (truth->executed && !truth->wrong && base_as_known(truth) == base &&
		    truth->begun_ms > w->truth.launches[head].begun_ms)
			return true;
	}
	return false;
}

static void launch_starts_right(struct world *w, int base)
{
	int head = truth_head(w);
	int newest = oracle_newest(w, head);

	if (still_requested(w, base) || is_given_up(w, base) || is_given_up_on_record(w, base))
		return;
	launch_is_not_too_old(w, base);
	if (stateless(w)) {
		if (base >= 0)
			fail(w, "a start from %s, but upgrades are stateless",
			     w->storage.snaps[base].path);
		return;
	}
	if (base >= 0 && base == w->storage.initial && !anything_completed(w, head))
		return; /* the very first launch, or no earlier one has left anything */
	if (base < 0 && anything_completed(w, head)) {
		fail(w, "an empty start although there was state (newest usable: %s)",
		     newest >= 0 ? w->storage.snaps[newest].path : "none");
		return;
	}
	if (base < 0 && head < 0 && w->storage.initial >= 0) {
		fail(w, "an empty start although an initial savepoint is configured");
		return;
	}
	if (!descends_from_unsure(w, head) && !w->truth.clock_set)
		nothing_is_missed(w, base);
	if (continues(w, head, base) || descends_from_unsure(w, head) ||
	    is_found_unexpectedly(w, head, base) || is_left_unseen(w, head, base) ||
	    lie_adopts_savepoint(w, base) || handover_struck_since(w, base) ||
	    lie_spares_newest(w, base, newest) || oracle_gave_up(w, base, newest) ||
	    (newest >= 0 && w->storage.snaps[newest].left_out && oracle_loss_covers(w, newest)))
		return;
	fail(w,
	     "a start from %s (id %" PRId64 "), but the newest usable snapshot is %s (id %" PRId64
	     ")",
	     base >= 0 ? w->storage.snaps[base].path : "nothing",
	     base >= 0 ? w->storage.snaps[base].id : 0,
	     newest >= 0 ? w->storage.snaps[newest].path : "none",
	     newest >= 0 ? w->storage.snaps[newest].id : 0);
}

/* Flink will take its newest HA entry: this must be what was decided, and no checkpoint that Flink has
 * acknowledged, and no savepoint, may be newer. */
static void continuation_is_right(struct world *w, int index, int base)
{
	const struct truth_launch *truth = &w->truth.launches[index];
	int entry = ha_newest(w, index), newest = oracle_newest(w, truth_head(w));
	const struct snap *snap = newest >= 0 ? &w->storage.snaps[newest] : NULL;
	int acknowledged = newest_acknowledged(w, index);

	w->figures->continued++;
	launch_is_not_too_old(w, base);
	nothing_is_missed(w, base);
	/* the maps that drey was shown are old: Flink takes its own newest entry, or else its argument */
	if (w->lies.old_maps && entry < 0) {
		if (base >= 0 && !oracle_continues_as_shown(w, index, base))
			launch_starts_right(w, base);
	} else if (entry < 0)
		fail(w, "job %s continues, but Flink's HA has nothing of it", truth->job_id);
	else if (entry != base && !(w->lies.old_maps && base >= 0 &&
				    w->storage.snaps[entry].id > w->storage.snaps[base].id))
		fail(w, "job %s continues from %s, but Flink's HA has %s", truth->job_id,
		     base >= 0 ? w->storage.snaps[base].path : "nothing",
		     w->storage.snaps[entry].path);
	else if (acknowledged >= 0 &&
		 w->storage.snaps[acknowledged].id > w->storage.snaps[entry].id)
		fail(w, "job %s continues from %s, but Flink has had %s", truth->job_id,
		     w->storage.snaps[entry].path, w->storage.snaps[acknowledged].path);
	else if (oracle_lacks_files(&w->storage.snaps[entry]) && entry == base)
		fail(w, "job %s continues from %s, which is damaged", truth->job_id,
		     w->storage.snaps[entry].path);
	else if (snap && snap->id > w->storage.snaps[entry].id &&
		 !(snap->launch == index && snap->kind == SNAPSHOT_CHECKPOINT))
		fail(w, "job %s continues from %s, but the newest usable snapshot is %s",
		     truth->job_id, w->storage.snaps[entry].path, snap->path);
}

static size_t line_length(const char *version)
{
	size_t major = strcspn(version, ".");

	return version[major] ? major + 1 + strcspn(version + major + 1, ".") : major;
}

static bool is_same_line(const char *a, const char *b)
{
	return line_length(a) == line_length(b) && strncmp(a, b, line_length(a)) == 0;
}

/* A person has requested exactly this for a Flink of this line. */
static bool risk_was_taken(const struct world *w, int base)
{
	for (int i = 0; i < w->truth.count; i++)
		if (w->truth.launches[i].requested && w->truth.launches[i].base == base &&
		    is_same_line(w->truth.launches[i].version, w->config->flink_version))
			return true;
	return false;
}

/* Between two lines of Flink only a savepoint is certainly readable. */
static void base_is_of_this_line(struct world *w, int base)
{
	const struct snap *snap = base >= 0 ? &w->storage.snaps[base] : NULL;
	const char *ours = w->config->flink_version, *theirs;

	if (!snap || snap->kind == SNAPSHOT_SAVEPOINT || snap->launch < 0)
		return;
	theirs = w->truth.launches[snap->launch].version;
	if (!is_same_line(ours, theirs) && !risk_was_taken(w, base))
		fail(w, "Flink %s is to start from %s, a checkpoint of Flink %s", ours, snap->path,
		     theirs);
}

static void remember_launch(struct world *w, const struct launch *launch, int base, bool requested)
{
	struct truth *truth = &w->truth;
	struct truth_launch *record;

	ids_drawn(w, launch->job_id);
	if (truth->count == truth->capacity) {
		truth->capacity = truth->capacity ? 2 * truth->capacity : 16;
		truth->launches = xreallocarray(truth->launches, (size_t)truth->capacity,
						sizeof(*truth->launches));
	}
	record = &truth->launches[truth->count++];
	*record = (struct truth_launch){.base = base,
					.argument = base,
					.requested = requested,
					.begun_ms = w->now_ms,
					.generation = w->config->generation,
					.version = w->config->flink_version};
	record->number = record->last_number = launch->number;
	memcpy(record->job_id, launch->job_id, JOB_ID_BYTES);
}

void oracle_launch(struct world *w)
{
	const struct launch *launch = journal_launch(&w->agent->life.journal);
	bool requested;
	int base, before;

	launch_is_on_record(w, launch);
	if (*w->failure)
		return;
	before = is_continued(w, launch) ? truth_find(w, launch->job_id) : -1;
	base = launch->restore_path ? storage_find(w, launch->restore_path) : -1;
	if (launch->restore_path && base < 0)
		fail(w, "a start from %s, which never existed", launch->restore_path);
	requested = before < 0 && launch_is_requested(w, launch);
	oracle_stays_finished(w, requested, base);
	if (before >= 0) {
		w->truth.launches[before].argument = base;
		w->truth.launches[before].last_number = launch->number;
		continuation_is_right(w, before, base);
		w->truth.launches[before].begun_ms = w->now_ms;
		return;
	}
	if (!requested && !still_requested(w, base))
		base_is_of_this_line(w, base);
	if (!requested && !w->truth.two)
		launch_starts_right(w, base);
	if (!requested && !still_requested(w, base) && !w->truth.two && base >= 0 &&
	    is_newest(w, truth_head(w), base) && !w->truth.journal_changed &&
	    !is_given_up_on_record(w, base) && !is_given_up(w, base))
		oracle_loss(w, launch, base);
	give_up_what_is_gone(w, base);
	remember_launch(w, launch, base, requested);
}

/* ---- other effects ---- */

void oracle_trigger(struct world *w, const struct effect *effect)
{
	const struct operation *record = &w->store.image->journal.operation;

	if (!w->store.exists || w->store.image->journal.sequence != w->agent->file_sequence)
		return; /* it was, and the journal has been changed since */
	if (record->kind == OPERATION_NONE || strcmp(record->trigger_id, effect->id) != 0)
		fail(w, "operation %.6s is not in the journal", effect->id);
	else if (record->kind != w->agent->life.journal.operation.kind)
		fail(w, "operation %.6s is another one in the journal", effect->id);
}

/* It had completed no checkpoint for as long as a person allows, when drey looked, and can start again
 * from the newest. */
static bool stalled(const struct world *w)
{
	int64_t limit_ms = w->config->health.restart_after_ms;
	int64_t since_ms = w->now_ms - w->flink->progress_ms;
	int newest = w->flink->completed;

	return limit_ms && w->config->policy.restore != POLICY_SAVEPOINT && newest >= 0 &&
	       snap_usable(&w->storage.snaps[newest]) &&
	       (since_ms >= limit_ms || (w->flink->gap_ms >= limit_ms && since_ms < MINUTE_MS));
}

/* A job that is healthy, desired and proven must not be ended. */
void oracle_signal(struct world *w, const struct effect *effect)
{
	const struct lifecycle *life = &w->agent->life;
	const struct journal *journal = &life->journal;
	const struct launch *launch = journal_launch_const(journal);

	flink_judge_kill(w, effect);
	if (silent_excuses_signal(w, effect) || !w->flink->alive ||
	    w->flink->state != JOB_RUNNING || !w->flink->job_present)
		return;
	if (w->config->lease_ms &&
	    (w->now_ms < w->pods[w->pod].cut_until_ms + MINUTE_MS || !w->store.exists))
		return; /* it could not check the journal in time, or not write it again */
	/* a paused agent cannot check it either, and another pod may take it then */
	if (has(w, FEATURE_HANDOVER) && life->cause == CAUSE_JOURNAL_UNREADABLE)
		return;
	if (stalled(w) && launch && launch->proven_unix_ms)
		return;
	if (has(w, FEATURE_LEASE) && lease_explains_kill(w))
		return;
	if (life->terminating || !launch || !launch->verified_unix_ms || w->truth.mismatch ||
	    journal->handover.state == HANDOVER_STOPPING ||
	    journal->handover.state == HANDOVER_TAKEN)
		return;
	if ((life->ended_restart || life->ends_to_suspend) && stop_may_be_left_out(w, launch))
		return;
	if (!life->fenced && journal->intent.state == DESIRED_RUNNING &&
	    journal->outcome.kind == OUTCOME_NONE && journal->operation.kind == OPERATION_NONE &&
	    w->flink->running_since_ms + MINUTE_MS < w->now_ms)
		fail(w, "signal %d to a job that is healthy and desired: %s", effect->signo,
		     life->reason);
}

/* drey must not accept a wrong restore, nor reject a right one. (After a restart inside Flink the statistics show
 * a checkpoint of the job's own, so a wrong restore no longer shows.) */
static void restore_is_judged_right(struct world *w)
{
	const struct launch *launch = journal_launch_const(&w->agent->life.journal);

	if (flink_is_held(w->flink))
		return;
	if (launch && launch->mismatched && w->flink->alive &&
	    !strcmp(launch->job_id, w->truth.launches[w->flink->launch].job_id) &&
	    !w->truth.launches[w->flink->launch].wrong)
		fail(w, "the right restore was taken for a wrong one");
	/* an empty start counts as right until Flink's statistics, which are late, say otherwise */
	if (launch && !launch->restore_path &&
	    (w->flink->completed >= 0 || w->now_ms < w->flink->running_since_ms + 5 * MINUTE_MS))
		return;
	if (w->flink->alive && w->truth.launches[w->flink->launch].wrong && launch &&
	    launch->verified_unix_ms && w->flink->restored == w->flink->base &&
	    !strcmp(launch->job_id, w->truth.launches[w->flink->launch].job_id))
		fail(w, "a wrong restore was taken for the right one");
}

static const struct snap *taken_by(const struct world *w, const char *trigger_id)
{
	for (int i = w->storage.count - 1; i >= 0; i--)
		if (*trigger_id && *trigger_id == *w->storage.snaps[i].trigger_id &&
		    !strcmp(w->storage.snaps[i].trigger_id, trigger_id))
			return &w->storage.snaps[i];
	return NULL;
}

/* A savepoint from outside that was made while an operation was in flight counts as the operation's own. */
static bool is_outside(const struct world *w, const char *path)
{
	int snap = storage_find(w, path);

	return snap >= 0 && w->storage.snaps[snap].outside;
}

/* If Flink can no longer be queried, an operation whose savepoint is in storage has succeeded, and nothing
 * else may count as its savepoint. */
static void results_are_judged_right(struct world *w)
{
	const struct journal *journal = &w->agent->life.journal;
	const struct operation_result *result = &journal->last_operation;
	const struct snap *snap;
	bool news = strcmp(w->truth.last_result, result->trigger_id) != 0 ||
		    w->truth.last_ok != result->ok;

	memcpy(w->truth.last_result, result->trigger_id, JOB_ID_BYTES);
	w->truth.last_ok = result->ok;
	if (!news || w->truth.clock_set || w->truth.journal_changed || w->truth.two ||
	    (w->apart && w->truth.rival)) /* the rival's Flink may still be alive, unseen */
		return;
	snap = taken_by(w, result->trigger_id);
	if (result->ok && result->location && !is_outside(w, result->location) &&
	    (!snap || !snapshot_same_path(snap->path, result->location)))
		fail(w, "operation %.6s has not taken %s", result->trigger_id, result->location);
	if (result->ok || !snap || !snap_usable(snap) || snap->unseen ||
	    journal->operation.kind != OPERATION_NONE || !result->error ||
	    !strstr(result->error, "no savepoint of it"))
		return;
	if (snap->left_out) /* on record now, and judged again when an agent reads it */
		w->storage.snaps[snap - w->storage.snaps].unseen = true;
	else
		fail(w, "%s of operation %.6s was not found", snap->path, result->trigger_id);
}

/* The journal of an application stays small, however long the application lives. */
void oracle_journal(struct world *w, const struct journal *journal)
{
	if (journal->launch_count > JOURNAL_MAX_LAUNCHES ||
	    journal->former_job_count > JOURNAL_MAX_FORMER ||
	    journal->snapshot_count > JOURNAL_MAX_SNAPSHOTS ||
	    journal->log_count > JOURNAL_MAX_LOG || journal->consumed_count > JOURNAL_MAX_TOKENS ||
	    journal->failed_generation_count > JOURNAL_MAX_TOKENS)
		fail(w,
		     "the journal grows: %zu launches, %zu former, %zu snapshots, %zu lines, %zu tokens",
		     journal->launch_count, journal->former_job_count, journal->snapshot_count,
		     journal->log_count, journal->consumed_count);
}

/* A signal takes some milliseconds, a start up to some seconds. */
#define KILLED_WITHIN_MS (5 * SECOND_MS)
/* A drey that loses the journal must notice with its next check, or as the next agent. */
#define LOST_WITHIN_MS 10000
#define SEEN_WITHIN_MS (4 * MINUTE_MS)

void oracle_one_job(struct world *w)
{
	const struct flink *a = &w->pods[0].flink, *b = &w->pods[1].flink;

	for (int i = 0; i < 2; i++) {
		struct pod *pod = &w->pods[i];

		if (pod->agent.alive && pod->agent.life.fenced && !w->truth.rival &&
		    !w->truth.journal_changed)
			fail(w, "fenced, and there is no other drey");
		if (!pod->agent.alive || !pod->agent.life.fenced || !pod->flink.alive)
			pod->agent.fenced_ms = -1;
		else if (pod->agent.fenced_ms < 0)
			pod->agent.fenced_ms = w->now_ms;
		else if (w->now_ms > pod->agent.fenced_ms + KILLED_WITHIN_MS)
			fail(w, "a drey that has lost the journal does not kill its Flink");
	}
	if (w->config->lease_ms && a->alive && b->alive)
		fail(w, "the job runs twice, and fencing is strict");
	w->truth.two |= has(w, FEATURE_RIVALS)
				? a->alive && b->alive
				: w->apart && w->pods[0].init.alive && w->pods[1].init.alive;
	if (!a->alive || !b->alive)
		w->twice_ms = -1;
	else if (w->twice_ms < 0)
		w->twice_ms = w->now_ms;
	else if (w->now_ms > w->twice_ms + SEEN_WITHIN_MS)
		fail(w, "the job runs twice");
}

/* A hold or a parked phase has a cause word, and a healthy application has none. */
static void standstill_has_a_cause(struct world *w)
{
	const struct lifecycle *life = &w->agent->life;
	bool stands = life->phase == PHASE_HOLDING || life->phase == PHASE_SUSPENDED ||
		      life->phase == PHASE_CANCELLED || life->phase == PHASE_FINISHED ||
		      life->phase == PHASE_FAILED;

	if (stands && !life->cause)
		fail(w, "%s without a cause: %s", phase_name(life->phase), life->reason);
	if ((life->cause == CAUSE_JOB_NOT_RUNNING && life->seen.tasks_missing) ||
	    (life->cause == CAUSE_ATTEMPTS_REPEATED && life->phase == PHASE_RESOLVING))
		return;
	if (!stands && life->cause && life->cause != CAUSE_CLUSTER_UNREACHABLE &&
	    (life->phase != PHASE_RUNNING || life->cause != CAUSE_STOP_FAILED) &&
	    !(has(w, FEATURE_LEASE) && life->end_wanted &&
	      (life->cause == CAUSE_LEASE_UNREADABLE || life->cause == CAUSE_LEASE_ELSEWHERE)) &&
	    !(w->config->lease_ms && life->cause == CAUSE_JOURNAL_UNREADABLE))
		fail(w, "%s because of %s", phase_name(life->phase), cause_name(life->cause));
}

/* drey never reports a job as ready that does not run. A poll, and its response, may be lost or late. */
static void readiness_is_honest(struct world *w)
{
	const struct lifecycle *life = &w->agent->life;
	const struct flink *flink = w->flink;

	if (life->phase == PHASE_RUNNING && life->launch_step == LAUNCH_LIVE && flink->alive &&
	    flink->tasks_lost && life->seen.reachable && !life->polling &&
	    life->polled_ms - flink->lost_ms > LOST_WITHIN_MS && readiness_tasks_run(life))
		fail(w, "ready, although no task has run for %d s",
		     (int)((w->now_ms - flink->lost_ms) / SECOND_MS));
}

void oracle_step(struct world *w)
{
	const struct lifecycle *life = &w->agent->life;

	standstill_has_a_cause(w);
	readiness_is_honest(w);
	restore_is_judged_right(w);
	results_are_judged_right(w);

	if (life->deferred.count > LIFECYCLE_MAX_EFFECTS / 2)
		fail(w, "%zu effects wait for a journal write", life->deferred.count);
	if (life->journal.log_count > 4 * JOURNAL_MAX_LOG)
		fail(w, "the journal grows without a write");
}
