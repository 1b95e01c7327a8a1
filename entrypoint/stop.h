/*
 * stop - what is due when, while drey-init stops its processes.
 *
 * Pure: the time and all facts are arguments, the result is what to do. One table in
 * stop.c has one row for each action and says when it falls due; the loop in main.c performs it
 * once.
 *
 * With a grace period of G, counted from the first SIGTERM or SIGINT (margin = G/10, at most 3 s):
 *
 * Without an agent:
 *   0             stop signal and SIGCONT to the child
 *   G - margin    SIGKILL to the child's group, then to everything else that is left
 *   G - margin/4  drey-init exits, whatever is left
 *
 * With an agent:
 *   0             STOPPING to the agent
 *   min(2 s, G/10), or when the agent is dead or hung
 *                 no STOP_ACK yet: stop signal and SIGCONT to the child
 *   G - jvm       STOP_ACK received, child still alive: the same (jvm = G/3, at most 10 s)
 *   G - margin    SIGKILL to the child's group, then to everything else that is left except the
 *                 agent, which gets SIGTERM
 *   G - margin/2  SIGKILL to the agent
 *   G - margin/4  drey-init exits, whatever is left
 *
 * Once the main child has ended, its orphans get SIGTERM immediately and SIGKILL after G/3, at most
 * 10 s.
 */
#ifndef DREY_ENTRYPOINT_STOP_H
#define DREY_ENTRYPOINT_STOP_H

#include <stdbool.h>
#include <stdint.h>

#define STOP_NEVER          INT64_MAX
#define STOP_MARGIN_MAX_MS  3000
#define STOP_ACK_MAX_MS     2000
#define STOP_JVM_MAX_MS     10000
#define STOP_ORPHANS_MAX_MS 10000
/* How long an agent may take to exit after EXIT or SIGTERM. */
#define STOP_AGENT_LEAVE_MS 2000

enum stop_action {
	STOP_TELL_AGENT = 1 << 0,   /* send STOPPING */
	STOP_TERM_CHILD = 1 << 1,   /* the stop signal, followed by SIGCONT */
	STOP_KILL_CHILD = 1 << 2,   /* SIGKILL to its process group */
	STOP_TERM_ORPHANS = 1 << 3, /* everything except the main child and the agent */
	STOP_KILL_ORPHANS = 1 << 4,
	STOP_TERM_AGENT = 1 << 5,
	STOP_KILL_AGENT = 1 << 6,
	STOP_FINISH = 1 << 7, /* exit now */
};

/* Everything a decision depends on. Times are monotonic, STOP_NEVER = has not happened. */
struct stop {
	int64_t grace_ms;  /* 0: no deadline */
	int64_t asked_ms;  /* the first SIGTERM or SIGINT */
	int64_t ending_ms; /* the main child has ended and drey-init follows it */
	bool child;        /* the main child is alive */
	bool agent;        /* the agent process is alive */
	bool link;         /* ... and takes messages */
	bool left;         /* any child process is left, the agent included */
	bool acked;        /* the agent has taken charge of the stop */
	bool exit_asked;   /* the agent has sent EXIT */
	int64_t exit_ms;   /* ... at this time */
	bool forced;       /* a person at the terminal has pressed Ctrl-C again */
};

/*
 * The actions that are due at now_ms and not in `done` (a set of enum stop_action).
 * *ret_next_ms: when the next one falls due, STOP_NEVER if none will without new input.
 */
unsigned stop_due(const struct stop *stop, unsigned done, int64_t now_ms, int64_t *ret_next_ms);

/* What is left of the grace period, 0 when it is used up; -1 without a deadline. */
int64_t stop_grace_left_ms(const struct stop *stop, int64_t now_ms);

#endif
