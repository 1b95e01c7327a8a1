/* kubectl drey savepoint, suspend, resume, restart, promote, abort, acknowledge: requests through the control ConfigMap; and the commands that are
 * those of drey, for an application of the cluster. */
#include <string.h>

#include "cmd/commands.h"
#include "cmd/plugin/plugin.h"
#include "cmd/plugin/plugin_commands.h"
#include "cmd/remote_snapshot.h"
#include "cmd/remote_start.h"
#include "cmd/remote_stop.h"
#include "cmd/remote_transition.h"
#include "cmd/restore_options.h"

#define ONE_APPLICATION                                                                            \
	.program = PLUGIN_PROGRAM, .arguments = "NAME", .min_args = 1, .max_args = 1,              \
	.config = plugin_config
#define SKIP_PARKED                                                                                \
	{                                                                                          \
		"skip-parked", 0, NULL, "exit with 0 if no job is meant to run", false             \
	}

/* ---- savepoint ---- */

static const struct cli_option savepoint_options[] = {PLUGIN_WHERE, CLI_WAIT, SKIP_PARKED, CLI_END};

const struct cli_command plugin_savepoint = {
	ONE_APPLICATION,
	.name = "savepoint",
	.summary = "take a savepoint now and print its path",
	.description =
		"Requests one savepoint through the control ConfigMap, and waits until the journal shows that it\n"
		"is complete. Its path is the only line on standard output.\n",
	.options = savepoint_options,
	.statuses = "0  the savepoint is complete\n"
		    "1  it failed; the job keeps running\n"
		    "2  wrong usage or configuration\n"
		    "3  no job is running\n"
		    "5  there is no such application, or it cannot be read\n"
		    "6  timed out; the request remains in the ConfigMap\n",
	.example = "path=$(kubectl drey savepoint orders -n shop --timeout 5min)\n",
	.run = remote_savepoint,
};

/* ---- suspend ---- */

static int suspend_run(const struct cli *cli)
{
	if (cli_has(cli, "no-wait") && cli_has(cli, "withdraw"))
		return cli_fail(
			cli, CLI_USAGE,
			"--withdraw cannot be combined with --no-wait: it needs the result");
	return remote_stop(cli, DESIRED_SUSPENDED);
}

static const struct cli_option suspend_options[] = {
	PLUGIN_WHERE,
	CLI_WAIT,
	SKIP_PARKED,
	{"withdraw", 0, NULL,
	 "if it fails or times out, withdraw the request, so that the job\nkeeps running", false},
	CLI_END,
};

const struct cli_command plugin_suspend = {
	ONE_APPLICATION,
	.name = "suspend",
	.summary = "stop the job with a savepoint and keep it stopped",
	.description =
		"Sets the state to suspended through the control ConfigMap, and waits until the journal shows\n"
		"the savepoint. `kubectl drey resume` starts the job from exactly that. The path of the savepoint\n"
		"is the only line on standard output.\n",
	.options = suspend_options,
	.statuses =
		"0  suspended\n"
		"1  the stop failed, the job keeps running, drey retries; superseded by another request;\n"
		"   or suspended without a savepoint\n"
		"2  wrong usage or configuration\n"
		"3  no job is running\n"
		"4  drey holds, no job is running\n"
		"5  there is no such application, it cannot be read, or no drey has read the request\n"
		"6  timed out; the request remains in force, except with --withdraw\n",
	.example = "kubectl drey suspend orders -n shop\n",
	.run = suspend_run,
};

/* ---- resume ---- */

/* A path on this machine means nothing in the Pod. */
static int resume_run(const struct cli *cli)
{
	const char *from = cli_value(cli, "from");

	if (from && *from != '/' && !strstr(from, ":/"))
		return cli_fail(cli, CLI_USAGE,
				"--from %s: give a URI, or an absolute path in the Pod", from);
	return remote_resume(cli);
}

static const struct cli_option resume_options[] = {PLUGIN_WHERE, CLI_WAIT, RESTORE_OPTIONS(0),
						   CLI_END};

