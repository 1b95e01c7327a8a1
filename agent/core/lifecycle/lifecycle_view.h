/*
 * lifecycle_view - polling the job: its restore, its checkpoints, its end. Private to this room.
 */
#ifndef DREY_CORE_LIFECYCLE_VIEW_H
#define DREY_CORE_LIFECYCLE_VIEW_H

#include "core/lifecycle/lifecycle.h"

/* What a poll has shown of the job: recorded, and followed by what it calls for. */
void on_view(struct lifecycle *life, const struct event *event);

#endif
