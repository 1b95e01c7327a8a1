#include "cmd/client.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/mem.h"
#include "cmd/consent.h"
#include "cmd/output.h"
#include "cmd/progress.h"
#include "cmd/text.h"
#include "control/control_socket.h"

#define ASK_MS      10000 /* one request: the answer follows a durable write */
#define PATIENCE_MS 60000 /* maximum wait for a drey that does not respond */
/* The minimum, also for the last request before the timeout: do not give up too soon. */
#define LEAST_ASK_MS    1000
#define FIRST_POLL_MS   100
#define SLOWEST_POLL_MS 1000
#define INTERRUPTED     (-2) /* besides the exit statuses and CLIENT_CONTINUE */
#define NEW_PHASE_MS    1000
#define SETTLED_MS      5000 /* more than drey needs to leave the phase in which it was asked */

static int exit_of(const struct err *err)
{
	return err->kind == ERR_CONFIG ? CLI_USAGE : CLI_ABSENT;
}

int client_open(struct client *client, const struct cli *cli)
{
	bool has_timeout = false;
	struct err err = {0};

	*client = (struct client){.cli = cli, .timeout_ms = CLIENT_WAIT_MS};
	for (const struct cli_option *option = cli->command->options; option->name; option++)
		has_timeout = has_timeout || strcmp(option->name, "timeout") == 0;
	if (has_timeout && cli_timeout(cli, CLIENT_WAIT_MS, &client->timeout_ms, &err) < 0)
		return cli_fail(cli, CLI_USAGE, "%s", err.msg);
	if (cli_config(cli, &client->config, &err) < 0)
		return cli_fail(cli, CLI_USAGE, "%s", err.msg);
	return CLI_OK;
}

void client_close(struct client *client)
{
	config_release(&client->config);
	json_free(client->status);
	*client = (struct client){0};
}

/* A wrong path in one of two configurations may lead to the state directory of another application:
 * the request would be carried out on the wrong job. */
static int check_application(const struct client *client, const struct json *status,
			     struct err *err)
{
	const char *theirs = json_str(status, "application");

	if (!theirs || !*theirs || !strcmp(theirs, client->config.application))
		return 0;
	return err_set(
		err, ERR_CONFIG, 0,
		"the drey on %s runs application '%s', but this configuration is for '%s': no request was sent; pass the right file with --config, and give each application its own stateDirectory",
		client->config.state_directory, theirs, client->config.application);
}

/* The answer to a request; NULL on failure. */
static struct json *ask(struct client *client, const struct control_request *request,
			int64_t timeout_ms, struct err *err)
{
	cleanup_json struct json *doc = control_request_encode(request);
	struct json *answer;

	if (control_ask(client->config.state_directory, doc, timeout_ms, &answer, err) < 0)
		return NULL;
	return answer;
}

static int read_status(struct client *client, int64_t timeout_ms, struct err *err)
{
	struct control_request request = {.command = COMMAND_STATUS};
	struct json *answer = ask(client, &request, timeout_ms, err);

	if (!answer)
		return -1;
	if (!json_get(answer, "phase")) {
		const char *why = json_str(answer, "error");

		err_set(err, ERR_RETRY, 0, "could not get the status from drey: %s",
			why ? why : "no reason given");
		json_free(answer);
		return -1;
	}
	if (check_application(client, answer, err) < 0) {
		json_free(answer);
		return -1;
	}
	json_free(client->status);
	client->status = answer;
	client->progress = NULL;
	status_view_read(answer, &client->view);
	return 0;
}

int client_try_status(struct client *client, struct err *err)
{
	return read_status(client, ASK_MS, err);
}

int client_status(struct client *client)
{
	struct err err = {0};

	if (read_status(client, ASK_MS, &err) < 0)
		return cli_fail(client->cli, exit_of(&err), "%s", err.msg);
	return CLI_OK;
}

