#include "core/report/status_snapshots.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"

#define SNAPSHOTS "snapshots"

/* The newest checkpoint of the running job; false: it is one of the journal's snapshots, or there is none. */
static bool newest_checkpoint(const struct lifecycle *life, struct snapshot *ret)
{
	const struct launch *launch = journal_last_checkpointed(&life->journal);
	bool reported = launch == journal_launch_const(&life->journal) &&
			life->launch_step == LAUNCH_LIVE && life->seen.statistics_ms &&
			life->seen.checkpointing.size_bytes > 0;

	if (!launch || !launch->last_checkpoint_path ||
	    journal_snapshot(&life->journal, launch->last_checkpoint_path))
		return false;
	*ret = (struct snapshot){
		.path = launch->last_checkpoint_path,
		.kind = SNAPSHOT_CHECKPOINT,
		.checkpoint_id = launch->last_checkpoint_id,
		.completed_unix_ms = launch->last_checkpoint_unix_ms,
		.size_bytes = reported ? life->seen.checkpointing.size_bytes : -1,
	};
	return true;
}

int snapshot_newest_first(const struct snapshot *left, const struct snapshot *right)
{
	if (left->completed_unix_ms != right->completed_unix_ms)
		return left->completed_unix_ms > right->completed_unix_ms ? -1 : 1;
	if (left->checkpoint_id != right->checkpoint_id)
		return left->checkpoint_id > right->checkpoint_id ? -1 : 1;
	return strcmp(left->path, right->path);
}

static int by_date(const void *a, const void *b)
{
	return snapshot_newest_first(a, b);
}

/* Flink names a checkpoint <dir>/<job id>/chk-<n>, and a savepoint savepoint-<6 digits>-<random>. */
static bool made_by(const struct launch *launch, const struct snapshot *known, const char *path)
{
	char savepoint[32];

	if (!*launch->job_id)
		return false;
	if (known && *known->job_id)
		return !strncmp(launch->job_id, known->job_id, strlen(known->job_id));
	snprintf(savepoint, sizeof(savepoint), "savepoint-%.6s-", launch->job_id);
	return strstr(path, launch->job_id) || strstr(path, savepoint);
}

/* Numbered job ids have their first digits in common: then the date decides. */
int64_t status_launch_of(const struct journal *journal, const char *path, int64_t completed_unix_ms)
{
	const struct snapshot *known = journal_snapshot(journal, path);

	for (size_t i = journal->launch_count; i-- > 0;) {
		const struct launch *launch = &journal->launches[i];
		bool later = completed_unix_ms > 0 && launch->started_unix_ms > completed_unix_ms;

		if (!later && made_by(launch, known, path))
			return launch->number;
	}
	return 0;
}

static void add_snapshot(struct json *array, const struct journal *journal,
			 const struct snapshot *snapshot)
{
	struct json *to = json_add_object(array, NULL);
	char date[CLOCK_TEXT_BYTES];

	json_add_str(to, "path", snapshot->path);
	json_add_str(to, "kind", snapshot_kind_name(snapshot->kind));
	json_add_known(to, "checkpointId", snapshot->checkpoint_id, 1);
	json_add_str(to, "completedAt",
		     snapshot->completed_unix_ms > 0
			     ? clock_rfc3339(snapshot->completed_unix_ms, date)
			     : NULL);
	json_add_known(to, "sizeBytes", snapshot->size_bytes, 1);
	json_add_str(to, "origin",
		     snapshot->kind == SNAPSHOT_SAVEPOINT ? snapshot_origin_name(snapshot->origin)
							  : NULL);
	json_add_known(to, "launch",
		       status_launch_of(journal, snapshot->path, snapshot->completed_unix_ms), 1);
}

void status_add_snapshots(struct json *doc, const struct lifecycle *life, size_t max)
{
	const struct journal *journal = &life->journal;
	struct json *array = json_add_array(doc, SNAPSHOTS);
	/* their strings are borrowed */
	cleanup_free struct snapshot *all = xcalloc(journal->snapshot_count + 1, sizeof(*all));
	size_t count = 0;

	for (; count < journal->snapshot_count; count++)
		all[count] = journal->snapshots[count];
	count += newest_checkpoint(life, &all[count]);
	qsort(all, count, sizeof(*all), by_date);
	for (size_t i = 0; i < count && i < max; i++)
		add_snapshot(array, journal, &all[i]);
}

void status_snapshots_without_checkpoints(struct json *doc)
{
	const struct json *array = json_get(doc, SNAPSHOTS), *each;
	struct json *rest;

	if (json_kind(array) != JSON_ARRAY)
		return;
	rest = json_array();
	json_each (each, array)
		if (strcmp(json_str(each, "kind"), snapshot_kind_name(SNAPSHOT_CHECKPOINT)) != 0)
			json_add(rest, NULL, json_copy(each));
	json_remove(doc, SNAPSHOTS);
	json_add(doc, SNAPSHOTS, rest);
}
