/*
 * The owner in a transition (transition.h): what follows from what is known, and what is done.
 *
 * The rules are those of transition_owner(). A move is applied and written; the next one is asked for when that write
 * was acknowledged, so that what is done rests on what is on record. What a state asks for is done
 * again until it is true: an agent that comes back continues.
 */
#include "core/lifecycle/lifecycle_transition.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/job_id.h"
#include "core/lifecycle/lifecycle_effects.h"
#include "core/lifecycle/lifecycle_end.h"
#include "core/lifecycle/lifecycle_handover_facts.h"
#include "core/lifecycle/lifecycle_handover_give.h"
#include "core/lifecycle/lifecycle_handover_offer.h"
#include "core/lifecycle/lifecycle_handover_state.h"
#include "core/lifecycle/lifecycle_launch.h"
#include "core/lifecycle/lifecycle_look.h"
#include "core/lifecycle/lifecycle_notice.h"
#include "core/lifecycle/lifecycle_operation.h"
#include "core/lifecycle/lifecycle_transition_facts.h"
#include "core/lifecycle/lifecycle_transition_now.h"
#include "core/lifecycle/lifecycle_transition_state.h"

/* ---- what is done ---- */

static void begin_work(struct lifecycle *life, enum operation_kind kind)
{
	operation_start(life, kind, REASON_UPGRADE, NULL);
	memcpy(life->journal.handover.transition.work_id, life->journal.operation.trigger_id,
	       JOB_ID_BYTES);
}

/* It is not started again before the transition says so. */
static void end_job(struct lifecycle *life, const char *why)
{
	life->transition.gives_up = true;
	if (life->launch_step == LAUNCH_WRITING)
		launch_withdraw(life);
	else if (life->launch_step != LAUNCH_NONE && !life->end_wanted)
		end_flink(life, false, false, "%s", why);
}

/* As a person would request it, so it is carried out once, and for the very next launch. */
static void request_replay(struct lifecycle *life)
{
	struct restore_request *restore = &life->journal.intent.restore;
	const struct transition *transition = &life->journal.handover.transition;
	cleanup_free char *token = transition_replay_token(transition);

	life->transition.gives_up = false;
	if (xstris(restore->token, token))
		return;
	journal_give_up_restore(&life->journal, life->config->generation);
	restore->kind = RESTORE_PATH;
	restore->allow_non_restored = restore->foreign = restore->read_back = false;
	restore->asked_unix_ms = life->now_unix_ms;
	xstrset(&restore->token, token);
	xstrset(&restore->path, transition->replay.path);
	xstrset(&restore->generation, NULL);
	/* MUT: that records are written again is not said */
	note(life, NOTE_WARNING,
	     "hand-over %s: the job starts again from %s, from before the cut: what it has written since then is written twice",
	     transition->id, transition->replay.path);
	journal_set_error(
		&life->journal,
		"the transition was given up after the cut, and records are written twice",
		life->now_unix_ms);
	life->want_write = true;
	look_now(life); /* not at the start that was held before */
}

static void act(struct lifecycle *life, const struct transition_move *move)
{
	const struct candidate_seen *seen = &life->handover.seen[PLACE_CANDIDATE];
	struct handover *handover = &life->journal.handover;

	switch (move->act) {
	case ACT_SAVE:
		begin_work(life, OPERATION_SAVEPOINT);
		break;
	case ACT_STOP:
		begin_work(life, OPERATION_STOP);
		break;
	case ACT_GO_ON: /* its savepoint is the newest state */
		*handover->transition.work_id = '\0';
		life->transition.made_ms = 0;
		break;
	case ACT_GRANT:
		/* its result is on record; who adopts the journal has another job */
		/* MUT: the stop of a job that has ended stays in flight for the next owner */
		operation_clear(life);
		handover_give(life);
		break;
	case ACT_NAME:
		party_set(&handover->to, &seen->party);
		handover->to.side = side_other(handover->from.side);
		break;
	default:
		break;
	}
}

/* From outside the states up to the stop are one; from the stop it may come back. */
static void tell_step(struct lifecycle *life, enum handover_state before)
{
	const struct handover *handover = &life->journal.handover;
	struct notice *notice;

	if (handover->state != HANDOVER_OFFERED) {
		handover_keep_state(life, before);
		return;
	}
	notice = tell(life, NOTICE_TRANSITION);
	notice->transition = handover->transition.state;
	notice->text = handover_says(life, handover->why);
}

/* Once, however often a cut is chosen. An agent that has restarted does not know. */
static void tell_caught_up(struct lifecycle *life, const struct transition_facts *facts)
{
	bool waits = life->config->handover.blue_green.policy.manual &&
		     !life->journal.handover.transition.promoted;

	if (transition_state_of(life) != TRANSITION_SHADOW || !facts->caught_up ||
	    life->transition.near_told)
		return;
	life->transition.near_told = true;
	/* MUT: that the candidate has caught up is not told */
	tell(life, NOTICE_CAUGHT_UP)->text = handover_says(
		life, waits ? "the next version has caught up, and waits for `drey promote`"
			    : "the next version has caught up");
}

