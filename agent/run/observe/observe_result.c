/*
 * observe_result: what Flink has left behind about the end of the last launch. One listing of the
 * directory that only this launch has, with its second witness at the same time, and at most one file of each kind: four
 * requests, six where it holds both kinds (format/job_result.h).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/words.h"
#include "format/job_result.h"
#include "run/observe/observe_internal.h"

#define CLUSTER_DIGITS 32
#define CHUNK_BYTES    65536

/* What is in the directory. */
struct found {
	const char *job_id;
	bool entry, dirty, archive;
	int64_t newest_unix_ms;           /* of these */
	char cluster[CLUSTER_DIGITS + 1]; /* directory of the archives of Flink 2.3; "" = none */
};

static int note_entry(void *ctx, const struct store_entry *entry, struct err *err)
{
	struct found *found = ctx;
	size_t digits = strlen(found->job_id);
	const char *rest = entry->name + digits;

	(void)err;
	if (entry->is_prefix && strlen(entry->name) == CLUSTER_DIGITS &&
	    strspn(entry->name, "0123456789abcdef") == CLUSTER_DIGITS)
		memcpy(found->cluster, entry->name, sizeof(found->cluster));
	if (entry->is_prefix || strncmp(entry->name, found->job_id, digits) != 0)
		return 0;
	found->entry = found->entry || !strcmp(rest, ".json");
	found->dirty = found->dirty || !strcmp(rest, "_DIRTY.json");
	found->archive = found->archive || !*rest;
	if (entry->stat.mtime_unix_ms > found->newest_unix_ms)
		found->newest_unix_ms = entry->stat.mtime_unix_ms;
	return 0;
}

int observe_read_result(struct store *store, const char *uri, size_t max_bytes, struct buf *text,
			struct err *err)
{
	cleanup_free char *chunk = xcalloc(CHUNK_BYTES, 1);
	struct store_stream *stream = NULL;
	size_t len = 1;
	int rc = store_read_open(store, uri, 0, &stream, err);

	while (!rc && len && text->len_bytes < max_bytes) {
		size_t want = max_bytes - text->len_bytes;

		rc = store_read(stream, chunk, want < CHUNK_BYTES ? want : CHUNK_BYTES, &len, err);
		if (!rc)
			buf_add(text, chunk, len);
	}
	store_read_close(stream);
	return rc < 0 ? err_wrap(err, "%s", uri) : 0;
}

typedef int (*parse_fn)(const char *text, size_t len_bytes, struct job_result *ret_result,
			struct err *err);

enum job_end observe_end_of(const struct job_result *result)
{
	static const enum job_end ends[] = {[JOB_RESULT_UNKNOWN] = JOB_END_UNKNOWN,
					    [JOB_RESULT_SUCCEEDED] = JOB_END_FINISHED,
					    [JOB_RESULT_FAILED] = JOB_END_FAILED,
					    [JOB_RESULT_CANCELED] = JOB_END_CANCELED};

	return result->stop ? JOB_END_STOPPED : ends[result->status];
}

static void observe_result_take(struct facts *facts, const char *job_id,
				const struct job_result *result)
{
	facts_set_end(facts, job_id, observe_end_of(result),
		      result->stop ? result->stop : job_result_status_name(result->status));
}

/* What cannot be understood counts only as long as nothing better is found. -1: it cannot be read. */
static int read_one(struct look *look, struct store *store, const char *uri, size_t max_bytes,
		    parse_fn parse, struct err *err)
{
	const char *job_id = look->plan->result_job;
	cleanup_buf struct buf text = BUF_INIT;
	struct job_result result = {0};
	struct err why = {0};
	char detail[ERR_MSG_BYTES + 64];

	if (observe_read_result(store, uri, max_bytes, &text, err) < 0)
		return -1;
	if (parse(buf_str(&text), text.len_bytes, &result, &why) == 0) {
		if (strcmp(result.job_id, job_id) != 0)
			err_set(&why, ERR_FORMAT, 0, "it is of job %s", result.job_id);
		else
			observe_result_take(look->facts, job_id, &result);
		job_result_release(&result);
	}
	if (why.kind && look->facts->ended <= JOB_END_NONE) {
		snprintf(detail, sizeof(detail), "%.300s: %.200s", uri, why.msg);
		facts_set_end(look->facts, job_id, JOB_END_UNKNOWN, detail);
	}
	return 0;
}

/* The archive comes last, because only it can tell a stop from an end. */
static int read_found(struct look *look, struct store *store, const struct found *found,
		      struct err *err)
{
	const struct observe_plan *plan = look->plan;
	cleanup_free char *entry = xasprintf("%s/%s%s", plan->result_dir, plan->result_job,
					     found->entry ? ".json" : "_DIRTY.json");
	cleanup_free char *archive =
		found->archive
			? xasprintf("%s/%s", plan->result_dir, plan->result_job)
			: xasprintf("%s/%s/applications/%s/jobs/%s", plan->result_dir,
				    found->cluster, plan->result_application, plan->result_job);
	enum job_end end;
	struct err why = {0};

