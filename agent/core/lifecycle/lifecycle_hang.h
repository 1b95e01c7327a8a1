/*
 * lifecycle_hang - a JobManager that hangs: stopped, without memory, deadlocked. Private to this room.
 *
 * Two witnesses have to agree for health.unreachableAfter: Flink's REST API gives no answer at all (who answers badly, with a
 * certificate or a login, lives), and neither storage nor Flink's HA data show another checkpoint than at the look before. A store
 * that cannot be read begins that time anew, for the job may be waiting for it, too; a savepoint in flight, or checkpoints that are
 * rare, make it longer. Then the JVM is asked for a dump of its
 * threads, which goes where its output goes, and ended: an attempt that has failed.
 */
#ifndef DREY_CORE_LIFECYCLE_HANG_H
#define DREY_CORE_LIFECYCLE_HANG_H

#include "core/lifecycle/lifecycle.h"

/* After each poll. */
void hang_viewed(struct lifecycle *life, const struct view *view);

/* seen.hang.due_ms has come. */
void hang_due(struct lifecycle *life);

/* What storage and HA show: it was asked for. */
void hang_signs(struct lifecycle *life, const struct signs *signs);

#endif
