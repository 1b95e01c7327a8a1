/*
 * init_link - the agent's end of the link to drey-init (entrypoint/link.h).
 *
 * Life cycle: init_link_open() -> callbacks on the loop -> init_link_free(). Sends never block: a
 * link that does not accept a packet is broken, because drey-init reads constantly.
 */
#ifndef DREY_RUN_INIT_LINK_H
#define DREY_RUN_INIT_LINK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/loop.h"
#include "entrypoint/link.h"

struct init_link;

/*
 * A message from drey-init, borrowed for the call; NULL: the link is broken (drey-init has ended).
 * On the wire a launch id is "<job id>-<number of the launch>"; here launch_id and last_launch_id
 * are the job ids, and argc and envc, which these messages do not use, the numbers; 0 = not known.
 */
typedef void init_link_fn(void *arg, const struct link_msg *msg);

/* Take over the descriptor that the environment names (and remove it from the environment, so that
 * no process we start assumes that it has a link). ERR_CONFIG: not started by drey-init; the
 * message says how to start it. */
struct init_link *init_link_open(struct loop *loop, init_link_fn *fn, void *arg, struct err *err);
void init_link_free(struct init_link *link); /* NULL is allowed */

/* What drey-init is to execute. Everything is borrowed. */
struct init_link_launch {
	const char *job_id; /* of a spare: its own id */
	int64_t number;     /* of the launch; 0 = none */
	char *const *argv;  /* NULL-terminated, like env */
	char *const *env;
	int lock_fd; /* sent along; -1 = none; stays the caller's */
	/* The spare that it becomes, if that works; drey-init otherwise starts it without. NULL = none */
	const char *spare;
	uint32_t spare_argc; /* so many words of argv the spare has already */
};

/* Does it fit into one packet? */
bool init_link_fits(size_t packed_bytes, size_t strings);

/* ERR_CONFIG: it is too large for one packet; the message says so. */
int init_link_launch(struct init_link *link, const struct init_link_launch *launch,
		     struct err *err);
/* Start a spare; drey-init kills it if it is not ready at until_ms (clock_mono_ms()). Only to a
 * drey-init that LINK_TAKES_SPARE, like the next one: SIGKILL to it. */
int init_link_spare(struct init_link *link, const struct init_link_launch *spare, int64_t until_ms,
		    struct err *err);
int init_link_spare_end(struct init_link *link, const char *id, struct err *err);
int init_link_signal(struct init_link *link, const char *launch_id, int signo, bool group,
		     struct err *err);
/* SIGKILL to Flink at until_ms (clock_mono_ms()), unless the lease is renewed; 0 = never. */
int init_link_lease(struct init_link *link, int64_t until_ms, struct err *err);
int init_link_stop_ack(struct init_link *link, struct err *err);
int init_link_exit(struct init_link *link, int status, struct err *err);

#endif