const struct cli_command plugin_resume = {
	ONE_APPLICATION,
	.name = "resume",
	.summary = "start the job again, from its newest state or from a given snapshot",
	.description =
		"Sets the state to running through the control ConfigMap, with the key restore for --from,\n"
		"--empty and --allow-non-restored-state, and waits until the job runs; then it prints what was\n"
		"restored. If the state is running already, although no job runs, drey would see no change: it is\n"
		"set to suspended first. On a terminal --empty asks first; --yes answers that.\n",
	.options = resume_options,
	.statuses =
		"0  Running, and restored what was decided; or the job is running already\n"
		"1  it failed; or the job is already running and a restore was requested\n"
		"2  wrong usage or configuration\n"
		"3  still parked: do-not-restart is on\n"
		"4  drey holds and reports why\n"
		"5  there is no such application, it cannot be read, or no drey has read the request\n"
		"6  timed out; the request remains in force\n",
	.example =
		"kubectl drey resume orders -n shop\n"
		"kubectl drey resume orders -n shop --from s3://flink/savepoints/savepoint-3f9a10-7c2e5d1b8a44\n",
	.run = resume_run,
};

/* ---- restart ---- */

static const struct cli_option restart_options[] = {PLUGIN_WHERE, CLI_WAIT, CLI_END};

const struct cli_command plugin_restart = {
	ONE_APPLICATION,
	.name = "restart",
	.summary = "stop the job with a savepoint and start it from there",
	.description =
		"Sets a new restart-nonce in the control ConfigMap, and waits until the next launch runs. If the\n"
		"stop fails, the job keeps running.\n",
	.options = restart_options,
	.statuses =
		"0  Running again, from the savepoint of the stop\n"
		"1  the stop or the new launch failed\n"
		"2  wrong usage or configuration\n"
		"3  no job is running, or do-not-restart is on\n"
		"4  drey holds and reports why\n"
		"5  there is no such application, it cannot be read, or no drey has read the request\n"
		"6  timed out; the request remains in force\n",
	.example = "kubectl drey restart orders -n shop\n",
	.run = remote_restart,
};

/* ---- promote, abort ---- */

static const struct cli_option promote_options[] = {
	PLUGIN_WHERE,
	{"at", 0, "TIME", "the cut, in event time, for example 2026-11-26T12:00:00Z", false},
	CLI_WAIT,
	CLI_END,
};

const struct cli_command plugin_promote = {
	ONE_APPLICATION,
	.name = "promote",
	.summary = "let a blue/green upgrade pass the output to the next version",
	.description =
		"Sets a new value of the key promote in the control ConfigMap, and waits until the journal shows\n"
		"that drey has taken it. As soon as the next version has caught up, drey chooses a cut in event\n"
		"time: the old version writes what is before it, the next one the rest. With --at the cut is this\n"
		"time, or a later one if records of that time were already seen.\n",
	.options = promote_options,
	.statuses =
		"0  done, and durable\n"
		"1  refused: no transition is under way, or its cut was chosen already\n"
		"2  wrong usage or configuration\n"
		"5  there is no such application, it cannot be read, or no drey has read the request\n"
		"6  timed out; the request remains in force\n",
	.example = "kubectl drey promote orders -n shop --at 2026-11-26T12:00:00Z\n",
	.run = remote_promote,
};

static const struct cli_option abort_options[] = {PLUGIN_WHERE, CLI_WAIT, CLI_YES, CLI_END};

