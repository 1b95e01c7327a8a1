/*
 * lifecycle_signs - a launch of which Flink's REST API says nothing, and what storage and HA show of it (signs.h).
 * Private to this room.
 *
 * No deadline ends a launch on the word of one witness: it asks first (seek_signs()), and waits for the answer. A
 * launch that shows signs of life runs, and is left alone, with the cause ClusterUnreachable; one of which not
 * everything can be read is left alone until it can.
 */
#ifndef DREY_CORE_LIFECYCLE_SIGNS_H
#define DREY_CORE_LIFECYCLE_SIGNS_H

#include "core/lifecycle/lifecycle.h"

/* EVENT_SIGNS. */
void on_signs(struct lifecycle *life, const struct event *event);

/* Flink's REST API was asked: it answers, or not, and why. */
void see_answer(struct lifecycle *life, const struct view *view);

#endif
