/*
 * hang - what is known of a JobManager that does not answer (lifecycle_hang.h). Zeroed: it answers.
 */
#ifndef DREY_CORE_HANG_H
#define DREY_CORE_HANG_H

#include <stdbool.h>

#include "core/lifecycle/due_time.h"

struct hang {
	due_time due_ms;   /* storage and HA are looked at */
	int64_t since_ms;  /* nothing has moved; 0 = it answers */
	int64_t newest_id; /* the newest checkpoint that a look has shown; 0 = none */
	bool dumped;       /* the JVM was asked for its threads */
};

#endif
