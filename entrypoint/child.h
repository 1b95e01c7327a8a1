/*
 * child - the main child: the command itself, or what the agent launched. There is one at a time.
 *
 * Life cycle: child_want() -> child_try() until it is forked (EAGAIN and ENOMEM are waited out) ->
 * child_check() until exec has succeeded or failed -> child_reaped(). A spare is adopted instead, by
 * child_adopt(). Its pid is signalled only
 * while it has not been reaped, so a signal can never hit an unrelated process.
 */
#ifndef DREY_ENTRYPOINT_CHILD_H
#define DREY_ENTRYPOINT_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "entrypoint/link.h"
#include "spawn.h"

enum child_state {
	CHILD_NONE,     /* nothing runs */
	CHILD_WANTED,   /* to be forked, perhaps again */
	CHILD_STARTING, /* forked; exec not finished */
	CHILD_RUNNING,
};

struct child {
	enum child_state state;
	struct spawn spawn;
	pid_t pid;
	int report;     /* see spawn_report(); -1 once it has been read */
	int exec_errno; /* why exec failed, 0: it did not */
	char launch_id[LINK_LAUNCH_ID_BYTES];
	int64_t since_unix_ms;
	int64_t oom_before;
	int64_t retry_ms, give_up_ms; /* CHILD_WANTED, monotonic */
	int retries;
	bool ever; /* something has been forked before */

	/* The one that ended last. */
	pid_t last_pid; /* 0: none */
	int last_wait_status;
	bool last_oom;
	int64_t last_since_unix_ms, last_ended_unix_ms;
	char last_launch_id[LINK_LAUNCH_ID_BYTES];
	/* The remaining processes in its group. */
	pid_t group;           /* 0: nothing */
	int64_t group_kill_ms; /* STOP_NEVER: not sent SIGTERM yet */
};

/* Ask for a start; everything that `spawn` points to is borrowed until the fork has worked. */
void child_want(struct child *child, const struct spawn *spawn, int64_t give_up_ms);

/*
 * Fork if it is time. 0: forked, or not yet; -1 with errno: gave up, nothing was started.
 * Retries after 10 ms doubling to 1 s.
 */
int child_try(struct child *child, int64_t now_ms);

/* A process that exists already becomes the child, as what was asked for with launch_id. */
void child_adopt(struct child *child, pid_t pid, const char *launch_id);

/* True once, when exec is known to have succeeded. If it has failed, exec_errno has the reason. */
bool child_check(struct child *child);

/* The child's wait status has been taken. A child whose exec failed does not become the last
 * one. */
void child_reaped(struct child *child, int wait_status);

/*
 * Send a signal to the child or to its whole group; nothing happens when there is none. SIGTERM and
 * SIGINT are followed by SIGCONT: a stopped process cannot act on them.
 */
void child_signal(const struct child *child, int signo, bool group);

/* A process that exists: forked and not reaped. */
bool child_alive(const struct child *child);

/* SIGTERM to what the last child left in its process group, SIGKILL after 5 s or `at_once`. */
void child_term_group(struct child *child, int64_t now_ms);
void child_kill_group(struct child *child, int64_t now_ms, bool at_once);

#endif
