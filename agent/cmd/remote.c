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

#define LOOK_MS      2000
#define PATIENCE_MS  60000  /* how long an API server that does not answer is waited for at first */
#define CLOCKS_MS    120000 /* so much the clocks of two nodes may differ */
#define OWNER_ASK_MS 10000

/* ---- what the journal says ---- */

const char *remote_parked(const struct journal *journal)
{
	if (journal->intent.state != DESIRED_RUNNING)
		return journal->intent.state == DESIRED_SUSPENDED ? "it is suspended"
								  : "it is cancelled";
	if (journal->outcome.kind == OUTCOME_FINISHED)
		return "the job has come to its end";
	if (journal->outcome.kind == OUTCOME_CANCELLED)
		return "the job was cancelled";
	if (journal->intent.do_not_restart && journal->phase && !strcmp(journal->phase, "Holding"))
		return "do-not-restart is set, and no job runs";
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
	/* another operation has ended since, and has taken the place of the result */
	for (size_t i = journal->snapshot_count; i > 0; i--) {
		const struct snapshot *one = &journal->snapshots[i - 1];

		if (one->origin == ORIGIN_MANUAL &&
		    one->completed_unix_ms >= asked_unix_ms - CLOCKS_MS) {
			*ret_text = one->path;
			return REMOTE_DONE;
		}
	}
	*ret_text = "it has ended and left no savepoint; the log of the JobManager says why";
	return REMOTE_FAILED;
}

/* ---- asking ---- */

struct remote {
	const struct cli *cli;
	struct config config;
	struct setup_kube setup;
	struct kube *kube;
	struct journal_store *store;
	int64_t timeout_ms, began_ms, asked_unix_ms;
	char *nonce;   /* ours */
	char *current; /* what is in the ConfigMap now: one that was asked for later is as good */
	char *said;
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

static void say(struct remote *remote, const char *what)
{
	if (xstris(remote->said, what))
		return;
	xstrset(&remote->said, what);
	fprintf(remote->cli->err, "drey savepoint: ");
	text_print(what, remote->cli->err);
	fputc('\n', remote->cli->err);
	fflush(remote->cli->err);
}

/* May pass: a server that starts, a Role that was made a moment ago. */
static bool may_pass(const struct remote *remote, const struct err *err)
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

/* After an error: CLI_OK when it is worth another try, a moment later; else the status to end with. */
static int try_again(struct remote *remote, struct err *err)
{
	if (!may_pass(remote, err))
		return failure(remote, err);
	say(remote, err->msg);
	pause_ms(LOOK_MS);
	*err = (struct err){0};
	return CLI_OK;
}

static int read_journal(struct remote *remote, struct journal *ret_journal)
{
	struct err err = {0};
	int status;

	while (journal_store_read(remote->store, ret_journal, &err) < 0) {
		if (err.kind == ERR_ABSENT)
			return cli_fail(remote->cli, CLI_ABSENT,
					"there is no %s: no drey has run for %s yet",
					journal_store_place(remote->store),
					remote->config.application);
		if ((status = try_again(remote, &err)) != CLI_OK)
			return status;
	}
	return CLI_OK;
}

/* Nobody will ever answer: it is wanted to have no Pods. What cannot be read says nothing. */
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

	return cli_fail(remote->cli, skip ? CLI_OK : CLI_PARKED, "no job runs: %s%s", why,
			skip ? "; nothing to do" : "");
}

/* CLIENT_GO_ON: it runs, or is about to. */
static int look_for_parked(const struct remote *remote, const struct journal *journal)
{
	const char *why = remote_parked(journal);

	if (!why && scaled_away(remote))
		why = "its Deployment or Job wants no Pods";
	if (why)
		return parked(remote, why);
	if (journal->outcome.kind != OUTCOME_NONE)
		return cli_fail(remote->cli, CLI_FAILED, "no job runs: %s",
				journal->outcome.reason ? journal->outcome.reason
							: outcome_kind_name(journal->outcome.kind));
	return CLIENT_GO_ON;
}

