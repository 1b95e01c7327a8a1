/*
 * leavings - each launch of the JobManager has its own directories for temporary files
 * (flink/tmp_dirs.h). They are made before the launch, in milliseconds, and removed after the next
 * one, on a lane. A launch that cannot have them uses io.tmp.dirs as configured. A part of the
 * driver; these functions are for the part that launches.
 */
#ifndef DREY_RUN_LEAVINGS_H
#define DREY_RUN_LEAVINGS_H

#include "core/journal/journal.h"
#include "run/config/setup.h"

struct driver;

/* The value of io.tmp.dirs for this launch; the caller frees it. NULL: its directories do not exist,
 * or one of them is not drey's. */
char *leavings_tmp_dirs(const struct setup *setup, const struct launch *launch);

/* drey owns flink.lock, and this launch is next: make its directories. */
void driver_leavings_make(struct driver *driver, const struct launch *launch);

/* The same situation: remove those of all other launches in the journal. Returns at once. */
void driver_leavings_remove(struct driver *driver, const struct launch *launch);

#endif
