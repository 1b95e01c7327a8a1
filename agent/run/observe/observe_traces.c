/*
 * observe_traces: what launches have left behind besides snapshots. The result store is listed to the
 * last file, one request for a thousand: where the journal knows of no launch, because then it may be
 * lost; and where job ids are numbered, because then a used one may be drawn.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "format/job_result.h"
#include "run/observe/observe_internal.h"
#include "store/content.h"
#include "store/uri.h"

#define ID_DIGITS ((size_t)JOB_ID_BYTES - 1)

/* ---- whose is a file of the result store? ---- */

/* <launch>/<job>.json, <launch>/<job>_DIRTY.json; an archive: <launch>/<job>, or
 * <launch>/<cluster>/applications/<application>/jobs/<job>. What is in application-<id> is of no job. */
static bool job_of_file(const char *name, char job_id[JOB_ID_BYTES], bool *ret_archive)
{
	const char *last = strrchr(name, '/');
	const char *rest;

	if (!last || !strncmp(name, "application-", strlen("application-")))
		return false;
	last++;
	if (strspn(last, "0123456789abcdef") != ID_DIGITS)
		return false;
	rest = last + ID_DIGITS;
	*ret_archive = !*rest;
	/* any other name of 32 digits there is that of an application */
	if (*ret_archive && strchr(name, '/') != last - 1 &&
	    (last - name < 5 || strncmp(last - 5, "jobs/", 5) != 0))
		return false;
	if (*rest && strcmp(rest, ".json") != 0 && strcmp(rest, "_DIRTY.json") != 0)
		return false;
	memcpy(job_id, last, ID_DIGITS);
	job_id[ID_DIGITS] = '\0';
	return true;
}

/* ---- the listing ---- */

struct results {
	struct look *look;
	size_t count;
};

static int note_result(void *ctx, const struct store_leaf *leaf, struct err *err)
{
	struct results *results = ctx;
	const struct observe_plan *plan = results->look->plan;
	char job_id[JOB_ID_BYTES];
	cleanup_free char *path = NULL;
	bool archive;

	(void)err;
	if (leaf->odd || !job_of_file(leaf->name, job_id, &archive))
		return 0;
	results->count++;
	observe_note_id(results->look, job_id);
	if (!observe_is_lost(plan))
		return 0;
	path = uri_join(plan->results_dir, leaf->name);
	facts_add_trace(results->look->facts,
			&(struct trace){.kind = TRACE_RESULT,
					.name = job_id,
					.path = path,
					.unix_ms = leaf->stat.mtime_unix_ms > 0
							   ? leaf->stat.mtime_unix_ms
							   : 0,
					.surely_ours = observe_is_numbered(results->look, job_id)});
	return 0;
}

/* ---- what the newest says ---- */

static void take_result(struct trace *trace, const struct job_result *result)
{
	if (strcmp(result->job_id, trace->name) != 0)
		return;
	trace->end = observe_end_of(result);
	free(trace->says);
	trace->says = result->stop ? xasprintf("it was stopped with %s", result->stop)
				   : xasprintf("it has %s", job_result_status_name(result->status));
}

/* What cannot be read or understood says nothing, and is a trace all the same. Of a job with an archive
 * that is read, because only it can tell a stop from an end. */
static void read_newest(struct look *look)
{
	struct facts *facts = look->facts;
	const struct trace *newest = facts_newest_trace(facts, TRACE_RESULT);

	for (size_t i = 0; newest && i < facts->trace_count; i++) {
		struct trace *trace = &facts->traces[i];
		cleanup_buf struct buf text = BUF_INIT;
		struct job_result result = {0};
		struct err err = {0};
		struct store *store;
		bool archive = !strchr(uri_name(trace->path), '.');

		if (trace->kind != TRACE_RESULT || strcmp(trace->name, newest->name) != 0)
			continue;
		store = stores_get(&look->stores, trace->path, &err);
		if (!store ||
		    observe_read_result(store, trace->path, JOB_ARCHIVE_HEAD_BYTES, &text, &err) <
			    0 ||
		    (archive ? job_archive_parse : job_result_parse)(buf_str(&text), text.len_bytes,
								     &result, &err) < 0)
			continue;
		take_result(trace, &result);
		job_result_release(&result);
	}
}

/* The job was stopped with a savepoint: the entry of the result store calls that SUCCEEDED, too. */
static void join_newest(struct facts *facts)
{
	for (size_t i = 0; i < facts->trace_count; i++)
		for (size_t k = 0; k < facts->trace_count; k++) {
			const struct trace *stop = &facts->traces[k];
			struct trace *entry = &facts->traces[i];

			if (stop->end == JOB_END_STOPPED && entry->end == JOB_END_FINISHED &&
			    !strcmp(stop->name, entry->name)) {
				entry->end = JOB_END_STOPPED;
				xstrset(&entry->says, stop->says);
			}
		}
}

/* ---- Flink's HA data ---- */

static void note_maps(struct look *look)
{
	const struct ha_maps *maps = &look->plan->ha;

	for (size_t i = 0; i < maps->count && observe_is_lost(look->plan); i++)
		if (*maps->maps[i].job_id)
			facts_add_trace(look->facts, &(struct trace){.kind = TRACE_HA,
								     .name = maps->maps[i].job_id,
								     .path = maps->maps[i].name,
								     .surely_ours = true});
}

void observe_traces(struct look *look)
{
	const struct observe_plan *plan = look->plan;
	struct source_fact *listed = &look->facts->results_listed;
	struct results results = {.look = look};
	struct err err = {0};
	struct store *store;

	note_maps(look);
	if (!plan->results_dir || !(observe_is_lost(plan) || plan->name_count))
		return;
	listed->state = SOURCE_ABSENT;
	store = stores_get(&look->stores, plan->results_dir, &err);
	if (!store || (store_list_tree(store, plan->results_dir, note_result, &results, &err) < 0 &&
		       (err.kind != ERR_ABSENT ||
			observe_confirm_absent(store, plan->results_dir, &err) < 0))) {
		listed->state = SOURCE_UNREADABLE;
		xstrset(&listed->detail, err.msg);
		return;
	}
	if (results.count)
		listed->state = SOURCE_PRESENT;
	read_newest(look);
	join_newest(look->facts);
}
