#include <string.h>

#include "base/clock.h"
#include "cmd/client.h"
#include "cmd/commands.h"
#include "cmd/text.h"

static const struct cli_option options[] = {CLI_CONFIG, CLI_JSON, CLI_WAIT, CLI_END};

static int judge(struct client *client, void *arg)
{
	const struct status_view *view = &client->view;
	char retry[CLOCK_TEXT_BYTES];

	(void)arg;
	if (status_view_is(view, "Suspended") || client_braked(client, "suspended"))
		return CLI_OK;
	if (client_operation_ended(client, "suspend") && !view->last_ok)
		return cli_fail(client->cli, CLI_FAILED,
				"the stop failed: %s; drey tries it again every %s, `drey resume` "
				"withdraws it",
				view->last_operation_error,
				clock_human(client->config.savepoints.stop_retry_ms, retry));
	if (strcmp(view->desired_state, "suspended") != 0)
		return cli_fail(client->cli, CLI_FAILED, "overtaken: wanted is now %s",
				view->desired_state);
	return CLIENT_GO_ON;
}

static void print_savepoint(const struct client *client, void *arg)
{
	const struct status_view *view = &client->view;

	(void)arg;
	if (strcmp(view->last_kind, "stop") == 0 && *view->last_location) {
		text_print(view->last_location, client->cli->out);
		fputc('\n', client->cli->out);
	} else {
		fprintf(client->cli->err, "drey suspend: nothing ran, no savepoint was taken\n");
	}
}

static int ask(struct client *client, void *arg)
{
	const struct control_request request = {.command = COMMAND_SUSPEND};
	int status = client_mark(client);

	(void)arg;
	if (status != CLI_OK)
		return status;
	return client_do(client, &request,
			 &(struct client_goal){"phase Suspended", judge, NULL, print_savepoint});
}

static int run(const struct cli *cli)
{
	return client_run(cli, ask, NULL);
}

const struct cli_command cmd_suspend = {
	.name = "suspend",
	.summary = "stop the job with a savepoint and keep it stopped",
	.description =
		"Takes a savepoint, stops the job with it, ends Flink and stays up, parked.\n"
		"`drey resume` starts the job from exactly that savepoint. The savepoint's location is\n"
		"the only line on standard output. A stop that fails leaves the job running and is\n"
		"tried again (savepoints.stopRetry) as long as suspended is what is wanted.\n",
	.options = options,
	.statuses = "0  suspended\n"
		    "1  the stop failed, the job runs on, drey tries again; or it was overtaken\n"
		    "2  wrong use or configuration\n"
		    "5  no drey runs there, or it gives no answer\n"
		    "6  the time is up; suspended is still wanted\n",
	.example = "drey suspend && kubectl set image ...\n",
	.run = run,
};
