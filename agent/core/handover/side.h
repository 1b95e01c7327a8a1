/*
 * side - one of the two identities of an application: a cluster id of Flink's HA, with its ConfigMaps.
 * Blue has the names that the application had before there were sides. Pure.
 */
#ifndef DREY_CORE_HANDOVER_SIDE_H
#define DREY_CORE_HANDOVER_SIDE_H

#include <stdbool.h>

enum side {
	SIDE_BLUE,
	SIDE_GREEN,
	SIDES,
};

extern const char *const side_words[]; /* by value; NULL at the end */

const char *side_name(enum side side); /* "blue", "green" */

/* False: it is neither; *ret_side is untouched. NULL is allowed. */
bool side_parse(const char *name, enum side *ret_side);

enum side side_other(enum side side);

#endif
