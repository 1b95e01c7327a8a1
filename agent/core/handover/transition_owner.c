/* What the owner does next in a transition: for each state the first rule that is true decides.
 * docs/development/transition.md has the same table, and a test compares the two. */
#include "base/mem.h"
#include "core/handover/transition_rules.h"

typedef const struct transition_question Q;

#define MOST_ARMINGS 7
#define MOST_STOPS   3

/* ---- the candidate ---- */

/* While a write of the transition before may be on its way, keys of then may be what the candidate starts by. */
static bool may_go_by_old_keys(Q *q)
{
	return q->kind->keys && !q->facts->keys_written;
}

static bool is_prepared(Q *q)
{
	/* MUT: a candidate is seeded while gates may still go by the keys of before */
	if (may_go_by_old_keys(q))
		return false;
	return q->facts->prepared;
}

static bool is_gone(Q *q)
{
	return q->facts->gone;
}

static bool is_late_unwritten(Q *q)
{
	return q->facts->late && q->facts->prepared && may_go_by_old_keys(q);
}

static bool has_failed(Q *q)
{
	return q->facts->failed;
}

static bool is_lost(Q *q)
{
	return q->facts->failed || q->facts->gone;
}

static bool shadows(Q *q)
{
	return q->facts->shadowing || q->facts->caught_up;
}

static bool is_followed(Q *q)
{
	return q->facts->follows;
}

static bool has_ended(Q *q)
{
	return q->facts->ended;
}

/* ---- the job, and the desired state ---- */

static bool is_late(Q *q)
{
	return q->facts->late;
}

static bool is_late_and_ahead(Q *q)
{
	return q->facts->late && q->facts->ahead;
}

/* What ends it at once as long as nothing is held back anywhere. */
static bool is_overruled(Q *q)
{
	return q->facts->parks || q->facts->abort || q->facts->ended_badly;
}

static bool is_braked_or_overruled(Q *q)
{
	return q->facts->brake || is_overruled(q);
}

static bool is_replaced_or_overruled(Q *q)
{
	return q->facts->replaced || is_overruled(q);
}

static bool is_anything_else_wanted(Q *q)
{
	return q->facts->replaced || is_braked_or_overruled(q);
}

static bool work_failed(Q *q)
{
	return q->facts->work == WORK_FAILED;
}

static bool work_is_done(Q *q)
{
	return q->facts->work == WORK_DONE;
}

/* Where only watermarks are known, what the gates had seen at the seed follows from what Flink shows of them some seconds
 * later. NULL: it is not known yet. */
static const struct gate_snapshot *shown_seed(Q *q)
{
	if (!q->kind->keys || !work_is_done(q))
		return NULL;
	return gate_snapshot_of(q->facts->gate, q->facts->made.checkpoint_id);
}

static bool shown_seed_is_lost(Q *q)
{
	const struct gate_snapshot *seed = shown_seed(q);

	return seed && seed->restarted && !seed->seen_unix_ms;
}

/* What its gates have seen until then has to be known. */
static bool is_seeded(Q *q)
{
	const struct gate_snapshot *seed = shown_seed(q);

	if (q->kind->gated && !q->facts->gate->known)
		return false;
	/* MUT: what gates that go by keys had seen at the seed is taken from before it */
	if (q->kind->keys && !(seed && seed->seen_unix_ms))
		return false;
	return work_is_done(q);
}

/* A job that fails over right before it is stopped is stopped where it came back. */
static bool has_stopped_behind(Q *q)
{
	/* MUT: the job is granted although it was stopped before the cut */
	if (q->kind->ordered && !q->facts->made_behind)
		return false;
	return work_is_done(q);
}

static bool lost_without_work(Q *q)
{
	return is_lost(q) && q->facts->work != WORK_RUNNING;
}

/* ---- the cut ---- */

