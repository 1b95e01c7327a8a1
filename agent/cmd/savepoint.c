#include <string.h>

#include "base/mem.h"
#include "cmd/client.h"
#include "cmd/commands.h"
#include "cmd/remote.h"
#include "cmd/text.h"

static const struct cli_option options[] = {
	CLI_CONFIG,
	CLI_JSON,
	CLI_WAIT,
	{"remote", 0, NULL,
	 "from another Pod: ask through the control ConfigMap, see\n"
	 "what came of it in the journal",
	 false},
	{"skip-parked", 0, NULL,
	 "with --remote: success, too, when no job is meant to run\n"
	 "(suspended, cancelled, finished, scaled to 0)",
	 false},
	CLI_END,
};

static int judge(struct client *client, void *arg)
{
	struct status_savepoint answer;

	status_view_savepoint(client->status, arg, &answer);
	if (!answer.ended)
		return client_stuck(client);
	if (answer.ok)
		return CLI_OK;
	return cli_fail(client->cli, CLI_FAILED,
			"the savepoint failed: %s; drey does not try this one again", answer.error);
}

static void print_location(const struct client *client, void *arg)
{
	struct status_savepoint answer;

	status_view_savepoint(client->status, arg, &answer);
	text_print(answer.location, client->cli->out);
	fputc('\n', client->cli->out);
}

static int ask(struct client *client, void *arg)
{
	struct control_request request = {.command = COMMAND_SAVEPOINT};
	const struct status_view *view = &client->view;
	const struct cli *cli = client->cli;
	cleanup_free char *nonce = NULL;
	int status = client_mark(client);

	(void)arg;
	if (status != CLI_OK)
		return status;
	if (status_view_parked(view) || status_view_is(view, "Holding") ||
	    status_view_is(view, "Terminating"))
		return cli_fail(cli, CLI_PARKED, "no job runs (%s: %s)", view->phase, view->reason);
	if ((status = client_nonce(cli, &nonce)) != CLI_OK)
		return status;
	request.nonce = nonce;
	return client_do(client, &request,
			 &(struct client_goal){"the savepoint", judge, nonce, print_location});
}

static int run(const struct cli *cli)
{
	if (cli_has(cli, "skip-parked") && !cli_has(cli, "remote"))
		return cli_fail(cli, CLI_USAGE, "--skip-parked goes with --remote");
	if (cli_has(cli, "json") && cli_has(cli, "remote"))
		return cli_fail(cli, CLI_USAGE,
				"--json needs a drey on this machine; not with --remote");
	if (cli_has(cli, "remote"))
		return remote_savepoint(cli);
	return client_run(cli, ask, NULL);
}

const struct cli_command cmd_savepoint = {
	.name = "savepoint",
	.summary = "take a savepoint now and print where it is",
	.description =
		"Asks the running drey for one savepoint and waits until it is complete and every\n"
		"file of it was found. Its location is the only line on standard output; with --json\n"
		"it is the status document. The savepoint goes to flink.savepointDirectory.\n",
	.options = options,
	.statuses = "0  the savepoint is complete\n"
		    "1  it failed; the job runs on\n"
		    "2  wrong use or configuration\n"
		    "3  no job runs\n"
		    "4  drey holds\n"
		    "5  no drey runs there, or it gives no answer\n"
		    "6  the time is up; the savepoint is still being taken\n",
	.example = "location=$(drey savepoint --timeout 5min)\n",
	.run = run,
};
