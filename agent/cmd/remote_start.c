#include "cmd/remote_start.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "cmd/client.h"
#include "cmd/consent.h"
#include "cmd/remote.h"
#include "cmd/restore_options.h"
#include "cmd/text.h"
#include "run/inputs/control_seen.h"
#include "run/journal/journal_store.h"

#define SETTLE_MS 10000 /* a phase that leads nowhere may only be passed through */

/* ---- what the journal says ---- */

static int64_t last_number(const struct journal *journal)
{
	const struct launch *launch = journal_launch_const(journal);

	return launch ? launch->number : 0;
}

static enum start_step judge_stuck(const struct journal *journal, const char **ret_text)
{
	bool holding = remote_phase_is(journal, "Holding");

	*ret_text = remote_last_words(journal);
	if (journal->intent.do_not_restart && (holding || remote_phase_is(journal, "Suspended") ||
					       remote_phase_is(journal, "Cancelled"))) {
		*ret_text = "do-not-restart is on: nothing is launched until it is off";
		return START_PARKED;
	}
	if (holding)
		return START_HELD;
	return remote_phase_is(journal, "Failed") || remote_phase_is(journal, "Finished")
		       ? START_FAILED
		       : START_WAIT;
}

/* No launch is under way. */
static bool is_at_rest(const struct journal *journal)
{
	static const char *const phases[] = {"Holding", "Suspended", "Cancelled", "Finished",
					     "Failed"};
	bool rest = false;

	for (size_t i = 0; i < ARRAY_LEN(phases); i++)
		rest |= remote_phase_is(journal, phases[i]);
	return rest;
}

/* What is starting is left alone: to set its state anew would stop it. */
static enum start_step judge_resume(const struct journal *journal, bool restore,
				    const char **ret_text)
{
	*ret_text = "the start that is under way";
	if (is_at_rest(journal))
		return START_ASK;
	if (restore)
		return START_FAILED;
	if (journal->intent.state != DESIRED_RUNNING)
		return START_ASK;
	return remote_phase_is(journal, "Running") ? START_DONE : START_WAIT;
}

static enum start_step judge_before(const struct journal *journal,
				    const struct start_request *request, const char **ret_text)
{
	bool running = remote_phase_is(journal, "Running");

	if (!request->nonce)
		return judge_resume(journal, request->restore, ret_text);
	*ret_text = remote_last_words(journal);
	if (!running)
		return START_PARKED;
	if (!journal->intent.do_not_restart)
		return START_ASK;
	*ret_text = "the job could not be started again while do-not-restart is on";
	return START_PARKED;
}

static enum start_step judge_after(const struct journal *journal,
				   const struct start_request *request, const char **ret_text)
{
	const struct operation_result *last = &journal->last_operation;

	*ret_text = "drey to take the request";
	if (!request->taken)
		return START_WAIT;
	if (request->nonce && xstris(last->nonce, request->nonce) && !last->ok) {
		*ret_text = last->error ? last->error : "no reason given";
		return START_FAILED;
	}
	*ret_text = "superseded by another request";
	if (journal->intent.state != DESIRED_RUNNING)
		return START_FAILED;
	*ret_text = remote_last_words(journal);
	if (remote_phase_is(journal, "Running"))
		return last_number(journal) > request->launch_before ? START_DONE : START_WAIT;
	return judge_stuck(journal, ret_text);
}

enum start_step remote_start_judge(const struct journal *journal,
				   const struct start_request *request, const char **ret_text)
{
	return request->asked ? judge_after(journal, request, ret_text)
			      : judge_before(journal, request, ret_text);
}

char *remote_start_restore(const struct restore_request *restore)
{
	static const char *const kinds[] = {
		[RESTORE_EMPTY] = "empty", [RESTORE_PATH] = "path", [RESTORE_NEWEST] = "newest"};
	cleanup_json struct json *doc = json_object();
	struct buf text = BUF_INIT;

	json_add_str(doc, "kind", kinds[restore->kind]);
	json_add_str(doc, "token", restore->token);
	json_add_str_opt(doc, "path", restore->path);
	if (restore->foreign)
		json_add_bool(doc, "foreign", true);
	if (restore->allow_non_restored)
		json_add_bool(doc, "allowNonRestoredState", true);
	json_print(doc, &text);
	return buf_steal(&text);
}

/* ---- the request ---- */

struct start {
	struct remote *remote;
	struct start_request request;
	const struct restore_request
		*restore; /* of a resume; kind RESTORE_NONE: the newest state */
	char *nonce;
	bool first;           /* `suspended` is set, and drey is to see it */
	int64_t stuck_ms;     /* idem: since when; 0 = it is not */
	enum start_step step; /* of the last poll */
};

