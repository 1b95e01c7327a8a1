/*
 * lineage - from which snapshots the current state of the application descends.
 *
 * Every launch continues from one restore point, so the launches form a tree. The living branch is
 * the path from the last launch that ran back to its roots; what a later launch did not start from
 * is abandoned, and what none of our launches made is foreign. Checkpoint ids are comparable inside
 * the living branch, and nowhere else.
 *
 * A start that drey chose itself abandons nothing until its job was seen running: it went back
 * because something newer was damaged, and if that, or a snapshot between the two, can be read
 * again, it counts.
 *
 * The ids of a job grow from its restore point on. A launch with a checkpoint that is not newer
 * than its intended restore point has restored something else, whether or not that was observed.
 *
 * Life cycle: lineage_find() -> lineage_place() -> lineage_release(). Journal and facts are
 * borrowed for that long.
 */
#ifndef DREY_CORE_LINEAGE_H
#define DREY_CORE_LINEAGE_H

#include <stdbool.h>

#include "core/journal/journal.h"
#include "core/resolve/facts.h"

struct lineage {
	const struct journal *journal;
	int tip;          /* index of the last launch that ran; -1 = none did */
	int64_t *limits;  /* of each launch: its snapshots up to this id are living; -1 = none */
	int64_t *kept;    /* the same, for what starts that never ran went back from */
	bool *strayed;    /* of each launch: it has restored something else than was decided */
	const char *root; /* restore point of the first living launch, if none of ours made it */
};

enum branch {
	BRANCH_LIVING,
	BRANCH_ABANDONED,
	BRANCH_FOREIGN,
};

void lineage_find(struct lineage *lineage, const struct journal *journal,
		  const struct facts *facts);
void lineage_release(struct lineage *lineage);

/* Where a snapshot belongs. */
enum branch lineage_place(const struct lineage *lineage, const struct snapshot *snapshot);

/* Was it made by a launch that restored something other than was decided? What such a launch should have restored was not,
 * if its time is the one on record. */
bool lineage_is_tainted(const struct lineage *lineage, const struct snapshot *snapshot);

/* The highest checkpoint id with which a snapshot of this launch counts, INT64_MAX: any. What was
 * not made by a launch of ours, or was restored, counts with any id. */
int64_t lineage_most(const struct lineage *lineage, const struct snapshot *snapshot);

/* True when a launch has left a snapshot, according to the journal or to what is found. */
bool lineage_has_left_state(const struct journal *journal, const struct facts *facts, int index);

/* Index of the launch that made the snapshot; -1 if none of ours did. */
int lineage_maker(const struct journal *journal, const struct snapshot *snapshot);

/* True when the snapshot is what the last launch that ran was started from. */
bool lineage_is_origin(const struct lineage *lineage, const struct snapshot *snapshot);

/* True when the checkpoint is not newer than the restore point of the launch that made it, and Flink has not confirmed that
 * restore: then it is rather a checkpoint in the wrong place. */
bool lineage_contradicts(const struct journal *journal, const struct snapshot *snapshot);

/* The newest snapshot of the living branch that the journal knows to be complete; 0 = none. What
 * the last starts went back from is excluded: it was passed over with a warning, and is not
 * required. *ret_path is borrowed from the journal, and set only when there is one. */
int64_t lineage_newest(const struct lineage *lineage, bool checkpoints, const char **ret_path);

#endif
