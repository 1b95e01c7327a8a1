/*
 * Rule 8, restore.adopt: newest. The journal is lost, as with the cluster that it was kept in, and the
 * application starts from the newest snapshot that is found, without a person.
 *
 * A person would look at three things, and so does this. Is the snapshot this job's? Every operator in it
 * must be one that the job has, as the job's own main() says; one that has none of them is another job's.
 * Is it the newest? Its date says so, and no other job in the directories has left a checkpoint id that is as high:
 * the ids of a lineage grow, also from one job to the next, so where they disagree with the dates, a person has once
 * gone back, the files were copied, or a job has not restored what it should. Is it whole? As for every start; and
 * where a newer one is damaged, an older one of the same job may take its place, but not one of another job, since what
 * its job was started from is not known. In all other cases drey holds.
 *
 * Whether the application runs elsewhere cannot be seen here (docs/reference/configuration.md says what does).
 */
#include <inttypes.h>

#include "core/resolve/resolve_internal.h"

#define WAY_OUT "use `drey resume --from PATH` to start from one, or `drey resume --empty`"

bool adopt_applies(const struct inquiry *in)
{
	return in->policy->adopt_lost == ADOPT_NEWEST && inquiry_never_ran(in) &&
	       foreign_is_there(in);
}

static void hold(struct inquiry *in, const struct candidate *c, const char *why)
{
	inquiry_hold(
		in, CAUSE_JOURNAL_LOST, RULE_NOTHING,
		"the journal has no launch that ran, and restore.adopt is newest, but drey does not take %s: %s; " WAY_OUT,
		c->snapshot.path, why);
}

/* True: a question, or a hold. */
static bool ownership_is_open(struct inquiry *in, const struct candidate *c)
{
	const struct job_fact *job = &in->facts->job;

	if (job->state == SOURCE_NOT_CONFIGURED) {
		inquiry_ask_job(in, RULE_NOTHING);
		return true;
	}
	if (job->state == SOURCE_PRESENT)
		return false;
	hold(in, c, "the operators of the job are not known");
	inquiry_add(in, " (%s)", inquiry_detail(job->detail));
	return true;
}

/* Of another job, or the initial savepoint: dates do not tell how old that is. */
static bool is_rival(const struct candidate *c, const struct candidate *newest)
{
	const struct snapshot *s = &c->snapshot;

	if (c == newest || c->verdict != VERDICT_NONE || c->integrity == INTEGRITY_INCOMPLETE ||
	    candidate_same_job(c, newest))
		return false;
	return s->checkpoint_id >= newest->snapshot.checkpoint_id ||
	       (!s->checkpoint_id && c->integrity != INTEGRITY_DAMAGED);
}

/* The ids of a lineage grow: one of an older date and as high an id is none that the newest goes on from. */
static bool rival_decides(struct inquiry *in, struct candidate *newest)
{
	for (size_t i = 0; i < in->facts->candidate_count; i++) {
		struct candidate *c = &in->facts->candidates[i];

		if (!is_rival(c, newest))
			continue;
		if (c->integrity == INTEGRITY_UNCHECKED) {
			inquiry_verify(in, c, RULE_NOTHING);
			return true;
		}
		if (operators_of_job(c, &in->facts->job) == OPERATORS_DISJOINT) {
			inquiry_judge(
				c, VERDICT_REJECTED,
				"belongs to another job: it has none of the operators of this one");
			continue;
		}
		hold(in, newest, "it has the newest date, but not the highest checkpoint id");
		inquiry_add(in, " (%" PRId64 "; %s has %" PRId64 ")",
			    newest->snapshot.checkpoint_id, c->snapshot.path,
			    c->snapshot.checkpoint_id);
		return true;
	}
	return false;
}

/* Of another job, and what that one was started from is not known: it may have gone back behind c. (Flink's HA data name it
 * until the job has completed a few checkpoints.) */
static const struct candidate *damaged_newer(const struct inquiry *in, const struct candidate *c)
{
	for (size_t i = 0; i < in->facts->candidate_count; i++) {
		const struct candidate *other = &in->facts->candidates[i];

		/* only what would have come before c was judged before it */
		if (other->passed_over && !candidate_same_job(other, c) &&
		    !facts_ha_has_job(c, other->snapshot.job_id))
			return other;
	}
	return NULL;
}

bool adopt_decides(struct inquiry *in, struct candidate *c)
{
	const struct candidate *damaged;

	if (c->integrity == INTEGRITY_UNCHECKED) {
		inquiry_verify(in, c, RULE_NOTHING);
		return true;
	}
	if (ownership_is_open(in, c))
		return true;
	switch (operators_of_job(c, &in->facts->job)) {
	case OPERATORS_DISJOINT:
		inquiry_judge(c, VERDICT_REJECTED,
			      "belongs to another job: it has none of the operators of this one");
		return false;
	case OPERATORS_UNKNOWN:
		hold(in, c, "it names no operator, so whose it is cannot be told");
		return true;
	case OPERATORS_OVERLAP:
		hold(in, c, "it has state of operators that this job does not have");
		return true;
	case OPERATORS_WITHIN:
		break;
	}
	if (!c->snapshot.completed_unix_ms) {
		hold(in, c, "its date is not known, so it may not be the newest");
		return true;
	}
	damaged = damaged_newer(in, c);
	if (damaged) {
		hold(in, c, "a newer one, of another job, is damaged");
		inquiry_add(in, " (%s: %s)", damaged->snapshot.path,
			    inquiry_detail(damaged->detail));
		return true;
	}
	/* MUT: what is adopted may have a lower checkpoint id than another one */
	return rival_decides(in, c) || gates_decide(in, c);
}
