/*
 * One JobManager process and its job: it starts after a while, restores what it was given, completes
 * checkpoints with ids from a counter, restarts, fails, finishes, dies. A new process knows its command
 * line, and what ha.c has under its job id.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "tests/sim/sim.h"

/* rest.cache.checkpoint-statistics.timeout */
#define REST_CACHE_MS 3000

#define EXITED(status) ((status) << 8)

void flink_start(struct world *w, int launch)
{
	struct flink *flink = w->flink;
	struct truth_launch *truth = &w->truth.launches[launch];

	if (world_other(w)->flink.alive && !w->apart)
		fail(w, "two Flinks live");
	*flink = (struct flink){.alive = true,
				.launch = launch,
				.base = truth->argument,
				.made_of = w->jars,
				.restored = -1,
				.restored_before = -1,
				.completed = -1,
				.cached_ms = -1,
				.stop_op = -1,
				.checkpoint_dir =
					w->own_dir >= 0 ? w->own_dir
							: w->pods[w->pod].dirs[SNAPSHOT_CHECKPOINT],
				.savepoint_dir = w->pods[w->pod].dirs[SNAPSHOT_SAVEPOINT],
				.retained = (int)between(w, 1, 3),
				.checkpoint_interval_ms = between(w, 5, 120) * SECOND_MS,
				.checkpoint_takes_ms = between(w, 50, 20000),
				.ignores_term = chance(w, w->chaos.term_ignored),
				.cancel_ignored = chance(w, w->chaos.cancel_ignored),
				.wrong = chance(w, w->chaos.wrong_restore)};
	rescale_flink_starts(w);
	truth->executed = true;
	w->epochs[SCOPE_FLINK]++;
	w->epochs[SCOPE_JOB]++;
	say(w, "Flink starts: job %s from %s", truth->job_id,
	    truth->argument >= 0 ? w->storage.snaps[truth->argument].path : "nothing");
	if (chance(w, w->chaos.start_fails) ||
	    (w->upgrades && !w->calm && !strcmp(truth->generation, "bad")))
		plan(w, between(w, 100, 20000), ITEM_FLINK_EXIT, SCOPE_FLINK)->a =
			EXITED(odds(w, 500) ? 1 : 163);
	plan(w, between(w, 300, 8000), ITEM_REST_UP, SCOPE_FLINK);
	if (has(w, FEATURE_HANDOVER))
		leader_start(w);
}

/* Whether drey noticed that the job restored something else; if it could not, the job's snapshots cannot be
 * distinguished from right ones. */
static void mismatch_unnoticed(struct world *w)
{
	struct truth_launch *truth =
		flink_is_held(w->flink) ? NULL : &w->truth.launches[w->flink->launch];
	const struct journal *journal = w->agent->alive && !w->agent->stands
						? &w->agent->life.journal
						: &w->store.image->journal;
	const struct launch *launch = journal_launch_const(journal);
	bool made = false;

	if (!truth || !truth->wrong || (launch && launch->mismatched))
		return;
	for (int i = 0; i < w->storage.count; i++)
		made = made || (w->storage.snaps[i].launch == w->flink->launch &&
				w->storage.snaps[i].complete);
	if (!made)
		return;
	truth->wrong = false;
	truth->ran = truth->unsure = true;
	truth->base = w->flink->base;
}

void flink_end(struct world *w, int wait_status, bool tell)
{
	struct flink *flink = w->flink;

	if (!flink->alive)
		return;
	say(w, "Flink ends, wait status %d", wait_status);
	mismatch_unnoticed(w);
	flink->alive = flink->rest_up = flink->job_present = false;
	w->epochs[SCOPE_FLINK]++;
	w->epochs[SCOPE_JOB]++;
	if (has(w, FEATURE_HANDOVER))
		leader_ended(w, wait_status != SIGKILL);
	if (tell)
		init_flink_ended(w, wait_status);
	*flink->held_id = '\0';
}

