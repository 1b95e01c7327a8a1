#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cmd/check_graph.h"
#include "cmd/check_slots.h"
#include "cmd/commands.h"
#include "cmd/decide.h"
#include "cmd/reasons.h"
#include "cmd/text.h"
#include "flink/reserved.h"
#include "run/config/config_check.h"
#include "run/config/setup.h"
#include "run/config/setup_overlap.h"
#include "run/ha/ha_observe.h"
#include "run/journal/journal_store.h"
#include "run/observe/observe.h"
#include "run/outputs/hook.h"

static const struct cli_option options[] = {
	CLI_CONFIG,
	{"allow-non-restored-state", 'n', NULL,
	 "state for which the new job has no operator may be left\n"
	 "out, as a restore request will say",
	 false},
	{"task-managers", 0, "N",
	 "TaskManagers that the new version will have; without it those count\n"
	 "that run now",
	 false},
	{"warn", 0, NULL, "report why drey would hold, but exit with status 0", false},
	CLI_END,
};

#define MOST_TASK_MANAGERS 100000

struct check {
	const struct cli *cli;
	struct setup setup;
	struct journal journal;   /* empty if it could not be read */
	char *journal_error;      /* why it could not be read */
	bool first;               /* proven: no drey has run yet */
	int64_t task_managers;    /* of the new version; 0 = not given */
	struct observe_plan plan; /* of its facts, once gathered */
};

static void row(const struct check *check, const char *name, const char *text)
{
	out_put(check->cli->out, "  %-14s %s\n", name, text);
}

