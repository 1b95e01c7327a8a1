#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "cmd/commands.h"
#include "cmd/explain.h"
#include "run/journal_file.h"
#include "run/launch_build.h"
#include "run/observe.h"
#include "run/setup.h"

static const struct cli_option options[] = {
	CLI_CONFIG,
	{"explain", 'e', NULL, "print every source and candidate, not only the decision"},
	CLI_JSON,
	CLI_END,
};

/* Stands for the id that a launch would draw; replaced in what is printed. */
#define PLACEHOLDER_ID "00000000000000000000000000000000"

static void replace_placeholder(char **word)
{
	char *at = strstr(*word, PLACEHOLDER_ID);
	char *text;

	if (!at)
		return;
	text = xasprintf("%.*s%s%s", (int)(at - *word), *word, EXPLAIN_NEW_ID,
			 at + strlen(PLACEHOLDER_ID));
	free(*word);
	*word = text;
}

/* The command line that the decision would lead to. */
static int would_launch(const struct setup *setup, const struct facts *facts,
			const struct decision *decision, struct flink_exec *ret_exec,
			struct err *err)
{
	struct launch launch = {.job_id = PLACEHOLDER_ID, .application_id = PLACEHOLDER_ID};
	int result;

	launch.job_result_path =
		xasprintf("%s/%s", setup->config.flink.result_store_directory, PLACEHOLDER_ID);
	launch.application_result_path = xasprintf(
		"%s/application-%s", setup->config.flink.result_store_directory, PLACEHOLDER_ID);
	if (decision->kind == DECISION_START_FROM)
		launch.restore_path = facts->candidates[decision->candidate].snapshot.path;
	launch.allow_non_restored = decision->allow_non_restored;
	result = launch_build(setup, &launch, ret_exec, err);
	free(launch.job_result_path);
	free(launch.application_result_path);
	for (size_t i = 0; result == 0 && i < ret_exec->argc; i++)
		replace_placeholder(&ret_exec->argv[i]);
	return result;
}

static void print(const struct cli *cli, const struct explanation *explanation)
{
	const struct decision *decision = explanation->decision;

	if (cli_has(cli, "json")) {
		struct json *document = explain_document(explanation);
		cleanup_buf struct buf text = BUF_INIT;

		json_print_pretty(document, &text);
		fputs(buf_str(&text), cli->out);
		json_free(document);
	} else if (cli_has(cli, "explain")) {
		explain_print(explanation, cli->out);
	} else {
		fprintf(cli->out, "%s (rule %d): %s\n", decision_kind_name(decision->kind),
			decision->rule, decision->reason);
	}
}

static int decide(const struct cli *cli, const struct setup *setup, const struct journal *journal,
		  const char *journal_error)
{
	struct journal empty;
	struct observe_plan plan;
	struct facts facts;
	struct decision decision;
	struct flink_exec exec = {0};
	struct err err = {0};
	struct explanation explanation = {.facts = &facts, .decision = &decision};
	int status;

	journal_init(&empty, setup->config.application);
	observe_plan_init(&plan, &setup->places, journal, journal_error);
	observe_gather(&plan, &facts);
	resolve(journal ? journal : &empty, &facts, &setup->life.policy, &decision);
	while (decision.kind == DECISION_VERIFY) {
		observe_verify(&setup->storage, &facts.candidates[decision.candidate]);
		resolve(journal ? journal : &empty, &facts, &setup->life.policy, &decision);
	}
	status = explain_status(&decision);
	if (status == CLI_OK && would_launch(setup, &facts, &decision, &exec, &err) < 0) {
		status = cli_fail(cli, CLI_USAGE, "%s", err.msg);
	} else {
		explanation.args = (const char *const *)exec.argv;
		print(cli, &explanation);
	}
	flink_exec_release(&exec);
	facts_release(&facts);
	observe_plan_release(&plan);
	journal_release(&empty);
	return status;
}

static int run(const struct cli *cli)
{
	struct journal_file file;
	struct journal journal;
	struct setup setup;
	struct err err = {0};
	int status;

	if (setup_load(cli_config_path(cli), &setup, &err) < 0)
		return cli_fail(cli, CLI_USAGE, "%s", err.msg);
	journal_file_init(&file, setup.config.state_directory);
	if (journal_file_read(&file, &journal, &err) < 0) {
		if (err.kind == ERR_ABSENT)
			journal_init(&journal, setup.config.application);
		status = decide(cli, &setup, err.kind == ERR_ABSENT ? &journal : NULL, err.msg);
		if (err.kind == ERR_ABSENT)
			journal_release(&journal);
	} else {
		status = decide(cli, &setup, &journal, NULL);
		journal_release(&journal);
	}
	journal_file_release(&file);
	setup_release(&setup);
	return status;
}

const struct cli_command cmd_resolve = {
	.name = "resolve",
	.summary = "say what the job would start from, and why; changes nothing",
	.description = "Looks at the journal, the retained checkpoints and the savepoints exactly "
		       "as a start\n"
		       "would, and prints the decision. --explain adds every source with how it "
		       "was read, every\n"
		       "candidate with the reason why it was taken or passed over, and Flink's "
		       "command line.\n"
		       "Works whether drey runs or not.\n",
	.options = options,
	.statuses = "0  it would launch\n"
		    "2  wrong use or configuration\n"
		    "3  parked: a launch is not wanted\n"
		    "4  held: a launch is wanted, but something is missing; the reason says what\n",
	.example = "drey resolve --explain --config drey.yaml\n",
	.run = run,
};
