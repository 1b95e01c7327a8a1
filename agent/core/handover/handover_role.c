/*
 * Who a pod is, according to the journal: the first rule that is true decides. docs/reference/handover.md has
 * the same table, and a test compares the two.
 */
#include <string.h>

#include "base/mem.h"
#include "core/handover/handover_role.h"
#include "core/handover/transition.h"
#include "core/journal/journal.h"

/* What the rules ask about. */
struct question {
	const struct role_facts *facts;
	const struct role_limits *limits;
	const struct handover *handover; /* NULL: the journal could not be read */
	const struct party *owner;       /* NULL: none, or a drey that knows no owner */
	bool written_here;               /* the journal was last written by this pod */
};

/* ---- what the journal says ---- */

/* A drey that knows no owner leaves the member as it was, so the writer does not fit to it. Who gives
 * the journal away names another owner than itself. */
static bool owner_speaks(const struct journal *journal)
{
	const struct handover *handover = &journal->handover;

	return journal->owner.uid && (party_wrote(&journal->owner, journal->writer) ||
				      (handover->state == HANDOVER_GRANTED &&
				       party_wrote(&handover->from, journal->writer)) ||
				      (handover->state == HANDOVER_RETURNED &&
				       party_wrote(&handover->to, journal->writer)));
}

static struct question question_of(const struct role_facts *facts, const struct role_limits *limits)
{
	const struct journal *journal = facts->journal;
	struct question q = {.facts = facts, .limits = limits};

	if (!journal)
		return q;
	q.handover = &journal->handover;
	q.owner = owner_speaks(journal) ? &journal->owner : NULL;
	q.written_here = party_wrote(facts->me, journal->writer);
	return q;
}

static bool is_mine(const struct question *q)
{
	return q->owner && party_is(q->owner, q->facts->me->uid);
}

static bool was_mine(const struct question *q)
{
	return party_is(&q->handover->from, q->facts->me->uid) && !is_mine(q);
}

/* ... to the one that has it now, and the job does not run there yet. */
static bool gave(const struct question *q, enum handover_state state)
{
	return q->handover->state == state && was_mine(q) &&
	       party_is(&q->handover->to, q->owner->uid);
}

static bool is_silent(const struct question *q)
{
	return q->facts->lock == LOCK_FREE && q->facts->silent_ms >= q->limits->silent_ms;
}

static bool is_same_generation(const struct question *q)
{
	return template_same_generation(q->owner->template, q->facts->me->template);
}

/* With blue/green the other version has written output before it was granted the job: what this one would
 * write again is that. So it only goes forward. */
static bool only_forward(const struct question *q)
{
	enum transition_state state = transition_of(q->handover);

	return state == TRANSITION_GRANTED || state == TRANSITION_TAKEN;
}

/* ---- the rules ---- */

static bool unreadable(const struct question *q)
{
	return !q->facts->journal;
}

static bool granted_to_me(const struct question *q)
{
	return q->handover->state == HANDOVER_GRANTED && is_mine(q) &&
	       party_is(&q->handover->to, q->facts->me->uid);
}

static bool returned_to_me(const struct question *q)
{
	return q->handover->state == HANDOVER_RETURNED && is_mine(q);
}

static bool is_refused(const struct question *q)
{
	return q->handover->state == HANDOVER_REFUSED &&
	       template_same_generation(q->handover->to.template, q->facts->me->template);
}

/* How long a version that was never prepared, or was refused, leaves the job to a pod of the version
 * that has run it: Kubernetes replaces a pod that it evicts within a second. */
static int64_t patience_ms(const struct question *q, int64_t silent_ms)
{
	return is_refused(q) && q->limits->run_ms > silent_ms ? q->limits->run_ms : silent_ms;
}

/* The owner has ended in order. Who it was is kept, except for its pod. */
static bool last_owner_was_other(const struct question *q)
{
	const struct party *last = &q->facts->journal->owner;

	return !q->owner && !last->uid && last->template &&
	       !template_same_generation(last->template, q->facts->me->template);
}

static bool others_go_first(const struct question *q)
{
	return last_owner_was_other(q) && q->facts->quiet_ms < patience_ms(q, q->limits->silent_ms);
}

/* The first write of this drey after another one: also in a pod that has run before. */
static bool has_no_owner_and_is_free(const struct question *q)
{
	return !q->owner &&
	       (q->written_here || (q->facts->lock == LOCK_FREE && !others_go_first(q)));
}

/* Not in doubt: that pod ends when this one is ready. */
static bool another_drey_lives(const struct question *q)
{
	return !q->owner && !q->facts->absent && q->facts->lock == LOCK_HELD;
}

static bool has_no_owner(const struct question *q)
{
	return !q->owner;
}

static bool not_taken_in_time(const struct question *q)
{
	return gave(q, HANDOVER_GRANTED) && !only_forward(q) &&
	       q->facts->granted_ms >= q->limits->take_ms;
}

