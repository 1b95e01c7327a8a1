/*
 * overlap - directories of one application that must not be one directory. Pure.
 *
 * Flink keeps checkpoints in <directory>/<job id>, and records of how jobs ended in <directory>/<id>. In one
 * directory their files lie beside each other, and what deletes the ones must tell them from the others by
 * their names alone.
 */
#ifndef DREY_CORE_OVERLAP_H
#define DREY_CORE_OVERLAP_H

#include <stdbool.h>

enum overlap_role {
	OVERLAP_CHECKPOINTS,
	OVERLAP_SAVEPOINTS,
	OVERLAP_RESULTS,
	OVERLAP_HA,
	OVERLAP_ROLES,
};

enum overlap_relation { OVERLAP_APART, OVERLAP_SAME, OVERLAP_INSIDE, OVERLAP_AROUND };

/* `a` lies so to `b`. */
bool overlap_is_refused(enum overlap_role a, enum overlap_role b, enum overlap_relation relation);

/* The key that sets it, for people. */
const char *overlap_key(enum overlap_role role);

#endif
