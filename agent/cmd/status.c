#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "cmd/client.h"
#include "cmd/commands.h"
#include "cmd/output.h"
#include "cmd/status_offline.h"
#include "cmd/status_text.h"
#include "cmd/status_vertices.h"
#include "cmd/text.h"
#include "cmd/watch.h"
#include "core/report/status.h"
#include "core/trace/life_trace.h"

#define WATCH_MS 1000

static const struct cli_option options[] = {
	CLI_CONFIG,
	CLI_JSON_WIDE,
	{"watch", 'w', NULL, "keep showing it, until Ctrl-C", false},
	{"vertices", 0, NULL, "print the back-pressure and the lag of the running job instead",
	 false},
	{"trace", 0, NULL, "print the last steps of the running drey instead", false},
	CLI_END,
};

static void lay_out(const struct client *client, const struct term *term, struct shown *text)
{
	struct status_layout layout = {
		.term = *term, .wide = output_wide(client->cli), .now_unix_ms = clock_unix_ms()};

	status_text(&client->view, &layout, text);
}

static void print_status(const struct client *client)
{
	struct term term = out_term(client->cli->out);
	cleanup_shown struct shown text = {0};

	lay_out(client, &term, &text);
	out_shown(client->cli->out, &text);
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

/* ---- --watch ---- */

/* A terminal shows the whole status, redrawn in place; drey may be restarting, and comes back. */
static void draw(struct client *client, const struct term *term, const char *absent)
{
	cleanup_shown struct shown text = {0}, frame = {0};

	if (client->status)
		lay_out(client, term, &text);
	if (absent) {
		if (client->status)
			shown_addf(&text, "\n");
		shown_begin(&text, term, TERM_YELLOW);
		shown_addf(&text, "%s", absent);
		shown_end(&text, term, TERM_YELLOW);
		shown_addf(&text, "\n");
	}
	watch_frame(&text, (size_t)term->height, (size_t)term->width, &frame);
	out_shown(client->cli->out, &frame);
}

/* Elsewhere: a line, or with -o a document, whenever it says something else. */
static void tell_change(struct client *client, const char *absent, char **told)
{
	cleanup_buf struct buf line = BUF_INIT;
	bool document = cli_has(client->cli, "json");
	char time[CLOCK_TEXT_BYTES];

	if (absent)
		buf_addstr(&line, absent);
	else if (document)
		status_digest(client->status, false, &line);
	else
		buf_addf(&line, "%s: %s", client->view.phase, client->view.reason);
	if (*told && !strcmp(*told, buf_str(&line)))
		return;
	xstrset(told, buf_str(&line));
	if (document && !absent)
		output_document(client->cli, client->status);
	if (document)
		return;
	out_put(client->cli->out, "%s  %s\n", clock_rfc3339(clock_unix_ms(), time), buf_str(&line));
}

/* Until Ctrl-C, or until the reader of the output is gone. */
static int watch(struct client *client)
{
	const struct timespec pause = {.tv_sec = WATCH_MS / 1000};
	cleanup_free char *told = NULL;
	struct out out = client->cli->out;
	bool began = false;

	for (;;) {
		struct term term = out_term(out);
		struct err err = {0};
		bool absent = client_try_status(client, &err) < 0;

		if (absent && err.kind == ERR_CONFIG)
			return cli_fail(client->cli, CLI_USAGE, "%s", err.msg);
		if (term.rewrites && !cli_has(client->cli, "json")) {
			out_put(out, began ? "" : "\x1b[2J");
			draw(client, &term, absent ? err.msg : NULL);
			began = true;
		} else {
			tell_change(client, absent ? err.msg : NULL, &told);
		}
		if (out_flush(out) < 0)
			return CLI_FAILED;
		nanosleep(&pause, NULL);
	}
}

/* ---- the command ---- */

static void print_step(const struct json *step, struct out out)
{
	cleanup_buf struct buf text = BUF_INIT;
	char time[CLOCK_TEXT_BYTES];
	const struct json *effect;

	clock_rfc3339(json_i64_or(step, "unixMs", 0), time);
	life_trace_event_text(json_get(step, "event"), &text);
	out_put(out, "%s  %s -> %s  %s", time, json_str(step, "from"), json_str(step, "to"),
		buf_str(&text));
	json_each (effect, json_get(step, "effects")) {
		out_put(out, "\n    %s", json_text(effect));
	}
	out_put(out, "\n");
}

static int print_trace(struct client *client, const struct cli *cli)
{
	cleanup_json struct json *trace = NULL;
	const struct json *step;
	int64_t dropped;
	int status = client_trace(client, &trace);

	if (status != CLI_OK)
		return status;
	if (cli_has(cli, "json")) {
		output_document(cli, trace);
		return CLI_OK;
	}
	dropped = json_i64_or(trace, "dropped", 0);
	if (dropped)
		out_put(cli->out, "(%" PRId64 " earlier steps are not kept)\n", dropped);
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
	if (cli_has(cli, "watch")) {
		status = watch(&client);
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
			print_status(&client);
	}
	client_close(&client);
	return status;
}

const struct cli_command cmd_status = {
	.name = "status",
	.summary = "show the application's state, and what it was started from",
	.description =
		"Asks the drey that is running for the configuration's stateDirectory. --json prints the\n"
		"whole document; docs/reference/status.md describes its members. If no drey responds,\n"
		"it prints the state in the journal, from the file or the ConfigMap, and exits with 5.\n"
		"--vertices asks Flink for each vertex of the running job's graph: its back-pressure, how busy\n"
		"it is, the records that its source has not read yet (if the connector counts them), and\n"
		"how long the barriers of its last checkpoint were aligned. 0 if Flink responded, else 1.\n"
		"--trace prints the last steps of the running drey instead: up to 200 events, with the phases\n"
		"before and after each, and the effects. build/tests/sim/replay replays the output of\n"
		"--trace --json (docs/development/testing.md).\n"
		"--watch shows it again every second, until Ctrl-C. Where the output is no terminal, it prints a\n"
		"line whenever the phase or the reason changes; with -o json or yaml, the document.\n",
	.options = options,
	.statuses = "0  Running and ready: all tasks are running\n"
		    "1  between two phases: Resolving, Launching, Stopping, Terminating;\n"
		    "   or Running and not ready; or another pod owns the application: Standby,\n"
		    "   Prepared, Shadow, HandedOver\n"
		    "2  wrong usage or configuration\n"
		    "3  parked: Suspended, Cancelled, Finished, Failed\n"
		    "4  Holding\n"
		    "5  no running drey found, or it did not respond\n",
	.example = "drey status --json | jq -r .phase\n"
		   "drey status --watch\n",
	.run = status_run,
};