static bool journal_is_told_of_end(const struct world *w)
{
	const struct journal *stored = &w->store.image->journal;
	const struct launch *launch = journal_launch_const(stored);

	return launch &&
	       (launch->job_ended || stored->outcome.kind != OUTCOME_NONE ||
		(*stored->operation.trigger_id &&
		 !strcmp(stored->last_operation.trigger_id, stored->operation.trigger_id)));
}

/* The stop is on record, its end is not as far as drey knows, and the next one would find the savepoint: no other end can be expected
 * of a Flink that may run the job again. */
static bool stop_is_unrecorded(struct world *w)
{
	const struct lifecycle *life = &w->agent->life;
	const struct op *op = operation_find(w, life->journal.operation.trigger_id);
	bool unanswered = life->requested != life->acknowledged; /* for how long, unit tests say */

	return w->ha && op && op->kind == OPERATION_STOP && op->state != OP_RUNNING &&
	       op->snap >= 0 && (life->journal_broken || unanswered);
}

/* A Flink that cleans up after its job is not killed: it may get a SIGTERM, and time after that. Only
 * a lease that has run out leaves no time: another drey may start the job. */
void flink_judge_kill(struct world *w, const struct effect *effect)
{
	const struct flink *flink = w->flink;
	const struct lifecycle *life = &w->agent->life;

	if (effect->signo != SIGKILL || !flink->alive || !job_state_is_final(flink->state) ||
	    life->fenced || life->cause == CAUSE_JOURNAL_UNREADABLE ||
	    (has(w, FEATURE_LEASE) && lease_explains_kill(w)) || life->foreign ||
	    flink->terminating || flink->ignores_term || stop_is_unrecorded(w) ||
	    strcmp(effect->id, w->truth.launches[flink->launch].job_id) != 0)
		return;
	if (flink->cleanup != CLEANUP_DONE || w->now_ms < flink->clean_ms)
		fail(w, "Flink is killed while it cleans up after its job: %s", life->reason);
	/* with that write it was given away, and what is there now is another pod's */
	if (life->handover.given)
		return;
	if (w->store.exists && !journal_is_told_of_end(w))
		fail(w, "Flink is killed before the journal has the end of its job: %s",
		     life->reason);
}

void flink_signal(struct world *w, int signo)
{
	struct flink *flink = w->flink;

	if (!flink->alive)
		return;
	say(w, "Flink gets signal %d", signo);
	if (signo == SIGKILL) {
		flink_end(w, SIGKILL, true);
		return;
	}
	if (flink->ignores_term || flink->terminating)
		return;
	flink->terminating = true;
	flink->rest_up = flink->rest_up && odds(w, 500);
	plan(w, between(w, 100, 6000), ITEM_FLINK_EXIT, SCOPE_FLINK)->a = EXITED(143);
}

/* ---- the job ---- */

/* What the statistics show as restored. They survive a restart inside Flink. */
static int reported_restore(const struct world *w)
{
	return w->now_ms >= w->flink->statistics_ms ? w->flink->restored
						    : w->flink->restored_before;
}

bool flink_survives_its_leadership(const struct world *w)
{
	const struct flink *flink = w->flink;

	return w->seed / 7 % 2 && !flink_is_held(flink) && flink->job_present &&
	       (flink->state == JOB_RUNNING || flink->uncleaned) && !flink->tasks_lost &&
	       (flink->completed < 0 || ha_newest(w, flink->launch) >= 0);
}

void flink_leads_no_more(struct world *w)
{
	struct flink *flink = w->flink;

	w->epochs[SCOPE_JOB]++;
	flink->runs_again = flink->runs_again || flink->uncleaned;
	flink->uncleaned = flink->by_itself = false;
	flink->stop_op = flink->completed = flink->restored_before = -1;
	flink->rest_up = flink->job_present = flink->has_run = flink->wrong = false;
	plan(w, SECOND_MS, ITEM_SUBMIT, SCOPE_FLINK);
}

