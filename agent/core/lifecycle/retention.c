#include "core/lifecycle/retention.h"

#include <stddef.h>
#include <string.h>

#include "core/handover/transition.h"

static bool subject_to(const struct retention *retention, const struct snapshot *snapshot)
{
	if (snapshot->kind != SNAPSHOT_SAVEPOINT)
		return false;
	switch (snapshot->origin) {
	case ORIGIN_PERIODIC:
		return true;
	case ORIGIN_MANUAL:
	case ORIGIN_STOP:
		return retention->all_origins;
	default:
		return false; /* not ours to delete */
	}
}

static bool names(const char *path, const struct snapshot *snapshot)
{
	return path && snapshot_same_path(path, snapshot->path);
}

/* The last one known to be complete: this one always stays. */
static const struct snapshot *newest_verified(const struct journal *journal)
{
	const struct snapshot *newest = NULL;

	for (size_t i = 0; i < journal->snapshot_count; i++) {
		const struct snapshot *snapshot = &journal->snapshots[i];

		if (snapshot->kind == SNAPSHOT_SAVEPOINT && snapshot->verified &&
		    (!newest || snapshot->completed_unix_ms >= newest->completed_unix_ms))
			newest = snapshot;
	}
	return newest;
}

/* The same, independent of clocks: within one job the id shows which is the newest, whatever the
 * clock was. */
static bool is_newest_of_job(const struct journal *journal, const struct snapshot *snapshot)
{
	const struct launch *now = journal_launch_const(journal);

	if (!*snapshot->job_id || strcmp(snapshot->job_id, now->job_id) != 0)
		return false;
	if (!snapshot->checkpoint_id) /* it could not be checked: unknown */
		return true;
	for (size_t i = 0; i < journal->snapshot_count; i++) {
		const struct snapshot *other = &journal->snapshots[i];

		if (other->kind == SNAPSHOT_SAVEPOINT && other->verified &&
		    !strcmp(other->job_id, now->job_id) &&
		    other->checkpoint_id > snapshot->checkpoint_id)
			return false;
	}
	return true;
}

/* Nothing is disposed of before the current launch has its own checkpoint: until then a failed
 * start falls back to its restore point and to what is older. */
static bool on_its_own(const struct journal *journal)
{
	const struct launch *launch = journal_launch_const(journal);

	return launch && launch->proven_unix_ms && !launch->mismatched;
}

/* What the current job was started from stays in Flink's HA data until enough checkpoints followed,
 * and Flink recovers nothing if one of its entries is missing. Only Flink knows how many are
 * enough, so it is kept as long as the job id is in use. */
static bool is_origin(const struct journal *journal, const struct snapshot *snapshot)
{
	const struct launch *now = journal_launch_const(journal);

	for (size_t i = 0; i < journal->launch_count; i++)
		if (!strcmp(journal->launches[i].job_id, now->job_id) &&
		    names(journal->launches[i].restore_path, snapshot))
			return true;
	return false;
}

static bool is_named(const struct journal *journal, const struct snapshot *snapshot)
{
	/* MUT: a savepoint goes that a transition depends on */
	if (transition_keeps(&journal->handover, snapshot->path))
		return true;
	return is_origin(journal, snapshot) || names(journal->intent.restore.path, snapshot) ||
	       names(journal->operation.path, snapshot) ||
	       names(journal->last_operation.location, snapshot);
}

/* Not long ago something referred to its files. A clock that was set back does not keep it for ever. */
static bool is_referred_to(const struct snapshot *snapshot, int64_t now_unix_ms)
{
	int64_t age_ms = now_unix_ms - snapshot->needed_unix_ms;

	return snapshot->needed_unix_ms && age_ms >= 0 && age_ms < RETENTION_NEEDED_MS;
}

/* The savepoint that the current job was started from, if recorded. */
static const struct snapshot *origin(const struct journal *journal)
{
	for (size_t i = 0; i < journal->snapshot_count; i++)
		if (journal->snapshots[i].kind == SNAPSHOT_SAVEPOINT &&
		    is_origin(journal, &journal->snapshots[i]))
			return &journal->snapshots[i];
	return NULL;
}

const struct snapshot *retention_keeper(const struct journal *journal)
{
	const struct launch *now = journal_launch_const(journal);
	const struct snapshot *newest = NULL, *from;

	if (!now)
		return NULL;
	for (size_t i = 0; i < journal->snapshot_count; i++) {
		const struct snapshot *snapshot = &journal->snapshots[i];

		if (snapshot->kind == SNAPSHOT_SAVEPOINT && snapshot->verified &&
		    !strcmp(snapshot->job_id, now->job_id) &&
		    (!newest || snapshot->checkpoint_id > newest->checkpoint_id))
			newest = snapshot;
	}
	if (newest)
		return newest;
	/* whatever the dates say, nothing of earlier launches is newer than this */
	from = origin(journal);
	if (from)
		return from->verified ? from : NULL;
	return newest_verified(journal);
}

static size_t newer_ones(const struct retention *retention, const struct journal *journal,
			 const struct snapshot *than)
{
	size_t count = 0;

	for (size_t i = 0; i < journal->snapshot_count; i++) {
		const struct snapshot *snapshot = &journal->snapshots[i];

		/* one that is not known to be complete replaces no other */
		if (snapshot != than && subject_to(retention, snapshot) && snapshot->verified &&
		    snapshot->completed_unix_ms > than->completed_unix_ms)
			count++;
	}
	return count;
}

static bool is_due(const struct retention *retention, const struct journal *journal,
		   const struct snapshot *snapshot, int64_t now_unix_ms)
{
	if (retention->max_age_ms && snapshot->completed_unix_ms &&
	    now_unix_ms - snapshot->completed_unix_ms > retention->max_age_ms)
		return true;
	return retention->keep_count &&
	       newer_ones(retention, journal, snapshot) >= (size_t)retention->keep_count;
}

const struct snapshot *retention_next(const struct retention *retention,
				      const struct journal *journal, int64_t now_unix_ms)
{
	const struct snapshot *newest = newest_verified(journal), *oldest = NULL;

	if (!on_its_own(journal) || !newest || !retention_keeper(journal))
		return NULL;
	for (size_t i = 0; i < journal->snapshot_count; i++) {
		const struct snapshot *snapshot = &journal->snapshots[i];

		if (snapshot == newest || is_newest_of_job(journal, snapshot) ||
		    !subject_to(retention, snapshot) || is_named(journal, snapshot) ||
		    is_referred_to(snapshot, now_unix_ms) ||
		    !is_due(retention, journal, snapshot, now_unix_ms))
			continue;
		if (!oldest || snapshot->completed_unix_ms < oldest->completed_unix_ms)
			oldest = snapshot;
	}
	return oldest;
}
