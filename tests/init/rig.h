/*
 * rig - runs the real drey-init, feeds it signals and reads what comes of it. Waits are on conditions,
 * with RIG_LIMIT_MS as the point where a test gives up.
 */
#ifndef DREY_TESTS_INIT_RIG_H
#define DREY_TESTS_INIT_RIG_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "entrypoint/link.h"
#include "tests/unit/tap.h"

#define RIG_LIMIT_MS  120000 /* for whatever has to happen at all */
#define RIG_OUT_BYTES (1 << 20)

struct rig {
	pid_t pid;  /* drey-init, as this process sees it */
	int out;    /* what it and its children print, on stdout and stderr */
	char *text; /* read so far */
	size_t text_bytes;
	int64_t started_ms;
	/* a fake agent, after rig_agent() */
	char socket[108];
	int listener, control, link;
	pid_t agent; /* as this process sees it */
};

/* What is done in the process that becomes drey-init, before exec. 0, or a reason to skip. */
typedef const char *rig_prepare(void *arg);

int64_t rig_now_ms(void);

/*
 * What has to be soon is late now and then on a loaded machine: run() is repeated until it has taken
 * less than limit_ms, at most RIG_TRIES times. Returns the shortest; what is wrong is late each time.
 */
#define RIG_TRIES 8
int64_t rig_best_ms(int64_t (*run)(void), int64_t limit_ms);

/* True for a drey-init with sanitizers in it, which wants more memory and /proc. */
bool rig_sanitized(void);

/* The helper that plays every child: see puppet.c. */
const char *rig_puppet(void);

/*
 * Starts drey-init with these arguments. False: the machine cannot do what `prepare` needs, and the test
 * has been marked as skipped.
 */
bool rig_start(struct rig *rig, rig_prepare *prepare, void *arg, const char *const *argv);
#define RIG_START(rig, ...) rig_start(rig, NULL, NULL, (const char *const[]){__VA_ARGS__, NULL})
#define RIG_START_IN(rig, prepare, arg, ...)                                                       \
	rig_start(rig, prepare, arg, (const char *const[]){__VA_ARGS__, NULL})

/* PID 1 of a new pid namespace with a /proc of its own; `arg` of RIG_START_IN is another rig_prepare. */
bool rig_start_pid1(struct rig *rig, rig_prepare *prepare, const char *const *argv);
#define RIG_START_PID1(rig, ...) rig_start_pid1(rig, NULL, (const char *const[]){__VA_ARGS__, NULL})

/* Wait until the output holds this text; false when drey-init ended or the limit was reached first. */
bool rig_says(struct rig *rig, const char *text);
int rig_count(struct rig *rig, const char *text);

/* The number that follows `label` in the output; -1 without one. */
long rig_number(struct rig *rig, const char *label);

/* Wait for the end: the exit status, 1000 + n if signal n killed it, -1 (and it is killed) at the limit. */
int rig_wait(struct rig *rig);

/* True once pid does not exist any more. */
bool rig_gone(pid_t pid);

/* True if the process reaches this state letter of /proc/PID/stat. */
bool rig_state(pid_t pid, char state);

/* How many descriptors it has. */
int rig_open_files(pid_t pid);

/* ---- as the agent ---- */

/* Starts drey-init --agent with a fake agent, and gets hold of its link. Options before "--", or NULL. */
bool rig_agent(struct rig *rig, rig_prepare *prepare, void *arg, bool pid1,
	       const char *const *options);
#define RIG_AGENT(rig, ...)                                                                        \
	rig_agent(rig, NULL, NULL, false, (const char *const[]){__VA_ARGS__, NULL})

/* Waits for the (next) fake agent to report. */
bool rig_next_agent(struct rig *rig);

/* Lets the fake agent do: "exit N", "close" (its link), "ignore" (SIGTERM). */
void rig_tell_agent(struct rig *rig, const char *what);

/* The next packet from drey-init; false at the limit or when the link is closed. */
bool rig_recv(struct rig *rig, struct link_msg *ret);

/* The next packet must be of this type. */
bool rig_expect(struct rig *rig, enum link_type type, struct link_msg *ret);

void rig_send(struct rig *rig, enum link_type type, int signo, int exit_status, uint32_t flags);

/* LAUNCH of a puppet with these arguments; fd -1: none travels. */
void rig_launch(struct rig *rig, const char *id, int fd, const char *const *argv);
/* LAUNCH or SPARE with what `head` has: type, ids, flags. */
void rig_send_packed(struct rig *rig, const struct link_msg *head, int fd, const char *const *argv);
#define RIG_LAUNCH(rig, id, ...)                                                                   \
	rig_launch(rig, id, -1, (const char *const[]){rig_puppet(), __VA_ARGS__, NULL})

#endif
