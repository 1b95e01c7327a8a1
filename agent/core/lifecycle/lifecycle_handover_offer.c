/* The owner of the job: it offers it to the candidate, and stops it when that one is prepared. */
#include "core/lifecycle/lifecycle_handover_offer.h"

#include <inttypes.h>

#include "base/mem.h"
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

/* This attempt is over, and the job was not touched. */
static void give_up(struct lifecycle *life, bool counts, const char *why)
{
	struct handover *handover = &life->journal.handover;

	handover->tries += counts;
	if (handover->tries >= life->config->handover.tries)
		handover_set_state(life, HANDOVER_REFUSED,
				   "%s; resume, or another version, allows it again", why);
	else
		handover_set_state(life, HANDOVER_NONE, "%s", why);
}

/* ---- the stop ---- */

static void end_without_savepoint(struct lifecycle *life, const char *why)
{
	handover_set_state(life, HANDOVER_STOPPING, "%s", why);
	end_flink(life, true, false, "the job is handed over to %s: %s",
		  life->journal.handover.to.pod, why);
}

static void stop_job(struct lifecycle *life)
{
	const struct handover *handover = &life->journal.handover;
	enum upgrade_mode mode = life->config->upgrade;

	if (handover->kind == HANDOVER_SAME || mode == UPGRADE_BY_LAST_STATE) {
		end_without_savepoint(life, "it continues from the newest state");
		return;
	}
	handover_set_state(life, HANDOVER_STOPPING, "the job is being stopped");
	operation_start(life, mode == UPGRADE_STATELESS ? OPERATION_CANCEL : OPERATION_STOP,
			REASON_UPGRADE, NULL);
}

/* Has the candidate said, just now, that it is still prepared? Else it is asked. */
static bool is_confirmed(struct lifecycle *life)
{
	const struct candidate_seen *seen = &life->handover.seen[PLACE_CANDIDATE];
	struct handover *handover = &life->journal.handover;

	if (life->handover.asked_ms && life->handover.asked == handover->asked &&
	    seen->answer == handover->asked && seen->seen_ms >= life->handover.asked_ms &&
	    seen->seen_ms <= life->handover.asked_ms + FRESH_MS &&
	    life->now_ms <= life->handover.asked_ms + FRESH_MS)
		return true;
	if (life->handover.ask_sent_ms && life->now_ms < life->handover.ask_sent_ms + ASK_AGAIN_MS)
		return false;
	handover->asked++;
	life->handover.ask_sent_ms = life->now_ms;
	life->handover.ask_again_ms = life->now_ms + ASK_AGAIN_MS;
	life->want_write = true;
	return false;
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

/* The one before has failed, and the job is well: it was the savepoint. False: it is not tried again. */
static bool may_try_again(struct lifecycle *life)
{
	struct handover *handover = &life->journal.handover;

	if (!life->handover.stop_failed)
		return true;
	life->handover.stop_failed = false;
	if (++handover->tries < life->config->handover.tries)
		return true;
	handover_set_state(
		life, HANDOVER_REFUSED,
		"the stop with savepoint failed %" PRId64
		" times, and the job runs on; resume, or another version, allows it again",
		handover->tries);
	return false;
}

static void consider_stop(struct lifecycle *life)
{
	int64_t failing_ms;

	if (blockers(life, BEGIN_HANDOVER))
		return;
	if (!is_failing(life)) {
		if (may_try_again(life) && is_confirmed(life))
			stop_job(life);
		return;
	}
	failing_ms = life->now_ms - life->handover.failing_since_ms;
	if (failing_ms < FAILING_MS) {
		life->handover.ask_again_ms = life->handover.failing_since_ms + FAILING_MS;
		return;
	}
	if (!is_confirmed(life))
		return;
	note(life, NOTE_WARNING, "the job does not run, so it is handed over without a savepoint");
	end_without_savepoint(life, "the job does not run: from the newest checkpoint");
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

static void cannot_prepare(struct lifecycle *life)
{
	cleanup_free char *why = handover_quotes("the new version cannot be prepared",
						 handover_candidate_says(life));

	give_up(life, true, why);
}

void handover_pursue_offered(struct lifecycle *life)
{
	const struct candidate_seen *seen = &life->handover.seen[PLACE_CANDIDATE];
	bool prepared = seen->state == CANDIDATE_PREPARED;

	if (handover_is_unheard(life, seen))
		return;
	see_prepared(life);
	if (seen->present && party_is(&life->journal.handover.to, seen->party.uid) &&
	    seen->state == CANDIDATE_FAILED)
		cannot_prepare(life);
	else if (!handover_candidate_lives(life) || seen->wanted == WANTED_NO)
		give_up(life, false, "the candidate is gone, or not wanted any more");
	else if (seen->beats && handover_is_idle(life) && (prepared || handover_stands_still(life)))
		handover_grant(life, "nothing runs here");
	/* do-not-restart never stops a job, and forbids what follows a stop */
	else if (prepared && !life->journal.intent.do_not_restart)
		consider_stop(life);
}

void handover_pursue_stopping(struct lifecycle *life)
{
	/* the agent that wanted the stop has died before it could begin */
	if (life->launch_step == LAUNCH_LIVE && life->operation.step == STEP_NONE &&
	    !life->end_wanted)
		handover_set_state(life, HANDOVER_OFFERED, "the stop had not begun");
	if (life->launch_step == LAUNCH_NONE)
		handover_grant_or_keep(life);
}
