/*
 * status_snapshots - the newest snapshots that drey knows, for the status document.
 *
 * Pure: from the journal (savepoints, verified restore points, the newest checkpoint of the launch that
 * completed one last) and from what Flink has last reported. Storage is not listed for this, so a snapshot
 * that others have deleted may still be there; one that drey had Flink delete is not.
 */
#ifndef DREY_CORE_STATUS_SNAPSHOTS_H
#define DREY_CORE_STATUS_SNAPSHOTS_H

#include "core/lifecycle/lifecycle.h"

#define STATUS_SNAPSHOTS 20

struct json;

/* Add the array "snapshots", newest first by their dates, at most `max`; those without a date come last. */
void status_add_snapshots(struct json *doc, const struct lifecycle *life, size_t max);

/* The number of the launch that made the snapshot of this path, completed then (0: not known); 0 = not known. */
int64_t status_launch_of(const struct journal *journal, const char *path,
			 int64_t completed_unix_ms);

/* For qsort(): by date, then by checkpoint id. */
int snapshot_newest_first(const struct snapshot *left, const struct snapshot *right);

/* Leave only the savepoints in it: there is one checkpoint after the other. */
void status_snapshots_without_checkpoints(struct json *doc);

#endif