int client_trace(struct client *client, struct json **ret_trace)
{
	struct control_request request = {.command = COMMAND_TRACE};
	struct err err = {0};
	struct json *answer = ask(client, &request, ASK_MS, &err);

	if (!answer)
		return cli_fail(client->cli, exit_of(&err), "%s", err.msg);
	if (!json_get(answer, "steps")) {
		const char *why = json_str(answer, "error");

		cli_fail(client->cli, CLI_FAILED, "could not get the trace from drey: %s",
			 why ? why : "no reason given");
		json_free(answer);
		return CLI_FAILED;
	}
	if (check_application(client, answer, &err) < 0) {
		json_free(answer);
		return cli_fail(client->cli, exit_of(&err), "%s", err.msg);
	}
	*ret_trace = answer;
	return CLI_OK;
}

int client_send(struct client *client, const struct control_request *request)
{
	struct control_request whole = *request;
	cleanup_json struct json *answer = NULL;
	struct err err = {0};
	int status = client->status ? CLI_OK : client_status(client);

	if (status != CLI_OK)
		return status;
	/* an older agent rejects unknown members; the status already had the name of the application */
	if (status_view_takes_application(client->status))
		whole.application = client->config.application;
	answer = ask(client, &whole, ASK_MS, &err);
	if (!answer && err.kind == ERR_RETRY)
		return cli_fail(
			client->cli, CLI_ABSENT,
			"%s; the request may or may not have been accepted; check `drey status`",
			err.msg);
	if (!answer)
		return cli_fail(client->cli, exit_of(&err), "%s", err.msg);
	if (!json_bool_or(answer, "ok", false))
		return cli_fail(client->cli, CLI_FAILED, "refused: %s",
				json_str(answer, "error") ? json_str(answer, "error")
							  : "no reason given");
	return CLI_OK;
}

/* Sleep, unless Ctrl-C is pressed meanwhile; SIGINT is blocked. True: it was. */
static bool sleep_or_interrupted(int64_t ms)
{
	struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = (ms % 1000) * 1000000};
	sigset_t interrupts;

	sigemptyset(&interrupts);
	sigaddset(&interrupts, SIGINT);
	return sigtimedwait(&interrupts, NULL, &pause) == SIGINT;
}

/* The request is durable: only the waiting ends. What continues, and what can be done about it; then the
 * process ends as by Ctrl-C, so that a script in a shell ends, too. */
