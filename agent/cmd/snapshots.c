/* drey snapshots: the history of an application, from its journal and its storage. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "cmd/commands.h"
#include "cmd/output.h"
#include "cmd/places.h"
#include "cmd/term.h"
#include "cmd/text.h"

#define DEFAULT_LIMIT 50

/* One line: what exists now, and what the journal has about it. */
struct row {
	const struct candidate *seen;
	const struct snapshot *known; /* NULL: not in the journal */
};

struct history {
	const struct places *places;
	const struct facts *facts;
	struct row *rows; /* newest first */
	size_t count, shown, left_out;
};

static const char *state_of(const struct row *row)
{
	switch (row->seen->integrity) {
	case INTEGRITY_UNCHECKED:
		return row->known && row->known->verified ? "verified" : "present";
	case INTEGRITY_COMPLETE:
		return "verified";
	case INTEGRITY_DAMAGED:
		return "damaged";
	case INTEGRITY_INCOMPLETE:
		return row->known || row->seen->source == SOURCE_JOURNAL ? "missing" : "incomplete";
	case INTEGRITY_UNREADABLE:
		return "unreadable";
	}
	return "unknown";
}

/* Older journals have no date for a savepoint that was verified when it was recorded. */
static int64_t verified_of(const struct row *row)
{
	bool known = row->known && row->known->verified;

	if (row->seen->integrity == INTEGRITY_COMPLETE && row->seen->snapshot.verified_unix_ms > 0)
		return row->seen->snapshot.verified_unix_ms;
	if (known && row->known->verified_unix_ms <= 0)
		return row->known->completed_unix_ms;
	return known ? row->known->verified_unix_ms : 0;
}

static int64_t completed_of(const struct row *row)
{
	if (row->known && row->known->completed_unix_ms > 0)
		return row->known->completed_unix_ms;
	return row->seen->snapshot.completed_unix_ms;
}

static int64_t checkpoint_id_of(const struct row *row)
{
	if (row->seen->snapshot.checkpoint_id || !row->known)
		return row->seen->snapshot.checkpoint_id;
	return row->known->checkpoint_id;
}

static const char *job_id_of(const struct row *row)
{
	/* the journal has the whole id where the name has six digits of it */
	return row->known && *row->known->job_id ? row->known->job_id : row->seen->snapshot.job_id;
}

static enum snapshot_origin origin_of(const struct row *row)
{
	return row->known ? row->known->origin : row->seen->snapshot.origin;
}

static int newest_first(const void *left, const void *right)
{
	const struct row *a = left, *b = right;
	int64_t a_ms = completed_of(a), b_ms = completed_of(b);

	if (a_ms != b_ms)
		return a_ms > b_ms ? -1 : 1;
	if (checkpoint_id_of(a) != checkpoint_id_of(b))
		return checkpoint_id_of(a) > checkpoint_id_of(b) ? -1 : 1;
	return strcmp(a->seen->snapshot.path, b->seen->snapshot.path);
}

static void collect(struct history *history, size_t limit)
{
	const struct facts *facts = history->facts;

	history->rows = xcalloc(facts->candidate_count + 1, sizeof(*history->rows));
	history->count = facts->candidate_count;
	for (size_t i = 0; i < facts->candidate_count; i++)
		history->rows[i] = (struct row){
			.seen = &facts->candidates[i],
			.known = journal_snapshot(&history->places->journal,
						  facts->candidates[i].snapshot.path),
		};
	qsort(history->rows, history->count, sizeof(*history->rows), newest_first);
	history->shown = limit && limit < history->count ? limit : history->count;
	history->left_out = history->count - history->shown;
	for (int i = 0; i < SOURCE_COUNT; i++)
		history->left_out += facts->sources[i].left_out;
}

/* ---- printing ---- */

static int64_t known_or_seen(const struct row *row, int64_t seen, int64_t known)
{
	return seen < 0 && row->known ? known : seen;
}

static int64_t size_of(const struct row *row)
{
	return known_or_seen(row, row->seen->snapshot.size_bytes,
			     row->known ? row->known->size_bytes : -1);
}

static int64_t files_of(const struct row *row)
{
	return known_or_seen(row, row->seen->snapshot.file_count,
			     row->known ? row->known->file_count : -1);
}

