#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "cmd/client.h"
#include "cmd/commands.h"
#include "cmd/status_offline.h"
#include "cmd/status_vertices.h"
#include "cmd/text.h"
#include "core/report/cause.h"
#include "core/trace/life_trace.h"

static const struct cli_option options[] = {
	CLI_CONFIG,
	CLI_JSON,
	{"vertices", 0, NULL, "print the back-pressure and the lag of the running job instead",
	 false},
	{"trace", 0, NULL, "print the last steps of the running drey instead", false},
	CLI_END,
};

static void row(FILE *out, const char *name)
{
	fprintf(out, "  %-14s ", name);
}

static void print_ago(FILE *out, const char *before, int64_t unix_ms, int64_t now_unix_ms)
{
	char text[CLOCK_TEXT_BYTES];

	if (unix_ms > 0)
		fprintf(out, "%s%s", before, clock_ago(unix_ms, now_unix_ms, text));
}

static void print_launch(const struct status_view *view, int64_t now_unix_ms, FILE *out)
{
	if (!view->launch_number)
		return;
	row(out, "launch");
	fprintf(out, "%" PRId64 ", job id %s", view->launch_number, view->job_id);
	print_ago(out, ", started ", view->started_unix_ms, now_unix_ms);
	fprintf(out, "%s%s", *view->job_state ? ", Flink reports " : "", view->job_state);
	if (view->tasks_total)
		fprintf(out, ", %" PRId64 " of %" PRId64 " tasks running", view->tasks_running,
			view->tasks_total);
	if (*view->flink_version) {
		fputs(", Flink ", out);
		text_print(view->flink_version, out);
	}
	fputc('\n', out);
	row(out, "started from");
	if (*view->restore_path) {
		fprintf(out, "%s ", *view->restore_kind ? view->restore_kind : "snapshot");
		text_print(view->restore_path, out);
		if (view->restore_checkpoint_id > 0)
			fprintf(out, " (checkpoint id %" PRId64 ")", view->restore_checkpoint_id);
		print_ago(out, ", complete ", view->restore_unix_ms, now_unix_ms);
	} else {
		fputs("nothing (empty)", out);
	}
	fprintf(out, ", %s\n",
		view->proven     ? "verified and proven"
		: view->verified ? "verified"
				 : "not verified yet");
}

static void print_checkpoints(const struct status_view *view, FILE *out)
{
	char time[CLOCK_TEXT_BYTES];

	if (view->checkpoints_completed < 0)
		return;
	row(out, "checkpoints");
	if (view->checkpoint_interval_ms)
		fprintf(out, "every %s, ", clock_human(view->checkpoint_interval_ms, time));
	fprintf(out, "%" PRId64 " completed and %" PRId64 " failed since the launch",
		view->checkpoints_completed, view->checkpoints_failed);
	if (view->checkpoint_duration_ms)
		fprintf(out, ", the newest took %s",
			clock_human(view->checkpoint_duration_ms, time));
	if (view->checkpoint_failures)
		fprintf(out, ", the last %" PRId64 " failed", view->checkpoint_failures);
	fputc('\n', out);
}

static void print_state(const struct status_view *view, int64_t now_unix_ms, FILE *out)
{
	if (view->checkpoint_id > 0) {
		row(out, "checkpoint");
		fprintf(out, "%" PRId64, view->checkpoint_id);
		print_ago(out, ", ", view->checkpoint_unix_ms, now_unix_ms);
		fputs(*view->checkpoint_path ? ", " : "", out);
		text_print(view->checkpoint_path, out);
		fputc('\n', out);
	}
	print_checkpoints(view, out);
	if (*view->savepoint_path) {
		row(out, "savepoint");
		text_print(view->savepoint_path, out);
		fprintf(out, " (%s%s%s)", view->savepoint_origin,
			*view->savepoint_format ? ", " : "", view->savepoint_format);
		print_ago(out, ", ", view->savepoint_unix_ms, now_unix_ms);
		fputc('\n', out);
	}
}

