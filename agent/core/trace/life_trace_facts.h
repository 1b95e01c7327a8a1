/*
 * life_trace_facts - what an observation has shown, as far as the life cycle uses it, and what was
 * decided. For life_trace_event.c.
 */
#ifndef DREY_CORE_LIFE_TRACE_FACTS_H
#define DREY_CORE_LIFE_TRACE_FACTS_H

#include "base/json.h"
#include "core/lifecycle/lifecycle.h"

/* The members facts and decision of these events; for struct field. */
void life_trace_observed_write(struct json *to, const void *event);
int life_trace_observed_read(const struct json *from, void *event, struct err *err);
void life_trace_refused_write(struct json *to, const void *event);
int life_trace_refused_read(const struct json *from, void *event, struct err *err);

/* What these have read; NULL is allowed. */
void life_trace_facts_release(struct facts *facts, const struct decision *decision);

#endif
