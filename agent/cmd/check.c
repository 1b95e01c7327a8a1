#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cmd/commands.h"
#include "cmd/decide.h"
#include "cmd/explain.h"
#include "cmd/text.h"
#include "run/config/setup.h"
#include "run/ha/ha_observe.h"
#include "run/journal/journal_store.h"
#include "run/observe/observe.h"

static const struct cli_option options[] = {
	CLI_CONFIG,
	{"warn", 0, NULL, "say what is wrong, and succeed all the same", false},
	CLI_END,
};

struct check {
	const struct cli *cli;
	struct setup setup;
	struct journal journal; /* an empty one when it could not be read */
	char *journal_error;    /* why it could not */
	bool first;             /* proven: no drey has run yet */
};

static void row(const struct check *check, const char *name, const char *text)
{
	fprintf(check->cli->out, "  %-14s ", name);
	text_print(text, check->cli->out);
	fputc('\n', check->cli->out);
}

static void read_journal(struct check *check)
{
	const struct config *config = &check->setup.config;
	struct err err = {0};
	struct journal_store *store = journal_store_open(config, &check->setup.kube, &err);

	if (!store || journal_store_read(store, &check->journal, &err) < 0) {
		journal_init(&check->journal, config->application);
		check->first = err.kind == ERR_ABSENT;
		if (!check->first)
			check->journal_error = xstrdup(err.msg);
	}
	journal_store_free(store);
}

static const char *or_none(const char *text)
{
	return text ? text : "none";
}

/* What runs now, as far as the journal knows. */
static void print_now(const struct check *check)
{
	const struct launch *last = journal_launch_const(&check->journal);
	cleanup_free char *text = NULL;
	char ago[CLOCK_TEXT_BYTES];

	if (check->first || check->journal_error) {
		row(check, "now", check->first ? "no drey has run here yet" : check->journal_error);
		return;
	}
	text = xasprintf("%s, generation %s, Flink %s", or_none(check->journal.phase),
			 or_none(last ? last->generation : NULL),
			 or_none(last ? last->flink_version : NULL));
	row(check, "now", text);
	if (!last || !last->last_checkpoint_id)
		return;
	free(text);
	text = xasprintf("%s, %s", or_none(last->last_checkpoint_path),
			 clock_ago(last->last_checkpoint_unix_ms, clock_unix_ms(), ago));
	row(check, "checkpoint", text);
}

static bool is_upgrade(const struct check *check)
{
	const struct launch *last = journal_launch_const(&check->journal);
	const char *generation = check->setup.config.generation;

	return last && generation && last->generation && strcmp(last->generation, generation) != 0;
}

/* How the job passes to what was checked. */
static void print_passage(const struct check *check)
{
	bool runs = check->journal.phase && !strcmp(check->journal.phase, "Running");

	if (check->first || check->journal_error)
		return;
	if (!is_upgrade(check))
		row(check, "passage", "the same generation: the job goes on from its newest state");
	else if (check->setup.config.upgrade == UPGRADE_STATELESS)
		row(check, "passage", "cancelled, and started empty: upgrade is stateless");
	else if (check->setup.config.upgrade == UPGRADE_BY_LAST_STATE)
		row(check, "passage", "no savepoint: upgrade is last-state");
	else if (runs)
		row(check, "passage", "stop with savepoint, and start from it");
	else
		row(check, "passage", "no savepoint, because the job does not run");
}

/* The job is stopped with a savepoint before the new version starts. */
static bool takes_savepoint(const struct check *check)
{
	const struct config *config = &check->setup.config;

	if (check->first || check->journal_error || !check->journal.phase ||
	    strcmp(check->journal.phase, "Running") != 0)
		return false;
	return (is_upgrade(check) && config->upgrade == UPGRADE_BY_SAVEPOINT) ||
	       config->on_sigterm == SIGTERM_SAVEPOINT;
}