/* Not by time alone: its Flink has lost its lock, and no pod with the same template goes on. */
static bool taken_and_gone(const struct question *q)
{
	return gave(q, HANDOVER_TAKEN) && !only_forward(q) && is_silent(q) &&
	       q->facts->quiet_ms >= q->limits->run_ms;
}

static bool waits_for_the_end(const struct question *q)
{
	return gave(q, HANDOVER_GRANTED) || gave(q, HANDOVER_TAKEN);
}

static bool same_template(const struct question *q)
{
	return xstris(q->owner->template, q->facts->me->template);
}

/* It gave the job to a pod of its own generation: taking it again would never end. */
static bool same_was_mine(const struct question *q)
{
	return was_mine(q) && is_same_generation(q);
}

/* What it would start is what the owner has run. */
static bool may_succeed(const struct question *q)
{
	return same_template(q) || same_was_mine(q);
}

static bool same_and_gone(const struct question *q)
{
	return may_succeed(q) && is_silent(q);
}

static bool done_was_mine(const struct question *q)
{
	return was_mine(q) && q->handover->state == HANDOVER_DONE && q->facts->wanted != WANTED_YES;
}

static bool not_wanted(const struct question *q)
{
	return q->facts->wanted != WANTED_YES;
}

/* A pod with the owner's template goes first, if there is one: what it would start is known to run. With a
 * cut in force it is the only one that can: its newest state lacks what was held back there. */
static bool wanted_and_gone(const struct question *q)
{
	/* MUT: the owner is followed by force while a cut is in force */
	if (transition_is_cut(transition_of(q->handover)))
		return false;
	return is_silent(q) && q->facts->silent_ms >= patience_ms(q, 2 * q->limits->silent_ms);
}

static bool otherwise(const struct question *q)
{
	(void)q;
	return true;
}

#define READY_WHY "a drey that knows no hand-over still has the job: Kubernetes ends its pod first"

static const struct role_rule rules[] = {
	{unreadable, ROLE_UNREADABLE, CLAIM_NONE, "the journal cannot be read",
	 "the journal cannot be read"},
	{granted_to_me, ROLE_OWNER, CLAIM_TAKE, "the job was granted to this pod",
	 "the job was handed over to this pod"},
	{returned_to_me, ROLE_OWNER, CLAIM_BACK, "the job was returned to this pod",
	 "the job was returned to this pod"},
	{is_mine, ROLE_OWNER, CLAIM_OWN, "this pod is the owner", "this pod is the owner"},
	{has_no_owner_and_is_free, ROLE_OWNER, CLAIM_OWN,
	 "there is no owner, and this pod has written last, or no Flink leads and no other pod has precedence",
	 "there is no other owner"},
	{another_drey_lives, ROLE_HEIR, CLAIM_NONE,
	 "there is a journal without an owner, and a Flink leads", READY_WHY},
	{others_go_first, ROLE_STANDBY, CLAIM_NONE,
	 "there is no owner, and a pod of the last owner's generation has precedence",
	 "the owner has ended, and a pod of its version has precedence"},
	{has_no_owner, ROLE_STANDBY, CLAIM_NONE, "there is no owner, and a Flink may lead",
	 "the journal names no owner, but a Flink of this application may lead"},
	{not_taken_in_time, ROLE_OWNER, CLAIM_BACK,
	 "this pod has granted the job, and it was not taken within takeDeadline",
	 "the job was not taken in time"},
	{taken_and_gone, ROLE_OWNER, CLAIM_BACK,
	 "this pod has granted the job, and who took it is silent, leads no more, and has written nothing for runDeadline",
	 "the pod that has taken the job is gone"},
	{waits_for_the_end, ROLE_RESERVE, CLAIM_NONE,
	 "this pod has granted the job, and it does not run yet",
	 "this pod has handed the job over, and waits until it runs"},
	{same_and_gone, ROLE_OWNER, CLAIM_SUCCEED,
	 "the owner has the same template, or has the job from this pod of its generation; it leads no more, and is silent",
	 "the owner, a pod of the same generation, is gone"},
	{same_template, ROLE_STANDBY, CLAIM_NONE, "the owner has the same template",
	 "another pod of the same template has the job"},
	{same_was_mine, ROLE_RESERVE, CLAIM_NONE,
	 "this pod has handed over to the owner, which has the same generation",
	 "this pod has handed the job over"},
	{done_was_mine, ROLE_RESERVE, CLAIM_NONE,
	 "this pod has handed over to the owner, and the Deployment does not want its template",
	 "this pod has handed the job over"},
	{not_wanted, ROLE_STANDBY, CLAIM_NONE,
	 "the Deployment wants another template, or that is not known",
	 "the Deployment does not want this pod's template now, or cannot be read"},
	{wanted_and_gone, ROLE_OWNER, CLAIM_FORCE,
	 "the owner leads no more, and is silent twice as long (runDeadline, if this version was refused)",
	 "the owner is gone: it does not answer, and its Flink leads no more"},
	{is_same_generation, ROLE_CANDIDATE, CLAIM_NONE, "the owner has the same generation",
	 "the owner is another pod of this generation"},
	{otherwise, ROLE_CANDIDATE, CLAIM_NONE, "otherwise",
	 "the owner is a pod of another generation"},
};

