/*
 * Rule 6: newer state was completed, and is damaged or not there. How far would a start go back behind
 * it, and is that allowed?
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "core/resolve/resolve_internal.h"

/* Checkpoint ids are comparable inside the lineage; without a journal, inside one job. */
static bool is_newer(const struct inquiry *in, const struct candidate *c,
		     const struct candidate *than)
{
	if (inquiry_never_ran(in) && !candidate_same_job(c, than))
		return false;
	return c->snapshot.checkpoint_id > than->snapshot.checkpoint_id;
}

const struct candidate *candidate_missing(const struct inquiry *in, const struct candidate *c)
{
	const struct candidate *newest = NULL;

	for (size_t i = 0; i < in->order_count; i++) {
		const struct candidate *other = &in->facts->candidates[in->order[i]];

		if (other->in_ha && other->integrity == INTEGRITY_INCOMPLETE &&
		    is_newer(in, other, c) && (!newest || is_newer(in, other, newest)))
			newest = other;
	}
	return newest;
}

/* When it was completed, on record; 0 = that is not known. */
static int64_t recorded_unix_ms(const struct inquiry *in, const struct candidate *c)
{
	const struct snapshot bare = {.path = c->snapshot.path};

	return journal_completed_unix_ms(in->journal, &bare);
}

/* The date of a copied file is that of the copy: of the two dates, the one with which more is lost. */
static int64_t lost_unix_ms(const struct inquiry *in, const struct candidate *c)
{
	int64_t recorded_ms = recorded_unix_ms(in, c), own_ms = c->snapshot.completed_unix_ms;

	return recorded_ms > own_ms ? recorded_ms : own_ms;
}

int64_t candidate_started_unix_ms(const struct inquiry *in, const struct candidate *c)
{
	int64_t recorded_ms = recorded_unix_ms(in, c), own_ms = c->snapshot.completed_unix_ms;

	return recorded_ms && (recorded_ms < own_ms || !own_ms) ? recorded_ms : own_ms;
}

/* A savepoint has its checkpoint id in its _metadata only. When that cannot be decoded, its date says
 * whether it may be newer than what was decided: of two that were taken at the same time, the one with the higher id may
 * be complete first. Without a date it may be, unless all of its launch that count are older. */
static bool may_be_newer(const struct inquiry *in, const struct candidate *c,
			 const struct candidate *chosen)
{
	int64_t lost_ms = lost_unix_ms(in, c);

	/* MUT: a damaged savepoint without number and date is an old one */
	if (!lost_ms)
		return lineage_most(&in->lineage, &c->snapshot) > chosen->snapshot.checkpoint_id;
	return lost_ms > candidate_started_unix_ms(in, chosen) - LOSS_CLOCK_MS;
}

static void pass_over_unnumbered(struct inquiry *in, const struct candidate *chosen)
{
	for (size_t i = 0; i < in->order_count; i++) {
		struct candidate *c = &in->facts->candidates[in->order[i]];

		if (c == chosen || c->snapshot.checkpoint_id || c->integrity != INTEGRITY_DAMAGED ||
		    !may_be_newer(in, c, chosen))
			continue;
		/* MUT: a newer savepoint whose number is lost is passed over silently */
		c->passed_over = true;
		inquiry_judge(c, VERDICT_REJECTED, "damaged: %s", inquiry_detail(c->detail));
	}
}

/* The newest of those that were passed over, with its date; false = nothing is lost. */
static bool find_loss(const struct inquiry *in, struct decision_loss *loss)
{
	const struct candidate *all = in->facts->candidates, *newest = NULL;
	bool undated = false;

	for (size_t i = 0; i < in->facts->candidate_count; i++) {
		const struct candidate *c = &all[i];
		int64_t unix_ms;

		if (!c->passed_over)
			continue;
		unix_ms = lost_unix_ms(in, c);
		undated = undated || (!unix_ms && !c->snapshot.checkpoint_id);
		if (!newest || c->snapshot.checkpoint_id > newest->snapshot.checkpoint_id ||
		    (!c->snapshot.checkpoint_id && unix_ms > loss->unix_ms))
			newest = c;
		if (unix_ms > loss->unix_ms)
			loss->unix_ms = unix_ms;
	}
	if (!newest)
		return false;
	/* without its own date it may be newer than all dates that are known */
	if (!lost_unix_ms(in, newest) || undated)
		loss->unix_ms = 0;
	loss->is_one = true;
	loss->candidate = (size_t)(newest - all);
	return true;
}

/* What is known to have been complete and is not there is lost as well, whatever date the damaged ones have. */
static void add_recorded(const struct inquiry *in, const struct candidate *chosen,
			 struct decision_loss *loss)
{
	struct snapshot newest = {0};
	const char *path = NULL;
	int64_t unix_ms;

	if (lineage_newest(&in->lineage, in->policy->restore == POLICY_LATEST, &path) <=
	    chosen->snapshot.checkpoint_id)
		return;
	newest.path = (char *)(uintptr_t)path;
	unix_ms = journal_completed_unix_ms(in->journal, &newest);
	/* MUT: the date of a damaged snapshot says how much is lost, against the journal */
	if (loss->unix_ms && unix_ms > loss->unix_ms)
		loss->unix_ms = unix_ms;
}

static void hold_for_loss(struct inquiry *in, struct candidate *chosen, int64_t limit_ms)
{
	const struct decision_loss *loss = &in->decision->loss;
	const struct candidate *lost = &in->facts->candidates[loss->candidate];
	char age[CLOCK_TEXT_BYTES] = "an unknown time", limit[CLOCK_TEXT_BYTES] = "0";

	if (loss->ms != LOSS_UNKNOWN)
		clock_human(loss->ms, age);
	if (limit_ms)
		clock_human(limit_ms, limit);
	inquiry_judge(chosen, VERDICT_REJECTED, "%s older than %s, and restore.maxLoss is %s", age,
		      lost->snapshot.path, limit);
	inquiry_hold(
		in, CAUSE_NEWEST_STATE_DAMAGED, RULE_NEWEST,
		"the newest state %s is damaged; the newest usable snapshot %s is %s older, but restore.maxLoss is %s; restore the files of the damaged one, or accept the loss with `drey resume --from %s` (%s)",
		lost->snapshot.path, chosen->snapshot.path, age, limit, chosen->snapshot.path,
		inquiry_detail(lost->detail));
}

bool loss_forbids(struct inquiry *in)
{
	struct decision *decision = in->decision;
	int64_t limit_ms = loss_limit_ms(&in->policy->max_loss, in->journal);
	char age[CLOCK_TEXT_BYTES];
	struct candidate *chosen;

	if ((decision->kind != DECISION_START_FROM && decision->kind != DECISION_CONTINUE) ||
	    decision->rule == RULE_REQUEST)
		return false;
	chosen = &in->facts->candidates[decision->candidate];
	pass_over_unnumbered(in, chosen);
	if (!find_loss(in, &decision->loss))
		return false;
	add_recorded(in, chosen, &decision->loss);
	decision->loss.ms =
		loss_between_ms(decision->loss.unix_ms, candidate_started_unix_ms(in, chosen));
	/* MUT: any loss is accepted */
	if (loss_is_too_much(decision->loss.ms, limit_ms)) {
		hold_for_loss(in, chosen, limit_ms);
		return true;
	}
	inquiry_add(in, "; %s of state are lost, because %s is damaged",
		    clock_human(decision->loss.ms, age),
		    in->facts->candidates[decision->loss.candidate].snapshot.path);
	return false;
}
