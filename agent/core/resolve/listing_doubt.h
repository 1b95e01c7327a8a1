/*
 * listing_doubt - a listing that leaves out what exists is wrong, and may leave out more. Pure.
 *
 * The journal, Flink's HA data, its record of how a job ended, and the configuration name snapshots. When one
 * of them was found by its name, or could not be asked for, and a complete listing of its directory does not have
 * it, that listing is, or may be, an old one, or cut, or another directory's: the newest may be missing from it, too.
 * The source then counts as unreadable, until a listing agrees with what is there.
 *
 * Only names that a listing would have shown are compared: <dir>/<job id>/chk-<n>, <dir>/chk-<n> and
 * <dir>/savepoint-<6 digits>-<12 digits>, of jobs that the journal knows, and only where no snapshot was left
 * out because there were too many.
 */
#ifndef DREY_CORE_LISTING_DOUBT_H
#define DREY_CORE_LISTING_DOUBT_H

#include "core/journal/journal.h"
#include "core/resolve/facts.h"

/* The checkpoint after the newest snapshot of this job, in the directory of its newest checkpoint: a listing that leaves it
 * out is not contradicted by any other name, but it can be asked for by its own. The caller frees; NULL: no checkpoint is known. */
char *listing_next(const struct facts *facts, const char *job_id);

/* The first checkpoint of the last launch, or that after its newest savepoint on record, if it does not continue a job: where
 * none of its checkpoints is known, a listing that leaves out its whole directory is contradicted by nothing else. The caller
 * frees; NULL: it is not known. */
char *listing_first(const struct journal *journal, const char *checkpoint_dir);

/* Was the directory listed that would show this snapshot? If not, that it is "not found" has no second witness: a listing must
 * be asked for. */
bool listing_covers(const struct facts *facts, const struct snapshot *snapshot);

/* What is at `path` exists and was not listed, or it is `unread` (why; else NULL), so that nobody can tell: the listings that
 * would have shown it are unreadable. */
void listing_leaves_out(struct facts *facts, const char *path, const char *unread);

/* Mark sources as SOURCE_UNREADABLE, with both sightings as their detail. May be called again. */
void listing_doubt(const struct journal *journal, struct facts *facts);

#endif
