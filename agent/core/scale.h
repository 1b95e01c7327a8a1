/*
 * scale - how many TaskManagers an application that does not run needs: none. When their Deployment or StatefulSet is
 * scaled to 0, and when back to the number that it had. Pure.
 *
 * The number that comes back is the last one that was seen there above 0, whoever has set it (Helm, kubectl, an
 * autoscaler). It is recorded before the object is scaled to 0, for this very object (its UID), and the record goes
 * when the object has it again: from then on 0 is what somebody else wants. Nothing here delays a launch: Flink
 * waits for TaskManagers by itself.
 *
 * Of several objects each is on its own: one that cannot be read or changed keeps none of the others from it. Only the
 * requests are made together, scale_next_of(): reading a hundred records takes one request.
 *
 * Life cycle: a zeroed struct scale for each object -> scale_stepped() after each step of the life cycle -> scale_next()
 * or scale_next_of(), and what was done is reported: scale_looked(), scale_recorded(), scale_was_set(),
 * scale_forgotten(), scale_failed(). No release.
 */
#ifndef DREY_CORE_SCALE_H
#define DREY_CORE_SCALE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/lifecycle/phase.h"

/* While it is parked, how often it is looked for somebody who scales it up: `helm upgrade` does. */
#define SCALE_LOOK_MS INT64_C(60000)
/* Somebody who does it more often within an hour means it: drey leaves it to them until the next launch. */
#define SCALE_MOST_DOWN  3
#define SCALE_CONTEST_MS INT64_C(3600000)
#define SCALE_FIRST_MS   INT64_C(500) /* pause after a failure; doubles */
#define SCALE_LONGEST_MS INT64_C(30000)
#define SCALE_DENIED_MS  INT64_C(300000) /* after a refusal that has lasted for PACE_DENIED_MS */

#define SCALE_UNREADABLE (-1)

enum scale_when {
	SCALE_WHEN_PARKED,   /* suspended, cancelled, failed or finished */
	SCALE_WHEN_FINISHED, /* finished only */
};
extern const char *const scale_words[]; /* as in drey.yaml, by value; NULL at the end */

struct scale_config {
	enum scale_when when;
	int64_t parked_after_ms, finished_after_ms; /* it must have lasted as long */
};

enum scale_goal {
	SCALE_KEEP, /* neither: it is being decided, or it is held */
	SCALE_DOWN,
	SCALE_UP,
};

enum scale_act {
	SCALE_NOTHING,
	SCALE_LOOK,   /* read the object and the record */
	SCALE_RECORD, /* that it had `replicas` */
	SCALE_SET,    /* scale it to `replicas` */
	SCALE_FORGET, /* remove the record */
};

struct scale_step {
	enum scale_act act;
	int64_t replicas;
	int64_t wait_ms; /* NOTHING: ask again then at the latest; -1: when something has changed */
};

struct scale {
	enum scale_goal goal;
	enum phase phase;
	int64_t since_ms; /* monotonic: in this phase */
	int64_t due_ms;   /* monotonic: the goal is DOWN from then on; 0 = it is not to be */
	bool busy;        /* a request is under way */
	/* as read last */
	bool known;
	int64_t looked_ms;
	int64_t replicas;
	int64_t recorded; /* 0 = none; SCALE_UNREADABLE, only if there are replicas */
	/* failures */
	int failures; /* in a row */
	int64_t not_before_ms;
	int64_t refused_ms; /* since when it is refused; 0 = it is not */
	/* others */
	int downs; /* since first_down_ms */
	int64_t first_down_ms;
	bool contested; /* left to others until the next launch */
};

/* The phase may be another one. finished_unix_ms: when the job has finished; 0 = not known. */
void scale_stepped(struct scale *scale, const struct scale_config *config, enum phase phase,
		   int64_t finished_unix_ms, int64_t now_ms, int64_t now_unix_ms);

/* What to do now. */
struct scale_step scale_next(const struct scale *scale, int64_t now_ms);

/* What to do now with several: one act, and in ret_steps[] (as many) for which of them; NOTHING for the others, and for
 * all while a request for one of them is under way. */
struct scale_step scale_next_of(const struct scale *scales, size_t count, int64_t now_ms,
				struct scale_step *ret_steps);

/* Nothing is left to be scaled to 0. */
bool scale_is_down(const struct scale *scale);

/* A request for this is under way. */
void scale_begins(struct scale *scale);

/* It has ended, and has shown or done that. */
void scale_looked(struct scale *scale, int64_t replicas, int64_t recorded, int64_t now_ms);
void scale_recorded(struct scale *scale, int64_t replicas);
void scale_was_set(struct scale *scale, int64_t replicas, int64_t now_ms);
void scale_forgotten(struct scale *scale);

enum scale_failure {
	SCALE_FAILED,
	SCALE_CONFLICT, /* it has changed since it was read */
	SCALE_REFUSED,  /* the account may not do it */
};
/* It has ended, and what it has done is not known: look again. retry_after_ms: as the server asks; -1: it does not. */
void scale_failed(struct scale *scale, enum scale_failure failure, int64_t retry_after_ms,
		  int64_t now_ms);

/* The refusal has lasted: not a server that has just started. */
bool scale_is_refused(const struct scale *scale, int64_t now_ms);

const char *scale_goal_name(enum scale_goal goal); /* "keep", "down", "up" */

#endif
