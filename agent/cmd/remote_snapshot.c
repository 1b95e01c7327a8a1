#include "cmd/remote_snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cmd/client.h"
#include "cmd/consent.h"
#include "cmd/remote.h"
#include "cmd/text.h"
#include "kube/configmap.h"
#include "run/journal/journal_store.h"

#define CLOCKS_MS 120000 /* maximum difference between the clocks of two nodes */

enum remote_end remote_judge(const struct journal *journal, const char *nonce,
			     int64_t asked_unix_ms, const char **ret_text)
{
	const struct operation_result *last = &journal->last_operation;
	const struct savepoint_request *request = journal_savepoint_request(journal, nonce);

	if (request && request->answered) {
		*ret_text = request->ok ? request->location : request->error;
		return request->ok ? REMOTE_DONE : REMOTE_FAILED;
	}
	if (request)
		return REMOTE_OPEN;

	if (last->kind == OPERATION_SAVEPOINT && xstris(last->nonce, nonce)) {
		*ret_text = last->ok ? last->location : last->error;
		return last->ok ? REMOTE_DONE : REMOTE_FAILED;
	}
	if (!xstris(journal->savepoint_nonce_done, nonce))
		return REMOTE_OPEN;
	/* another operation has ended since and has overwritten the result */
	for (size_t i = journal->snapshot_count; i > 0; i--) {
		const struct snapshot *one = &journal->snapshots[i - 1];

		if (one->origin == ORIGIN_MANUAL &&
		    one->completed_unix_ms >= asked_unix_ms - CLOCKS_MS) {
			*ret_text = one->path;
			return REMOTE_DONE;
		}
	}
	*ret_text = "it ended without a savepoint; read the log of the JobManager";
	return REMOTE_FAILED;
}

enum remote_end remote_judge_checkpoint(const struct journal *journal, const char *nonce,
					const char **ret_text)
{
	const struct checkpoint_request *request = journal_checkpoint_request(journal, nonce);

	if (!request || !request->answered)
		return REMOTE_OPEN;
	*ret_text = request->ok ? request->location : request->error;
	if (!request->ok)
		return REMOTE_FAILED;
	if (*ret_text)
		return REMOTE_DONE;
	*ret_text = "it is complete, but Flink does not show its path; use `drey snapshots`";
	return REMOTE_FAILED;
}

struct wait {
	struct remote *remote;
	bool checkpoint, full; /* else a savepoint; a full checkpoint */
	const char *what;      /* "savepoint" */
	int64_t asked_unix_ms;
	char *nonce;    /* ours */
	char *current;  /* in the ConfigMap now: the snapshot of a later request is as good */
	char *replaced; /* in the ConfigMap now, and not as good: ours is a full checkpoint */
};

static enum remote_end judge_nonce(const struct wait *wait, const struct journal *journal,
				   const char *nonce, const char **ret_text)
{
	return wait->checkpoint ? remote_judge_checkpoint(journal, nonce, ret_text)
				: remote_judge(journal, nonce, wait->asked_unix_ms, ret_text);
}

static int send_request(const struct wait *wait)
{
	cleanup_free char *text = xasprintf("%s%s", wait->full ? "full " : "", wait->nonce);

	return remote_ask(wait->remote,
			  wait->checkpoint ? DESIRED_KEY_CHECKPOINT_NONCE
					   : DESIRED_KEY_SAVEPOINT_NONCE,
			  text);
}

/* CLIENT_CONTINUE: it is running, or is about to. */
static int check_parked(const struct remote *remote, const struct journal *journal)
{
	const char *why = remote_parked(journal);

	if (!why && remote_scaled_away(remote))
		why = "its Deployment is scaled to 0, or its Job is suspended";
	if (why)
		return remote_end_parked(remote, why);
	if (journal->outcome.kind != OUTCOME_NONE)
		return cli_fail(remote->cli, CLI_FAILED, "no job is running: %s",
				journal->outcome.reason ? journal->outcome.reason
							: outcome_kind_name(journal->outcome.kind));
	return CLIENT_CONTINUE;
}

/* Another request may have replaced our nonce before drey saw it: then its snapshot is ours. */
static void follow_nonce(struct wait *wait)
{
	struct remote *remote = wait->remote;
	cleanup_configmap struct configmap map = {0};
	const char *now;
	bool full = false;

	if (configmap_get(remote->kube, remote->setup.control, &map, NULL, NULL) < 0)
		return;
	now = configmap_value(&map, desired_keys[wait->checkpoint ? DESIRED_KEY_CHECKPOINT_NONCE
								  : DESIRED_KEY_SAVEPOINT_NONCE]);
	if (wait->checkpoint)
		now = desired_checkpoint_nonce(now, &full);
	if (now && *now)
		xstrset(wait->full && !full ? &wait->replaced : &wait->current, now);
}

