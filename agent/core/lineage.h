/*
 * lineage - which snapshots the present state of the application descends from.
 *
 * Every launch continues from one restore point, so the launches form a tree. The living branch is
 * the way from the last launch that ran back to its roots; what a later launch did not start from
 * is abandoned, and what none of our launches made is foreign. Checkpoint ids are comparable inside
 * the living branch, and nowhere else.
 *
 * A start that drey chose itself abandons nothing until its job was seen to run: it went back because something
 * newer was damaged, and when that, or what was made between the two, can be read again it counts.
 *
 * The ids of a job grow from its restore point on. A launch with a checkpoint that is not newer than what it was
 * to start from has restored something else, whether or not anything was there to see it.
 *
 * Life cycle: lineage_find() -> lineage_place() -> lineage_release(). Journal and facts are
 * borrowed for that long.
 */
#ifndef DREY_CORE_LINEAGE_H
#define DREY_CORE_LINEAGE_H

#include <stdbool.h>

#include "core/facts.h"
#include "core/journal.h"

struct lineage {
	const struct journal *journal;
	int tip;          /* index of the last launch that ran; -1 = none did */
	int64_t *limits;  /* of each launch: its snapshots up to this id are living; -1 = none */
	int64_t *kept;    /* the same, of what starts that never came to run went back from */
	bool *strayed;    /* of each launch: it has restored something else than was decided */
	const char *root; /* restore point of the first living launch when none of ours made it */
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

/* True when a launch has left a snapshot, by the journal or by what is found. */
bool lineage_has_left_state(const struct journal *journal, const struct facts *facts, int index);

/* Index of the launch that made the snapshot; -1 when none of ours did. */
int lineage_maker(const struct journal *journal, const struct snapshot *snapshot);

/* True when the snapshot is what the last launch that ran was started from. */
bool lineage_is_origin(const struct lineage *lineage, const struct snapshot *snapshot);

/* True when the checkpoint is not newer than the restore point of the launch that made it. */
bool lineage_contradicts(const struct journal *journal, const struct snapshot *snapshot);

/* The newest snapshot of the living branch that the journal knows to be complete; 0 = none. What the last starts
 * went back from is not among them: it was passed over aloud, and is not waited for.
 * *ret_path is borrowed from the journal, and set only when there is one. */
int64_t lineage_newest(const struct lineage *lineage, bool checkpoints, const char **ret_path);

#endif
