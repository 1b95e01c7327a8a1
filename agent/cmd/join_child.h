/*
 * join_child - the TaskManager as the child of `drey join`.
 *
 * It is the leader of its own process group, has the signal mask and descriptors of its parent and
 * default signal handlers, and gets SIGKILL when its parent dies.
 *
 * Life cycle: join_child_start() -> join_child_ended() at each SIGCHLD, until it is true ->
 * join_child_reap().
 */
#ifndef DREY_CMD_JOIN_CHILD_H
#define DREY_CMD_JOIN_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

#define JOIN_CHILD_NOT_EXECUTABLE 126 /* exit statuses, if argv[0] cannot be executed */
#define JOIN_CHILD_NOT_FOUND      127

/* The pid. From the main thread: the child dies with the thread that started it. -1: no process
 * (ERR_SYS). */
pid_t join_child_start(char *const *argv, struct err *err);

/* SIGKILL goes to its whole group. A stopped child gets SIGCONT with SIGTERM and SIGINT. */
void join_child_signal(pid_t pid, int signo);

/* Has it ended? Its exit status, 128 + n for signal n. Its pid stays reserved. */
bool join_child_ended(pid_t pid, int *ret_exit_status);

/* It has ended. `sweep`: first kill what is left of its group. */
void join_child_reap(pid_t pid, bool sweep);

#endif
