#include "cmd/remote.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cmd/client.h"
#include "cmd/text.h"
#include "core/desired.h"
#include "kube/configmap.h"
#include "kube/workload.h"
#include "run/config/setup_kube.h"
#include "run/journal/journal_store.h"

#define POLL_MS      2000
#define PATIENCE_MS  60000  /* maximum wait at first for an API server that does not respond */
#define CLOCKS_MS    120000 /* maximum difference between the clocks of two nodes */
#define OWNER_ASK_MS 10000

/* ---- reading the journal ---- */

const char *remote_parked(const struct journal *journal)
{
	if (journal->intent.state != DESIRED_RUNNING)
		return journal->intent.state == DESIRED_SUSPENDED ? "it is suspended"
								  : "it is cancelled";
	if (journal->outcome.kind == OUTCOME_FINISHED)
		return "the job has finished";
	if (journal->outcome.kind == OUTCOME_CANCELLED)
		return "the job was cancelled";
	if (journal->intent.do_not_restart && journal->phase && !strcmp(journal->phase, "Holding"))
		return "do-not-restart is on";
	return NULL;
}

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

/* ---- the request ---- */

struct remote {
	const struct cli *cli;
	struct config config;
	struct setup_kube setup;
	struct kube *kube;
	struct journal_store *store;
	int64_t timeout_ms, began_ms, asked_unix_ms;
	char *nonce;   /* ours */
	char *current; /* in the ConfigMap now: the savepoint of a later request is as good */
	char *reported;
};

static void pause_ms(int64_t ms)
{
	struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = (ms % 1000) * 1000000};

	nanosleep(&pause, NULL);
}

static int64_t left_ms(const struct remote *remote)
{
	int64_t left = remote->timeout_ms - (clock_mono_ms() - remote->began_ms);

	return left > 0 ? left : 0;
}

static void report(struct remote *remote, const char *what)
{
	if (xstris(remote->reported, what))
		return;
	xstrset(&remote->reported, what);
	fprintf(remote->cli->err, "drey savepoint: ");
	text_print(what, remote->cli->err);
	fputc('\n', remote->cli->err);
	fflush(remote->cli->err);
}

/* The cause may be temporary: a server that starts, a Role that was created a moment ago. */
static bool may_be_temporary(const struct remote *remote, const struct err *err)
{
	int64_t spent = clock_mono_ms() - remote->began_ms;

	return (err->kind == ERR_RETRY || err->kind == ERR_DENIED) && spent < PATIENCE_MS &&
	       left_ms(remote) > 0;
}

static int failure(const struct remote *remote, const struct err *err)
{
	return cli_fail(remote->cli,
			err->kind == ERR_CONFIG   ? CLI_USAGE
			: err->kind == ERR_ABSENT ? CLI_ABSENT
						  : CLI_FAILED,
			"%s", err->msg);
}

/* After an error: wait a moment and return CLI_OK for another try, or return the exit status. */
static int try_again(struct remote *remote, struct err *err)
{
	if (!may_be_temporary(remote, err))
		return failure(remote, err);
	report(remote, err->msg);
	pause_ms(POLL_MS);
	*err = (struct err){0};
	return CLI_OK;
}

static int remote_read_journal(struct remote *remote, struct journal *ret_journal)
{
	struct err err = {0};
	int status;

	while (journal_store_read(remote->store, ret_journal, &err) < 0) {
		if (err.kind == ERR_ABSENT)
			return cli_fail(remote->cli, CLI_ABSENT,
					"%s does not exist: drey has not run for %s yet",
					journal_store_place(remote->store),
					remote->config.application);
		if ((status = try_again(remote, &err)) != CLI_OK)
			return status;
	}
	return CLI_OK;
}

/* Its desired number of Pods is 0, so no drey will ever respond. False if that cannot be read. */
static bool scaled_away(const struct remote *remote)
{
	struct workload workload = {0};
	bool away;

	if (!remote->setup.owner ||
	    workload_get(remote->kube,
			 remote->setup.owner_is_job ? WORKLOAD_JOB : WORKLOAD_DEPLOYMENT,
			 remote->setup.owner, OWNER_ASK_MS, &workload, NULL, NULL) < 0)
		return false;
	away = workload.suspended || workload.replicas == 0;
	workload_release(&workload);
	return away;
}

static int parked(const struct remote *remote, const char *why)
{
	bool skip = cli_has(remote->cli, "skip-parked");

	return cli_fail(remote->cli, skip ? CLI_OK : CLI_PARKED, "no job is running: %s%s", why,
			skip ? "; nothing to do" : "");
}

/* CLIENT_CONTINUE: it is running, or is about to. */
static int check_parked(const struct remote *remote, const struct journal *journal)
{
	const char *why = remote_parked(journal);

	if (!why && scaled_away(remote))
		why = "its Deployment is scaled to 0, or its Job is suspended";
	if (why)
		return parked(remote, why);
	if (journal->outcome.kind != OUTCOME_NONE)
		return cli_fail(remote->cli, CLI_FAILED, "no job is running: %s",
				journal->outcome.reason ? journal->outcome.reason
							: outcome_kind_name(journal->outcome.kind));
	return CLIENT_CONTINUE;
}

