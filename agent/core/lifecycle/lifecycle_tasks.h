/*
 * lifecycle_tasks - what a poll shows of the tasks, slots and TaskManagers. Private to this room.
 */
#ifndef DREY_CORE_LIFECYCLE_TASKS_H
#define DREY_CORE_LIFECYCLE_TASKS_H

#include "core/lifecycle/lifecycle.h"

/* Remember what a poll showed of the tasks. */
void see_tasks(struct lifecycle *life, const struct view *view);

/* Are the tasks running, or for how long may they be missing? Called again at tasks_ms. */
void watch_tasks(struct lifecycle *life);

/* The tasks have not all run for as long as a start may take (ready_ms). */
void not_ready(struct lifecycle *life);

#endif
