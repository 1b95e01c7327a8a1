/*
 * lifecycle_kept - whether the end of Flink would delete the checkpoints of its job. Private to this room.
 */
#ifndef DREY_CORE_LIFECYCLE_KEPT_H
#define DREY_CORE_LIFECYCLE_KEPT_H

#include "core/lifecycle/lifecycle.h"

/* A cancel was decided. True: it would delete them, so Flink is ended without one. */
bool cancel_by_kill(struct lifecycle *life);

#endif