/* Everything in progress in this attempt of the job is void. */
void flink_attempt_ends(struct world *w)
{
	w->epochs[SCOPE_JOB]++;
	w->flink->stop_op = -1;
	operations_fail(w);
}

/* The record that Flink leaves: a stop is recognised by the last savepoint. */
static void leave_record(struct world *w, enum job_state state)
{
	struct truth_launch *truth = &w->truth.launches[w->flink->launch];
	int newest = -1;

	for (int i = 0; i < w->storage.count; i++) {
		const struct snap *snap = &w->storage.snaps[i];

		if (snap->launch == w->flink->launch && snap->complete &&
		    (newest < 0 || snap->id > w->storage.snaps[newest].id))
			newest = i;
	}
	truth->end = state == JOB_FAILED ? JOB_END_FAILED : JOB_END_CANCELED;
	if (state != JOB_FINISHED)
		return;
	truth->end = JOB_END_FINISHED;
	truth->stop = newest;
	if (newest >= 0 && w->storage.snaps[newest].stop)
		truth->end = JOB_END_STOPPED;
}

/* FINISHED deletes the job's checkpoints, the other states leave them. */
void flink_cleans_up(struct world *w)
{
	struct flink *flink = w->flink;

	flink->uncleaned = false;
	/* without a draw, so that a history stays what it was: at once, soon, too late, or nobody knows */
	flink->cleanup = flink->launch % 5 == 4 ? CLEANUP_UNKNOWN : CLEANUP_DONE;
	flink->clean_ms = w->now_ms + flink->launch % 4 * 1500;
	ha_job_over(w, flink->launch);
	if (has(w, FEATURE_HANDOVER))
		leader_job_over(w);
	leave_record(w, flink->state);
	if (flink->state != JOB_FINISHED)
		return;
	for (int i = 0; i < w->storage.count; i++)
		if (w->storage.snaps[i].launch == flink->launch &&
		    w->storage.snaps[i].kind == SNAPSHOT_CHECKPOINT) {
			w->storage.snaps[i].deleted = true;
			w->storage.snaps[i].numbered.recorded = false; /* it cannot be missed */
		}
	/* a stop whose savepoint is complete cannot go back: the job ends */
	if (flink->by_itself)
		w->truth.finished = w->truth.launches[flink->launch].end == JOB_END_FINISHED;
}

/* A final state. Flink without its API server cannot clean up. */
void flink_job_over(struct world *w, enum job_state state)
{
	struct flink *flink = w->flink;

	flink_attempt_ends(w);
	flink->state = state;
	say(w, "job is %s", job_state_name(state));
	if (has(w, FEATURE_HANDOVER))
		deployment_job_ends(w);
	flink->uncleaned = true;
	flink->cleanup = CLEANUP_DONE;
	flink->clean_ms = INT64_MAX;
	if (!has(w, FEATURE_HANDOVER) || !is_cut_off(w) || !flink_survives_its_leadership(w))
		flink_cleans_up(w);
}

/* ---- a job that Flink recovers although it has ended ---- */

/* One each 2 s. The savepoint of a stop is inspected first, which takes half a minute at most, and its job may be that of an earlier
 * agent. */
#define AGAIN_LOOKS 45

void flink_end_is_shown(struct world *w, int savepoint)
{
	w->flink->stopped_with = savepoint;
	w->flink->end_shown = true;
	w->flink->shown = w->epochs[SCOPE_AGENT];
}