static void read_journal(struct check *check)
{
	const struct config *config = &check->setup.config;
	struct err err = {0};
	struct journal_store *store = journal_store_open(config, &check->setup.kube);

	journal_store_guard_reader(store, &check->setup.kube);
	if (journal_store_read(store, &check->journal, &err) < 0) {
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

/* What runs now, according to the journal. */
static void print_now(const struct check *check)
{
	const struct launch *last = journal_launch_const(&check->journal);
	cleanup_free char *text = NULL;
	char ago[CLOCK_TEXT_BYTES];

	if (check->first || check->journal_error) {
		row(check, "now",
		    check->first ? "drey has not run here yet" : check->journal_error);
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

/* How an upgrade to the checked configuration would be made. */
static void print_upgrade(const struct check *check)
{
	bool runs = check->journal.phase && !strcmp(check->journal.phase, "Running");

	if (check->first || check->journal_error)
		return;
	if (!is_upgrade(check))
		row(check, "upgrade",
		    "none, the generation is the same: the job continues from its newest state");
	else if (check->setup.config.upgrade == UPGRADE_STATELESS)
		row(check, "upgrade", "cancel, and start empty: upgrade is stateless");
	else if (check->setup.config.upgrade == UPGRADE_BY_LAST_STATE)
		row(check, "upgrade", "no savepoint: upgrade is last-state");
	else if (runs)
		row(check, "upgrade", "stop with savepoint, and start from it");
	else
		row(check, "upgrade", "no savepoint, because the job is not running");
}

/* The job would be stopped with a savepoint before the new version starts. */
static bool takes_savepoint(const struct check *check)
{
	const struct config *config = &check->setup.config;

	if (check->first || check->journal_error || !check->journal.phase ||
	    strcmp(check->journal.phase, "Running") != 0)
		return false;
	return (is_upgrade(check) && config->upgrade == UPGRADE_BY_SAVEPOINT) ||
	       config->on_sigterm == SIGTERM_SAVEPOINT;
}

/* What a launch of the new version would find if the old one ended now without a savepoint. */
static void gather(struct check *check, struct facts *ret_facts)
{
	const struct journal *known = check->journal_error ? NULL : &check->journal;
	struct observe_plan *plan = &check->plan;

	observe_plan_init(plan, &check->setup.places, known, check->journal_error);
	if (check->setup.ha.on)
		ha_observe_once(&check->setup, known, plan);
	/* the Flink that owns it will have ended */
	xstrset(&plan->lock_held, NULL);
	plan->heads_later = true;
	observe_gather(plan, ret_facts);
}

static void decision_row(const struct check *check, const char *name,
			 const struct decision *decision)
{
	cleanup_free char *text = xasprintf("%s (rule %d): %s", decision_kind_name(decision->kind),
					    decision->rule, decision->reason);

	row(check, name, text);
}

static struct decide what_decides(const struct check *check)
{
	return (struct decide){.plan = &check->plan,
			       .journal = &check->journal,
			       .policy = &check->setup.life.policy,
			       .setup = &check->setup};
}

/* The new version may lift do-not-restart in the same step. */
static void print_lifted(const struct check *check, struct facts *facts, const struct decision *now)
{
	struct decision lifted;

	struct decide decide = what_decides(check);

	if (decide_lifted(&decide, facts, now, &lifted))
		decision_row(check, "when lifted", &lifted);
}

static void print_spare(const struct check *check)
{
	const char *jar = config_spare_jar(&check->setup.config);
	cleanup_free char *text = NULL;

	if (!jar)
		return;
	text = access(jar, R_OK) == 0
		       ? xasprintf("warm, with %s", jar)
		       : xasprintf(
				 "none: %s does not exist or cannot be read; a killed JobManager takes an ordinary start",
				 jar);
	row(check, "spare", text);
}

static void print_changelog(const struct check *check)
{
	if (check->setup.settings.changelog)
		row(check, "warning",
		    "with Flink's changelog, a restored job fails at its first checkpoint in claim mode NO_CLAIM, which Flink's command line sets: only the code of the job can set execution.state-recovery.claim-mode to CLAIM (env.configure); if it does not, turn the changelog off");
}

static void print_overwritten(const struct check *check)
{
	for (const char *const *key = flink_overwritten_keys(); *key; key++) {
		cleanup_free char *text = NULL;

		if (!flink_conf_get(&check->setup.flink_conf, *key))
			continue;
		text = xasprintf(
			"%s in Flink's configuration has no effect: Flink's command line overwrites it; remove it there, and let the code of the job set it if the job needs it",
			*key);
		row(check, "warning", text);
	}
}

static void print_unused(const struct check *check)
{
	cleanup_free char *text = config_unused_savepoints(&check->setup.config);

	if (text)
		row(check, "warning", text);
}

/* A third version would end the pod that prepares, or the one that the job has just come to. Back to one
 * of the two it may always go: that is what a rollback is. NULL: it is allowed. */
static char *handover_refuses(const struct check *check)
{
	const struct handover *handover = &check->journal.handover;
	const struct config *config = &check->setup.config;
	int64_t end_unix_ms = handover->state_unix_ms + config->handover.probation_ms;
	bool probation = handover->state == HANDOVER_DONE && clock_unix_ms() < end_unix_ms;
	cleanup_free char *mine = template_text(config->generation, NULL, NULL);

	if (check->first || check->journal_error ||
	    !(handover_is_under_way(handover) || probation) ||
	    template_same_generation(handover->from.template, mine) ||
	    template_same_generation(handover->to.template, mine) ||
	    party_is(&handover->to, check->setup.kube.pod_uid))
		return NULL;
	return xasprintf(
		"a hand-over to another version is under way (%s, %s): wait until it is over, `drey handover` shows how far it is; or go back with `helm rollback`",
		handover->id, probation ? "on probation" : handover_state_name(handover->state));
}

/* What the job would start from, or the newest state that is known. NULL: it would start without, or
 * nothing is known. */
static const char *state_to_take(const struct check *check, const struct facts *facts,
				 const struct decision *decision)
{
	const struct launch *last = journal_launch_const(&check->journal);

	if (decision->kind == DECISION_START_FROM)
		return facts->candidates[decision->candidate].snapshot.path;
	/* a savepoint of the same operators will be taken */
	if (decision->cause == CAUSE_SAVEPOINT_REQUIRED && takes_savepoint(check) && last)
		return last->last_checkpoint_path;
	return NULL;
}

static void print_slots(const struct check *check, int64_t needed)
{
	cleanup_free char *text = check_slots(needed, check->task_managers,
					      &check->setup.flink_conf, &check->journal);

	if (text)
		row(check, "slots", text);
}

/* Does the new job take the state? The same generation has made it. */
static int check_job(const struct check *check, const struct facts *facts,
		     const struct decision *decision)
{
	const struct cli *cli = check->cli;
	const char *snapshot = state_to_take(check, facts, decision);
	struct check_graph result;
	int status = CLI_OK;

	if (!check->setup.config.check.graph || !snapshot || !(is_upgrade(check) || check->first))
		return CLI_OK;
	check_graph(&check->setup,
		    handover_output_side(&check->journal, check->setup.config.generation,
					 xstris(check->journal.phase, "Running")),
		    snapshot,
		    decision->allow_non_restored || cli_has(cli, "allow-non-restored-state"),
		    &result);
	row(check, "job", result.text);
	if (result.details)
		text_print_lines(result.details, "                 ", cli->out);
	if (result.warning)
		row(check, "warning", result.warning);
	if (result.settings_warning)
		row(check, "warning", result.settings_warning);
	print_slots(check, result.slots_needed);
	if (result.verdict == CHECK_GRAPH_REFUSED)
		status =
			cli_fail(cli, CLI_HELD, "%s%s%.*s", result.text, result.details ? ": " : "",
				 result.details ? (int)strcspn(result.details, "\n") : 0,
				 result.details ? result.details : "");
	check_graph_release(&result);
	return status;
}

static int report(struct check *check)
{
	const struct cli *cli = check->cli;
	struct facts facts;
	struct decision decision;
	struct decide decide;
	cleanup_free char *text = NULL, *refusal = NULL, *overlap = NULL;
	int status;

	text = xasprintf("generation %s, Flink %s", or_none(check->setup.config.generation),
			 check->setup.version_text);
	row(check, "checked", text);
	if (setup_overlap(&check->setup, NULL, &overlap, NULL) > 0)
		return cli_fail(cli, CLI_USAGE, "%s", overlap);
	refusal = hook_obstacle(check->setup.config.hooks.directory);
	if (refusal)
		return cli_fail(cli, CLI_HELD, "drey would hold: %s", refusal);
	print_spare(check);
	print_changelog(check);
	print_overwritten(check);
	print_unused(check);
	read_journal(check);
	print_now(check);
	refusal = handover_refuses(check);
	if (refusal)
		return cli_fail(cli, CLI_HELD, "%s", refusal);
	print_upgrade(check);
	gather(check, &facts);
	decide = what_decides(check);
	decide_now(&decide, &facts, &decision);
	decision_row(check, "would start", &decision);
	print_lifted(check, &facts, &decision);
	if (decision.cause == CAUSE_SAVEPOINT_REQUIRED && takes_savepoint(check))
		row(check, "",
		    "that is without a savepoint; the job is running, so one is taken when it is stopped");
	else if (decision.kind == DECISION_HOLD)
		reasons_print(&(struct reasons){.facts = &facts, .decision = &decision}, cli->err);
	/* parked is as desired; a savepoint that is required will be taken */
	status = decision.kind == DECISION_HOLD && !(decision.cause == CAUSE_SAVEPOINT_REQUIRED &&
						     takes_savepoint(check))
			 ? CLI_HELD
			 : CLI_OK;
	status = status == CLI_OK ? check_job(check, &facts, &decision)
				  : cli_fail(cli, status, "drey would hold: %s", decision.reason);
	facts_release(&facts);
	observe_plan_release(&check->plan);
	return status;
}

/* 0: it is not one. */
static int64_t parse_count(const char *text)
{
	char *end;
	long long value = strtoll(text, &end, 10);

	return *text && !*end && value > 0 && value <= MOST_TASK_MANAGERS ? value : 0;
}

static int check_run(const struct cli *cli)
{
	struct check check = {.cli = cli};
	struct err err = {0};
	int status;

	if (cli_has(cli, "task-managers") &&
	    !(check.task_managers = parse_count(cli_value(cli, "task-managers"))))
		return cli_fail(cli, CLI_USAGE, "--task-managers must be 1 to %d, not '%s'",
				MOST_TASK_MANAGERS, cli_value(cli, "task-managers"));
	if (setup_load(cli_config_path(cli), &check.setup, &err) < 0)
		return cli_fail(cli, CLI_USAGE, "%s", err.msg);
	/* ERR_BUSY: Flink is running here, on its port */
	if (setup_check(&check.setup, &err) < 0 && err.kind != ERR_BUSY)
		status =
			cli_fail(cli, err.kind == ERR_CONFIG ? CLI_USAGE : CLI_HELD, "%s", err.msg);
	else
		status = report(&check);
	journal_release(&check.journal);
	free(check.journal_error);
	setup_release(&check.setup);
	return status == CLI_HELD && cli_has(cli, "warn") ? CLI_OK : status;
}

const struct cli_command cmd_check = {
	.name = "check",
	.summary = "check a new configuration against the existing state; changes nothing",
	.description =
		"Run it before an upgrade, with the new image and the new drey.yaml. It checks the\n"
		"configuration, finds Flink, reads the journal, the HA data and the storage, and reports\n"
		"how the job would be upgraded, and what the new version would start from if the last\n"
		"savepoint failed. It checks every file of the newest state, as the new Flink would read it,\n"
		"and lets the new job be built, without running it, to see whether it takes that state.\n",
	.options = options,
	.statuses =
		"0  it fits; or the application is parked, or has never run\n"
		"2  wrong usage or configuration\n"
		"4  drey would hold, the new job does not take the state or cannot be built, or a\n"
		"   hand-over is under way; the reason says what to do\n",
	.example = "drey check --config drey.yaml && helm upgrade ...\n",
	.run = check_run,
};
