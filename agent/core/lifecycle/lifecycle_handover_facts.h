/*
 * lifecycle_handover_facts - what is known of a hand-over: this pod, the other ones. Private to this room.
 */
#ifndef DREY_CORE_LIFECYCLE_HANDOVER_FACTS_H
#define DREY_CORE_LIFECYCLE_HANDOVER_FACTS_H

#include "core/lifecycle/lifecycle.h"

/* Another pod may take the journal although nothing runs here. */
bool handover_must_check(const struct lifecycle *life);

/* The id of the Flink that waits in main(), if this start can be its. */
bool handover_held_id(const struct lifecycle *life, const struct decision *decision,
		      const struct facts *facts, char job_id[JOB_ID_BYTES]);

/* Nothing of the job runs here, and nothing is about to; and nothing will by itself. */
bool handover_is_idle(const struct lifecycle *life);
bool handover_stands_still(const struct lifecycle *life);

/* How long a new owner waits for a Flink of another place. */
int64_t handover_takeover_ms(const struct lifecycle *life);

/* Are there hand-overs? And who is this pod? Borrowed from the configuration. */
bool handover_is_on(const struct lifecycle *life);
const struct party *handover_me(const struct lifecycle *life);

/* "hand-over ID to POD: WHAT", for what is told of it; the caller frees. */
char *handover_says(const struct lifecycle *life, const char *what);

/* Does its record say that it prepares, or is prepared? Has it beaten lately? Is it only too early to know? */
bool handover_is_candidate(const struct candidate_seen *seen);
bool handover_is_fresh(const struct lifecycle *life, const struct candidate_seen *seen);
bool handover_is_unheard(const struct lifecycle *life, const struct candidate_seen *seen);
/* The one that the job is on its way to; true while this agent has not heard of it yet. */
bool handover_candidate_lives(const struct lifecycle *life);
/* The Deployment has ceased to want the template that the job is on its way to: rolled back, or another version. */
bool handover_is_unwanted(const struct lifecycle *life);

/* Why it is not prepared, in its own words; NULL = it is, or has not said it. Borrowed. */
const char *handover_candidate_says(const struct lifecycle *life);

/* Can the job still go back to the pod before? */
bool handover_may_give_back(const struct lifecycle *life);

#endif
