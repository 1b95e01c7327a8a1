#include "cmd/remote.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "cmd/client.h"
#include "cmd/text.h"
#include "kube/configmap.h"
#include "kube/flinkapp.h"
#include "kube/workload.h"
#include "run/inputs/resource_desired.h"
#include "run/journal/journal_store.h"

#define PATIENCE_MS  60000 /* maximum wait at first for an API server that does not respond */
#define OWNER_ASK_MS 10000

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

bool remote_phase_is(const struct journal *journal, const char *phase)
{
	return xstris(journal->phase, phase);
}

const char *remote_last_words(const struct journal *journal)
{
	return journal->log_count ? journal->log[journal->log_count - 1].text : journal->phase;
}

int64_t remote_left_ms(const struct remote *remote)
{
	int64_t left = remote->timeout_ms - (clock_mono_ms() - remote->began_ms);

	return left > 0 ? left : 0;
}

void remote_pause(const struct remote *remote)
{
	int64_t left = remote_left_ms(remote), ms = left < REMOTE_POLL_MS ? left : REMOTE_POLL_MS;
	struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = (ms % 1000) * 1000000};

	nanosleep(&pause, NULL);
}

void remote_report(struct remote *remote, const char *what)
{
	if (xstris(remote->reported, what))
		return;
	xstrset(&remote->reported, what);
	out_put(remote->cli->err, "%s %s: %s\n", cli_program(remote->cli->command),
		remote->cli->command->name, what);
	out_flush(remote->cli->err);
}

static bool may_be_temporary(const struct remote *remote, const struct err *err)
{
	int64_t spent = clock_mono_ms() - remote->began_ms;

	/* a person who is denied something does not wait for it */
	return (err->kind == ERR_RETRY ||
		(err->kind == ERR_DENIED && !remote->cli->command->config)) &&
	       spent < PATIENCE_MS && remote_left_ms(remote) > 0;
}

int remote_try_again(struct remote *remote, struct err *err)
{
	if (!may_be_temporary(remote, err))
		return cli_fail(remote->cli,
				err->kind == ERR_CONFIG   ? CLI_USAGE
				: err->kind == ERR_ABSENT ? CLI_ABSENT
							  : CLI_FAILED,
				"%s", err->msg);
	remote_report(remote, err->msg);
	remote_pause(remote);
	*err = (struct err){0};
	return CLI_OK;
}

int remote_read_journal(struct remote *remote, struct journal *ret_journal)
{
	struct err err = {0};
	int status;

	while (journal_store_read(remote->store, ret_journal, &err) < 0) {
		if (err.kind == ERR_ABSENT)
			return CLI_ABSENT;
		if ((status = remote_try_again(remote, &err)) != CLI_OK)
			return status;
	}
	return CLI_OK;
}

int remote_no_journal(const struct remote *remote)
{
	return cli_fail(remote->cli, CLI_ABSENT,
			"there is no journal in %s: drey has not run for %s yet",
			journal_store_place(remote->store), remote->config.application);
}

/* The journal could not be read. */
static int follow_unread(struct remote *remote, const struct remote_goal *goal, void *arg,
			 struct err *err)
{
	int status;

	if (remote->asked_ms) {
		remote_report(remote, err->msg);
		return CLIENT_CONTINUE;
	}
	if (err->kind == ERR_ABSENT)
		return goal->absent ? goal->absent(arg) : remote_no_journal(remote);
	status = remote_try_again(remote, err);
	return status == CLI_OK ? CLIENT_CONTINUE : status;
}

static int follow_once(struct remote *remote, const struct remote_goal *goal, void *arg)
{
	cleanup_journal struct journal journal = {0};
	struct err err = {0};

	return journal_store_read(remote->store, &journal, &err) == 0
		       ? goal->step(arg, &journal)
		       : follow_unread(remote, goal, arg, &err);
}

int remote_follow(struct remote *remote, const struct remote_goal *goal, void *arg)
{
	for (;;) {
		int status = follow_once(remote, goal, arg);

		if (status != CLIENT_CONTINUE)
			return status;
		if (remote->asked_ms && !remote->taken &&
		    clock_mono_ms() - remote->asked_ms > REMOTE_TAKE_MS) {
			cli_fail(
				remote->cli, CLI_ABSENT,
				"no drey has read the request: its Pod does not run, or cannot read ConfigMap %s; see `kubectl describe pod`",
				remote->setup.control);
			return goal->gives_up(arg, CLI_ABSENT);
		}
		if (!remote_left_ms(remote))
			return goal->gives_up(arg, CLI_TIMEOUT);
		remote_pause(remote);
	}
}