static void add_row(struct json *list, const struct row *row)
{
	struct json *to = json_add_object(list, NULL);

	json_add_str(to, "path", row->seen->snapshot.path);
	json_add_str(to, "kind", snapshot_kind_name(row->seen->snapshot.kind));
	json_add_str(to, "origin", snapshot_origin_name(origin_of(row)));
	json_add_known(to, "checkpointId", checkpoint_id_of(row), 1);
	json_add_str(to, "jobId", *job_id_of(row) ? job_id_of(row) : NULL);
	json_add_known(to, "completedUnixMs", completed_of(row), 1);
	json_add_known(to, "sizeBytes", size_of(row), 0);
	json_add_known(to, "fileCount", files_of(row), 0);
	json_add_known(to, "verifiedUnixMs", verified_of(row), 1);
	json_add_str(to, "state", state_of(row));
	json_add_str(to, "detail", row->seen->detail);
}

static void print_json(const struct cli *cli, const struct history *history)
{
	cleanup_json struct json *doc = json_object();
	struct json *list = json_add_array(doc, "snapshots");

	for (size_t i = 0; i < history->shown; i++)
		add_row(list, &history->rows[i]);
	json_add_i64(doc, "leftOut", (int64_t)history->left_out);
	list = json_add_array(doc, "unreadable");
	for (int i = 0; i < SOURCE_COUNT; i++)
		if (history->facts->sources[i].state == SOURCE_UNREADABLE) {
			struct json *to = json_add_object(list, NULL);

			json_add_str(to, "source", source_kind_name((enum source_kind)i));
			json_add_str(to, "detail", history->facts->sources[i].detail);
		}
	output_document(cli, doc);
}

#define ROW         "%-10s  %-8s  %6s  %-8.8s  %-16s  %8s  %5s  %-16s  %-10s  "
#define ROW_COLUMNS 106 /* in front of the path */

/* The columns as texts; "-" where nothing is known. */
struct cells {
	char id[24], age[CLOCK_TEXT_BYTES], size[TEXT_SIZE_BYTES], files[24],
		when[CLOCK_TEXT_BYTES];
	const char *job;
};

static void cells_of(const struct row *row, int64_t now_ms, struct cells *ret)
{
	*ret = (struct cells){"-", "-", "-", "-", "-", *job_id_of(row) ? job_id_of(row) : "-"};
	if (checkpoint_id_of(row) > 0)
		snprintf(ret->id, sizeof(ret->id), "%" PRId64, checkpoint_id_of(row));
	if (completed_of(row) > 0)
		clock_ago(completed_of(row), now_ms, ret->age);
	if (size_of(row) >= 0)
		text_size(size_of(row), ret->size);
	if (files_of(row) >= 0)
		snprintf(ret->files, sizeof(ret->files), "%" PRId64, files_of(row));
	if (verified_of(row) > 0)
		clock_ago(verified_of(row), now_ms, ret->when);
}

static void print_row(const struct cli *cli, const struct history *history, const struct row *row)
{
	struct cells cells;

	cells_of(row, history->facts->now_unix_ms, &cells);
	out_put(cli->out, ROW, snapshot_kind_name(row->seen->snapshot.kind),
		snapshot_origin_name(origin_of(row)), cells.id, cells.job, cells.age, cells.size,
		cells.files, cells.when, state_of(row));
	out_put(cli->out, "%s\n", row->seen->snapshot.path);
	if (row->seen->detail && row->seen->integrity) {
		out_put(cli->out, "            %s\n", row->seen->detail);
	}
}

/* ---- on a terminal that has no room for the columns ---- */

static bool fits(const struct history *history, const struct term *term)
{
	for (size_t i = 0; i < history->shown && term->width; i++)
		if (ROW_COLUMNS + strlen(history->rows[i].seen->snapshot.path) >
		    (size_t)term->width)
			return false;
	return true;
}

#define NARROW_INDENT 4

