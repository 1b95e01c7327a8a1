/*
 * lifecycle_take_checkpoint - a checkpoint now, on request or periodically. Private to this room.
 */
#ifndef DREY_CORE_LIFECYCLE_TAKE_CHECKPOINT_H
#define DREY_CORE_LIFECYCLE_TAKE_CHECKPOINT_H

#include "core/lifecycle/lifecycle.h"

/* Start the checkpoint that is wanted or due, while no operation is in flight; false: there is none. */
bool checkpoint_pursue(struct lifecycle *life);
void checkpoint_schedule(struct lifecycle *life); /* the next periodic full one */

/* Something more urgent begins: the one in flight counts as failed. */
void checkpoint_give_up(struct lifecycle *life, const char *why);
void checkpoint_flink_gone(struct lifecycle *life);
void checkpoint_forget(struct lifecycle *life); /* the journal is another drey's */
void checkpoint_refuse(
	struct lifecycle *life); /* no job runs, or is about to: answer the requests */

/* What Flink answers to its POST or poll (lifecycle_asks.c). */
void checkpoint_completed(struct lifecycle *life, const struct answer *answer);
void checkpoint_failed(struct lifecycle *life, const char *location, const char *error);
void checkpoint_unknown(struct lifecycle *life);
bool checkpoint_lost(struct lifecycle *life);
void checkpoint_unaccepted(struct lifecycle *life); /* in time */

/* Flink still runs, and the previous agent may have asked it for a checkpoint. */
void checkpoint_adopt(struct lifecycle *life, enum ask_kind kind);

#endif
