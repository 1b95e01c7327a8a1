/*
 * One JobManager process and its job: it starts after a while, restores what it was given, completes
 * checkpoints with ids from a counter, restarts, fails, finishes, dies. A new process knows its command
 * line, and what ha.c has under its job id. The end of the job is in flink_over.c.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "tests/sim/sim.h"

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
				.wrong = chance(w, w->chaos.wrong_restore),
				.deletes = lie_sets_deletion(w)};
	rescale_flink_starts(w);
	truth->executed = true;
	w->epochs[SCOPE_FLINK]++;
	w->epochs[SCOPE_JOB]++;
	silent_flink_starts(w);
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
static void mismatch_unnoticed(struct world *w, const struct journal *journal)
{
	struct truth_launch *truth = flink_is_held(w->flink) || w->flink->launch < 0
					     ? NULL
					     : &w->truth.launches[w->flink->launch];
	bool made = false;

	if (!truth || !truth->wrong)
		return;
	for (size_t i = 0; i < journal->launch_count; i++)
		if (journal->launches[i].mismatched &&
		    !strcmp(journal->launches[i].job_id, truth->job_id))
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

/* An agent has died. Another one looks at a Flink that lives; of one that has ended it knows what is on record. */
void flink_forgotten(struct world *w)
{
	if (!w->truth.count)
		return;
	for (int i = 0; i < PODS; i++)
		if (w->pods[i].flink.alive && w->pods[i].flink.launch == w->flink->launch)
			return;
	mismatch_unnoticed(w, &w->store.image->journal);
}

void flink_end(struct world *w, int wait_status, bool tell)
{
	bool lives = w->agent->alive && !w->agent->stands;
	struct flink *flink = w->flink;

	if (!flink->alive)
		return;
	say(w, "Flink ends, wait status %d", wait_status);
	mismatch_unnoticed(w, lives ? &w->agent->life.journal : &w->store.image->journal);
	flink->alive = flink->rest_up = flink->job_present = false;
	w->epochs[SCOPE_FLINK]++;
	w->epochs[SCOPE_JOB]++;
	if (has(w, FEATURE_HANDOVER))
		leader_ended(w, wait_status != SIGKILL);
	if (tell)
		init_flink_ended(w, wait_status);
	*flink->held_id = '\0';
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
	if (signo == SIGQUIT)
		return; /* its threads */
	if (flink->ignores_term || flink->terminating)
		return;
	flink->terminating = true;
	if (!w->ha && flink->job_present && !job_state_is_final(flink->state))
		lie_job_ends(w);
	flink->rest_up = flink->rest_up && odds(w, 500);
	plan(w, between(w, 100, 6000), ITEM_FLINK_EXIT, SCOPE_FLINK)->a = EXITED(143);
}

/* ---- the job ---- */

/* Everything in progress in this attempt of the job is void. */
void flink_attempt_ends(struct world *w)
{
	w->epochs[SCOPE_JOB]++;
	w->flink->stop_op = -1;
	operations_fail(w);
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
	ha_goes_on_from(w, flink->launch, flink->restored);
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
	flink->restored_before = flink_reported_restore(w);
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
