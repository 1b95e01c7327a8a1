/*
 * job_result - how a job ended, as Flink has left it in a file. Flink writes one when a job has come to
 * FINISHED, FAILED or CANCELED, and before it forgets the job: it outlives the JobManager.
 *
 * Two kinds of file say so:
 *   - an entry of the job result store, <job id>_DIRTY.json, renamed to <job id>.json after the clean-up.
 *     Only a Flink with high availability writes it to storage; without, the store is in its memory.
 *       {"result":{"id":"<32 hex>","application-status":"SUCCEEDED",...},"version":1}
 *     Source: org.apache.flink.runtime.highavailability.FileSystemJobResultStore,
 *     org.apache.flink.runtime.rest.messages.json.JobResultSerializer (1.20 to 2.3).
 *   - the job's archive for the history server, a JSON document with answers of the REST API, also without
 *     high availability:
 *       {"archive":[{"path":"/jobs/overview","json":"{\"jobs\":[{\"jid\":...,\"state\":\"FINISHED\"...
 *     <job id> in jobmanager.archive.fs.dir (1.20), or
 *     <cluster id>/applications/<application id>/jobs/<job id> there (2.3).
 *     Source: org.apache.flink.runtime.history.FsJobArchivist (1.20), FsJsonArchivist (2.3).
 *
 * A stop with savepoint ends a job as SUCCEEDED / FINISHED too; only the archive can tell.
 *
 * Errors: ERR_FORMAT for what is no such file, or not enough of one; ERR_CONFIG for a version that is newer
 * than JOB_RESULT_VERSION.
 */
#ifndef DREY_FORMAT_JOB_RESULT_H
#define DREY_FORMAT_JOB_RESULT_H

#include <stddef.h>

#include "base/err.h"

#define JOB_RESULT_VERSION   1
#define JOB_RESULT_MAX_BYTES (8 * 1024 * 1024) /* accumulators and a stack trace are in it */
/* An archive has each subtask several times and may be huge; what counts comes first in it. */
#define JOB_ARCHIVE_HEAD_BYTES (1024 * 1024)

enum job_result_status {
	JOB_RESULT_UNKNOWN, /* a word that Flink has for a job that has not ended */
	JOB_RESULT_SUCCEEDED,
	JOB_RESULT_FAILED,
	JOB_RESULT_CANCELED,
};

struct job_result {
	char job_id[33]; /* 32 digits of lower-case hex */
	enum job_result_status status;
	/* path of the savepoint with which it was stopped; owned; NULL = no such thing, or not
	 * known */
	char *stop;
};

/* An entry of the job result store, whole. The caller releases *ret_result. */
int job_result_parse(const char *text, size_t len_bytes, struct job_result *ret_result,
		     struct err *err);

/* The same of the first JOB_ARCHIVE_HEAD_BYTES of an archive, or all of a shorter one. */
int job_archive_parse(const char *text, size_t len_bytes, struct job_result *ret_result,
		      struct err *err);

void job_result_release(struct job_result *result);

const char *job_result_status_name(enum job_result_status status); /* "SUCCEEDED", ... */

#endif
