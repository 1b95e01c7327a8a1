/*
 * lifecycle_checkpoints - what a poll shows of the checkpoints. Private to this room.
 */
#ifndef DREY_CORE_LIFECYCLE_CHECKPOINTS_H
#define DREY_CORE_LIFECYCLE_CHECKPOINTS_H

#include "core/lifecycle/lifecycle.h"

/* Remember what a poll showed of the checkpoints; after see_tasks(). */
void see_statistics(struct lifecycle *life, const struct view *view);
/* Record what a poll showed of them; the date of the job is known. */
void see_settings(struct lifecycle *life, struct launch *launch, const struct view *view);
void settings_forget(struct lifecycle *life);

/* Report that they fail, and that they do not any more. */
void watch_checkpoints(struct lifecycle *life);

#endif
