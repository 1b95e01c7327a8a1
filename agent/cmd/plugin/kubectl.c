#include "cmd/plugin/kubectl.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/mem.h"

#define NOT_FOUND 127

void kubectl_add(struct kubectl *kubectl, const char *word)
{
	if (!word)
		return;
	if (kubectl->count == KUBECTL_WORDS)
		abort();
	kubectl->words[kubectl->count++] = xstrdup(word);
}

void kubectl_add_names(struct kubectl *kubectl, const char *first, const char *second)
{
	kubectl_add(kubectl, "--");
	kubectl_add(kubectl, first);
	kubectl_add(kubectl, second);
}

static void add_groups(struct kubectl *kubectl, const struct cli *cli)
{
	const char *groups[CLI_MAX_REPEATS];
	size_t count = cli_values(cli, "as-group", groups);

	for (size_t i = 0; i < count; i++) {
		cleanup_free char *word = xasprintf("--as-group=%s", groups[i]);

		kubectl_add(kubectl, word);
	}
}

void kubectl_begin(struct kubectl *kubectl, const struct cli *cli, const char *namespace)
{
	const char *program = getenv(KUBECTL_ENV);
	static const char *const options[] = {"kubeconfig", "context", "as"};

	*kubectl = (struct kubectl){0};
	kubectl_add(kubectl, program && *program ? program : "kubectl");
	for (size_t i = 0; i < ARRAY_LEN(options); i++) {
		const char *value = cli_value(cli, options[i]);
		cleanup_free char *word = value ? xasprintf("--%s=%s", options[i], value) : NULL;

		kubectl_add(kubectl, word);
	}
	add_groups(kubectl, cli);
	kubectl_add(kubectl, "--namespace");
	kubectl_add(kubectl, namespace);
}

void kubectl_release(struct kubectl *kubectl)
{
	for (size_t i = 0; i < kubectl->count; i++)
		free(kubectl->words[i]);
	*kubectl = (struct kubectl){0};
}

static int fail_exec(const char *program, int sys, struct err *err)
{
	return err_set(err, sys == ENOENT ? ERR_ABSENT : ERR_SYS, sys,
		       "%s cannot be run; install it, or name it in $" KUBECTL_ENV, program);
}

int kubectl_exec(const struct kubectl *kubectl, struct err *err)
{
	/* main() ignores it, and that would be inherited */
	signal(SIGPIPE, SIG_DFL);
	execvp(kubectl->words[0], kubectl->words);
	return fail_exec(kubectl->words[0], errno, err);
}

static void run_child(const struct kubectl *kubectl, int out, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent || dup2(out, STDOUT_FILENO) < 0)
		_exit(NOT_FOUND);
	signal(SIGPIPE, SIG_DFL);
	execvp(kubectl->words[0], kubectl->words);
	_exit(NOT_FOUND);
}

int kubectl_start(const struct kubectl *kubectl, pid_t *ret_pid, FILE **ret_out, struct err *err)
{
	pid_t parent = getpid(), pid;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_set(err, ERR_SYS, errno, "pipe");
	pid = fork();
	if (pid == 0)
		run_child(kubectl, ends[1], parent);
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return err_set(err, ERR_SYS, errno, "fork");
	}
	*ret_pid = pid;
	*ret_out = fdopen(ends[0], "r");
	if (!*ret_out)
		abort();
	return 0;
}

int kubectl_forwarded_port(const char *line)
{
	static const char head[] = "Forwarding from 127.0.0.1:";
	char *end;
	long port;

	if (strncmp(line, head, strlen(head)) != 0)
		return 0;
	port = strtol(line + strlen(head), &end, 10);
	return !strncmp(end, " -> ", 4) && port > 0 && port <= 65535 ? (int)port : 0;
}
