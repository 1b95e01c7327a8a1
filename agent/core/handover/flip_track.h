/*
 * flip_track - what the gates of FLIP-504 do not say: how far they are, and what of it each checkpoint
 * has. It follows from looks at Flink, one after another, and makes the report (gate.h) that drey's own
 * gates would give. Pure.
 *
 * Flink shows what was true some seconds ago, and a watermark only rises while a subtask lives. So a checkpoint
 * that was triggered after a look has at least the watermark of that look, if no subtask has started again
 * since; and at most that of a look which began some seconds after it was complete, if none has. Everything else is
 * not known, and counts as the worst.
 *
 * Life cycle: zeroed -> flip_track_add() for each look. The looks of one launch.
 */
#ifndef DREY_CORE_FLIP_TRACK_H
#define DREY_CORE_FLIP_TRACK_H

#include "core/handover/gate.h"
#include "core/snapshot.h"

#define FLIP_LOOKS       8
#define FLIP_CHECKPOINTS 16

struct flip_checkpoint {
	int64_t id, trigger_unix_ms;
	bool completed, discarded; /* discarded: it was complete, and Flink has deleted it */
};

/* Borrowed. */
struct flip_look {
	int64_t at_unix_ms;    /* before Flink was asked */
	int64_t start_unix_ms; /* when the newest subtask of the gate was started */
	int subtasks, running;
	/* of each subtask; GATE_NO_TIME = it has none, or Flink does not know it */
	const int64_t *watermarks;
	size_t watermark_count;
	const struct flip_checkpoint *checkpoints; /* without those that have failed */
	size_t checkpoint_count;
	/* a cut may be known to the gates: read after Flink was asked, or on record */
	bool cut_seen;
};

struct flip_track {
	char launch_id[JOB_ID_BYTES];
	struct {
		int64_t at_unix_ms, start_unix_ms, watermark_unix_ms;
	} looks[FLIP_LOOKS];
	size_t look_count; /* of all */
	struct {
		struct flip_checkpoint seen;
		int64_t start_unix_ms, watermark_unix_ms; /* of the look before it */
		bool settled;             /* it is known whether a subtask has started meanwhile */
		bool clean;               /* it was complete when no gate could know a cut */
		int64_t complete_unix_ms; /* of the first look at which it was complete */
		int64_t seen_unix_ms;     /* as in struct gate_snapshot */
		bool restarted;
	} checkpoints[FLIP_CHECKPOINTS];
	size_t checkpoint_count;
};

/* `launch_id`: of another launch than the last look: everything begins anew. */
void flip_track_add(struct flip_track *track, const char *launch_id, const struct flip_look *look,
		    struct gate_report *ret_report);

/* How many of these are at or above the cut. */
int flip_behind(const int64_t *watermarks, size_t count, int64_t toggle_unix_ms);

#endif
