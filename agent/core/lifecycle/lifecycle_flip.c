/* The gates of FLIP-504 (core/handover/flip.h): what their ConfigMap is to say, and what it has said. */
#include "core/lifecycle/lifecycle_flip.h"

#include "base/mem.h"
#include "core/lifecycle/lifecycle_transition_facts.h"
#include "core/lifecycle/lifecycle_transition_wishes.h"

static bool has_flip(const struct lifecycle *life)
{
	const struct handover_config *config = &life->config->handover;

	return config->mode == HANDOVER_BLUE_GREEN &&
	       config->blue_green.policy.gate == TRANSITION_GATE_FLIP;
}

enum flip_turn lifecycle_wants_flip(const struct lifecycle *life, struct flip_wanted *ret_wanted)
{
	const struct handover *handover = &life->journal.handover;

	if (!has_flip(life) || life->config->handover.shadow)
		return FLIP_OTHERS;
	/* MUT: the owner of before writes the keys, too */
	if (life->fenced || life->handover.giving)
		return FLIP_OTHERS;
	/* MUT: the keys say what is not on record */
	if (!lifecycle_is_durable(life) || life->journal_broken)
		return FLIP_LATER;
	*ret_wanted = (struct flip_wanted){
		.keys = flip_keys(handover, journal_output_side(&life->journal, NULL),
				  transition_candidate_has_ended(life),
				  life->config->handover.blue_green.policy.lead_ms),
		.transition = transition_is_on(life) ? handover->id : NULL,
		.state = transition_state_of(life),
		.cut_recorded = transition_is_on(life) && handover->transition.toggle_unix_ms};
	return FLIP_MINE;
}

const char *lifecycle_looks_at_flip(const struct lifecycle *life)
{
	const struct launch *launch = journal_launch_const(&life->journal);
	bool shadow = life->config->handover.shadow;

	if (!has_flip(life) || !launch || life->launch_step != LAUNCH_LIVE || life->fenced)
		return NULL;
	if (life->handover.giving)
		return NULL;
	return shadow || transition_is_on(life) ? launch->job_id : NULL;
}

/* A job that has started lately shows no watermark yet, and its records may be at or above the cut all the same. So may
 * those of a candidate whose agent is away: what it has said before counts only against the cut. */
static void judge_cut(struct lifecycle *life, int64_t toggle_unix_ms)
{
	const struct candidate_seen *candidate = &life->handover.seen[PLACE_CANDIDATE];
	struct flip_known *flip = &life->gate.flip;
	bool spoken = candidate->beats && candidate->beat != flip->beat;

	flip->past = toggle_unix_ms && transition_was_seen(life, toggle_unix_ms);
	/* MUT: a cut is judged by what the candidate said before it */
	if (!flip->past && !spoken)
		return;
	/* MUT: a cut is judged while a job shows no watermark */
	if (flip->past || transition_shows_watermarks(life))
		flip->judged = true;
}

void on_flip(struct lifecycle *life, const struct event *event)
{
	struct flip_known *flip = &life->gate.flip;
	bool anew = flip->toggle_unix_ms != event->flip.toggle_unix_ms ||
		    !xstrsame(flip->transition, event->flip.transition);

	if (anew) {
		flip->since_ms = life->now_ms;
		flip->beat = life->handover.seen[PLACE_CANDIDATE].beat;
		flip->judged = flip->past = false;
	}
	if (anew || flip->state != event->flip.state)
		flip->written_ms = life->now_ms;
	flip->same_ms = life->now_ms;
	if (!flip->judged && event->flip.gate.subtasks)
		judge_cut(life, event->flip.toggle_unix_ms);
	xstrset(&flip->transition, event->flip.transition);
	flip->state = event->flip.state;
	flip->toggle_unix_ms = event->flip.toggle_unix_ms;
	flip->gate = event->flip.gate;
}
