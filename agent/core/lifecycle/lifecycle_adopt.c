/*
 * A new agent, at the first event: Flink runs, has ended while no agent was there, or was never started.
 */
#include "core/lifecycle/lifecycle_adopt.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "core/lifecycle/lifecycle_asks.h"
#include "core/lifecycle/lifecycle_effects.h"
#include "core/lifecycle/lifecycle_end.h"
#include "core/lifecycle/lifecycle_exited.h"
#include "core/lifecycle/lifecycle_facts.h"
#include "core/lifecycle/lifecycle_fence.h"
#include "core/lifecycle/lifecycle_launch.h"
#include "core/lifecycle/lifecycle_lease.h"
#include "core/lifecycle/lifecycle_periodic.h"
#include "core/lifecycle/lifecycle_pursue.h"
#include "core/lifecycle/lifecycle_settle.h"
#include "core/lifecycle/lifecycle_started.h"

/* Whether its main() was let go is not known; that may be done twice. What forbids the launch may have
 * been recorded since it was decided, and the previous agent has not withdrawn it: then this Flink ends,
 * whether it waits or has just begun. */
static void adopt_held(struct lifecycle *life, struct launch *launch)
{
	struct decision decision;

	if (resolve_parked(&life->journal, &life->config->policy, &decision)) {
		life->launch_step = LAUNCH_LIVE;
		launch->started_unix_ms = life->now_unix_ms;
		end_flink(life, false, false, "%s", decision.reason);
		return;
	}
	life->launch_step = LAUNCH_STARTING;
	enter(life, PHASE_LAUNCHING, "launch %" PRId64 " (job %s) is let go", launch->number,
	      launch->job_id);
	/* the agent before may have died before it did */
	/* MUT: what waits in main() is let go by a new agent without a lease */
	if (life->config->lease_ms)
		lease_extend(life);
	emit(life, EFFECT_LAUNCH);
}

static void adopt_running(struct lifecycle *life, struct launch *launch)
{
	enum operation_kind kind = life->journal.operation.kind;

	if (launch->held && !launch->started_unix_ms) {
		adopt_held(life, launch);
		return;
	}
	life->launch_step = LAUNCH_LIVE;
	if (!launch->started_unix_ms)
		launch->started_unix_ms = life->now_unix_ms;
	note(life, NOTE_INFO, "launch %" PRId64 " (job %s) still runs: taken over", launch->number,
	     launch->job_id);
	life->poll_ms = life->now_ms;
	if (life->config->lease_ms)
		check_journal(life);
	if (life->journal.outcome.kind != OUTCOME_NONE) {
		end_flink(life, false, false, "ending Flink, the outcome is already recorded: %s",
			  life->journal.outcome.reason ? life->journal.outcome.reason : "");
		return;
	}
	/* the state that the previous agent knew may have changed */
	enter(life, PHASE_LAUNCHING, "drey has restarted and checks whether the job is running");
	life->ready_ms = life->now_ms + life->config->ready_deadline_ms;
	schedule_savepoint(life);
	asks_adopt(life);
	if (operation_ends_job(kind))
		enter(life, PHASE_STOPPING, "continuing the %s of the previous agent",
		      operation_kind_name(kind));
}

/* Flink exited while no agent was running. */
static void adopt_ended(struct lifecycle *life, struct launch *launch, const struct event *event)
{
	bool seen = is_current_launch(life, event->hello.last, event->hello.last_number);
	bool stopping = operation_ends_job(life->journal.operation.kind);
	bool never_good;

	if (seen && !launch->started_unix_ms)
		launch->started_unix_ms = life->now_unix_ms; /* it had started, unreported */
	never_good = launch->started_unix_ms && !launch->proven_unix_ms;
	record_flink_end(life, seen ? event->hello.last_wait_status : -1);
	operation_flink_gone(life);
	/* the previous agent ended Flink because of that: it is no failed attempt, which could take
	 * its place */
	if (life->journal.outcome.kind != OUTCOME_NONE)
		resolve_start(life, "Flink has exited after the end of its job");
	else if (life->handover.claim == CLAIM_TAKE) /* it ended at the other pod, as granted */
		resolve_start(life, "the job was handed over to this pod");
	else if (stopping)
		resolve_start(life, "Flink exited during a stop, while no agent was running");
	else if (seen)
		flink_died(life, event->hello.last_wait_status,
			   "Flink exited while no agent was running");
	else if (never_good)
		launch_failure(life, "the container ended before the launch was proven");
	else
		resolve_start(life, "this is a new container");
}

