/*
 * pace - when a part that writes drey's state into an object may send its next request. Pure.
 *
 * Life cycle: a zeroed struct pace -> pace_next() before each request, pace_begin()
 * with it, pace_end() after it, and pace_succeeded() or pace_failed() -> pace_leave()
 * when drey ends -> no release.
 *
 * At most two requests a second; after failures the gap doubles up to 30 s, and is at least as long
 * as the server asks for. When drey exits, what must be written is written immediately, and the
 * exit waits for the answer, at most one second.
 */
#ifndef DREY_CORE_PACE_H
#define DREY_CORE_PACE_H

#include <stdbool.h>
#include <stdint.h>

#define PACE_GAP_MS 500 /* between two requests: a transition becomes visible within a second */
/* The longest gap after failures, unless the server asks for a longer one. */
#define PACE_RETRY_MS    30000
#define PACE_PATIENCE_MS 1000 /* for the last answer, when drey exits */
#define PACE_DENIED_MS                                                                             \
	5000 /* a server that has just started answers 403 to everything for a while */

struct pace {
	bool busy;             /* a request is under way */
	int failures;          /* in a row */
	int64_t not_before_ms; /* the next request */
	bool leaving;          /* drey exits after the last answer */
	bool left;             /* drey no longer waits for it */
};

enum pace_verdict {
	PACE_NOW,
	PACE_LATER, /* ask again after *ret_wait_ms */
	PACE_NEVER, /* drey exits before */
};

/* The earliest time for the next request; now_ms when drey exits. */
int64_t pace_due_ms(const struct pace *pace, int64_t now_ms);

/* What to do with a request that is due at due_ms, and may be sent up to early_ms earlier. */
enum pace_verdict pace_next(const struct pace *pace, int64_t due_ms, int64_t early_ms,
			    int64_t now_ms, int64_t *ret_wait_ms);

/* A request is under way; it has ended. */
void pace_begin(struct pace *pace, int64_t now_ms);
void pace_end(struct pace *pace);
void pace_succeeded(struct pace *pace);
/* The server asks to wait for retry_after_ms; -1: it does not. */
void pace_failed(struct pace *pace, int64_t retry_after_ms, int64_t now_ms);

/* drey exits. True for the first call: send what must be sent, and call pace_give_up() after
 * PACE_PATIENCE_MS. */
bool pace_leave(struct pace *pace);
/* The exit no longer waits for an answer. */
void pace_give_up(struct pace *pace);
/* This part no longer delays the exit. */
bool pace_may_end(const struct pace *pace);

/* Has this lasted for PACE_DENIED_MS? *since_ms is when it began: now_ms, if it was 0. */
bool pace_lasts(int64_t *since_ms, int64_t now_ms);

#endif
