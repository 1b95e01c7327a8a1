/*
 * init - the state of drey-init, and how it handles input: messages from the agent, deaths,
 * signals. What is due by time is in main.c.
 */
#ifndef DREY_ENTRYPOINT_INIT_H
#define DREY_ENTRYPOINT_INIT_H

#include <stdbool.h>
#include <stdint.h>

#include "agent.h"
#include "child.h"
#include "options.h"
#include "spare.h"
#include "stop.h"

#define INIT_REASON_BYTES 200

struct init {
	const struct options *opt;
	struct child child;
	struct agent agent;
	struct agent_launch launch; /* see init_launch_in_use() */
	struct spare spare;
	bool waits_for_spare;     /* a launch does: until it goes, or is gone */
	int64_t spare_give_up_ms; /* ... or until then */
	struct stop stop;
	unsigned done; /* enum stop_action */
	int stop_signo;
	int exit_status;  /* requested by the agent, or known otherwise; -1: none */
	int agent_status; /* the agent has exited for good with this; -1: it has not */
	int cwd_fd;
	bool more_to_reap;
	int64_t lease_ms;               /* the main child is killed then; 0 = never */
	pid_t lease_killed;             /* the child for which this was logged */
	char reason[INIT_REASON_BYTES]; /* why drey-init exits, if that needs an explanation */
};

/* The first message to an agent: what is running and what ended last. */
struct link_msg init_hello(const struct init *init);

void init_send_launch_failed(struct init *init, int launch_errno, int64_t now_ms);
void init_send_started(struct init *init, uint32_t flags, int64_t now_ms);

/* A LAUNCH has not been carried out yet, and its strings and its descriptor are needed. */
bool init_launch_in_use(const struct init *init);

/* Read what the spare has written. */
void init_read_spare(struct init *init, int64_t now_ms);

/* Do what is due for the spare. Returns when to check again. */
int64_t init_spare(struct init *init, int64_t now_ms);

/* Read what is waiting on the agent's link. */
void init_receive(struct init *init, int64_t now_ms);
void init_release_launch_fd(struct init *init);

/* Kill the main child when the agent's lease has expired, repeatedly. Returns when to check
 * again. */
int64_t init_lease(struct init *init, int64_t now_ms);

/* Wait for every child that has died; the only place that does. stop.left: any is
 * left. */
void init_reap(struct init *init, int64_t now_ms);

/* Act on the signals that have arrived; first on SIGCHLD. */
void init_on_signals(struct init *init, int64_t now_ms);

#endif
