#include "cmd/history_text.h"

#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "cmd/age.h"
#include "cmd/rows.h"
#include "core/journal/journal_fields.h"
#include "flink/exit_status.h"

/* Why it was launched, as the log has it: "rule 5: the job was stopped with ..."; NULL: no longer there. */
static const char *why_launched(const struct journal *journal, int64_t number)
{
	cleanup_free char *begin = xasprintf("Launching: launch %" PRId64 ", ", number);

	for (size_t i = journal->log_count; i-- > 0;) {
		const char *text = journal->log[i].text;
		const char *rule = strstr(text, ", rule ");

		if (!strncmp(text, begin, strlen(begin)) && rule)
			return rule + 2;
	}
	return NULL;
}

static void add_end(struct rows *rows, const struct launch *launch, bool current)
{
	if (launch->never_started)
		rows_add(rows, "no process was started");
	else if (!launch->ended_unix_ms)
		rows_add(rows, current ? "has not ended" : "how it ended is not known");
	else if (launch->wait_status >= 0)
		rows_add(rows, "%s", flink_exit_explain(launch->wait_status, false).sentence);
	else
		rows_add(rows, "ended");
	if (launch->mismatched)
		rows_add(rows, "; Flink restored something else than decided");
}

static void add_times(struct rows *rows, const struct launch *launch, bool current)
{
	int64_t began =
		launch->started_unix_ms ? launch->started_unix_ms : launch->intended_unix_ms;
	int64_t end = launch->ended_unix_ms ? launch->ended_unix_ms : rows->now_unix_ms;
	char when[AGE_TEXT_BYTES], age[AGE_TEXT_BYTES];

	rows_add(rows, "%s", age_when(began, rows->now_unix_ms, when));
	if (!launch->never_started && (launch->ended_unix_ms || current))
		rows_add(rows, ", %s%s%s", launch->ended_unix_ms ? "ran " : "",
			 age_text(began, end, age), launch->ended_unix_ms ? "" : " ago");
	rows_add(rows, ", ");
	add_end(rows, launch, current);
}

static void add_proofs(struct rows *rows, const struct launch *launch)
{
	char age[AGE_TEXT_BYTES];

	if (launch->verified_unix_ms)
		rows_add(rows, ", verified after %s",
			 age_text(launch->started_unix_ms, launch->verified_unix_ms, age));
	if (launch->proven_unix_ms)
		rows_add(rows, ", proven after %s",
			 age_text(launch->started_unix_ms, launch->proven_unix_ms, age));
}

static void add_launch_rows(struct rows *rows, const struct journal *journal,
			    const struct launch *launch, bool wide)
{
	bool current = launch == &journal->launches[journal->launch_count - 1];
	const char *why = why_launched(journal, launch->number);
	char name[32];

	snprintf(name, sizeof(name), "launch %" PRId64, launch->number);
	rows_begin(rows, name);
	add_times(rows, launch, current);
	rows_end(rows);
	rows_begin(rows, "  from");
	if (launch->restore_path && launch->restore_checkpoint_id > 0)
		rows_add(rows, "%s %s (checkpoint id %" PRId64 ")",
			 snapshot_kind_name(launch->restore_kind), launch->restore_path,
			 launch->restore_checkpoint_id);
	else if (launch->restore_path)
		rows_add(rows, "%s %s", snapshot_kind_name(launch->restore_kind),
			 launch->restore_path);
	else
		rows_add(rows, "nothing (empty)");
	add_proofs(rows, launch);
	if (why || launch->request_token) {
		rows_begin(rows, "  why");
		rows_add(rows, "%s", why ? why : "a person asked for it");
	}
	if (!wide)
		return;
	rows_begin(rows, "  job id");
	rows_add(rows, "%s%s%s%s%s", launch->job_id, launch->flink_version ? ", Flink " : "",
		 launch->flink_version ? launch->flink_version : "",
		 launch->generation ? ", generation " : "",
		 launch->generation ? launch->generation : "");
	if (launch->writer) {
		rows_begin(rows, "  decided by");
		rows_add(rows, "%s", launch->writer);
	}
	if (launch->last_checkpoint_path) {
		rows_begin(rows, "  checkpoint");
		rows_add(rows, "%s", launch->last_checkpoint_path);
	}
}

void history_text(const struct journal *journal, const struct history_layout *layout,
		  struct shown *ret_text)
{
	struct rows rows = {
		.term = &layout->term, .now_unix_ms = layout->now_unix_ms, .to = ret_text};
	size_t count = journal->launch_count, logged = journal->log_count;
	size_t shown = layout->transitions < logged ? layout->transitions : logged;
	char when[AGE_TEXT_BYTES];

	if (!count) {
		rows_begin(&rows, "launches");
		rows_add(&rows, "none");
	}
	for (size_t i = 0; i < count && i < layout->launches; i++)
		add_launch_rows(&rows, journal, &journal->launches[count - 1 - i], layout->wide);
	if (count > layout->launches) {
		rows_begin(&rows, "...");
		rows_add(&rows, "and %zu earlier launches", count - layout->launches);
	}
	for (size_t i = logged - shown; i < logged; i++) {
		rows_begin(&rows, i == logged - shown ? "transitions" : "");
		rows_add(&rows, "%s  %s",
			 age_when(journal->log[i].unix_ms, layout->now_unix_ms, when),
			 journal->log[i].text);
	}
	rows_end(&rows);
}

struct json *history_document(const struct journal *journal)
{
	struct json *doc = json_object();
	struct json *list;

	json_add_str(doc, "application", journal->application);
	list = json_add_array(doc, "launches");
	for (size_t i = 0; i < journal->launch_count; i++) {
		const struct launch *launch = &journal->launches[i];
		struct json *to = json_add_object(list, NULL);

		record_write(
			&launch_table, launch,
			"number jobId generation flinkVersion requestToken writer restorePoint intendedUnixMs startedUnixMs verifiedUnixMs provenUnixMs endedUnixMs waitStatus mismatched neverStarted lastCheckpoint",
			to);
		json_add_str(to, "why", why_launched(journal, launch->number));
	}
	record_add_list(doc, "transitions", &log_table, journal->log, journal->log_count);
	return doc;
}
