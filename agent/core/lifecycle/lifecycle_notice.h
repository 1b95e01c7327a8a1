/*
 * lifecycle_notice - notices, for hooks, Events and metrics. Private to this room.
 */
#ifndef DREY_CORE_LIFECYCLE_NOTICE_H
#define DREY_CORE_LIFECYCLE_NOTICE_H

#include "core/lifecycle/lifecycle.h"

/* Emit a notice, with phase, cause and launch as they are; the caller fills in the rest, before the
 * next effect. Borrowed. */
struct notice *tell(struct lifecycle *life, enum notice_type type);

/* started_unix_ms: 0 = not known. */
void tell_operation(struct lifecycle *life, const struct operation_result *result,
		    int64_t started_unix_ms);

/* What a step may change, and of which only the difference is reported. */
struct standing {
	enum phase phase;
	enum cause cause;
	bool fenced;
};
struct standing standing(const struct lifecycle *life,
			 const struct event *event); /* before the step */
void tell_changes(struct lifecycle *life, const struct event *event, const struct standing *before);

/* The end that the previous agent reported; PHASE_COUNT = none. */
enum phase end_on_record(const struct journal *journal);

#endif
