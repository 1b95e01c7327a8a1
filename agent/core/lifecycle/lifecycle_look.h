/*
 * lifecycle_look - gathering the facts, asking Flink about the job, and when. Private to this room.
 */
#ifndef DREY_CORE_LIFECYCLE_LOOK_H
#define DREY_CORE_LIFECYCLE_LOOK_H

#include "core/lifecycle/lifecycle.h"

/* Request the facts; while the Flink of another place may still be alive, no start is decided from
 * them. */
void observe(struct lifecycle *life);

/* Nothing can be started now; the facts are gathered again later. */
void hold(struct lifecycle *life, const struct decision *decision);
void look_again(struct lifecycle *life);
/* What a hold has waited for has come: look at once, and then with the pauses of a new hold. */
void look_now(struct lifecycle *life);

/* The launch that lives: what do storage and Flink's HA data show of it? If that is not asked already. */
void seek_signs(struct lifecycle *life);

/* Ask Flink about the job, if that is not under way. */
void poll_now(struct lifecycle *life);

/* What the next poll requests. */
enum poll_depth poll_depth(const struct lifecycle *life, const struct launch *launch);

/* When Flink is asked next, after this view. */
void schedule_poll(struct lifecycle *life, const struct launch *launch, const struct view *view);

#endif
