/*
 * desired - the desired state as a control input gives it, and what has changed
 * since it was seen last. Pure.
 *
 * A control input (the control directory, the control ConfigMap, the custom resource) has texts
 * under the keys `desired_keys`. Only a change from what was seen before counts: an unchanged text
 * does not undo a command given since, and a text that disappears is no change. If one text is
 * invalid, the whole reading is ignored, except for a do-not-restart that is set. docs/reference/control.md
 * is the description for users.
 *
 * What was seen is stored next to the journal and is lost with it. An order that was carried out
 * long ago then looks new. The object itself may record which orders were carried out:
 * DESIRED_USED_ANNOTATION.
 *
 * Life cycle: a zeroed one -> run/inputs/control_value.h fills it -> desired_compare() -> the event
 * is taken -> desired_seen_update() -> desired_release().
 */
#ifndef DREY_CORE_DESIRED_H
#define DREY_CORE_DESIRED_H

#include <stdbool.h>

#include "base/err.h"
#include "core/journal/journal.h"
#include "core/lifecycle/lifecycle.h"

#define DESIRED_USED_ANNOTATION "drey.dev/used-restore-tokens"
#define DESIRED_USED_MAX        16 /* tokens; the oldest are dropped */

enum desired_key {
	DESIRED_KEY_STATE,
	DESIRED_KEY_DO_NOT_RESTART,
	DESIRED_KEY_SAVEPOINT_NONCE,
	DESIRED_KEY_RESTART_NONCE,
	DESIRED_KEY_RESTORE,
	DESIRED_KEY_CHECKPOINT_NONCE,
	DESIRED_KEY_PARALLELISM,
	DESIRED_KEY_PROMOTE,
	DESIRED_KEY_ABORT,
	DESIRED_KEY_ACKNOWLEDGE,
	DESIRED_KEYS,
};
extern const char *const desired_keys[DESIRED_KEYS]; /* their names */
/* The nonce in the text of DESIRED_KEY_CHECKPOINT_NONCE ("N", or "full N"), and whether the checkpoint is to
 * be a full one; borrowed from the text. */
const char *desired_checkpoint_nonce(const char *text, bool *ret_full);
/* The nonce in the text of DESIRED_KEY_PROMOTE ("N", or "N TIME"); the caller frees. ERR_FORMAT: not a time.
 * *ret_at_unix_ms 0: none is given. NULL gives NULL. */
char *desired_promote_nonce(const char *text, int64_t *ret_at_unix_ms, struct err *err);
int desired_key_find(const char *name); /* enum desired_key, or -1 */

struct desired {
	char *text[DESIRED_KEYS];       /* NULL: there is no such key */
	enum desired_state state;       /* valid with its text; likewise below */
	bool do_not_restart;            /* valid also when bad */
	struct restore_request restore; /* strings owned */
	struct parallelism parallelism; /* owned; its nonce follows from the text */
	char *promote_nonce;            /* owned; with the time of the cut, 0 = none */
	int64_t promote_at_unix_ms;
	char *restore_generation; /* the order is for this one alone; NULL = for any */
	bool restore_standing;    /* it was there on the first read: of unknown age */
	char *used; /* tokens carried out, according to the object: "a b"; NULL = none recorded */
	char *ignored;  /* names that are not keys: "a, b"; NULL = none */
	struct err bad; /* kind ERR_NONE, or why this is refused; begins with the key */
};

/* What was last seen. */
struct desired_seen {
	bool known; /* false: no input has ever been seen */
	char *text[DESIRED_KEYS];
	char *restore_token;
	/* of the custom resource (desired_inputs.h) */
	bool resource;        /* there was one when it was last readable */
	char *resource_error; /* why drey continues without it; NULL = it can be read */
};

void desired_copy(struct desired *to,
		  const struct desired *from); /* *to is overwritten; owns copies */
void desired_release(struct desired *desired); /* a zeroed one is fine */
#define cleanup_desired __attribute__((cleanup(desired_release)))

/* The keys of `over` take precedence, one by one; but do-not-restart counts wherever it is on. */
void desired_overlay(struct desired *desired, const struct desired *over);

void desired_set_do_not_restart(struct desired *desired);

bool desired_same_texts(const struct desired *a, const struct desired *b);

/* The order is for another generation than `generation` (NULL: not known, then it is not). */
bool desired_is_for_other(const struct desired *desired, const char *generation);
/* Remove the order. */
void desired_drop_restore(struct desired *desired);

/* The order was carried out before, according to the object that contains it. */
bool desired_is_used(const struct desired *desired);
/* The list of such an object ("a b c"; NULL = none) with the token, which it does not
 * have yet; the caller frees. */
char *desired_used_add(const char *used, const char *token);

struct desired_refusal {
	enum desired_key key; /* of the request */
	const char *why;      /* NULL = none was refused; static */
};

/*
 * EVENT_CONTROL with what has changed since `seen`; strings stay borrowed from `desired`. False:
 * nothing has. at_start: the first read of this process, which takes over a do-not-restart that is
 * set even if it has not changed. *ret_refused: the request that cannot be accepted now: to restore, because
 * the job is running and the same change does not stop it; it is left out. To promote with a cut in the past; it is
 * in the event, because it is consumed.
 */
bool desired_compare(const struct desired *desired, const struct desired_seen *seen,
		     const struct lifecycle *life, bool at_start, struct event *ret_event,
		     struct desired_refusal *ret_refused);

/* It asks for a restore with a token that another order had: the one in force, or one that a launch
 * has carried out. False if it only repeats the order in the journal. */
bool desired_reuses_token(const struct desired *desired, const struct journal *journal);

/* `desired` is what was last seen; of a bad one only do-not-restart. True: that is a change. */
bool desired_seen_update(struct desired_seen *seen, const struct desired *desired);
void desired_seen_release(struct desired_seen *seen);

#endif
