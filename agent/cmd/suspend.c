#include <string.h>

#include "cmd/client.h"
#include "cmd/commands.h"
#include "cmd/remote_stop.h"
#include "cmd/text.h"

static const struct cli_option options[] = {CLI_CONFIG, CLI_JSON, CLI_WAIT, REMOTE_STOP_OPTIONS,
					    CLI_END};

static int suspend_judge(struct client *client, void *arg)
{
	const struct status_view *view = &client->view;
	bool failed = client_operation_ended(client, "suspend") && !view->last_ok;
	char retries[CLIENT_STOP_BYTES];

	(void)arg;
	if (status_view_is(view, "Suspended") && failed && !*view->last_location)
		return cli_fail(
			client->cli, CLI_FAILED,
			"suspended, but without a savepoint: %s; `drey resume` continues from the newest checkpoint",
			view->last_operation_error);
	if (status_view_is(view, "Suspended") || client_stopped_and_held(client, "suspended") ||
	    status_view_handed_over(view))
		return CLI_OK;
	if (failed)
		return cli_fail(client->cli, CLI_FAILED,
				"the stop failed: %s; %s; withdraw the request with `drey resume`",
				view->last_operation_error, client_stop_retries(client, retries));
	/* an agent that has just begun does not know what is desired */
	if (!status_view_stands(view) && strcmp(view->desired_state, "suspended") != 0)
		return cli_fail(client->cli, CLI_FAILED, "superseded: the desired state is now %s",
				view->desired_state);
	return CLIENT_CONTINUE;
}

static void print_savepoint(const struct client *client, void *arg)
{
	const struct status_view *view = &client->view;

	(void)arg;
	if (status_view_handed_over(view)) {
		client_print_handed_over(client, "suspended");
	} else if (strcmp(view->last_kind, "stop") == 0 && *view->last_location) {
		out_put(client->cli->out, "%s\n", view->last_location);
	} else {
		out_put(client->cli->err,
			"drey suspend: no job was running; no savepoint was taken\n");
	}
}

static int suspend_ask(struct client *client, void *arg)
{
	const struct control_request request = {.command = COMMAND_SUSPEND};
	int status = client_mark(client);

	(void)arg;
	if (status != CLI_OK)
		return status;
	return client_do(client, &request,
			 &(struct client_goal){"phase Suspended", suspend_judge, NULL,
					       print_savepoint, NULL,
					       "the stop continues; `drey resume` withdraws it"});
}

static int suspend_run(const struct cli *cli)
{
	int status = remote_stop_usage(cli);

	if (status != CLI_OK)
		return status;
	if (cli_has(cli, "remote"))
		return remote_stop(cli, DESIRED_SUSPENDED);
	return client_run(cli, suspend_ask, NULL);
}

const struct cli_command cmd_suspend = {
	.name = "suspend",
	.summary = "stop the job with a savepoint and keep it stopped",
	.description =
		"Stops the job with a savepoint, then stops Flink; drey stays up, parked. `drey resume`\n"
		"starts the job from exactly that savepoint. The path of the savepoint is the only line\n"
		"on standard output. If the stop fails, the job keeps running, and drey retries\n"
		"(savepoints.stopRetry) as long as the desired state is suspended, or does what\n"
		"savepoints.onStopFailure says.\n",
	.options = options,
	.statuses =
		"0  suspended\n"
		"1  the stop failed, the job keeps running, drey retries; superseded by another request;\n"
		"   or suspended without a savepoint\n"
		"2  wrong usage or configuration\n"
		"3  with --remote: no job is running\n"
		"4  with --remote: drey holds, no job is running\n"
		"5  no running drey found, or it did not respond\n"
		"6  timed out; the request remains in force, except with --withdraw\n",
	.example = "drey suspend && kubectl set image ...\n",
	.run = suspend_run,
};
