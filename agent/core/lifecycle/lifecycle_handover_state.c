/* The state of a hand-over on record, who else is there, and the write that gives the journal away. */
#include "core/lifecycle/lifecycle_handover_state.h"

#include <stdarg.h>
#include <stdlib.h>

#include "base/mem.h"
#include "core/lifecycle/lifecycle_effects.h"
#include "core/lifecycle/lifecycle_handover_facts.h"
#include "core/lifecycle/lifecycle_notice.h"
#include "core/lifecycle/lifecycle_transition_facts.h"
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

/* ---- who else is there ---- */

static void see(struct lifecycle *life, struct candidate_seen *seen, const struct event *event)
{
	bool same = seen->present && event->candidate.present &&
		    xstris(seen->party.uid, event->candidate.party.uid);

	seen->lock_is_free = event->candidate.lock_is_free;
	/* a pod that cannot be heard is silent, not gone */
	/* MUT: a record that cannot be read is one that is not there */
	if (event->candidate.unreadable)
		return;
	if (event->candidate.present && (!same || seen->beat != event->candidate.beat)) {
		seen->seen_ms = life->now_ms;
		seen->beats = same;
	}
	/* it answers by writing; the question may come from the last agent of that pod */
	if (event->candidate.present && event->candidate.ask &&
	    (!same || seen->ask != event->candidate.ask))
		life->want_write = true;
	seen->known = true;
	seen->present = event->candidate.present;
	seen->state = event->candidate.state;
	seen->wanted = event->candidate.wanted;
	seen->beat = event->candidate.beat;
	seen->ask = event->candidate.ask;
	seen->answer = event->candidate.answer;
	xstrset(&seen->why, event->candidate.why);
	party_set(&seen->party, &event->candidate.party);
	candidate_shadow_set(&seen->shadow, &event->candidate.shadow);
}

void on_candidate(struct lifecycle *life, const struct event *event)
{
	if (!handover_is_on(life) || life->handover.giving || life->fenced)
		return;
	see(life, &life->handover.seen[event->candidate.place], event);
}

/* ---- giving the journal away ---- */

/* The write that follows gives it; nothing is decided after this. */
static void give_to(struct lifecycle *life, const struct party *to)
{
	party_set(&life->journal.owner, to);
	life->handover.giving = true;
	life->retry_ms = life->savepoint_ms = life->checkpoint.due_ms = life->stop_retry_ms = 0;
	if (life->launch_step == LAUNCH_NONE && !life->terminating)
		handover_rests(life);
}

void handover_give(struct lifecycle *life)
{
	give_to(life, &life->journal.handover.to);
}

void handover_rests(struct lifecycle *life)
{
	const struct handover *handover = &life->journal.handover;

	enter_because(
		life, PHASE_HOLDING,
		handover->state == HANDOVER_RETURNED ? CAUSE_HANDOVER_RETURNED : CAUSE_STANDING_BY,
		"%s to %s: %s", handover->state == HANDOVER_RETURNED ? "returned" : "handed over",
		life->journal.owner.pod ? life->journal.owner.pod : "another pod",
		handover->why ? handover->why : "");
}

void handover_grant(struct lifecycle *life, const char *why)
{
	struct handover *handover = &life->journal.handover;
	const struct operation_result *last = &life->journal.last_operation;
	bool stopped = last->ok && last->location && handover->state == HANDOVER_STOPPING &&
		       last->ended_unix_ms >= handover->started_unix_ms;

	xstrset(&handover->savepoint, stopped ? last->location : NULL);
	handover_set_state(life, HANDOVER_GRANTED, "%s", why);
	give_to(life, &handover->to);
}

/* Only with its Flink proven dead: the other one starts the job. */
static void give_back(struct lifecycle *life, const char *why)
{
	struct handover *handover = &life->journal.handover;
	enum outcome_kind outcome = life->journal.outcome.kind;

	handover_set_state(life, HANDOVER_RETURNED, "%s", why); /* `why` may be of the outcome */
	/* what this version could not do is no outcome for the other one; an end of the job is */
	/* MUT: a job that has finished is returned, and runs again */
	if (outcome == OUTCOME_FAILED || outcome == OUTCOME_RESTORE_MISMATCH)
		outcome_release(&life->journal.outcome);
	life->journal.failure_count = 0;
	journal_forgive_generation(&life->journal, life->config->generation);
	give_to(life, &handover->from);
}

bool handover_returns(struct lifecycle *life, const char *why)
{
	/* what waits in main() may have been let go although that has failed */
	if (*life->handover.held_id)
		return false;
	/* MUT: a launch that fails after a hand-over is not returned */
	if (!handover_may_give_back(life))
		return false;
	life->journal.handover.tries++;
	give_back(life, why);
	return true;
}

void handover_leaves(struct lifecycle *life)
{
	const struct handover *handover = &life->journal.handover;

	if (!handover_is_on(life) || life->handover.giving || life->fenced ||
	    transition_stays(life))
		return;
	/* another version comes before this one has run the job */
	if (handover->state == HANDOVER_TAKEN && life->upgrade == UPGRADE_YES &&
	    !*life->handover.held_id && handover_may_give_back(life)) {
		give_back(life, "the pod ends before the job runs there");
		return;
	}
	if (handover->state == HANDOVER_STOPPING && handover_candidate_lives(life)) {
		handover_grant(life, "the pod ends");
		return;
	}
	if (handover->state == HANDOVER_OFFERED || handover->state == HANDOVER_STOPPING)
		handover_set_state(life, HANDOVER_NONE, "the owner's pod ends");
	/* the next pod need not wait for an answer */
	if (handover->state != HANDOVER_TAKEN) {
		xstrset(&life->journal.owner.uid, NULL);
		xstrset(&life->journal.owner.pod, NULL);
		life->want_write = true;
	}
}
