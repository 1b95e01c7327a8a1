/*
 * standing - the agent while it does not own the application: executes what the standby machine
 * (core/handover/standby.h) says, and hands the journal over to the life cycle when it is ours.
 *
 * Life cycle: standing_begin() in place of reading the journal once (journal/start.c) ->
 * standing_link() for what drey-init says -> it ends by itself with driver_start_own(), or with the
 * process -> standing_close(). Everything on the loop's thread; what blocks is on lanes.
 */
#ifndef DREY_RUN_STANDING_H
#define DREY_RUN_STANDING_H

#include "run/driver_internal.h"

/* drey-init's first message; hand-overs are configured. */
void standing_begin(struct driver *driver, const struct link_msg *hello);

/* A later one. True: it was for the standby; false: it is for the life cycle, if the machine stands no more, or
 * the job runs in the shadow. */
bool standing_link(struct driver *driver, const struct link_msg *msg);

void standing_close(struct driver *driver); /* also before it has begun */
/* After that, when the lanes of the journal, of Flink and of storage have ended, which had jobs of it. */
void standing_free(struct driver *driver);

/* For /readyz, /join and the status; false, or NULL: it does not stand. */
const struct standby *standing_standby(const struct driver *driver);

#endif
