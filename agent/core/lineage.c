#include "core/lineage.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define SAVEPOINT_PREFIX "savepoint-"
#define SAVEPOINT_DIGITS 6 /* of the job id, in the name of a savepoint */

/* The newest launch before index `before` whose job id begins with these digits; -1 = none. */
static int maker_by_id(const struct journal *journal, const char *job_id, size_t digits, int before)
{
	for (int i = before - 1; i >= 0 && digits; i--)
		if (*journal->launches[i].job_id == *job_id &&
		    !strncmp(journal->launches[i].job_id, job_id, digits))
			return i;
	return -1;
}

/* By what the journal has recorded, else by the names that Flink gives: <job id>/chk-<n> and
 * savepoint-<6 digits of the job id>-<random>. */
static int maker_by_path(const struct journal *journal, const char *path, int before)
{
	const char *name = path, *next;

	for (size_t i = 0; i < journal->snapshot_count; i++) {
		const struct snapshot *s = &journal->snapshots[i];

		if (*s->job_id && snapshot_same_path(s->path, path))
			return maker_by_id(journal, s->job_id, strlen(s->job_id), before);
	}
	for (int i = before - 1; i >= 0; i--) {
		const struct launch *launch = &journal->launches[i];

		if (snapshot_same_path(launch->last_checkpoint_path, path) ||
		    (*launch->job_id && strstr(path, launch->job_id)))
			return i;
	}
	while ((next = strstr(name, SAVEPOINT_PREFIX)))
		name = next + strlen(SAVEPOINT_PREFIX);
	if (name == path || strlen(name) < SAVEPOINT_DIGITS)
		return -1;
	return maker_by_id(journal, name, SAVEPOINT_DIGITS, before);
}

int lineage_maker(const struct journal *journal, const struct snapshot *snapshot)
{
	int count = (int)journal->launch_count;
	size_t digits = strlen(snapshot->job_id);

	if (digits)
		return maker_by_id(journal, snapshot->job_id, digits, count);
	return maker_by_path(journal, snapshot->path, count);
}

/* A launch whose start was never reported has run all the same when it left a snapshot, or HA data. One that
 * carries out a person's order counts from the moment that it was decided: the order has given up what there
 * was, and to go back to that because nobody saw the start would be against it. */
static bool ran(const struct journal *journal, int index, const struct facts *facts)
{
	const struct launch *launch = &journal->launches[index];

	if (launch->mismatched) /* what it has made descends from nobody knows what */
		return false;
	if (launch->started_unix_ms || launch->last_checkpoint_id ||
	    (launch->request_token && !launch->never_started))
		return true;
	for (size_t i = 0; i < facts->candidate_count; i++) {
		const struct candidate *c = &facts->candidates[i];

		if (lineage_maker(journal, &c->snapshot) == index ||
		    facts_ha_has_job(c, launch->job_id))
			return true;
	}
	return false;
}

void lineage_find(struct lineage *lineage, const struct journal *journal, const struct facts *facts)
{
	int64_t limit = INT64_MAX;
	int i;

	*lineage = (struct lineage){.journal = journal, .tip = (int)journal->launch_count - 1};
	lineage->limits = xcalloc(journal->launch_count + 1, sizeof(*lineage->limits));
	for (size_t k = 0; k < journal->launch_count; k++)
		lineage->limits[k] = -1;
	while (lineage->tip >= 0 && !ran(journal, lineage->tip, facts))
		lineage->tip--;
	for (i = lineage->tip; i >= 0;) {
		const struct launch *launch = &journal->launches[i];

		lineage->limits[i] = limit;
		if (!launch->restore_path || launch->mismatched)
			return;
		/* The ids of a lineage only grow. Where one is lower than that of the launch before, what that one
		 * restored was something else than was decided, and nobody saw it: what it was to start from has
		 * no part in this branch. */
		if (launch->restore_checkpoint_id < limit)
			limit = launch->restore_checkpoint_id;
		i = maker_by_path(journal, launch->restore_path, i);
		if (i < 0)
			lineage->root = launch->restore_path;
	}
}

void lineage_release(struct lineage *lineage)
{
	if (!lineage)
		return;
	free(lineage->limits);
	*lineage = (struct lineage){0};
}

bool lineage_is_origin(const struct lineage *lineage, const struct snapshot *snapshot)
{
	return lineage->tip >= 0 &&
	       snapshot_same_path(lineage->journal->launches[lineage->tip].restore_path,
				  snapshot->path);
}

enum branch lineage_place(const struct lineage *lineage, const struct snapshot *snapshot)
{
	int maker;

	if (lineage_is_origin(lineage, snapshot) ||
	    snapshot_same_path(lineage->root, snapshot->path))
		return BRANCH_LIVING;
	maker = lineage_maker(lineage->journal, snapshot);
	if (maker < 0)
		return BRANCH_FOREIGN;
	return snapshot->checkpoint_id <= lineage->limits[maker] ? BRANCH_LIVING : BRANCH_ABANDONED;
}

int64_t lineage_newest(const struct lineage *lineage, bool checkpoints, const char **ret_path)
{
	const struct journal *journal = lineage->journal;
	const struct launch *tip = lineage->tip < 0 ? NULL : &journal->launches[lineage->tip];
	int64_t newest = 0;

	if (!tip)
		return 0;
	if (tip->restore_path) {
		newest = tip->restore_checkpoint_id;
		*ret_path = tip->restore_path;
	}
	if (checkpoints && tip->last_checkpoint_id > newest) {
		newest = tip->last_checkpoint_id;
		*ret_path = tip->last_checkpoint_path;
	}
	for (size_t i = 0; i < journal->snapshot_count; i++) {
		const struct snapshot *s = &journal->snapshots[i];

		if (s->checkpoint_id > newest && (checkpoints || s->kind == SNAPSHOT_SAVEPOINT) &&
		    lineage_place(lineage, s) == BRANCH_LIVING) {
			newest = s->checkpoint_id;
			*ret_path = s->path;
		}
	}
	return newest;
}
