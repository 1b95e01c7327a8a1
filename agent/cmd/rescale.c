#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cmd/client.h"
#include "cmd/commands.h"
#include "cmd/text.h"
#include "core/slots.h"

static const struct cli_option options[] = {
	CLI_CONFIG,
	CLI_JSON,
	CLI_WAIT,
	{"parallelism", 'p', "N", "of every vertex that --vertex does not name", false},
	{"vertex", 0, "UID=N",
	 "of one vertex, by the uid of its first operator or by its id;\n"
	 "without --parallelism the others stay as they are",
	 true},
	{"reset", 0, NULL, "back to the job's own parallelism", false},
	CLI_END,
};

/* 1 to RESCALE_MAX_PARALLELISM; 0: it is something else. */
static int64_t parse_number(const char *text)
{
	size_t len = strspn(text, "0123456789");
	long long value = len && len < 10 && !text[len] ? strtoll(text, NULL, 10) : 0;

	return value <= RESCALE_MAX_PARALLELISM ? value : 0;
}

static int bad_number(const struct cli *cli, const char *option, const char *text)
{
	return cli_fail(cli, CLI_USAGE, "%s: the parallelism must be 1 to %d, not '%s'", option,
			RESCALE_MAX_PARALLELISM, text);
}

static int add_vertex(const struct cli *cli, const char *text, struct parallelism *wanted)
{
	const char *end = strrchr(text, '=');
	cleanup_free char *name = end ? xstrndup(text, (size_t)(end - text)) : NULL;

	if (!name || !*name || strlen(name) > RESCALE_MAX_UID_BYTES)
		return cli_fail(cli, CLI_USAGE, "--vertex must be UID=N, not '%s'", text);
	if (!parse_number(end + 1))
		return bad_number(cli, text, end + 1);
	parallelism_set(wanted, name, parse_number(end + 1));
	return CLI_OK;
}

static int read_options(const struct cli *cli, struct parallelism *wanted)
{
	const char *values[CLI_MAX_REPEATS], *all = cli_value(cli, "parallelism");
	size_t count = cli_values(cli, "vertex", values);

	wanted->reset = cli_has(cli, "reset");
	wanted->merge = !all && !wanted->reset;
	if (wanted->reset && (all || count))
		return cli_fail(cli, CLI_USAGE, "--reset excludes --parallelism and --vertex");
	if (!wanted->reset && !all && !count)
		return cli_fail(cli, CLI_USAGE, "pass --parallelism N, --vertex UID=N or --reset");
	if (all && !(wanted->all = parse_number(all)))
		return bad_number(cli, "--parallelism", all);
	for (size_t i = 0; i < count; i++)
		if (add_vertex(cli, values[i], wanted) != CLI_OK)
			return CLI_USAGE;
	return CLI_OK;
}

struct rescaling {
	const struct parallelism *wanted;
	const char *nonce;
	bool warned; /* of too few slots */
};

/* The request is in force all the same: with more TaskManagers the job gets the rest. */
static void warn_of_slots(const struct cli *cli, const struct status_rescale *now,
			  struct rescaling *of)
{
	cleanup_free char *few =
		slots_short(now->slots_needed, now->slots_total, now->task_managers);

	if (!few || of->warned)
		return;
	out_put(cli->err,
		"drey rescale: there are too few slots for the parallelism: %s; the job runs with fewer subtasks until there are more: add TaskManagers\n",
		few);
	of->warned = true;
}

static int rescale_judge(struct client *client, void *arg)
{
	struct rescaling *of = arg;
	const char *nonce = of->nonce;
	struct status_rescale now;
	int stuck = client_stuck(client);

	if (stuck != CLIENT_CONTINUE)
		return stuck;
	status_view_rescale(client->status, &now);
	if (!strcmp(now.waiting, nonce))
		return CLIENT_CONTINUE;
	if (strcmp(now.nonce, nonce) != 0)
		return cli_fail(client->cli, CLI_FAILED,
				"another request has replaced this one; see `drey status`");
	if (!now.ok)
		return cli_fail(client->cli, CLI_FAILED, "refused, nothing was changed: %s",
				now.error);
	if (!strcmp(now.state, "reached") || !strcmp(now.state, "none"))
		return CLI_OK;
	warn_of_slots(client->cli, &now, of);
	client->progress = *now.missing ? now.missing : "Flink has accepted the parallelism";
	return CLIENT_CONTINUE;
}

static void print_rescaled(const struct client *client, void *arg)
{
	struct status_rescale now;

	(void)arg;
	status_view_rescale(client->status, &now);
	out_put(client->cli->out, "the job runs with %s parallelism%s%s\n",
		!strcmp(now.state, "none") ? "its own" : "the requested",
		*now.left_out ? ", except: " : "", now.left_out);
}

static int rescale_ask(struct client *client, void *arg)
{
	struct control_request request = {.command = COMMAND_RESCALE};
	struct rescaling *of = arg;
	const struct status_view *view = &client->view;
	cleanup_free char *nonce = NULL;
	int status = client_mark(client);

	if (status != CLI_OK)
		return status;
	if (!status_view_is(view, "Running") && !status_view_is(view, "Launching"))
		return cli_fail(client->cli,
				status_view_is(view, "Holding") ? CLI_HELD : CLI_PARKED,
				"no job is running (%s: %s); nothing was changed", view->phase,
				view->reason);
	if ((status = client_nonce(client->cli, &nonce)) != CLI_OK)
		return status;
	request.nonce = nonce;
	request.parallelism = *of->wanted;
	of->nonce = nonce;
	return client_do(
		client, &request,
		&(struct client_goal){
			"the parallelism", rescale_judge, of, print_rescaled, NULL,
			"the request remains in force; `drey rescale --reset` withdraws it"});
}

static int rescale_run(const struct cli *cli)
{
	struct parallelism wanted = {0};
	struct rescaling of = {.wanted = &wanted};
	int status = read_options(cli, &wanted);

	if (status == CLI_OK)
		status = client_run(cli, rescale_ask, &of);
	parallelism_release(&wanted);
	return status;
}

const struct cli_command cmd_rescale = {
	.name = "rescale",
	.summary = "change the parallelism of the running job, without a stop",
	.description =
		"Flink's adaptive scheduler (jobmanager.scheduler: adaptive) gives the running job another\n"
		"parallelism: it restarts the tasks from the newest checkpoint, under the same job id, when\n"
		"its cooldown is over. Waits until every vertex runs with it. With too few slots the job\n"
		"runs with fewer subtasks, and gets the rest when there are slots. The request stays in\n"
		"force: every later launch gets it again, also after an upgrade.\n",
	.options = options,
	.statuses =
		"0  the job runs with it\n"
		"1  refused, nothing was changed: Flink has another scheduler, the job has no such\n"
		"   vertex, or its maximum parallelism is lower\n"
		"2  wrong usage or configuration\n"
		"3  no job is running\n"
		"4  drey holds and reports why\n"
		"5  no running drey found, or it did not respond\n"
		"6  timed out; the request remains in force\n",
	.example = "drey rescale --parallelism 8 --vertex sink=2\n",
	.run = rescale_run,
};
