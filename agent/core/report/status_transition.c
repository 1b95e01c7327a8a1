#include "core/report/status_transition.h"

#include "base/mem.h"
#include "core/lifecycle/lifecycle.h"

static const char *waits_in_shadow(const struct transition *transition, bool manual)
{
	if (manual && !transition->promoted)
		return "a person: `drey promote`";
	return "the next version catches up, and this one commits what it had seen at the savepoint";
}

static const char *waits_in_abort(const struct transition *transition)
{
	if (!transition->opened)
		return "the gates of this version let everything pass again";
	if (transition_owes_replay(transition))
		return "the job of the next version ends, and this one starts again from before the cut";
	return "the job of the next version ends";
}

const char *status_transition_waits(const struct handover *handover, bool manual)
{
	const struct transition *transition = &handover->transition;

	switch (transition_of(handover)) {
	case TRANSITION_OFFERED:
		return "the next version prepares";
	case TRANSITION_SEEDING:
		return "the savepoint for the next version";
	case TRANSITION_SEEDED:
		return "the job of the next version starts from the savepoint";
	case TRANSITION_SHADOW:
		return waits_in_shadow(transition, manual);
	case TRANSITION_ARMING:
		return "all gates of the next version acknowledge the cut";
	case TRANSITION_ARMED:
		return "all gates of this version acknowledge the cut";
	case TRANSITION_CROSSING:
		return "all gates of this version are behind the cut, for blueGreen.settle";
	case TRANSITION_CROSSED:
	case TRANSITION_ENDING:
		return "this version stops with a savepoint behind the cut";
	case TRANSITION_GRANTED:
		return "the next version takes the job";
	case TRANSITION_TAKEN:
		return "a checkpoint that is wholly behind the cut";
	case TRANSITION_ABORTING:
		return waits_in_abort(transition);
	default:
		return NULL;
	}
}

/* Gates that go by keys choose the cut. NULL: as any other. */
static const char *waits_for_keys(const struct lifecycle *life, const struct handover *handover,
				  bool prepared)
{
	const struct gate_keys_kind *keys =
		gate_kind_of(life->config->handover.blue_green.policy.gate)->keys;
	enum transition_state state = transition_of(handover);

	return keys ? keys->waits(state, state == TRANSITION_OFFERED && prepared &&
						 !gate_keys_are_written(&life->gate.keys, handover))
		    : NULL;
}

/* The owner knows whether the candidate's job runs: its own one is stopped only for one that does. */
static const char *owner_waits(const struct handover *handover, const struct lifecycle *life)
{
	const struct candidate_shadow *shadow = &life->handover.seen[PLACE_CANDIDATE].shadow;
	bool mine = xstris(shadow->transition, handover->id);
	enum transition_state state = transition_of(handover);
	const char *keys = waits_for_keys(life, handover, mine && shadow->state == SHADOW_PREPARED);

	if (keys)
		return keys;
	if (state == TRANSITION_CROSSED && !(candidate_shadow_runs(shadow) && mine))
		return "the job of the next version runs";
	return status_transition_waits(handover, life->config->handover.blue_green.policy.manual);
}

static void add_known(struct json *to, const char *name, int64_t value, bool known)
{
	if (known)
		json_add_i64(to, name, value);
	else
		json_add_null(to, name);
}

static void add_time(struct json *to, const char *name, int64_t unix_ms)
{
	add_known(to, name, unix_ms, unix_ms > 0);
}

/* The owner's own, and the candidate's as it was told last. */
static void add_watermarks(struct json *to, const struct handover *handover,
			   const struct lifecycle *life)
{
	const struct candidate_shadow *shadow = &life->handover.seen[PLACE_CANDIDATE].shadow;
	int64_t here = 0, there = 0;

	if (xstris(life->gate.transition, handover->id) && life->gate.report.known)
		here = life->gate.report.min_watermark_unix_ms;
	if (xstris(shadow->transition, handover->id) && shadow->gate.known)
		there = shadow->gate.min_watermark_unix_ms;
	json_add_str(to, "candidateState",
		     xstris(shadow->transition, handover->id) ? shadow_state_name(shadow->state)
							      : NULL);
	add_time(to, "watermarkUnixMs", here);
	add_time(to, "candidateWatermarkUnixMs", there);
	add_known(to, "behindMs", here - there, here > 0 && there > 0);
	add_known(to, "idle", life->gate.report.idle, here != 0);
	add_known(to, "withheld", life->gate.report.withheld_above, here != 0);
}

void status_add_transition(struct json *to, const struct handover *handover,
			   const struct lifecycle *life)
{
	const struct transition *transition = &handover->transition;
	enum transition_state state = transition_of(handover);
	struct json *object;

	if (state == TRANSITION_NONE) {
		json_add_null(to, "transition");
		return;
	}
	object = json_add_object(to, "transition");
	json_add_str(object, "state", transition_state_name(state));
	json_add_str(object, "waitsFor",
		     life ? owner_waits(handover, life) : status_transition_waits(handover, false));
	json_add_str(object, "seed", transition->seed.path);
	add_time(object, "cutUnixMs", transition->toggle_unix_ms);
	json_add_i64(object, "armings", transition->armings);
	json_add_bool(object, "promoted", transition->promoted);
	json_add_str(object, "replay", transition->replay.path);
	json_add_i64(object, "above", transition->above);
	json_add_i64(object, "below", transition->below);
	json_add_bool(object, "inexact", transition->inexact);
	if (life)
		add_watermarks(object, handover, life);
}
