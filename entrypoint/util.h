/*
 * util - the clock, the one log line, and what else drey-init looks at outside itself. All best
 * effort: nothing here may stop or block the loop.
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
 * at once: a reader that is stuck must not hold up a SIGTERM. say_open() first, after the handlers
 * are in.
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
 * Send signo, and SIGCONT after a SIGTERM, to what is left but `spare` (0: nobody). To be called
 * again and again, `first` with the first call for each signal: a process whose parent dies becomes
 * our child only then. Nobody gets SIGTERM twice. As PID 1 with nobody to spare the whole namespace
 * is meant; otherwise our children, and `group` (0: none), the process group of a main child that
 * is gone, whose members are reached without /proc too.
 */
void orphans_signal(int signo, pid_t group, pid_t spare, bool first);

/* True if one of our children is in this group, which also proves that its number was not
 * reused. */
bool group_is_ours(pid_t group);

/* Kubernetes' termination message, if there is such a file and nobody has written to it. */
void termination_message(const char *text);

#endif
