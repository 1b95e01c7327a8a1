/*
 * control_source - one place where people leave what they want (the directory, the ConfigMap, the custom
 * resource), as it was read last, and which order stood there when this process saw it first. Pure.
 *
 * What was seen of the control inputs lies beside the journal and is lost with it. Then an order that was
 * carried out long ago looks like a new one. Two things tell: an order that comes in while drey looks is
 * made now, and one that stood there at the first look is of unknown age; and the object itself may say
 * which orders were carried out (the annotation CONTROL_USED_ANNOTATION).
 *
 * Life cycle: a zeroed one -> control_source_take() ... -> control_source_release().
 */
#ifndef DREY_RUN_CONTROL_SOURCE_H
#define DREY_RUN_CONTROL_SOURCE_H

#include <stdbool.h>

#include "run/control/control_wish.h"

#define CONTROL_USED_ANNOTATION "drey.dev/used-restore-tokens"
#define CONTROL_USED_MAX        16 /* tokens; the oldest go */

struct control_source {
	struct control_wish wish; /* the newest reading */
	bool known;               /* this process has read it: it, or that there is none */
	bool absent;              /* there is none */
	bool seen;                /* a reading that made sense: what comes now is new */
	char *standing;           /* the token of the order in the first of them; NULL = none */
};

/* A reading (copied). absent: there is no such thing; if it comes back later, that is a first look. */
void control_source_take(struct control_source *source, const struct control_wish *wish,
			 bool absent);
void control_source_release(struct control_source *source);

/* The order of this wish stood there at the first look at this source. */
bool control_source_is_standing(const struct control_source *source,
				const struct control_wish *wish);

/* Is the token in the list of an annotation ("a b c"; NULL = none)? */
bool control_used_has(const char *used, const char *token);

/* The list with the token, which it does not have yet; the caller frees. */
char *control_used_add(const char *used, const char *token);

#endif
