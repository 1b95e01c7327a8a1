/*
 * lifecycle_recorded - the journal: its writes, and their answers. Private to this room.
 */
#ifndef DREY_CORE_LIFECYCLE_RECORDED_H
#define DREY_CORE_LIFECYCLE_RECORDED_H

#include "core/lifecycle/lifecycle.h"

/* Emit the write of the journal if something has changed and none is in flight. */
void flush_journal(struct lifecycle *life);
/* What came of the write, or of the check. */
void on_journal_written(struct lifecycle *life, const struct event *event);
void on_journal_failed(struct lifecycle *life, const struct event *event);

void on_journal_seen(struct lifecycle *life, const struct event *event);

#endif
