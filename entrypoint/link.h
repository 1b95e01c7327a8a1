/*
 * link - the protocol between drey-init and the agent.
 *
 * One SOCK_SEQPACKET socketpair; the agent finds its end's number in the environment variable
 * DREY_INIT_FD and sets FD_CLOEXEC on it first thing. One message = one packet = struct link_msg,
 * for LINK_LAUNCH followed by packed strings. Both ends are on one machine, integers are native.
 * All messages carry LINK_VERSION first. An agent that meets another version exits with 2;
 * drey-init kills an agent that speaks another version and, if nothing was ever launched, exits
 * with 114.
 *
 * The messages, in the order of a life:
 *   init  -> HELLO     once for every agent that starts: what is running and what ended last
 *   agent -> LAUNCH    start the main child; answered by STARTED or LAUNCH_FAILED, always
 *   init  -> STARTED   exec(2) has succeeded (not only fork)
 *   init  -> LAUNCH_FAILED
 *                      sys_errno of fork or exec; EBUSY: one is running or starting; ECANCELED: a
 *                      stop or EXIT is under way; EINVAL, E2BIG: the packet is wrong
 *   agent -> SIGNAL    to the main child (or its process group); SIGTERM and SIGINT are followed by
 *                      SIGCONT. Without a main child nothing happens
 *   init  -> EXITED    waitpid(2) has returned the main child's status: it is proven dead. What it
 *                      left in its process group has been sent SIGTERM; SIGKILL follows after 5 s,
 *                      or with the next LAUNCH
 *   init  -> STOPPING  once: the container is being stopped; grace_left_ms until the end
 *   agent -> STOP_ACK  the agent has taken charge of the stop. Without it drey-init sends SIGTERM
 *                      to the main child itself after the agent's share (a tenth of the grace, at
 *                      most 2 s); with it, when only the JVM's share is left (a third, 10 s at
 *                      most)
 *   agent -> LEASE     SIGKILL to the main child's process group at until_ms, even if the agent is
 *                      dead by then, unless another LEASE has extended it; a later LAUNCH fails
 *                      with ETIME. It outlives the agent. Only to a drey-init whose HELLO has
 *                      LINK_TAKES_LEASE; without a LEASE, or with until_ms 0, nothing ever expires
 *   agent -> EXIT      end with this status once no main child is left; the agent then exits on its
 *                      own (SIGTERM after 2 s, SIGKILL after 2 more)
 *
 * The spare is a second child that waits, started and warm, to become the main child (see the end
 * of this file). Only to a drey-init whose HELLO has LINK_TAKES_SPARE:
 *   agent -> SPARE     start a spare. Answered by SPARE_READY or SPARE_GONE; SPARE_GONE may follow
 *                      SPARE_READY. There is one at a time: one that exists is ended, and this one
 *                      is refused with EBUSY; ask again after the SPARE_GONE of the first
 *   init  -> SPARE_READY
 *                      it has warmed up, is stopped, and waits
 *   init  -> SPARE_GONE
 *                      it was never started, or is proven dead
 *   agent -> SPARE_END SIGKILL to it; answered by SPARE_GONE. Without a spare nothing happens
 *   agent -> LAUNCH    with LINK_INTO_SPARE: the spare becomes the main child, if it can. Answered
 *                      by STARTED with LINK_FROM_SPARE; or by SPARE_GONE and what any other LAUNCH
 *                      is answered by: drey-init has proven that the spare is dead, and has started
 *                      the command itself. A LAUNCH without the flag ends the spare
 * A stop, an EXIT and the agent's death end the spare, too.
 *
 * An agent that crashes loses nothing: drey-init keeps the running child and the last EXITED, and
 * reports both in the next HELLO. After a HELLO with LINK_RUNNING the STARTED, LAUNCH_FAILED or
 * EXITED of that very launch may follow, although another agent requested it. No agent is started
 * during a stop.
 *
 * An agent must keep reading: if its socket is full, it counts as hung and is killed. One that
 * exits with 2 before anything was ever launched, or with 0 while no main child runs, is not
 * restarted: drey-init exits with that status.
 */
#ifndef DREY_ENTRYPOINT_LINK_H
#define DREY_ENTRYPOINT_LINK_H

#include <stdint.h>

#define LINK_VERSION 1
#define LINK_ENV     "DREY_INIT_FD"
/* What drey-init adds to the agent's environment, and the agent removes again. glibc keeps freed
 * small blocks, 7 of each size and thread, for reuse; in a process that allocates very little, that
 * only makes memory grow for hours. glibc reads this when the process starts. */
#define LINK_MALLOC_ENV       "GLIBC_TUNABLES"
#define LINK_MALLOC           "glibc.malloc.tcache_count=0"
#define LINK_LAUNCH_ID_BYTES  40           /* NUL-terminated, chosen by the agent; the job id */
#define LINK_PACKET_MAX_BYTES (128 * 1024) /* struct + packed strings of one LAUNCH */
#define LINK_STRINGS_MAX      4096         /* argc + envc of one LAUNCH */

enum link_type {
	/* agent -> init */
	LINK_LAUNCH = 1,
	LINK_SIGNAL,
	LINK_STOP_ACK,
	LINK_EXIT,
	LINK_LEASE,
	LINK_SPARE,
	LINK_SPARE_END,
	/* init -> agent */
	LINK_HELLO = 64,
	LINK_STARTED,
	LINK_LAUNCH_FAILED,
	LINK_EXITED,
	LINK_STOPPING,
	LINK_SPARE_READY,
	LINK_SPARE_GONE,
};