void flink_judge_again(struct world *w)
{
	struct flink *flink = w->flink;
	const struct lifecycle *life = &w->agent->life;
	bool known = flink->runs_again && flink->end_shown && w->agent->alive &&
		     flink->shown == w->epochs[SCOPE_AGENT] && !w->agent->stands && !life->fenced &&
		     life->launch_step == LAUNCH_LIVE;

	/* without its savepoint the job would start from where it is now */
	if (known && flink->stopped_with >= 0 &&
	    !snap_usable(&w->storage.snaps[flink->stopped_with]))
		known = false;

	flink->again_looks = known && flink->state == JOB_RUNNING ? flink->again_looks + 1 : 0;
	if (flink->again_looks > AGAIN_LOOKS)
		fail(w, "a job that has ended runs again: %s", life->reason);
}

static void submit(struct world *w)
{
	struct flink *flink = w->flink;

	if (has(w, FEATURE_HANDOVER) && !leader_is(w)) {
		plan(w, SECOND_MS, ITEM_SUBMIT, SCOPE_FLINK);
		return;
	}
	if (flink_is_held(flink)) {
		flink->main_held = true;
		return;
	}

	if (w->truth.launches[flink->launch].ha.result) {
		say(w, "Flink knows that this job has come to its end, and runs nothing");
		ha_job_over(w, flink->launch);
		return;
	}
	flink->job_present = flink->rest_up = true;
	flink->job_unix_ms = pod_unix_now(w);
	flink->state = odds(w, 500) ? JOB_INITIALIZING : JOB_CREATED;
	plan(w, between(w, 100, 6000), ITEM_RUN, SCOPE_FLINK);
}

/* A snapshot other than the named one, or nothing. */
static int wrong_base(struct world *w)
{
	int other = w->storage.count ? (int)below(w, w->storage.count) : -1;

	if (other >= 0 && (!snap_usable(&w->storage.snaps[other]) || odds(w, 500)))
		other = -1;
	return other;
}

static void begin_attempt(struct world *w)
{
	struct flink *flink = w->flink;

	flink->state = JOB_RUNNING;
	flink->running_since_ms = w->now_ms;
	if (!flink->progress_ms) /* not again after a restart inside Flink */
		flink->progress_ms = w->now_ms;
	flink->stalls_ms = has(w, FEATURE_STALL) && !w->calm && luck(w, 500)
				   ? w->now_ms + luck_between(w, 5, 240) * SECOND_MS
				   : 0;
	flink->statistics_ms = w->now_ms + below(w, 3000);
	say(w, "job runs, restored %s",
	    flink->restored >= 0 ? w->storage.snaps[flink->restored].path : "nothing");
	plan(w, flink->checkpoint_interval_ms, ITEM_CHECKPOINT, SCOPE_JOB);
	if (w->calm)
		return;
	if (w->chaos.job_fail_ms)
		plan(w, 1 + below(w, 2 * w->chaos.job_fail_ms), ITEM_JOB_FAIL, SCOPE_JOB);
	if (w->chaos.tasks_lost_ms)
		plan(w, 1 + below(w, 2 * w->chaos.tasks_lost_ms), ITEM_TASKS_LOST, SCOPE_JOB);
	if (w->chaos.job_finish_ms)
		plan(w, 1 + below(w, 2 * w->chaos.job_finish_ms), ITEM_JOB_FINISH, SCOPE_JOB);
}

/* The first time: from the command line. */
static void run_first(struct world *w)
{
	struct flink *flink = w->flink;
	struct truth_launch *truth = &w->truth.launches[flink->launch];
	const struct snap *base;
	int recovered = ha_newest(w, flink->launch);

	if (recovered >= 0) {
		flink->base = recovered;
		say(w, "Flink recovers %s from its HA data", w->storage.snaps[recovered].path);
	} else if (flink->wrong) {
		int other = wrong_base(w);

		truth->wrong = other != flink->base;
		if (truth->wrong) {
			w->truth.mismatch = true;
			w->figures->mismatches++;
		}
		flink->base = other;
	}
	base = flink->base >= 0 ? &w->storage.snaps[flink->base] : NULL;
	if (base &&
	    (base->deleted || !base->complete || (base->metadata_damaged && recovered < 0))) {
		flink->failure = "the restore point cannot be read";
		if (odds(w, 500))
			flink_end(w, EXITED(163), true);
		else
			flink_job_over(w, JOB_FAILED);
		return;
	}
	if (base && base->file_missing) {
		flink->failure = "FileNotFoundException";
		flink->state = JOB_RESTARTING; /* for ever */
		return;
	}
	truth->ran = truth->ran || !truth->wrong;
	flink->has_run = true;
	flink->restored = flink->base;
	flink->next_id = base ? base->id + 1 : 1;
	if (truth->ha.exists && truth->ha.counter > flink->next_id)
		flink->next_id = truth->ha.counter;
	ha_begin(w, flink->launch, flink->base, flink->next_id);
	begin_attempt(w);
}

