#include "cmd/join_child.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define STATUS_SIGNAL 128

/* A handler of the parent would write to the parent's loop. */
static void reset_handlers(void)
{
	for (int signo = 1; signo < NSIG; signo++)
		signal(signo, SIG_DFL);
}

/* Only what is safe between fork and exec: other threads may have had locks. */
static void child_exec(char *const *argv, pid_t parent, const sigset_t *mask)
{
	static const char not_found[] = "drey join: the command was not found\n";
	static const char refused[] = "drey join: the command cannot be executed\n";
	bool absent;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent) /* died before the line above */
		_exit(STATUS_SIGNAL + SIGKILL);
	setpgid(0, 0);
	reset_handlers();
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(argv[0], argv);
	absent = errno == ENOENT || errno == ENOTDIR;
	if (write(STDERR_FILENO, absent ? not_found : refused,
		  absent ? sizeof(not_found) - 1 : sizeof(refused) - 1) < 0)
		_exit(JOIN_CHILD_NOT_EXECUTABLE);
	_exit(absent ? JOIN_CHILD_NOT_FOUND : JOIN_CHILD_NOT_EXECUTABLE);
}

pid_t join_child_start(char *const *argv, struct err *err)
{
	pid_t parent = getpid(), pid;
	sigset_t all, before;
	int sys;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	pid = fork();
	sys = errno;
	if (!pid)
		child_exec(argv, parent, &before);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (pid < 0)
		return err_set(err, ERR_SYS, sys, "fork");
	setpgid(pid, pid); /* fails after the exec of the child, which has then done it itself */
	return pid;
}

void join_child_signal(pid_t pid, int signo)
{
	if (signo == SIGKILL && kill(-pid, SIGKILL) == 0)
		return;
	kill(pid, signo);
	if (signo == SIGTERM || signo == SIGINT)
		kill(pid, SIGCONT);
}

bool join_child_ended(pid_t pid, int *ret_exit_status)
{
	siginfo_t info = {0};

	if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid != pid)
		return false;
	*ret_exit_status =
		info.si_code == CLD_EXITED ? info.si_status : STATUS_SIGNAL + info.si_status;
	return true;
}

void join_child_reap(pid_t pid, bool sweep)
{
	if (sweep)
		kill(-pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}
