/*
 * Which savepoints must be read to know which one is the newest.
 *
 * The checkpoint id of a savepoint is not in its name but in its _metadata, and a listing of
 * thousands would cost a request for each. A savepoint need not be read as long as the decision is
 * the same whatever its id is:
 *
 *   without a lineage   each job competes with its newest snapshot, by date. A job whose dates are
 *                       all behind what another job is certain to have cannot win, and a job with
 *                       a single snapshot needs no id, unless the dates are equal.
 *   in a lineage        the ids of a launch that was followed by another one count only up to the
 *                       restore point of that one; above it they are an abandoned branch. So its
 *                       savepoints are behind any usable snapshot with a higher id.
 *
 * Dates alone never decide inside a job: a savepoint may take longer than the checkpoints after it,
 * and a copied directory has the dates of the copy. So of the launch that ran last, every savepoint
 * is read. Where rules other than those two compare ids, every one is read, too.
 */
#include <string.h>

#include "core/resolve/resolve_internal.h"

/* Ask for those that are marked. */
static bool ask_for_wanted(struct inquiry *in)
{
	for (size_t i = 0; i < in->facts->candidate_count; i++)
		if (in->facts->candidates[i].wanted) {
			inquiry_verify(in, &in->facts->candidates[i], RULE_NEWEST);
			return true;
		}
	return false;
}

/* ---- all of them ---- */

static bool request_is_in_force(const struct inquiry *in)
{
	const struct restore_request *request = &in->journal->intent.restore;
	const struct launch *launch = journal_launch_const(in->journal);

	if (request->kind == RESTORE_NONE)
		return false;
	if (!request->token || !journal_is_consumed(in->journal, request->token))
		return true;
	return launch && launch->request_token && !strcmp(launch->request_token, request->token);
}

static bool all_matter(const struct inquiry *in)
{
	const struct operation *operation = &in->journal->operation;

	if (inquiry_never_ran(in) && !in->policy->adopt)
		return true;
	return operation->kind == OPERATION_SAVEPOINT || operation->kind == OPERATION_STOP ||
	       request_is_in_force(in) || (!inquiry_never_ran(in) && foreign_matters(in));
}

bool heads_all_decide(struct inquiry *in)
{
	bool all = all_matter(in);

	for (size_t i = 0; i < in->facts->candidate_count; i++)
		in->facts->candidates[i].wanted = all && in->facts->candidates[i].unread;
	return ask_for_wanted(in);
}

/* ---- without a lineage ---- */

/* The snapshots of one job: order[begin] to order[end]. */
struct group {
	size_t begin, end, count;
	int64_t first_unix_ms, last_unix_ms; /* of those that are open */
};

static struct candidate *at(const struct inquiry *in, size_t i)
{
	return &in->facts->candidates[in->order[i]];
}

static bool is_open(const struct candidate *c)
{
	return c->verdict == VERDICT_NONE;
}

/* The group that begins there. */
static struct group group_at(const struct inquiry *in, size_t begin)
{
	struct group group = {.begin = begin, .end = begin, .first_unix_ms = INT64_MAX};
	const char *job = at(in, begin)->snapshot.job_id;

	for (; group.end < in->order_count &&
	       !strncmp(at(in, group.end)->snapshot.job_id, job, JOB_GROUP_DIGITS);
	     group.end++) {
		int64_t date = at(in, group.end)->snapshot.completed_unix_ms;

		if (!is_open(at(in, group.end)))
			continue;
		group.count++;
		if (date < group.first_unix_ms)
			group.first_unix_ms = date;
		if (date > group.last_unix_ms)
			group.last_unix_ms = date;
	}
	return group;
}

/* The newest group has at least this date, whatever the ids are. */
static int64_t certain_date(const struct inquiry *in)
{
	int64_t certain = 0;

	for (size_t i = 0; i < in->order_count;) {
		struct group group = group_at(in, i);

		if (group.count && group.first_unix_ms > certain)
			certain = group.first_unix_ms;
		i = group.end;
	}
	return certain;
}

/* Another group may have the same date, and then the ids decide. */
static bool is_tied(const struct inquiry *in, const struct group *group)
{
	for (size_t i = 0; i < in->order_count; i++)
		if ((i < group->begin || i >= group->end) && is_open(at(in, i)) &&
		    at(in, i)->snapshot.completed_unix_ms == group->last_unix_ms)
			return true;
	return false;
}

static void want_by_date(struct inquiry *in)
{
	int64_t certain = certain_date(in);

	for (size_t i = 0; i < in->order_count;) {
		struct group group = group_at(in, i);

		if (group.last_unix_ms >= certain && (group.count > 1 || is_tied(in, &group)))
			for (size_t k = group.begin; k < group.end; k++)
				at(in, k)->wanted = is_open(at(in, k)) && at(in, k)->unread;
		i = group.end;
	}
}

/* ---- in a lineage ---- */

/* The highest id that is known to be there and may be usable, and the lowest that Flink's HA data
 * name. */
static void find_known(const struct inquiry *in, int64_t *ret_best, int64_t *ret_in_ha)
{
	*ret_best = 0;
	*ret_in_ha = INT64_MAX;
	for (size_t i = 0; i < in->order_count; i++) {
		const struct candidate *c = at(in, i);

		if (is_open(c) && c->integrity != INTEGRITY_DAMAGED &&
		    c->integrity != INTEGRITY_INCOMPLETE && c->snapshot.checkpoint_id > *ret_best)
			*ret_best = c->snapshot.checkpoint_id;
	}
	for (size_t i = 0; i < in->facts->candidate_count; i++) {
		const struct candidate *c = &in->facts->candidates[i];

		if (c->in_ha && c->snapshot.checkpoint_id < *ret_in_ha)
			*ret_in_ha = c->snapshot.checkpoint_id;
	}
}

static void want_by_id(struct inquiry *in)
{
	int64_t best, in_ha;

	find_known(in, &best, &in_ha);
	for (size_t i = 0; i < in->order_count; i++) {
		struct candidate *c = at(in, i);
		int64_t most = lineage_most(&in->lineage, &c->snapshot);

		c->wanted = is_open(c) && c->unread && (most >= best || most > in_ha);
	}
}

bool heads_decide(struct inquiry *in)
{
	if (inquiry_never_ran(in))
		want_by_date(in);
	else
		want_by_id(in);
	return ask_for_wanted(in);
}
