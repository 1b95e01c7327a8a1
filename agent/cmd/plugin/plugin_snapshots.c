/* kubectl drey snapshots: what drey knows of them; the storage is not read. */
#include <inttypes.h>

#include "base/clock.h"
#include "base/json.h"
#include "cmd/output.h"
#include "cmd/plugin/plugin.h"
#include "cmd/plugin/plugin_commands.h"
#include "cmd/plugin/plugin_status.h"
#include "cmd/plugin/table.h"
#include "cmd/text.h"

static void add_number(struct table *table, int64_t number)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, number);
	table_add(table, number > 0 ? text : NULL);
}

static void table_add_snapshot(struct table *table, const struct json *each)
{
	const char *completed = json_str(each, "completedAt");
	int64_t size = json_i64_or(each, "sizeBytes", -1), unix_ms = 0;
	char text[TEXT_SIZE_BYTES];

	if (completed && clock_parse_rfc3339(completed, &unix_ms, NULL) < 0)
		unix_ms = 0;
	table_add(table, json_str(each, "kind"));
	table_add(table, json_str(each, "origin"));
	add_number(table, json_i64_or(each, "checkpointId", 0));
	add_number(table, json_i64_or(each, "launch", 0));
	table_add_age(table, unix_ms, clock_unix_ms());
	table_add(table, size >= 0 ? text_size(size, text) : NULL);
	table_add(table, json_str(each, "path"));
}

static void print_table(const struct cli *cli, const struct json *list)
{
	static const char *const heads[] = {"KIND", "ORIGIN", "ID",  "LAUNCH",
					    "AGE",  "SIZE",   "PATH"};
	struct table table = {.columns = sizeof(heads) / sizeof(heads[0])};
	struct term term = out_term(cli->out);
	cleanup_shown struct shown text = {0};
	const struct json *each;

	if (!json_len(list)) {
		out_put(cli->out, "no snapshots\n");
		return;
	}
	for (size_t i = 0; i < table.columns; i++)
		table_add(&table, heads[i]);
	json_each (each, list)
		table_add_snapshot(&table, each);
	table_text(&table, &term, 0, NULL, &text);
	table_release(&table);
	out_shown(cli->out, &text);
}

static int snapshots_run(const struct cli *cli)
{
	struct plugin_status status = {0};
	int end = plugin_status_read(cli, &status);
	const struct json *list = json_get(status.doc, "snapshots");

	if (end == CLI_OK && cli_has(cli, "json")) {
		cleanup_json struct json *doc = json_object();

		json_add(doc, "snapshots", list ? json_copy(list) : json_array());
		output_document(cli, doc);
	} else if (end == CLI_OK) {
		print_table(cli, list);
	}
	plugin_status_release(&status);
	return end;
}

static const struct cli_option options[] = {PLUGIN_WHERE, CLI_JSON, CLI_END};

const struct cli_command plugin_snapshots = {
	.program = PLUGIN_PROGRAM,
	.name = "snapshots",
	.arguments = "NAME",
	.min_args = 1,
	.max_args = 1,
	.summary = "list the newest snapshots that drey knows",
	.description =
		"The newest 20 savepoints and checkpoints that drey has recorded, newest first. The storage is\n"
		"not read: `drey snapshots` in the Pod does that, and sees what others have deleted.\n",
	.options = options,
	.statuses = "0  listed\n"
		    "2  wrong usage or configuration\n"
		    "5  there is no such application, or it cannot be read\n",
	.example = "kubectl drey snapshots orders -n shop\n",
	.run = snapshots_run,
	.config = plugin_config,
};
