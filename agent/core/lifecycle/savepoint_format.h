/*
 * savepoint_format - in which format a savepoint is taken. Pure.
 *
 * A native savepoint is what the state backend writes anyway, and is taken and restored much faster
 * than a canonical one. But a job can continue from it only with the same state backend, and Flink
 * does not promise it between all its lines. So `auto` takes it only if the next launch is known:
 * a restart, after which this drey starts the same version again. After a suspension, an upgrade or
 * the end of the container, anything may follow, and periodic and requested savepoints are kept for
 * that.
 *
 * Nor does `auto` take one that the next launch may claim, where Flink has FLINK-39964 (before 2.4): if the job
 * uses RocksDB, incrementally, its checkpoints then refer to files of the savepoint by names that are relative to
 * another directory, and none of them can be restored. Flink does not tell whether checkpoints are incremental, so
 * they count as it; that a job does not claim must have been seen.
 *
 * Asynchronous state (Flink 2.x), ForSt among it, has no canonical savepoints at all: Flink refuses one by failing the
 * task, so that each attempt restarts the job. `auto` takes native ones of it, whatever else is true.
 */
#ifndef DREY_CORE_SAVEPOINT_FORMAT_H
#define DREY_CORE_SAVEPOINT_FORMAT_H

#include "core/journal/journal.h"
#include "core/snapshot.h"

enum format_policy {
	FORMAT_POLICY_AUTO,
	FORMAT_POLICY_CANONICAL,
	FORMAT_POLICY_NATIVE,
};
extern const char *const format_policy_words[]; /* as in drey.yaml, by value; NULL at the end */

/* What would become of a native savepoint that the same job is restored from. */
enum native_risk {
	NATIVE_SAFE,
	NATIVE_CLAIMED, /* it is claimed, and no checkpoint can be restored */
	NATIVE_UNKNOWN, /* or it may be: what the job does is not known */
};

/* `loses_claimed`: this Flink has FLINK-39964. */
enum native_risk native_risk(bool loses_claimed, enum claim_mode claim, enum state_backend backend);

/* The launch was restored from a native savepoint that it claims, or may: in claim mode LEGACY, too, Flink may build its
 * checkpoints upon the files of the savepoint. `legacy`: this Flink has that mode, which looks like NO_CLAIM. */
bool native_may_be_claimed(const struct journal *journal, const struct launch *launch, bool legacy);

/* A task has failed for this reason: Flink has no canonical savepoint of its state. */
bool canonical_was_refused(const char *failure);

/* `no_canonical`: Flink refuses one of this job. FORMAT_UNKNOWN: the operation writes no savepoint. */
enum snapshot_format savepoint_format(enum format_policy policy, enum operation_kind kind,
				      enum operation_reason reason, enum native_risk risk,
				      bool no_canonical);

#endif
