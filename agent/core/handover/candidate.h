/*
 * candidate - what a pod that is not the owner reports of itself, in the ConfigMap of the candidate:
 * candidate.json, and in the same form reserve.json and standby.json. Pure.
 *
 * Each of them has one writer. It raises `beat` with every write, so a reader sees without a
 * clock that it lives; what it asks the owner, and what it answers, are numbers that only grow.
 *
 * Life cycle: a zeroed struct, or candidate_decode() -> changes by the owner of the struct ->
 * candidate_encode() -> candidate_release(). It owns all its strings.
 *
 * Refused when read: more than CANDIDATE_MAX_BYTES, anything but JSON, another schema, another
 * application, a member that is missing or of a wrong type. Members that are not known are ignored.
 */
#ifndef DREY_CORE_HANDOVER_CANDIDATE_H
#define DREY_CORE_HANDOVER_CANDIDATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "core/handover/handover.h"
#include "core/handover/side.h"
#include "core/handover/transition_step.h"

#define CANDIDATE_SCHEMA    1
#define CANDIDATE_MAX_BYTES ((size_t)64 * 1024)
#define CANDIDATE_MAX_PROSE 1024 /* bytes of a sentence; a longer one is cut when written */

enum candidate_state {
	CANDIDATE_STANDBY,     /* waits, and prepares nothing */
	CANDIDATE_PREPARING,   /* was offered the job; its Flink starts */
	CANDIDATE_PREPARED,    /* could take the job now */
	CANDIDATE_FAILED,      /* could not be prepared: `why` */
	CANDIDATE_WITHDRAWN,   /* its pod ends, or is no longer wanted */
	CANDIDATE_HANDED_OVER, /* the reserve: had the job, and lives */
	CANDIDATE_STATES,
};
const char *candidate_state_name(enum candidate_state state); /* "Standby", ... */

/* Its key in the ConfigMap, one for each role; a pod that only waits has a record while it asks. */
enum candidate_place {
	PLACE_CANDIDATE,
	PLACE_RESERVE,
	PLACE_STANDBY,
	PLACES,
};
extern const char *const candidate_keys[PLACES]; /* "candidate.json", ... */

enum candidate_place candidate_place_of(enum candidate_state state);

struct candidate_warm {
	int64_t task_managers, slots_free;
	bool main_held;
	int64_t since_unix_ms; /* 0 = not warm */
};

/* What it would start from now, by its own look. */
struct candidate_check {
	char *decision; /* as decision_kind_name(); NULL = not looked yet */
	char *why;
};

/*
 * In a transition (transition.h): its job, which runs in the shadow. Whether it has caught up the owner
 * finds out, which knows both watermarks; SHADOW_CAUGHT_UP is said only by one without gates.
 */
struct candidate_shadow {
	char *transition; /* id of the hand-over that all of it is about; NULL = there is no such job */
	enum shadow_state state;
	bool ended; /* nothing of its job runs, and nothing starts it for this transition any more */
	/* of its gates; without snapshots; `known` is false while there is no report of this launch */
	struct gate_report gate;
};
extern const struct record candidate_shadow_table;

struct candidate_record {
	char *application;
	char *uid, *pod;     /* of the writer */
	char *template;      /* of its pod: GENERATION/CHECKSUM/HASH */
	char *generation;    /* NULL = none */
	char *flink_version; /* NULL = not known */
	enum side side;      /* that it has, or would have */
	char *handover;      /* id of the hand-over that it sees itself in; NULL = none */
	enum candidate_state state;
	int64_t beat;   /* raised with every write */
	int64_t ask;    /* "are you alive?", to the owner; 0 = not asked */
	int64_t answer; /* the last question of the owner that was answered; 0 = none */
	struct candidate_warm warm;
	struct candidate_check checked;
	struct candidate_shadow shadow;
	char *why; /* of the state; NULL = none */
};

void candidate_release(struct candidate_record *record); /* zeroed is allowed */

/* Its job runs, by what it says. */
bool candidate_shadow_runs(const struct candidate_shadow *shadow);

/* It has begun in the hand-over with this id, by what it says. */
bool candidate_shadow_begun(const struct candidate_shadow *shadow, const char *transition);

void candidate_shadow_set(struct candidate_shadow *to,
			  const struct candidate_shadow *from); /* copies */
void candidate_shadow_release(struct candidate_shadow *shadow);

/* Append it to *ret_text. ERR_FORMAT: larger than CANDIDATE_MAX_BYTES; nothing is appended then. */
int candidate_encode(const struct candidate_record *record, struct buf *ret_text, struct err *err);

/* On success the caller releases *ret_record. ERR_FORMAT names the member by its path. */
int candidate_decode(const char *text, size_t len_bytes, const char *application,
		     struct candidate_record *ret_record, struct err *err);

/* Another pod, as its record was read last. */
struct candidate_seen {
	bool known; /* it was read since this agent began */
	bool present;
	struct party party; /* owned */
	enum candidate_state state;
	int64_t beat, ask, answer;
	enum wanted wanted;
	char *why;                      /* of the state; NULL = none; owned */
	struct candidate_shadow shadow; /* owned */
	bool lock_is_free;              /* as read last: no Flink leads on its side */
	int64_t seen_ms;                /* when it was last seen to have changed */
	bool beats;                     /* it has changed since it was found */
};
void candidate_seen_release(struct candidate_seen *seen);

#endif
