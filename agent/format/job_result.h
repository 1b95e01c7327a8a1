/*
 * job_result - how a job ended, from a file of Flink. Flink writes one when a job has reached
 * FINISHED, FAILED or CANCELED, before it forgets the job: the file outlives the JobManager.
 *
 * There are two kinds of file:
 *   - an entry of the job result store, <job id>_DIRTY.json, renamed to <job id>.json after the
 *     clean-up. Only a Flink with high availability writes it to storage; without, the store is in
 *     its memory.
 *       {"result":{"id":"<32 hex>","application-status":"SUCCEEDED",...},"version":1}
 *     Source: org.apache.flink.runtime.highavailability.FileSystemJobResultStore,
 *     org.apache.flink.runtime.rest.messages.json.JobResultSerializer (1.20 to 2.3).
 *   - the job's archive for the history server, a JSON document with answers of the REST API, even
 *     without high availability:
 *       {"archive":[{"path":"/jobs/overview","json":"{\"jobs\":[{\"jid\":...,\"state\":\"FINISHED\"...
 *     <job id> in jobmanager.archive.fs.dir (1.20), or
 *     <cluster id>/applications/<application id>/jobs/<job id> there (2.3).
 *     Source: org.apache.flink.runtime.history.FsJobArchivist (1.20), FsJsonArchivist (2.3).
 *
 * Beside the archives of an application's jobs, Flink 2.3 keeps that of the application itself, application-summary, which is
 * written last. When main() fails behind its job, Flink cancels that job: only the application is FAILED.
 *
 * A stop with savepoint ends a job as SUCCEEDED / FINISHED too; only the
 * archive shows the difference.
 *
 * Errors: ERR_FORMAT for a file of another kind, or a truncated one; ERR_CONFIG for a version newer
 * than JOB_RESULT_VERSION.
 */
#ifndef DREY_FORMAT_JOB_RESULT_H
#define DREY_FORMAT_JOB_RESULT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

#define JOB_RESULT_VERSION   1
#define JOB_RESULT_MAX_BYTES (8 * 1024 * 1024) /* it contains accumulators and a stack trace */
/* An archive has each subtask several times and may be huge; the relevant part comes first. */
#define JOB_ARCHIVE_HEAD_BYTES (1024 * 1024)

enum job_result_status {
	JOB_RESULT_UNKNOWN, /* Flink's status for a job that has not ended */
	JOB_RESULT_SUCCEEDED,
	JOB_RESULT_FAILED,
	JOB_RESULT_CANCELED,
};

struct job_result {
	char job_id[33]; /* 32 digits of lower-case hex */
	enum job_result_status status;
	/* path of the savepoint with which it was stopped; owned; NULL = none, or not known */
	char *stop;
};

/* An entry of the job result store, whole. The caller releases *ret_result. */
int job_result_parse(const char *text, size_t len_bytes, struct job_result *ret_result,
		     struct err *err);

/* The same from the first JOB_ARCHIVE_HEAD_BYTES of an archive, or from all of a shorter one. */
int job_archive_parse(const char *text, size_t len_bytes, struct job_result *ret_result,
		      struct err *err);

void job_result_release(struct job_result *result);

/* Has this application failed? From the first JOB_ARCHIVE_HEAD_BYTES of its archive, or from all of a shorter one. */
int application_archive_parse(const char *text, size_t len_bytes, const char *application_id,
			      bool *ret_failed, struct err *err);

const char *job_result_status_name(enum job_result_status status); /* "SUCCEEDED", ... */

#endif
