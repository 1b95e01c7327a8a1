/*
 * Rule 8, blue/green. A journal that is lost in a transition takes the cut with it: which of the two versions was to write
 * which records. The state of the gates is in each snapshot (format/metadata.h). One whose gates held records back is
 * not the newest state that loses nothing, whatever its date is: nobody writes what was held back. One from before that
 * is, and repeats what was written since. Which of the two is wanted, a person knows.
 */
#include "core/resolve/resolve_internal.h"

/* Whole, or may be; not after c, and its gates held nothing back, as far as is known. */
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

static struct candidate *newest_before(const struct inquiry *in, const struct candidate *c)
{
	struct candidate *newest = NULL;

	for (size_t i = 0; i < in->facts->candidate_count; i++) {
		struct candidate *other = &in->facts->candidates[i];

		if (is_before(in, other, c) &&
		    (!newest ||
		     other->snapshot.completed_unix_ms > newest->snapshot.completed_unix_ms))
			newest = other;
	}
	return newest;
}

bool gates_decide(struct inquiry *in, struct candidate *c)
{
	struct candidate *before;

	/* MUT: a snapshot whose gates held records back is taken without its journal */
	if (!c->gates_hold)
		return false;
	before = newest_before(in, c);
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
