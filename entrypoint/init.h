/*
 * init - everything drey-init knows, and what it makes of what comes in: messages of the agent,
 * deaths, signals. What it does of itself, when time passes, is in main.c.
 */
#ifndef DREY_ENTRYPOINT_INIT_H
#define DREY_ENTRYPOINT_INIT_H

#include <stdbool.h>
#include <stdint.h>

#include "agent.h"
#include "child.h"
#include "options.h"
#include "stop.h"

#define INIT_REASON_BYTES 200

struct init {
	const struct options *opt;
	struct child child;
	struct agent agent;
	struct agent_launch launch; /* in use while child.state is CHILD_WANTED */
	struct stop stop;
	unsigned done; /* enum stop_action */
	int stop_signo;
	int exit_status;  /* asked for by the agent, or known otherwise; -1: none */
	int agent_status; /* the agent has ended for good with this; -1: it has not */
	int cwd_fd;
	bool more_to_reap;
	int64_t lease_ms;               /* the main child is killed then; 0 = never */
	pid_t lease_killed;             /* the child that this was said of */
	char reason[INIT_REASON_BYTES]; /* why we end, if it needs an explanation */
};

/* The first message to an agent: what runs now and what has ended last. */
struct link_msg init_hello(const struct init *init);

void init_tell_launch_failed(struct init *init, int launch_errno, int64_t now_ms);
void init_tell_started(struct init *init, int64_t now_ms);

/* Take what is waiting on the agent's link. */
void init_receive(struct init *init, int64_t now_ms);
void init_release_launch_fd(struct init *init);

/* Kill the main child when the agent's lease has run out, again and again. Returns when to look again. */
int64_t init_lease(struct init *init, int64_t now_ms);

/* Wait for every child that has died; the only place that does. stop.left tells if any is left. */
void init_reap(struct init *init, int64_t now_ms);

/* Act on the signals that have arrived; first on SIGCHLD. */
void init_on_signals(struct init *init, int64_t now_ms);

#endif