/*
 * The job here may have to start again from the seed. A job that fails over behind the seed aborts what it had
 * written before it, and writes that again; started from the seed then, it would not. So it has to have
 * committed all that it had seen by then. The id of a checkpoint does not show that: a job that was set back
 * gives out higher ids before it is where it was.
 */
static bool seed_is_behind(Q *q)
{
	int64_t seen_unix_ms = q->handover->transition.seen_unix_ms;

	return seen_unix_ms && gate_has_committed(q->facts->gate, seen_unix_ms);
}

/* Where no record has come yet, no time is after all of them. */
static bool has_seen(Q *q)
{
	return !q->kind->gated || q->facts->gate->max_seen_unix_ms != GATE_NO_TIME ||
	       q->facts->candidate_gate->max_seen_unix_ms != GATE_NO_TIME;
}

static bool may_cross(Q *q)
{
	/* MUT: the cut comes before the job has a checkpoint since the seed */
	if (q->kind->gated && !seed_is_behind(q))
		return false;
	/* MUT: a cut is chosen although no record was seen */
	if (!has_seen(q))
		return false;
	return q->facts->caught_up && q->facts->runs && !q->facts->brake &&
	       (!q->policy->manual || q->facts->promoted || q->handover->transition.promoted);
}

static bool may_cross_ungated(Q *q)
{
	return !q->kind->gated && may_cross(q);
}

/* What its gates may have chosen is in force before it is on record. */
static bool may_choose(Q *q)
{
	return q->kind->keys && may_cross(q);
}

static bool candidate_refuses(Q *q)
{
	struct gate_order order = transition_candidate_order(q->handover, q->policy);

	return gate_has_refused(q->facts->candidate_gate, &order);
}

/* More than doubling the lead again will help. */
static bool candidate_refuses_often(Q *q)
{
	return q->handover->transition.armings >= MOST_ARMINGS && candidate_refuses(q);
}

static bool candidate_is_armed(Q *q)
{
	struct gate_order order = transition_candidate_order(q->handover, q->policy);

	return order.word == GATE_ARM_GREEN && gate_has_taken(q->facts->candidate_gate, &order);
}

static bool have_chosen(Q *q)
{
	return q->kind->keys && q->facts->chosen_unix_ms > 0;
}

/* It is chosen by a wrong clock, or by a gate that is far behind: what is at or above it the candidate's gates have held
 * back already, and the ones here may not pass it any more. */
static bool chosen_is_past(Q *q)
{
	/* MUT: a cut that records had come to before it was chosen divides them */
	if (!q->facts->chosen_past)
		return false;
	return have_chosen(q);
}

static bool owner_is_armed(Q *q)
{
	struct gate_order order = transition_owner_order(q->handover, q->policy);

	return order.word == GATE_ARM_BLUE && gate_has_taken(q->facts->gate, &order);
}

static bool has_crossed(Q *q)
{
	if (q->kind->keys)
		return q->facts->keys_crossed && q->facts->settled;
	return q->facts->settled &&
	       gate_is_behind(q->facts->gate, q->handover->transition.toggle_unix_ms,
			      q->policy->idle_passes);
}

/* The candidate cannot go on, or not in time; or this job cannot, and what it was to write is not
 * written. */
static bool cannot_go_on(Q *q)
{
	return q->facts->failed || q->facts->abort || q->facts->late || q->facts->ended_badly;
}

/* Then it is given up, unless people want to wait for the candidate. An abort is a person's word. */
static bool is_given_up(Q *q)
{
	if (!cannot_go_on(q))
		return false;
	return q->facts->abort || q->facts->ended_badly || q->policy->after_cut == AFTER_CUT_REPLAY;
}

/* What the candidate does not write is committed: below the cut, or without one what was written before the seed. */
static bool owes_nothing(Q *q)
{
	const struct transition *transition = &q->handover->transition;

	/* MUT: without a cut nothing is owed */
	if (!transition->toggle_unix_ms)
		return seed_is_behind(q);
	return gate_has_committed(q->facts->gate, transition->toggle_unix_ms);
}

