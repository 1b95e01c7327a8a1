/*
 * Rule 8: there is nothing to start from. Also the declared empty starts of rule 6.
 */
#include <inttypes.h>

#include "core/resolve/resolve_internal.h"

/* ---- declared ---- */

bool stateless_decides(struct inquiry *in)
{
	size_t count = in->facts->candidate_count;

	if (in->policy->restore != POLICY_NONE)
		return false;
	inquiry_judge_rest(in, VERDICT_REJECTED, "restore.policy is none");
	inquiry_decide(in, DECISION_START_EMPTY, RULE_NEWEST,
		       "restore.policy is none: the job is declared stateless and starts empty");
	if (count)
		inquiry_add(in, "; warning: %zu snapshots were found and are ignored", count);
	return true;
}

bool stateless_upgrade_decides(struct inquiry *in)
{
	const struct candidate *unread = generation_unread(in);

	/* MUT: a savepoint that cannot be read is state of a generation that starts empty */
	if (unread) {
		inquiry_hold(
			in, CAUSE_SNAPSHOT_UNREADABLE, RULE_UNREADABLE,
			"upgrade is stateless, and %s, which tells whether generation %s has left state, cannot be read: %s",
			unread->snapshot.path, in->policy->generation,
			inquiry_detail(unread->detail));
		return true;
	}
	if (!generation_starts_empty(in))
		return false;
	inquiry_judge_rest(in, VERDICT_REJECTED, "upgrade is stateless");
	inquiry_decide(in, DECISION_START_EMPTY, RULE_NEWEST,
		       "upgrade is stateless: generation %s is new and starts empty",
		       in->policy->generation);
	return true;
}

/* ---- nothing was found ---- */

/* What an earlier launch has completed, of a branch that a later start has left. */
static bool is_left_behind(const struct inquiry *in, const struct candidate *c,
			   const struct candidate *than)
{
	(void)than;
	return facts_was_completed(c) && lineage_maker(in->journal, &c->snapshot) >= 0;
}

static const struct candidate *left_behind(const struct inquiry *in)
{
	return candidate_newest_dated(in, is_left_behind, NULL);
}

static bool has_state(const struct inquiry *in)
{
	const struct journal *journal = in->journal;
	const char *path = NULL;

	for (size_t i = 0; i < journal->launch_count; i++)
		if (journal->launches[i].restore_path || launch_left_state(&journal->launches[i]))
			return true;
	/* MUT: what an earlier launch has left is passed over for an empty start */
	if (left_behind(in))
		return true;
	return journal->ever_proven || journal->snapshot_count ||
	       lineage_newest(&in->lineage, true, &path);
}

#define WAYS_OUT                                                                                   \
	"choose a snapshot with `drey resume --from PATH`, or accept the loss with `drey resume --empty`"

static size_t left_out(const struct inquiry *in)
{
	size_t count = 0;

	for (size_t i = 0; i < SOURCE_COUNT; i++)
		count += in->facts->sources[i].left_out;
	return count;
}

/* The last launch carried out a request to start empty that is no longer in force, and left
 * nothing. */
static const struct launch *emptied(const struct inquiry *in)
{
	const struct launch *tip =
		in->lineage.tip < 0 ? NULL : &in->journal->launches[in->lineage.tip];

	return tip && tip->request_token && !tip->restore_path ? tip : NULL;
}

/* A person could choose it: nothing shows that it is damaged. */
static bool is_there(const struct inquiry *in, const struct candidate *c,
		     const struct candidate *than)
{
	(void)in;
	(void)than;
	return c->integrity == INTEGRITY_UNCHECKED || c->integrity == INTEGRITY_COMPLETE;
}

static void hold_without_state(struct inquiry *in)
{
	const struct candidate *newest = candidate_newest_own(in);
	const struct candidate *left = left_behind(in);
	const struct candidate *there = candidate_newest_dated(in, is_there, NULL);
	const struct launch *empty = emptied(in);

	inquiry_hold(in, CAUSE_NO_USABLE_STATE, RULE_NOTHING,
		     "the application has run before, but no usable snapshot was found");
	if (newest)
		inquiry_add(in, " (the newest is %s: %s)", newest->snapshot.path,
			    inquiry_detail(newest->reason));
	else if (empty)
		inquiry_add(
			in,
			": launch %" PRId64
			" started empty, as requested, and left no snapshot; that request abandoned all earlier ones",
			empty->number);
	else if (left)
		inquiry_add(in, ": %s is of a launch from before an empty start",
			    left->snapshot.path);
	if (left_out(in))
		inquiry_add(in, "; %zu older snapshots were not checked", left_out(in));
	/* MUT: the newest snapshot that is there is not named */
	if (there)
		inquiry_add(in, "; the newest that is there is %s (%s)", there->snapshot.path,
			    inquiry_detail(there->reason));
	inquiry_add(in, "; restore the storage, or " WAYS_OUT);
}

static void hold_without_initial(struct inquiry *in)
{
	const struct candidate *c = NULL;

	for (size_t i = 0; i < in->facts->candidate_count; i++)
		if (candidate_is_fallback(in, &in->facts->candidates[i]))
			c = &in->facts->candidates[i];
	inquiry_hold(in, CAUSE_INITIAL_SAVEPOINT_UNUSABLE, RULE_NOTHING,
		     "the initial savepoint %s%sis missing or unusable: %s",
		     c ? c->snapshot.path : "", c ? " " : "",
		     inquiry_detail(c ? c->reason : in->facts->sources[SOURCE_INITIAL].detail));
}

bool nothing_decides(struct inquiry *in)
{
	const struct source_fact *initial = &in->facts->sources[SOURCE_INITIAL];
	const struct candidate *trace = candidate_trace(in);

	if (has_state(in))
		hold_without_state(in);
	else if (trace)
		inquiry_hold(
			in, CAUSE_NO_USABLE_STATE, RULE_NOTHING,
			"snapshots were found, but none is usable (%s: %s); repair it, " WAYS_OUT,
			trace->snapshot.path, inquiry_detail(trace->reason));
	else if (left_out(in))
		inquiry_hold(in, CAUSE_NO_USABLE_STATE, RULE_NOTHING,
			     "%zu snapshots were found but not checked; " WAYS_OUT, left_out(in));
	else if (initial->state == SOURCE_UNREADABLE)
		inquiry_hold(in, CAUSE_INITIAL_SAVEPOINT_UNUSABLE, RULE_UNREADABLE,
			     "the initial savepoint cannot be read: %s",
			     inquiry_detail(initial->detail));
	else if (initial->state != SOURCE_NOT_CONFIGURED)
		hold_without_initial(in);
	else if (inquiry_never_ran(in))
		inquiry_decide(
			in, DECISION_START_EMPTY, RULE_NOTHING,
			"the application has never run: every source was read and has no snapshot%s",
			in->facts->candidate_count ? " of its own" : "");
	else
		inquiry_decide(
			in, DECISION_START_EMPTY, RULE_NOTHING,
			"no launch has completed a checkpoint yet, and all of them started empty");
	return true;
}