enum link_flag {
	LINK_RUNNING = 1 << 0,     /* HELLO: launch_id/pid/since_unix_ms describe a live child */
	LINK_LAST_EXIT = 1 << 1,   /* HELLO: last_* describe a child that has ended */
	LINK_IS_STOPPING = 1 << 2, /* reserved: no agent is started during a stop */
	LINK_GROUP = 1 << 3,       /* SIGNAL: to the child's process group, not only to the child */
	LINK_OOM_KILLED = 1 << 4,  /* EXITED, HELLO: the cgroup's oom_kill count rose in its life */
	LINK_TAKES_LEASE = 1 << 5, /* HELLO: LEASE is understood */
	LINK_TAKES_SPARE = 1 << 6, /* HELLO: SPARE and LINK_INTO_SPARE are understood */
	LINK_INTO_SPARE = 1 << 7,  /* LAUNCH: into the spare spare_id */
	LINK_FROM_SPARE = 1 << 8,  /* STARTED: the child was the spare */
};

/* Fixed-size head of every packet; unused fields are 0. */
struct link_msg {
	uint16_t version; /* LINK_VERSION */
	uint16_t type;    /* enum link_type */
	uint32_t flags;   /* enum link_flag */
	/* STARTED, EXITED, HELLO: the main child, in drey-init's pid namespace; SPARE_READY,
	 * SPARE_GONE: the spare, 0 if it was never started */
	int32_t pid;
	int32_t wait_status; /* EXITED, SPARE_GONE: as waitpid(2) gave it */
	int32_t signo;       /* SIGNAL: what to send; STOPPING: what arrived */
	int32_t exit_status; /* EXIT: 0..255 */
	int32_t sys_errno;   /* LAUNCH_FAILED, SPARE_GONE: errno of fork or exec; see the end */
	uint32_t argc, envc; /* LAUNCH, SPARE: number of packed strings of each kind */
	union {
		uint32_t restarts;   /* HELLO: how often the agent has been restarted */
		uint32_t spare_argc; /* LAUNCH into a spare: so much of argv it has already */
	};
	/* HELLO, STARTED, EXITED: when the child was started; one that was the spare: when it got
	 * its arguments */
	int64_t since_unix_ms;
	int64_t ended_unix_ms; /* EXITED: when it was reaped */
	union {
		int64_t grace_left_ms; /* STOPPING; HELLO: all of it; -1: no deadline */
		/* on CLOCK_MONOTONIC. LEASE; SPARE: it is killed if it is not ready then, 0 = 5 min */
		int64_t until_ms;
	};
	char launch_id[LINK_LAUNCH_ID_BYTES]; /* SPARE*: the spare's own */
	union {
		/* HELLO with LINK_LAST_EXIT: the child that ended last */
		char last_launch_id[LINK_LAUNCH_ID_BYTES];
		char spare_id[LINK_LAUNCH_ID_BYTES]; /* LAUNCH into a spare: which */
	};
	int32_t last_pid;
	int32_t last_wait_status;
	int64_t last_ended_unix_ms;
};

/*
 * LAUNCH: the head is followed by argc + envc NUL-terminated strings (argv, then the complete
 * environment "NAME=value"). argv[0] is searched for in PATH of that environment; a file that is
 * not a program fails with ENOEXEC instead of being given to /bin/sh. The child starts in the
 * directory drey-init was started in, with /dev/null as standard input, in a process group of its
 * own. At most one file descriptor may travel with it (SCM_RIGHTS): the child inherits it as
 * descriptor 3. The agent holds a flock(2) on it, so the lock lives as long as any process of that
 * launch: a second launch on the same state directory can prove that the first has really ended.
 */

/*
 * SPARE: like LAUNCH, except that standard input is one end of a SOCK_STREAM socketpair, of which
 * drey-init keeps the other. The descriptor that travels is a fresh open file description of the
 * lock file, not locked; drey-init keeps a duplicate. While the spare warms up it runs a quarter of
 * the time (SIGSTOP, SIGCONT), and with oom_score_adj 1000. It writes "ready\n" when it waits, and
 * then it is stopped.
 *
 * LAUNCH with LINK_INTO_SPARE is a complete LAUNCH, so that drey-init alone can do without the
 * spare. If the spare waits and has that id:
 *   1. drey-init unlocks the description that came with the LAUNCH, locks the spare's (flock(2):
 *      both are on the same file, and each belongs to its processes) and restores oom_score_adj;
 *   2. it writes "N\0" and then the N arguments behind the first spare_argc, each with its NUL,
 *      closes this direction of the socket, and sends SIGCONT;
 *   3. the spare reads until the end of the stream, and exits unless it is complete. It answers
 *      "go\n" immediately before it runs the job: from then on it is the main child.
 * If anything else happens, or nothing for 40 ms: SIGKILL, and once waitpid(2) has returned its
 * status drey-init unlocks the spare's description, locks the LAUNCH's again (EWOULDBLOCK: another
 * process has it now; ETIMEDOUT: the spare did not end within 5 s) and executes the command.
 *
 * sys_errno of SPARE_GONE says why drey-init ended it, 0: it died, or closed its end.
 *   never started (pid 0)   errno of fork, exec or socketpair; ECANCELED: a stop or EXIT is under
 *                           way; EBUSY: a LAUNCH is being started, or another spare is not
 *                           dead yet; EINVAL, E2BIG: the packet is wrong
 *   ETIMEDOUT               not ready in time, or no answer to its arguments
 *   EPROTO                  it wrote something else
 *   EMSGSIZE                the socket did not take all of the arguments
 *   EWOULDBLOCK             another process has locked the file
 *   EPERM                   oom_score_adj could not be restored
 *   ESTALE                  a LAUNCH named another spare, came before it was ready, or came
 *                           with another lock file
 *   ECANCELED               SPARE_END, another SPARE, a LAUNCH without the flag, EXIT, a stop, or
 *                           the agent's death
 */

#endif
