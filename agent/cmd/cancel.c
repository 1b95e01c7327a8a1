#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "cmd/client.h"
#include "cmd/commands.h"
#include "cmd/consent.h"
#include "cmd/remote_stop.h"

static const struct cli_option options[] = {CLI_CONFIG,          CLI_JSON, CLI_WAIT, CLI_YES,
					    REMOTE_STOP_OPTIONS, CLI_END};

static int cancel_judge(struct client *client, void *arg)
{
	const struct status_view *view = &client->view;

	(void)arg;
	if (status_view_is(view, "Cancelled") || client_stopped_and_held(client, "cancelled") ||
	    status_view_handed_over(view))
		return CLI_OK;
	/* an agent that has just begun does not know what is desired */
	if (!status_view_stands(view) && strcmp(view->desired_state, "cancelled") != 0)
		return cli_fail(client->cli, CLI_FAILED, "superseded: the desired state is now %s",
				view->desired_state);
	return CLIENT_CONTINUE;
}

static void print_cancelled(const struct client *client, void *arg)
{
	(void)arg;
	if (status_view_handed_over(&client->view))
		client_print_handed_over(client, "cancelled");
	else
		out_put(client->cli->out, "Cancelled\n");
}

static int cancel_ask(struct client *client, void *arg)
{
	const struct control_request request = {.command = COMMAND_CANCEL};
	const struct status_view *view = &client->view;
	char ago[CLOCK_TEXT_BYTES], since[128] = "";
	int status = client_status(client);

	(void)arg;
	if (status != CLI_OK)
		return status;
	if (view->checkpoint_unix_ms)
		snprintf(since, sizeof(since),
			 ": the work since checkpoint %" PRId64 " (%s) is repeated",
			 view->checkpoint_id,
			 clock_ago(view->checkpoint_unix_ms, clock_unix_ms(), ago));
	if (!consent_dry_run(client->cli) && !status_view_parked(view))
		status = consent_ask(client->cli, "Cancel %s (%s) without a savepoint%s?",
				     view->application, view->phase, since);
	if (status != CLI_OK)
		return status;
	return client_do(
		client, &request,
		&(struct client_goal){"phase Cancelled", cancel_judge, NULL, print_cancelled, NULL,
				      "the cancel continues; `drey resume` starts the job again"});
}

static int cancel_run(const struct cli *cli)
{
	int status = remote_stop_usage(cli);

	if (status != CLI_OK)
		return status;
	if (cli_has(cli, "remote") && !consent_dry_run(cli))
		status = consent_ask(cli, "Cancel the job without a savepoint?");
	if (status != CLI_OK)
		return status;
	if (cli_has(cli, "remote"))
		return remote_stop(cli, DESIRED_CANCELLED);
	return client_run(cli, cancel_ask, NULL);
}

const struct cli_command cmd_cancel = {
	.name = "cancel",
	.summary = "stop the job without a savepoint and keep it stopped",
	.description =
		"Cancels the job and stops Flink; drey stays up, parked. No savepoint is taken. Retained\n"
		"checkpoints are kept, and `drey resume` continues from the newest state. On a terminal it\n"
		"asks first; --yes answers that, and scripts are not asked.\n",
	.options = options,
	.statuses =
		"0  cancelled\n"
		"1  superseded by another request; with --remote also: drey could not cancel it\n"
		"2  wrong usage or configuration\n"
		"3  with --remote: no job is running\n"
		"4  with --remote: drey holds, no job is running\n"
		"5  no running drey found, or it did not respond\n"
		"6  timed out; the request remains in force, except with --withdraw\n",
	.example = "drey cancel --timeout 1min\n",
	.run = cancel_run,
};
