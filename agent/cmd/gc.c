/* drey gc: what dead launches have left in storage, and its deletion. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/words.h"
#include "cmd/commands.h"
#include "cmd/output.h"
#include "cmd/text.h"
#include "cmd/ticker.h"
#include "run/config/setup.h"
#include "run/gc/gc_run.h"

struct collection {
	const struct cli *cli;
	struct setup setup;
	struct gc_policy policy;
	struct gc_run run;
	struct ticker *ticker;
	bool deletes;
};

/* ---- progress ---- */

static void on_reading(void *ctx, const char *what, size_t done)
{
	const struct collection *c = ctx;

	ticker_set(c->ticker, "reading %s: %zu so far", what, done);
}

static void on_deleting(void *ctx, int64_t done, int64_t of)
{
	const struct collection *c = ctx;

	ticker_set(c->ticker, "deleting: %jd of %jd files", (intmax_t)done, (intmax_t)of);
}

/* ---- printing ---- */

static const char *const action_words[] = {
	[GC_KEEP] = "keep",
	[GC_DOUBT] = "in doubt",
	[GC_DELETE] = "delete",
};
static WORDS_OF(action_words, action_of, enum gc_verdict, "unknown");

static void print_files(const struct collection *c, const struct gc_tree *tree,
			enum gc_reason reason)
{
	cleanup_buf struct buf name = BUF_INIT;

	for (size_t i = tree->first; i < tree->first + tree->count; i++) {
		const struct gc_file *file = &c->run.gc.files[i];

		if (file->reason != reason)
			continue;
		out_put(c->cli->out, "          %s%s\n", file->odd ? "not a file: " : "",
			gc_name(&c->run.gc, file, &name));
	}
}

static void print_tree(const struct collection *c, const struct gc_tree *tree, bool files)
{
	char size[TEXT_SIZE_BYTES];

	for (int i = 0; i < GC_REASON_COUNT; i++) {
		enum gc_reason reason = (enum gc_reason)i;

		if (!tree->sums[i].files)
			continue;
		out_put(c->cli->out, "%-8s  %7" PRId64 "  %8s  %-39s  ",
			action_of(gc_reason_verdict(reason)), tree->sums[i].files,
			text_size(tree->sums[i].bytes, size), gc_reason_text(reason));
		out_put(c->cli->out, "%s\n", tree->dir);
		if (files)
			print_files(c, tree, reason);
	}
}

static void print_sum(const struct collection *c, const char *what, int64_t files, int64_t bytes)
{
	char size[TEXT_SIZE_BYTES];

	out_put(c->cli->out, "%s: %" PRId64 " files, %s\n", what, files, text_size(bytes, size));
}

/* Over all directories: why files go, and why they stay. */
static void print_reasons(const struct collection *c)
{
	char size[TEXT_SIZE_BYTES];

	out_put(c->cli->out, "\n%-12s  %-8s  %7s  %8s  %s\n", "REASON", "ACTION", "FILES", "SIZE",
		"WHAT");
	for (int i = 0; i < GC_REASON_COUNT; i++) {
		enum gc_reason reason = (enum gc_reason)i;
		const struct gc_sum *sum = &c->run.gc.sums[i];

		if (sum->files)
			out_put(c->cli->out, "%-12s  %-8s  %7" PRId64 "  %8s  %s\n",
				gc_reason_name(reason), action_of(gc_reason_verdict(reason)),
				sum->files, text_size(sum->bytes, size), gc_reason_text(reason));
	}
}

static void print_collection(const struct collection *c)
{
	struct gc_sum deletes = gc_total(&c->run.gc, GC_DELETE),
		      keeps = gc_total(&c->run.gc, GC_KEEP),
		      doubts = gc_total(&c->run.gc, GC_DOUBT);

	if (c->run.gc.file_count)
		out_put(c->cli->out, "%-8s  %7s  %8s  %-39s  %s\n", "ACTION", "FILES", "SIZE",
			"WHAT", "WHERE");
	for (size_t i = 0; i < c->run.gc.tree_count; i++)
		print_tree(c, &c->run.gc.trees[i], cli_has(c->cli, "files"));
	if (!c->run.gc.file_count)
		out_put(c->cli->out, "dead launches have left nothing\n");
	else if (c->deletes)
		print_sum(c, "deleted", c->run.deleted.files, c->run.deleted.bytes);
	else
		print_sum(c, "would be deleted (use --delete)", deletes.files, deletes.bytes);
	if (keeps.files)
		print_sum(c, "needed", keeps.files, keeps.bytes);
	if (doubts.files)
		print_sum(c, "in doubt, and kept", doubts.files, doubts.bytes);
	if (c->run.gc.file_count && !c->deletes)
		print_reasons(c);
}

