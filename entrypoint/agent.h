/*
 * agent - the agent process and the link to it (link.h).
 *
 * The agent may hang, crash, flood or send garbage: sends never block, an agent whose socket is
 * full or whose packets are invalid is killed, and a dead one is restarted after 100 ms, doubling
 * to 30 s; the delay starts over once an agent has lived for 60 s.
 *
 * Life cycle: agent_init() -> agent_tick() whenever agent_wake_ms() has come -> agent_receive()
 * when its link is readable, agent_reaped() when it is dead.
 */
#ifndef DREY_ENTRYPOINT_AGENT_H
#define DREY_ENTRYPOINT_AGENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "entrypoint/link.h"
#include "spawn.h"

struct agent {
	struct spawn spawn; /* fd3 is set by agent_tick() */
	pid_t pid;          /* 0: not running */
	int link;           /* -1: none */
	int report;         /* see spawn_report() */
	int64_t start_ms;   /* when to start it; STOP_NEVER: not now */
	int64_t kill_ms;    /* when to kill it; STOP_NEVER: not now */
	int64_t started_ms, backoff_ms;
	uint32_t starts;
	bool wrong_version; /* it uses another LINK_VERSION: restarting it would not help */
};

/* One LAUNCH or SPARE, unpacked in place. */
struct agent_launch {
	char *vec[LINK_STRINGS_MAX + 2]; /* argv, NULL, environment, NULL */
	char text[LINK_PACKET_MAX_BYTES - sizeof(struct link_msg) + 1];
	char *const *argv, *const *envp;
	int fd; /* sent along with it, -1: none; the caller closes it */
};

enum agent_event { AGENT_NOTHING, AGENT_MESSAGE };

void agent_init(struct agent *agent, char *const *argv, char *const *envp, int cwd_fd);

/*
 * Start or kill it if that is due. A failed start is retried later. The first message on the new
 * link is *hello, which is completed here.
 */
void agent_tick(struct agent *agent, struct link_msg *hello, int64_t now_ms);

int64_t agent_wake_ms(const struct agent *agent);

/* Send; a full or broken link makes the agent's end due. Without a link nothing happens. */
void agent_send(struct agent *agent, struct link_msg *msg, int64_t now_ms);

/*
 * Take one packet. AGENT_MESSAGE: *ret_msg is of our version, and of a known type. For LINK_LAUNCH
 * and LINK_SPARE *launch is filled; if it cannot be, ret_msg->sys_errno is set. `launch` NULL: the
 * previous one is still in use, and the caller answers both with EBUSY.
 */
enum agent_event agent_receive(struct agent *agent, struct link_msg *ret_msg,
			       struct agent_launch *launch, int64_t now_ms);

/* The agent is dead. *ret_exec_errno: why exec failed, 0 if it did not. */
void agent_reaped(struct agent *agent, int64_t now_ms, int *ret_exec_errno);

#endif
