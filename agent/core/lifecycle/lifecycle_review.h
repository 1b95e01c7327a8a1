/*
 * lifecycle_review - reading completed checkpoints while the job runs. Private to this room.
 */
#ifndef DREY_CORE_LIFECYCLE_REVIEW_H
#define DREY_CORE_LIFECYCLE_REVIEW_H

#include "core/lifecycle/lifecycle.h"

/* The job runs, and nothing else is due: is a completed checkpoint to be read? */
void review_pursue(struct lifecycle *life);

/* After each event: a review ends when something else needs the job. */
void review_give_way(struct lifecycle *life);
void review_soon(struct lifecycle *life); /* the job was built anew: the next one that completes */
void review_read(struct lifecycle *life, const struct event *event);
void review_viewed(struct lifecycle *life,
		   const struct view *view); /* after the next poll was planned */
void review_forget(struct lifecycle *life);

#endif
