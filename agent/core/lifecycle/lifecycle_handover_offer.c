/* The owner of the job: it offers it to the candidate, and stops it when that one is prepared. */
#include "core/lifecycle/lifecycle_handover_offer.h"

#include <inttypes.h>

#include "base/mem.h"
#include "core/handover/transition_step.h"
#include "core/lifecycle/lifecycle_blockers.h"
#include "core/lifecycle/lifecycle_effects.h"
#include "core/lifecycle/lifecycle_end.h"
#include "core/lifecycle/lifecycle_handover_facts.h"
#include "core/lifecycle/lifecycle_handover_give.h"
#include "core/lifecycle/lifecycle_handover_state.h"
#include "core/lifecycle/lifecycle_ids.h"
#include "core/lifecycle/lifecycle_notice.h"
#include "core/lifecycle/lifecycle_operation.h"
#include "core/lifecycle/lifecycle_transition_state.h"

/* The candidate has answered within this time that it is still prepared, or it is asked again. */
#define FRESH_MS     1500
#define ASK_AGAIN_MS 2500

/* A job that could not be stopped with a savepoint for this long is failing: the new version may be
 * the cure. */
#define FAILING_MS 30000
#define STEADY_MS  15000 /* one that has run for this long does not fail any more */

/* ---- offered ---- */

/* NULL, or why there are none; the caller frees. */
static char *reserve_ids(struct lifecycle *life, struct handover *handover)
{
	const struct facts nothing = {0};
	/* its HA map is read when the job is taken (core/ha_names.h) */
	char *why = draw_job_id(life, &nothing, NULL, handover->job_id);

	rng_hex_id(&life->rng, handover->launch_id);
	if (life->config->application_ids)
		rng_hex_id(&life->rng, handover->application_id);
	return why;
}

/* NULL, or why it cannot be made; the caller frees. */
static char *offer(struct lifecycle *life, bool again, int64_t tries)
{
	const struct candidate_seen *seen = &life->handover.seen[PLACE_CANDIDATE];
	const struct launch *launch = journal_launch(&life->journal);
	struct handover *handover = &life->journal.handover;
	int64_t asked = handover->asked;
	char random[JOB_ID_BYTES], *why = NULL;

	handover_renew(handover, again);
	rng_hex_id(&life->rng, random);
	handover->id = xasprintf("h%" PRId64 "-%.8s", launch ? launch->number + 1 : 1, random);
	handover->kind = handover_kind_between(handover_me(life)->template, seen->party.template);
	party_set(&handover->from, handover_me(life));
	party_set(&handover->to, &seen->party);
	handover->from.side = life->journal.owner.side;
	handover->to.side = handover->kind == HANDOVER_SAME ? handover->from.side
							    : side_other(handover->from.side);
	if (handover->kind == HANDOVER_OTHER)
		why = reserve_ids(life, handover);
	handover->slots = life->seen.slots_used;
	handover->tries = tries;
	handover->started_unix_ms = life->now_unix_ms;
	/* no answer to an earlier offer is one to this */
	handover->asked = life->handover.asked = asked;
	life->handover.ask_sent_ms = life->handover.asked_ms = 0;
	life->handover.stop_failed = false;
	life->handover.failing_since_ms = 0;
	return why;
}

static bool may_offer(const struct lifecycle *life)
{
	const struct candidate_seen *seen = &life->handover.seen[PLACE_CANDIDATE];

	return handover_is_candidate(seen) && seen->beats && handover_is_fresh(life, seen) &&
	       seen->wanted == WANTED_YES && !xstris(seen->party.uid, handover_me(life)->uid) &&
	       !xstris(seen->party.template, handover_me(life)->template) && !life->terminating &&
	       (life->phase == PHASE_RUNNING ||
		(handover_is_idle(life) && handover_stands_still(life)) ||
		life->launch_step == LAUNCH_LIVE);
}

/* Both versions are to run for a while. A job that does not run, and will not, is handed over as with surge. */
static bool is_to_run_beside(const struct lifecycle *life)
{
	const struct candidate_seen *seen = &life->handover.seen[PLACE_CANDIDATE];

	return life->config->handover.mode == HANDOVER_BLUE_GREEN &&
	       handover_kind_between(handover_me(life)->template, seen->party.template) ==
		       HANDOVER_OTHER &&
	       !(handover_is_idle(life) && handover_stands_still(life));
}

