#include "core/resolve/lineage.h"

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

/* According to the journal, else to the names that Flink gives: <job id>/chk-<n> and savepoint-<6
 * digits of the job id>-<random>. */
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

/* It has left a snapshot, or Flink's HA knows it. */
static bool made_something(const struct journal *journal, int index, const struct facts *facts)
{
	for (size_t i = 0; i < facts->candidate_count; i++) {
		const struct candidate *c = &facts->candidates[i];

		if (lineage_maker(journal, &c->snapshot) == index ||
		    facts_ha_has_job(c, journal->launches[index].job_id))
			return true;
	}
	return false;
}

/* A launch whose start was not reported did run if it left a snapshot or HA data. One that carries
 * out a request counts from its decision on: the request abandoned what there was, and an
 * unreported start must not bring that back. An adoption of which no restore was seen has abandoned nothing:
 * what it chose may have been deleted by the former holder's Flink before it was read. */
static bool ran(const struct lineage *lineage, int index, const struct facts *facts)
{
	const struct journal *journal = lineage->journal;
	const struct launch *launch = &journal->launches[index];

	if (lineage->strayed[index]) /* the origin of what it made is unknown */
		return false;
	/* MUT: an adoption that restored nothing is never made again */
	if (launch->adopted && !launch->verified_unix_ms && !launch->last_checkpoint_id)
		return made_something(journal, index, facts);
	if (launch->started_unix_ms || launch->last_checkpoint_id ||
	    (launch->request_token && !launch->never_started))
		return true;
	return made_something(journal, index, facts);
}

bool lineage_has_left_state(const struct journal *journal, const struct facts *facts, int index)
{
	const struct launch *launch = &journal->launches[index];

	if (launch->proven_unix_ms || launch->last_checkpoint_id || launch->left_state)
		return true;
	for (size_t i = 0; i < facts->candidate_count; i++) {
		const struct candidate *c = &facts->candidates[i];

		if (facts_was_completed(c) && lineage_maker(journal, &c->snapshot) == index)
			return true;
	}
	for (size_t i = 0; i < journal->snapshot_count; i++)
		if (lineage_maker(journal, &journal->snapshots[i]) == index)
			return true;
	return false;
}

/* ---- launches that restored something else ---- */

/* The launch that began this job. A launch that continues it has the same job id, and an entry in
 * Flink's HA for its restore point, which can be newer than what the job made before. This can be
 * checked only while the first launch is in the journal. */
static const struct launch *first_of_job(const struct journal *journal, const char *job_id)
{
	for (size_t i = 0; i < journal->launch_count; i++) {
		const struct launch *launch = &journal->launches[i];
		int maker;

		if (strcmp(launch->job_id, job_id) != 0)
			continue;
		maker = launch->restore_path
				? maker_by_path(journal, launch->restore_path, (int)i + 1)
				: -1;
		return maker == (int)i ? NULL : launch;
	}
	return NULL;
}

bool lineage_contradicts(const struct journal *journal, const struct snapshot *snapshot)
{
	const struct launch *launch;

	if (snapshot->kind != SNAPSHOT_CHECKPOINT || !snapshot->checkpoint_id ||
	    strlen(snapshot->job_id) != JOB_ID_BYTES - 1)
		return false;
	launch = first_of_job(journal, snapshot->job_id);
	/* MUT: a name refutes a restore that Flink has confirmed */
	if (launch && launch->verified_unix_ms)
		return false;
	return launch && launch->restore_checkpoint_id >= snapshot->checkpoint_id;
}

static void find_strayed(struct lineage *lineage, const struct facts *facts)
{
	const struct journal *journal = lineage->journal;

	for (size_t i = 0; i < journal->launch_count; i++)
		lineage->strayed[i] = journal->launches[i].mismatched;
	for (size_t i = 0; i < facts->candidate_count; i++) {
		const struct candidate *c = &facts->candidates[i];

		if (!facts_was_completed(c) || !lineage_contradicts(journal, &c->snapshot))
			continue;
		lineage->strayed[lineage_maker(journal, &c->snapshot)] = true;
	}
}

/* ---- the branches ---- */

static int last_that_ran(const struct lineage *lineage, int index, const struct facts *facts)
{
	while (index >= 0 && !ran(lineage, index, facts))
		index--;
	return index;
}

/* From a launch back to the root of its branch, which is returned when no launch of ours made
 * it. */
static const char *follow(const struct lineage *lineage, int i, int64_t *limits)
{
	const struct journal *journal = lineage->journal;
	int64_t limit = INT64_MAX;
	bool in_branch;

	while (i >= 0) {
		const struct launch *launch = &journal->launches[i];

		limits[i] = limit;
		if (!launch->restore_path || lineage->strayed[i])
			return NULL;
		/* The ids of a lineage only grow. If a launch has a lower id than its predecessor,
		 * the predecessor restored something other than was decided, unobserved, and its
		 * intended restore point has no part in this branch. Or it continued its own job
		 * from a checkpoint of that, which the branch then went back behind: the launch
		 * that began the job may have left the journal. */
		in_branch = launch->restore_checkpoint_id <= limit;
		if (in_branch)
			limit = launch->restore_checkpoint_id;
		i = maker_by_path(journal, launch->restore_path, i);
		if (i < 0)
			return in_branch ? launch->restore_path : NULL;
	}
	return NULL;
}

/* drey chose it without a request, and its job was never seen running. A job that ran may have
 * aborted the transactions of what it did not start from; continuing from that would lose their
 * content. */
