#include "cmd/remote_stop.h"

#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cmd/client.h"
#include "cmd/consent.h"
#include "cmd/remote.h"
#include "cmd/text.h"
#include "run/journal/journal_store.h"

#define APPEAR_MS                                                                                  \
	45000 /* a journal that was deleted while Flink runs is written again after 30 s */
#define WITHDRAW_MS 45000

/* ---- what the journal says ---- */

/* No job is running, and nothing that drey does will change that. */
static bool is_parked(const struct journal *journal)
{
	return remote_phase_is(journal, "Suspended") || remote_phase_is(journal, "Cancelled") ||
	       remote_phase_is(journal, "Finished") || remote_phase_is(journal, "Failed") ||
	       (remote_phase_is(journal, "Holding") && remote_parked(journal));
}

static const char *why_parked(const struct journal *journal)
{
	const char *why = remote_parked(journal);

	return why ? why : remote_last_words(journal);
}

static enum stop_step judge_before(const struct journal *journal,
				   const struct stop_request *request, const char **ret_text)
{
	*ret_text = why_parked(journal);
	if (is_parked(journal) ||
	    (journal->intent.state == DESIRED_RUNNING && remote_parked(journal)))
		return STOP_PARKED;
	*ret_text = remote_last_words(journal);
	if (remote_phase_is(journal, "Holding"))
		return STOP_HELD;
	if (journal->intent.state != DESIRED_RUNNING) {
		*ret_text = "the end of the stop that is already requested";
		return STOP_WAIT;
	}
	if (request->goal == DESIRED_CANCELLED || remote_phase_is(journal, "Running") ||
	    remote_phase_is(journal, "Stopping"))
		return STOP_ASK;
	*ret_text = "the job to run, because a savepoint needs that";
	return STOP_WAIT;
}

/* The application is parked: how it came to that. */
static enum stop_step judge_parked(const struct journal *journal,
				   const struct stop_request *request, const char **ret_text)
{
	const struct operation_result *last = &journal->last_operation;

	*ret_text = why_parked(journal);
	if (remote_phase_is(journal, "Finished") || remote_phase_is(journal, "Failed") ||
	    journal->intent.state != request->goal)
		return STOP_PARKED;
	if (request->goal == DESIRED_CANCELLED) {
		*ret_text = NULL;
		return STOP_DONE;
	}
	if (last->kind == OPERATION_STOP && last->location &&
	    last->ended_unix_ms != request->ended_before_unix_ms) {
		*ret_text = last->location;
		return STOP_DONE;
	}
	*ret_text =
		"the job had ended before a savepoint was taken; the application is suspended, and continues from its newest checkpoint when it is resumed";
	return STOP_FAILED;
}

static enum stop_step judge_after(const struct journal *journal, const struct stop_request *request,
				  const char **ret_text)
{
	const struct operation_result *last = &journal->last_operation;

	/* an operation whose result is still being looked for is not over */
	if (is_parked(journal) && journal->operation.kind == OPERATION_NONE)
		return judge_parked(journal, request, ret_text);
	*ret_text = last->error ? last->error : "no reason given";
	if ((last->reason == REASON_SUSPEND || last->reason == REASON_CANCEL) && !last->ok &&
	    last->ended_unix_ms != request->ended_before_unix_ms)
		return STOP_FAILED;
	if (request->taken && journal->intent.state != request->goal) {
		*ret_text = "superseded by another request";
		return STOP_FAILED;
	}
	*ret_text = journal->intent.state != request->goal ? "drey to take the request"
		    : journal->operation.kind == OPERATION_STOP
			    ? "the stop with savepoint that is in progress"
			    : "the end of the job";
	return STOP_WAIT;
}

enum stop_step remote_stop_judge(const struct journal *journal, const struct stop_request *request,
				 const char **ret_text)
{
	return request->asked ? judge_after(journal, request, ret_text)
			      : judge_before(journal, request, ret_text);
}

/* ---- the request ---- */

