/*
 * The end of a history: when nothing fails any more, what people want has to be reached. And the end of a job, which stays.
 */
#include "base/mem.h"
#include "tests/sim/sim.h"

static bool nonces_done(const struct journal *journal)
{
	const struct intent *intent = &journal->intent;

	return xstrsame(intent->savepoint_nonce, journal->savepoint_nonce_done) &&
	       xstrsame(intent->restart_nonce, journal->restart_nonce_done);
}

/* Its checkpoints fail, and what helps has not been done. A launch that has never completed one is left
 * alone, and so is one whose newest cannot be read; a savepoint is progress as well. */
static bool must_restart(const struct world *w)
{
	const struct lifecycle *life = &w->agent->life;
	int newest = w->flink->completed;

	return flink_is_stalled(w) && newest >= 0 && snap_usable(&w->storage.snaps[newest]) &&
	       journal_launch_const(&life->journal)->proven_unix_ms &&
	       life->operation.step == STEP_NONE && !w->config->savepoints.interval_ms &&
	       w->config->policy.restore != POLICY_SAVEPOINT && !w->config->policy.max_age_ms;
}

bool oracle_reached(const struct world *w)
{
	const struct lifecycle *life = &w->agent->life;

	if (!w->agent->alive || life->journal.intent.do_not_restart ||
	    life->journal.intent.state != w->user.wanted || life->requested != life->acknowledged)
		return false;
	if (must_restart(w))
		return false;
	switch (w->user.wanted) {
	case DESIRED_RUNNING:
		return checkpoint_reached(w) && life->phase == PHASE_RUNNING && w->flink->alive &&
		       w->flink->state == JOB_RUNNING && nonces_done(&life->journal) &&
		       rescale_reached(w);
	case DESIRED_SUSPENDED:
		return life->phase == PHASE_SUSPENDED && !w->flink->alive;
	case DESIRED_CANCELLED:
		return life->phase == PHASE_CANCELLED && !w->flink->alive;
	}
	return false;
}

void oracle_end(struct world *w)
{
	const struct lifecycle *life = &w->agent->life;

	if (w->agent->alive)
		fail(w,
		     "%d min after the last fault %s is not reached: %s (%s), job %s, Flink %s, "
		     "savepoint nonce %s/%s, restart nonce %s/%s",
		     (int)((w->now_ms - w->calm_ms) / MINUTE_MS),
		     desired_state_name(w->user.wanted), phase_name(life->phase), life->reason,
		     job_state_name(w->flink->state), w->flink->alive ? "lives" : "is gone",
		     life->journal.intent.savepoint_nonce ? life->journal.intent.savepoint_nonce
							  : "-",
		     life->journal.savepoint_nonce_done ? life->journal.savepoint_nonce_done : "-",
		     life->journal.intent.restart_nonce ? life->journal.intent.restart_nonce : "-",
		     life->journal.restart_nonce_done ? life->journal.restart_nonce_done : "-");
	else
		fail(w, "%d min after the last fault there is no agent",
		     (int)((w->now_ms - w->calm_ms) / MINUTE_MS));
}

/* Seed 77003122: a savepoint from outside, made while a stop was in flight, counts as the stop's (oracle.c); then FINISHED is what
 * the stop has led to. */
static bool is_stopped_by_record(const struct world *w, int base)
{
	const struct operation_result *last = &w->agent->life.journal.last_operation;

	return base >= 0 && w->storage.snaps[base].outside && last->ok &&
	       last->kind == OPERATION_STOP && last->location &&
	       storage_find(w, last->location) == base;
}

/* It runs again only if a person has requested it. */
void oracle_stays_finished(struct world *w, bool requested, int base)
{
	bool forgotten = has(w, FEATURE_LIES) ? !lie_leaves_end(w) : w->truth.journal_changed;

	if (is_stopped_by_record(w, base))
		w->truth.finished = false;
	if (w->truth.finished && !requested && !w->truth.two && !forgotten)
		fail(w, "a job that has FINISHED runs again without a request");
}