static void run(struct world *w)
{
	struct flink *flink = w->flink;

	if (!flink->job_present || flink->terminating)
		return;
	if (!flink->has_run) {
		run_first(w);
		return;
	}
	/* a restart inside Flink: from its own newest checkpoint, else from the restore point */
	flink->restored_before = reported_restore(w);
	flink->restored = flink->completed >= 0 ? flink->completed : flink->base;
	if (flink->restored >= 0 && !snap_usable(&w->storage.snaps[flink->restored])) {
		flink->failure = "FileNotFoundException";
		return; /* RESTARTING for ever */
	}
	begin_attempt(w);
}

static void job_fails(struct world *w)
{
	struct flink *flink = w->flink;

	if (w->calm || flink->state != JOB_RUNNING)
		return;
	flink->failure = "an exception in the job";
	if (odds(w, 300)) {
		flink_job_over(w, JOB_FAILED);
		return;
	}
	flink_attempt_ends(w);
	flink->state = JOB_RESTARTING;
	say(w, "job restarts inside Flink");
	plan(w, between(w, 500, 30000), ITEM_RUN, SCOPE_FLINK);
}

/* Flink reports RUNNING while it waits for slots, and does nothing until it has them. */
static void tasks_lost(struct world *w)
{
	struct flink *flink = w->flink;

	if (w->calm || flink->state != JOB_RUNNING)
		return;
	flink_attempt_ends(w);
	flink->tasks_lost = true;
	flink->lost_ms = w->now_ms;
	say(w, "the TaskManagers are gone");
	plan(w, between(w, 1, 600) * SECOND_MS, ITEM_TASKS_BACK, SCOPE_FLINK);
}

static void tasks_back(struct world *w)
{
	if (!w->flink->tasks_lost)
		return;
	w->flink->tasks_lost = false;
	say(w, "the TaskManagers are back");
	if (w->flink->state == JOB_RUNNING)
		run(w);
}

/* ---- checkpoints ---- */

static void checkpoint(struct world *w)
{
	struct flink *flink = w->flink;
	struct item *item;

	if (flink->state != JOB_RUNNING || flink->tasks_lost)
		return;
	plan(w, flink->checkpoint_interval_ms, ITEM_CHECKPOINT, SCOPE_JOB);
	if (flink->stop_op >= 0)
		return;
	item = plan(w, flink->checkpoint_takes_ms, ITEM_CHECKPOINT_DONE, SCOPE_JOB);
	item->a = storage_add(w, SNAPSHOT_CHECKPOINT, flink->launch, flink->next_id++);
	w->truth.launches[flink->launch].ha.counter = flink->next_id;
}

bool flink_is_stalled(const struct world *w)
{
	return w->flink->alive && w->flink->stalls_ms && w->now_ms >= w->flink->stalls_ms;
}

void flink_completed(struct world *w, int snap)
{
	struct flink *flink = w->flink;

	flink->gap_ms = w->now_ms - flink->progress_ms;
	flink->progress_ms = w->now_ms;
	if (flink->completed < 0 ||
	    w->storage.snaps[snap].id > w->storage.snaps[flink->completed].id)
		flink->completed = snap;
	checkpoint_result(w, snap, true);
}

