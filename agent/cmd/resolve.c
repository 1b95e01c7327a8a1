#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "cmd/commands.h"
#include "cmd/decide.h"
#include "cmd/output.h"
#include "cmd/places.h"
#include "cmd/reasons.h"
#include "core/journal/journal_copy.h"
#include "run/config/setup_side.h"
#include "run/effects/launch_build.h"

static const struct cli_option options[] = {
	CLI_CONFIG,
	{"explain", 'e', NULL, "print every source and candidate, not only the decision", false},
	CLI_JSON,
	PLACES_OPTIONS,
	{"flink-version", 0, "V", "with these directories: the Flink that would be launched",
	 false},
	{"policy", 0, "POLICY", "with these directories: latest (default) or savepoint", false},
	CLI_END,
};

/* Stands for the id that a launch would generate; replaced in the output. */
#define PLACEHOLDER_ID "00000000000000000000000000000000"

static void replace_placeholder(char **word)
{
	char *at = strstr(*word, PLACEHOLDER_ID);
	char *text;

	if (!at)
		return;
	text = xasprintf("%.*s%s%s", (int)(at - *word), *word, REASONS_NEW_ID,
			 at + strlen(PLACEHOLDER_ID));
	free(*word);
	*word = text;
}

/* A launch with new ids, on the side of the journal. The caller frees the cluster id and the two paths. */
static struct launch new_launch(const struct places *places, const struct facts *facts,
				const struct decision *decision)
{
	const struct setup *setup = &places->setup;
	enum side side = setup_side(setup, &places->journal);
	struct launch launch = {.job_id = PLACEHOLDER_ID, .application_id = PLACEHOLDER_ID};

	launch.ha_cluster_id = xstrdup(setup_cluster_id(setup, side));
	launch_name_results(&launch, setup->config.flink.result_store_directory);
	if (decision->kind == DECISION_START_FROM)
		launch.restore_path = facts->candidates[decision->candidate].snapshot.path;
	launch.allow_non_restored = decision->allow_non_restored;
	return launch;
}

/* The command line of the launch that was decided. */
static int by_setup(const struct places *places, const struct facts *facts,
		    const struct decision *decision, struct flink_exec *ret_exec, struct err *err)
{
	const struct launch *last = journal_launch_const(&places->journal);
	struct launch launch;
	int result;

	if (decision->kind == DECISION_CONTINUE && last)
		return launch_build(&places->setup, last, ret_exec, NULL, err);
	launch = new_launch(places, facts, decision);
	result = launch_build(&places->setup, &launch, ret_exec, NULL, err);
	free(launch.ha_cluster_id);
	free(launch.job_result_path);
	free(launch.application_result_path);
	for (size_t i = 0; result == 0 && i < ret_exec->argc; i++)
		replace_placeholder(&ret_exec->argv[i]);
	return result;
}

/* By hand the command is unknown; only what has to be added to it is known. */
static void by_hand(const struct facts *facts, const struct decision *decision, const char *job_id,
		    struct flink_exec *ret_exec)
{
	char **argv = xcalloc(6, sizeof(*argv));
	size_t n = 0;

	argv[n++] = xstrdup("--job-id");
	argv[n++] = xstrdup(job_id ? job_id : REASONS_NEW_ID);
	if (decision->kind == DECISION_START_FROM) {
		argv[n++] = xstrdup("--fromSavepoint");
		argv[n++] = xstrdup(facts->candidates[decision->candidate].snapshot.path);
	}
	if (decision->allow_non_restored)
		argv[n++] = xstrdup("--allowNonRestoredState");
	*ret_exec = (struct flink_exec){.argv = argv, .argc = n};
}

static void print(const struct cli *cli, const struct reasons *explanation)
{
	const struct decision *decision = explanation->decision;

	if (cli_has(cli, "json")) {
		struct json *document = reasons_document(explanation);

		output_document(cli, document);
		json_free(document);
	} else if (cli_has(cli, "explain")) {
		reasons_print(explanation, cli->out);
	} else {
		out_put(cli->out, "%s (rule %d): %s\n", decision_kind_name(decision->kind),
			decision->rule, decision->reason);
		if (explanation->lifted)
			out_put(cli->out, "when lifted: %s (rule %d): %s\n",
				decision_kind_name(explanation->lifted->kind),
				explanation->lifted->rule, explanation->lifted->reason);
	}
}

