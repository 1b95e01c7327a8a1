#include "run/observe/observe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "core/job_id.h"
#include "core/resolve/listing_doubt.h"
#include "run/observe/observe_internal.h"
#include "store/sightings.h"

/* ---- the plan ---- */

static void know(struct observe_plan *plan, const struct snapshot *snapshot)
{
	plan->known = xreallocarray(plan->known, plan->known_count + 1, sizeof(*plan->known));
	snapshot_copy(&plan->known[plan->known_count], snapshot);
	/* Facts are what is seen now, not what was seen then. */
	plan->known[plan->known_count].verified = false;
	plan->known[plan->known_count].verified_unix_ms = 0;
	plan->known[plan->known_count].metadata_unix_ms = 0;
	plan->known[plan->known_count].metadata_bytes = 0;
	plan->known[plan->known_count].metadata_version = 0;
	plan->known_count++;
}

/* The newest checkpoint that was reported of the launch that made the last one. Where it lies is listed, too, but
 * its path may tell of no directory. */
static void know_last_checkpoint(struct observe_plan *plan, const struct journal *journal)
{
	for (size_t i = journal->launch_count; i-- > 0;) {
		const struct launch *launch = &journal->launches[i];
		struct snapshot last = {.path = launch->last_checkpoint_path,
					.kind = SNAPSHOT_CHECKPOINT,
					.checkpoint_id = launch->last_checkpoint_id,
					.completed_unix_ms = launch->last_checkpoint_unix_ms,
					.size_bytes = -1,
					.file_count = -1};

		if (!last.path)
			continue;
		memcpy(last.job_id, launch->job_id, sizeof(last.job_id));
		if (strchr(last.path, '/')) /* else kept in memory, or somewhere without a name */
			know(plan, &last);
		return;
	}
}

static void know_journal(struct observe_plan *plan, const struct journal *journal)
{
	for (size_t i = 0; i < journal->snapshot_count; i++)
		know(plan, &journal->snapshots[i]);
	for (size_t i = 0; i < journal->launch_count; i++) {
		const struct launch *launch = &journal->launches[i];
		struct snapshot origin = {.path = launch->restore_path,
					  .kind = launch->restore_kind,
					  .checkpoint_id = launch->restore_checkpoint_id,
					  .completed_unix_ms = launch->restore_completed_unix_ms,
					  .size_bytes = -1,
					  .file_count = -1};

		if (launch->restore_path)
			know(plan, &origin);
	}
	/* MUT: the last checkpoint on record is not searched */
	know_last_checkpoint(plan, journal);
}

static void know_result(struct observe_plan *plan, const struct journal *journal)
{
	const struct launch *launch = journal_open_launch(journal);

	if (!launch)
		return;
	memcpy(plan->result_job, launch->job_id, JOB_ID_BYTES);
	memcpy(plan->result_application, launch->application_id, JOB_ID_BYTES);
	plan->result_dir = xstrdup(launch->job_result_path);
}

/* The last launch comes last. */
static void know_jobs(struct observe_plan *plan, const struct journal *journal)
{
	size_t most = journal->former_job_count + journal->launch_count, n = 0;

	plan->job_ids = xcalloc(most + 1, sizeof(*plan->job_ids));
	for (size_t i = 0; i < journal->former_job_count; i++)
		/* MUT: jobs dropped from the journal count as foreign */
		if (strlen(journal->former_jobs[i]) == JOB_ID_BYTES - 1)
			memcpy(plan->job_ids[n++], journal->former_jobs[i], JOB_ID_BYTES);
	for (size_t i = 0; i < journal->launch_count; i++)
		memcpy(plan->job_ids[n++], journal->launches[i].job_id, JOB_ID_BYTES);
	plan->job_id_count = n;
}

static int by_id(const void *left, const void *right)
{
	return strcmp(left, right);
}

