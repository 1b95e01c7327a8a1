/*
 * util - the clock, the log line, and what else drey-init reads from or does to its surroundings.
 * All best effort: nothing here may stop or block the loop.
 */
#ifndef DREY_ENTRYPOINT_UTIL_H
#define DREY_ENTRYPOINT_UTIL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

int64_t clock_ms(void);      /* monotonic */
int64_t clock_unix_ms(void); /* wall; only for messages to people and the agent */

/*
 * One line "drey-init: ..." on standard error, at most 400 bytes. Dropped when it cannot be written
 * immediately: a stuck reader must not delay a SIGTERM. Call say_open() first, after the handlers
 * are installed.
 */
void say_open(bool verbose);
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void say_more(const char *fmt, ...) __attribute__((format(printf, 1, 2))); /* only with -v */

/* Descriptors 0-2 exist afterwards, all others are closed. */
void fds_tidy(void);

/*
 * How many processes the kernel has OOM-killed in our cgroup: oom_kill of memory.events, cgroup v2.
 * -1 when it cannot be read.
 */
int64_t oom_kills(void);

/*
 * How willingly the kernel kills a process when memory runs out: our own value, and the value of a
 * child. False if it cannot be set, or if /proc is that of another pid namespace.
 */
int oom_score(void);
bool oom_score_set(pid_t pid, int score);

/*
 * Send signo, and SIGCONT after a SIGTERM, to everything that is left except `keep` (0: none).
 * Call it repeatedly, `first` with the first call for each signal: a process becomes our child only
 * when its parent dies. No process gets SIGTERM twice. As PID 1 without `keep` it addresses the
 * whole namespace; otherwise our children, and `group` (0: none), the process group of a main child
 * that has ended, whose members are reached even without /proc.
 */
void orphans_signal(int signo, pid_t group, pid_t keep, bool first);

/* True if one of our children is in this group, which also proves that its number was not
 * reused. */
bool group_is_ours(pid_t group);

/* Write Kubernetes' termination message, if that file exists and is still empty. */
void termination_message(const char *text);

#endif