static bool was_in_vain(const struct lineage *lineage, int index, const struct facts *facts)
{
	const struct launch *launch = &lineage->journal->launches[index];

	if (!launch->restore_path || launch->request_token || launch->verified_unix_ms)
		return false;
	for (size_t i = 0; i < facts->candidate_count; i++)
		if (facts_ha_has_job(&facts->candidates[i], launch->job_id))
			return false;
	return !lineage_has_left_state(lineage->journal, facts, index);
}

/* True when a launch was started from the branch with these limits. */
static bool went_back_on(const struct lineage *lineage, int index, const int64_t *limits)
{
	const struct launch *launch = &lineage->journal->launches[index];
	int maker = maker_by_path(lineage->journal, launch->restore_path, index);

	return maker >= 0 && launch->restore_checkpoint_id <= limits[maker];
}

/* What the last starts went back from, if none of them got to run. */
static void keep_what_was_left(struct lineage *lineage, const struct facts *facts)
{
	size_t count = lineage->journal->launch_count;
	int trunk = lineage->tip;

	while (trunk >= 0 && was_in_vain(lineage, trunk, facts))
		trunk = last_that_ran(lineage, trunk - 1, facts);
	if (trunk < 0 || trunk == lineage->tip)
		return;
	follow(lineage, trunk, lineage->kept);
	for (int i = lineage->tip; i > trunk; i = last_that_ran(lineage, i - 1, facts))
		if (!went_back_on(lineage, i, lineage->kept)) {
			for (size_t k = 0; k < count; k++)
				lineage->kept[k] = -1;
			return;
		}
}

void lineage_find(struct lineage *lineage, const struct journal *journal, const struct facts *facts)
{
	size_t count = journal->launch_count;

	*lineage = (struct lineage){.journal = journal};
	lineage->limits = xcalloc(count + 1, sizeof(*lineage->limits));
	lineage->kept = xcalloc(count + 1, sizeof(*lineage->kept));
	lineage->strayed = xcalloc(count + 1, sizeof(*lineage->strayed));
	for (size_t k = 0; k < count; k++)
		lineage->limits[k] = lineage->kept[k] = -1;
	find_strayed(lineage, facts);
	lineage->tip = last_that_ran(lineage, (int)count - 1, facts);
	lineage->root = follow(lineage, lineage->tip, lineage->limits);
	/* MUT: a launch that never ran abandons newer state */
	keep_what_was_left(lineage, facts);
}

void lineage_release(struct lineage *lineage)
{
	if (!lineage)
		return;
	free(lineage->limits);
	free(lineage->kept);
	free(lineage->strayed);
	*lineage = (struct lineage){0};
}

bool lineage_is_origin(const struct lineage *lineage, const struct snapshot *snapshot)
{
	return lineage->tip >= 0 &&
	       snapshot_same_path(lineage->journal->launches[lineage->tip].restore_path,
				  snapshot->path);
}

/* It had the job id from the launch before it, and this is what it was to go on from, unchanged since then. */
static bool was_there_before(const struct launch *launch, const struct snapshot *snapshot)
{
	/* MUT: the restore point that a launch has missed counts as its own work */
	return snapshot_same_path(launch->restore_path, snapshot->path) &&
	       launch->restore_completed_unix_ms &&
	       launch->restore_completed_unix_ms == snapshot->completed_unix_ms;
}

/* A launch that strayed has not made what it should have restored. */
static int true_maker(const struct lineage *lineage, const struct snapshot *snapshot)
{
	int maker = lineage_maker(lineage->journal, snapshot);

	while (maker >= 0 && lineage->strayed[maker] &&
	       was_there_before(&lineage->journal->launches[maker], snapshot))
		maker = maker_by_id(lineage->journal, snapshot->job_id, strlen(snapshot->job_id),
				    maker);
	return maker;
}

bool lineage_is_tainted(const struct lineage *lineage, const struct snapshot *snapshot)
{
	int maker = true_maker(lineage, snapshot);

	return maker >= 0 && lineage->strayed[maker];
}

static enum branch place(const struct lineage *lineage, const struct snapshot *snapshot, bool kept)
{
	int maker;

	if (lineage_is_origin(lineage, snapshot) ||
	    snapshot_same_path(lineage->root, snapshot->path))
		return BRANCH_LIVING;
	maker = true_maker(lineage, snapshot);
	if (maker < 0)
		return BRANCH_FOREIGN;
	if (snapshot->checkpoint_id <= lineage->limits[maker] ||
	    (kept && snapshot->checkpoint_id <= lineage->kept[maker]))
		return BRANCH_LIVING;
	return BRANCH_ABANDONED;
}

enum branch lineage_place(const struct lineage *lineage, const struct snapshot *snapshot)
{
	return place(lineage, snapshot, true);
}

int64_t lineage_most(const struct lineage *lineage, const struct snapshot *snapshot)
{
	int maker = true_maker(lineage, snapshot);

	if (maker < 0 || lineage_is_origin(lineage, snapshot) ||
	    snapshot_same_path(lineage->root, snapshot->path))
		return INT64_MAX;
	return lineage->limits[maker] > lineage->kept[maker] ? lineage->limits[maker]
							     : lineage->kept[maker];
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
		    place(lineage, s, false) == BRANCH_LIVING) {
			newest = s->checkpoint_id;
			*ret_path = s->path;
		}
	}
	return newest;
}
