#include <stdlib.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "cmd/commands.h"
#include "cmd/history_text.h"
#include "cmd/output.h"
#include "cmd/saved_journal.h"

#define LAUNCHES    10
#define TRANSITIONS 10

static const struct cli_option options[] = {
	CLI_CONFIG,
	CLI_JSON_WIDE,
	{"limit", 'l', "N", "at most so many launches and transitions (default 10; 0: all)", false},
	CLI_END,
};

static int take_limit(const struct cli *cli, size_t *ret_limit)
{
	const char *text = cli_value(cli, "limit");
	char *end;
	long limit = text ? strtol(text, &end, 10) : LAUNCHES;

	if (text && (*end || limit < 0 || limit > JOURNAL_MAX_BYTES))
		return cli_fail(cli, CLI_USAGE, "--limit %s: not a number", text);
	*ret_limit = limit ? (size_t)limit : JOURNAL_MAX_BYTES;
	return CLI_OK;
}

static void print_history(const struct cli *cli, const struct journal *journal, size_t limit)
{
	struct history_layout layout = {.term = out_term(cli->out),
					.now_unix_ms = clock_unix_ms(),
					.launches = limit,
					.transitions = limit,
					.wide = output_wide(cli)};
	cleanup_shown struct shown text = {0};
	struct json *doc;

	if (cli_has(cli, "json")) {
		doc = history_document(journal);
		output_document(cli, doc);
		json_free(doc);
		return;
	}
	history_text(journal, &layout, &text);
	out_shown(cli->out, &text);
}

static int history_run(const struct cli *cli)
{
	cleanup_free char *place = NULL;
	cleanup_config struct config config = {0};
	struct journal journal;
	struct err err = {0};
	size_t limit = 0;
	int status = take_limit(cli, &limit);

	if (status != CLI_OK)
		return status;
	if (cli_config(cli, &config, &err) < 0)
		return cli_config_fail(cli, &err);
	if (saved_journal_read(&config, &journal, &place, &err) == 0) {
		print_history(cli, &journal, limit);
		journal_release(&journal);
	} else if (err.kind == ERR_ABSENT) {
		status = cli_fail(cli, CLI_ABSENT,
				  "there is no journal in %s: the application has never run here",
				  place);
	} else {
		status = cli_fail(cli, err.kind == ERR_CONFIG ? CLI_USAGE : CLI_ABSENT, "%s",
				  err.msg);
	}
	return status;
}

const struct cli_command cmd_history = {
	.name = "history",
	.summary = "show the launches of the application, and what each started from",
	.description =
		"Reads the journal, so it also works when no drey is running: each launch, newest first, with\n"
		"how long it ran and how it ended, what it started from and why, whether Flink confirmed that\n"
		"(verified) and then completed a checkpoint (proven), and the last transitions. The journal\n"
		"keeps the last 64 launches and 50 transitions.\n",
	.options = options,
	.statuses = "0  the history was printed\n"
		    "2  wrong usage or configuration\n"
		    "5  there is no journal, or it cannot be read\n",
	.example = "drey history --limit 3\n"
		   "drey history -o json | jq '.launches[-1].restorePoint'\n",
	.run = history_run,
};
