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

/* The tasks have not all run for as long as a start may take (ready_ms). Before Flink is ended for that, storage and
 * HA are asked for signs of life (lifecycle_signs.h); they show none. */
void not_ready(struct lifecycle *life);
void still_not_ready(struct lifecycle *life);

/* A launch without a REST API has so long to show that it runs: a checkpoint takes up to two intervals. */
int64_t silence_limit_ms(const struct lifecycle *life);

#endif
