#include "core/report/condition_handover.h"

static bool stands(const struct lifecycle *life)
{
	return life->phase == PHASE_STANDBY || life->phase == PHASE_PREPARED ||
	       life->phase == PHASE_HANDED_OVER;
}

void condition_handover(const struct lifecycle *life, struct condition *ret_condition)
{
	const struct handover *handover = &life->journal.handover;
	bool under_way = handover_is_under_way(handover);
	/* what a person has to look at stays, also when the version was offered the job again since */
	bool back = handover->returned && handover->state != HANDOVER_RETURNED;
	const char *word = lifecycle_is_prepared(life) ? HANDOVER_WORD_PREPARED
						       : handover_word(handover->state);

	if (stands(life)) {
		condition_say(ret_condition, TRUTH_UNKNOWN, "StandingBy",
			      "the owner of the application knows it");
		return;
	}
	if (life->config->handover.mode == HANDOVER_OFF || !handover->id) {
		condition_say(ret_condition, TRUTH_FALSE, "NoHandover", "there was no hand-over");
		return;
	}
	if (back && handover->state == HANDOVER_NONE)
		word = handover_word(HANDOVER_RETURNED);
	condition_say(ret_condition, under_way ? TRUTH_TRUE : TRUTH_FALSE, word,
		      "hand-over %s to %s is %s: %s%s%s", handover->id,
		      handover->to.pod ? handover->to.pod : "another pod",
		      handover_state_name(handover->state), handover->why ? handover->why : "",
		      back ? "; this version has returned the job: " : "",
		      back ? handover->returned : "");
}