const struct cli_command plugin_abort = {
	ONE_APPLICATION,
	.name = "abort",
	.summary = "give a blue/green upgrade up, and keep the old version",
	.description =
		"Sets a new value of the key abort in the control ConfigMap, and waits until the journal shows\n"
		"that drey has taken it: the job of the next version ends, and the old version continues. If that\n"
		"has held records back since the cut, it starts again from its newest checkpoint before that, and\n"
		"writes what it has written since a second time. The next version is refused then until `drey\n"
		"resume` in the owner's Pod, or until another version is deployed. On a terminal it asks first;\n"
		"--yes answers that.\n",
	.options = abort_options,
	.statuses =
		"0  done, and durable\n"
		"1  refused: no transition is under way, or the job is the next version's already\n"
		"2  wrong usage or configuration\n"
		"5  there is no such application, it cannot be read, or no drey has read the request\n"
		"6  timed out; the request remains in force\n",
	.example = "kubectl drey abort orders -n shop --yes\n",
	.run = remote_abort,
};

/* ---- acknowledge ---- */

static const struct cli_option acknowledge_options[] = {PLUGIN_WHERE, CLI_WAIT, CLI_END};

const struct cli_command plugin_acknowledge = {
	ONE_APPLICATION,
	.name = "acknowledge",
	.summary = "acknowledge that state was lost, so that drey stops reporting it",
	.description =
		"Sets a new value of the key acknowledge in the control ConfigMap, and waits until the journal\n"
		"shows that drey has taken it. drey then stops reporting StateLost: the state that a launch has\n"
		"given up, because it was damaged. Nothing else changes.\n",
	.options = acknowledge_options,
	.statuses =
		"0  acknowledged, and durable\n"
		"1  refused: no state was lost\n"
		"2  wrong usage or configuration\n"
		"5  there is no such application, it cannot be read, or no drey has read the request\n"
		"6  timed out; the request remains in force\n",
	.example = "kubectl drey acknowledge orders -n shop\n",
	.run = remote_acknowledge,
};

/* ---- as drey has them ---- */

static int history_run(const struct cli *cli)
{
	return cmd_history.run(cli);
}

static const struct cli_option history_options[] = {
	PLUGIN_WHERE,
	CLI_JSON_WIDE,
	{"limit", 'l', "N", "at most so many launches and transitions (default 10; 0: all)", false},
	CLI_END,
};

const struct cli_command plugin_history = {
	ONE_APPLICATION,
	.name = "history",
	.summary = "show the launches of an application, and what each started from",
	.description =
		"Reads the ConfigMap of the journal: each launch, newest first, with how long it ran and how it\n"
		"ended, what it started from and why, whether Flink confirmed that (verified) and then completed\n"
		"a checkpoint (proven), and the last transitions.\n",
	.options = history_options,
	.statuses = "0  the history was printed\n"
		    "2  wrong usage or configuration\n"
		    "5  there is no such application, no journal, or it cannot be read\n",
	.example = "kubectl drey history orders -n shop --limit 3\n",
	.run = history_run,
};

static int explain_run(const struct cli *cli)
{
	return cmd_explain.run(cli);
}

static const struct cli_option explain_options[] = {
	{"markdown", 0, NULL, "print the page as it is in docs/runbook", false},
	CLI_END,
};

const struct cli_command plugin_explain = {
	.program = PLUGIN_PROGRAM,
	.name = "explain",
	.arguments = "[CAUSE]",
	.max_args = 1,
	.summary = "explain a cause: what it means, and the ways out",
	.description =
		"Prints the page of the runbook for a cause, the word that `kubectl drey list` shows. The pages\n"
		"are part of this program, so it needs no cluster. Without a cause it lists all of them.\n",
	.options = explain_options,
	.statuses = "0  the page or the list was printed\n"
		    "2  wrong usage, or no such cause\n",
	.example = "kubectl drey explain NewestStateMissing\n",
	.run = explain_run,
};

static int version_run(const struct cli *cli)
{
	return cmd_version.run(cli);
}

static const struct cli_option version_options[] = {CLI_JSON, CLI_END};

const struct cli_command plugin_version = {
	.program = PLUGIN_PROGRAM,
	.name = "version",
	.summary = "print the version of this program",
	.description = "The drey of an application may have another one.\n",
	.options = version_options,
	.statuses = "0  printed\n"
		    "2  wrong usage\n",
	.example = "kubectl drey version\n",
	.run = version_run,
};
