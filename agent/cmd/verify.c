/* drey verify: is a snapshot complete? */
#include "store/verify.h"
#include "cmd/output.h"

#include <inttypes.h>

#include "base/json.h"
#include "base/mem.h"
#include "cmd/commands.h"
#include "cmd/text.h"
#include "cmd/ticker.h"
#include "run/config/setup_storage.h"
#include "store/uri.h"

enum verify_exit {
	EXIT_COMPLETE = 0,
	EXIT_DAMAGED = 1,
	EXIT_UNREADABLE = 4,
};

/* Owned by the caller. */
static struct json *document(const struct verify_report *report)
{
	struct json *doc = json_object();
	struct json *problems;

	json_add_str(doc, "path", report->path);
	json_add_str(doc, "verdict", verify_verdict_name(report->verdict));
	if (report->decoded) {
		json_add_i64(doc, "version", report->header.version);
		json_add_i64(doc, "checkpointId", report->header.checkpoint_id);
		json_add_str(doc, "flavour", metadata_flavour_name(report->tail.flavour));
		if (report->tail.gates)
			json_add_str(doc, "gates", metadata_gates_name(report->tail.gates));
		json_add_i64(doc, "sizeBytes", report->size_bytes);
		json_add_i64(doc, "fileCount", (int64_t)report->file_count);
		json_add_i64(doc, "filesOk", (int64_t)report->files_ok);
	}
	problems = json_add_array(doc, "problems");
	for (size_t i = 0; i < report->problem_count; i++) {
		struct json *item = json_add_object(problems, NULL);

		json_add_str(item, "path", report->problems[i].path);
		json_add_str(item, "fault", verify_fault_name(report->problems[i].fault));
		json_add_str(item, "detail", report->problems[i].detail);
	}
	json_add_i64(doc, "problemsLeftOut", (int64_t)report->problems_left_out);
	return doc;
}

/* Without a _metadata it is nothing that could be damaged: it was never completed, was deleted, or the path is wrong. */
static const char *verdict_text(const struct verify_report *report)
{
	bool nothing = !report->decoded && report->problem_count == 1 &&
		       report->problems[0].fault == VERIFY_MISSING;

	return nothing ? "no snapshot" : verify_verdict_name(report->verdict);
}

static void print_text(const struct cli *cli, const struct verify_report *report)
{
	const char *flavour = metadata_flavour_name(report->tail.flavour);
	char size[TEXT_SIZE_BYTES];

	out_put(cli->out, "%s: %s", verdict_text(report), report->path);
	if (report->decoded)
		out_put(cli->out,
			" (%s %" PRId64 ", _metadata version %d, %zu of %zu files as expected, %s)",
			flavour ? flavour : "snapshot", report->header.checkpoint_id,
			report->header.version, report->files_ok, report->file_count,
			text_size(report->size_bytes, size));
	out_put(cli->out, "\n");
	if (report->decoded && metadata_gates_hold(report->tail.gates))
		out_put(cli->out,
			"  gates       of a blue/green upgrade: they hold records back for the other version\n");
	for (size_t i = 0; i < report->problem_count; i++) {
		out_put(cli->out, "  %-11s %s", verify_fault_name(report->problems[i].fault),
			report->problems[i].path);
		if (report->problems[i].fault != VERIFY_MISSING) {
			out_put(cli->out, ": %s", report->problems[i].detail);
		}
		out_put(cli->out, "\n");
	}
	if (report->problems_left_out)
		out_put(cli->out, "  and %zu more\n", report->problems_left_out);
}

/* The more important of two statuses. */
static int worse(int a, int b)
{
	static const int order[] = {CLI_USAGE, EXIT_DAMAGED, EXIT_UNREADABLE};

	for (size_t i = 0; i < ARRAY_LEN(order); i++)
		if (a == order[i] || b == order[i])
			return order[i];
	return EXIT_COMPLETE;
}

static int verify_one(const struct cli *cli, const struct store_config *storage,
		      const char *argument, struct json *list)
{
	static const int statuses[] = {
		[VERIFY_COMPLETE] = EXIT_COMPLETE,
		[VERIFY_DAMAGED] = EXIT_DAMAGED,
		[VERIFY_UNREADABLE] = EXIT_UNREADABLE,
	};
	cleanup_free char *path = uri_of_argument(argument);
	struct ticker *ticker = ticker_new(cli);
	struct verify_report report = {0};
	struct err err = {0};
	int status;

	ticker_set(ticker, "checking the files of %s", argument);
	status = verify_snapshot(storage, path, &report, &err);
	ticker_free(ticker);
	if (status)
		return cli_fail(cli, CLI_USAGE, "%s", err.msg);
	if (list)
		json_add(list, NULL, document(&report));
	else
		print_text(cli, &report);
	status = statuses[report.verdict];
	verify_release(&report);
	return status;
}

/* One document for one PATH, a list for more. */
static void print_json(const struct cli *cli, const struct json *list)
{
	const struct json *first = json_at(list, 0);

	if (cli->arg_count == 1 && !first) /* reported on cli->err */
		return;
	output_document(cli, cli->arg_count == 1 ? first : list);
}

static int verify_run(const struct cli *cli)
{
	cleanup_json struct json *list = cli_has(cli, "json") ? json_array() : NULL;
	struct store_config storage = {0};
	int status = CLI_OK;

	setup_storage_environment(&storage);
	for (int i = 0; i < cli->arg_count; i++)
		status = worse(status, verify_one(cli, &storage, cli->args[i], list));
	if (list)
		print_json(cli, list);
	store_config_release(&storage);
	return status;
}

static const struct cli_option options[] = {CLI_JSON, CLI_END};

const struct cli_command cmd_verify = {
	.name = "verify",
	.arguments = "PATH...",
	.min_args = 1,
	.max_args = CLI_MAX_ARGS,
	.summary = "check that a checkpoint or savepoint is complete",
	.description =
		"Reads the _metadata of the snapshot PATH (its directory, or the _metadata itself;\n"
		"a path or a URI such as s3://flink/ck/JOB/chk-42) and looks up every file that it\n"
		"refers to. Names each file that is missing or has the wrong size. Changes nothing and\n"
		"reads no state. Checks each of several PATHs, and exits with the worst status. For\n"
		"object stores it uses the credentials in the environment.\n",
	.options = options,
	.statuses = "0  complete\n"
		    "1  damaged or incomplete: something is proven to be missing or wrong\n"
		    "2  wrong usage, or a kind of storage that is not supported\n"
		    "4  unreadable: something could not be read\n",
	.example = "drey verify /savepoints/savepoint-1a2b3c-0123456789ab\n",
	.run = verify_run,
};
