/* kubectl drey logs, page: what goes through the kubelet, by the user's kubectl. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "cmd/plugin/app.h"
#include "cmd/plugin/kubectl.h"
#include "cmd/plugin/plugin.h"
#include "cmd/plugin/plugin_commands.h"
#include "kube/kube_target.h"

/* CLI_OK: the words as far as `verb`, and the workload is *ret_workload. Else the exit status. */
static int begin_kubectl(const struct cli *cli, const char *verb, struct kubectl *kubectl,
			 struct config *ret_config, char **ret_workload)
{
	struct err err = {0};

	if (cli_config(cli, ret_config, &err) < 0)
		return cli_config_fail(cli, &err);
	if (app_workload(ret_config, ret_workload, &err) < 0) {
		config_release(ret_config);
		return cli_fail(cli, CLI_USAGE, "%s", err.msg);
	}
	kubectl_begin(kubectl, cli, ret_config->kubernetes.target->namespace);
	kubectl_add(kubectl, verb);
	return CLI_OK;
}

/* ---- logs ---- */

static void add_given(struct kubectl *kubectl, const struct cli *cli, const char *option)
{
	const char *value = cli_value(cli, option);
	cleanup_free char *word = value ? xasprintf("--%s=%s", option, value) : NULL;

	kubectl_add(kubectl, word);
}

static int logs_run(const struct cli *cli)
{
	cleanup_free char *workload = NULL;
	struct kubectl kubectl;
	cleanup_config struct config config = {0};
	struct err err = {0};
	int status = begin_kubectl(cli, "logs", &kubectl, &config, &workload);

	if (status != CLI_OK)
		return status;
	kubectl_add(&kubectl, cli_has(cli, "follow") ? "--follow" : NULL);
	kubectl_add(&kubectl, cli_has(cli, "previous") ? "--previous" : NULL);
	add_given(&kubectl, cli, "container");
	add_given(&kubectl, cli, "tail");
	add_given(&kubectl, cli, "since");
	kubectl_add_names(&kubectl, workload, NULL);
	if (kubectl_exec(&kubectl, &err) < 0)
		status = cli_fail(cli, CLI_FAILED, "%s", err.msg);
	kubectl_release(&kubectl);
	return status;
}

static const struct cli_option logs_options[] = {
	PLUGIN_WHERE,
	{"follow", 'f', NULL, "keep printing, until Ctrl-C", false},
	{"previous", 'p', NULL, "of the container before the last restart", false},
	{"container", 'c', "NAME", "of this container", false},
	{"tail", 0, "N", "the last N lines", false},
	{"since", 0, "DURATION", "not older than that, for example 10m", false},
	CLI_END,
};

const struct cli_command plugin_logs = {
	.program = PLUGIN_PROGRAM,
	.name = "logs",
	.arguments = "NAME",
	.min_args = 1,
	.max_args = 1,
	.summary = "print the log of the JobManager's Pod, with drey in it",
	.description =
		"Runs `kubectl logs` for the Deployment or Job of the JobManager, with your kubectl ($KUBECTL, or\n"
		"the one in PATH).\n",
	.options = logs_options,
	.statuses = "2  wrong usage or configuration\n"
		    "5  there is no such application, or it cannot be read\n"
		    "   else that of kubectl\n",
	.example = "kubectl drey logs orders -n shop -f --tail 100\n",
	.run = logs_run,
	.config = plugin_config,
};

/* ---- page ---- */

/* A browser, where a person sits: it is not waited for. */
static void open_browser(const struct cli *cli, const char *url)
{
	static const char *const openers[] = {"xdg-open", "open"};
	pid_t pid;

	if (cli_has(cli, "no-open") || !out_is_terminal(cli->out))
		return;
	pid = fork();
	if (pid != 0)
		return;
	/* it is not ended by the Ctrl-C that ends the connection */
	setsid();
	signal(SIGINT, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	for (size_t i = 0; i < ARRAY_LEN(openers); i++)
		execlp(openers[i], openers[i], url, (char *)NULL);
	_exit(0);
}

/* Until kubectl ends: it prints a line for each connection. */
static void watch_forward(const struct cli *cli, FILE *from)
{
	char line[512], url[64];
	bool shown = false;

	while (fgets(line, sizeof(line), from)) {
		int port = kubectl_forwarded_port(line);

		if (!port || shown)
			continue;
		shown = true;
		snprintf(url, sizeof(url), "http://127.0.0.1:%d/", port);
		out_put(cli->out, "%s\n", url);
		out_flush(cli->out);
		open_browser(cli, url);
	}
}

static int forward(const struct cli *cli, const struct kubectl *kubectl)
{
	struct err err = {0};
	FILE *from = NULL;
	pid_t pid = 0, ended;
	int status = 0;

	if (kubectl_start(kubectl, &pid, &from, &err) < 0)
		return cli_fail(cli, CLI_FAILED, "%s", err.msg);
	/* Ctrl-C ends kubectl, and with it this */
	signal(SIGINT, SIG_IGN);
	watch_forward(cli, from);
	fclose(from);
	while ((ended = waitpid(-1, &status, 0)) >= 0 && ended != pid)
		;
	if (WIFSIGNALED(status))
		return CLI_OK;
	if (WEXITSTATUS(status) == 127)
		return cli_fail(cli, CLI_FAILED,
				"%s cannot be run; install it, or name it in $" KUBECTL_ENV,
				kubectl->words[0]);
	return WEXITSTATUS(status) ? CLI_FAILED : CLI_OK;
}

static int page_run(const struct cli *cli)
{
	cleanup_free char *workload = NULL, *ports = NULL;
	const char *local = cli_value(cli, "port");
	struct kubectl kubectl;
	cleanup_config struct config config = {0};
	int status;

	if (local && strspn(local, "0123456789") != strlen(local))
		return cli_fail(cli, CLI_USAGE, "--port %s: expected a number", local);
	status = begin_kubectl(cli, "port-forward", &kubectl, &config, &workload);
	if (status != CLI_OK)
		return status;
	ports = xasprintf("%s:%lld", local ? local : "", (long long)config.http.port);
	kubectl_add(&kubectl, "--address=127.0.0.1");
	kubectl_add_names(&kubectl, workload, ports);
	status = config.http.port ? forward(cli, &kubectl)
				  : cli_fail(cli, CLI_USAGE,
					     "%s has no page: http.port is 0 in its drey.yaml",
					     config.application);
	kubectl_release(&kubectl);
	return status;
}

static const struct cli_option page_options[] = {
	PLUGIN_WHERE,
	{"port", 'p', "PORT", "port on this machine (default: a free one)", false},
	{"no-open", 0, NULL, "print the address, and open no browser", false},
	CLI_END,
};

const struct cli_command plugin_page = {
	.program = PLUGIN_PROGRAM,
	.name = "page",
	.arguments = "NAME",
	.min_args = 1,
	.max_args = 1,
	.summary = "show the page of drey in a browser",
	.description =
		"Runs `kubectl port-forward` to the Pod of the JobManager, with your kubectl ($KUBECTL, or the one\n"
		"in PATH), prints the address, and on a terminal opens it in a browser (xdg-open or open). It\n"
		"stays until Ctrl-C. Only this machine can use the address.\n",
	.options = page_options,
	.statuses = "0  ended by Ctrl-C\n"
		    "1  no connection to the Pod, or it was lost\n"
		    "2  wrong usage or configuration\n"
		    "5  there is no such application, or it cannot be read\n",
	.example = "kubectl drey page orders -n shop\n",
	.run = page_run,
	.config = plugin_config,
};