static int explain(struct places *places, const struct facts *facts,
		   const struct decision *decision, const struct decision *lifted,
		   const struct decision *resumed)
{
	struct reasons explanation = {.facts = facts,
				      .decision = decision,
				      .journal = &places->journal,
				      .policy = &places->policy,
				      .lifted = lifted,
				      .resumed = resumed};
	cleanup_flink_exec struct flink_exec exec = {0};
	struct err err = {0};
	int status = reasons_status(decision);

	if (decision->kind == DECISION_CONTINUE)
		explanation.job_id = facts->candidates[decision->candidate].ha_job_id;
	if (status == CLI_OK && places->by_hand) {
		by_hand(facts, decision, explanation.job_id, &exec);
	} else if (status == CLI_OK && by_setup(places, facts, decision, &exec, &err) < 0) {
		return cli_fail(places->cli, CLI_USAGE, "%s", err.msg);
	}
	explanation.args = (const char *const *)exec.argv;
	print(places->cli, &explanation);
	return status;
}

/* What would be decided with the copy of the journal as the journal; nothing is written. */
static void decide_with_copy(struct places *places, struct observe_plan *plan, struct facts *facts,
			     const struct decide *decide, struct decision *decision)
{
	const struct cli *cli = places->cli;

	if (!cli_has(cli, "json"))
		out_put(cli->out, "%s (rule %d): %s\n", decision_kind_name(decision->kind),
			decision->rule, decision->reason);
	journal_copy_take(&places->journal, facts->copy);
	facts_release(facts);
	observe_plan_release(plan);
	places_plan(places, plan);
	plan->heads_later = true;
	observe_gather(plan, facts);
	decide_now(decide, facts, decision);
}

static int resolve_run(const struct cli *cli)
{
	struct observe_plan plan;
	struct decision decision, lifted, resumed;
	struct decide decide;
	struct places places;
	cleanup_facts struct facts facts = {0};
	bool is_lifted, is_resumed;
	int status = places_open(&places, cli, true);

	if (status != CLI_OK)
		return status;
	places_plan(&places, &plan);
	plan.heads_later = true;
	observe_gather(&plan, &facts);
	decide = (struct decide){.plan = &plan,
				 .journal = &places.journal,
				 .policy = &places.policy,
				 .setup = places.configured ? &places.setup : NULL};
	decide_now(&decide, &facts, &decision);
	if (decision.kind == DECISION_ADOPT)
		decide_with_copy(&places, &plan, &facts, &decide, &decision);
	is_lifted = decide_lifted(&decide, &facts, &decision, &lifted);
	is_resumed = decide_resumed(&decide, &facts, &decision, &resumed);
	places_read(&places);
	status = explain(&places, &facts, &decision, is_lifted ? &lifted : NULL,
			 is_resumed ? &resumed : NULL);
	observe_plan_release(&plan);
	places_close(&places);
	return status;
}

const struct cli_command cmd_resolve = {
	.name = "resolve",
	.summary = "show what the next launch would start from, and why; changes nothing",
	.description =
		"Reads the journal, the retained checkpoints and the savepoints exactly as a launch would,\n"
		"and prints the decision. --explain adds every source and how it was read, every candidate\n"
		"and why it was chosen or rejected, and Flink's command line, and ends with what `drey\n"
		"resume` would start from. Works whether or not drey is running.\n"
		"\n"
		"--checkpoints and --savepoints are for a job that drey does not run, on any machine that\n"
		"can read its storage: without drey.yaml, Flink or Kubernetes. Every snapshot in these\n"
		"directories counts as state of this job; --job-id limits them to the given ids.\n",
	.options = options,
	.statuses =
		"0  drey would launch\n"
		"2  wrong usage or configuration\n"
		"3  parked: the application is not meant to run\n"
		"4  held: the application is meant to run, but something is missing; the reason names it\n",
	.example =
		"drey resolve --explain --config drey.yaml\n"
		"drey resolve --explain --checkpoints s3://flink/ck --savepoints s3://flink/sp\n",
	.run = resolve_run,
};
