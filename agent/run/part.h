/*
 * part - what the driver consists of. A part has one job: it reads something that the life cycle
 * needs, executes effects, or tells the world what has happened. It is one file with one
 * `const struct part`; only the table parts[] (parts.c) knows which parts there are, and parts do
 * not call each other.
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
	struct desired_seen *seen; /* of the control inputs; whoever uses it empties it */
};

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

/* In the order of policy; ends with NULL. */
extern const struct part *const parts[];

extern const struct part part_dispose;
extern const struct part part_events;
extern const struct part part_flink;
extern const struct part part_ha;
extern const struct part part_hooks;
extern const struct part part_http;
extern const struct part part_inputs;
extern const struct part part_journal;
extern const struct part part_launch;
extern const struct part part_log;
extern const struct part part_observe;
extern const struct part part_ready;
extern const struct part part_requests;
extern const struct part part_resource;
extern const struct part part_sigterm;
extern const struct part part_used;

#endif
