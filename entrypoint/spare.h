/*
 * spare - a second child that waits, started and warm, to become the main child (end of link.h).
 *
 * Life cycle: spare_start() -> spare_read() when its socket is readable, spare_tick() when
 * spare_wake_ms() has come -> spare_ask() -> spare_read() says SPARE_GOES, and spare_hand_over().
 * Whatever goes wrong on the way, and spare_end(), kill it; spare_reaped() then has the proof that
 * it is dead. Nothing here blocks, and nothing but spare_reaped() makes room for another.
 */
#ifndef DREY_ENTRYPOINT_SPARE_H
#define DREY_ENTRYPOINT_SPARE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "entrypoint/link.h"
#include "spawn.h"

enum spare_state {
	SPARE_NONE,
	SPARE_WARMING, /* runs for a part of the time */
	SPARE_READY,   /* stopped, and waits for its arguments */
	SPARE_ASKED,   /* has the lock and its arguments, and is about to answer */
	SPARE_ENDING,  /* sent SIGKILL */
};

struct spare {
	enum spare_state state;
	pid_t pid;
	int report;       /* see spawn_report(); -1: none, as for the next two */
	int socket;       /* our end of its standard input */
	int lock;         /* our duplicate of its description of the lock file */
	bool asked;       /* it may have got the lock and its arguments */
	bool stopped;     /* by us */
	bool oom_raised;  /* its oom_score_adj has to be restored before it is the main child */
	int why;          /* SPARE_ENDING: an errno, see SPARE_GONE */
	int64_t turn_ms;  /* SPARE_WARMING: when to stop or continue it */
	int64_t until_ms; /* SPARE_WARMING, SPARE_ASKED: when it is killed */
	int64_t oom_before;
	char said[8]; /* what it has written */
	size_t said_bytes;
	char id[LINK_LAUNCH_ID_BYTES];
};

void spare_init(struct spare *spare);

/*
 * Fork it. *lock_fd is taken over and set to -1. until_ms: 0 = the default. Returns 0 or an errno;
 * EBUSY if there is one, even if it is ending.
 */
int spare_start(struct spare *spare, const char *id, const struct spawn *spawn, int *lock_fd,
		int64_t until_ms, int64_t now_ms);

/* What a launch gives to the spare. */
struct spare_call {
	const char *id;   /* which spare it means */
	const char *args; /* packed strings */
	size_t args_bytes;
	unsigned count;
	int lock_fd; /* the launch's description of the lock file, locked; stays the caller's */
};

/*
 * Pass on the lock and the arguments. False: it cannot be used and was not touched. True: wait for
 * SPARE_GOES, or until it is gone.
 */
bool spare_ask(struct spare *spare, const struct spare_call *call, int64_t now_ms);

enum spare_event { SPARE_NOTHING, SPARE_IS_READY, SPARE_GOES };

/* Read what it has written. Anything unexpected ends it. */
enum spare_event spare_read(struct spare *spare);

/* After SPARE_GOES: forget it, and release what belongs to it alone. Returns its pid. */
pid_t spare_hand_over(struct spare *spare);

/* SIGKILL. `why` is an errno for SPARE_GONE; the first one counts. */
void spare_end(struct spare *spare, int why);

void spare_tick(struct spare *spare, int64_t now_ms);
int64_t spare_wake_ms(const struct spare *spare); /* STOP_NEVER: nothing is due */

/*
 * Its wait status has been taken: it is dead and so is what it left in its process group. Fills
 * *ret_gone except for the version. If it had been asked its lock has been released.
 */
void spare_reaped(struct spare *spare, int wait_status, struct link_msg *ret_gone);

#endif
