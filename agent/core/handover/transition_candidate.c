/*
 * What the candidate does next in a transition: the first rule that is true decides.
 * docs/development/transition.md has the same table, and a test compares the two.
 */
#include "base/mem.h"
#include "core/handover/transition_rules.h"

typedef const struct shadow_question Q;

const char *const shadow_state_words[] = {"prepared", "starting", "shadowing", "caughtUp",
					  "taken",    "failed",   "withdrawn", NULL};
_Static_assert(sizeof(shadow_state_words) / sizeof(shadow_state_words[0]) == SHADOW_STATES + 1,
	       "a word for each state");
static const char *const shadow_acts[] = {"none", "seed", "goOn", "kill", "adopt"};
_Static_assert(sizeof(shadow_acts) / sizeof(shadow_acts[0]) == SHADOW_ACTS, "a word for each act");

const char *shadow_state_name(enum shadow_state state)
{
	return state < SHADOW_STATES ? shadow_state_words[state] : "unknown";
}

const char *shadow_act_name(enum shadow_act act)
{
	return act < SHADOW_ACTS ? shadow_acts[act] : "unknown";
}

static bool is_owner(Q *q)
{
	return q->facts->named &&
	       (q->transition == TRANSITION_TAKEN || q->transition == TRANSITION_DONE);
}

static bool pod_ends(Q *q)
{
	return q->facts->stopping;
}

static bool is_not_named(Q *q)
{
	return !q->facts->named || q->transition == TRANSITION_NONE ||
	       q->transition == TRANSITION_REFUSED;
}

/* Until then no other job writes what this one writes. */
static bool is_given_up(Q *q)
{
	/* MUT: the candidate's job ends before the owner's output is open */
	if (q->transition == TRANSITION_ABORTING && !q->handover->transition.opened)
		return false;
	return q->transition == TRANSITION_ABORTING;
}

static bool is_granted(Q *q)
{
	return q->transition == TRANSITION_GRANTED && q->facts->seeded;
}

static bool has_failed(Q *q)
{
	return q->facts->failed;
}

/* The owner has recorded that the job here runs, or this pod has said that it begins; so it had a journal, and without that
 * it is not known what it has done. A job that is started as a new one would be recovered by Flink's HA instead, and write
 * beyond the cut. */
static bool has_lost_journal(Q *q)
{
	/* MUT: a journal that is lost in the second in which the job begins was never there */
	if (q->transition == TRANSITION_SEEDED && q->facts->begun && !q->facts->seeded)
		return true;
	/* MUT: a candidate without its journal begins anew */
	return q->transition >= TRANSITION_SHADOW && q->transition <= TRANSITION_ENDING &&
	       !q->facts->seeded;
}

static bool is_near(Q *q)
{
	return q->facts->runs && q->facts->near;
}

static bool runs(Q *q)
{
	return q->facts->runs;
}

static bool may_run(Q *q)
{
	return q->transition >= TRANSITION_SEEDED && q->transition <= TRANSITION_ABORTING;
}

static bool goes_on(Q *q)
{
	return may_run(q) && q->facts->seeded;
}

static bool may_start(Q *q)
{
	return q->transition == TRANSITION_SEEDED && q->facts->prepared;
}

static bool is_prepared(Q *q)
{
	return q->facts->prepared;
}

static bool otherwise(Q *q)
{
	(void)q;
	return true;
}

static const struct shadow_rule rules[] = {
	{is_owner, SHADOW_TAKEN, SHADOW_DO_NOTHING,
	 "the hand-over is `taken` or `done`, by this pod"},
	{pod_ends, SHADOW_WITHDRAWN, SHADOW_DO_KILL, "the pod ends"},
	{is_not_named, SHADOW_WITHDRAWN, SHADOW_DO_KILL,
	 "the hand-over is over, is another one, or names another pod"},
	{is_given_up, SHADOW_WITHDRAWN, SHADOW_DO_KILL,
	 "it is `aborting`, and the owner's output is open"},
	{is_granted, SHADOW_TAKEN, SHADOW_DO_ADOPT,
	 "it is `granted`, and the journal here is of this hand-over"},
	{has_failed, SHADOW_FAILED, SHADOW_DO_KILL,
	 "the attempts are used up, or something else than the seed was restored"},
	{has_lost_journal, SHADOW_FAILED, SHADOW_DO_KILL,
	 "it is beyond `seeded`, or the job has begun, and there is no journal of this hand-over here"},
	{is_near, SHADOW_CAUGHT_UP, SHADOW_DO_NOTHING,
	 "the job runs, and its watermark is near the owner's"},
	{runs, SHADOW_RUNNING, SHADOW_DO_NOTHING, "the job runs, from the seed"},
	{goes_on, SHADOW_STARTING, SHADOW_DO_GO_ON,
	 "the journal here is of this hand-over, from `seeded` to `aborting`"},
	{may_start, SHADOW_STARTING, SHADOW_DO_SEED, "it is `seeded`, and Flink waits in main()"},
	{is_prepared, SHADOW_PREPARED, SHADOW_DO_NOTHING, "Flink waits in main()"},
	{otherwise, SHADOW_STATES, SHADOW_DO_NOTHING, "otherwise"},
};

const struct shadow_rule *transition_candidate_rules(size_t *ret_count)
{
	*ret_count = ARRAY_LEN(rules);
	return rules;
}

void transition_candidate(const struct handover *handover, const struct shadow_facts *facts,
			  enum shadow_state state, struct shadow_move *ret_move)
{
	const struct shadow_question q = {
		.transition = transition_of(handover), .handover = handover, .facts = facts};
	const struct shadow_rule *rule = rules;

	while (!rule->holds(&q))
		rule++;
	ret_move->state = rule->next == SHADOW_STATES ? state : rule->next;
	ret_move->act = rule->act;
}
