#include "cmd/remote_savepoint.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cmd/client.h"
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

struct wait {
	struct remote *remote;
	int64_t asked_unix_ms;
	char *nonce;   /* ours */
	char *current; /* in the ConfigMap now: the savepoint of a later request is as good */
};

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

/* Another request may have replaced our nonce before drey saw it: then its savepoint is ours. */
static void follow_nonce(struct wait *wait)
{
	struct remote *remote = wait->remote;
	struct configmap map = {0};
	const char *now;

	if (configmap_get(remote->kube, remote->setup.control, &map, NULL, NULL) < 0)
		return;
	now = configmap_value(&map, desired_keys[DESIRED_KEY_SAVEPOINT_NONCE]);
	if (now && *now)
		xstrset(&wait->current, now);
	configmap_release(&map);
}

/* CLIENT_CONTINUE, or the exit status. */
static int judge_request(const struct wait *wait, const struct journal *journal)
{
	const struct cli *cli = wait->remote->cli;
	const char *text = NULL;
	enum remote_end end = remote_judge(journal, wait->nonce, wait->asked_unix_ms, &text);
	int status;

	if (end == REMOTE_OPEN)
		end = remote_judge(journal, wait->current, wait->asked_unix_ms, &text);
	if (end == REMOTE_DONE) {
		text_print(text ? text : "", cli->out);
		fputc('\n', cli->out);
		return CLI_OK;
	}
	/* suspended meanwhile: drey has rejected the request, or has never seen it */
	status = check_parked(wait->remote, journal);
	if (status != CLIENT_CONTINUE || end == REMOTE_OPEN)
		return status;
	return cli_fail(cli, CLI_FAILED, "the savepoint failed: %s",
			text ? text : "no reason given");
}

static int await_savepoint(struct wait *wait)
{
	struct remote *remote = wait->remote;

	for (;;) {
		struct journal journal;
		struct err err = {0};
		int status = CLIENT_CONTINUE;
		char time[CLOCK_TEXT_BYTES], line[128];

		if (journal_store_read(remote->store, &journal, &err) == 0) {
			status = judge_request(wait, &journal);
			snprintf(line, sizeof(line), "waiting for the savepoint: %s%s",
				 journal.phase ? journal.phase : "no phase",
				 journal.operation.kind == OPERATION_SAVEPOINT
					 ? ", a savepoint is being taken"
					 : "");
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

static int savepoint_work(struct remote *remote, void *arg)
{
	struct wait *wait = arg;
	struct journal journal;
	int status = remote_read_journal(remote, &journal);

	if (status == CLI_ABSENT)
		return remote_no_journal(remote);
	if (status != CLI_OK)
		return status;
	status = check_parked(remote, &journal);
	journal_release(&journal);
	if (status != CLIENT_CONTINUE)
		return status;
	if ((status = client_nonce(remote->cli, &wait->nonce)) != CLI_OK)
		return status;
	wait->remote = remote;
	wait->current = xstrdup(wait->nonce);
	wait->asked_unix_ms = clock_unix_ms();
	status = remote_ask(remote, DESIRED_KEY_SAVEPOINT_NONCE, wait->nonce);
	return status != CLI_OK || cli_has(remote->cli, "no-wait") ? status : await_savepoint(wait);
}

int remote_savepoint(const struct cli *cli)
{
	struct wait wait = {0};
	int status = remote_run(cli, savepoint_work, &wait);

	free(wait.nonce);
	free(wait.current);
	return status;
}