static void add_sum(struct json *to, const char *name, int64_t files, int64_t bytes)
{
	struct json *sum = json_add_object(to, name);

	json_add_i64(sum, "files", files);
	json_add_i64(sum, "bytes", bytes);
}

static void add_row(const struct collection *c, struct json *rows, const struct gc_tree *tree,
		    enum gc_reason reason)
{
	struct json *row = json_add_object(rows, NULL);
	cleanup_buf struct buf name = BUF_INIT;

	json_add_str(row, "directory", tree->dir);
	json_add_str(row, "jobId", tree->job_id);
	json_add_str(row, "verdict", gc_verdict_name(gc_reason_verdict(reason)));
	json_add_str(row, "reason", gc_reason_name(reason));
	json_add_i64(row, "files", tree->sums[reason].files);
	json_add_i64(row, "bytes", tree->sums[reason].bytes);
	if (cli_has(c->cli, "files")) {
		struct json *names = json_add_array(row, "names");

		for (size_t i = tree->first; i < tree->first + tree->count; i++)
			if (c->run.gc.files[i].reason == reason)
				json_add_str(names, NULL,
					     gc_name(&c->run.gc, &c->run.gc.files[i], &name));
	}
}

static void add_reasons(const struct collection *c, struct json *doc)
{
	struct json *rows = json_add_array(doc, "reasons");

	for (int i = 0; i < GC_REASON_COUNT; i++) {
		const struct gc_sum *sum = &c->run.gc.sums[i];
		enum gc_reason reason = (enum gc_reason)i;
		struct json *row = sum->files ? json_add_object(rows, NULL) : NULL;

		if (!row)
			continue;
		json_add_str(row, "reason", gc_reason_name(reason));
		json_add_str(row, "verdict", gc_verdict_name(gc_reason_verdict(reason)));
		json_add_i64(row, "files", sum->files);
		json_add_i64(row, "bytes", sum->bytes);
	}
}

static void print_collected_json(const struct collection *c)
{
	cleanup_json struct json *doc = json_object();
	struct json *rows;

	json_add_str(doc, "stopped", c->run.gc.stop);
	for (int v = GC_KEEP; v <= GC_DELETE; v++) {
		struct gc_sum sum = gc_total(&c->run.gc, (enum gc_verdict)v);

		add_sum(doc, gc_verdict_name((enum gc_verdict)v), sum.files, sum.bytes);
	}
	if (c->deletes) {
		add_sum(doc, "deleted", c->run.deleted.files, c->run.deleted.bytes);
		json_add_i64(doc, "failed", c->run.deleted.failed);
	}
	add_reasons(c, doc);
	rows = json_add_array(doc, "rows");
	for (size_t i = 0; i < c->run.gc.tree_count; i++)
		for (int r = 0; r < GC_REASON_COUNT; r++)
			if (c->run.gc.trees[i].sums[r].files)
				add_row(c, rows, &c->run.gc.trees[i], (enum gc_reason)r);
	output_document(c->cli, doc);
}

/* ---- the command ---- */

static int take_duration(const struct cli *cli, const char *option, int64_t *ret_ms)
{
	const char *text = cli_value(cli, option);
	struct err err = {0};

	if (text && clock_parse_duration(text, ret_ms, &err) < 0)
		return cli_fail(cli, CLI_USAGE, "--%s: %s", option, err.msg);
	return CLI_OK;
}

