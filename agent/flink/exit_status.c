#include "flink/exit_status.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "base/words.h"

static const struct meaning {
	int status;
	enum flink_exit_kind kind;
	const char *text;
} meanings[] = {
	{0, FLINK_EXIT_ENDED, "the job finished, was stopped or was cancelled"},
	{1, FLINK_EXIT_STARTUP,
	 "Flink did not start: check its arguments, configuration, job class and ports"},
	{2, FLINK_EXIT_FATAL,
	 "fatal error in Flink (in 1.x also: main() threw, or the state could not be restored)"},
	{3, FLINK_EXIT_OOM, "Java ran out of memory"},
	{126, FLINK_EXIT_NOT_RUN, "the command cannot be executed"},
	{127, FLINK_EXIT_NOT_RUN, "the command was not found"},
	{129, FLINK_EXIT_TERMINATED, "ended by SIGHUP"},
	{130, FLINK_EXIT_TERMINATED, "ended by SIGINT"},
	{134, FLINK_EXIT_CRASHED, "the JVM aborted"},
	{137, FLINK_EXIT_KILLED, "killed with SIGKILL"},
	{139, FLINK_EXIT_CRASHED, "the JVM crashed"},
	{143, FLINK_EXIT_TERMINATED, "ended by SIGTERM"},
	{163, FLINK_EXIT_FAILED,
	 "the application failed (in 2.x also: main() threw, or the state could not be restored)"},
	{165, FLINK_EXIT_UNKNOWN, "Flink exited without knowing the state of its application"},
	{239, FLINK_EXIT_SAFEGUARD,
	 "Flink halted itself: an uncaught error, or it could not exit within 5 s of a signal"},
};

static const struct meaning *find_meaning(int status)
{
	for (size_t i = 0; i < ARRAY_LEN(meanings); i++)
		if (meanings[i].status == status)
			return &meanings[i];
	return NULL;
}

/* NULL: none that a JVM dies of. */
static const char *name_of_signal(int signo)
{
	static const char *const names[] = {
		[SIGHUP] = "HUP",   [SIGINT] = "INT",   [SIGQUIT] = "QUIT", [SIGILL] = "ILL",
		[SIGTRAP] = "TRAP", [SIGABRT] = "ABRT", [SIGBUS] = "BUS",   [SIGFPE] = "FPE",
		[SIGKILL] = "KILL", [SIGUSR1] = "USR1", [SIGSEGV] = "SEGV", [SIGUSR2] = "USR2",
		[SIGPIPE] = "PIPE", [SIGALRM] = "ALRM", [SIGTERM] = "TERM", [SIGXCPU] = "XCPU",
		[SIGXFSZ] = "XFSZ", [SIGIO] = "IO",     [SIGPWR] = "PWR",   [SIGSYS] = "SYS",
	};

	return signo > 0 && (size_t)signo < ARRAY_LEN(names) ? names[signo] : NULL;
}

static void explain_signal(struct flink_exit *ret, bool oom_killed)
{
	const char *name = name_of_signal(ret->signo);

	switch (ret->signo) {
	case SIGKILL:
		ret->kind = oom_killed ? FLINK_EXIT_OOM : FLINK_EXIT_KILLED;
		snprintf(ret->sentence, sizeof(ret->sentence), "%s",
			 oom_killed
				 ? "killed by the kernel: the container's memory limit was exceeded"
				 : "killed with SIGKILL");
		break;
	case SIGTERM:
	case SIGINT:
	case SIGHUP:
		ret->kind = FLINK_EXIT_TERMINATED;
		snprintf(ret->sentence, sizeof(ret->sentence),
			 "ended by SIG%s before Flink could handle it", name);
		break;
	default:
		ret->kind = FLINK_EXIT_CRASHED;
		if (name)
			snprintf(ret->sentence, sizeof(ret->sentence), "the JVM crashed with SIG%s",
				 name);
		else
			snprintf(ret->sentence, sizeof(ret->sentence),
				 "the JVM was ended by signal %d", ret->signo);
	}
}

struct flink_exit flink_exit_explain(int wait_status, bool oom_killed)
{
	struct flink_exit ret = {.kind = FLINK_EXIT_OTHER};
	const struct meaning *meaning;

	if (WIFSIGNALED(wait_status)) {
		ret.signo = WTERMSIG(wait_status);
		ret.status = 128 + ret.signo;
		explain_signal(&ret, oom_killed);
		return ret;
	}
	ret.status = WEXITSTATUS(wait_status);
	meaning = find_meaning(ret.status);
	if (meaning)
		ret.kind = meaning->kind;
	if (ret.kind == FLINK_EXIT_KILLED && oom_killed) {
		ret.kind = FLINK_EXIT_OOM;
		snprintf(
			ret.sentence, sizeof(ret.sentence),
			"exit status 137: killed by the kernel: the container's memory limit was exceeded");
	} else {
		snprintf(ret.sentence, sizeof(ret.sentence), "exit status %d: %s", ret.status,
			 meaning ? meaning->text : "no known exit status of Flink");
	}
	return ret;
}

static const char *const flink_exit_kind_words[] = {
	[FLINK_EXIT_ENDED] = "ended",
	[FLINK_EXIT_FAILED] = "failed",
	[FLINK_EXIT_UNKNOWN] = "unknown",
	[FLINK_EXIT_STARTUP] = "start-up",
	[FLINK_EXIT_FATAL] = "fatal",
	[FLINK_EXIT_SAFEGUARD] = "safeguard",
	[FLINK_EXIT_TERMINATED] = "terminated",
	[FLINK_EXIT_KILLED] = "killed",
	[FLINK_EXIT_OOM] = "oom",
	[FLINK_EXIT_CRASHED] = "crashed",
	[FLINK_EXIT_NOT_RUN] = "not-run",
	[FLINK_EXIT_OTHER] = "other",
};
WORDS_OF(flink_exit_kind_words, flink_exit_kind_name, enum flink_exit_kind, "other");
