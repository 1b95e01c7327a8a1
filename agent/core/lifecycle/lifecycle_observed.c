/*
 * The facts are gathered: what they show is recorded, and the decision on them is carried out: a start, a hold, or
 * nothing.
 */
#include "core/lifecycle/lifecycle_observed.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/journal/journal_copy.h"
#include "core/lifecycle/lifecycle_effects.h"
#include "core/lifecycle/lifecycle_ended.h"
#include "core/lifecycle/lifecycle_facts.h"
#include "core/lifecycle/lifecycle_fence.h"
#include "core/lifecycle/lifecycle_handover_facts.h"
#include "core/lifecycle/lifecycle_ids.h"
#include "core/lifecycle/lifecycle_launch.h"
#include "core/lifecycle/lifecycle_look.h"
#include "core/lifecycle/lifecycle_notice.h"
#include "core/lifecycle/lifecycle_pursue.h"
#include "core/lifecycle/lifecycle_settle.h"
#include "core/lifecycle/lifecycle_started.h"
#include "core/lifecycle/lifecycle_state.h"
#include "core/lifecycle/lifecycle_transition_wishes.h"
#include "core/resolve/lineage.h"

/* The length of the wait counts from the first acknowledged write; until then it is unknown. */
#define ASK_AGAIN_MS 1000

/* ---- what the facts show ---- */

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
			 (c->integrity != INTEGRITY_UNREADABLE || facts_was_seen(c)))
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

/* ---- the journal is lost, and its copy in storage takes its place (core/resolve/resolve_copy.c) ---- */

/* No Flink of this container is running, or nothing would have been observed. */
static void end_last_launch(struct lifecycle *life)
{
	struct launch *launch = journal_launch(&life->journal);

	if (!launch || launch->ended_unix_ms)
		return;
	launch->ended_unix_ms = life->now_unix_ms;
	launch->wait_status = -1;
}

/* From then on it is a journal from a backup: all that is observed next is judged by the rules for those. */
static void copy_adopt(struct lifecycle *life, const struct decision *decision, struct facts *facts)
{
	const struct launch *launch;

	/* the number of the write that is under way must not change */
	if (life->requested != life->acknowledged) {
		look_again(life);
		return;
	}
	journal_copy_take(&life->journal, facts->copy);
	life->requested = life->acknowledged = life->journal.sequence;
	/* with a lease, the drey of that launch reads another journal, and ended its Flink before the lease was free */
	/* MUT: who has taken the lease waits for a Flink that the lease has ended */
	if (!life->config->object_lease_ms)
		takeover_begin(life);
	end_last_launch(life);
	launch = journal_launch(&life->journal);
	life->own->ended = end_on_record(&life->journal);
	life->noted_checkpoint_id = launch ? launch->last_checkpoint_id : 0;
	life->launch_void = false;
	life->want_write = true;
	note(life, NOTE_WARNING, "%s", decision->reason);
	journal_add_log(&life->journal, life->now_unix_ms, decision->reason);
	operation_flink_gone(life);
	resolve_start(life, "the journal was taken from its copy in storage");
}

/* ---- what is done ---- */

static bool takeover_waits(struct lifecycle *life)
{
	const struct launch *launch = journal_launch(&life->journal);

	/* MUT: a start is decided on facts gathered during a takeover */
	if (!life->own->looks_early)
		return false;
	if (takeover_is_over(life)) {
		/* it may have completed newer checkpoints while the facts were gathered, and
		 * removed older ones */
		resolve_start(life, "the Flink elsewhere has ended by now");
		return true;
	}
	life->retry_ms = life->takeover_pending ? life->now_ms + ASK_AGAIN_MS : life->takeover_ms;
	enter(life, PHASE_RESOLVING,
	      "launch %" PRId64
	      " of %s may still be running, since its end was not observed: waiting %lld s until it notices that the journal was taken over",
	      launch->number, launch->writer, (long long)(handover_takeover_ms(life) / 1000));
	return true;
}

void on_observed(struct lifecycle *life, const struct event *event)
{
	const struct decision *decision = event->observed.decision;
	bool again = life->observe_again;

	life->observing = life->observe_again = false;
	if (life->terminating || life->fenced || life->handover.giving ||
	    (life->phase != PHASE_RESOLVING && life->phase != PHASE_HOLDING &&
	     life->operation.step != STEP_SETTLING))
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
