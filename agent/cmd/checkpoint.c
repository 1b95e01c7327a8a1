#include <inttypes.h>

#include "base/mem.h"
#include "cmd/client.h"
#include "cmd/commands.h"
#include "cmd/remote_snapshot.h"
#include "cmd/text.h"

static const struct cli_option options[] = {
	CLI_CONFIG,
	CLI_JSON,
	CLI_WAIT,
	{"full", 0, NULL,
	 "a full checkpoint, also of a job whose checkpoints are\n"
	 "incremental",
	 false},
	REMOTE_SNAPSHOT_OPTIONS,
	CLI_END,
};

static int checkpoint_judge(struct client *client, void *arg)
{
	struct status_checkpoint answer;

	status_view_checkpoint(client->status, arg, &answer);
	if (!answer.ended)
		return client_stuck(client);
	if (!answer.ok)
		return cli_fail(client->cli, CLI_FAILED,
				"the checkpoint failed: %s; drey does not retry it", answer.error);
	if (!*answer.location)
		return cli_fail(
			client->cli, CLI_FAILED,
			"checkpoint %" PRId64
			" is complete, but Flink does not show its path; use `drey snapshots`",
			answer.checkpoint_id);
	return CLI_OK;
}

static void print_path(const struct client *client, void *arg)
{
	struct status_checkpoint answer;

	status_view_checkpoint(client->status, arg, &answer);
	out_put(client->cli->out, "%s\n", answer.location);
}

static int checkpoint_ask(struct client *client, void *arg)
{
	(void)arg;
	return client_do_snapshot(client,
				  (struct control_request){.command = COMMAND_CHECKPOINT,
							   .full = cli_has(client->cli, "full")},
				  (struct client_goal){.what = "the checkpoint",
						       .judge = checkpoint_judge,
						       .print = print_path,
						       .interrupted = "the checkpoint continues"});
}

static int checkpoint_run(const struct cli *cli)
{
	int status = remote_snapshot_options(cli);

	if (status != CLI_OK)
		return status;
	if (cli_has(cli, "remote"))
		return remote_checkpoint(cli);
	return client_run(cli, checkpoint_ask, NULL);
}

const struct cli_command cmd_checkpoint = {
	.name = "checkpoint",
	.summary = "take a checkpoint now and print its path",
	.description =
		"Requests one checkpoint from the running drey and waits until Flink has completed it. Its\n"
		"path is the only line on standard output; with --json the status document is printed.\n"
		"Flink keeps and deletes it like any other checkpoint. Needs Flink 1.17 or later.\n",
	.options = options,
	.statuses = "0  the checkpoint is complete\n"
		    "1  it failed, or was given up for a stop of the job\n"
		    "2  wrong usage or configuration\n"
		    "3  no job is running\n"
		    "4  drey holds\n"
		    "5  no running drey found, or it did not respond\n"
		    "6  timed out; the checkpoint is still being taken\n",
	.example = "path=$(drey checkpoint --full --timeout 5min)\n",
	.run = checkpoint_run,
};
