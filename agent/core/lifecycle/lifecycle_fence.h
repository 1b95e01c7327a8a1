/*
 * lifecycle_fence - two dreys: which one owns the journal, and what the other may still run. Private to this room.
 */
#ifndef DREY_CORE_LIFECYCLE_FENCE_H
#define DREY_CORE_LIFECYCLE_FENCE_H

#include "core/lifecycle/lifecycle.h"

/* Another drey has written the journal: this one stops acting, and kills its Flink. */
void fence(struct lifecycle *life, const char *why);

/* A new agent: must it wait for a launch of another place whose end was not observed? */
void takeover_begin(struct lifecycle *life);

/* While Flink is alive: when to check the journal next, and until when may Flink run? */
void watch_journal(struct lifecycle *life);
void check_journal(struct lifecycle *life); /* now, unless that is under way */
/* The journal requested at that time was ours. */
void journal_is_ours(struct lifecycle *life, int64_t asked_ms);

#endif
