/* drey gc: what dead launches have left in storage, and its deletion. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "cmd/commands.h"
#include "cmd/text.h"
#include "cmd/ticker.h"
#include "run/config/setup.h"
#include "run/gc/gc_delete.h"
#include "run/gc/gc_facts.h"
#include "run/gc/gc_named.h"
#include "run/journal/journal_store.h"

#define MAX_KEEP 64

struct collection {
	const struct cli *cli;
	struct setup setup;
	struct journal journal;
	struct journal_store *store;
	struct ticker *ticker;
	struct gc gc;
	bool deletes;
	struct gc_deleted deleted;
	struct err ended; /* why a deletion did not go on */
};

/* ---- progress, and whether it still holds ---- */

static int on_read(void *ctx, const char *what, size_t done)
{
	const struct collection *c = ctx;

	ticker_set(c->ticker, "reading %s: %zu so far", what, done);
	return 0;
}

static void on_progress(void *ctx, int64_t done, int64_t of)
{
	const struct collection *c = ctx;

	ticker_set(c->ticker, "deleting: %jd of %jd files", (intmax_t)done, (intmax_t)of);
}

static int holds(void *ctx, struct err *err)
{
	struct collection *c = ctx;
	struct journal now;
	const char *why;
	bool same;

	if (journal_store_read(c->store, &now, err) < 0)
		return err_wrap(err, "the journal cannot be read again");
	same = gc_still_holds(&c->journal, &now, &why);
	journal_release(&now);
	return same ? 0 : err_set(err, ERR_BUSY, 0, "meanwhile %s", why);
}

/* ---- printing ---- */

static struct gc_sum sum_of(const struct gc *gc, enum gc_verdict verdict)
{
	struct gc_sum sum = {0};

	for (int i = 0; i < GC_REASON_COUNT; i++)
		if (gc_reason_verdict((enum gc_reason)i) == verdict) {
			sum.files += gc->sums[i].files;
			sum.bytes += gc->sums[i].bytes;
		}
	return sum;
}

static const char *action_of(enum gc_verdict verdict)
{
	static const char *const words[] = {
		[GC_KEEP] = "keep",
		[GC_DOUBT] = "in doubt",
		[GC_DELETE] = "delete",
	};

	return words[verdict];
}

static void print_files(const struct collection *c, const struct gc_tree *tree,
			enum gc_reason reason)
{
	for (size_t i = tree->first; i < tree->first + tree->count; i++) {
		const struct gc_file *file = &c->gc.files[i];

		if (file->reason != reason)
			continue;
		fprintf(c->cli->out, "          %s", file->odd ? "not a file: " : "");
		text_print(gc_name(&c->gc, file), c->cli->out);
		fputc('\n', c->cli->out);
	}
}

static void print_tree(const struct collection *c, const struct gc_tree *tree, bool files)
{
	char size[TEXT_SIZE_BYTES];

	for (int i = 0; i < GC_REASON_COUNT; i++) {
		enum gc_reason reason = (enum gc_reason)i;

		if (!tree->sums[i].files)
			continue;
		fprintf(c->cli->out, "%-8s  %7" PRId64 "  %8s  %-39s  ",
			action_of(gc_reason_verdict(reason)), tree->sums[i].files,
			text_size(tree->sums[i].bytes, size), gc_reason_text(reason));
		text_print(tree->dir, c->cli->out);
		fputc('\n', c->cli->out);
		if (files)
			print_files(c, tree, reason);
	}
}

static void print_sum(const struct collection *c, const char *what, int64_t files, int64_t bytes)
{
	char size[TEXT_SIZE_BYTES];

	fprintf(c->cli->out, "%s: %" PRId64 " files, %s\n", what, files, text_size(bytes, size));
}