/* Without HA: all but the newest are deleted immediately. */
static void discard_old(struct world *w)
{
	int kept = 0;

	for (int i = w->storage.count - 1; i >= 0; i--) {
		struct snap *old = &w->storage.snaps[i];

		if (old->launch == w->flink->launch && old->kind == SNAPSHOT_CHECKPOINT &&
		    old->complete && !old->deleted && kept++ >= w->flink->retained)
			old->deleted = true;
	}
}

static void checkpoint_done(struct world *w, int snap)
{
	struct flink *flink = w->flink;
	int64_t add_ms = w->now_ms;
	struct item *item;

	if (flink->state != JOB_RUNNING || flink->stop_op >= 0 || flink_is_stalled(w) ||
	    (has(w, FEATURE_HANDOVER) && is_cut_off(w)) || chance(w, w->chaos.checkpoint_fails)) {
		w->storage.snaps[snap].deleted = true;
		checkpoint_result(w, snap, false);
		return;
	}
	storage_complete(w, snap);
	if (!w->ha) {
		flink_completed(w, snap);
		discard_old(w);
		return;
	}
	/* under one lock, so never before that of an earlier one */
	add_ms += between(w, 1, 100);
	if (add_ms <= flink->add_ms)
		add_ms = flink->add_ms + 1;
	flink->add_ms = add_ms;
	item = plan(w, add_ms - w->now_ms, ITEM_HA_ADD, SCOPE_FLINK);
	item->a = snap;
	item->launch = flink->launch;
}

/* ---- what REST shows ---- */

const char *rest_path(const struct world *w, int snap, char *buffer, size_t size_bytes)
{
	snprintf(buffer, size_bytes, "file:%s", w->storage.snaps[snap].path);
	return buffer;
}

/* Flink remembers only the last ones. */
static void show_savepoints(struct world *w, struct view_slot *slot)
{
	for (int i = w->storage.count - 1; i >= 0 && slot->view.savepoint_count < VIEW_SAVEPOINTS;
	     i--) {
		const struct snap *snap = &w->storage.snaps[i];
		size_t next = slot->view.savepoint_count;

		if (snap->launch != w->flink->launch || snap->kind != SNAPSHOT_SAVEPOINT ||
		    !snap->complete)
			continue;
		slot->savepoints[next] = (struct seen_savepoint){
			.id = snap->id,
			.path = rest_path(w, i, slot->savepoint_paths[next],
					  sizeof(slot->savepoint_paths[next])),
			.completed_unix_ms = snap->completed_unix_ms,
			.stop = snap->stop};
		slot->view.savepoint_count++;
		slot->told[slot->told_count++] = i;
	}
	slot->view.savepoints = slot->savepoints;
}

static void show_statistics(struct world *w, struct view_slot *slot)
{
	struct flink *flink = w->flink;
	struct view *view = &slot->view;

	if (flink->cached_ms < 0 || w->now_ms >= flink->cached_ms + REST_CACHE_MS) {
		flink->cached_ms = w->now_ms;
		flink->cached_restored = reported_restore(w);
		flink->cached_completed = flink->completed;
	}
	view->statistics_known = true;
	if (has(w, FEATURE_STALL))
		view->plan = (struct checkpoint_plan){.known = true,
						      .interval_ms = flink->checkpoint_interval_ms};
	show_savepoints(w, slot);
	if (flink->cached_restored >= 0) {
		view->restored = true;
		view->restored_id = w->storage.snaps[flink->cached_restored].id;
		view->restored_path = rest_path(w, flink->cached_restored, slot->restored_path,
						sizeof(slot->restored_path));
	}
	if (flink->cached_completed >= 0) {
		const struct snap *snap = &w->storage.snaps[flink->cached_completed];

		slot->told[slot->told_count++] = flink->cached_completed;
		view->completed_id = snap->id;
		view->completed_unix_ms = snap->completed_unix_ms;
		view->completed_path = rest_path(w, flink->cached_completed, slot->completed_path,
						 sizeof(slot->completed_path));
	}
}

