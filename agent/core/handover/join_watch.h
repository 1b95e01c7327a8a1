/*
 * join_watch - when does `drey join` start its TaskManager, and when does it end it? Pure: time is
 * an argument, what to do comes back as data.
 *
 * It asks all addresses of its service, in rounds. One round counts as what all of its answers
 * say together. The rules:
 *   - A TaskManager starts only when a drey of its generation has named a cluster id, and not while
 *     two such dreys name different ones.
 *   - It ends when its generation is proven absent for JOIN_ABSENT_MS: another generation answers,
 *     none of its own does, and no address has failed to answer. What did not answer could be its
 *     own drey: such a round proves nothing, and the TaskManager keeps running.
 *   - It ends when its generation has another cluster id: immediately if everybody has
 *     answered, else when that lasts JOIN_ABSENT_MS.
 *   - After such an end it waits again. Any other end of the TaskManager is the end of `drey join`,
 *     with its status.
 *   - Signals go to the TaskManager. Without one, those that would end it end `drey join`.
 *
 * Life cycle: join_watch_init() -> join_watch_step() with each event, and with JOIN_EVENT_TICK at
 * join_watch_wake_ms() -> until an effect says exit. No memory of its own.
 */
#ifndef DREY_CORE_JOIN_WATCH_H
#define DREY_CORE_JOIN_WATCH_H

#include <stdint.h>

#include "core/handover/join.h"

#define JOIN_ABSENT_MS   10000
#define JOIN_KILL_MS     10000 /* between SIGTERM and SIGKILL */
#define JOIN_ASK_MS      2000  /* between two rounds */
#define JOIN_STEADY_MS   5000  /* ... while nothing has changed for JOIN_CALM_MS */
#define JOIN_EARLY_MS    500   /* ... before the start, in its first JOIN_CALM_MS */
#define JOIN_CALM_MS     60000
#define JOIN_WATCH_NEVER INT64_MAX

/* ---- what one round has found ---- */

struct join_round {
	char current[JOIN_CLUSTER_ID_BYTES]; /* of the TaskManager that runs; "" = none */
	int asked, go, waiting, other, failed;
	bool is_current;  /* one names the current cluster id */
	bool is_conflict; /* two name different ones */
	/* of the first with one */
	char cluster_id[JOIN_CLUSTER_ID_BYTES], side[JOIN_SIDE_BYTES];
	bool rehearse;
	/* for people: of the first one of each kind */
	char why_waiting[JOIN_TEXT_BYTES], generation[JOIN_TEXT_BYTES], why_failed[JOIN_TEXT_BYTES];
};

void join_round_answer(struct join_round *round, const struct join_reply *reply);
void join_round_failed(struct join_round *round, const char *why);

/* ---- the machine ---- */

enum join_state {
	JOIN_WAITING,  /* no TaskManager */
	JOIN_RUNNING,  /* it runs where it belongs */
	JOIN_LEAVING,  /* it has got SIGTERM, because it does not belong there any more */
	JOIN_STOPPING, /* it has got the signal that ends `drey join` */
	JOIN_DONE,
};

/* What a round means; a line is logged when it changes. */
enum join_seen {
	JOIN_SEEN_NOTHING,  /* no round yet */
	JOIN_SEEN_NOBODY,   /* no answer at all */
	JOIN_SEEN_DOUBT,    /* none of its generation, and some have not answered */
	JOIN_SEEN_OTHERS,   /* everybody is of another generation */
	JOIN_SEEN_NO_SIDE,  /* its generation, without a side */
	JOIN_SEEN_CONFLICT, /* its generation, with two cluster ids */
	JOIN_SEEN_GO,       /* its generation, with one */
};

struct join_watch {
	enum join_state state;
	enum join_seen seen, said;
	char cluster_id[JOIN_CLUSTER_ID_BYTES]; /* of the TaskManager that runs or leaves */
	bool asking;                            /* a round is under way */
	bool heard_last;                        /* the last round had an answer of its own */
	/* JOIN_WATCH_NEVER = not so */
	int64_t ask_ms, kill_ms, heard_ms, absent_ms, moved_ms;
	int64_t since_ms; /* how long it has been as it is */
};

enum join_event_type {
	JOIN_EVENT_TICK,
	JOIN_EVENT_ROUND,  /* the round that was asked for has ended */
	JOIN_EVENT_ENDED,  /* the TaskManager; exit_status, 128 + n after signal n */
	JOIN_EVENT_SIGNAL, /* signo, sent to `drey join` */
};

struct join_event {
	enum join_event_type type;
	const struct join_round *round;
	int exit_status, signo;
};

/* In this order. */
struct join_effects {
	const char *say; /* a sentence for the log; NULL = none */
	bool warn;
	char detail[3 * JOIN_TEXT_BYTES]; /* of it; may be "" */
	bool sweep;                       /* kill what the TaskManager has left behind */
	bool start;                       /* it, with watch->cluster_id */
	bool rehearse;                    /* with `start`: its JVM runs a small job first */
	int signo;                        /* send it this signal; 0 = none */
	bool ask;                         /* begin a round */
	bool exit;
	int exit_status;
};

void join_watch_init(struct join_watch *watch, int64_t now_ms);
void join_watch_step(struct join_watch *watch, const struct join_event *event, int64_t now_ms,
		     struct join_effects *ret_effects);

/* When the next JOIN_EVENT_TICK is due; JOIN_WATCH_NEVER: after another event. */
int64_t join_watch_wake_ms(const struct join_watch *watch);

const char *join_state_name(enum join_state state);

#endif