const struct role_rule *handover_role_rules(size_t *ret_count)
{
	*ret_count = ARRAY_LEN(rules);
	return rules;
}

/* ---- the verdict ---- */

/* It has no owner, and what ran last had this generation, or nothing ran. A drey that knows no owner has
 * left its generation in the launch. */
static bool is_of_last_generation(const struct journal *journal, const char *template)
{
	const struct launch *launch = journal_launch_const(journal);

	if (!journal->owner.template && !launch)
		return true;
	if (journal->owner.template)
		return template_same_generation(journal->owner.template, template);
	return !launch->generation || template_same_generation(launch->generation, template);
}

enum side handover_output_side(const struct journal *journal, const char *generation, bool beside)
{
	cleanup_free char *mine = template_text(generation, NULL, NULL);
	enum side side = journal_output_side(journal, NULL);

	if (transition_is_under_way(transition_of(&journal->handover)) &&
	    template_same_generation(journal->handover.to.template, mine))
		return journal->handover.transition.output_side;
	return beside && !is_of_last_generation(journal, mine) ? side_other(side) : side;
}

/* Another generation has the other side, always; a side belongs to one generation at a time. */
static enum side side_for(const struct question *q)
{
	enum side side = q->facts->journal->owner.side; /* of the job, whichever pod owns it */

	if (!q->owner)
		return is_of_last_generation(q->facts->journal, q->facts->me->template)
			       ? side
			       : side_other(side);
	if (is_mine(q))
		return q->owner->side;
	if (waits_for_the_end(q))
		return q->handover->from.side;
	return is_same_generation(q) ? side : side_other(side);
}

static int64_t sooner(int64_t a, int64_t b)
{
	return a > 0 && (b <= 0 || a < b) ? a : b;
}

/* When a time that a rule compares with has come. */
static int64_t look_after(const struct question *q)
{
	const struct role_facts *facts = q->facts;
	int64_t silent_ms = q->limits->silent_ms, next = 0;

	if (q->handover && last_owner_was_other(q))
		return sooner(patience_ms(q, silent_ms) - facts->quiet_ms, 0);
	if (!q->handover || !q->owner || is_mine(q))
		return 0;
	if (facts->silent_ms >= 0) {
		next = sooner(silent_ms - facts->silent_ms, next);
		next = sooner(patience_ms(q, 2 * silent_ms) - facts->silent_ms, next);
	}
	if (gave(q, HANDOVER_GRANTED))
		next = sooner(q->limits->take_ms - facts->granted_ms, next);
	if (gave(q, HANDOVER_TAKEN))
		next = sooner(q->limits->run_ms - facts->quiet_ms, next);
	return next;
}

void handover_role(const struct role_facts *facts, const struct role_limits *limits,
		   struct role_verdict *ret_verdict)
{
	struct question q = question_of(facts, limits);
	const struct role_rule *rule = rules;

	while (!rule->holds(&q))
		rule++;
	*ret_verdict = (struct role_verdict){.role = rule->role,
					     .claim = rule->claim,
					     .why = rule->why,
					     .look_ms = look_after(&q)};
	if (!q.handover)
		return;
	ret_verdict->side = side_for(&q);
	ret_verdict->kind = q.owner && !is_mine(&q)
				    ? handover_kind_between(q.owner->template, facts->me->template)
				    : HANDOVER_OTHER;
	/* while its Flink leads, it is not in question; and who may not follow it does not ask */
	ret_verdict->asks = q.owner && !is_mine(&q) && facts->lock == LOCK_FREE &&
			    (rule->role == ROLE_CANDIDATE || rule->role == ROLE_OWNER ||
			     (rule->role == ROLE_RESERVE && q.handover->state == HANDOVER_TAKEN) ||
			     may_succeed(&q));
}

/* Withdrawn before main() was let go, it still waits; what has no end on record may run. */
static bool may_run(const struct journal *journal, const char *job_id)
{
	for (size_t i = 0; i < journal->launch_count; i++) {
		const struct launch *launch = &journal->launches[i];
		bool withdrawn = launch->held && launch->ended_unix_ms && !launch->started_unix_ms;

		if (!strcmp(launch->job_id, job_id) && !withdrawn)
			return true;
	}
	return false;
}

bool handover_waits_in_main(const struct journal *journal, enum claim claim, const char *running)
{
	if (!running || !*running || (claim != CLAIM_TAKE && claim != CLAIM_OWN))
		return false;
	return !strcmp(journal->handover.job_id, running) && !may_run(journal, running);
}
