/*
 * control_seen - what was last seen of the control inputs (struct desired_seen), as text and as a
 * file.
 *
 * Reading and saving block: for a lane.
 */
#ifndef DREY_RUN_CONTROL_SEEN_H
#define DREY_RUN_CONTROL_SEEN_H

#include "core/desired.h"

#define CONTROL_SEEN_NAME "control-seen.json"

struct buf;
void control_seen_encode(const struct desired_seen *seen, struct buf *text);
int control_seen_decode(const char *text, size_t len_bytes, struct desired_seen *ret_seen,
			struct err *err);
/* CONTROL_SEEN_NAME in the state directory. */
int control_seen_read(const char *state_directory, struct buf *text, struct err *err);
int control_seen_save(const char *state_directory, const struct buf *text, struct err *err);

#endif
