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

/* Flink still runs, and the previous agent may have asked it for a checkpoint. */
void checkpoint_adopt(struct lifecycle *life);
void on_checkpoint(struct lifecycle *life, const struct event *event);
/* Flink has not accepted it in time; it is time to send it, or to ask for its result. */
void checkpoint_unaccepted(struct lifecycle *life);
void checkpoint_ask(struct lifecycle *life);

#endif
