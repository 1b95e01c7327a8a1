/*
 * Gathers the facts and carries out the decision on them: a start, a hold, or nothing.
 */
#include "core/lifecycle/lifecycle_resolve.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/lifecycle/lifecycle_copy.h"
#include "core/lifecycle/lifecycle_effects.h"
#include "core/lifecycle/lifecycle_ended.h"
#include "core/lifecycle/lifecycle_facts.h"
#include "core/lifecycle/lifecycle_fence.h"
#include "core/lifecycle/lifecycle_ids.h"
#include "core/lifecycle/lifecycle_launch.h"
#include "core/lifecycle/lifecycle_look.h"
#include "core/lifecycle/lifecycle_settle.h"
#include "core/lifecycle/lifecycle_started.h"
#include "core/lifecycle/lifecycle_stopping.h"
#include "core/lifecycle/lifecycle_transition_wishes.h"
#include "core/resolve/lineage.h"

void resolve_start(struct lifecycle *life, const char *why)
{
	struct decision decision;

	if (transition_rests(life))
		return;
	if (resolve_parked(&life->journal, &life->config->policy, &decision) &&
	    life->step != STEP_SETTLING) {
		park(life, &decision);
		return;
	}
	enter(life, PHASE_RESOLVING, "%s", why);
	life->retry_ms = 0;
	if (life->observing) {
		life->observe_again = true;
		return;
	}
	observe(life);
}

static enum phase parked_phase(const struct journal *journal, const struct decision *decision)
{
	if (decision->kind == DECISION_HOLD)
		return PHASE_HOLDING;
	if (journal->intent.state == DESIRED_SUSPENDED)
		return PHASE_SUSPENDED;
	if (journal->intent.state == DESIRED_CANCELLED)
		return PHASE_CANCELLED;
	if (journal->intent.do_not_restart)
		return PHASE_HOLDING;
	if (decision->cause == CAUSE_GENERATION_FAILED)
		return PHASE_FAILED;
	switch (journal->outcome.kind) {
	case OUTCOME_FINISHED:
		return PHASE_FINISHED;
	case OUTCOME_CANCELLED:
		return PHASE_CANCELLED;
	default:
		return PHASE_FAILED;
	}
}

void park(struct lifecycle *life, const struct decision *decision)
{
	enum phase phase = parked_phase(&life->journal, decision);

	life->retry_ms = 0;
	if (life->step == STEP_SETTLING)
		look_again(life);
	else
		life->holds = 0;
	if (life->phase == phase && !strcmp(life->reason, decision->reason))
		return;
	enter_because(life, phase, decision->cause, "%s", decision->reason);
	if (ended_well(life) && life->journal.intent.state == DESIRED_RUNNING &&
	    decision->cause != CAUSE_GENERATION_FAILED)
		leave(life);
}

/* The wrong restore was not observed, or could not be recorded. */
static void remember_mismatch(struct lifecycle *life, struct launch *launch,
			      const struct snapshot *seen)
{
	if (launch->mismatched)
		return;
	launch->mismatched = true;
	life->want_write = true;
	note(life, NOTE_WARNING,
	     "%s is not newer than %s (checkpoint id %" PRId64
	     "), the decided restore point of launch %" PRId64
	     ": Flink had restored something else, so no snapshot of that launch is used",
	     seen->path, launch->restore_path, launch->restore_checkpoint_id, launch->number);
}

static void remember_state(struct lifecycle *life, const struct facts *facts)
{
	for (size_t i = 0; i < facts->candidate_count; i++) {
		const struct candidate *c = &facts->candidates[i];
		int maker = lineage_maker(&life->journal, &c->snapshot);

		if (maker >= 0 && lineage_contradicts(&life->journal, &c->snapshot))
			remember_mismatch(life, &life->journal.launches[maker], &c->snapshot);
		else if (maker >= 0 && facts_was_completed(c) &&
			 c->integrity != INTEGRITY_UNREADABLE)
			launch_has_left_state(life, &life->journal.launches[maker]);
	}
}