static int ask(struct remote *remote)
{
	cleanup_json struct json *patch = json_object();
	struct err err = {0};
	int status;

	json_add_str(json_add_object(patch, "data"), desired_keys[DESIRED_KEY_SAVEPOINT_NONCE],
		     remote->nonce);
	while (configmap_patch(remote->kube, remote->setup.control, patch, NULL, NULL, &err) < 0) {
		if (err.kind == ERR_ABSENT)
			return cli_fail(remote->cli, CLI_ABSENT,
					"there is no ConfigMap %s to ask by; create it",
					remote->setup.control);
		if ((status = try_again(remote, &err)) != CLI_OK)
			return status;
	}
	return CLI_OK;
}

/* Somebody else may have asked before drey has seen our nonce: then his savepoint is ours. */
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

/* CLIENT_GO_ON, or how it has ended. */
static int judge(struct remote *remote, const struct journal *journal)
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
	/* suspended meanwhile: drey has refused it, or has never seen it */
	status = look_for_parked(remote, journal);
	if (status != CLIENT_GO_ON || end == REMOTE_OPEN)
		return status;
	return cli_fail(remote->cli, CLI_FAILED, "the savepoint failed: %s",
			text ? text : "no reason");
}

static int await(struct remote *remote)
{
	for (;;) {
		struct journal journal;
		struct err err = {0};
		int status = CLIENT_GO_ON;
		char time[CLOCK_TEXT_BYTES], line[128];

		if (journal_store_read(remote->store, &journal, &err) == 0) {
			status = judge(remote, &journal);
			snprintf(line, sizeof(line), "waiting for the savepoint: %s%s",
				 journal.phase ? journal.phase : "no phase",
				 journal.operation.kind == OPERATION_SAVEPOINT
					 ? ", a savepoint is being taken"
					 : "");
			journal_release(&journal);
			if (status == CLIENT_GO_ON)
				say(remote, line);
		} else {
			say(remote, err.msg);
		}
		if (status != CLIENT_GO_ON)
			return status;
		/* after the look: what it says now may be asked for after what was followed so far */
		follow_nonce(remote);
		if (!left_ms(remote))
			return cli_fail(
				remote->cli, CLI_TIMEOUT,
				"still waiting after %s (%s); the request stays in ConfigMap %s",
				clock_human(remote->timeout_ms, time), remote->said,
				remote->setup.control);
		pause_ms(left_ms(remote) < LOOK_MS ? left_ms(remote) : LOOK_MS);
	}
}

static int work(struct remote *remote)
{
	struct journal journal;
	int status = read_journal(remote, &journal);

	if (status != CLI_OK)
		return status;
	status = look_for_parked(remote, &journal);
	journal_release(&journal);
	if (status != CLIENT_GO_ON)
		return status;
	if ((status = client_nonce(remote->cli, &remote->nonce)) != CLI_OK)
		return status;
	remote->current = xstrdup(remote->nonce);
	remote->asked_unix_ms = clock_unix_ms();
	if ((status = ask(remote)) != CLI_OK || cli_has(remote->cli, "no-wait"))
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
			"--remote needs the API server, and there is none: name one by kubernetes.kubeconfig");
	if (!remote->setup.control || !remote->setup.journal)
		return err_set(
			err, ERR_CONFIG, 0,
			"--remote asks through the control ConfigMap and reads the journal; kubernetes.%s is none",
			remote->setup.control ? "journal" : "control");
	remote->kube = kube_new(&remote->setup.config, err);
	if (!remote->kube)
		return -1;
	remote->store = journal_store_open(&remote->config, &remote->setup, err);
	return remote->store ? 0 : -1;
}

int remote_savepoint(const struct cli *cli)
{
	struct remote remote = {.cli = cli, .began_ms = clock_mono_ms()};
	struct err err = {0};
	int status;

	if (open_remote(&remote, &err) < 0)
		status = cli_fail(cli, CLI_USAGE, "%s", err.msg);
	else
		status = work(&remote);
	journal_store_free(remote.store);
	kube_free(remote.kube);
	setup_kube_release(&remote.setup);
	config_release(&remote.config);
	free(remote.nonce);
	free(remote.current);
	free(remote.said);
	return status;
}
