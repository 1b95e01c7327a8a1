/* The gates of the job here (core/handover/gate.h): what they are told, what they report, and what their keys say. */
#include "core/lifecycle/lifecycle_transition_gates.h"

#include <string.h>

#include "base/mem.h"
#include "core/lifecycle/lifecycle_effects.h"
#include "core/lifecycle/lifecycle_transition_facts.h"
#include "core/lifecycle/lifecycle_transition_now.h"
#include "core/lifecycle/lifecycle_transition_wishes.h"

void on_gate(struct lifecycle *life, const struct event *event)
{
	const struct launch *launch = journal_launch(&life->journal);

	if (!launch || !event->gate.launch_id || strcmp(launch->job_id, event->gate.launch_id) != 0)
		return;
	xstrset(&life->gate.transition, event->gate.transition);
	memcpy(life->gate.launch_id, launch->job_id, JOB_ID_BYTES);
	life->gate.ended = event->gate.ended;
	life->gate.report = event->gate.report;
}

/* ---- orders ---- */

static bool has_gates(const struct lifecycle *life)
{
	const struct handover_config *config = &life->config->handover;

	return config->mode == HANDOVER_BLUE_GREEN &&
	       gate_kind_of(config->blue_green.policy.gate)->ordered && !config->shadow;
}

static struct gate_order order_of(const struct lifecycle *life)
{
	const struct handover *handover = &life->journal.handover;
	struct transition_policy policy = transition_policy_of(life);

	/* MUT: an order of a transition that is over has the number of its last one */
	if (!transition_is_on(life))
		return transition_rest_order(handover);
	if (transition_state_of(life) == TRANSITION_TAKEN)
		return transition_candidate_order(handover, &policy);
	return transition_owner_order(handover, &policy);
}

/* Flink restarts a task that it cannot reach, even one that just ends. */
static bool is_stopping(const struct lifecycle *life)
{
	return life->operation.step != STEP_NONE && life->journal.operation.kind == OPERATION_STOP;
}

/* What a job that runs, or is about to, goes by is durable: another agent continues from there. */
static bool may_tell(const struct lifecycle *life)
{
	/* MUT: an order is written for a job that is being stopped */
	if (is_stopping(life))
		return false;
	/* MUT: an order is given before it is on record */
	if (!lifecycle_is_durable(life))
		return false;
	return !life->fenced && !life->foreign && !life->handover.giving && !life->terminating &&
	       (life->launch_step == LAUNCH_STARTING || life->launch_step == LAUNCH_LIVE);
}

static bool is_told(const struct lifecycle *life, const char *job_id, const char *transition,
		    const struct gate_order *order)
{
	return !strcmp(life->gate.told_id, job_id) && xstrsame(life->gate.told, transition) &&
	       gate_same_order(&life->gate.order, order);
}

void transition_tell_gates(struct lifecycle *life)
{
	const char *transition = transition_is_on(life) ? life->journal.handover.id : NULL;
	const struct launch *launch = journal_launch(&life->journal);
	struct gate_order order = order_of(life);
	struct effect *effect;

	if (!has_gates(life) || !may_tell(life) || !launch ||
	    is_told(life, launch->job_id, transition, &order))
		return;
	xstrset(&life->gate.told, transition);
	memcpy(life->gate.told_id, launch->job_id, JOB_ID_BYTES);
	life->gate.order = order;
	effect = emit(life, EFFECT_GATE);
	memcpy(effect->id, launch->job_id, JOB_ID_BYTES);
	effect->text = xstrdup(transition);
	effect->order = order;
}

/* ---- the keys ---- */

void on_gate_keys(struct lifecycle *life, const struct event *event)
{
	const struct candidate_seen *candidate = &life->handover.seen[PLACE_CANDIDATE];
	const struct gate_keys_kind *kind =
		gate_kind_of(life->config->handover.blue_green.policy.gate)->keys;
	const struct gate_keys_around around = {
		.now_ms = life->now_ms,
		.beat = candidate->beat,
		.speaks = candidate->beats,
		.seen = transition_was_seen(life, event->gate_keys.toggle_unix_ms),
		.watermarks = transition_shows_watermarks(life)};

	if (kind)
		kind->hear(&life->gate.keys, &event->gate_keys, &around);
}
