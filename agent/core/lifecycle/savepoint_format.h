/*
 * savepoint_format - in which format a savepoint is taken. Pure.
 *
 * A native savepoint is what the state backend writes anyway, and is taken and restored much faster
 * than a canonical one. But a job can continue from it only with the same state backend, and Flink
 * does not promise it between all its lines. So `auto` takes it only if the next launch is known:
 * a restart, after which this drey starts the same version again. After a suspension, an upgrade or
 * the end of the container, anything may follow, and periodic and requested savepoints are kept for
 * that.
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

/* FORMAT_UNKNOWN: the operation writes no savepoint. */
enum snapshot_format savepoint_format(enum format_policy policy, enum operation_kind kind,
				      enum operation_reason reason);

#endif
