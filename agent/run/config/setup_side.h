/*
 * setup_side - the cluster id of Flink's HA by side, and the side that the journal tells.
 *
 * Which side an agent uses is decided while it runs (driver_choose_side()); everything that depends
 * on it asks here, or has it from the launch on record.
 */
#ifndef DREY_RUN_SETUP_SIDE_H
#define DREY_RUN_SETUP_SIDE_H

#include "core/handover/side.h"
#include "core/journal/journal.h"
#include "flink/launch.h"
#include "run/config/setup.h"

/* Borrowed; NULL: Flink has no HA. An application with one cluster id has it on both sides. */
const char *setup_cluster_id(const struct setup *setup, enum side side);

/* The job has gates that drey drives (blue/green). */
bool setup_has_gates(const struct setup *setup);

/* How a job with its output on this side is told so: drey.side. NULL: it is not told. Static. */
const char *setup_output_side(const struct setup *setup, enum side side);

/* What the job is told of the keys that its gates go by (core/handover/gate_kind.h). Zeroes: they do not. */
struct setup_gate_keys {
	struct flink_property properties[2]; /* borrowed from the setup */
	size_t count;
	const char *held_key, *side; /* a member of the go file (flink/held.h); static */
};
struct setup_gate_keys setup_gate_keys(const struct setup *setup, enum side side);

/* Where the newest launch was. journal NULL: unknown, which is blue, as before any launch. */
enum side setup_side(const struct setup *setup, const struct journal *journal);

#endif
