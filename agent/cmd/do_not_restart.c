#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cmd/client.h"
#include "cmd/commands.h"
#include "cmd/consent.h"

static const struct cli_option options[] = {CLI_CONFIG, CLI_JSON, CLI_DRY_RUN, CLI_END};

static int do_not_restart_ask(struct client *client, void *arg)
{
	struct control_request request = {.command = COMMAND_DO_NOT_RESTART};
	const struct cli *cli = client->cli;
	const char *word = cli->args[0];
	cleanup_free char *line = xasprintf("do-not-restart is %s", word);
	int status = client_status(client);

	(void)arg;
	if (status != CLI_OK)
		return status;
	if (consent_dry_run(cli))
		return consent_would(cli, "turn do-not-restart %s (it is %s)", word,
				     client->view.do_not_restart ? "on" : "off");
	request.on = strcmp(word, "on") == 0;
	return client_tell(client, &request, line);
}

static int do_not_restart_run(const struct cli *cli)
{
	const char *word = cli->args[0];

	if (strcmp(word, "on") != 0 && strcmp(word, "off") != 0)
		return cli_fail(cli, CLI_USAGE, "expected on or off, not '%s'", word);
	return client_run(cli, do_not_restart_ask, NULL);
}

const struct cli_command cmd_do_not_restart = {
	.name = "do-not-restart",
	.arguments = "on|off",
	.min_args = 1,
	.max_args = 1,
	.summary = "forbid every launch, or allow launches again",
	.description =
		"On: a running job keeps running, but however it ends, drey does not start it again until\n"
		"do-not-restart is off. It takes precedence over everything else, even when nothing else\n"
		"can be read.\n",
	.options = options,
	.statuses = "0  done, and durable\n"
		    "1  refused\n"
		    "2  wrong usage or configuration\n"
		    "5  no running drey found, or it did not respond\n",
	.example = "drey do-not-restart on\n",
	.run = do_not_restart_run,
};