/* The state that drey has seen last, as text; NULL: none, or not known. The caller frees. */
static char *seen_state(const struct start *start, char **ret_token)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct desired_seen seen = {0};
	char *state;

	if (journal_store_read_seen(start->remote->store, &text, NULL) < 0 ||
	    control_seen_decode(buf_str(&text), text.len_bytes, &seen, NULL) < 0)
		return NULL;
	state = xstrdup(seen.text[DESIRED_KEY_STATE]);
	if (ret_token)
		*ret_token = xstrdup(seen.restore_token);
	desired_seen_release(&seen);
	return state;
}

static int set_state(struct start *start, enum desired_state state)
{
	cleanup_json struct json *keys = json_object();

	json_add_str(keys, desired_keys[DESIRED_KEY_STATE], desired_state_name(state));
	if (state == DESIRED_RUNNING && start->restore->kind != RESTORE_NONE) {
		cleanup_free char *restore = remote_start_restore(start->restore);

		json_add_str(keys, desired_keys[DESIRED_KEY_RESTORE], restore);
	}
	return remote_ask_all(start->remote, keys);
}

static int set_nonce(struct start *start)
{
	cleanup_json struct json *keys = json_object();

	json_add_str(keys, desired_keys[DESIRED_KEY_RESTART_NONCE], start->nonce);
	return remote_ask_all(start->remote, keys);
}

/* Has drey read what is asked for? */
static bool is_taken(const struct start *start, const struct journal *journal)
{
	cleanup_free char *token = NULL, *state = NULL;

	if (start->nonce)
		return xstris(journal->intent.restart_nonce, start->nonce) ||
		       xstris(journal->restart_nonce_done, start->nonce);
	state = seen_state(start, &token);
	return xstris(state, "running") &&
	       (start->restore->kind == RESTORE_NONE || xstris(token, start->restore->token));
}

static int end_asking(struct start *start, int status)
{
	if (status != CLI_OK)
		return status;
	start->request.asked = true;
	return cli_has(start->remote->cli, "no-wait") ? CLI_OK : CLIENT_CONTINUE;
}

static int would(const struct start *start)
{
	const struct remote *remote = start->remote;

	if (start->nonce)
		return consent_would(remote->cli, "request a restart through ConfigMap %s",
				     remote->setup.control);
	return consent_would(remote->cli, "set state: running%s in ConfigMap %s",
			     start->restore->kind != RESTORE_NONE ? " and restore" : "",
			     remote->setup.control);
}

static int ask_empty(const struct start *start, const struct journal *journal)
{
	const struct launch *checkpointed = journal_last_checkpointed(journal);
	const struct snapshot *savepoint = journal_last_savepoint(journal);
	const char *newest = checkpointed ? checkpointed->last_checkpoint_path
			     : savepoint  ? savepoint->path
					  : NULL;

	return consent_ask(start->remote->cli, "Start %s without any state%s%s%s?",
			   journal->application,
			   newest ? ", and leave what it has processed (" : "",
			   newest ? newest : "", newest ? ") behind" : "");
}

/* CLIENT_CONTINUE, or the exit status. */
static int ask_start(struct start *start, const struct journal *journal)
{
	cleanup_free char *state = NULL;
	int status;

	if (consent_dry_run(start->remote->cli))
		return would(start);
	if (start->nonce)
		return end_asking(start, set_nonce(start));
	if (start->restore->kind == RESTORE_EMPTY && !start->first &&
	    (status = ask_empty(start, journal)) != CLI_OK)
		return status;
	state = seen_state(start, NULL);
	if (!xstris(state, "running"))
		return end_asking(start, set_state(start, DESIRED_RUNNING));
	if (start->first)
		return CLIENT_CONTINUE;
	start->first = true;
	remote_report(start->remote, "state is running already: setting it to suspended first");
	status = set_state(start, DESIRED_SUSPENDED);
	return status == CLI_OK ? CLIENT_CONTINUE : status;
}

/* ---- what came of it ---- */

static void print_restored(const struct start *start, const struct journal *journal)
{
	const struct launch *launch = journal_launch_const(journal);
	struct out out = start->remote->cli->out;

	if (!launch || !launch->restore_path) {
		out_put(out, "started without state\n");
		return;
	}
	out_put(out, "restored %s %s", snapshot_kind_name(launch->restore_kind),
		launch->restore_path);
	if (launch->restore_checkpoint_id > 0)
		out_put(out, " (checkpoint id %" PRId64 ")", launch->restore_checkpoint_id);
	out_put(out, "\n");
}