/* What would end such an offer at once waits for its own end. */
static bool may_run_beside(const struct lifecycle *life)
{
	/* MUT: a transition is offered that is over at once, again and again */
	if (life->journal.intent.state != DESIRED_RUNNING || life->journal.intent.do_not_restart)
		return false;
	return life->phase == PHASE_RUNNING;
}

void handover_consider_offer(struct lifecycle *life)
{
	const struct candidate_seen *seen = &life->handover.seen[PLACE_CANDIDATE];
	struct handover *handover = &life->journal.handover;
	bool again = handover->id && handover->state != HANDOVER_DONE &&
		     template_same_content(handover->to.template, seen->party.template);
	int64_t tries = again ? handover->tries : 0;
	bool beside = is_to_run_beside(life);
	cleanup_free char *why = NULL;

	if (beside && !may_run_beside(life))
		return;
	if (!may_offer(life) || (again && handover->state == HANDOVER_REFUSED))
		return;
	/* the job returned: it runs again before it is given away again */
	if (handover->state == HANDOVER_RETURNED && life->phase != PHASE_RUNNING &&
	    !handover_stands_still(life))
		return;
	why = offer(life, again, tries);
	/* MUT: a job is handed over although there is no id for it */
	if (why)
		handover_set_state(life, HANDOVER_REFUSED,
				   "%s; resume, or another version, allows it again", why);
	else if (tries >= life->config->handover.tries)
		handover_set_state(
			life, HANDOVER_REFUSED,
			"%" PRId64
			" hand-overs to this version have failed; resume, or another version, allows it again",
			tries);
	else
		handover_set_state(life, HANDOVER_OFFERED, "%s prepares", seen->party.pod);
	if (beside && handover->state == HANDOVER_OFFERED)
		transition_offer(life);
}

/* ---- the stop ---- */

/* Has the candidate said, just now, that it is still prepared? */
static bool is_confirmed(const struct lifecycle *life)
{
	const struct candidate_seen *seen = &life->handover.seen[PLACE_CANDIDATE];
	const struct handover *handover = &life->journal.handover;

	return life->handover.asked_ms && life->handover.asked == handover->asked &&
	       seen->answer == handover->asked && seen->seen_ms >= life->handover.asked_ms &&
	       seen->seen_ms <= life->handover.asked_ms + FRESH_MS &&
	       life->now_ms <= life->handover.asked_ms + FRESH_MS;
}

static void ask_candidate(struct lifecycle *life)
{
	if (life->handover.ask_sent_ms && life->now_ms < life->handover.ask_sent_ms + ASK_AGAIN_MS)
		return;
	life->journal.handover.asked++;
	life->handover.ask_sent_ms = life->now_ms;
	life->handover.ask_again_ms = life->now_ms + ASK_AGAIN_MS;
	life->want_write = true;
}

/* A job that fails again and again runs for a moment now and then: that is no cure. */
static bool is_failing(struct lifecycle *life)
{
	if (blockers(life, BEGIN_HANDOVER_SAVED)) {
		life->handover.failed_ms = life->now_ms;
		if (!life->handover.failing_since_ms)
			life->handover.failing_since_ms = life->now_ms;
	} else if (life->now_ms - life->handover.failed_ms >= STEADY_MS) {
		life->handover.failing_since_ms = 0;
	}
	return life->handover.failing_since_ms != 0;
}

/* The one before has failed, and the job is well: it was the savepoint. NULL, or that it is not tried again. */
static char *count_failed_stop(struct lifecycle *life)
{
	int64_t *tries = &life->journal.handover.tries;

	if (!life->handover.stop_failed)
		return NULL;
	life->handover.stop_failed = false;
	if (++*tries < life->config->handover.tries)
		return NULL;
	return xasprintf("the stop with savepoint failed %" PRId64 " times, and the job runs on",
			 *tries);
}

/* Once for each offer: that it is asked again, or has to prepare again, is no news. */
static void see_prepared(struct lifecycle *life)
{
	struct handover *handover = &life->journal.handover;

	if (handover->prepared_unix_ms || !lifecycle_is_prepared(life))
		return;
	handover->prepared_unix_ms = life->now_unix_ms;
	life->want_write = true;
	note(life, NOTE_INFO, "hand-over %s: %s is prepared", handover->id, handover->to.pod);
	/* MUT: that the candidate is prepared is not told */
	tell(life, NOTICE_PREPARED)->text =
		xasprintf("hand-over %s: %s is prepared", handover->id, handover->to.pod);
}

