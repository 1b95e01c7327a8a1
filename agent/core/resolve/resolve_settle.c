/*
 * Rule 3. Flink ended with an operation in flight and cannot be asked for its result; but a
 * completed savepoint is in storage, under a name with the digits of the job id.
 */
#include <string.h>

#include "base/mem.h"
#include "core/resolve/resolve_internal.h"

static bool is_of_job(const struct operation *operation, const struct candidate *c)
{
	const char *id = c->snapshot.job_id;

	return *id && !strncmp(operation->job_id, id, strlen(id));
}

/* A checkpoint with a higher id was complete when the operation began. Flink numbers what it begins, whatever date a file has. */
static bool began_before(const struct inquiry *in, const struct candidate *c)
{
	const struct operation *operation = &in->journal->operation;

	for (size_t i = 0; i < in->journal->launch_count; i++) {
		const struct launch *launch = &in->journal->launches[i];

		if (!strcmp(launch->job_id, operation->job_id) && launch->last_checkpoint_unix_ms &&
		    launch->last_checkpoint_unix_ms <= operation->started_unix_ms &&
		    c->snapshot.checkpoint_id &&
		    c->snapshot.checkpoint_id < launch->last_checkpoint_id)
			return true;
	}
	return false;
}

/* The savepoint of the operation before, which was judged damaged and is therefore no snapshot of the journal's: it was read
 * in the same second in which this one began. */
static bool was_refused(const struct inquiry *in, const struct candidate *c)
{
	const struct operation_result *last = &in->journal->last_operation;

	return last->location && strcmp(last->trigger_id, in->journal->operation.trigger_id) != 0 &&
	       snapshot_same_path(last->location, c->snapshot.path);
}

/* Completed after the operation began. A snapshot in the journal counts by the journal's clock; it
 * may belong to the previous operation, which ended in the same step that began this one. */
static bool is_later(const struct inquiry *in, const struct candidate *c)
{
	const struct operation *operation = &in->journal->operation;
	const struct snapshot *known = journal_snapshot(in->journal, c->snapshot.path);
	int64_t completed = c->snapshot.completed_unix_ms;

	if (known)
		return known->completed_unix_ms > operation->started_unix_ms;
	/* MUT: the savepoint of the operation before is the result of a stop */
	if (was_refused(in, c))
		return false;
	/* MUT: the date of an old savepoint makes it the result of a stop */
	if (began_before(in, c))
		return false;
	return !completed || completed + OPERATION_CLOCK_MS >= operation->started_unix_ms;
}

static bool may_be_the_result(const struct inquiry *in, const struct candidate *c)
{
	const struct operation *operation = &in->journal->operation;
	const char *dir = operation_directory(operation);

	return c->snapshot.kind == SNAPSHOT_SAVEPOINT && c->integrity != INTEGRITY_INCOMPLETE &&
	       is_of_job(operation, c) && (!dir || snapshot_is_under(c->snapshot.path, dir)) &&
	       is_later(in, c);
}

/* The best one: complete before unchecked before unreadable before damaged. */
static struct candidate *find_result(struct inquiry *in)
{
	static const int rank[] = {[INTEGRITY_COMPLETE] = 4,
				   [INTEGRITY_UNCHECKED] = 3,
				   [INTEGRITY_UNREADABLE] = 2,
				   [INTEGRITY_DAMAGED] = 1};
	struct candidate *best = NULL;

	for (size_t i = 0; i < in->facts->candidate_count; i++) {
		struct candidate *c = &in->facts->candidates[i];

		if (!may_be_the_result(in, c))
			continue;
		if (!best || rank[c->integrity] > rank[best->integrity] ||
		    (rank[c->integrity] == rank[best->integrity] &&
		     candidate_compare_age(&c->snapshot, &best->snapshot, true) < 0))
			best = c;
	}
	return best;
}

/* Holds for the result, unless rules 1 and 2 park. */
static bool stays_open(struct inquiry *in, const char *what, const char *detail)
{
	struct decision park;

	in->decision->settlement = SETTLEMENT_OPEN;
	if (resolve_parked(in->journal, in->policy, &park))
		return false;
	inquiry_hold(
		in, CAUSE_OPERATION_UNSETTLED, RULE_OPERATION,
		"Flink ended during a %s (%s), and %s cannot be read to find its result: %s; drey retries",
		operation_kind_name(in->journal->operation.kind),
		operation_reason_name(in->journal->operation.reason), what, inquiry_detail(detail));
	return true;
}

/* Was the operation's own directory read, wherever the configuration points now? True when not:
 * decided, or parked anyway. */
static bool is_unread(struct inquiry *in, bool *ret_decided)
{
	const struct source_fact *source = &in->facts->sources[SOURCE_SAVEPOINTS];
	const char *dir = operation_directory(&in->journal->operation);
	const struct place_fact *place =
		dir ? facts_place(in->facts, SNAPSHOT_SAVEPOINT, dir) : NULL;

	if (dir && !place)
		*ret_decided = stays_open(in, dir, "it was not listed");
	else if (place && place->state == SOURCE_UNREADABLE)
		*ret_decided = stays_open(in, dir, place->detail);
	else if (!dir && source->state == SOURCE_UNREADABLE)
		*ret_decided = stays_open(in, "the savepoint directory", source->detail);
	else
		return false;
	return true;
}

/* Flink begins no checkpoint after the savepoint of a stop, unless that stop has failed and the job continues. That one was
 * begun is enough: what has become of it is judged elsewhere. */
static bool continued_after(const struct inquiry *in, const struct snapshot *savepoint)
{
	const struct operation *operation = &in->journal->operation;

	for (size_t i = 0; i < in->facts->candidate_count; i++) {
		const struct snapshot *s = &in->facts->candidates[i].snapshot;

		if (s->kind == SNAPSHOT_CHECKPOINT && savepoint->checkpoint_id &&
		    s->checkpoint_id > savepoint->checkpoint_id &&
		    !strcmp(s->job_id, operation->job_id))
			return operation->kind == OPERATION_STOP;
	}
	return false;
}

bool operation_decides(struct inquiry *in)
{
	const struct operation *operation = &in->journal->operation;
	struct candidate *c;
	bool decided;

	if (in->facts->sources[SOURCE_JOURNAL].state == SOURCE_UNREADABLE ||
	    (operation->kind != OPERATION_SAVEPOINT && operation->kind != OPERATION_STOP))
		return false;
	if (is_unread(in, &decided))
		return decided;
	c = find_result(in);
	if (c && c->integrity == INTEGRITY_UNCHECKED) {
		inquiry_verify(in, c, RULE_OPERATION);
		return true;
	}
	if (c && c->integrity == INTEGRITY_UNREADABLE)
		return stays_open(in, c->snapshot.path, c->detail);
	in->decision->settlement =
		c && c->integrity == INTEGRITY_COMPLETE ? SETTLEMENT_MADE : SETTLEMENT_FAILED;
	/* MUT: a stop was made although the job continued after its savepoint */
	if (in->decision->settlement == SETTLEMENT_MADE && continued_after(in, &c->snapshot))
		in->decision->settlement = SETTLEMENT_PASSED;
	if (c)
		in->decision->settled = (size_t)(c - in->facts->candidates);
	return false;
}