static void know_names(struct observe_plan *plan, const struct observe_places *places)
{
	if (!places->id_space)
		return;
	plan->names = xcalloc((size_t)places->id_count + 1, sizeof(*plan->names));
	for (int64_t n = 0; n < places->id_count; n++)
		job_id_name(places->id_space, n, plan->names[plan->name_count++]);
	qsort(plan->names, plan->name_count, sizeof(*plan->names), by_id);
}

/* A launch that was decided may not have run; the copy tells whether the journal is that of a first one. */
static void know_copy(struct observe_plan *plan, const struct observe_places *places,
		      const struct journal *journal)
{
	plan->copy_uri = xstrdup(places->copy_uri);
	plan->application = xstrdup(journal->application);
	plan->name_space = xstrdup(places->name_space);
	plan->copy_later = journal->ever_proven || journal->snapshot_count;
	for (size_t i = 0; i < journal->launch_count; i++)
		if (journal->launches[i].started_unix_ms)
			plan->copy_later = true;
	if (journal->launch_count)
		memcpy(plan->last_launch_id, journal_launch_const(journal)->launch_id,
		       JOB_ID_BYTES);
}

static void know_operation(struct observe_plan *plan, const struct journal *journal)
{
	const struct operation *operation = &journal->operation;

	if (operation->kind != OPERATION_SAVEPOINT && operation->kind != OPERATION_STOP)
		return;
	memcpy(plan->operation_job, operation->job_id, JOB_ID_BYTES);
	plan->operation_unix_ms = operation->started_unix_ms;
}

void observe_plan_init(struct observe_plan *plan, const struct observe_places *places,
		       const struct journal *journal, const char *journal_error)
{
	*plan = (struct observe_plan){.storage = places->storage,
				      .max_metadata_version = places->max_metadata_version,
				      .only_job_ids = places->ignore_foreign,
				      .seen = sightings_new()};
	plan->checkpoint_dir = xstrdup(places->checkpoint_dir);
	plan->savepoint_dir = xstrdup(places->savepoint_dir);
	plan->initial = xstrdup(places->initial);
	plan->results_dir = xstrdup(places->results_dir);
	know_names(plan, places);
	if (!journal) {
		plan->journal_state = SOURCE_UNREADABLE;
		plan->journal_detail = xstrdup(journal_error);
		return;
	}
	plan->journal_state = journal->launch_count ? SOURCE_PRESENT : SOURCE_ABSENT;
	plan->journal_detail = journal->launch_count
				       ? xasprintf("%zu launches", journal->launch_count)
				       : xstrdup("no launch on record");
	if (journal->intent.restore.kind == RESTORE_PATH &&
	    !(journal->intent.restore.token &&
	      journal_is_consumed(journal, journal->intent.restore.token)))
		plan->request = xstrdup(journal->intent.restore.path);
	know_jobs(plan, journal);
	know_result(plan, journal);
	know_journal(plan, journal);
	know_copy(plan, places, journal);
	know_operation(plan, journal);
	plan->first = listing_first(journal, plan->checkpoint_dir);
	lineage_dirs_find(journal, plan->checkpoint_dir, plan->savepoint_dir, &plan->lineage);
}

void observe_plan_add_ha(struct observe_plan *plan, struct ha_maps *maps, enum source_state state,
			 const char *detail)
{
	ha_maps_join(&plan->ha, maps);
	if (plan->ha_state != SOURCE_UNREADABLE) /* the first reason stays */
		xstrset(&plan->ha_detail, detail);
	if (plan->ha_state != SOURCE_UNREADABLE)
		plan->ha_state = state;
}

void observe_plan_release(struct observe_plan *plan)
{
	for (size_t i = 0; i < plan->known_count; i++)
		snapshot_release(&plan->known[i]);
	free(plan->known);
	lineage_dirs_release(&plan->lineage);
	free(plan->job_ids);
	free(plan->names);
	free(plan->checkpoint_dir);
	free(plan->savepoint_dir);
	free(plan->initial);
	free(plan->result_dir);
	free(plan->first);
	free(plan->results_dir);
	free(plan->request);
	free(plan->journal_detail);
	free(plan->ha_detail);
	free(plan->ha_former);
	free(plan->lock_held);
	free(plan->copy_uri);
	free(plan->application);
	free(plan->name_space);
	ha_maps_release(&plan->ha);
	sightings_free(plan->seen);
	*plan = (struct observe_plan){0};
}