static bool has_ended_behind(Q *q)
{
	return q->facts->ended_badly && owes_nothing(q);
}

/* A stop that is under way cannot be taken back, and one that fails is no reason to give up. */
static bool is_given_up_unstopped(Q *q)
{
	if (q->facts->work == WORK_RUNNING || q->facts->work == WORK_DONE)
		return false;
	return is_given_up(q) && (is_lost(q) || !q->facts->late);
}

static bool is_behind(Q *q)
{
	if (!q->kind->gated)
		return true;
	return gate_is_behind(q->facts->gate, q->handover->transition.toggle_unix_ms,
			      q->policy->idle_passes);
}

/* Whom the job is stopped for has to be there, with a job that runs: after that it only goes forward. And the job may have
 * failed over to before the cut since it had crossed it. */
static bool may_stop(Q *q)
{
	/* MUT: the job is stopped for a candidate that is gone */
	if (is_lost(q))
		return false;
	/* MUT: the job is stopped for a candidate whose job does not run */
	if (!shadows(q))
		return false;
	/* MUT: the job is stopped although it went back behind the cut */
	if (!is_behind(q))
		return false;
	return q->facts->runs;
}

static bool may_stop_again(Q *q)
{
	return may_stop(q) && (q->facts->work == WORK_NONE || q->facts->work == WORK_FAILED);
}

/* One that has died meanwhile would be started again only to be ended. */
static bool may_end_unstopped(Q *q)
{
	if (q->facts->stop_failures < MOST_STOPS || !owes_nothing(q))
		return false;
	/* MUT: a job that cannot be stopped is started again to be ended */
	if (!q->facts->lives)
		return q->facts->work == WORK_FAILED && !is_lost(q) && shadows(q);
	return may_stop_again(q);
}

/* ---- giving it up ---- */

static bool is_open(Q *q)
{
	struct gate_order open = transition_owner_order(q->handover, q->policy);

	if (q->handover->transition.opened)
		return false;
	if (q->kind->keys)
		return q->facts->keys_written;
	return !q->kind->gated || gate_has_taken(q->facts->gate, &open);
}

/* Then something may have been held back, however early it was given up. */
static bool have_chosen_meanwhile(Q *q)
{
	return have_chosen(q) && !q->handover->transition.toggle_unix_ms;
}

/* What was held back until the gate was open is lost, if the candidate's job ends now. */
static bool is_open_and_whole(Q *q)
{
	/* what gates that go by keys have held back is not known */
	bool unknown = q->kind->keys && q->handover->transition.toggle_unix_ms;

	/* MUT: what was held back is not looked at when the cut is given up */
	if (unknown || q->facts->gate->withheld_above)
		return false;
	return is_open(q);
}

static bool is_open_or_ended(Q *q)
{
	return is_open(q) || (!q->handover->transition.opened && q->facts->ended_badly);
}

static bool replays(Q *q)
{
	const struct transition *transition = &q->handover->transition;

	return transition->opened && transition_owes_replay(transition);
}

static bool is_replayed(Q *q)
{
	return replays(q) && q->facts->replaying && q->facts->runs;
}

static bool replay_is_missing(Q *q)
{
	return replays(q) && q->facts->replay_missing;
}

/* Its checkpoints push out the one that it is to start from. */
static bool must_end(Q *q)
{
	return replays(q) && q->facts->lives && !q->facts->replaying;
}

static bool must_restart(Q *q)
{
	/* MUT: the job starts again while the candidate's still writes */
	if (!has_ended(q))
		return false;
	return replays(q) && !q->facts->lives;
}

static bool is_over(Q *q)
{
	const struct transition *transition = &q->handover->transition;

	return transition->opened && has_ended(q) && !transition_owes_replay(transition);
}

/* ---- the rules ---- */

#define IN(from) .state = TRANSITION_##from
#define TO(to)   .next = TRANSITION_##to

