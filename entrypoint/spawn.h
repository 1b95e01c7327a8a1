/*
 * spawn - fork and exec, with a reliable report of both.
 *
 * Both parent and child put the child into its own process group, so that a signal to the group
 * reaches it whichever runs first; the signal mask is restored last, with the original dispositions
 * in place, so that a SIGTERM which arrives before exec ends the child instead of vanishing. It
 * dies with drey-init (PR_SET_PDEATHSIG; cleared by the kernel if it execs a set-uid program).
 */
#ifndef DREY_ENTRYPOINT_SPAWN_H
#define DREY_ENTRYPOINT_SPAWN_H

#include <stdbool.h>
#include <sys/types.h>

struct spawn {
	char *const *argv; /* argv[0] is looked up in PATH of envp */
	char *const *envp;
	int fd3;         /* becomes descriptor 3 of the child; -1: none. Stays the caller's */
	int cwd_fd;      /* the directory to start in; -1: drey-init's own */
	bool foreground; /* hand over the terminal on standard input, if drey-init has it */
	bool null_stdin;
	int stdin_fd; /* becomes standard input; 0: none does. Stays the caller's */
};

/*
 * Returns the pid, or -1 with errno of pipe2(2) or fork(2). *ret_report: a non-blocking descriptor
 * for spawn_report(); the caller closes it.
 */
pid_t spawn(const struct spawn *spawn, int *ret_report);

enum spawn_state { SPAWN_PENDING, SPAWN_RUNNING, SPAWN_FAILED };

/* The result of the exec, as far as is known. SPAWN_FAILED: *ret_errno has the reason, the child
 * exits. */
enum spawn_state spawn_report(int report, int *ret_errno);

/* The exit status for a failed exec: 127 not found, 126 cannot be executed, 113 no memory or
 * files. */
int spawn_exit_status(int exec_errno);

#endif
