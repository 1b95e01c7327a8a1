/*
 * What the owner does next in a hand-over with surge, by the same rules as in a transition (transition_owner.c): an offer is
 * made to `offered`, and the job is being stopped in `ending`. docs/development/transition.md has the same table, and a test
 * compares the two.
 */
#include "base/mem.h"
#include "core/handover/transition_rules.h"

typedef const struct transition_question Q;

/* ---- offered ---- */

static bool is_late_but_prepared(Q *q)
{
	return q->facts->late && q->facts->prepared && !q->facts->gone;
}

static bool is_late(Q *q)
{
	return q->facts->late;
}

static bool cannot_prepare(Q *q)
{
	return q->facts->failed;
}

static bool is_gone_or_unwanted(Q *q)
{
	return q->facts->gone || q->facts->replaced;
}

static bool is_idle(Q *q)
{
	return q->facts->idle;
}

static bool may_not_stop(Q *q)
{
	return !q->facts->may_stop;
}

/* A job that could not be stopped with a savepoint for long is failing: the new version may be the cure. */
static bool fails_for_a_moment(Q *q)
{
	return q->facts->fails && !q->facts->fails_long;
}

static bool stops_fail(Q *q)
{
	return q->facts->stops_fail;
}

static bool is_unconfirmed(Q *q)
{
	return !q->facts->confirmed;
}

static bool fails(Q *q)
{
	return q->facts->fails;
}

static bool needs_no_savepoint(Q *q)
{
	return q->facts->unsaved;
}

static bool otherwise(Q *q)
{
	(void)q;
	return true;
}

/* ---- the job is being stopped ---- */

/* The agent that wanted the stop has died before it could begin. */
static bool has_not_begun(Q *q)
{
	return q->facts->lives && q->facts->work == WORK_NONE;
}

static bool job_has_ended(Q *q)
{
	return !q->facts->lives;
}

static bool job_has_ended_for_it(Q *q)
{
	return job_has_ended(q) && !q->facts->gone;
}

static bool job_has_ended_unwanted(Q *q)
{
	return job_has_ended(q) && q->facts->replaced;
}

/* ---- the rules ---- */

#define IN(from) .state = TRANSITION_##from
#define TO(to)   .next = TRANSITION_##to

static const struct transition_rule rules[] = {
	{IN(OFFERED), is_late_but_prepared, TO(OFFERED), .act = ACT_RENEW,
	 .when = "the deadline has passed, and the candidate is prepared: it is not what is waited for",
	 .why = "-"},
	{IN(OFFERED), is_late, TO(REFUSED), .quotes = true, .when = "the deadline has passed",
	 .why = "the candidate was not prepared within handover.prepareDeadline"},
	{IN(OFFERED), cannot_prepare, TO(NONE), .counts = true, .quotes = true,
	 .when = "the candidate says that it cannot", .why = "the new version cannot be prepared"},
	{IN(OFFERED), is_gone_or_unwanted, TO(NONE),
	 .when = "the candidate is gone, or another version is wanted",
	 .why = "the candidate is gone, or not wanted any more"},
	{IN(OFFERED), is_idle, TO(GRANTED), .act = ACT_GRANT,
	 .when = "nothing runs here, and the candidate is prepared, or nothing will run here",
	 .why = "nothing runs here"},
	{IN(OFFERED), may_not_stop, TO(OFFERED),
	 .when = "the candidate is not prepared, do-not-restart is on, or something stands in the way of a stop",
	 .why = "-"},
	{IN(OFFERED), fails_for_a_moment, TO(OFFERED), .act = ACT_LATER,
	 .when = "the job cannot be saved, for less than 30 s so far", .why = "-"},
	{IN(OFFERED), stops_fail, TO(REFUSED), .quotes = true,
	 .when = "stops with savepoint have failed as often as `handover.tries`, and the job runs",
	 .why = NULL},
	{IN(OFFERED), is_unconfirmed, TO(OFFERED), .act = ACT_ASK,
	 .when = "the candidate has not said just now that it is still prepared", .why = "-"},
	{IN(OFFERED), fails, TO(ENDING), .act = ACT_END, .when = "the job cannot be saved",
	 .why = "the job does not run: from the newest checkpoint"},
	{IN(OFFERED), needs_no_savepoint, TO(ENDING), .act = ACT_END,
	 .when = "the candidate is of the same generation, or `upgrade` is `last-state`",
	 .why = "it continues from the newest state"},
	{IN(OFFERED), otherwise, TO(ENDING), .act = ACT_STOP, .when = "otherwise",
	 .why = "the job is being stopped"},

	{IN(ENDING), has_not_begun, TO(OFFERED), .when = "the job runs, and no stop is under way",
	 .why = "the stop had not begun"},
	{IN(ENDING), job_has_ended_for_it, TO(GRANTED), .act = ACT_GRANT,
	 .when = "the job has ended, and the candidate is there", .why = "the job has stopped"},
	{IN(ENDING), job_has_ended_unwanted, TO(NONE), .act = ACT_RETURN,
	 .when = "the job has ended, and another version is wanted",
	 .why = "the Deployment does not want that version any more; the job continues here"},
	{IN(ENDING), job_has_ended, TO(NONE), .act = ACT_RETURN, .counts = true,
	 .when = "the job has ended", .why = "the candidate is gone; the job continues here"},
};

const struct transition_rule *surge_owner_rules(size_t *ret_count)
{
	*ret_count = ARRAY_LEN(rules);
	return rules;
}