struct stop {
	struct remote *remote;
	struct stop_request request;
};

/* True: the job runs on, as if nothing had been requested. */
static bool withdrawn(struct stop *stop)
{
	struct remote *remote = stop->remote;
	struct journal journal;
	bool back = false;

	/* for this there is always time */
	remote->began_ms = clock_mono_ms();
	remote->timeout_ms = WITHDRAW_MS;
	if (remote_ask_state(remote, DESIRED_RUNNING) != CLI_OK)
		return false;
	while (!back && remote_left_ms(remote) > 0) {
		if (journal_store_read(remote->store, &journal, NULL) == 0) {
			back = journal.intent.state == DESIRED_RUNNING;
			journal_release(&journal);
		}
		if (!back)
			remote_pause(remote);
	}
	return back;
}

/* It has failed with this status: the request goes, or stays. */
static int stop_gives_up(struct stop *stop, int status)
{
	const struct remote *remote = stop->remote;
	cleanup_free char *place = remote_asked_in(remote);

	if (!stop->request.asked)
		return status;
	if (!cli_has(remote->cli, "withdraw"))
		return cli_fail(
			remote->cli, status,
			"the request remains in %s; set state to running there to withdraw it",
			place);
	if (!withdrawn(stop))
		return cli_fail(
			remote->cli, status,
			"the request could not be withdrawn, or drey has not read that yet: set state to running in %s",
			place);
	return cli_fail(remote->cli, status,
			"the request was withdrawn: the application is to run");
}

static void print_end(const struct stop *stop, const char *location)
{
	const struct cli *cli = stop->remote->cli;

	if (location) {
		out_put(cli->out, "%s\n", location);
		out_flush(cli->out);
	}
	out_put(cli->err, "%s %s: %s; %s has the details, and remains\n", cli_program(cli->command),
		cli->command->name,
		location ? "the job was stopped with this savepoint"
			 : "the job was stopped without a savepoint",
		journal_store_place(stop->remote->store));
}

static void print_newest(const struct stop *stop, const struct journal *journal)
{
	const struct cli *cli = stop->remote->cli;
	const struct snapshot *newest = journal_last_savepoint(journal);

	if (!newest)
		return;
	out_put(cli->err, "%s %s: its newest savepoint is %s\n", cli_program(cli->command),
		cli->command->name, newest->path);
}

static int ask_stop(struct stop *stop, const struct journal *journal)
{
	int status;

	stop->request.ended_before_unix_ms = journal->last_operation.ended_unix_ms;
	status = remote_ask_state(stop->remote, stop->request.goal);
	if (status != CLI_OK)
		return status;
	stop->request.asked = true;
	return cli_has(stop->remote->cli, "no-wait") ? CLI_OK : CLIENT_CONTINUE;
}

/* Scaled to 0 it will never take a request; but its last Pod may still be at its end. */
static enum stop_step judge_scaled(const struct stop *stop, const struct journal *journal,
				   enum stop_step step, const char **text)
{
	if (stop->request.asked || step == STOP_PARKED || !remote_scaled_away(stop->remote))
		return step;
	*text = "its Deployment is scaled to 0, or its Job is suspended";
	if (journal->operation.kind == OPERATION_NONE && !remote_phase_is(journal, "Running") &&
	    !remote_phase_is(journal, "Stopping") && !remote_phase_is(journal, "Launching"))
		return STOP_PARKED;
	*text = "the end of the last Pod: it is scaled to 0";
	return STOP_WAIT;
}