static void print_operations(const struct status_view *view, int64_t now_unix_ms, FILE *out)
{
	if (*view->operation_kind) {
		row(out, "in progress");
		fprintf(out, "%s (%s%s%s)", view->operation_kind, view->operation_reason,
			*view->operation_format ? ", " : "", view->operation_format);
		print_ago(out, ", started ", view->operation_started_unix_ms, now_unix_ms);
		fputc('\n', out);
	}
	if (*view->last_kind) {
		row(out, "last operation");
		fprintf(out, "%s (%s) %s", view->last_kind, view->last_reason,
			view->last_ok ? "done" : "failed");
		print_ago(out, " ", view->last_ended_unix_ms, now_unix_ms);
		fputs(*view->last_operation_error ? ": " : "", out);
		text_print(view->last_operation_error, out);
		fputc('\n', out);
	}
}

/* TaskManagers that are there, as usual, are nothing to speak of. */
static void print_scale(const struct status_view *view, FILE *out)
{
	if (*view->scale_error) {
		row(out, "scale");
		fprintf(out, "cannot scale deployment %s: ", view->scale_deployment);
		text_print(view->scale_error, out);
		fputc('\n', out);
	} else if (view->scale_contested) {
		row(out, "scale");
		fprintf(out, "deployment %s is left to others, who scale it up again and again\n",
			view->scale_deployment);
	} else if (view->scale_replicas == 0 && view->scale_recorded > 0) {
		row(out, "scale");
		fprintf(out,
			"deployment %s is at 0; %" PRId64 " will be back before the next launch\n",
			view->scale_deployment, view->scale_recorded);
	}
}

/* An ordinary owner without a hand-over has nothing to say. */
static void print_handover(const struct status_view *view, int64_t now_unix_ms, FILE *out)
{
	bool under_way = *view->handover_state && strcmp(view->handover_state, "none") != 0;

	if (status_view_stands(view)) {
		row(out, "role");
		text_print(view->role, out);
		fputs(*view->owner_pod ? ", the owner is " : "", out);
		text_print(view->owner_pod, out);
		fputc('\n', out);
	}
	if (under_way) {
		row(out, "hand-over");
		fprintf(out, "%s", view->handover_state);
		print_ago(out, " ", view->handover_unix_ms, now_unix_ms);
		fputs(*view->handover_to ? ", to " : "", out);
		text_print(view->handover_to, out);
		fputs(*view->handover_why ? ": " : "", out);
		text_print(view->handover_why, out);
		fputc('\n', out);
	}
	if (*view->returned) {
		row(out, "returned");
		print_ago(out, "", view->returned_unix_ms, now_unix_ms);
		fputs(view->returned_unix_ms ? ": " : "", out);
		text_print(view->returned, out);
		fputs("; see drey explain HandoverReturned\n", out);
	}
}

static void print_status(const struct status_view *view, FILE *out)
{
	int64_t now_unix_ms = clock_unix_ms();

	fprintf(out, "%s: %s", view->application, view->phase);
	fputs(*view->reason ? ": " : "", out);
	text_print(view->reason, out);
	fputc('\n', out);
	if (*view->cause) {
		row(out, "see");
		fprintf(out, "drey explain %s\n", view->cause);
	}
	if (!status_view_stands(view)) {
		row(out, "desired");
		fprintf(out, "%s%s\n", view->desired_state,
			view->do_not_restart ? ", do-not-restart is on" : "");
	}
	print_handover(view, now_unix_ms, out);
	print_launch(view, now_unix_ms, out);
	print_state(view, now_unix_ms, out);
	print_operations(view, now_unix_ms, out);
	print_scale(view, out);
	if (*view->spare) {
		row(out, "spare");
		fprintf(out, "%s%s%s\n", view->spare, *view->spare_reason ? ": " : "",
			view->spare_reason);
	}
	if (view->failures > 0) {
		row(out, "attempts");
		fprintf(out, "%" PRId64 " of %" PRId64 " failed\n", view->failures,
			view->max_failures);
	}
	if (view->journal_broken) {
		row(out, "journal");
		fputs("cannot be written\n", out);
	}
	if (*view->last_error) {
		row(out, "last error");
		print_ago(out, "", view->last_error_unix_ms, now_unix_ms);
		if (view->last_error_launch)
			fprintf(out, ", launch %" PRId64, view->last_error_launch);
		fputs(view->last_error_unix_ms ? ": " : "", out);
		text_print(view->last_error, out);
		fputc('\n', out);
	}
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
			print_status(&client.view, cli->out);
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
