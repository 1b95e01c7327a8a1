/*
 * handover - how the job passes from one pod to the next while both are up: what the journal has of
 * it, and who a pod is according to the journal. Pure.
 *
 * Only the owner writes the journal. It offers the job to the candidate, the pod that the Deployment
 * wants now; stops the job when the candidate is prepared; and with the same write that has the
 * result of the stop it gives the journal away. The sequence number of that write fences: the next
 * number is either the one with which the candidate takes the job, or the one with which the owner
 * before takes it back, and nothing is started before that write was acknowledged.
 *
 *   offered -> stopping -> granted -> taken -> done
 *      |          |           |         |
 *      +-> none   +-> offered +---------+-> returned      refused: not offered again
 *
 * docs/reference/handover.md has the tables; lifecycle_handover.c is the owner's part, standby.h that of all
 * others.
 */
#ifndef DREY_CORE_HANDOVER_H
#define DREY_CORE_HANDOVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/handover/side.h"
#include "core/handover/side_lock.h"
#include "core/handover/transition_record.h"
#include "core/record.h"
#include "core/snapshot.h"

enum handover_mode {
	HANDOVER_OFF,   /* one pod at a time; a second drey fences the first one */
	HANDOVER_SURGE, /* the next pod prepares beside the running one */
	/* the same, and the next version runs beside the running one until it has caught up: transition.h */
	HANDOVER_BLUE_GREEN,
};
extern const char *const handover_mode_words[]; /* as in drey.yaml, by value; NULL at the end */

/* One pod. The strings are owned by what it is a member of; uid NULL = none: then template is that
 * of the pod that was the last one. */
struct party {
	char *pod, *uid;
	char *template; /* of the pod: template_text() */
	enum side side;
};

enum handover_kind {
	HANDOVER_OTHER, /* to another generation, which has the other side */
	HANDOVER_SAME,  /* to another pod of the same generation and side; no savepoint */
};

enum handover_state {
	HANDOVER_NONE,     /* nothing is under way; the record of the last attempt may be left */
	HANDOVER_OFFERED,  /* the job runs at `from`; `to` prepares */
	HANDOVER_STOPPING, /* the job is being stopped */
	HANDOVER_GRANTED,  /* `to` is the owner; it has not taken the job yet */
	HANDOVER_TAKEN,    /* `to` has started it, or is about to */
	HANDOVER_DONE,     /* it runs at `to`, from the state that was decided */
	HANDOVER_RETURNED, /* `to` could not; `from` is the owner again */
	HANDOVER_REFUSED,  /* this template is not tried again */
};

/* How often those of this application have ended in which state. */
struct handover_ends {
	int64_t done, returned, refused, none;
};

struct handover {
	char *id; /* NULL = there is no record */
	enum handover_kind kind;
	enum handover_state state;
	struct party from, to;
	char job_id[JOB_ID_BYTES];         /* reserved for the launch of `to` */
	char launch_id[JOB_ID_BYTES];      /* the same; "" of an older drey */
	char application_id[JOB_ID_BYTES]; /* the same; "" before Flink 2.3 */
	int64_t asked;   /* number of the last question whether `to` is still prepared; 0 = none */
	char *savepoint; /* of the stop; NULL = none */
	int64_t slots;   /* of the running job; 0 = not known */
	int64_t tries;   /* of this template that have failed */
	bool forced;     /* taken without the owner before */
	int64_t started_unix_ms, state_unix_ms;
	int64_t deadline_unix_ms; /* of the state, for people; 0 = none */
	char *why;
	/* when it came to that the last time, for people; 0 = it did not. Prepared: `to`, as `from`
	 * has heard of it */
	int64_t prepared_unix_ms, stopping_unix_ms, granted_unix_ms, taken_unix_ms, done_unix_ms;
	/* Why this version has returned the job, and when: kept over the next offers to it. NULL = it has
	 * not, or runs the job now, or a person has taken note */
	char *returned;
	int64_t returned_unix_ms;
	struct handover_ends ends; /* kept over all offers */
	/* with blue/green: what is between the offer and the stop; see transition_of() */
	struct transition transition;
};

/* Their JSON form, as members of the journal. */
extern const struct record party_table, handover_table;

