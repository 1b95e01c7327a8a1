#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "cmd/client.h"
#include "cmd/commands.h"
#include "cmd/status_offline.h"
#include "cmd/status_text.h"
#include "cmd/status_vertices.h"
#include "cmd/text.h"
#include "core/trace/life_trace.h"

static const struct cli_option options[] = {
	CLI_CONFIG,
	CLI_JSON,
	{"vertices", 0, NULL, "print the back-pressure and the lag of the running job instead",
	 false},
	{"trace", 0, NULL, "print the last steps of the running drey instead", false},
	CLI_END,
};

static void print_status(const struct status_view *view, bool wide, FILE *out)
{
	struct status_layout layout = {
		.term = term_of(out), .wide = wide, .now_unix_ms = clock_unix_ms()};
	cleanup_buf struct buf text = BUF_INIT;

	status_text(view, &layout, &text);
	fputs(buf_str(&text), out);
}

/* No drey responds: the journal is better than nothing, if it can be read from here. */
static bool read_offline(struct client *client)
{
	struct err err = {0};

	if (status_offline(&client->config, &client->status, &err) == 0) {
		status_view_read(client->status, &client->view);
		return true;
	}
	if (err.kind != ERR_ABSENT)
		cli_fail(client->cli, CLI_ABSENT, "%s", err.msg);
	return false;
}

static void print_step(const struct json *step, FILE *out)
{
	cleanup_buf struct buf text = BUF_INIT;
	char time[CLOCK_TEXT_BYTES];
	const struct json *effect;

	clock_rfc3339(json_i64_or(step, "unixMs", 0), time);
	life_trace_event_text(json_get(step, "event"), &text);
	fprintf(out, "%s  %s -> %s  ", time, json_str(step, "from"), json_str(step, "to"));
	text_print(buf_str(&text), out);
	json_each (effect, json_get(step, "effects")) {
		fputs("\n    ", out);
		text_print(json_text(effect), out);
	}
	fputc('\n', out);
}

static int print_trace(struct client *client, const struct cli *cli)
{
	cleanup_json struct json *trace = NULL;
	cleanup_buf struct buf text = BUF_INIT;
	const struct json *step;
	int64_t dropped;
	int status = client_trace(client, &trace);

	if (status != CLI_OK)
		return status;
	if (cli_has(cli, "json")) {
		json_print_pretty(trace, &text);
		fputs(buf_str(&text), cli->out);
		return CLI_OK;
	}
	dropped = json_i64_or(trace, "dropped", 0);
	if (dropped)
		fprintf(cli->out, "(%" PRId64 " earlier steps are not kept)\n", dropped);
	json_each (step, json_get(trace, "steps"))
		print_step(step, cli->out);
	return CLI_OK;
}

static int status_run(const struct cli *cli)
{
	struct client client;
	int status = client_open(&client, cli);

	if (status != CLI_OK)
		return status;
	if (cli_has(cli, "trace")) {
		status = print_trace(&client, cli);
		client_close(&client);
		return status;
	}
	status = client_status(&client);
	if (cli_has(cli, "vertices")) {
		if (status == CLI_OK)
			status = status_vertices(&client, cli_has(cli, "json"));
		client_close(&client);
		return status;
	}
	if (status == CLI_OK || (status == CLI_ABSENT && read_offline(&client))) {
		if (status == CLI_OK)
			status = status_view_exit(&client.view);
		if (cli_has(cli, "json"))
			client_print_json(&client, status);
		else
			print_status(&client.view, false, cli->out);
	}
	client_close(&client);
	return status;
}

const struct cli_command cmd_status = {
	.name = "status",
	.summary = "show the application's state, and what it was started from",
	.description =
		"Asks the drey that is running for the configuration's stateDirectory. --json prints the\n"
		"whole document; docs/status.md describes its members. If no drey responds and the journal\n"
		"is in a ConfigMap, it prints the state in the journal and exits with 5.\n"
		"--vertices asks Flink for each vertex of the running job's graph: its back-pressure, how busy\n"
		"it is, the records that its source has not read yet (if the connector counts them), and\n"
		"how long the barriers of its last checkpoint were aligned. 0 if Flink responded, else 1.\n"
		"--trace prints the last steps of the running drey instead: up to 200 events, with the phases\n"
		"before and after each, and the effects. build/tests/sim/replay replays the output of\n"
		"--trace --json (docs/testing.md).\n",
	.options = options,
	.statuses = "0  Running and ready: all tasks are running\n"
		    "1  between two phases: Resolving, Launching, Stopping, Terminating;\n"
		    "   or Running and not ready; or another pod owns the application: Standby,\n"
		    "   Prepared, HandedOver\n"
		    "2  wrong usage or configuration\n"
		    "3  parked: Suspended, Cancelled, Finished, Failed\n"
		    "4  Holding\n"
		    "5  no running drey found, or it did not respond\n",
	.example = "drey status --json | jq -r .phase\n",
	.run = status_run,
};
