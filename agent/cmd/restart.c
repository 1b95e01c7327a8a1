#include <string.h>

#include "base/mem.h"
#include "cmd/client.h"
#include "cmd/commands.h"

static const struct cli_option options[] = {CLI_CONFIG, CLI_JSON, CLI_WAIT, CLI_END};

static int restart_judge(struct client *client, void *arg)
{
	const struct status_view *view = &client->view;
	char retries[CLIENT_STOP_BYTES];
	const char *nonce = arg;

	if (strcmp(view->last_nonce, nonce) == 0 && !view->last_ok)
		return cli_fail(client->cli, CLI_FAILED,
				"the stop failed: %s; the job keeps running, and %s",
				view->last_operation_error, client_stop_retries(client, retries));
	if (status_view_is(view, "Running") && view->launch_number > client->launch_before)
		return CLI_OK;
	return client_stuck(client);
}

static int restart_ask(struct client *client, void *arg)
{
	struct control_request request = {.command = COMMAND_RESTART};
	const struct status_view *view = &client->view;
	const struct cli *cli = client->cli;
	cleanup_free char *nonce = NULL;
	int status = client_mark(client);

	(void)arg;
	if (status != CLI_OK)
		return status;
	if (!status_view_is(view, "Running"))
		return cli_fail(cli, CLI_PARKED,
				"no job is running (%s: %s); start it with `drey resume`",
				view->phase, view->reason);
	if (view->do_not_restart)
		return cli_fail(
			cli, CLI_PARKED,
			"not restarted: the job could not be started again while do-not-restart is on; run `drey do-not-restart off` first");
	if ((status = client_nonce(cli, &nonce)) != CLI_OK)
		return status;
	request.nonce = nonce;
	return client_do(client, &request,
			 &(struct client_goal){"the restart", restart_judge, nonce,
					       client_print_restored, NULL,
					       "the restart continues"});
}

static int restart_run(const struct cli *cli)
{
	return client_run(cli, restart_ask, NULL);
}

const struct cli_command cmd_restart = {
	.name = "restart",
	.summary = "stop the job with a savepoint and start it from there",
	.description =
		"For a job that must start anew in the same container. Waits until the new launch is\n"
		"running and Flink has reported that it restored that savepoint. If the stop fails, the\n"
		"job keeps running and drey retries.\n",
	.options = options,
	.statuses = "0  Running again, from the savepoint of the stop\n"
		    "1  the stop or the new launch failed\n"
		    "2  wrong usage or configuration\n"
		    "3  no job is running, or do-not-restart is on\n"
		    "4  drey holds and reports why\n"
		    "5  no running drey found, or it did not respond\n"
		    "6  timed out; the request remains in force\n",
	.example = "drey restart\n",
	.run = restart_run,
};
