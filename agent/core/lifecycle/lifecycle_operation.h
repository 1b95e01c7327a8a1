/*
 * lifecycle_operation - savepoint, stop, cancel: their start, their record, their end. Private to this room.
 */
#ifndef DREY_CORE_LIFECYCLE_OPERATION_H
#define DREY_CORE_LIFECYCLE_OPERATION_H

#include "core/lifecycle/lifecycle.h"

/* The job has ended as a stop or a cancel wanted it, or does not end: record that, and end Flink. */
void operation_stopped(struct lifecycle *life, const char *how);

/* Its intent goes into the journal; Flink is asked when that is written. nonce: of the request, NULL = none. */
void operation_start(struct lifecycle *life, enum operation_kind kind, enum operation_reason reason,
		     const char *nonce);

/* The operation cannot continue (Flink has ended, or something is more urgent): record it as
 * failed. */
void operation_abandon(struct lifecycle *life, const char *why);

/* Its request was answered: the same nonce no longer requests anything. */
void operation_remember(struct lifecycle *life, const struct operation *operation);

/* Record how it ended; the operation itself stays until operation_clear(). */
void operation_record(struct lifecycle *life, bool ok, const char *location, const char *error);
void operation_clear(struct lifecycle *life);

/* An operation of this kind, of the previous agent, is in the journal: continue it. */
void operation_adopt(struct lifecycle *life, enum ask_kind kind);

/* Of the savepoint that it makes. */
enum snapshot_origin operation_origin(const struct operation *operation);

/* Flink ended before the result was seen: the next observation of storage shows it. */
void operation_begin_settling(struct lifecycle *life);

/* Record the result of the stop or cancel in flight; its job has ended. */
void operation_record_end(struct lifecycle *life);

#endif
