/*
 * control_wish - what people want, as texts under the keys `control_keys`: one reading of the control
 * directory or of the control ConfigMap. Pure.
 *
 * Life cycle: a zeroed one -> control_wish_set(), control_wish_ignore() ... -> control_wish_judge()
 * -> control_wish_release().
 */
#ifndef DREY_RUN_CONTROL_WISH_H
#define DREY_RUN_CONTROL_WISH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "core/journal.h"

#define CONTROL_VALUE_MAX 16384 /* bytes of one value */

enum control_key {
	CONTROL_KEY_STATE,
	CONTROL_KEY_DO_NOT_RESTART,
	CONTROL_KEY_SAVEPOINT_NONCE,
	CONTROL_KEY_RESTART_NONCE,
	CONTROL_KEY_RESTORE,
	CONTROL_KEYS,
};
extern const char *const control_keys[CONTROL_KEYS]; /* the names of the files, or keys */

struct control_wish {
	char *text[CONTROL_KEYS];       /* NULL: there is no such key */
	enum desired_state state;       /* valid with its text; likewise below */
	bool do_not_restart;            /* valid also when bad */
	struct restore_request restore; /* strings owned */
	char *restore_generation;       /* the order is for this one alone; NULL = for any */
	bool restore_standing;          /* it stood there at the first look: of unknown age */
	char *used; /* tokens that were carried out, says the object: "a b"; NULL = nothing does */
	char *ignored;  /* names that are no keys: "a, b"; NULL = none */
	struct err bad; /* kind ERR_NONE, or why this is refused; begins with the key */
};

int control_wish_key(const char *name); /* enum control_key, or -1 */

/* Copied, without the white space around it. One with a zero byte or too long makes all of it bad. */
void control_wish_set(struct control_wish *wish, enum control_key key, const char *text,
		      size_t len_bytes);
void control_wish_ignore(struct control_wish *wish, const char *name);

/* What do the texts mean? The first that makes no sense is told in `bad`. */
void control_wish_judge(struct control_wish *wish);

/* The order is for another generation than `generation` (NULL: not known, then it is not). */
bool control_wish_is_for_other(const struct control_wish *wish, const char *generation);
/* As if there were no order. */
void control_wish_drop_restore(struct control_wish *wish);

/* The order was carried out before, says the object that has it. */
bool control_wish_is_used(const struct control_wish *wish);

/* What `over` asks for goes before, key by key; but a brake counts wherever it is set. */
void control_wish_overlay(struct control_wish *wish, const struct control_wish *over);

bool control_wish_same_texts(const struct control_wish *a, const struct control_wish *b);

/* *to is overwritten; it owns copies. */
void control_wish_copy(struct control_wish *to, const struct control_wish *from);
void control_wish_release(struct control_wish *wish); /* a zeroed one is fine */

#endif