static void print_text(const struct collection *c)
{
	struct gc_sum deletes = sum_of(&c->gc, GC_DELETE), keeps = sum_of(&c->gc, GC_KEEP),
		      doubts = sum_of(&c->gc, GC_DOUBT);

	if (c->gc.file_count)
		fprintf(c->cli->out, "%-8s  %7s  %8s  %-39s  %s\n", "ACTION", "FILES", "SIZE",
			"WHAT", "WHERE");
	for (size_t i = 0; i < c->gc.tree_count; i++)
		print_tree(c, &c->gc.trees[i], cli_has(c->cli, "files"));
	if (!c->gc.file_count)
		fputs("dead launches have left nothing\n", c->cli->out);
	else if (c->deletes)
		print_sum(c, "deleted", c->deleted.files, c->deleted.bytes);
	else
		print_sum(c, "would be deleted (use --delete)", deletes.files, deletes.bytes);
	if (keeps.files)
		print_sum(c, "needed", keeps.files, keeps.bytes);
	if (doubts.files)
		print_sum(c, "in doubt, and kept", doubts.files, doubts.bytes);
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

	json_add_str(row, "directory", tree->dir);
	json_add_str(row, "jobId", tree->job_id);
	json_add_str(row, "verdict", gc_verdict_name(gc_reason_verdict(reason)));
	json_add_str(row, "reason", gc_reason_name(reason));
	json_add_i64(row, "files", tree->sums[reason].files);
	json_add_i64(row, "bytes", tree->sums[reason].bytes);
	if (cli_has(c->cli, "files")) {
		struct json *names = json_add_array(row, "names");

		for (size_t i = tree->first; i < tree->first + tree->count; i++)
			if (c->gc.files[i].reason == reason)
				json_add_str(names, NULL, gc_name(&c->gc, &c->gc.files[i]));
	}
}

