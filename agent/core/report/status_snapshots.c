#include "core/report/status_snapshots.h"

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

static int by_date(const void *a, const void *b)
{
	const struct snapshot *left = a, *right = b;

	if (left->completed_unix_ms != right->completed_unix_ms)
		return left->completed_unix_ms > right->completed_unix_ms ? -1 : 1;
	if (left->checkpoint_id != right->checkpoint_id)
		return left->checkpoint_id > right->checkpoint_id ? -1 : 1;
	return strcmp(left->path, right->path);
}

static void add_snapshot(struct json *array, const struct snapshot *snapshot)
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
}

void status_add_snapshots(struct json *doc, const struct lifecycle *life)
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
	for (size_t i = 0; i < count && i < STATUS_SNAPSHOTS; i++)
		add_snapshot(array, &all[i]);
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
