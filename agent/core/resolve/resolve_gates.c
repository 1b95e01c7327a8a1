/*
 * Rule 8, blue/green. The journal has the cut of a transition: which of the two versions writes which records. When the
 * journal is lost, only the snapshots show that there was one (format/metadata.h). If a job is started from a snapshot whose
 * gates held records back, these records are lost; from one before that, records are written twice. A person decides.
 */
#include "core/resolve/resolve_internal.h"

/* Completed before c, and neither damaged nor with records held back, as far as is known. */
static bool is_before(const struct inquiry *in, const struct candidate *other,
		      const struct candidate *c)
{
	return other != c && foreign_counts(in, other) &&
	       (!in->adopts || other->verdict != VERDICT_REJECTED) &&
	       (other->integrity == INTEGRITY_UNCHECKED ||
		other->integrity == INTEGRITY_COMPLETE) &&
	       !other->gates_hold && facts_was_completed(other) &&
	       other->snapshot.completed_unix_ms <= c->snapshot.completed_unix_ms;
}

bool gates_decide(struct inquiry *in, struct candidate *c)
{
	struct candidate *before;

	/* MUT: a snapshot whose gates held records back is taken without its journal */
	if (!c->gates_hold)
		return false;
	before = candidate_newest_dated(in, is_before, c);
	if (before && before->integrity == INTEGRITY_UNCHECKED) {
		inquiry_verify(in, before, RULE_NOTHING);
		return true;
	}
	inquiry_hold(
		in, CAUSE_JOURNAL_LOST, RULE_NOTHING,
		"the journal may be lost, and in the newest state %s the gates of a blue/green upgrade hold records back for the other version; use `drey resume --from PATH`: ",
		c->snapshot.path);
	if (before)
		inquiry_add(in,
			    "with %s, from before that, what was written since is written again; ",
			    before->snapshot.path);
	else
		inquiry_add(in, "none from before that was found; ");
	inquiry_add(in, "with the newest, what the gates held back is lost");
	return true;
}

bool lost_gates_decide(struct inquiry *in)
{
	struct candidate *newest = in->adopts || !inquiry_never_ran(in) ? NULL : foreign_newest(in);

	if (!newest)
		return false;
	if (in->policy->gates && newest->integrity == INTEGRITY_UNCHECKED) {
		inquiry_verify(in, newest, RULE_NOTHING);
		return true;
	}
	return gates_decide(in, newest);
}