/* CLIENT_CONTINUE, or the exit status. */
static int stop_step(void *arg, const struct journal *journal)
{
	struct stop *stop = arg;
	struct remote *remote = stop->remote;
	const char *text = NULL;
	enum stop_step step;
	char line[512];

	if (stop->request.asked && journal->intent.state == stop->request.goal)
		stop->request.taken = remote->taken = true;
	step = remote_stop_judge(journal, &stop->request, &text);
	step = judge_scaled(stop, journal, step, &text);
	switch (step) {
	case STOP_ASK:
		return consent_dry_run(remote->cli)
			       ? consent_would(remote->cli, "set state: %s in ConfigMap %s",
					       desired_state_name(stop->request.goal),
					       remote->setup.control)
			       : ask_stop(stop, journal);
	case STOP_DONE:
		print_end(stop, text);
		return CLI_OK;
	case STOP_PARKED:
		print_newest(stop, journal);
		return remote_end_parked(remote, text);
	case STOP_HELD:
		return cli_fail(remote->cli, CLI_HELD, "no job is running, but one is meant to: %s",
				text);
	case STOP_FAILED:
		return cli_fail(remote->cli, CLI_FAILED, "the stop failed: %s", text);
	case STOP_WAIT:
		break;
	}
	snprintf(line, sizeof(line), "%s: waiting for %s",
		 journal->phase ? journal->phase : "no phase", text);
	remote_report(remote, line);
	return CLIENT_CONTINUE;
}

/* Whether it is worth waiting for the journal. */
static bool may_appear(const struct stop *stop)
{
	const struct remote *remote = stop->remote;

	return !consent_dry_run(remote->cli) && remote_left_ms(remote) > 0 &&
	       clock_mono_ms() - remote->began_ms <= APPEAR_MS;
}

static int no_drey(const struct stop *stop)
{
	const struct remote *remote = stop->remote;

	if (!cli_has(remote->cli, "skip-parked"))
		return remote_no_journal(remote);
	return cli_fail(remote->cli, CLI_OK,
			"there is no journal in %s: drey has never run for %s; nothing to do",
			journal_store_place(remote->store), remote->config.application);
}

static int stop_absent(void *arg)
{
	struct stop *stop = arg;
	struct remote *remote = stop->remote;
	cleanup_free char *what = NULL;

	if (!may_appear(stop))
		return no_drey(stop);
	what = xasprintf(
		"there is no journal in %s: waiting %d s, because one that is lost while the job runs is written again",
		journal_store_place(remote->store), APPEAR_MS / 1000);
	remote_report(remote, what);
	return CLIENT_CONTINUE;
}

static int stop_late(void *arg, int status)
{
	const struct stop *stop = arg;
	const struct remote *remote = stop->remote;
	char time[CLOCK_TEXT_BYTES];

	if (status == CLI_TIMEOUT)
		cli_fail(
			remote->cli, CLI_TIMEOUT, "gave up after %s (%s)%s",
			clock_human(remote->timeout_ms, time), remote->reported,
			stop->request.asked
				? ""
				: "; nothing was requested; see `kubectl describe pod` and `drey status`");
	return status;
}

static int stop_work(struct remote *remote, void *arg)
{
	static const struct remote_goal goal = {
		.step = stop_step, .absent = stop_absent, .gives_up = stop_late};
	struct stop *stop = arg;
	int status;

	stop->remote = remote;
	status = remote_follow(remote, &goal, stop);
	return status == CLI_OK || status == CLI_PARKED ? status : stop_gives_up(stop, status);
}

int remote_stop_usage(const struct cli *cli)
{
	static const char *const needing[] = {"skip-parked", "withdraw"};

	if (cli_has(cli, "remote") && cli_has(cli, "json"))
		return cli_fail(
			cli, CLI_USAGE,
			"--json cannot be combined with --remote: it needs a drey on this machine");
	if (cli_has(cli, "no-wait") && cli_has(cli, "withdraw"))
		return cli_fail(
			cli, CLI_USAGE,
			"--withdraw cannot be combined with --no-wait: it needs the result");
	for (size_t i = 0; i < 2; i++)
		if (cli_has(cli, needing[i]) && !cli_has(cli, "remote"))
			return cli_fail(cli, CLI_USAGE, "--%s needs --remote", needing[i]);
	return CLI_OK;
}

int remote_stop(const struct cli *cli, enum desired_state goal)
{
	struct stop stop = {.request.goal = goal};

	return remote_run(cli, stop_work, &stop);
}
