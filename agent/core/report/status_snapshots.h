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

/* Add the array "snapshots", newest first by their dates; those without a date come last. */
void status_add_snapshots(struct json *doc, const struct lifecycle *life);

/* Leave only the savepoints in it: there is one checkpoint after the other. */
void status_snapshots_without_checkpoints(struct json *doc);

#endif