static void log_state(struct lifecycle *life, enum handover_state before)
{
	const struct handover *handover = &life->journal.handover;

	note(life,
	     handover->transition.state == TRANSITION_ABORTING ||
			     handover->state == HANDOVER_REFUSED
		     ? NOTE_WARNING
		     : NOTE_INFO,
	     "hand-over %s to %s is %s: %s", handover->id,
	     handover->to.pod ? handover->to.pod : "?",
	     transition_state_name(handover->transition.state), handover->why);
	tell_step(life, before);
}

static void apply(struct lifecycle *life, const struct transition_move *move,
		  const struct transition_facts *facts)
{
	struct handover *handover = &life->journal.handover;
	enum transition_state state = handover->transition.state;
	enum handover_state before = handover->state;
	struct transition_policy policy = transition_policy_of(life);

	transition_apply(handover, move, facts, &policy);
	life->want_write = true;
	if (handover->transition.state != state) {
		*handover->transition.work_id = '\0';
		handover->state_unix_ms = life->now_unix_ms;
		transition_enters(life);
		log_state(life, before);
		if (handover->transition.state == TRANSITION_SEEDING)
			handover->prepared_unix_ms = life->now_unix_ms;
		/* once it is done, those that were used are on record */
		if (handover->state != HANDOVER_DONE && !transition_is_on(life))
			transition_keep_ids(life);
	}
	act(life, move);
}

/* ---- the owner ---- */

/* Done until it is true, and nothing is written for it. */
static bool is_unwritten(enum transition_act act)
{
	return act == ACT_END || act == ACT_RESTART;
}

static void transition_pursue_owner(struct lifecycle *life)
{
	struct transition_policy policy = transition_policy_of(life);
	struct transition_here here;
	struct transition_facts facts;
	struct transition_move move;

	transition_know(life, &here, &facts);
	tell_caught_up(life, &facts);
	if (transition_owner(&life->journal.handover, &facts, &policy, &move)) {
		if (!is_unwritten(move.act))
			apply(life, &move, &facts);
		else if (move.act == ACT_END)
			end_job(life, move.why);
		else
			request_replay(life);
	}
	free(here.clean);
}

/* ---- the one that has taken it ---- */

/* Those that go by keys are told nothing: what is behind the cut is. */
static bool has_finished(const struct gate_report *report, const struct gate_order *finish,
			 const struct transition_policy *policy)
{
	return gate_kind_of(policy->gate)->keys ? report->known : gate_has_taken(report, finish);
}

static void pursue_taken(struct lifecycle *life)
{
	static const struct transition_move done = {.state = TRANSITION_DONE,
						    .why = "the job runs here, behind the cut"};
	const struct launch *launch = journal_launch(&life->journal);
	struct transition_policy policy = transition_policy_of(life);
	struct gate_order finish = transition_candidate_order(&life->journal.handover, &policy);
	struct transition_here here;
	struct transition_facts facts;

	transition_know(life, &here, &facts);
	/* MUT: the cut is forgotten although the gates have not finished */
	if (life->transition.finish_id < 0 && has_finished(&here.gate, &finish, &policy))
		life->transition.finish_id =
			here.gate.snapshot_count ? here.gate.snapshots[0].checkpoint_id : 0;
	if (life->phase == PHASE_FINISHED ||
	    (facts.runs && launch &&
	     transition_is_done(&life->journal.handover, &here.gate, launch->proven_unix_ms != 0,
				life->transition.finish_id)))
		apply(life, &done, &facts);
	/* another version may be the cure */
	else if (handover_is_idle(life) && handover_stands_still(life))
		handover_consider_offer(life);
	free(here.clean);
}

void transition_pursue(struct lifecycle *life)
{
	/* MUT: a move follows one that is not on record yet */
	if (!lifecycle_is_durable(life) || life->journal_broken)
		return;
	if (transition_state_of(life) == TRANSITION_TAKEN)
		pursue_taken(life);
	else
		transition_pursue_owner(life);
}

/* ---- the container ends ---- */

/* Nothing of the candidate's is needed before the cut is in force, or once nothing is owed. */
static bool is_dispensable(const struct lifecycle *life)
{
	const struct transition *transition = &life->journal.handover.transition;

	if (transition_state_of(life) == TRANSITION_ABORTING)
		return transition_owes_nothing(transition);
	return !transition_is_cut(transition_state_of(life));
}

bool transition_stays(struct lifecycle *life)
{
	struct handover *handover = &life->journal.handover;

	if (!transition_is_on(life) || transition_state_of(life) == TRANSITION_TAKEN)
		return false;
	/* its result may be all that was missing */
	if (transition_state_of(life) == TRANSITION_ENDING)
		transition_pursue_owner(life);
	if (life->handover.giving)
		return true;
	/* MUT: a hand-over whose cut is in force is over when its owner's pod ends */
	if (!is_dispensable(life))
		return true;
	transition_drop(life);
	handover->transition.state = TRANSITION_NONE;
	return false;
}