/* The path, which is what one copies, and below it a sentence. */
static void print_narrow(const struct cli *cli, const struct history *history,
			 const struct row *row)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct cells cells;

	cells_of(row, history->facts->now_unix_ms, &cells);
	buf_addf(&text, "%s (%s), id %s, job %.8s, %s, %s",
		 snapshot_kind_name(row->seen->snapshot.kind), snapshot_origin_name(origin_of(row)),
		 cells.id, cells.job, cells.age, state_of(row));
	if (size_of(row) >= 0)
		buf_addf(&text, ", %s", cells.size);
	if (files_of(row) >= 0)
		buf_addf(&text, " in %s files", cells.files);
	if (verified_of(row) > 0)
		buf_addf(&text, ", verified %s", cells.when);
	if (row->seen->detail && row->seen->integrity)
		buf_addf(&text, ": %s", row->seen->detail);
	out_put(cli->out, "%s\n", row->seen->snapshot.path);
	out_row(cli->out, "", NARROW_INDENT, buf_str(&text));
}

static void print_text(const struct cli *cli, const struct history *history)
{
	struct term term = out_term(cli->out);
	bool narrow = !fits(history, &term);

	for (size_t i = 0; i < history->shown && narrow; i++)
		print_narrow(cli, history, &history->rows[i]);
	if (history->shown && !narrow)
		out_put(cli->out, ROW "%s\n", "KIND", "ORIGIN", "ID", "JOB", "AGE", "SIZE", "FILES",
			"VERIFIED", "STATE", "PATH");
	for (size_t i = 0; i < history->shown && !narrow; i++)
		print_row(cli, history, &history->rows[i]);
	if (!history->shown)
		out_put(cli->out, "no snapshots\n");
	if (history->left_out)
		out_put(cli->out, "and %zu older\n", history->left_out);
}

/* ---- the command ---- */

static int take_limit(const struct cli *cli, size_t *ret_limit)
{
	const char *text = cli_value(cli, "limit");
	char *end = NULL;
	unsigned long value;

	*ret_limit = cli_has(cli, "json") ? 0 : DEFAULT_LIMIT;
	if (!text)
		return CLI_OK;
	value = strtoul(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end || value > 1000000)
		return cli_fail(cli, CLI_USAGE, "--limit %s: expected a number; 0 lists all", text);
	*ret_limit = value;
	return CLI_OK;
}

/* An incomplete list is reported as such. */
static int snapshots_judge(const struct cli *cli, const struct facts *facts)
{
	int status = CLI_OK;

	for (int i = 0; i < SOURCE_COUNT; i++)
		if (facts->sources[i].state == SOURCE_UNREADABLE)
			status = cli_fail(cli, CLI_HELD, "the %s cannot be read: %s",
					  source_kind_name((enum source_kind)i),
					  facts->sources[i].detail);
	return status;
}

static int snapshots_run(const struct cli *cli)
{
	struct history history = {0};
	cleanup_observe_plan struct observe_plan plan = {0};
	struct places places;
	struct facts facts;
	size_t limit;
	int status = take_limit(cli, &limit);

	if (status == CLI_OK)
		status = places_open(&places, cli, false);
	if (status != CLI_OK)
		return status;
	places_plan(&places, &plan);
	observe_gather(&plan, &facts);
	places_read(&places);
	history.places = &places;
	history.facts = &facts;
	collect(&history, limit);
	if (cli_has(cli, "json"))
		print_json(cli, &history);
	else
		print_text(cli, &history);
	status = snapshots_judge(cli, &facts);
	free(history.rows);
	facts_release(&facts);
	places_close(&places);
	return status;
}

static const struct cli_option options[] = {
	CLI_CONFIG,
	CLI_JSON,
	{"limit", 'n', "N", "list only the newest N; 0 lists all (default 50; all with --json)",
	 false},
	PLACES_OPTIONS,
	CLI_END,
};

const struct cli_command cmd_snapshots = {
	.name = "snapshots",
	.summary = "list checkpoints and savepoints, newest first",
	.description =
		"Lists the savepoints in the journal and everything in the checkpoint and savepoint\n"
		"directories: what a launch can start from, and what earlier ones could. Reads names,\n"
		"dates and the beginning of each savepoint's _metadata; `drey verify PATH` checks every\n"
		"file. Changes nothing, and works whether or not drey is running; with --checkpoints and\n"
		"--savepoints also without drey.yaml.\n",
	.options = options,
	.statuses = "0  listed\n"
		    "2  wrong usage or configuration\n"
		    "4  something could not be read: the list may be incomplete\n",
	.example = "drey snapshots --config drey.yaml\n"
		   "drey snapshots --limit 0 --json --savepoints s3://flink/savepoints\n",
	.run = snapshots_run,
};
