/*
 * lifecycle_pace - the limits of whatever repeats. Private to this room.
 */
#ifndef DREY_CORE_LIFECYCLE_PACE_H
#define DREY_CORE_LIFECYCLE_PACE_H

#include "core/lifecycle/lifecycle.h"

/* When the next start of Flink is due; 0 = it is. */
int64_t pace_launch_ms(const struct lifecycle *life);
void pace_launched(struct lifecycle *life);
int pace_count(
	const struct lifecycle *life); /* starts in the last minute, as far as they are kept */
/* At the end of a step: what would come too often waits, and the rest of its kind behind it. */
void pace_effects(struct lifecycle *life);
/* For lifecycle_check(). */
bool pace_is_kept(const struct lifecycle *life);

#endif