	if ((found->entry || found->dirty) &&
	    read_one(look, store, entry, JOB_RESULT_MAX_BYTES, job_result_parse, err) < 0)
		return -1;
	end = look->facts->ended;
	if ((!found->archive && !*found->cluster) ||
	    (end != JOB_END_NONE && end != JOB_END_FINISHED && end != JOB_END_UNKNOWN))
		return 0;
	if (end == JOB_END_UNKNOWN) /* it may be understood from there */
		look->facts->ended = JOB_END_NONE;
	if (read_one(look, store, archive, JOB_ARCHIVE_HEAD_BYTES, job_archive_parse, &why) == 0) {
		if (end == JOB_END_FINISHED && look->facts->ended != JOB_END_STOPPED)
			look->facts->ended = end;
		return 0;
	}
	/* Flink makes the directory before the file; of an application whose jobs go on it is empty */
	if (why.kind == ERR_ABSENT) {
		look->facts->ended = end;
		return observe_confirm_absent(store, archive, err);
	}
	return err_pass(err, &why);
}

/*
 * A person has cancelled the job only if the application has not failed: Flink cancels the job of a main() that fails behind it.
 * Without an archive of the application the job's own record counts, as up to 2.2.
 */
static int read_application(struct look *look, struct store *store, const struct found *found,
			    struct err *err)
{
	const struct observe_plan *plan = look->plan;
	cleanup_free char *uri =
		xasprintf("%s/%s/applications/%s/application-summary", plan->result_dir,
			  found->cluster, plan->result_application);
	cleanup_buf struct buf text = BUF_INIT;
	bool failed = false;
	struct err why = {0};

	/* MUT: a record of a cancelled job is a person's wish, whatever became of the application */
	if (look->facts->ended != JOB_END_CANCELED || !*found->cluster ||
	    !*plan->result_application)
		return 0;
	if (observe_read_result(store, uri, JOB_ARCHIVE_HEAD_BYTES, &text, &why) < 0) {
		if (why.kind == ERR_ABSENT)
			return observe_confirm_absent(store, uri, err);
		return err_pass(err, &why);
	}
	if (application_archive_parse(buf_str(&text), text.len_bytes, plan->result_application,
				      &failed, err) < 0)
		return err_wrap(err, "%s", uri);
	if (failed)
		facts_set_end(look->facts, plan->result_job, JOB_END_FAILED,
			      "the application failed, so Flink cancelled its job");
	return 0;
}

static int look_into(struct look *look, struct err *err)
{
	const struct observe_plan *plan = look->plan;
	struct store *store = stores_get(&look->stores, plan->result_dir, err);
	struct found found = {.job_id = plan->result_job};
	/* usually there is no record, so the second listing is needed as well */
	const struct store_next next[] = {{plan->result_dir, STORE_NEXT_LIST},
					  {plan->result_dir, STORE_NEXT_IS_LISTED}};

	if (!store)
		return -1;
	store_ahead(store, next, ARRAY_LEN(next));
	if (store_list(store, plan->result_dir, note_entry, &found, err) < 0)
		return err->kind == ERR_ABSENT
			       ? observe_confirm_absent(store, plan->result_dir, err)
			       : -1;
	look->facts->ended_unix_ms = found.newest_unix_ms;
	if (read_found(look, store, &found, err) < 0)
		return -1;
	return read_application(look, store, &found, err);
}

static const char *const job_end_texts[] = {
	[JOB_END_NONE] = "it left no record of its end",
	[JOB_END_FINISHED] = "it has FINISHED",
	[JOB_END_STOPPED] = "it was stopped with a savepoint",
	[JOB_END_CANCELED] = "it was CANCELED",
	[JOB_END_FAILED] = "it has FAILED",
	[JOB_END_UNKNOWN] = "the record of its end cannot be read",
};
static WORDS_OF(job_end_texts, describe, enum job_end, "unknown");

void observe_result(struct look *look)
{
	const struct observe_plan *plan = look->plan;
	cleanup_free char *text = NULL;
	struct err err = {0};

	if (!plan->result_dir) {
		facts_set_source(look->facts, SOURCE_RESULTS, SOURCE_NOT_CONFIGURED, NULL);
		return;
	}
	facts_set_end(look->facts, plan->result_job, JOB_END_NONE, NULL);
	if (look_into(look, &err) < 0) {
		/* what was read of it tells only half */
		facts_set_end(look->facts, plan->result_job, JOB_END_NONE, NULL);
		facts_set_source(look->facts, SOURCE_RESULTS, SOURCE_UNREADABLE, err.msg);
		return;
	}
	text = xasprintf("job %s: %s", plan->result_job, describe(look->facts->ended));
	facts_set_source(look->facts, SOURCE_RESULTS,
			 look->facts->ended ? SOURCE_PRESENT : SOURCE_ABSENT, text);
}