/* ---- what follows ---- */

/* What is said is the caller's to free. */
static char *know_offered(struct lifecycle *life, bool late, struct transition_facts *ret_facts)
{
	const struct candidate_seen *seen = &life->handover.seen[PLACE_CANDIDATE];
	const struct handover *handover = &life->journal.handover;
	bool prepared = seen->state == CANDIDATE_PREPARED;
	struct transition_facts facts = {
		.late = late,
		.prepared = prepared,
		.failed = seen->present && party_is(&handover->to, seen->party.uid) &&
			  seen->state == CANDIDATE_FAILED,
		.says = handover_candidate_says(life),
		.gone = !handover_candidate_lives(life),
		.replaced = seen->wanted == WANTED_NO,
		.idle = seen->beats && handover_is_idle(life) &&
			(prepared || handover_stands_still(life)),
		.confirmed = is_confirmed(life),
		.unsaved = handover->kind == HANDOVER_SAME ||
			   life->config->upgrade == UPGRADE_BY_LAST_STATE,
	};
	char *often = NULL;

	/* do-not-restart never stops a job, and forbids what follows a stop */
	facts.may_stop = prepared && !life->journal.intent.do_not_restart && !facts.gone &&
			 !facts.replaced && !late && !blockers(life, BEGIN_HANDOVER);
	facts.fails = facts.may_stop && is_failing(life);
	facts.fails_long = life->now_ms - life->handover.failing_since_ms >= FAILING_MS;
	if (facts.may_stop && !facts.fails)
		often = count_failed_stop(life);
	facts.stops_fail = often != NULL;
	*ret_facts = facts;
	return often;
}

static void end_attempt(struct lifecycle *life, enum transition_state next, const char *why)
{
	if (next == TRANSITION_REFUSED ||
	    life->journal.handover.tries >= life->config->handover.tries)
		handover_set_state(life, HANDOVER_REFUSED,
				   "%s; resume, or another version, allows it again", why);
	else
		handover_set_state(life, HANDOVER_NONE, "%s", why);
}

static void stop_job(struct lifecycle *life, enum transition_act act, const char *why)
{
	bool stateless = life->config->upgrade == UPGRADE_STATELESS;

	handover_set_state(life, HANDOVER_STOPPING, "%s", why);
	if (act == ACT_END)
		end_flink(life, true, false, "the job is handed over to %s: %s",
			  life->journal.handover.to.pod, why);
	else
		operation_start(life, stateless ? OPERATION_CANCEL : OPERATION_STOP, REASON_UPGRADE,
				NULL);
}

static void follow(struct lifecycle *life, const struct transition_move *move,
		   const struct transition_facts *facts, const char *why)
{
	life->journal.handover.tries += move->counts;
	switch (move->act) {
	case ACT_RENEW:
		handover_arm(life);
		break;
	case ACT_LATER:
		life->handover.ask_again_ms = life->handover.failing_since_ms + FAILING_MS;
		break;
	case ACT_ASK:
		ask_candidate(life);
		break;
	case ACT_GRANT:
		handover_grant(life, why);
		break;
	case ACT_END:
		if (facts->fails)
			note(life, NOTE_WARNING,
			     "the job does not run, so it is handed over without a savepoint");
		stop_job(life, move->act, why);
		break;
	case ACT_STOP:
		stop_job(life, move->act, why);
		break;
	default:
		if (move->state != TRANSITION_OFFERED)
			end_attempt(life, move->state, why);
		break;
	}
}

void handover_pursue_offered(struct lifecycle *life, bool late)
{
	static const struct transition_policy no_policy;
	cleanup_free char *often = NULL, *why = NULL;
	struct transition_facts facts;
	struct transition_move move;

	if (!late && handover_is_unheard(life, &life->handover.seen[PLACE_CANDIDATE]))
		return;
	if (!late)
		see_prepared(life);
	often = know_offered(life, late, &facts);
	if (!transition_owner(&life->journal.handover, &facts, &no_policy, &move))
		return;
	why = move.why ? handover_quotes(move.why, move.quotes ? facts.says : NULL)
		       : xstrdup(often);
	follow(life, &move, &facts, why);
}
