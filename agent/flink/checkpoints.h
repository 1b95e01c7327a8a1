/*
 * checkpoints - GET /jobs/:id/checkpoints: Flink's statistics of snapshots.
 *
 * The statistics live in the JobManager's memory: after its restart only `restored` is left. Flink
 * answers from a copy that is up to 3 s old (rest.cache.checkpoint-statistics.timeout, which
 * launch.h sets to 0; before 1.18 web.refresh-interval). `history` holds the last 10
 * (web.checkpoints.history) of either kind, newest first; a savepoint in it that drey did not
 * trigger was requested by others. Paths are as Flink writes them: "file:/a/b", one slash.
 */
#ifndef DREY_FLINK_CHECKPOINTS_H
#define DREY_FLINK_CHECKPOINTS_H

#include "flink/rest.h"

#define FLINK_CHECKPOINT_HISTORY_MAX 1000

enum flink_checkpoint_status {
	FLINK_CHECKPOINT_IN_PROGRESS,
	FLINK_CHECKPOINT_COMPLETED,
	FLINK_CHECKPOINT_FAILED,
};

struct flink_checkpoint {
	int64_t id;
	enum flink_checkpoint_status status;
	bool is_savepoint;
	bool is_stop;   /* the savepoint of a stop (SYNC_SAVEPOINT) */
	bool discarded; /* completed, and deleted since */
	int64_t trigger_unix_ms;
	int64_t ack_unix_ms; /* the last acknowledgement; -1: none */
	int64_t duration_ms; /* trigger to end */
	int64_t state_size_bytes;
	int64_t acknowledged,
		subtasks; /* how many have stored their state, of how many; 0 = not told */
	/* read while barriers were awaited; in flight, and stored with it */
	int64_t processed_bytes, persisted_bytes;
	int64_t failure_unix_ms; /* failed: when; 0 = not known */
	char *path;              /* completed and stored outside the JobManager, else NULL */
	char *failure;           /* failed: first line of the reason, may be NULL */
};

struct flink_checkpoints {
	int64_t restored_count, total, in_progress, completed, failed; /* counts */
	struct flink_checkpoint *latest_completed; /* never a savepoint; NULL: none */
	struct flink_checkpoint *latest_savepoint;
	struct flink_checkpoint *latest_failed;
	struct {
		bool present;
		int64_t id;
		int64_t unix_ms;
		/* true for anything given to --fromSavepoint, even a chk-N; false only when Flink's
		 * own HA or a failover restored it, or the job claims it */
		bool is_savepoint;
		char *path; /* may be NULL */
	} restored;
	struct flink_checkpoint *history; /* newest first */
	size_t history_count;
};

/* FLINK_ABSENT: no such job, or "Checkpointing has not been enabled" (*ret_disabled, may be NULL,
 * tells which; it is also set with FLINK_ABSENT). Release with flink_checkpoints_release. */
enum flink_answer flink_rest_checkpoints(const struct flink_rest *rest, const char *job_id,
					 int64_t timeout_ms,
					 struct flink_checkpoints *ret_checkpoints,
					 bool *ret_disabled, struct err *err);
void flink_checkpoints_release(struct flink_checkpoints *checkpoints);
#define cleanup_flink_checkpoints __attribute__((cleanup(flink_checkpoints_release)))

/* The completed checkpoint or savepoint with this id; NULL: not (yet) in the statistics; borrowed. */
const struct flink_checkpoint *flink_checkpoints_find(const struct flink_checkpoints *checkpoints,
						      int64_t id);

/* How many checkpoints, without savepoints, have failed since the newest completed one, as far as the
 * history goes back; *ret_newest (may be NULL): the newest of them, borrowed; NULL: none. */
int64_t flink_checkpoints_failures(const struct flink_checkpoints *checkpoints,
				   const struct flink_checkpoint **ret_newest);

/* GET /jobs/:id/checkpoints/config: how the job makes checkpoints, whoever has set that: Flink's configuration
 * or the code of the job. It does not change while the job lives. What this Flink does not say is NULL
 * or false. */
struct flink_checkpoint_config {
	int64_t interval_ms; /* 0 = no periodic checkpoints */
	int64_t min_pause_ms;
	bool externalization_known;
	bool externalized, delete_on_cancellation; /* `externalization` */
	char state_backend[64];      /* "EmbeddedRocksDBStateBackend"; "" = not said */
	char checkpoint_storage[64]; /* "FileSystemCheckpointStorage" */
	bool unaligned, changelog;
};

/* FLINK_ABSENT: as flink_rest_checkpoints(). */
enum flink_answer flink_rest_checkpoint_config(const struct flink_rest *rest, const char *job_id,
					       int64_t timeout_ms,
					       struct flink_checkpoint_config *ret_config,
					       struct err *err);

/* GET /jobs/:id/config: what Flink does when a task fails, in its own words: "Restart deactivated.", "Restart with
 * fixed delay (PT0.5S). #10 restart attempts.", or "Cluster level default restart strategy", which 1.20 says also
 * where the code of the job has set another one. "" = not said, or longer than that. */
#define FLINK_STRATEGY_BYTES 200
enum flink_answer flink_rest_restart_strategy(const struct flink_rest *rest, const char *job_id,
					      int64_t timeout_ms,
					      char ret_strategy[FLINK_STRATEGY_BYTES],
					      struct err *err);

#endif