/* A request for a full checkpoint that another one has replaced is made again, when drey has seen that one. */
static int ask_again(struct wait *wait, const struct journal *journal)
{
	if (!wait->replaced || journal_checkpoint_request(journal, wait->nonce) ||
	    !journal_checkpoint_request(journal, wait->replaced))
		return CLIENT_CONTINUE;
	xstrset(&wait->replaced, NULL);
	return send_request(wait) == CLI_OK ? CLIENT_CONTINUE : CLI_FAILED;
}

/* CLIENT_CONTINUE, or the exit status. */
static int judge_request(const struct wait *wait, const struct journal *journal)
{
	const struct cli *cli = wait->remote->cli;
	const char *text = NULL;
	enum remote_end end = judge_nonce(wait, journal, wait->nonce, &text);
	int status;

	if (end == REMOTE_OPEN)
		end = judge_nonce(wait, journal, wait->current, &text);
	if (end == REMOTE_DONE) {
		out_put(cli->out, "%s\n", text ? text : "");
		return CLI_OK;
	}
	/* suspended meanwhile: drey has rejected the request, or has never seen it */
	status = check_parked(wait->remote, journal);
	if (status != CLIENT_CONTINUE || end == REMOTE_OPEN)
		return status;
	return cli_fail(cli, CLI_FAILED, "the %s failed: %s", wait->what,
			text ? text : "no reason given");
}

static bool is_taken(const struct wait *wait, const struct journal *journal)
{
	return wait->checkpoint ? *journal->checkpoint.trigger_id
				: journal->operation.kind == OPERATION_SAVEPOINT;
}

static int await_snapshot(struct wait *wait)
{
	struct remote *remote = wait->remote;

	for (;;) {
		struct journal journal;
		struct err err = {0};
		int status = CLIENT_CONTINUE;
		char time[CLOCK_TEXT_BYTES], line[128];

		if (journal_store_read(remote->store, &journal, &err) == 0) {
			status = judge_request(wait, &journal);
			if (status == CLIENT_CONTINUE)
				status = ask_again(wait, &journal);
			snprintf(line, sizeof(line), "waiting for the %s: %s%s", wait->what,
				 journal.phase ? journal.phase : "no phase",
				 is_taken(wait, &journal) ? ", it is being taken" : "");
			journal_release(&journal);
			if (status == CLIENT_CONTINUE)
				remote_report(remote, line);
		} else {
			remote_report(remote, err.msg);
		}
		if (status != CLIENT_CONTINUE)
			return status;
		/* after the poll: there may be a later request than the followed one */
		follow_nonce(wait);
		if (!remote_left_ms(remote))
			return cli_fail(
				remote->cli, CLI_TIMEOUT,
				"gave up waiting after %s (%s); the request remains in ConfigMap %s",
				clock_human(remote->timeout_ms, time), remote->reported,
				remote->setup.control);
		remote_pause(remote);
	}
}

static int snapshot_work(struct remote *remote, void *arg)
{
	struct wait *wait = arg;
	cleanup_journal struct journal journal = {0};
	int status = remote_read_journal(remote, &journal);

	if (status == CLI_ABSENT)
		return remote_no_journal(remote);
	if (status != CLI_OK)
		return status;
	status = check_parked(remote, &journal);
	if (status != CLIENT_CONTINUE)
		return status;
	if (consent_dry_run(remote->cli))
		return consent_would(remote->cli, "request a %s through ConfigMap %s", wait->what,
				     remote->setup.control);
	if ((status = client_nonce(remote->cli, &wait->nonce)) != CLI_OK)
		return status;
	wait->remote = remote;
	wait->current = xstrdup(wait->nonce);
	wait->asked_unix_ms = clock_unix_ms();
	status = send_request(wait);
	return status != CLI_OK || cli_has(remote->cli, "no-wait") ? status : await_snapshot(wait);
}

static int wait_run(const struct cli *cli, struct wait *wait)
{
	int status = remote_run(cli, snapshot_work, wait);

	free(wait->nonce);
	free(wait->current);
	free(wait->replaced);
	return status;
}

int remote_snapshot_options(const struct cli *cli)
{
	if (cli_has(cli, "skip-parked") && !cli_has(cli, "remote"))
		return cli_fail(cli, CLI_USAGE, "--skip-parked needs --remote");
	if (cli_has(cli, "json") && cli_has(cli, "remote"))
		return cli_fail(
			cli, CLI_USAGE,
			"--json cannot be combined with --remote: it needs a drey on this machine");
	return CLI_OK;
}

int remote_savepoint(const struct cli *cli)
{
	return wait_run(cli, &(struct wait){.what = "savepoint"});
}

int remote_checkpoint(const struct cli *cli)
{
	return wait_run(cli, &(struct wait){.checkpoint = true,
					    .full = cli_has(cli, "full"),
					    .what = "checkpoint"});
}
