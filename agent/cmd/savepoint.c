#include <string.h>

#include "base/mem.h"
#include "cmd/client.h"
#include "cmd/commands.h"
#include "cmd/remote_snapshot.h"
#include "cmd/text.h"

static const struct cli_option options[] = {
	CLI_CONFIG, CLI_JSON, CLI_WAIT, REMOTE_SNAPSHOT_OPTIONS, CLI_END,
};

static int savepoint_judge(struct client *client, void *arg)
{
	struct status_savepoint answer;

	status_view_savepoint(client->status, arg, &answer);
	if (!answer.ended)
		return client_stuck(client);
	if (answer.ok)
		return CLI_OK;
	return cli_fail(client->cli, CLI_FAILED, "the savepoint failed: %s; drey does not retry it",
			answer.error);
}

static void print_path(const struct client *client, void *arg)
{
	struct status_savepoint answer;

	status_view_savepoint(client->status, arg, &answer);
	out_put(client->cli->out, "%s\n", answer.location);
}

static int savepoint_ask(struct client *client, void *arg)
{
	(void)arg;
	return client_do_snapshot(client, (struct control_request){.command = COMMAND_SAVEPOINT},
				  (struct client_goal){.what = "the savepoint",
						       .judge = savepoint_judge,
						       .print = print_path,
						       .interrupted = "the savepoint continues"});
}

static int savepoint_run(const struct cli *cli)
{
	int status = remote_snapshot_options(cli);

	if (status != CLI_OK)
		return status;
	if (cli_has(cli, "remote"))
		return remote_savepoint(cli);
	return client_run(cli, savepoint_ask, NULL);
}

const struct cli_command cmd_savepoint = {
	.name = "savepoint",
	.summary = "take a savepoint now and print its path",
	.description =
		"Requests one savepoint from the running drey and waits until it is complete and every\n"
		"file of it has been found. Its path is the only line on standard output; with --json\n"
		"the status document is printed. The savepoint is written to flink.savepointDirectory.\n",
	.options = options,
	.statuses = "0  the savepoint is complete\n"
		    "1  it failed; the job keeps running\n"
		    "2  wrong usage or configuration\n"
		    "3  no job is running\n"
		    "4  drey holds\n"
		    "5  no running drey found, or it did not respond\n"
		    "6  timed out; the savepoint is still being taken\n",
	.example = "path=$(drey savepoint --timeout 5min)\n",
	.run = savepoint_run,
};