bool remote_scaled_away(const struct remote *remote)
{
	cleanup_workload struct workload workload = {0};

	if (!remote->setup.owner ||
	    workload_get(remote->kube, remote->setup.owner_kind, remote->setup.owner, OWNER_ASK_MS,
			 &workload, NULL, NULL) < 0)
		return false;
	return workload.suspended || workload.replicas == 0;
}

static int ask_map(struct remote *remote, const struct json *keys)
{
	cleanup_json struct json *patch = json_object();
	struct err err = {0};
	int status;

	json_add(patch, "data", json_copy(keys));
	while (configmap_patch(remote->kube, remote->setup.control, patch, NULL, NULL, &err) < 0) {
		if (err.kind == ERR_ABSENT)
			return cli_fail(remote->cli, CLI_ABSENT,
					"control ConfigMap %s does not exist; create it",
					remote->setup.control);
		if ((status = remote_try_again(remote, &err)) != CLI_OK)
			return status;
	}
	return CLI_OK;
}

int remote_ask(struct remote *remote, enum desired_key key, const char *value)
{
	cleanup_json struct json *keys = json_object();

	json_add_str(keys, desired_keys[key], value);
	if (remote->cli->command->config)
		return remote_ask_all(remote, keys);
	return ask_map(remote, keys);
}

/* A text that is a document there, too: `restore`. */
static void add_member(struct json *spec, const char *member, const char *text)
{
	struct json *doc =
		*text == '{' ? json_parse(text, strlen(text), strlen(text) + 1, NULL) : NULL;

	if (doc)
		json_add(spec, member, doc);
	else
		json_add_str(spec, member, text);
}

/* -1: there is none, or it cannot be read, which a person is told: it may take precedence. */
static int read_resource(const struct remote *remote, struct flinkapp *app)
{
	cleanup_kube_answer struct kube_answer answer = {0};
	struct err err = {0};
	int rc = flinkapp_get(remote->kube, remote->setup.resource, app, &answer, &err);

	if (rc < 0 && err.kind != ERR_ABSENT && !answer.path_unknown &&
	    remote->cli->command->config)
		cli_fail(
			remote->cli, 0,
			"FlinkApplication %s cannot be read; if its spec has the same member, that takes precedence: %s",
			remote->setup.resource, err.msg);
	return rc;
}

/* Of the keys those that the resource has. */
static int ask_resource(struct remote *remote, const struct json *keys)
{
	cleanup_json struct json *patch = json_object();
	struct json *spec = json_add_object(patch, "spec");
	cleanup_flinkapp struct flinkapp app = {0};
	const struct json *key;
	struct err err = {0};

	if (!remote->setup.resource || read_resource(remote, &app) < 0)
		return CLI_OK;
	json_each (key, keys) {
		int at = desired_key_find(json_name(key));
		const char *member = resource_desired_member((enum desired_key)at);

		if (json_kind(json_get(app.spec, member)) != JSON_NULL)
			add_member(spec, member, json_text(key));
	}
	if (!json_len(spec))
		return CLI_OK;
	if (flinkapp_patch(remote->kube, remote->setup.resource, patch, &err) < 0)
		return cli_fail(remote->cli, CLI_FAILED, "%s", err.msg);
	remote->asked_resource = true;
	return CLI_OK;
}

int remote_ask_all(struct remote *remote, const struct json *keys)
{
	int status;

	remote->asked_ms = clock_mono_ms();
	status = ask_map(remote, keys);
	return status == CLI_OK ? ask_resource(remote, keys) : status;
}

int remote_ask_state(struct remote *remote, enum desired_state state)
{
	cleanup_json struct json *keys = json_object();

	json_add_str(keys, desired_keys[DESIRED_KEY_STATE], desired_state_name(state));
	return remote_ask_all(remote, keys);
}

char *remote_asked_in(const struct remote *remote)
{
	bool resource = remote->asked_resource;

	return xasprintf("%s %s", resource ? "FlinkApplication" : "ConfigMap",
			 resource ? remote->setup.resource : remote->setup.control);
}

int remote_end_parked(const struct remote *remote, const char *why)
{
	bool skip = cli_has(remote->cli, "skip-parked");

	return cli_fail(remote->cli, skip ? CLI_OK : CLI_PARKED, "no job is running: %s%s", why,
			skip ? "; nothing to do" : "");
}

static int remote_open(struct remote *remote, struct err *err)
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

int remote_run(const struct cli *cli, remote_fn *work, void *arg)
{
	struct remote remote = {.cli = cli, .began_ms = clock_mono_ms()};
	struct err err = {0};
	int status;

	if (remote_open(&remote, &err) < 0)
		status = cli_config_fail(cli, &err);
	else
		status = work(&remote, arg);
	journal_store_free(remote.store);
	kube_free(remote.kube);
	setup_kube_release(&remote.setup);
	config_release(&remote.config);
	free(remote.reported);
	return status;
}
