/* acknowledge: a person knows of the state that a launch has given up. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cmd/client.h"
#include "cmd/commands.h"
#include "cmd/consent.h"

static const struct cli_option options[] = {CLI_CONFIG, CLI_JSON, CLI_DRY_RUN, CLI_END};

static int acknowledge_ask(struct client *client, void *arg)
{
	struct control_request request = {.command = COMMAND_ACKNOWLEDGE};
	const struct status_view *view = &client->view;
	const struct cli *cli = client->cli;
	cleanup_free char *line = NULL;
	char time[CLOCK_TEXT_BYTES];
	int status = client_status(client);

	(void)arg;
	if (status != CLI_OK)
		return status;
	if (!*view->lost_path)
		return cli_fail(cli, CLI_FAILED,
				"there is nothing to acknowledge: no state was lost");
	line = xasprintf("acknowledged: %s of state, up to %s", clock_human(view->lost_ms, time),
			 view->lost_path);
	if (consent_dry_run(cli))
		return consent_would(cli, "acknowledge the loss of %s of state, up to %s", time,
				     view->lost_path);
	return client_tell_once(client, request, line);
}

static int acknowledge_run(const struct cli *cli)
{
	return client_run(cli, acknowledge_ask, NULL);
}

const struct cli_command cmd_acknowledge = {
	.name = "acknowledge",
	.summary = "acknowledge that state was lost, so that drey stops reporting it",
	.description =
		"When the newest state is damaged, drey starts from an older snapshot as long as no more than\n"
		"restore.maxLoss is lost, and reports that with the cause StateLost until a newer savepoint is\n"
		"complete, or until a person says this. It changes nothing else: the job runs on, and the\n"
		"damaged snapshot stays where it is.\n",
	.options = options,
	.statuses = "0  acknowledged, and durable\n"
		    "1  refused: no state was lost\n"
		    "2  wrong usage or configuration\n"
		    "5  no running drey found, or it did not respond\n",
	.example = "drey acknowledge\n",
	.run = acknowledge_run,
};
