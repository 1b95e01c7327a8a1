/*
 * lifecycle_outside - savepoints and stops requested from Flink by others. Private to this room.
 */
#ifndef DREY_CORE_LIFECYCLE_OUTSIDE_H
#define DREY_CORE_LIFECYCLE_OUTSIDE_H

#include "core/lifecycle/lifecycle.h"

/* Record the savepoints of the running launch that drey did not request. */
void outside_savepoints(struct lifecycle *life, const struct view *view);

/* The savepoint of a stop, if it is the last one that the job completed; else NULL. Borrowed. */
const struct seen_savepoint *shown_stop(const struct view *view);

/* The savepoint with which the FINISHED job was stopped by others, now recorded; NULL: it finished
 * on its own, or drey stopped it. Borrowed from the view. */
const struct seen_savepoint *outside_stop(struct lifecycle *life, const struct view *view);

/* After each step: remember that the job runs while do-not-restart is on. */
void watch_do_not_restart(struct lifecycle *life);

/* A poll has shown that the job has not ended: do-not-restart counts as off from now on if it is
 * off. */
void seen_without_do_not_restart(struct lifecycle *life);

#endif
