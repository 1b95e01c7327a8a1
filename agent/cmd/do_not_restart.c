#include <string.h>

#include "cmd/client.h"
#include "cmd/commands.h"
#include "cmd/consent.h"

static const struct cli_option options[] = {CLI_CONFIG, CLI_JSON, CLI_DRY_RUN, CLI_END};

static int do_not_restart_run(const struct cli *cli)
{
	struct control_request request = {.command = COMMAND_DO_NOT_RESTART};
	struct client client;
	int status;

	request.on = strcmp(cli->args[0], "on") == 0;
	if (!request.on && strcmp(cli->args[0], "off") != 0)
		return cli_fail(cli, CLI_USAGE, "expected on or off, not '%s'", cli->args[0]);
	status = client_open(&client, cli);
	if (status != CLI_OK)
		return status;
	status = client_status(&client);
	if (status == CLI_OK && consent_dry_run(cli)) {
		consent_would(cli, "turn do-not-restart %s (it is %s)", cli->args[0],
			      client.view.do_not_restart ? "on" : "off");
		client_close(&client);
		return CLI_OK;
	}
	if (status == CLI_OK)
		status = client_send(&client, &request);
	if (status == CLI_OK && cli_has(cli, "json")) {
		status = client_status(&client);
		if (status == CLI_OK)
			client_print_json(&client, status);
	} else if (status == CLI_OK) {
		fprintf(cli->out, "do-not-restart is %s\n", cli->args[0]);
	}
	client_close(&client);
	return status;
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
