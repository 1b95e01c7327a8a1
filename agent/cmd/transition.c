/* promote and abort: what a person says of a transition that is under way. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cmd/client.h"
#include "cmd/commands.h"
#include "cmd/consent.h"

static const struct cli_option options[] = {
	CLI_CONFIG,
	CLI_JSON,
	{"at", 0, "TIME", "the cut, in event time, for example 2026-11-26T12:00:00Z", false},
	CLI_DRY_RUN,
	CLI_END,
};

/* ---- promote ---- */

static int promote_ask(struct client *client, void *arg)
{
	struct control_request request = {.command = COMMAND_PROMOTE};
	const struct cli *cli = client->cli;
	const char *at = cli_value(cli, "at");
	struct err err = {0};

	(void)arg;
	if (at && clock_parse_rfc3339(at, &request.at_unix_ms, &err) < 0)
		return cli_fail(cli, CLI_USAGE, "--at: %s", err.msg);
	if (consent_dry_run(cli))
		return consent_would(cli, "let the cut come%s%s", at ? ", not before " : "",
				     at ? at : "");
	return client_tell_once(client, request, "promoted");
}

static int promote_run(const struct cli *cli)
{
	return client_run(cli, promote_ask, NULL);
}

const struct cli_command cmd_promote = {
	.name = "promote",
	.summary = "let a blue/green upgrade pass the output to the next version",
	.description =
		"With blueGreen.promote: manual the next version runs beside this one, with its output held back,\n"
		"until a person says this. Then, as soon as it has caught up, drey chooses a cut in event time: this\n"
		"version writes what is before it, the next one the rest. With --at the cut is this time, or a later\n"
		"one if records of that time come before the next version has caught up.\n",
	.options = options,
	.statuses =
		"0  done, and durable\n"
		"1  refused: no transition is under way, its cut was chosen already, or --at is in the past\n"
		"2  wrong usage or configuration\n"
		"5  no running drey found, or it did not respond\n",
	.example = "drey promote --at 2026-11-26T12:00:00Z\n",
	.run = promote_run,
};

/* ---- abort ---- */

static const struct cli_option abort_options[] = {CLI_CONFIG, CLI_JSON, CLI_YES, CLI_DRY_RUN,
						  CLI_END};

static int abort_ask(struct client *client, void *arg)
{
	const struct control_request request = {.command = COMMAND_ABORT};
	const struct cli *cli = client->cli;
	int status;

	(void)arg;
	if (consent_dry_run(cli))
		return consent_would(
			cli, "give the transition up, and refuse this version until `drey resume`");
	status = consent_ask(cli, CONSENT_ABORT);
	return status == CLI_OK ? client_tell_once(client, request, "given up") : status;
}

static int abort_run(const struct cli *cli)
{
	return client_run(cli, abort_ask, NULL);
}

const struct cli_command cmd_abort = {
	.name = "abort",
	.summary = "give a blue/green upgrade up, and keep this version",
	.description =
		"The job of the next version ends, and this version continues. Before the cut nothing is lost and\n"
		"nothing written twice. After it, if this version has held records back, it starts again from its\n"
		"newest checkpoint before that, and writes what it has written since a second time; drey says so.\n"
		"The next version is refused then until `drey resume`, or until another version is deployed. On a\n"
		"terminal it asks first; --yes answers that, and scripts are not asked.\n",
	.options = abort_options,
	.statuses =
		"0  done, and durable\n"
		"1  refused: no transition is under way, or the job is the next version's already\n"
		"2  wrong usage or configuration\n"
		"5  no running drey found, or it did not respond\n",
	.example = "drey abort --yes\n",
	.run = abort_run,
};