static int client_interrupted(const struct client *client, const struct client_goal *goal,
			      const sigset_t *mask)
{
	cli_fail(client->cli, CLI_TIMEOUT, "%s; `drey status --watch` shows it",
		 goal->interrupted ? goal->interrupted : "the request remains in force");
	out_flush(client->cli->out);
	signal(SIGINT, SIG_DFL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	raise(SIGINT);
	return 128 + SIGINT;
}

/* Poll the status once: CLI_OK, an exit status, or CLIENT_CONTINUE while drey does not respond. */
static int poll_status(struct client *client, int64_t left_ms)
{
	int64_t ask_ms = left_ms < ASK_MS ? left_ms : ASK_MS, now_ms;
	struct err err = {0};

	if (read_status(client, ask_ms < LEAST_ASK_MS ? LEAST_ASK_MS : ask_ms, &err) == 0) {
		client->lost_ms = 0;
		return CLI_OK;
	}
	now_ms = clock_mono_ms();
	if (!client->lost_ms)
		client->lost_ms = now_ms;
	if (exit_of(&err) == CLI_USAGE || now_ms - client->lost_ms > PATIENCE_MS)
		return cli_fail(client->cli, exit_of(&err), "%s", err.msg);
	return CLIENT_CONTINUE;
}

static int client_gives_up(const struct client *client, const char *what)
{
	char time[CLOCK_TEXT_BYTES];

	clock_human(client->timeout_ms, time);
	if (client->lost_ms)
		return cli_fail(client->cli, CLI_ABSENT, "drey did not respond within %s", time);
	return cli_fail(client->cli, CLI_TIMEOUT,
			"gave up waiting for %s after %s; the request remains in force (%s: %s)",
			what, time, client->view.phase,
			client->progress ? client->progress : client->view.reason);
}

/*
 * Poll the status until judge() returns an exit status, and show the progress. A drey that does not
 * respond may be restarting: it has PATIENCE_MS. CLI_TIMEOUT with a message after the client's timeout;
 * INTERRUPTED after Ctrl-C.
 */
static int poll_until(struct client *client, const struct client_goal *goal,
		      struct progress **progress)
{
	int64_t began_ms = clock_mono_ms(), pause_ms = FIRST_POLL_MS;

	for (;;) {
		int64_t left_ms = client->timeout_ms - (clock_mono_ms() - began_ms);
		int status = poll_status(client, left_ms > 0 ? left_ms : 0);

		if (status == CLI_OK) {
			status = goal->judge(client, goal->arg);
			if (status == CLIENT_CONTINUE)
				progress_show(*progress, &client->view, client->progress, false);
		} else if (status == CLIENT_CONTINUE) {
			progress_show(*progress, &client->view, NULL, true);
		}
		if (status != CLIENT_CONTINUE)
			return status;
		left_ms = client->timeout_ms - (clock_mono_ms() - began_ms);
		if (left_ms <= 0) {
			progress_free(*progress);
			*progress = NULL;
			return client_gives_up(client, goal->what);
		}
		if (sleep_or_interrupted(pause_ms < left_ms ? pause_ms : left_ms))
			return INTERRUPTED;
		pause_ms = pause_ms * 3 / 2 < SLOWEST_POLL_MS ? pause_ms * 3 / 2 : SLOWEST_POLL_MS;
	}
}

static int client_wait(struct client *client, const struct client_goal *goal)
{
	struct progress *progress = progress_new(client->cli, goal->what);
	sigset_t interrupts, mask;
	int status;

	sigemptyset(&interrupts);
	sigaddset(&interrupts, SIGINT);
	sigprocmask(SIG_BLOCK, &interrupts, &mask);
	status = poll_until(client, goal, &progress);
	progress_free(progress);
	if (status == INTERRUPTED)
		return client_interrupted(client, goal, &mask);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	return status;
}

int client_mark(struct client *client)
{
	int status = client_status(client);

	if (status != CLI_OK)
		return status;
	snprintf(client->phase_before, sizeof(client->phase_before), "%s", client->view.phase);
	client->ended_before_ms = client->view.last_ended_unix_ms;
	client->launch_before = client->view.launch_number;
	return CLI_OK;
}

bool client_operation_ended(const struct client *client, const char *reason)
{
	return client->view.last_ended_unix_ms != client->ended_before_ms &&
	       strcmp(client->view.last_reason, reason) == 0;
}

const char *client_stop_retries(const struct client *client, char text[CLIENT_STOP_BYTES])
{
	const struct config *config = &client->config;
	int64_t times = config->savepoints.stop_retries;
	char pause[CLOCK_TEXT_BYTES];

	clock_human(config->savepoints.stop_retry_ms, pause);
	if (config->savepoints.on_stop_failure == STOP_FAILURE_RETRY)
		snprintf(text, CLIENT_STOP_BYTES, "drey retries every %s", pause);
	else
		snprintf(text, CLIENT_STOP_BYTES,
			 "drey retries up to %" PRId64 " times, every %s, and then %s", times,
			 pause,
			 config->savepoints.on_stop_failure == STOP_FAILURE_KEEP_RUNNING
				 ? "gives the request up"
				 : "ends Flink without a savepoint");
	return text;
}

bool client_stopped_and_held(const struct client *client, const char *desired)
{
	const struct status_view *view = &client->view;

	return view->do_not_restart && status_view_is(view, "Holding") &&
	       strcmp(view->desired_state, desired) == 0;
}

int client_stuck(struct client *client)
{
	const struct status_view *view = &client->view;
	int64_t now_ms = clock_mono_ms();
	bool same = status_view_is(view, client->phase_before);

	if (status_view_handed_over(view))
		return cli_fail(client->cli, CLI_FAILED,
				"the job was handed over to %s meanwhile; see `drey status` there",
				view->owner_pod);
	if (!status_view_parked(view) && !status_view_is(view, "Holding")) {
		client->settling_ms = 0;
		return CLIENT_CONTINUE;
	}
	if (!client->settling_ms)
		client->settling_ms = now_ms;
	if (now_ms - client->settling_ms < (same ? SETTLED_MS : NEW_PHASE_MS))
		return CLIENT_CONTINUE;
	if (status_view_is(view, "Holding"))
		return cli_fail(client->cli, CLI_HELD, "drey holds: %s", view->reason);
	return cli_fail(client->cli, status_view_is(view, "Failed") ? CLI_FAILED : CLI_PARKED,
			"%s: %s", view->phase, view->reason);
}

void client_print_handed_over(const struct client *client, const char *done)
{
	out_put(client->cli->err,
		"drey %s: the application was handed over to %s, and is %s there; see `drey status` in that Pod\n",
		client->cli->command->name, client->view.owner_pod, done);
}

void client_print_restored(const struct client *client, void *arg)
{
	const struct status_view *view = &client->view;
	struct out out = client->cli->out;

	(void)arg;
	if (!*view->restore_path) {
		out_put(out, "launch %" PRId64 " started empty\n", view->launch_number);
		return;
	}
	out_put(out, "launch %" PRId64 " restored %s ", view->launch_number,
		*view->restore_kind ? view->restore_kind : "snapshot");
	out_put(out, "%s", view->restore_path);
	if (view->restore_checkpoint_id > 0)
		out_put(out, " (checkpoint id %" PRId64 ")", view->restore_checkpoint_id);
	out_put(out, "\n");
}

int client_nonce(const struct cli *cli, char **ret_nonce)
{
	unsigned char bytes[16];
	char text[2 * sizeof(bytes) + 1];
	struct err err = {0};

	if (fs_random(bytes, sizeof(bytes), &err) < 0)
		return cli_fail(cli, CLI_FAILED, "%s", err.msg);
	fs_hex(bytes, sizeof(bytes), text);
	*ret_nonce = xstrdup(text);
	return CLI_OK;
}

int client_print_json(const struct client *client, int status)
{
	output_document(client->cli, client->status);
	return status;
}

int client_tell(struct client *client, const struct control_request *request, const char *line)
{
	int status = client_send(client, request);

	if (status != CLI_OK)
		return status;
	if (!cli_has(client->cli, "json")) {
		out_put(client->cli->out, "%s\n", line);
		return CLI_OK;
	}
	status = client_status(client);
	return status == CLI_OK ? client_print_json(client, status) : status;
}

int client_tell_once(struct client *client, struct control_request request, const char *line)
{
	cleanup_free char *nonce = NULL;
	int status = client_nonce(client->cli, &nonce);

	if (status != CLI_OK)
		return status;
	request.nonce = nonce;
	return client_tell(client, &request, line);
}

int client_run(const struct cli *cli, client_ask *fn, void *arg)
{
	struct client client;
	int status = client_open(&client, cli);

	if (status != CLI_OK)
		return status;
	status = fn(&client, arg);
	client_close(&client);
	return status;
}

int client_do(struct client *client, const struct control_request *request,
	      const struct client_goal *goal)
{
	const struct cli *cli = client->cli;
	bool json = cli_has(cli, "json"), waits = !cli_has(cli, "no-wait");
	int status = client->status ? CLI_OK : client_status(client);

	if (status != CLI_OK)
		return status;
	if (consent_dry_run(cli))
		return consent_would(cli, "%s (%s is %s)",
				     goal->would ? goal->would : cli->command->summary,
				     client->config.application, client->view.phase);
	status = client_send(client, request);
	if (status != CLI_OK)
		return status;
	if (waits)
		status = client_wait(client, goal);
	else if (json)
		status = client_status(client);
	if (json)
		return client->status ? client_print_json(client, status) : status;
	if (waits && status == CLI_OK)
		goal->print(client, goal->arg);
	return status;
}

int client_do_snapshot(struct client *client, struct control_request request,
		       struct client_goal goal)
{
	const struct status_view *view = &client->view;
	cleanup_free char *nonce = NULL;
	int status = client_mark(client);

	if (status != CLI_OK)
		return status;
	if (status_view_parked(view) || status_view_is(view, "Holding") ||
	    status_view_is(view, "Terminating"))
		return cli_fail(client->cli, CLI_PARKED, "no job is running (%s: %s)", view->phase,
				view->reason);
	if ((status = client_nonce(client->cli, &nonce)) != CLI_OK)
		return status;
	request.nonce = nonce;
	goal.arg = nonce;
	return client_do(client, &request, &goal);
}
