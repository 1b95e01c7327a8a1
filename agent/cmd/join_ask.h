/*
 * join_ask - asks a question (one GET) of every address of some names, in rounds. For `drey join`.
 *
 * Life cycle: join_ask_new() -> join_ask_begin() -> the callbacks: an answer for each address, then
 * done -> join_ask_begin()... -> join_ask_free(), which may be in the middle of a round, but not in a
 * callback. Names are looked up anew in each round, on a lane.
 *
 * Limits: JOIN_ASK_ADDRESSES addresses (what is more counts as one that has not answered),
 * JOIN_ASK_AT_ONCE of them at a time, JOIN_ASK_TIMEOUT_MS for each, max_bytes of an answer.
 */
#ifndef DREY_CMD_JOIN_ASK_H
#define DREY_CMD_JOIN_ASK_H

#include "base/http_get.h"
#include "base/loop.h"

#define JOIN_ASK_ADDRESSES  64
#define JOIN_ASK_AT_ONCE    4
#define JOIN_ASK_TIMEOUT_MS 2000

struct join_ask; /* opaque */

struct join_ask_call {
	/* One of them (`from`: "10.0.0.7:8085") has answered, or (answer is NULL) has not: then
	 * `why` says so. A name without an address, or a name server that does not answer, is one,
	 * too. */
	void (*answered)(void *arg, const char *from, const struct http_get_answer *answer,
			 const struct err *why);
	void (*done)(void *arg); /* the round */
	void *arg;
};

/* Texts are borrowed until join_ask_free(). NULL on failure. */
struct join_ask *join_ask_new(struct loop *loop, const char *const *names, size_t name_count,
			      int port, const char *target, size_t max_bytes,
			      const struct join_ask_call *call, struct err *err);
void join_ask_begin(struct join_ask *ask); /* not while a round is under way */
void join_ask_free(struct join_ask *ask);  /* NULL is allowed */

#endif