static int take_policy(struct collection *c)
{
	const char *keep = cli_value(c->cli, "keep");

	c->policy = gc_run_policy(&c->setup);
	if (keep) {
		char *end = NULL;

		c->policy.keep_launches = strtoll(keep, &end, 10);
		if (keep[0] < '0' || keep[0] > '9' || *end ||
		    c->policy.keep_launches > JOURNAL_MAX_LAUNCHES)
			return cli_fail(c->cli, CLI_USAGE,
					"--keep %s: expected a number, at most %d", keep,
					JOURNAL_MAX_LAUNCHES);
	}
	if (take_duration(c->cli, "keep-for", &c->policy.keep_ms) != CLI_OK)
		return CLI_USAGE;
	return take_duration(c->cli, "grace", &c->policy.grace_ms);
}

static int gc_status(const struct collection *c)
{
	const struct gc_run *run = &c->run;
	int status = CLI_OK;

	if (run->gc.stop)
		status =
			cli_fail(c->cli, CLI_HELD, "no %s may be deleted now: %s",
				 run->gc.only_jobs ? "file of a checkpoint" : "file", run->gc.stop);
	if (run->ended.kind)
		status = cli_fail(c->cli, run->ended.kind == ERR_BUSY ? CLI_HELD : CLI_FAILED,
				  "the deletion has ended early: %s", run->ended.msg);
	else if (run->deleted.failed)
		status = cli_fail(c->cli, CLI_FAILED, "%" PRId64 " files cannot be deleted: %s",
				  run->deleted.failed, run->deleted.why);
	return status;
}

static int collect_and_print(struct collection *c)
{
	struct gc_run *run = &c->run;
	struct err err = {0};
	int status;

	run->watch =
		(struct gc_run_watch){.reading = on_reading, .deleting = on_deleting, .ctx = c};
	if (gc_run_open(run, &c->setup, &err) < 0)
		return cli_fail(c->cli, CLI_HELD, "%s", err.msg);
	c->ticker = ticker_new(c->cli);
	gc_run_collect(run, &c->policy);
	if (c->deletes)
		gc_run_delete(run);
	ticker_free(c->ticker);
	if (cli_has(c->cli, "json"))
		print_collected_json(c);
	else
		print_collection(c);
	status = gc_status(c);
	gc_run_close(run);
	return status;
}

static int gc_command_run(const struct cli *cli)
{
	struct collection c = {.cli = cli, .deletes = cli_has(cli, "delete")};
	struct err err = {0};
	int status;

	if (setup_load(cli_config_path(cli), &c.setup, &err) < 0)
		return cli_fail(cli, CLI_USAGE, "%s", err.msg);
	status = take_policy(&c);
	if (status == CLI_OK)
		status = collect_and_print(&c);
	setup_release(&c.setup);
	return status;
}

static const struct cli_option options[] = {
	CLI_CONFIG,
	CLI_JSON,
	{"delete", 0, NULL, "delete; without it, only say what would be deleted", false},
	{"files", 0, NULL, "name each file", false},
	{"keep", 0, "N",
	 "keep the completed checkpoints of N launches before the\n"
	 "last one that have left a usable snapshot; this and the\n"
	 "next two: instead of gc.* of drey.yaml",
	 false},
	{"keep-for", 0, "DURATION", "and those of older launches for so long", false},
	{"grace", 0, "DURATION",
	 "delete nothing until the first checkpoint of the last\n"
	 "launch is as old as that",
	 false},
	CLI_END,
};

const struct cli_command cmd_gc = {
	.name = "gc",
	.summary = "show or delete what dead launches have left in storage",
	.description =
		"Lists what earlier launches of this application have left: checkpoints, the files that\n"
		"these share, Flink's records of how jobs ended, and what its high availability has\n"
		"kept. Says of each directory what can be deleted, what is needed, and what is in doubt\n"
		"and therefore kept. With --delete it deletes the first of these. A savepoint is never\n"
		"deleted, nor anything of the last launch, of a job that is not in the journal, or that\n"
		"any snapshot still refers to: the _metadata of each one is read, and if one cannot be\n"
		"read, no file of a checkpoint is deleted.\n",
	.options = options,
	.statuses = "0  listed or deleted\n"
		    "1  some files could not be deleted\n"
		    "2  wrong usage or configuration\n"
		    "4  not everything may be deleted now; the reason is printed\n",
	.example = "drey gc --config drey.yaml\n"
		   "drey gc --delete\n",
	.run = gc_command_run,
};
