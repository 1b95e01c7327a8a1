/*
 * part - what the driver consists of. A part has one job: it reads something that the life cycle
 * needs, executes effects, or tells the world what has happened. It is one file with one
 * `const struct part`; only the table parts[] (parts.c) knows which parts there are, and parts do
 * not call each other.
 *
 * Gates: what must not be done yet waits (enum gate_type). All parts are asked with may(), those of
 * one stage of the table at the same time, the next stage when all of them have agreed. One that has
 * said "not yet" is asked again after every step, and when it calls driver_again().
 *
 * Life cycle: open() in the order of the table -> alive() once -> for each event: event(), the step
 * of the machine, notice() for each notice, execute() for each effect, stepped() -> close() in the
 * reverse order. All of it on the loop's thread; nothing here may block (base/lane.h). Every member
 * may be NULL, except for the name.
 *
 * To add a part: write its file, declare it below, and give it a row in parts.c.
 */
#ifndef DREY_RUN_PART_H
#define DREY_RUN_PART_H

#include "base/err.h"
#include "core/lifecycle/lifecycle.h"

struct conditions_outside;
struct desired_seen;
struct driver;
struct json;

/* What is known when the journal has been read. */
struct part_start {
	const char *running;       /* launch id of the Flink that runs; NULL = none; borrowed */
	struct desired_seen *seen; /* of the control inputs; its reader empties it */
};

/* What the parts may delay or refuse: an effect before it is executed, or an event before the
 * machine takes it. One of each can wait at a time. */
enum gate_type {
	GATE_OBSERVE,  /* EFFECT_OBSERVE */
	GATE_OBSERVED, /* EVENT_OBSERVED: what was decided on the facts */
	GATE_LAUNCH,   /* EFFECT_LAUNCH */
	GATE_TRIGGER,  /* EFFECT_TRIGGER */
	GATE_END,      /* EVENT_VIEW with an end of the job that drey did not ask for */
	GATE_STOPPING, /* EVENT_STOPPING: SIGTERM has come */
	GATE_EXIT,     /* EFFECT_EXIT */
	GATES,
};

/* Of all answers of one stage the last one in this list counts. */
enum gate_verdict {
	GATE_PASSES,
	GATE_STALE,   /* OBSERVED: that took its time, so look at everything again */
	GATE_REFUSED, /* gate_refuses() has said why */
	GATE_NOT_YET, /* gate_waits() has said for what */
};

#define GATE_WAITS 4 /* parts that can be waited for at the same time */

struct gate {
	/* Grows with everything that comes to any gate; 0 = nothing waits here. A part keeps it to
	 * recognise what it was asked about before. */
	int64_t number;
	struct effect effect; /* of an effect, without its text */
	/* OBSERVED; borrowed */
	const struct decision *decision;
	const char *path; /* of the snapshot; NULL = none */
	/* STOPPING */
	int64_t grace_left_ms, came_ms;
	enum upgrade upgrade; /* said by the part that knows it */
	/* What happens then, on the loop. NOT_YET: nothing, because drey ends or something newer has
	 * come; release arg. */
	void (*then)(struct driver *driver, const struct gate *gate, enum gate_verdict verdict);
	void *arg;

	/* said by the parts */
	enum cause cause;
	char why[512];
	struct gate_wait {
		const char *part, *what;
		int64_t until_ms; /* 0 = without a limit */
	} waits[GATE_WAITS];
	size_t wait_count;
	bool asking;
};

/* Let `wanted` wait until its gate opens, or is refused; that may be at once. */
void gate_ask(struct driver *driver, enum gate_type type, const struct gate *wanted);
/* The same for an effect: it is executed, or refused with EVENT_REFUSED. False: it has no gate. */
bool gate_ask_effect(struct driver *driver, const struct effect *effect);
/* Ask the parts again about everything that waits. */
void driver_again(struct driver *driver);
/* drey ends: nothing waits any more. */
void gates_drop(struct driver *driver);
/* Add `waiting` to a status document. */
void gates_status(const struct driver *driver, struct json *document);

/* The answers of a part. `what` outlives the gate, until_ms: monotonic, when it is given up at the
 * latest, 0 = never. */
enum gate_verdict gate_waits(struct gate *gate, const char *what, int64_t until_ms);
enum gate_verdict gate_refuses(struct gate *gate, enum cause cause, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

struct part {
	const char *name;
	/* What is not configured opens nothing, and is 0. -1: drey cannot start. */
	int (*open)(struct driver *driver, struct err *err);
	/* The machine is alive, and has taken EVENT_HELLO. */
	void (*alive)(struct driver *driver, const struct part_start *start);
	/* The machine is about to take this event. */
	void (*event)(struct driver *driver, const struct event *event);
	/* The life cycle says that this has happened; the effects of the step come after it. */
	void (*notice)(struct driver *driver, const struct notice *notice);
	/* May this be done now? For other types GATE_PASSES. Is asked repeatedly. */
	enum gate_verdict (*may)(struct driver *driver, enum gate_type type, struct gate *gate);
	/* Execute the effect, if its type is one of this part's. */
	void (*execute)(struct driver *driver, const struct effect *effect);
	/* The state may have changed: after every step, and while the journal cannot be read. */
	void (*stepped)(struct driver *driver);
	/* What the conditions need to know of the world; the strings are borrowed until the next
	 * step. */
	void (*outside)(const struct driver *driver, struct conditions_outside *outside);
	/* Add what this part knows to the status document. */
	void (*status)(const struct driver *driver, struct json *document);
	/* After a failed open(), too. */
	void (*close)(struct driver *driver);
};

struct part_row {
	int stage; /* of its gates */
	const struct part *part;
};

/* In the order of policy; ends with a row without a part. */
extern const struct part_row parts[];

extern const struct part part_copy;
extern const struct part part_dispose;
extern const struct part part_events;
extern const struct part part_flink;
extern const struct part part_flink_lock;
extern const struct part part_gate_keys;
extern const struct part part_gates;
extern const struct part part_gc;
extern const struct part part_ha;
extern const struct part part_handover;
extern const struct part part_hooks;
extern const struct part part_http;
extern const struct part part_init;
extern const struct part part_inputs;
extern const struct part part_journal;
extern const struct part part_launch;
extern const struct part part_lease;
extern const struct part part_leavings;
extern const struct part part_log;
extern const struct part part_observe;
extern const struct part part_notifications;
extern const struct part part_ready;
extern const struct part part_relaunch;
extern const struct part part_requests;
extern const struct part part_rescale;
extern const struct part part_resource;
extern const struct part part_resource_status;
extern const struct part part_scale;
extern const struct part part_shadow;
extern const struct part part_sigterm;
extern const struct part part_spare;
extern const struct part part_used;

#endif
