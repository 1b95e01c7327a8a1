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
 * control_seen_update(), and what was seen is saved. Reading and saving block: for a lane.
 */
#ifndef DREY_RUN_CONTROL_DIR_H
#define DREY_RUN_CONTROL_DIR_H

#include <stdbool.h>

#include "base/err.h"
#include "core/lifecycle.h"
#include "run/control/control_wish.h"

#define CONTROL_FILES_MAX 1000 /* in the directory */
#define CONTROL_SEEN_NAME "control-seen.json"

/* What was seen last. */
struct control_seen {
	bool known; /* false: this directory was never seen */
	char *text[CONTROL_KEYS];
	char *restore_token;
	/* of the custom resource, driver_directory.c */
	bool resource;        /* there was one when it could be read last */
	char *resource_error; /* why it is done without; NULL = it can be read */
};

/*
 * Read all keys and judge them. -1: the directory cannot be read (no directory: ERR_ABSENT), or
 * changes faster than it is read (ERR_RETRY). Release *ret_wish with control_wish_release().
 */
int control_dir_read(const char *path, struct control_wish *ret_wish, struct err *err);

/*
 * EVENT_CONTROL with what has changed since `seen`; strings stay borrowed from `wish`. False:
 * nothing has. at_start: the first look of this process, at which a brake that is set is taken
 * even when it is no change. *ret_refused: a restore request that cannot be taken now, because the
 * job runs, and is not stopped by the same change; it is left out.
 */
bool control_dir_compare(const struct control_wish *wish, const struct control_seen *seen,
			 const struct lifecycle *life, bool at_start, struct event *ret_event,
			 bool *ret_refused);

/* It asks for a restore under a token that another order had: the one in force, or one that a launch has
 * carried out. False when only the order of the journal is asked for once more. */
bool control_dir_reuses_token(const struct control_wish *wish, const struct journal *journal);

/* From now on `wish` is what was seen; of a bad one only the brake. True: that is a change. */
bool control_seen_update(struct control_seen *seen, const struct control_wish *wish);
void control_seen_release(struct control_seen *seen);

struct buf;
void control_seen_encode(const struct control_seen *seen, struct buf *text);
int control_seen_decode(const char *text, size_t len_bytes, struct control_seen *ret_seen,
			struct err *err);
/* CONTROL_SEEN_NAME in the state directory. */
int control_seen_read(const char *state_directory, struct buf *text, struct err *err);
int control_seen_save(const char *state_directory, const struct buf *text, struct err *err);

#endif