/* Before anything was requested. */
static int end_before(const struct start *start, const struct journal *journal, const char *text)
{
	const struct cli *cli = start->remote->cli;

	if (start->step == START_WAIT)
		return consent_dry_run(cli) ? consent_would(cli, "wait for %s", text)
					    : CLIENT_CONTINUE;
	if (start->step == START_PARKED)
		return cli_fail(cli, CLI_PARKED, "not restarted: %s", text);
	if (start->step == START_FAILED)
		return cli_fail(
			cli, CLI_FAILED,
			"the application is %s; suspend or cancel it first; nothing was changed",
			journal->phase ? journal->phase : "starting");
	return cli_fail(cli, CLI_OK, "the job is running already; nothing to do");
}

static bool has_settled(struct start *start)
{
	if (!start->stuck_ms)
		start->stuck_ms = clock_mono_ms();
	return clock_mono_ms() - start->stuck_ms >= SETTLE_MS;
}

/* CLIENT_CONTINUE, or the exit status. */
static int end_after(struct start *start, const struct journal *journal, const char *text)
{
	const struct cli *cli = start->remote->cli;

	switch (start->step) {
	case START_DONE:
		print_restored(start, journal);
		return CLI_OK;
	case START_PARKED:
		return cli_fail(cli, CLI_PARKED, "%s; the desired state is running from now on",
				text);
	case START_HELD:
		return has_settled(start) ? cli_fail(cli, CLI_HELD, "%s", text) : CLIENT_CONTINUE;
	case START_FAILED:
		return !journal->phase || remote_phase_is(journal, "Running") || has_settled(start)
			       ? cli_fail(cli, CLI_FAILED, "%s failed: %s",
					  start->nonce ? "the restart" : "the start", text)
			       : CLIENT_CONTINUE;
	default:
		start->stuck_ms = 0;
		return CLIENT_CONTINUE;
	}
}

/* CLIENT_CONTINUE, or the exit status. */
static int start_step(void *arg, const struct journal *journal)
{
	struct start *start = arg;
	const char *text = NULL;
	char line[512];
	int status;

	if (start->request.asked && !start->request.taken)
		start->request.taken = start->remote->taken = is_taken(start, journal);
	if (!start->request.asked && !start->first)
		start->request.launch_before = last_number(journal);
	start->step = start->first && !start->request.asked
			      ? START_ASK
			      : remote_start_judge(journal, &start->request, &text);
	if (start->step == START_ASK)
		return ask_start(start, journal);
	status = start->request.asked ? end_after(start, journal, text)
				      : end_before(start, journal, text);
	if (status != CLIENT_CONTINUE)
		return status;
	snprintf(line, sizeof(line), "%s: waiting for %s",
		 journal->phase ? journal->phase : "no phase",
		 start->request.taken ? "the job to run" : text);
	remote_report(start->remote, line);
	return CLIENT_CONTINUE;
}

static int start_gives_up(void *arg, int status)
{
	const struct start *start = arg;
	const struct remote *remote = start->remote;
	char time[CLOCK_TEXT_BYTES];

	if (status == CLI_TIMEOUT)
		cli_fail(remote->cli, status, "gave up waiting after %s (%s)",
			 clock_human(remote->timeout_ms, time),
			 remote->reported ? remote->reported : "nothing was reported");
	if (!start->request.asked && !start->first)
		return status;
	return cli_fail(
		remote->cli, status, "%s",
		start->request.asked
			? "the request remains in force"
			: "state is suspended now: repeat the command, or set it to running yourself");
}

static int start_work(struct remote *remote, void *arg)
{
	static const struct remote_goal goal = {.step = start_step, .gives_up = start_gives_up};
	struct start *start = arg;

	start->remote = remote;
	return remote_follow(remote, &goal, start);
}

int remote_resume(const struct cli *cli)
{
	struct restore_request restore = {0};
	struct start start = {.restore = &restore};
	int status = restore_options(cli, &restore);

	start.request.restore = restore.kind != RESTORE_NONE;
	if (status == CLI_OK)
		status = remote_run(cli, start_work, &start);
	free(restore.token);
	free(restore.path);
	return status;
}

int remote_restart(const struct cli *cli)
{
	struct restore_request none = {0};
	struct start start = {.restore = &none};
	int status = client_nonce(cli, &start.nonce);

	start.request.nonce = start.nonce;
	if (status == CLI_OK)
		status = remote_run(cli, start_work, &start);
	free(start.nonce);
	return status;
}
