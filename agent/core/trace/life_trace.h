/*
 * life_trace - the last steps of the life cycle: each event, the phases before and after it, and its
 * effects. For people who want to see what drey did, and to repeat it: the life cycle is pure, so a
 * new one that begins like this one and takes the same events does the same (tests/sim/replay.c).
 *
 * Life cycle: life_trace_begin() when the life cycle is new -> life_trace_add() after every step ->
 * life_trace_write() at any time -> life_trace_release(). Bounded: TRACE_STEPS steps of TRACE_BYTES in all,
 * and the beginning, which is as long as the journal was then.
 * When the first steps no longer fit, the beginning is forgotten as well, and the rest can be read
 * but not repeated.
 */
#ifndef DREY_CORE_LIFE_TRACE_H
#define DREY_CORE_LIFE_TRACE_H

#include "base/json.h"
#include "core/lifecycle/lifecycle.h"

#define TRACE_STEPS      200
#define TRACE_BYTES      (48 * 1024)
#define TRACE_STEP_BYTES (8 * 1024) /* of a longer one only type and phases are kept */
#define TRACE_CANDIDATES 64         /* facts of more never fit into a step */
#define TRACE_FORMAT     1

struct life_trace {
	char *steps[TRACE_STEPS]; /* as JSON; the first `count`, oldest first */
	size_t count, bytes;
	int64_t dropped; /* steps before the first one */
	char *begin;     /* as JSON: what the life cycle began with; NULL = forgotten */
};

/* `life` was just made by lifecycle_init(), and has taken no event. */
void life_trace_begin(struct life_trace *trace, struct lifecycle *life);
void life_trace_release(struct life_trace *trace);

/* One step as JSON; the caller frees. `event`: life_trace_event(), made before the step, because the
 * step may free what the event borrows from the journal; taken over. `life`: after the step. */
struct json *life_trace_step(struct json *event, enum phase before, const struct lifecycle *life,
			     const struct effects *effects);
void life_trace_add(struct life_trace *trace, const struct json *step);

/* Add the members format, dropped, begin and steps. */
void life_trace_write(const struct life_trace *trace, struct json *to);

/* ---- both directions, for a replay ---- */

/* {"type":"view","reachable":true,...}: members that are null or false are left out. */
struct json *life_trace_event(const struct event *event);

/* *ret_event owns what it has; life_trace_event_release() even after a failure. ERR_FORMAT. */
int life_trace_event_read(const struct json *from, struct event *ret_event, struct err *err);
void life_trace_event_release(struct event *event);

/* "poll 0a1b...", "write-journal 12", "note": what is compared. The caller frees. */
char *life_trace_effect(const struct effect *effect);

/* For people: "view reachable state=RUNNING", of life_trace_event(); lists are shown as their length. */
void life_trace_event_text(const struct json *event, struct buf *text);
/* One member, after `before`; nothing for null, false, "" and an empty list. */
void life_trace_text(const struct json *member, const char *before, struct buf *text);

/* What a life cycle begins with: {"config":{...},"journal":{...},"rng":[...]}. */
struct json *life_trace_beginning(struct lifecycle *life);

/* The strings of *ret_config are owned by it: life_trace_config_release(). ERR_FORMAT: also for what
 * cannot be repeated. */
int life_trace_beginning_read(const struct json *from, struct lifecycle_config *ret_config,
			      struct journal *ret_journal, struct rng *ret_rng, struct err *err);
void life_trace_config_release(struct lifecycle_config *config);

#endif
