/*
 * operation - savepoints, stop with savepoint, checkpoints, and disposal: triggered once, then polled.
 *
 * Rules that Flink imposes:
 *   - The caller generates a new random trigger id for every operation and journals it before the
 *     POST. Savepoints and stops share one cache of trigger ids in Flink: a stop with the id of an
 *     earlier savepoint answers 202, reports the old location, and does not stop. Repeating a POST
 *     with the same id is safe and starts nothing twice, as long as the JobManager process lives.
 *   - One operation at a time: with a second stop in flight the first fails, usually both. The job
 *     restarts (and the second may then complete), or is FAILED permanently when the second failure
 *     coincides with the restart (1.20: "Inconsistent execution state").
 *   - A POST for an unknown job is accepted (202) too; only the status shows the error.
 *   - Every result must be read until it is not IN_PROGRESS: unread, it keeps the JVM alive for up
 *     to five minutes after the job ends, and turns exit status 0 into 2. After a SIGTERM it halts itself
 *     5 s later, with status 239. The result of a checkpoint does the same (seen with 1.20 and 2.3).
 *   - After a restart of the JobManager the status is FLINK_ABSENT: check the target directory.
 */
#ifndef DREY_FLINK_OPERATION_H
#define DREY_FLINK_OPERATION_H

#include "flink/rest.h"

enum flink_savepoint_format {
	FLINK_SAVEPOINT_CANONICAL,
	FLINK_SAVEPOINT_NATIVE,
};

/* Everything is borrowed. */
struct flink_savepoint_request {
	const char *job_id;
	const char *trigger_id;       /* 32 hex digits, fresh */
	const char *target_directory; /* NULL: Flink's configured one */
	enum flink_savepoint_format format;
	/* stop only: let windows and timers fire first; the job cannot continue later */
	bool drain;
};

/* POST /jobs/:id/savepoints and /jobs/:id/stop. FLINK_OK: accepted, which proves nothing yet.
 * ERR_CONFIG (400): no directory given and none configured, or a bad id. ERR_RETRY: may have been
 * accepted; repeat with the same trigger id. */
enum flink_answer flink_rest_savepoint(const struct flink_rest *rest,
				       const struct flink_savepoint_request *request,
				       int64_t timeout_ms, struct err *err);
enum flink_answer flink_rest_stop(const struct flink_rest *rest,
				  const struct flink_savepoint_request *request, int64_t timeout_ms,
				  struct err *err);

enum flink_operation_state {
	FLINK_OPERATION_IN_PROGRESS,
	FLINK_OPERATION_COMPLETED,
	FLINK_OPERATION_FAILED, /* Flink says COMPLETED, with a failure-cause */
};

struct flink_operation {
	enum flink_operation_state state;
	char *location;        /* completed savepoint or stop; NULL for the others */
	int64_t checkpoint_id; /* completed checkpoint; 0 for the others */
	char *failure_class;   /* failed: full name of the exception, without wrappers */
	char *failure;         /* failed: one sentence with the deepest cause */
	/* failed stop: the savepoint exists and is good, only the stop failed; the job has
	 * FAILED */
	char *saved_location;
	/* failed: no such job (yet); Flink keeps this answer for 5 min, so retry with another
	 * trigger id */
	bool job_unknown;
};

/* GET /jobs/:id/savepoints/:trigger, for savepoints and stops. FLINK_ABSENT: the trigger is unknown
 * to Flink. Release with flink_operation_release. */
enum flink_answer flink_rest_operation(const struct flink_rest *rest, const char *job_id,
				       const char *trigger_id, int64_t timeout_ms,
				       struct flink_operation *ret_operation, struct err *err);
void flink_operation_release(struct flink_operation *operation);
#define cleanup_flink_operation __attribute__((cleanup(flink_operation_release)))

/*
 * POST /jobs/:id/checkpoints: take a checkpoint now, full or as the job is configured. Flink has it from
 * 1.17 on; an older one: ERR_CONFIG. (Its third type, INCREMENTAL, it rejects: FLINK-33723.) A
 * repeated POST with the same trigger id is the same checkpoint. Answers as flink_rest_savepoint; the job
 * is checked only in the result.
 */
enum flink_answer flink_rest_checkpoint(const struct flink_rest *rest, const char *job_id,
					const char *trigger_id, bool full, int64_t timeout_ms,
					struct err *err);

/* GET /jobs/:id/checkpoints/:trigger; as flink_rest_operation. It has no path, only the id. */
enum flink_answer flink_rest_checkpoint_operation(const struct flink_rest *rest, const char *job_id,
						  const char *trigger_id, int64_t timeout_ms,
						  struct flink_operation *ret_operation,
						  struct err *err);

/* POST /savepoint-disposal: Flink chooses the trigger id. Not idempotent, but disposing of a
 * deleted snapshot only fails. */
enum flink_answer flink_rest_dispose(const struct flink_rest *rest, const char *path,
				     int64_t timeout_ms, char ret_trigger_id[FLINK_ID_CHARS + 1],
				     struct err *err);

/* GET /savepoint-disposal/:trigger; as flink_rest_operation. */
enum flink_answer flink_rest_disposal(const struct flink_rest *rest, const char *trigger_id,
				      int64_t timeout_ms, struct flink_operation *ret_operation,
				      struct err *err);

#endif