void flink_view_cleanup(struct world *w, struct view_slot *slot)
{
	const struct flink *flink = w->flink;
	bool over = flink->alive && job_state_is_final(flink->state);

	slot->view = (struct view){.cleanup = CLEANUP_PENDING};
	slot->told_count = 0;
	if (over && (flink->cleanup == CLEANUP_UNKNOWN || w->now_ms >= flink->clean_ms))
		slot->view.cleanup = flink->cleanup;
}

void flink_view(struct world *w, const char *job_id, struct view_slot *slot)
{
	const struct flink *flink = w->flink;
	struct view *view = &slot->view;

	*view = (struct view){.reachable = false};
	slot->told_count = 0;
	if (!flink->alive || !flink->rest_up || chance(w, w->chaos.poll_lost))
		return;
	view->reachable = true;
	view->job_present = flink->job_present && !flink_is_held(flink) &&
			    !strcmp(w->truth.launches[flink->launch].job_id, job_id);
	if (!view->job_present)
		return;
	view->state = flink->state;
	view->job_unix_ms = flink->job_unix_ms;
	view->tasks_missing = flink->tasks_lost;
	view->cluster = (struct cluster){.tasks_known = true,
					 .slots_known = true,
					 .tasks_total = 4,
					 .tasks_running = flink->tasks_lost ? 0 : 4,
					 .tasks_waiting = flink->tasks_lost ? 4 : 0,
					 .task_managers = flink->tasks_lost ? 0 : 2,
					 .slots_total = flink->tasks_lost ? 0 : 4};
	if (flink->state == JOB_FAILED || flink->state == JOB_RESTARTING)
		view->failure = flink->failure;
	if (flink->state != JOB_INITIALIZING && !chance(w, w->chaos.poll_lost / 2))
		show_statistics(w, slot);
}

/* ---- items ---- */

void flink_item(struct world *w, const struct item *item)
{
	struct flink *flink = w->flink;

	switch (item->kind) {
	case ITEM_REST_UP:
		flink->rest_up = true;
		plan(w, between(w, 100, 3000), ITEM_SUBMIT, SCOPE_FLINK);
		break;
	case ITEM_SUBMIT:
		submit(w);
		break;
	case ITEM_RUN:
		if (flink->state != JOB_CANCELLING && flink->state != JOB_CANCELED)
			run(w);
		break;
	case ITEM_CHECKPOINT:
		checkpoint(w);
		break;
	case ITEM_CHECKPOINT_DONE:
		checkpoint_done(w, (int)item->a);
		break;
	case ITEM_HA_ADD:
	case ITEM_HA_DISCARD:
	case ITEM_HA_CLEAN:
		ha_item(w, item);
		break;
	case ITEM_JOB_FAIL:
		job_fails(w);
		break;
	case ITEM_TASKS_LOST:
		tasks_lost(w);
		break;
	case ITEM_TASKS_BACK:
		tasks_back(w);
		break;
	case ITEM_JOB_FINISH:
		if (w->calm || flink->state != JOB_RUNNING)
			break;
		/* the savepoint of a stop is the end: nothing comes after it */
		if (has(w, FEATURE_HANDOVER) && flink->stop_op >= 0 &&
		    flink->ops[flink->stop_op].snap >= 0)
			break;
		w->figures->finished++;
		w->truth.loss =
			true; /* its checkpoints are deleted: a person decides what happens next */
		flink->by_itself = true;
		flink_job_over(w, JOB_FINISHED);
		break;
	case ITEM_FLINK_EXIT:
		flink_end(w, (int)item->a, true);
		break;
	default:
		operation_item(w, item);
		break;
	}
}
