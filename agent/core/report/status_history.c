#include "core/report/status_history.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/json.h"
#include "base/mem.h"
#include "core/journal/journal_fields.h"
#include "core/report/status_snapshots.h"
#include "core/resolve/resolve.h"

#define LAUNCH_MEMBERS                                                                             \
	"number jobId generation flinkVersion restorePoint intendedUnixMs startedUnixMs "          \
	"verifiedUnixMs provenUnixMs endedUnixMs neverStarted mismatched lastCheckpoint"

/* ---- launches ---- */

/* How its process ended, as people say it; NULL: not yet, or not seen. The caller frees. */
static char *end_text(const struct launch *launch)
{
	if (!launch->ended_unix_ms || launch->wait_status < 0)
		return NULL;
	if (WIFSIGNALED(launch->wait_status))
		return xasprintf("killed by signal %d", WTERMSIG(launch->wait_status));
	return xasprintf("exited with %d", WEXITSTATUS(launch->wait_status));
}

/* The writer of a launch is "POD/UID/...", if it is known which pod that was. */
static void add_pod(struct json *to, const struct launch *launch)
{
	size_t length = launch->writer ? strcspn(launch->writer, "/") : 0;
	cleanup_free char *pod = NULL;

	if (length && launch->writer[length] == '/')
		pod = xasprintf("%.*s", (int)length, launch->writer);
	json_add_str(to, "pod", pod);
}

static void add_launches(struct json *doc, const struct journal *journal)
{
	struct json *array = json_add_array(doc, "launches");

	for (size_t i = 0; i < journal->launch_count; i++) {
		const struct launch *launch = &journal->launches[i];
		struct json *to = json_add_object(array, NULL);
		cleanup_free char *end = end_text(launch);

		record_write(&launch_table, launch, LAUNCH_MEMBERS, to);
		json_add_known(to, "restoredFromLaunch",
			       launch->restore_path
				       ? status_launch_of(journal, launch->restore_path,
							  launch->restore_completed_unix_ms)
				       : 0,
			       1);
		json_add_str(to, "end", end);
		add_pod(to, launch);
	}
}

/* ---- the decision ---- */

/* What was chosen, then what was judged, then the rest; inside each the newest first. */
static int by_judgement(const void *a, const void *b)
{
	const struct candidate *left = *(const struct candidate *const *)a;
	const struct candidate *right = *(const struct candidate *const *)b;
	int left_rank = left->verdict ? (int)left->verdict : VERDICT_REJECTED + 1;
	int right_rank = right->verdict ? (int)right->verdict : VERDICT_REJECTED + 1;

	if (left_rank != right_rank)
		return left_rank < right_rank ? -1 : 1;
	return snapshot_newest_first(&left->snapshot, &right->snapshot);
}

/* The one that the reason proposes to start from. */
static bool is_offered(const struct decision *decision, const struct candidate *candidate)
{
	cleanup_free char *command = xasprintf("`drey resume --from %s`", candidate->snapshot.path);

	return strstr(decision->reason, command) != NULL;
}

static void add_one(struct json *list, const struct decision *decision,
		    const struct candidate *candidate)
{
	const struct snapshot *snapshot = &candidate->snapshot;
	struct json *to = json_add_object(list, NULL);

	json_add_str(to, "path", snapshot->path);
	json_add_str(to, "source", source_kind_name(candidate->source));
	json_add_str(to, "kind", snapshot_kind_name(snapshot->kind));
	json_add_known(to, "checkpointId", snapshot->checkpoint_id, 1);
	json_add_known(to, "completedUnixMs", snapshot->completed_unix_ms, 1);
	json_add_known(to, "sizeBytes", snapshot->size_bytes, 0);
	json_add_str(to, "integrity", integrity_name(candidate->integrity));
	json_add_str(to, "verdict",
		     candidate->verdict ? verdict_name(candidate->verdict) : "not checked");
	json_add_str(to, "reason", candidate->verdict ? candidate->reason : NULL);
	json_add_bool(to, "offered", is_offered(decision, candidate));
}

static void add_candidates(struct json *doc, const struct facts *facts,
			   const struct decision *decision)
{
	struct json *list = json_add_array(doc, "candidates");
	cleanup_free const struct candidate **all =
		xcalloc(facts->candidate_count + 1, sizeof(*all));
	size_t shown = 0;

	for (size_t i = 0; i < facts->candidate_count; i++)
		all[i] = &facts->candidates[i];
	qsort(all, facts->candidate_count, sizeof(*all), by_judgement);
	for (; shown < facts->candidate_count && shown < HISTORY_CANDIDATES; shown++)
		add_one(list, decision, all[shown]);
	json_add_i64(doc, "candidatesLeftOut", (int64_t)(facts->candidate_count - shown));
}

struct json *decision_document(const struct facts *facts, const struct decision *decision,
			       int64_t now_unix_ms)
{
	struct json *doc = json_object(), *list, *to;

	json_add_i64(doc, "unixMs", now_unix_ms);
	json_add_str(doc, "decision", decision_kind_name(decision->kind));
	json_add_i64(doc, "rule", decision->rule);
	json_add_str(doc, "cause", cause_name(decision->cause));
	json_add_str(doc, "reason", decision->reason);
	list = json_add_array(doc, "sources");
	for (int i = 0; i < SOURCE_COUNT; i++) {
		const struct source_fact *source = &facts->sources[i];

		if (source->state == SOURCE_NOT_CONFIGURED)
			continue;
		to = json_add_object(list, NULL);
		json_add_str(to, "name", source_kind_name((enum source_kind)i));
		json_add_str(to, "state", source_state_name(source->state));
		json_add_str(to, "detail", source->detail);
		json_add_i64(to, "leftOut", (int64_t)source->left_out);
	}
	add_candidates(doc, facts, decision);
	return doc;
}

/* ---- all of it ---- */

/* The deadline is monotonic; the wall clock shows how long ago the last step was. */
static void add_retry(struct json *doc, const struct lifecycle *life, int64_t now_unix_ms)
{
	int64_t since_step_ms = now_unix_ms - life->now_unix_ms;
	int64_t wait_ms = life->retry_ms - life->now_ms - (since_step_ms > 0 ? since_step_ms : 0);

	if (life->retry_ms)
		json_add_i64(doc, "retryInMs", wait_ms > 0 ? wait_ms : 0);
	else
		json_add_null(doc, "retryInMs");
}

void status_add_history(struct json *doc, const struct lifecycle *life, const struct json *decision,
			int64_t now_unix_ms)
{
	json_remove(doc, "snapshots");
	status_add_snapshots(doc, life, HISTORY_SNAPSHOTS);
	add_launches(doc, &life->journal);
	if (decision)
		json_add(doc, "decision", json_copy(decision));
	else
		json_add_null(doc, "decision");
	add_retry(doc, life, now_unix_ms);
}