/* As a start of the new version would, if the old one were to end now without a savepoint. */
static void gather(struct check *check, struct facts *ret_facts)
{
	const struct journal *known = check->journal_error ? NULL : &check->journal;
	struct observe_plan plan;

	observe_plan_init(&plan, &check->setup.places, known, check->journal_error);
	if (check->setup.ha.on)
		ha_observe_once(&check->setup, known, &plan);
	/* the Flink that has it will have ended */
	xstrset(&plan.lock_held, NULL);
	observe_gather(&plan, ret_facts);
	observe_plan_release(&plan);
}

static void decision_row(const struct check *check, const char *name,
			 const struct decision *decision)
{
	cleanup_free char *text = xasprintf("%s (rule %d): %s", decision_kind_name(decision->kind),
					    decision->rule, decision->reason);

	row(check, name, text);
}

/* The new version may lift do-not-restart in the same step. */
static void print_lifted(const struct check *check, struct facts *facts, const struct decision *now)
{
	struct decision lifted;

	if (decide_lifted(&check->setup.storage, &check->journal, facts, &check->setup.life.policy,
			  now, &lifted))
		decision_row(check, "when lifted", &lifted);
}

static int look(struct check *check)
{
	const struct cli *cli = check->cli;
	struct facts facts;
	struct decision decision;
	cleanup_free char *text = NULL;
	int status;

	text = xasprintf("generation %s, Flink %s", or_none(check->setup.config.generation),
			 check->setup.version_text);
	row(check, "checked", text);
	read_journal(check);
	print_now(check);
	print_passage(check);
	gather(check, &facts);
	decide_now(&check->setup.storage, &check->journal, &facts, &check->setup.life.policy,
		   &decision);
	decision_row(check, "would start", &decision);
	print_lifted(check, &facts, &decision);
	if (decision.cause == CAUSE_SAVEPOINT_REQUIRED && takes_savepoint(check))
		row(check, "",
		    "that is without the savepoint; the job runs, so one is taken at its stop");
	else if (decision.kind == DECISION_HOLD)
		explain_print(&(struct explanation){.facts = &facts, .decision = &decision},
			      cli->err);
	/* suspended or cancelled is what somebody wants; a savepoint that is needed will be taken */
	status = decision.kind == DECISION_HOLD && !(decision.cause == CAUSE_SAVEPOINT_REQUIRED &&
						     takes_savepoint(check))
			 ? CLI_HELD
			 : CLI_OK;
	facts_release(&facts);
	return status == CLI_OK ? CLI_OK
				: cli_fail(cli, status, "drey would hold: %s", decision.reason);
}

static int run(const struct cli *cli)
{
	struct check check = {.cli = cli};
	struct err err = {0};
	int status;

	if (setup_load(cli_config_path(cli), &check.setup, &err) < 0)
		return cli_fail(cli, CLI_USAGE, "%s", err.msg);
	/* busy: Flink runs right here, on its port */
	if (setup_check(&check.setup, &err) < 0 && err.kind != ERR_BUSY)
		status =
			cli_fail(cli, err.kind == ERR_CONFIG ? CLI_USAGE : CLI_HELD, "%s", err.msg);
	else
		status = look(&check);
	journal_release(&check.journal);
	free(check.journal_error);
	setup_release(&check.setup);
	return status == CLI_HELD && cli_has(cli, "warn") ? CLI_OK : status;
}

const struct cli_command cmd_check = {
	.name = "check",
	.summary = "say whether this configuration fits what is there; changes nothing",
	.description =
		"Before an upgrade, with the new image and the new drey.yaml: is the configuration right,\n"
		"is Flink there, can journal, HA data and storage be read, how would the job pass to the\n"
		"new version, and what would that start from if the last savepoint did not come about?\n"
		"The newest state is looked at file by file, as the new Flink would read it.\n",
	.options = options,
	.statuses = "0  it fits; or the application is not meant to run, or has never run\n"
		    "2  wrong use or configuration\n"
		    "4  drey would hold; the reason says what is missing\n",
	.example = "drey check --config drey.yaml && helm upgrade ...\n",
	.run = run,
};
