/*
 * spare - a second JVM that was started beforehand, has loaded Flink, and waits (flink.spare: warm):
 * when to start one, when to end it, and whether the next launch may run in it. Pure.
 *
 * drey-init starts it, stops it until it is used, and proves that it is dead where a launch does
 * not run in it (entrypoint/link.h); it also falls back to an ordinary start without asking. So what
 * is decided here may cost time, and never more than that: whether there is to be a launch, of what,
 * and from which state, is decided elsewhere, and is the same launch in a spare or without one.
 *
 * Life cycle: a zeroed struct spare -> after each step of the life cycle spare_end_why(), and if
 * spare_is_wanted() then spare_start_why() -> spare_starts(), spare_is_ready(), spare_is_gone() as
 * drey-init reports -> spare_use_why() for each launch, then spare_enters() or spare_is_passed_by(),
 * and spare_entered() when drey-init has answered. No release.
 */
#ifndef DREY_CORE_SPARE_H
#define DREY_CORE_SPARE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/lifecycle/lifecycle.h"

#define SPARE_ID_BYTES      24
#define SPARE_MADE_OF_BYTES 72

/* What one takes while it waits, with room for what it takes while it warms: measured 200 MiB.
 * Without as much below the limit of the cgroup none is started. */
#define SPARE_NEEDS_BYTES (INT64_C(256) << 20)
/* With less than this left one that waits is ended, before the kernel ends anything: on Kubernetes
 * that would be the whole container. */
#define SPARE_LEAST_BYTES (INT64_C(48) << 20)

/* After one that has ended without being used, and twice as long after each further one. */
#define SPARE_PAUSE_FIRST_MS INT64_C(30000)
#define SPARE_PAUSE_MAX_MS   INT64_C(3600000)
/* Without headroom: when to look again. */
#define SPARE_LOOK_AGAIN_MS INT64_C(60000)
/* One that has waited for so long was well. */
#define SPARE_WELL_MS INT64_C(600000)

enum spare_state {
	SPARE_NONE,
	SPARE_WARMING,  /* drey-init was asked for one */
	SPARE_READY,    /* it waits */
	SPARE_ENTERING, /* a launch was sent into it, and drey-init has not answered */
	SPARE_ENDING,   /* drey-init ends it, and has not confirmed that */
};

/* Why there is no spare, or why a launch did not run in it. */
enum spare_why {
	SPARE_WELL, /* there is no reason against it */
	SPARE_OFF,
	SPARE_INIT_TOO_OLD,
	SPARE_NO_PROGRAM,
	SPARE_COMMAND_UNKNOWN,
	SPARE_NOT_SHAREABLE,
	SPARE_NO_HEADROOM,
	SPARE_NOT_PROVEN,
	SPARE_NOT_WANTED,
	SPARE_NOT_READY,
	SPARE_CHANGED,
	SPARE_COMMAND_CHANGED,
	SPARE_NOT_ENTERED,
	SPARE_GONE,
	SPARE_WHYS,
};

struct spare {
	enum spare_state state;
	char id[SPARE_ID_BYTES];           /* of this one, or of the last one */
	char made_of[SPARE_MADE_OF_BYTES]; /* a fingerprint of all that it was started from */
	int64_t number;                    /* how many were started */
	int64_t ready_ms;                  /* since when it waits */
	int failures;                      /* in a row: they ended, or a launch could not enter */
	int64_t not_before_ms;             /* the next one */
	enum spare_why why;                /* why there is none, or why it was not used last */
};

/* What the world has to offer. */
struct spare_outside {
	bool configured;
	bool init_takes_it;     /* drey-init's HELLO had LINK_TAKES_SPARE */
	bool has_program;       /* its jar can be read */
	const char *made_of;    /* of the running JVM; NULL = its command line is not known */
	int64_t headroom_bytes; /* limit of the cgroup minus working set; INT64_MAX = no limit */
	bool exclusive;         /* the JVM has an option that only one process at a time can have */
};

/* What a launch is made of. */
struct spare_launch {
	bool configured;
	const char *made_of; /* as it is now; NULL = not the command line of the last JVM */
	bool same_command;   /* it begins with the words and has the environment of the spare */
};

/* Would one be started now, if the world has what it needs? Asks for nothing that costs anything. */
bool spare_is_wanted(const struct spare *spare, const struct lifecycle *life, int64_t now_ms);
/* May it be started? SPARE_WELL: yes, then spare_starts() follows. */
enum spare_why spare_start_why(const struct spare_outside *outside);
/* It must not be started now for this reason: spare_is_wanted() is false for a while. */
void spare_is_refused(struct spare *spare, enum spare_why why, int64_t now_ms);
/* Must the one that there is be ended? SPARE_WELL: no. headroom_bytes as above. */
enum spare_why spare_end_why(const struct spare *spare, const struct lifecycle *life,
			     int64_t headroom_bytes);
/* May this launch run in it? SPARE_WELL: yes. */
enum spare_why spare_use_why(const struct spare *spare, const struct spare_launch *launch);

/* drey-init is asked for one; spare->id names it. */
void spare_starts(struct spare *spare, const char *made_of);
/* drey-init is asked to end it. */
void spare_ends(struct spare *spare, enum spare_why why);
/* drey-init has reported this. False: it is about another one, and nothing follows. */
bool spare_is_ready(struct spare *spare, const char *id, int64_t now_ms);
bool spare_is_gone(struct spare *spare, const char *id, int64_t now_ms);
/* A launch was sent into it; one was sent that does not use it, and drey-init ends it. */
void spare_enters(struct spare *spare);
void spare_is_passed_by(struct spare *spare, enum spare_why why);
/* ... and drey-init has answered: does the launch run in it? False: it is no longer the question. */
bool spare_entered(struct spare *spare, bool in_spare, int64_t now_ms);

const char *spare_state_name(enum spare_state state); /* "ready", ... */
const char *spare_why_name(enum spare_why why);       /* one word: "NoHeadroom" */
const char *spare_why_sentence(enum spare_why why);   /* for people */

#endif