static int remote_ask(struct remote *remote)
{
	cleanup_json struct json *patch = json_object();
	struct err err = {0};
	int status;

	json_add_str(json_add_object(patch, "data"), desired_keys[DESIRED_KEY_SAVEPOINT_NONCE],
		     remote->nonce);
	while (configmap_patch(remote->kube, remote->setup.control, patch, NULL, NULL, &err) < 0) {
		if (err.kind == ERR_ABSENT)
			return cli_fail(remote->cli, CLI_ABSENT,
					"control ConfigMap %s does not exist; create it",
					remote->setup.control);
		if ((status = try_again(remote, &err)) != CLI_OK)
			return status;
	}
	return CLI_OK;
}

/* Another request may have replaced our nonce before drey saw it: then its savepoint is ours. */
static void follow_nonce(struct remote *remote)
{
	struct configmap map = {0};
	const char *now;

	if (configmap_get(remote->kube, remote->setup.control, &map, NULL, NULL) < 0)
		return;
	now = configmap_value(&map, desired_keys[DESIRED_KEY_SAVEPOINT_NONCE]);
	if (now && *now)
		xstrset(&remote->current, now);
	configmap_release(&map);
}

/* CLIENT_CONTINUE, or the exit status. */
static int judge_request(struct remote *remote, const struct journal *journal)
{
	const char *text = NULL;
	enum remote_end end = remote_judge(journal, remote->nonce, remote->asked_unix_ms, &text);
	int status;

	if (end == REMOTE_OPEN)
		end = remote_judge(journal, remote->current, remote->asked_unix_ms, &text);
	if (end == REMOTE_DONE) {
		text_print(text ? text : "", remote->cli->out);
		fputc('\n', remote->cli->out);
		return CLI_OK;
	}
	/* suspended meanwhile: drey has rejected the request, or has never seen it */
	status = check_parked(remote, journal);
	if (status != CLIENT_CONTINUE || end == REMOTE_OPEN)
		return status;
	return cli_fail(remote->cli, CLI_FAILED, "the savepoint failed: %s",
			text ? text : "no reason given");
}

static int await(struct remote *remote)
{
	for (;;) {
		struct journal journal;
		struct err err = {0};
		int status = CLIENT_CONTINUE;
		char time[CLOCK_TEXT_BYTES], line[128];

		if (journal_store_read(remote->store, &journal, &err) == 0) {
			status = judge_request(remote, &journal);
			snprintf(line, sizeof(line), "waiting for the savepoint: %s%s",
				 journal.phase ? journal.phase : "no phase",
				 journal.operation.kind == OPERATION_SAVEPOINT
					 ? ", a savepoint is being taken"
					 : "");
			journal_release(&journal);
			if (status == CLIENT_CONTINUE)
				report(remote, line);
		} else {
			report(remote, err.msg);
		}
		if (status != CLIENT_CONTINUE)
			return status;
		/* after the poll: there may be a later request than the followed one */
		follow_nonce(remote);
		if (!left_ms(remote))
			return cli_fail(
				remote->cli, CLI_TIMEOUT,
				"gave up waiting after %s (%s); the request remains in ConfigMap %s",
				clock_human(remote->timeout_ms, time), remote->reported,
				remote->setup.control);
		pause_ms(left_ms(remote) < POLL_MS ? left_ms(remote) : POLL_MS);
	}
}

static int remote_work(struct remote *remote)
{
	struct journal journal;
	int status = remote_read_journal(remote, &journal);

	if (status != CLI_OK)
		return status;
	status = check_parked(remote, &journal);
	journal_release(&journal);
	if (status != CLIENT_CONTINUE)
		return status;
	if ((status = client_nonce(remote->cli, &remote->nonce)) != CLI_OK)
		return status;
	remote->current = xstrdup(remote->nonce);
	remote->asked_unix_ms = clock_unix_ms();
	if ((status = remote_ask(remote)) != CLI_OK || cli_has(remote->cli, "no-wait"))
		return status;
	return await(remote);
}

static int open_remote(struct remote *remote, struct err *err)
{
	if (cli_timeout(remote->cli, CLIENT_WAIT_MS, &remote->timeout_ms, err) < 0 ||
	    cli_config(remote->cli, &remote->config, err) < 0 ||
	    setup_kube(&remote->config, &remote->setup, err) < 0)
		return -1;
	if (!remote->setup.on)
		return err_set(
			err, ERR_CONFIG, 0,
			"--remote needs an API server, but none is configured: set kubernetes.kubeconfig");
	if (!remote->setup.control || !remote->setup.journal)
		return err_set(
			err, ERR_CONFIG, 0,
			"--remote needs the control ConfigMap and the ConfigMap of the journal, but kubernetes.%s is none: name a ConfigMap there",
			remote->setup.control ? "journal" : "control");
	remote->kube = kube_open(remote->setup.client);
	remote->store = journal_store_open(&remote->config, &remote->setup);
	return 0;
}

int remote_savepoint(const struct cli *cli)
{
	struct remote remote = {.cli = cli, .began_ms = clock_mono_ms()};
	struct err err = {0};
	int status;

	if (open_remote(&remote, &err) < 0)
		status = cli_fail(cli, CLI_USAGE, "%s", err.msg);
	else
		status = remote_work(&remote);
	journal_store_free(remote.store);
	kube_free(remote.kube);
	setup_kube_release(&remote.setup);
	config_release(&remote.config);
	free(remote.nonce);
	free(remote.current);
	free(remote.reported);
	return status;
}
