/*
 * The end of a job: what Flink cleans up and leaves behind, when it may be killed, and a job that it recovers although it has ended,
 * because it lost its leadership before it could clean up.
 */
#include <signal.h>
#include <string.h>

#include "tests/sim/sim.h"

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
	truth->end_unix_ms = unix_now(w);
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

/* ---- Flink without its leadership ---- */

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

/* ---- ... and is recovered all the same ---- */

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

/* ---- a Flink that is killed ---- */

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
	/* a signal would let it delete what the next launch needs, and nothing tells that its job has ended */
	if (flink->deletes && !(flink->end_shown && flink->shown == w->epochs[SCOPE_AGENT]))
		return;
	/* decided before its end was shown, while the journal could not be written, which is told of it now */
	if (flink->deletes && w->store.exists && journal_is_told_of_end(w))
		return;
	if (flink->cleanup != CLEANUP_DONE || w->now_ms < flink->clean_ms)
		fail(w, "Flink is killed while it cleans up after its job: %s", life->reason);
	/* with that write it was given away, and what is there now is another pod's */
	if (life->handover.given)
		return;
	/* what it was told has been replaced by something older since, behind the back of drey */
	if (w->store.exists && w->store.image->journal.sequence < life->acknowledged)
		return;
	if (w->store.exists && !journal_is_told_of_end(w))
		fail(w, "Flink is killed before the journal has the end of its job: %s",
		     life->reason);
}
