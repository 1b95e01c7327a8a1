#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cmd/client.h"
#include "cmd/commands.h"
#include "cmd/consent.h"
#include "cmd/restore_options.h"

static const struct cli_option options[] = {CLI_CONFIG, CLI_JSON, CLI_WAIT, RESTORE_OPTIONS('n'),
					    CLI_END};

static int resume_judge(struct client *client, void *arg)
{
	const struct status_view *view = &client->view;

	(void)arg;
	if (status_view_is(view, "Running"))
		return CLI_OK;
	if (view->do_not_restart && (status_view_parked(view) || status_view_is(view, "Holding")))
		return cli_fail(
			client->cli, CLI_PARKED,
			"do-not-restart is on: nothing is launched until `drey do-not-restart off`; the desired state is running from now on");
	return client_stuck(client);
}

/* drey has another working directory, so a relative path would mean another file. */
static int make_absolute(const struct cli *cli, char **path)
{
	char directory[PATH_MAX];
	char *whole;

	if (!*path || **path == '/' || strstr(*path, ":/"))
		return CLI_OK;
	if (!getcwd(directory, sizeof(directory)))
		return cli_fail(cli, CLI_USAGE, "--from %s: %s; give an absolute path", *path,
				strerror(errno));
	whole = xasprintf("%s/%s", directory, *path);
	free(*path);
	*path = whole;
	return CLI_OK;
}

static int make_request(const struct cli *cli, struct control_request *request)
{
	int status = restore_options(cli, &request->restore);

	request->command = COMMAND_RESUME;
	return status == CLI_OK ? make_absolute(cli, &request->restore.path) : status;
}

static int ask_empty(struct client *client)
{
	const struct status_view *view = &client->view;
	const char *newest = *view->checkpoint_path ? view->checkpoint_path : view->savepoint_path;

	return consent_ask(client->cli, "Start %s without any state%s%s%s?", view->application,
			   *newest ? ", and leave what it has processed (" : "", newest,
			   *newest ? ") behind" : "");
}

/* For --dry-run; the caller frees it. */
static char *what_would(const struct control_request *request)
{
	if (request->restore.kind == RESTORE_EMPTY)
		return xstrdup("start the job without any state");
	if (request->restore.kind == RESTORE_PATH)
		return xasprintf("start the job from %s", request->restore.path);
	return xstrdup(
		"start the job from its newest state, as the last line of `drey resolve --explain` says");
}

static int resume_ask(struct client *client, void *arg)
{
	cleanup_free char *would = NULL;
	const struct control_request *request = arg;
	const struct status_view *view = &client->view;
	int status = client_mark(client);

	if (status != CLI_OK)
		return status;
	if (request->restore.kind != RESTORE_NONE && !status_view_parked(view) &&
	    !status_view_is(view, "Holding"))
		return cli_fail(
			client->cli, CLI_FAILED,
			"the application is %s; run `drey suspend` or `drey cancel` first; nothing was changed",
			view->phase);
	if (request->restore.kind == RESTORE_EMPTY && !consent_dry_run(client->cli) &&
	    (status = ask_empty(client)) != CLI_OK)
		return status;
	would = what_would(request);
	return client_do(client, request,
			 &(struct client_goal){
				 "phase Running", resume_judge, NULL, client_print_restored, would,
				 "the start continues; `drey suspend` stops the job again"});
}

static int resume_run(const struct cli *cli)
{
	cleanup_control_request struct control_request request = {0};
	int status = make_request(cli, &request);

	if (status == CLI_OK)
		status = client_run(cli, resume_ask, &request);
	return status;
}

const struct cli_command cmd_resume = {
	.name = "resume",
	.summary = "start the job again, from its newest state or from a given snapshot",
	.description =
		"Sets the desired state to running. After suspend, the newest state is that savepoint.\n"
		"After cancel, finish or failure, or while drey holds, earlier failures are forgiven and\n"
		"drey searches for the newest state again. Waits until Flink has reported what it\n"
		"restored, and prints it. --from, --empty and --allow-non-restored-state decide what drey\n"
		"would not decide alone. Each is for one launch, which is repeated as long as it has left\n"
		"no state of its own. `drey resolve --explain` shows beforehand what a launch would do. On a\n"
		"terminal --empty asks first; --yes answers that, and scripts are not asked.\n",
	.options = options,
	.statuses = "0  Running, and restored what was decided\n"
		    "1  it failed; or the job is already running and a restore was requested\n"
		    "2  wrong usage or configuration\n"
		    "3  still parked: do-not-restart is on\n"
		    "4  drey holds and reports why\n"
		    "5  no running drey found, or it did not respond\n"
		    "6  timed out; the request remains in force\n",
	.example = "drey resume --from file:///flink/savepoints/savepoint-3f9a10-7c2e5d1b8a44\n",
	.run = resume_run,
};
