/*
 * control_dir - what people want, as files: a mounted ConfigMap or a directory on this machine.
 *
 * One file a key, named as in `control_keys`; its content is the value, white space around it is
 * dropped. Kubernetes swaps all of them at once: the files are links into `..data`, itself a link
 * that is replaced by rename(2). So all keys are read through one target of `..data`, and again
 * when it has changed meanwhile.
 *
 * Only a change counts, compared with what was seen before (kept in the state directory): a file
 * that stays as it is does not undo what a command has asked for since, and one that vanishes is no
 * change. When a value makes no sense nothing of the reading is taken, except for a brake that is
 * set. docs/control.md is the description for people.
 *
 * Life cycle: control_dir_read() -> control_dir_compare() -> the event is taken ->
 * control_seen_update(), control_seen_save(). Reading and saving block: for a lane.
 */
#ifndef DREY_RUN_CONTROL_DIR_H
#define DREY_RUN_CONTROL_DIR_H

#include <stdbool.h>

#include "base/err.h"
#include "core/lifecycle.h"

#define CONTROL_VALUE_MAX 16384 /* bytes of one file */
#define CONTROL_FILES_MAX 1000  /* in the directory */
#define CONTROL_SEEN_NAME "control-seen.json"

enum control_key {
	CONTROL_KEY_STATE,
	CONTROL_KEY_DO_NOT_RESTART,
	CONTROL_KEY_SAVEPOINT_NONCE,
	CONTROL_KEY_RESTART_NONCE,
	CONTROL_KEY_RESTORE,
	CONTROL_KEYS,
};
extern const char *const control_keys[CONTROL_KEYS]; /* the names of the files */

/* One consistent look at the directory. */
struct control_wish {
	char *text[CONTROL_KEYS];       /* NULL: there is no such file */
	enum desired_state state;       /* valid with its text; likewise below */
	bool do_not_restart;            /* valid also when bad */
	struct restore_request restore; /* strings owned */
	char *ignored;                  /* names of files that are no keys: "a, b"; NULL = none */
	struct err bad; /* kind ERR_NONE, or why this is refused; begins with the key */
};

/* What was seen last. */
struct control_seen {
	bool known; /* false: this directory was never seen */
	char *text[CONTROL_KEYS];
	char *restore_token;
};

/*
 * Read all keys and judge them. -1: the directory cannot be read (no directory: ERR_ABSENT), or
 * changes faster than it is read (ERR_RETRY). Release *ret_wish with control_wish_release().
 */
int control_dir_read(const char *path, struct control_wish *ret_wish, struct err *err);
/* *to is overwritten; it owns copies. */
void control_wish_copy(struct control_wish *to, const struct control_wish *from);
void control_wish_release(struct control_wish *wish); /* a zeroed one is fine */

/*
 * EVENT_CONTROL with what has changed since `seen`; strings stay borrowed from `wish`. False:
 * nothing has. at_start: the first look of this process, at which a brake that is set is taken
 * even when it is no change. *ret_refused: a restore request that cannot be taken now, because the
 * job runs; it is left out.
 */
bool control_dir_compare(const struct control_wish *wish, const struct control_seen *seen,
			 const struct lifecycle *life, bool at_start, struct event *ret_event,
			 bool *ret_refused);

/* From now on `wish` is what was seen; of a bad one only the brake. True: that is a change. */
bool control_seen_update(struct control_seen *seen, const struct control_wish *wish);
void control_seen_release(struct control_seen *seen);

/* CONTROL_SEEN_NAME in the state directory. Absent is fine: *ret_seen is then not `known`. */
int control_seen_load(const char *state_directory, struct control_seen *ret_seen, struct err *err);
struct buf;
void control_seen_encode(const struct control_seen *seen, struct buf *text);
int control_seen_save(const char *state_directory, const struct buf *text, struct err *err);

#endif