/* While this Flink ran, a later launch was decided, which only another drey can have done. */
static bool is_superseded(const struct lifecycle *life, const char *job_id)
{
	for (size_t i = 0; i < life->journal.launch_count; i++)
		if (!strcmp(life->journal.launches[i].job_id, job_id))
			return true;
	return false;
}

/* A launch is identified by its number and by the drey that decided it: one that continues has the
 * job id of its predecessor, and another drey may have decided it. */
static bool runs_here(struct lifecycle *life, const struct event *event)
{
	return is_current_launch(life, event->hello.running, event->hello.running_number) &&
	       !is_elsewhere(life, journal_launch(&life->journal));
}

/* Why this container has lost the journal, although nothing in it shows that; NULL = it has not. */
static const char *lost_before(struct lifecycle *life, const struct event *event)
{
	if (event->hello.fenced && event->hello.claim == CLAIM_NONE)
		return "the previous agent of this container saw it";
	if (event->hello.claim != CLAIM_NONE) /* the journal names us */
		return NULL;
	/* from its first write on, the other drey waits long enough for this one to notice */
	if (event->hello.running && runs_here(life, event) && was_written_elsewhere(life))
		return "it has written since the previous agent of this container did";
	if (!event->hello.running && event->hello.last &&
	    is_elsewhere(life, journal_launch(&life->journal)))
		return "it has decided a later launch than the last one of this container";
	return NULL;
}

/* It was recorded, but drey-init, which ran the one before, was never asked to start it. */
static bool was_never_asked_for(struct lifecycle *life, const struct launch *launch,
				const struct event *event)
{
	return event->hello.last && event->hello.last_number &&
	       event->hello.last_number < launch->number && !is_elsewhere(life, launch);
}

static void adopt_nothing(struct lifecycle *life, const struct event *event)
{
	struct launch *launch = journal_launch(&life->journal);

	takeover_begin(life);
	if (launch && !launch->ended_unix_ms && was_never_asked_for(life, launch, event)) {
		launch_never_started(life, launch);
		operation_flink_gone(life);
		resolve_start(life, "the last launch was decided, but never started");
	} else if (launch && !launch->ended_unix_ms) {
		adopt_ended(life, launch, event);
	} else {
		operation_flink_gone(life);
		resolve_start(life, "drey starts");
	}
}

void adopt(struct lifecycle *life, const struct event *event)
{
	const char *running = event->hello.running, *lost = lost_before(life, event);
	struct launch *launch = journal_launch(&life->journal);

	lease_begin(life);
	if (running && (lost || !runs_here(life, event))) {
		life->foreign = true;
		snprintf(life->foreign_id, JOB_ID_BYTES, "%s", running);
		if (lost || is_superseded(life, running)) {
			fence(life,
			      lost ? lost : "it has decided a later launch than the running one");
			return;
		}
		enter_because(
			life, PHASE_HOLDING, CAUSE_UNKNOWN_FLINK_RUNS,
			"a Flink is running (launch %s) that is not in the journal; drey waits until it exits",
			running);
		return;
	}
	if (running) {
		adopt_running(life, launch);
		return;
	}
	if (lost)
		fence(life, lost);
	else
		adopt_nothing(life, event);
}
