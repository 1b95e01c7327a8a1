/*
 * snapshots - lists the checkpoints and savepoints under a directory.
 *
 * Source: Flink's AbstractFsCheckpointStorageAccess: checkpoints are <dir>/<job
 * id>/chk-<n>/_metadata (without the job id where execution.checkpointing.create-subdir is false),
 * savepoints are <dir>/savepoint-<6 hex of the job id>-<12 hex>/_metadata. `_metadata` is written
 * last: without it the snapshot is incomplete and unusable.
 *
 * Only names and dates are read here; verify.h reads the content.
 */
#ifndef DREY_STORE_SNAPSHOTS_H
#define DREY_STORE_SNAPSHOTS_H

#include <stdint.h>

#include "base/err.h"
#include "store/store.h"

enum snapshots_kind { SNAPSHOTS_CHECKPOINT, SNAPSHOTS_SAVEPOINT };

enum snapshots_state {
	SNAPSHOTS_COMPLETE,   /* `_metadata` exists */
	SNAPSHOTS_INCOMPLETE, /* proven not to exist */
	SNAPSHOTS_UNREADABLE, /* not known, see `why` */
};

struct snapshots_item {
	const char *path; /* of the directory, canonical spelling (store/uri.h) */
	enum snapshots_kind kind;
	enum snapshots_state state;
	const char *job_id;    /* 32 hex digits, the first 6 of a savepoint's; "" not in the name */
	int64_t checkpoint_id; /* from the name; -1 for savepoints */
	int64_t mtime_unix_ms; /* of `_metadata`; -1 unless complete */
	int64_t size_bytes;    /* of `_metadata`; -1 unless complete */
	const struct err *why; /* unreadable only */
};

/* The item and its texts are borrowed for the call. Return as store_entry_fn does. */
typedef int (*snapshots_fn)(void *ctx, const struct snapshots_item *item, struct err *err);

/* Is a job of interest? */
typedef bool (*snapshots_job_fn)(void *ctx, const char *job_id);

/* All checkpoints of the jobs that `wanted` accepts (NULL: of all), in no order. Of other jobs not
 * even the names are read. Checkpoints without a job id in their path count as accepted.
 * ERR_ABSENT: the checkpoint directory does not exist. On -1 the listing is void. */
int snapshots_list_jobs(struct store *store, const char *checkpoint_dir, snapshots_job_fn wanted,
			snapshots_fn fn, void *ctx, struct err *err);

/* All savepoints, of any job, and what has a _metadata under another name than Flink gives: its job is not
 * known (""). Otherwise as above. */
int snapshots_list_savepoints(struct store *store, const char *savepoint_dir, snapshots_fn fn,
			      void *ctx, struct err *err);

/* The `_metadata` of a snapshot, which is given by its directory or by that file. Caller frees. */
char *snapshots_metadata_uri(const char *path);
/* Its directory, likewise. */
char *snapshots_dir_uri(const char *path);

#endif
