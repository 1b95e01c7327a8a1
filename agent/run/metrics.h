/*
 * metrics - what Prometheus reads at /metrics: names and meanings are in docs/metrics.md and stay
 * as they are.
 *
 * Pure: a text from the state of the life cycle and from counters. What is in the journal
 * (launches, the last savepoint) survives a restart of the agent; the counters here begin at 0
 * again, which Prometheus knows how to read.
 *
 * Life cycle: metrics_init() once the journal was read -> metrics_step() after every
 * lifecycle_step() -> metrics_text() for every reader. No memory of its own.
 * Format: text exposition format 0.0.4.
 */
#ifndef DREY_RUN_METRICS_H
#define DREY_RUN_METRICS_H

#include <stdint.h>

#include "base/buf.h"
#include "core/conditions.h"
#include "core/lifecycle.h"
#include "run/hook.h"

#define METRICS_CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"

#define METRICS_OPERATION_KINDS   8 /* as many as there are, and room */
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
	int64_t hooks[HOOK_EVENTS][2]; /* [ok] */
	int64_t control[METRICS_SOURCES], refused[METRICS_SOURCES];
	int64_t events_told, events_dropped; /* of Kubernetes */

	/* the last savepoint or stop that succeeded; 0 = none yet */
	int64_t savepoint_duration_ms;

	/* what was seen last, to tell what has changed */
	enum phase phase;
	int64_t launch_number;
	bool verified;
	char operation_id[JOB_ID_BYTES]; /* in flight */
	int64_t operation_started_unix_ms;
	char ended_id[JOB_ID_BYTES]; /* journal.last_operation */
	int64_t ended_unix_ms;
	size_t failure_count;
	int64_t last_failure_unix_ms;
};

/* What is on record already is not counted again. */
void metrics_init(struct metrics *metrics, const struct lifecycle *life);

/* Count what the step with `event` has changed. */
void metrics_step(struct metrics *metrics, const struct lifecycle *life, const struct event *event);

/* Append the exposition. life: NULL before the journal was read; conditions: as they were judged last.
 * now_unix_ms: the wall clock. */
void metrics_text(const struct metrics *metrics, const struct lifecycle *life,
		  const struct conditions *conditions, int64_t now_unix_ms, struct buf *text);

#endif