void party_set(struct party *to, const struct party *from); /* copies */
void party_release(struct party *party);
void handover_release(struct handover *handover);
/* Another one begins: only what outlives it is left. `again`: to the version of the one before. */
void handover_renew(struct handover *handover, bool again);
/* It has come to its state at this time: what is kept of that. `before`: the state until then. */
void handover_keep(struct handover *handover, enum handover_state before, int64_t now_unix_ms);
bool party_is(const struct party *party, const char *uid); /* never true of none */
/* Is it the one of a writer of the journal or of a launch, "POD/UID/..."? Never true of none. */
bool party_wrote(const struct party *party, const char *writer);

extern const char *const handover_kind_words[], *const handover_state_words[];
const char *handover_state_name(enum handover_state state); /* "offered", ... */
/* The same for Events and conditions, whose words stand alone: "HandoverOffered", ... They never change. */
const char *handover_word(enum handover_state state);
#define HANDOVER_WORD_PREPARED "HandoverPrepared" /* offered, and prepared */

/* "WHY: WORDS", with what the candidate says of itself, which is cut; NULL: only WHY. The caller frees. */
char *handover_quotes(const char *why, const char *words);

/* To a pod of this template from one of that: to the same generation, or another one? */
enum handover_kind handover_kind_between(const char *from, const char *to);

/* Begun, and not at its end: the journal, or the job, is on its way. */
bool handover_is_under_way(const struct handover *handover);

/* ---- templates ---- */

/* "GENERATION/CHECKSUM/HASH", with empty parts for NULL; the caller frees. */
char *template_text(const char *generation, const char *checksum, const char *hash);

/* The same generation; NULL is none, and no generation equals none. */
bool template_same_generation(const char *a, const char *b);
/* The same generation and checksum: what the Deployment can be compared with. */
bool template_same_content(const char *a, const char *b);

/* ---- who is what ---- */

/* Does the Deployment want pods of this template now? */
enum wanted {
	WANTED_UNKNOWN, /* it could not be read */
	WANTED_NO,
	WANTED_YES,
};

enum role {
	ROLE_UNREADABLE, /* the journal could not be read: nothing is known */
	ROLE_OWNER,
	ROLE_CANDIDATE,
	ROLE_RESERVE, /* has handed over, and may get the job back */
	ROLE_STANDBY, /* waits */
	/* waits for a drey that knows no hand-over; ready, so that Kubernetes ends that pod */
	ROLE_HEIR,
	ROLES,
};
const char *role_name(enum role role); /* "owner", ... */

/* With what right it owns the journal. */
enum claim {
	CLAIM_NONE,    /* hand-overs are off */
	CLAIM_OWN,     /* it was the owner before, or there is none */
	CLAIM_SUCCEED, /* the owner's pod is gone, and this one has the same template */
	CLAIM_TAKE,    /* it was granted */
	CLAIM_BACK,    /* it was granted, and not taken; or taken by one that is gone */
	CLAIM_FORCE,   /* the owner is gone, and this is the wanted template */
};
const char *claim_name(enum claim claim);

struct journal;

struct role_facts {
	/* NULL: it could not be read. absent: there is none */
	const struct journal *journal;
	bool absent;
	const struct party *me;
	enum wanted wanted;
	/* of the owner's side; without an owner held if that of either side is */
	enum side_lock lock;
	int64_t silent_ms;  /* for how long the owner has not answered; -1 = it was not asked */
	int64_t granted_ms; /* for how long the present state of the hand-over has been seen */
	int64_t quiet_ms;   /* for how long the journal has not changed */
};

struct role_limits {
	int64_t silent_ms, take_ms, run_ms;
};

struct role_verdict {
	enum role role;
	enum claim claim; /* of an owner */
	enum side side;   /* that it has, or would have */
	enum handover_kind kind;
	bool asks;       /* ask the owner whether it lives */
	int64_t look_ms; /* the verdict may be another one after this time; 0 = only by news */
	const char *why; /* a sentence without a full stop */
};

void handover_role(const struct role_facts *facts, const struct role_limits *limits,
		   struct role_verdict *ret_verdict);

/* The side that the job of a version of this generation is going to be told (launch.output_side). `beside`: the job runs, so
 * another generation comes by a transition, which changes it. */
enum side handover_output_side(const struct journal *journal, const char *generation, bool beside);

/*
 * An owner finds a Flink with this launch id, or NULL. Is it the one that waits in main() for this
 * hand-over, and its launch is not on record yet? An agent that died between its claim and that
 * record leaves such a one to the next agent; so does one whose launch was withdrawn before it was let
 * go. One whose launch is on record otherwise is a running one.
 */
bool handover_waits_in_main(const struct journal *journal, enum claim claim, const char *running);

#endif
