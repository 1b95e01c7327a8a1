/*
 * lineage - which snapshots the present state of the application descends from.
 *
 * Every launch continues from one restore point, so the launches form a tree. The living branch is
 * the way from the last launch that ran back to its roots; what a later launch did not start from
 * is abandoned, and what none of our launches made is foreign. Checkpoint ids are comparable inside
 * the living branch, and nowhere else.
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

/* Index of the launch that made the snapshot; -1 when none of ours did. */
int lineage_maker(const struct journal *journal, const struct snapshot *snapshot);

/* True when the snapshot is what the last launch that ran was started from. */
bool lineage_is_origin(const struct lineage *lineage, const struct snapshot *snapshot);

/* The newest snapshot of the living branch that the journal knows to be complete; 0 = none.
 * *ret_path is borrowed from the journal, and set only when there is one. */
int64_t lineage_newest(const struct lineage *lineage, bool checkpoints, const char **ret_path);

#endif
