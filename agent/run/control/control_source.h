/*
 * control_source - one place where people leave what they want (the directory, the ConfigMap, the custom
 * resource), as it was read last, and which order stood there when this process saw it first. Pure.
 *
 * What was seen of the control inputs lies beside the journal and is lost with it. Then an order that was
 * carried out long ago looks like a new one. Two things tell: an order that comes in while drey looks is
 * made now, and one that stood there at the first look is of unknown age; and the object itself may say
 * which orders were carried out (the annotation DESIRED_USED_ANNOTATION).
 *
 * Life cycle: a zeroed one -> control_source_take() ... -> control_source_release().
 */
#ifndef DREY_RUN_CONTROL_SOURCE_H
#define DREY_RUN_CONTROL_SOURCE_H

#include <stdbool.h>

#include "core/desired.h"

struct control_source {
	struct desired desired; /* the newest reading */
	bool known;             /* this process has read it: it, or that there is none */
	bool absent;            /* there is none */
	bool seen;              /* a reading that made sense: what comes now is new */
	char *standing;         /* the token of the order in the first of them; NULL = none */
};

/* A reading (copied). absent: there is no such thing; if it comes back later, that is a first look. */
void control_source_take(struct control_source *source, const struct desired *desired, bool absent);
void control_source_release(struct control_source *source);

/* The order of this wish stood there at the first look at this source. */
bool control_source_is_standing(const struct control_source *source, const struct desired *desired);

#endif
