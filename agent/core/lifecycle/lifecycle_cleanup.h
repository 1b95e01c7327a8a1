/*
 * lifecycle_cleanup - what Flink does after its job has ended, before drey ends it. Private to this room.
 */
#ifndef DREY_CORE_LIFECYCLE_CLEANUP_H
#define DREY_CORE_LIFECYCLE_CLEANUP_H

#include "core/lifecycle/lifecycle.h"

/* The end of the job is recorded, and Flink may be ended. True: it is not ended yet, because it
 * still cleans up after its job. */
bool cleanup_begin(struct lifecycle *life);
void cleanup_seen(struct lifecycle *life, enum cleanup cleanup);
void cleanup_gives_up(struct lifecycle *life); /* clean_ms has come */

#endif