/* The savepoint of a stop that drey did not see may be anywhere: record its path. */
static void record_stop(struct lifecycle *life, const struct facts *facts)
{
	struct snapshot stop = {.path = facts->ended_detail,
				.kind = SNAPSHOT_SAVEPOINT,
				.origin = ORIGIN_FOUND,
				.completed_unix_ms = life->now_unix_ms,
				.size_bytes = -1,
				.file_count = -1};
	const struct candidate *found = facts_find(facts, stop.path);

	xstrset(&life->journal.outcome.savepoint, facts->ended_detail);
	if (found) {
		stop.checkpoint_id = found->snapshot.checkpoint_id;
		if (found->snapshot.completed_unix_ms)
			stop.completed_unix_ms = found->snapshot.completed_unix_ms;
	}
	memcpy(stop.job_id, life->journal.outcome.job_id, JOB_ID_BYTES);
	if (!journal_snapshot(&life->journal, stop.path))
		journal_add_snapshot(&life->journal, &stop);
}

/* The end of the job was not observed, but Flink has recorded it. */
static void record_outcome(struct lifecycle *life, const struct event *event)
{
	const struct decision *decision = event->observed.decision;
	const struct facts *facts = event->observed.facts;
	const struct launch *open = journal_open_launch(&life->journal);

	/* without a launch: the journal was lost, and the record that was found is adopted */
	if (decision->outcome == OUTCOME_NONE || (!open && life->journal.launch_count))
		return;
	outcome_set(life, decision->outcome, "%s", decision->outcome_reason);
	if (facts->ended == JOB_END_STOPPED && facts->ended_detail)
		record_stop(life, facts);
	if (open)
		launch_end_is_known(life, open->job_id);
}

/* Starting from older state than there once was is always logged. */
static void tell_passed_over(struct lifecycle *life, const struct facts *facts)
{
	enum { SAID_AT_MOST = 4 };
	int count = 0;

	for (size_t i = 0; i < facts->candidate_count; i++) {
		const struct candidate *c = &facts->candidates[i];
		char *line;

		if (!c->passed_over || ++count > SAID_AT_MOST)
			continue;
		line = xasprintf("skipped: %s, %s", c->snapshot.path, c->reason);
		note(life, NOTE_WARNING, "%s", line);
		journal_add_log(&life->journal, life->now_unix_ms, line);
		free(line);
	}
	if (count > SAID_AT_MOST)
		note(life, NOTE_WARNING,
		     "%d more were skipped; `drey resolve --explain` lists them",
		     count - SAID_AT_MOST);
}

void on_observed(struct lifecycle *life, const struct event *event)
{
	const struct decision *decision = event->observed.decision;
	bool again = life->observe_again;

	life->observing = life->observe_again = false;
	if (life->terminating || life->fenced || life->handover.giving ||
	    (life->phase != PHASE_RESOLVING && life->phase != PHASE_HOLDING &&
	     life->step != STEP_SETTLING))
		return;
	if (again) {
		resolve_start(life, "the desired state has changed");
		return;
	}
	remember_state(life, event->observed.facts);
	operation_settle(life, event);
	transition_observed(life, event);
	if (transition_rests(life))
		return;
	switch (decision->kind) {
	case DECISION_CONTINUE:
	case DECISION_START_FROM:
	case DECISION_START_EMPTY:
		if (takeover_waits(life))
			break;
		tell_passed_over(life, event->observed.facts);
		begin_launch(life, decision, event->observed.facts);
		break;
	case DECISION_ADOPT:
		copy_adopt(life, decision, event->observed.facts);
		break;
	case DECISION_PARK:
		record_outcome(life, event);
		park(life, decision);
		break;
	default:
		hold(life, decision);
		break;
	}
}

/* What the facts say is used as after any observation; only the decision is a hold. */
static void on_start_refused(struct lifecycle *life, const struct event *event)
{
	struct decision held = {.settled = NO_CANDIDATE};
	struct facts nothing = {0};
	struct event observed = {.type = EVENT_OBSERVED,
				 .observed = {.facts = &nothing, .decision = &held}};

	if (event->refused.decision) {
		held = *event->refused.decision;
		observed.observed.facts = event->refused.facts;
	}
	held.kind = DECISION_HOLD;
	held.cause = event->refused.cause;
	held.rule = 0;
	held.token = held.permit = NULL;
	snprintf(held.reason, sizeof(held.reason), "%s", event->refused.why);
	on_observed(life, &observed);
}

void on_refused(struct lifecycle *life, const struct event *event)
{
	if (event->refused.effect == EFFECT_LAUNCH)
		launch_refused(life, event);
	else
		on_start_refused(life, event);
}
