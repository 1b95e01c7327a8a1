/* The state of a hand-over on record: how it is changed, told, and limited in time. */
#include "core/lifecycle/lifecycle_handover_state.h"

#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/lifecycle/lifecycle_effects.h"
#include "core/lifecycle/lifecycle_handover_facts.h"
#include "core/lifecycle/lifecycle_notice.h"
#include "core/lifecycle/lifecycle_transition_facts.h"
#include "core/lifecycle/lifecycle_transition_now.h"
#include "core/lifecycle/lifecycle_transition_wishes.h"

/* ---- the state ---- */

/* How long the state may last; 0 = without a limit. */
static int64_t limit_ms(const struct lifecycle *life, enum handover_state state)
{
	const struct handover_config *config = &life->config->handover;

	if (transition_is_on(life))
		return transition_limit_ms(life);
	switch (state) {
	case HANDOVER_OFFERED:
		return config->prepare_ms;
	case HANDOVER_STOPPING:
		return config->stop_ms;
	case HANDOVER_GRANTED:
		return config->take_ms;
	case HANDOVER_TAKEN:
		return config->run_ms;
	default:
		return 0;
	}
}

void handover_arm(struct lifecycle *life)
{
	struct handover *handover = &life->journal.handover;
	int64_t within_ms = limit_ms(life, handover->state);

	life->handover.deadline_ms = within_ms ? life->now_ms + within_ms : 0;
	handover->deadline_unix_ms = within_ms ? life->now_unix_ms + within_ms : 0;
}

/* That a refused one is allowed again ends nothing, and a person knows it. */
static void tell_state(struct lifecycle *life, enum handover_state before)
{
	const struct handover *handover = &life->journal.handover;
	struct notice *notice;

	if (handover->state == HANDOVER_NONE && before == HANDOVER_REFUSED)
		return;
	notice = tell(life, NOTICE_HANDOVER);
	notice->handover = handover->state;
	notice->text = handover_says(life, handover->why);
}

void handover_keep_state(struct lifecycle *life, enum handover_state before)
{
	if (life->journal.handover.state == before)
		return;
	handover_keep(&life->journal.handover, before, life->now_unix_ms);
	tell_state(life, before);
}

void handover_hears_adopted(struct lifecycle *life)
{
	struct handover *handover = &life->journal.handover;

	if (handover->state != HANDOVER_TAKEN || handover->taken_unix_ms)
		return;
	/* MUT: that the job in the shadow has become the application's is not told */
	handover_keep(handover, HANDOVER_GRANTED, handover->state_unix_ms);
	life->want_write = true;
	tell_state(life, HANDOVER_GRANTED);
}

void handover_set_state(struct lifecycle *life, enum handover_state state, const char *fmt, ...)
{
	struct handover *handover = &life->journal.handover;
	enum handover_state before = handover->state;
	va_list ap;

	va_start(ap, fmt);
	free(handover->why);
	handover->why = xvasprintf(fmt, ap);
	va_end(ap);
	handover->state = state;
	handover->state_unix_ms = life->now_unix_ms;
	handover_keep(handover, before, life->now_unix_ms);
	life->want_write = true;
	handover_arm(life);
	note(life,
	     state == HANDOVER_RETURNED || state == HANDOVER_REFUSED ? NOTE_WARNING : NOTE_INFO,
	     "hand-over %s to %s is %s: %s", handover->id,
	     handover->to.pod ? handover->to.pod : "?", handover_state_name(state), handover->why);
	/* MUT: the states of a hand-over are not told */
	tell_state(life, before);
}

/* ---- what changes it ---- */

void handover_runs(struct lifecycle *life)
{
	struct handover *handover = &life->journal.handover;

	if (handover_is_on(life))
		life->handover.ran = true;
	if (!handover_is_on(life) || handover->state != HANDOVER_TAKEN || transition_is_on(life) ||
	    !party_is(&handover->to, handover_me(life)->uid))
		return;
	life->handover.probation_end_ms = life->now_ms + life->config->handover.probation_ms;
	handover_set_state(life, HANDOVER_DONE, "the job runs at %s", handover_me(life)->pod);
}

void handover_forgive(struct lifecycle *life)
{
	struct handover *handover = &life->journal.handover;

	if (!handover_is_on(life) || life->handover.giving)
		return;
	life->want_write |= handover->returned != NULL;
	/* MUT: a person cannot clear the notice that the job was returned */
	xstrset(&handover->returned, NULL);
	handover->returned_unix_ms = 0;
	if (handover->state != HANDOVER_REFUSED)
		return;
	handover->tries = 0;
	handover_set_state(life, HANDOVER_NONE, "a person allows it again");
}

void handover_stops_for_upgrade(struct lifecycle *life, int64_t budget_ms)
{
	const struct candidate_seen *seen = &life->handover.seen[PLACE_CANDIDATE];

	if (!handover_is_on(life) || life->journal.handover.state != HANDOVER_OFFERED ||
	    transition_is_on(life) || !handover_candidate_lives(life) ||
	    seen->state != CANDIDATE_PREPARED || budget_ms <= 0)
		return;
	handover_set_state(life, HANDOVER_STOPPING, "the pod ends, and the candidate is prepared");
}

void handover_stop_failed(struct lifecycle *life, const char *why)
{
	struct handover *handover = &life->journal.handover;

	if (!handover_is_on(life) || handover->state != HANDOVER_STOPPING)
		return;
	if (transition_is_on(life)) {
		transition_stop_failed(life);
		return;
	}
	life->handover.ask_sent_ms = life->handover.asked_ms = 0;
	life->handover.stop_failed = true;
	handover_set_state(life, HANDOVER_OFFERED, "the stop failed, and is tried again: %s", why);
}

/* ---- Flink that is held ---- */

bool handover_frees_flink(struct lifecycle *life)
{
	struct effect *effect;

	if (!*life->handover.held_id)
		return true;
	if (life->handover.held_ends && life->now_ms < life->handover.held_kill_ms)
		return false;
	life->handover.held_ends = true;
	life->handover.held_kill_ms = life->now_ms + life->config->kill_after_ms;
	effect = emit(life, EFFECT_SIGNAL);
	memcpy(effect->id, life->handover.held_id, JOB_ID_BYTES);
	effect->signo = SIGKILL;
	effect->group = true;
	return false;
}