static void print_json(const struct collection *c)
{
	cleanup_json struct json *doc = json_object();
	cleanup_buf struct buf text = BUF_INIT;
	struct json *rows;

	json_add_str(doc, "stopped", c->gc.stop);
	for (int v = GC_KEEP; v <= GC_DELETE; v++) {
		struct gc_sum sum = sum_of(&c->gc, (enum gc_verdict)v);

		add_sum(doc, gc_verdict_name((enum gc_verdict)v), sum.files, sum.bytes);
	}
	if (c->deletes) {
		add_sum(doc, "deleted", c->deleted.files, c->deleted.bytes);
		json_add_i64(doc, "failed", c->deleted.failed);
	}
	rows = json_add_array(doc, "rows");
	for (size_t i = 0; i < c->gc.tree_count; i++)
		for (int r = 0; r < GC_REASON_COUNT; r++)
			if (c->gc.trees[i].sums[r].files)
				add_row(c, rows, &c->gc.trees[i], (enum gc_reason)r);
	json_print_pretty(doc, &text);
	fputs(buf_str(&text), c->cli->out);
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

static int take_policy(const struct cli *cli, struct gc_policy *policy)
{
	const char *keep = cli_value(cli, "keep");

	*policy = (struct gc_policy){GC_GRACE_MS, GC_KEEP_LAUNCHES, GC_KEEP_MS};
	if (keep) {
		char *end = NULL;

		policy->keep_launches = strtoll(keep, &end, 10);
		if (keep[0] < '0' || keep[0] > '9' || *end || policy->keep_launches > MAX_KEEP)
			return cli_fail(cli, CLI_USAGE, "--keep %s: expected a number, at most %d",
					keep, MAX_KEEP);
	}
	if (take_duration(cli, "keep-for", &policy->keep_ms) != CLI_OK)
		return CLI_USAGE;
	return take_duration(cli, "grace", &policy->grace_ms);
}

static int open_journal(struct collection *c)
{
	const struct config *config = &c->setup.config;
	struct err err = {0};

	c->store = journal_store_open(config, &c->setup.kube);
	if (journal_store_read(c->store, &c->journal, &err) == 0)
		return CLI_OK;
	if (err.kind != ERR_ABSENT)
		return cli_fail(c->cli, CLI_HELD, "%s", err.msg);
	journal_init(&c->journal, config->application);
	return CLI_OK;
}

static void collect(struct collection *c)
{
	const struct setup *setup = &c->setup;
	struct gc_named named;
	struct gc_facts_ask ask = {
		.storage = &setup->storage,
		.journal = &c->journal,
		.checkpoint_dir = setup->places.checkpoint_dir,
		.savepoint_dir = setup->places.savepoint_dir,
		.initial = setup->places.initial,
		.result_dir = setup->config.flink.result_store_directory,
		.progress = on_read,
		.progress_ctx = c,
	};

	ticker_set(c->ticker, "reading Flink's HA data");
	gc_named_read(setup, &c->journal, &named);
	if (named.unreadable)
		gc_set_unreadable(&c->gc, named.unreadable);
	ask.named = named.paths;
	ask.named_count = named.count;
	gc_facts(&ask, &c->gc);
	gc_named_release(&named);
}

static void delete_all(struct collection *c)
{
	const struct gc_delete_ask ask = {
		.storage = &c->setup.storage,
		.holds = holds,
		.progress = on_progress,
		.ctx = c,
	};

	if (!c->gc.stop || c->gc.results_only)
		gc_delete(&ask, &c->gc, &c->deleted, &c->ended);
}

static int gc_status(const struct collection *c)
{
	int status = CLI_OK;

	if (c->gc.stop)
		status = cli_fail(c->cli, CLI_HELD, "no %s may be deleted now: %s",
				  c->gc.results_only ? "file of a checkpoint" : "file", c->gc.stop);
	if (c->ended.kind)
		status = cli_fail(c->cli, c->ended.kind == ERR_BUSY ? CLI_HELD : CLI_FAILED,
				  "the deletion has ended early: %s", c->ended.msg);
	else if (c->deleted.failed)
		status = cli_fail(c->cli, CLI_FAILED, "%" PRId64 " files cannot be deleted: %s",
				  c->deleted.failed, c->deleted.why);
	return status;
}

static int collect_and_print(struct collection *c)
{
	int status = open_journal(c);

	if (status != CLI_OK)
		return status;
	c->ticker = ticker_new(c->cli);
	collect(c);
	if (c->deletes)
		delete_all(c);
	ticker_free(c->ticker);
	if (cli_has(c->cli, "json"))
		print_json(c);
	else
		print_text(c);
	status = gc_status(c);
	journal_release(&c->journal);
	return status;
}

static int gc_run(const struct cli *cli)
{
	struct collection c = {.cli = cli, .deletes = cli_has(cli, "delete")};
	struct err err = {0};
	int status = take_policy(cli, &c.gc.policy);

	if (status != CLI_OK)
		return status;
	if (setup_load(cli_config_path(cli), &c.setup, &err) < 0)
		return cli_fail(cli, CLI_USAGE, "%s", err.msg);
	c.gc.now_unix_ms = clock_unix_ms();
	status = collect_and_print(&c);
	gc_release(&c.gc);
	journal_store_free(c.store);
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
	 "last one that have left a usable snapshot (default 2)",
	 false},
	{"keep-for", 0, "DURATION", "and those of older launches for so long (default 7d)", false},
	{"grace", 0, "DURATION",
	 "delete nothing until the first checkpoint of the last\n"
	 "launch is as old as that (default 1h)",
	 false},
	CLI_END,
};

const struct cli_command cmd_gc = {
	.name = "gc",
	.summary = "show or delete what dead launches have left in storage",
	.description =
		"Lists what earlier launches of this application have left: checkpoints, the files that\n"
		"these share, and Flink's records of how jobs ended. Says of each directory what can be\n"
		"deleted, what is needed, and what is in doubt and therefore kept. With --delete it\n"
		"deletes the first of these. A savepoint is never deleted, nor anything of the last\n"
		"launch, of a job that is not in the journal, or that a snapshot still refers to, whoever\n"
		"made that: the _metadata of each one is read, and if one cannot be read, no file of a\n"
		"checkpoint is deleted.\n",
	.options = options,
	.statuses = "0  listed or deleted\n"
		    "1  some files could not be deleted\n"
		    "2  wrong usage or configuration\n"
		    "4  not everything may be deleted now; the reason is printed\n",
	.example = "drey gc --config drey.yaml\n"
		   "drey gc --delete\n",
	.run = gc_run,
};