/* ---- one look ---- */

/* A snapshot that is named instead of found: the initial savepoint, a request, the journal's.
 * Returns its index. */
static size_t add_named(struct look *look, enum source_kind source, const struct snapshot *named)
{
	struct candidate *c = facts_add(look->facts, source, named);

	/* what a listing has found is there */
	if (c->integrity == INTEGRITY_UNCHECKED &&
	    !(facts_is_listed(c->source) && c->snapshot.checkpoint_id))
		observe_note_peek(look, c);
	return (size_t)(c - look->facts->candidates);
}

static size_t add_path(struct look *look, enum source_kind source, const char *path,
		       enum snapshot_origin origin)
{
	struct snapshot named = {.path = (char *)(uintptr_t)path,
				 .kind = SNAPSHOT_SAVEPOINT,
				 .origin = origin,
				 .size_bytes = -1,
				 .file_count = -1};

	return path ? add_named(look, source, &named) : 0;
}

/* How the named snapshot was read, once it has been looked at. */
static void set_named(struct look *look, enum source_kind source, const char *path, size_t index)
{
	const struct candidate *c = &look->facts->candidates[index];

	if (!path)
		facts_set_source(look->facts, source, SOURCE_NOT_CONFIGURED, NULL);
	else if (c->integrity == INTEGRITY_UNREADABLE)
		facts_set_source(look->facts, source, SOURCE_UNREADABLE, c->detail);
	else
		facts_set_source(look->facts, source,
				 c->integrity == INTEGRITY_INCOMPLETE ? SOURCE_ABSENT
								      : SOURCE_PRESENT,
				 c->detail ? c->detail : path);
}

static void list_lineage(struct look *look)
{
	const struct lineage_dirs *dirs = &look->plan->lineage;

	for (size_t i = 0; i < dirs->count; i++)
		observe_list_lineage(look, &dirs->list[i]);
	if (dirs->left_out)
		facts_set_source(look->facts, SOURCE_LINEAGE, SOURCE_UNREADABLE,
				 "unproven launches wrote to too many directories");
}

void observe_gather(const struct observe_plan *plan, struct facts *ret_facts)
{
	struct look look = {.plan = plan,
			    .facts = ret_facts,
			    .stores = {.config = plan->storage, .seen = plan->seen}};
	struct snapshot stop;
	size_t initial, request;

	*ret_facts = (struct facts){.max_metadata_version = plan->max_metadata_version,
				    .now_unix_ms = clock_unix_ms()};
	facts_set_source(ret_facts, SOURCE_JOURNAL, plan->journal_state, plan->journal_detail);
	observe_sort_jobs(&look);
	observe_list(&look, SOURCE_CHECKPOINTS, plan->checkpoint_dir);
	observe_list(&look, SOURCE_SAVEPOINTS, plan->savepoint_dir);
	list_lineage(&look);
	observe_ha(&look);
	observe_result(&look);
	observe_traces(&look);
	if (facts_stop(ret_facts, &stop))
		add_named(&look, SOURCE_RESULTS, &stop);
	observe_copy(&look);
	for (size_t i = 0; i < plan->known_count; i++)
		add_named(&look, SOURCE_JOURNAL, &plan->known[i]);
	initial = add_path(&look, SOURCE_INITIAL, plan->initial, ORIGIN_INITIAL);
	request = add_path(&look, SOURCE_REQUEST, plan->request, ORIGIN_REQUEST);
	observe_note_next(&look);
	observe_peek(&look);
	set_named(&look, SOURCE_INITIAL, plan->initial, initial);
	set_named(&look, SOURCE_REQUEST, plan->request, request);
	ret_facts->names_read = facts_are_read(ret_facts);
	stores_release(&look.stores);
	free(look.jobs);
}