#define LOST_WHEN "the candidate is gone, or says that it cannot"
#define LOST_WHY  "the candidate is gone, or cannot go on"
#define WISH_WHY  "something else is wanted, or the job has ended"
#define GIVEN_UP                                                                                   \
	"the candidate cannot go on or the deadline has passed, and `afterCut` is `replay`; the job has ended; or a person gives it up"
#define GIVEN_UP_WHY "after the cut the candidate did not go on in time, or was given up"

static const struct transition_rule rules[] = {
	{IN(OFFERED), is_late_unwritten, TO(REFUSED), .counts = true,
	 .when = "the deadline has passed, the candidate is prepared, and the keys, if gates go by them, are not those at rest",
	 .why = "the ConfigMap of the gates could not be written within handover.prepareDeadline"},
	{IN(OFFERED), is_late, TO(REFUSED), .counts = true, .quotes = true,
	 .when = "the deadline has passed",
	 .why = "the candidate was not prepared within handover.prepareDeadline"},
	{IN(OFFERED), has_failed, TO(NONE), .counts = true, .quotes = true,
	 .when = "the candidate says that it cannot", .why = "the new version cannot be prepared"},
	{IN(OFFERED), is_gone, TO(NONE), .when = "the candidate is gone",
	 .why = "the candidate is gone, or not wanted any more"},
	{IN(OFFERED), is_anything_else_wanted, TO(NONE),
	 .when = "suspended, cancelled, do-not-restart or another version is wanted; or the job has ended",
	 .why = WISH_WHY},
	{IN(OFFERED), is_prepared, TO(SEEDING), .act = ACT_SAVE,
	 .when = "the candidate is prepared; the keys, if gates go by them, are those at rest",
	 .why = "a savepoint for the candidate is taken"},

	{IN(SEEDING), work_failed, TO(OFFERED), .counts = true, .when = "the savepoint has failed",
	 .why = "the savepoint for the candidate has failed"},
	{IN(SEEDING), is_anything_else_wanted, TO(ABORTING),
	 .when = "suspended, cancelled, do-not-restart or another version is wanted; a person gives it up; or the job has ended",
	 .why = WISH_WHY},
	{IN(SEEDING), is_late, TO(ABORTING), .counts = true, .when = "the deadline has passed",
	 .why = "the savepoint for the candidate was not taken in time"},
	{IN(SEEDING), lost_without_work, TO(NONE), .quotes = true,
	 .when = LOST_WHEN ", and no savepoint is under way", .why = LOST_WHY},
	{IN(SEEDING), shown_seed_is_lost, TO(OFFERED), .counts = true,
	 .when = "gates go by keys; the savepoint is there, and the job has started again before Flink showed what its gates had seen by then",
	 .why = "the job has started again right after the savepoint for the candidate"},
	{IN(SEEDING), is_seeded, TO(SEEDED),
	 .when = "the savepoint is there, verified, and the gates have reported; where they go by keys, Flink has shown what they had seen by then",
	 .why = "the candidate starts its job"},

	{IN(SEEDED), is_anything_else_wanted, TO(ABORTING),
	 .when = "suspended, cancelled, do-not-restart or another version is wanted; a person gives it up; or the job has ended",
	 .why = WISH_WHY},
	{IN(SEEDED), is_lost, TO(ABORTING), .counts = true, .quotes = true, .when = LOST_WHEN,
	 .why = LOST_WHY},
	{IN(SEEDED), is_late, TO(ABORTING), .counts = true, .when = "the deadline has passed",
	 .why = "the candidate's job did not run in time"},
	{IN(SEEDED), shadows, TO(SHADOW), .when = "the candidate's job runs, from the seed",
	 .why = "the candidate's job catches up"},

	{IN(SHADOW), is_replaced_or_overruled, TO(ABORTING),
	 .when = "suspended, cancelled or another version is wanted; a person gives it up; or the job has ended",
	 .why = WISH_WHY},
	{IN(SHADOW), is_lost, TO(ABORTING), .counts = true, .quotes = true, .when = LOST_WHEN,
	 .why = LOST_WHY},
	{IN(SHADOW), is_late_and_ahead, TO(ABORTING), .counts = true,
	 .when = "the deadline has passed, and the candidate's watermark is later than all that was seen here",
	 .why = "the records of the candidate's job have later times than those here: the job here is slow, or clocks differ that give them their times"},
	{IN(SHADOW), is_late, TO(ABORTING), .counts = true, .when = "the deadline has passed",
	 .why = "the candidate's job did not catch up in time"},
	{IN(SHADOW), may_cross_ungated, TO(ENDING), .act = ACT_STOP,
	 .when = "`gate: none`; the candidate has caught up, the job runs, and the cut may come",
	 .why = "the job is being stopped"},
	{IN(SHADOW), may_choose, TO(ARMED), .act = ACT_CUT,
	 .when = "gates go by keys; the same as in the next line",
	 .why = "the gates are to choose the cut"},
	{IN(SHADOW), may_cross, TO(ARMING), .act = ACT_CUT,
	 .when = "the candidate has caught up, the job runs and has committed all that it had seen at the seed, do-not-restart is off, and the cut may come",
	 .why = "the candidate's gates are told the cut"},

	{IN(ARMING), is_overruled, TO(ABORTING),
	 .when = "suspended or cancelled is wanted; a person gives it up; or the job has ended",
	 .why = WISH_WHY},
	{IN(ARMING), is_lost, TO(ABORTING), .counts = true, .quotes = true, .when = LOST_WHEN,
	 .why = LOST_WHY},
	{IN(ARMING), candidate_refuses_often, TO(ABORTING), .counts = true,
	 .when = "a gate of the candidate has held back a record at or above the cut, for the eighth time",
	 .why = "each cut came too late for the candidate's gates"},
	{IN(ARMING), candidate_refuses, TO(SHADOW),
	 .when = "a gate of the candidate has held back a record at or above the cut",
	 .why = "the cut came too late, and a later one is chosen"},
	{IN(ARMING), is_late, TO(SHADOW), .counts = true, .when = "the deadline has passed",
	 .why = "the candidate's gates did not acknowledge the cut in time"},
	{IN(ARMING), candidate_is_armed, TO(ARMED),
	 .when = "all gates of the candidate have acknowledged the cut",
	 .why = "the gates here are told the cut"},

	{IN(ARMED), is_given_up, TO(ABORTING), .counts = true, .quotes = true, .when = GIVEN_UP,
	 .why = GIVEN_UP_WHY},
	{IN(ARMED), is_followed, TO(ARMED), .act = ACT_NAME,
	 .when = "another pod of the candidate's template is there",
	 .why = "another pod of the candidate's version goes on"},
	{IN(ARMED), chosen_is_past, TO(ABORTING), .counts = true,
	 .when = "the gates have chosen a cut that a watermark has come to",
	 .why = "the gates have chosen a cut in the past: a clock is wrong, or a gate is far behind"},
	{IN(ARMED), have_chosen, TO(CROSSING), .when = "the gates have chosen the cut",
	 .why = "the records are divided at the cut"},
	{IN(ARMED), owner_is_armed, TO(CROSSING),
	 .when = "all gates here have acknowledged the cut",
	 .why = "the records are divided at the cut"},

	{IN(CROSSING), is_given_up, TO(ABORTING), .counts = true, .quotes = true, .when = GIVEN_UP,
	 .why = GIVEN_UP_WHY},
	{IN(CROSSING), is_followed, TO(CROSSING), .act = ACT_NAME,
	 .when = "another pod of the candidate's template is there",
	 .why = "another pod of the candidate's version goes on"},
	{IN(CROSSING), has_crossed, TO(CROSSED),
	 .when = "every gate here is behind the cut, for `settle`",
	 .why = "nothing below the cut is owed any more"},

	{IN(CROSSED), has_ended_behind, TO(GRANTED), .act = ACT_GRANT,
	 .when = "the job has ended, and all below the cut was committed",
	 .why = "the job has ended behind the cut"},
	{IN(CROSSED), is_given_up, TO(ABORTING), .counts = true, .quotes = true, .when = GIVEN_UP,
	 .why = GIVEN_UP_WHY},
	{IN(CROSSED), is_followed, TO(CROSSED), .act = ACT_NAME,
	 .when = "another pod of the candidate's template is there",
	 .why = "another pod of the candidate's version goes on"},
	{IN(CROSSED), may_stop, TO(ENDING), .act = ACT_STOP,
	 .when = "the job runs behind the cut, and the candidate's runs",
	 .why = "the job is being stopped"},

	{IN(ENDING), has_stopped_behind, TO(GRANTED), .act = ACT_GRANT,
	 .when = "the job has finished with its savepoint, which is behind the cut",
	 .why = "the job has stopped"},
	{IN(ENDING), work_is_done, TO(ENDING), .act = ACT_GO_ON,
	 .when = "the job has finished with its savepoint, which is not",
	 .why = "the job was stopped before the cut, and goes on"},
	{IN(ENDING), has_ended_behind, TO(GRANTED), .act = ACT_GRANT,
	 .when = "the job has ended, and all below the cut was committed",
	 .why = "the job has ended behind the cut"},
	{IN(ENDING), is_given_up_unstopped, TO(ABORTING), .counts = true, .quotes = true,
	 .when = "the same, except for a deadline while the candidate is there; and no stop is under way",
	 .why = GIVEN_UP_WHY},
	{IN(ENDING), is_followed, TO(ENDING), .act = ACT_NAME,
	 .when = "another pod of the candidate's template is there",
	 .why = "another pod of the candidate's version goes on"},
	{IN(ENDING), may_end_unstopped, TO(ENDING), .act = ACT_END,
	 .when = "three stops have failed, and all below the cut was committed",
	 .why = "the job is ended without a savepoint"},
	{IN(ENDING), may_stop_again, TO(ENDING), .act = ACT_STOP,
	 .when = "the job runs behind the cut, the candidate's runs, and no stop is under way",
	 .why = "the job is being stopped, again"},

	{IN(ABORTING), have_chosen_meanwhile, TO(ABORTING), .act = ACT_FOUND,
	 .when = "the gates have chosen a cut that is not on record",
	 .why = "the gates had chosen a cut meanwhile"},
	{IN(ABORTING), is_replayed, TO(ABORTING), .act = ACT_REPLAYED,
	 .when = "the job runs from the replay point",
	 .why = "what was held back is written again"},
	{IN(ABORTING), is_over, TO(NONE),
	 .when = "the output here is open, the candidate's job has ended, and the job runs from the replay point if there is one",
	 .why = "the transition was given up"},
	{IN(ABORTING), replay_is_missing, TO(ABORTING), .act = ACT_REPLAY,
	 .when = "the replay point is not there any more",
	 .why = "the replay point is gone, and another one is chosen"},
	{IN(ABORTING), must_end, TO(ABORTING), .act = ACT_END,
	 .when = "there is a replay point, and the job that runs was not started for that",
	 .why = "the job starts again from before the cut"},
	{IN(ABORTING), must_restart, TO(ABORTING), .act = ACT_RESTART,
	 .when = "there is a replay point, and neither job runs",
	 .why = "the job starts again from before the cut"},
	{IN(ABORTING), is_open_and_whole, TO(ABORTING), .act = ACT_OPENED,
	 .when = "all gates here are open, and nothing was held back",
	 .why = "the candidate's job is to end"},
	{IN(ABORTING), is_open_or_ended, TO(ABORTING), .act = ACT_REPLAY,
	 .when = "they are open, and something was held back; or the job has ended",
	 .why = "the candidate's job is to end, and this one to start again from before the cut"},
};

const struct transition_rule *transition_owner_rules(size_t *ret_count)
{
	*ret_count = ARRAY_LEN(rules);
	return rules;
}
