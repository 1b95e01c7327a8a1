/*
 * metrics - what Prometheus reads at /metrics: names and meanings are in docs/reference/metrics.md and do not
 * change.
 *
 * Pure: a text from the state of the life cycle and from counters. What is in the journal
 * (launches, the last savepoint) survives a restart of the agent; the counters here begin at 0
 * again, which Prometheus handles.
 *
 * Life cycle: begins zeroed -> metrics_event() for every event of the life cycle, metrics_notice()
 * for every notice that it emits -> metrics_text() for every reader. Allocates no memory. Format:
 * text exposition format 0.0.4.
 */
#ifndef DREY_RUN_METRICS_H
#define DREY_RUN_METRICS_H

#include <stdint.h>

#include "base/buf.h"
#include "core/handover/standby.h"
#include "core/lifecycle/lifecycle.h"
#include "core/report/conditions.h"
#include "run/outputs/hook.h"

#define METRICS_CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"

#define METRICS_OPERATION_KINDS   8 /* as many as there are, and some spare */
#define METRICS_OPERATION_REASONS 16

enum metrics_source {
	METRICS_SOCKET,
	METRICS_DIRECTORY,
	METRICS_SOURCES,
};

struct metrics {
	/* counters */
	int64_t operations[METRICS_OPERATION_KINDS][METRICS_OPERATION_REASONS][2]; /* [ok] */
	int64_t restores[3]; /* checkpoint, savepoint, empty */
	int64_t failed_attempts, holds, ends, oom_kills;
	int64_t journal_writes, journal_failures;
	int64_t spares, spare_launches; /* started; launches that ran in one */
	int64_t hooks[HOOK_EVENTS][2];  /* [ok] */
	int64_t control[METRICS_SOURCES], refused[METRICS_SOURCES];
	int64_t events_told, events_dropped; /* of Kubernetes */
	int64_t notifications_sent, notifications_dropped;

	bool spare_ready; /* one waits */

	int64_t copy_unix_ms; /* of the journal's copy; 0 = there is none, or not known */

	/* cleanup: auto: deleted; and what the last run has found, if there was one */
	int64_t gc_files, gc_bytes;
	bool gc_on, gc_stopped;
	int64_t gc_doubt_files, gc_doubt_bytes, gc_last_unix_ms;

	/* the last savepoint or stop that succeeded; 0 = none yet */
	int64_t savepoint_duration_ms;
};

/* Count what has happened, and what went into the life cycle. */
void metrics_notice(struct metrics *metrics, const struct notice *notice);
void metrics_event(struct metrics *metrics, const struct event *event);

/* Append the exposition. life: NULL before the journal was read; standby: another pod owns the
 * application, and `life` only shows that (lifecycle_init_standing()), else NULL; conditions: as last
 * judged. now_unix_ms: the wall clock. */
void metrics_text(const struct metrics *metrics, const struct lifecycle *life,
		  const struct standby *standby, const struct conditions *conditions,
		  int64_t now_unix_ms, struct buf *text);

#endif
