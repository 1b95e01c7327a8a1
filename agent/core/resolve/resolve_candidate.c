/*
 * What a candidate is, and which of two is newer. Shared by several rules.
 */
#include <string.h>

#include "core/resolve/resolve_internal.h"

bool inquiry_never_ran(const struct inquiry *in)
{
	const struct journal *journal = in->journal;

	return in->lineage.tip < 0 && !journal->snapshot_count && !journal->ever_proven;
}

bool launch_left_state(const struct launch *launch)
{
	return launch->left_state && !launch->mismatched;
}

bool candidate_is_initial(const struct candidate *c)
{
	return c->source == SOURCE_INITIAL || c->snapshot.origin == ORIGIN_INITIAL;
}

struct candidate *candidate_newest_dated(const struct inquiry *in, candidate_test *fits,
					 const struct candidate *than)
{
	struct candidate *newest = NULL;

	for (size_t i = 0; i < in->facts->candidate_count; i++) {
		struct candidate *c = &in->facts->candidates[i];

		if (fits(in, c, than) &&
		    (!newest || c->snapshot.completed_unix_ms > newest->snapshot.completed_unix_ms))
			newest = c;
	}
	return newest;
}

bool candidate_is_fallback(const struct inquiry *in, const struct candidate *c)
{
	return candidate_is_initial(c) && !in->journal->ever_proven &&
	       (inquiry_never_ran(in) ||
		lineage_place(&in->lineage, &c->snapshot) != BRANCH_LIVING);
}

bool candidate_is_tainted(const struct inquiry *in, const struct candidate *c)
{
	return lineage_is_tainted(&in->lineage, &c->snapshot);
}

bool candidate_is_damaged(const struct candidate *c)
{
	return c->integrity == INTEGRITY_DAMAGED ||
	       (c->integrity == INTEGRITY_INCOMPLETE && c->in_ha);
}

static int compare_numbers(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

/* The result does not depend on the order in which they were found. */
int candidate_compare_age(const struct snapshot *a, const struct snapshot *b, bool by_id)
{
	int by_number = compare_numbers(b->checkpoint_id, a->checkpoint_id);
	int by_time = compare_numbers(b->completed_unix_ms, a->completed_unix_ms);
	int first = by_id ? by_number : by_time, second = by_id ? by_time : by_number;

	if (first)
		return first;
	return second ? second : strcmp(a->path, b->path);
}

bool candidate_same_job(const struct candidate *a, const struct candidate *b)
{
	return *a->snapshot.job_id &&
	       !strncmp(a->snapshot.job_id, b->snapshot.job_id, JOB_GROUP_DIGITS);
}

struct candidate *candidate_newest_own(struct inquiry *in)
{
	struct candidate *best = NULL;

	for (size_t i = 0; i < in->facts->candidate_count; i++) {
		struct candidate *c = &in->facts->candidates[i];

		if (candidate_is_tainted(in, c) || c->integrity == INTEGRITY_INCOMPLETE ||
		    lineage_place(&in->lineage, &c->snapshot) != BRANCH_LIVING)
			continue;
		if (!best || candidate_compare_age(&c->snapshot, &best->snapshot, true) < 0)
			best = c;
	}
	return best;
}

const struct candidate *candidate_trace(const struct inquiry *in)
{
	for (size_t i = 0; i < in->facts->candidate_count; i++) {
		const struct candidate *c = &in->facts->candidates[i];

		if (candidate_is_fallback(in, c) || candidate_is_tainted(in, c))
			continue;
		if (inquiry_never_ran(in)) {
			if (in->adopts)
				return c;
			continue;
		}
		if (facts_was_completed(c) &&
		    lineage_place(&in->lineage, &c->snapshot) == BRANCH_LIVING)
			return c;
	}
	return NULL;
}

struct candidate *requested_candidate(const struct inquiry *in)
{
	return facts_find(in->facts, in->journal->intent.restore.path);
}
