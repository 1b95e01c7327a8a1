#include "run/observe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "store/snapshots.h"
#include "store/store.h"
#include "store/verify.h"

/* ---- the plan ---- */

static void know(struct observe_plan *plan, const struct snapshot *snapshot)
{
	plan->known = xreallocarray(plan->known, plan->known_count + 1, sizeof(*plan->known));
	snapshot_copy(&plan->known[plan->known_count++], snapshot);
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
					  .size_bytes = -1,
					  .file_count = -1};

		if (launch->restore_path)
			know(plan, &origin);
	}
}

void observe_plan_init(struct observe_plan *plan, const struct observe_places *places,
		       const struct journal *journal, const char *journal_error)
{
	*plan = (struct observe_plan){.storage = places->storage,
				      .max_metadata_version = places->max_metadata_version};
	plan->checkpoint_dir = xstrdup(places->checkpoint_dir);
	plan->savepoint_dir = xstrdup(places->savepoint_dir);
	plan->initial = xstrdup(places->initial);
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
	plan->job_ids = xcalloc(journal->launch_count, sizeof(*plan->job_ids));
	plan->job_id_count = journal->launch_count;
	for (size_t i = 0; i < journal->launch_count; i++)
		memcpy(plan->job_ids[i], journal->launches[i].job_id, JOB_ID_BYTES);
	know_journal(plan, journal);
}

void observe_plan_release(struct observe_plan *plan)
{
	for (size_t i = 0; i < plan->known_count; i++)
		snapshot_release(&plan->known[i]);
	free(plan->known);
	free(plan->job_ids);
	free(plan->checkpoint_dir);
	free(plan->savepoint_dir);
	free(plan->initial);
	free(plan->request);
	free(plan->journal_detail);
	*plan = (struct observe_plan){0};
}

/* ---- one look ---- */

/* What the listing callbacks share. */
struct look {
	const struct observe_plan *plan;
	struct facts *facts;
	struct store *store;
	enum source_kind source;
	size_t found;
};

static void set_detail(struct candidate *c, enum integrity integrity, const char *detail)
{
	c->integrity = integrity;
	xstrset(&c->detail, detail);
}

/* Only the header: which checkpoint id is it? Errors are facts about this candidate. */
static void peek(struct look *look, struct candidate *c)
{
	struct metadata_header header;
	struct err err = {0};

	if (snapshots_peek(look->store, c->snapshot.path, &header, &err) == 0) {
		c->snapshot.checkpoint_id = header.checkpoint_id;
		c->metadata_version = header.version;
		return;
	}
	if (err.kind == ERR_FORMAT)
		set_detail(c, INTEGRITY_DAMAGED, err.msg);
	else if (err.kind == ERR_ABSENT)
		set_detail(c, INTEGRITY_INCOMPLETE, err.msg);
	else
		set_detail(c, INTEGRITY_UNREADABLE, err.msg);
}

static bool in_lineage(const struct observe_plan *plan, const char *job_id)
{
	for (size_t i = 0; i < plan->job_id_count; i++)
		if (!strncmp(plan->job_ids[i], job_id, strlen(job_id)))
			return true;
	return !plan->job_id_count;
}

static int found(void *ctx, const struct snapshots_item *item, struct err *err)
{
	struct look *look = ctx;
	bool checkpoint = item->kind == SNAPSHOTS_CHECKPOINT;
	struct snapshot snapshot = {
		.path = (char *)(uintptr_t)item->path, /* copied by facts_add() */
		.kind = checkpoint ? SNAPSHOT_CHECKPOINT : SNAPSHOT_SAVEPOINT,
		.checkpoint_id = item->checkpoint_id > 0 ? item->checkpoint_id : 0,
		.completed_unix_ms = item->mtime_unix_ms > 0 ? item->mtime_unix_ms : 0,
		.size_bytes = -1,
		.file_count = -1,
	};
	struct candidate *c;

	(void)err;
	snprintf(snapshot.job_id, sizeof(snapshot.job_id), "%s", item->job_id);
	c = facts_add(look->facts, look->source, &snapshot);
	look->found++;
	if (item->state == SNAPSHOTS_INCOMPLETE)
		set_detail(c, INTEGRITY_INCOMPLETE,
			   "there is no _metadata: it was never completed");
	else if (item->state == SNAPSHOTS_UNREADABLE)
		set_detail(c, INTEGRITY_UNREADABLE, item->why ? item->why->msg : "not readable");
	else if (!checkpoint && in_lineage(look->plan, snapshot.job_id))
		peek(look, c);
	return 0;
}

static int list_checkpoints(struct look *look, const char *dir, struct err *err)
{
	const struct observe_plan *plan = look->plan;
	struct err each = {0};

	if (!plan->job_id_count)
		return snapshots_list_checkpoints(look->store, dir, NULL, found, look, err);
	for (size_t i = 0; i < plan->job_id_count; i++)
		if (snapshots_list_checkpoints(look->store, dir, plan->job_ids[i], found, look,
					       &each) < 0 &&
		    each.kind != ERR_ABSENT) {
			*err = each;
			return -1;
		}
	return 0;
}

static void look_into(struct look *look, const char *dir)
{
	char detail[64];
	struct err err = {0};
	int result = -1;

	if (!dir) {
		facts_set_source(look->facts, look->source, SOURCE_NOT_CONFIGURED, NULL);
		return;
	}
	if (store_open(look->plan->storage, dir, &look->store, &err) < 0 ||
	    observe_directory(look->plan->storage, dir, &err) < 0)
		goto out;
	result = look->source == SOURCE_CHECKPOINTS
			 ? list_checkpoints(look, dir, &err)
			 : snapshots_list_savepoints(look->store, dir, found, look, &err);
	if (result < 0 && err.kind == ERR_ABSENT)
		result = 0;
out:
	store_close(look->store);
	look->store = NULL;
	snprintf(detail, sizeof(detail), "%zu found", look->found);
	if (result < 0)
		facts_set_source(look->facts, look->source, SOURCE_UNREADABLE, err.msg);
	else
		facts_set_source(look->facts, look->source,
				 look->found ? SOURCE_PRESENT : SOURCE_ABSENT, detail);
}

static int nothing(void *ctx, const struct store_entry *entry, struct err *err)
{
	(void)ctx;
	(void)entry;
	(void)err;
	return 1; /* the first entry is enough to know that it can be listed */
}

int observe_directory(const struct store_config *storage, const char *uri, struct err *err)
{
	struct store *store = NULL;
	int result;

	if (store_open(storage, uri, &store, err) < 0)
		return -1;
	result = store_list(store, uri, nothing, NULL, err);
	store_close(store);
	/* An object store has no directories: nothing with this prefix is simply nothing. */
	if (result < 0 && err && err->kind == ERR_ABSENT)
		return err_set(
			err, ERR_CONFIG, 0,
			"the directory %s does not exist; is its volume mounted? If this is the "
			"first start, create it",
			uri);
	return result;
}

/* A snapshot that is named instead of found: the initial savepoint, a request, the journal's. */
static void look_at(const struct observe_plan *plan, struct facts *facts, enum source_kind source,
		    const struct snapshot *named)
{
	struct look look = {.plan = plan, .facts = facts, .source = source};
	struct candidate *c = facts_add(facts, source, named);
	struct err err = {0};

	if (c->integrity != INTEGRITY_UNCHECKED || c->metadata_version)
		return; /* a listing has found it */
	if (store_open(plan->storage, named->path, &look.store, &err) < 0) {
		set_detail(c, INTEGRITY_UNREADABLE, err.msg);
		return;
	}
	peek(&look, c);
	store_close(look.store);
}

static void look_at_named(const struct observe_plan *plan, struct facts *facts,
			  enum source_kind source, const char *path, enum snapshot_origin origin)
{
	struct snapshot named = {.path = (char *)(uintptr_t)path,
				 .kind = SNAPSHOT_SAVEPOINT,
				 .origin = origin,
				 .size_bytes = -1,
				 .file_count = -1};
	struct candidate *c;

	if (!path) {
		facts_set_source(facts, source, SOURCE_NOT_CONFIGURED, NULL);
		return;
	}
	look_at(plan, facts, source, &named);
	c = facts_add(facts, source, &named);
	if (c->integrity == INTEGRITY_UNREADABLE)
		facts_set_source(facts, source, SOURCE_UNREADABLE, c->detail);
	else
		facts_set_source(facts, source,
				 c->integrity == INTEGRITY_INCOMPLETE ? SOURCE_ABSENT
								      : SOURCE_PRESENT,
				 c->detail ? c->detail : path);
}

void observe_gather(const struct observe_plan *plan, struct facts *ret_facts)
{
	struct look checkpoints = {.plan = plan, .facts = ret_facts, .source = SOURCE_CHECKPOINTS};
	struct look savepoints = {.plan = plan, .facts = ret_facts, .source = SOURCE_SAVEPOINTS};

	*ret_facts = (struct facts){.max_metadata_version = plan->max_metadata_version,
				    .now_unix_ms = clock_unix_ms()};
	facts_set_source(ret_facts, SOURCE_JOURNAL, plan->journal_state, plan->journal_detail);
	look_into(&checkpoints, plan->checkpoint_dir);
	look_into(&savepoints, plan->savepoint_dir);
	for (size_t i = 0; i < plan->known_count; i++)
		look_at(plan, ret_facts, SOURCE_JOURNAL, &plan->known[i]);
	look_at_named(plan, ret_facts, SOURCE_INITIAL, plan->initial, ORIGIN_INITIAL);
	look_at_named(plan, ret_facts, SOURCE_REQUEST, plan->request, ORIGIN_REQUEST);
}

/* ---- one candidate closely ---- */

void observe_verify(const struct store_config *storage, struct candidate *candidate)
{
	struct snapshot *snapshot = &candidate->snapshot;
	struct verify_report report = {0};
	struct err err = {0};
	char text[160];

	if (verify_snapshot(storage, snapshot->path, &report, &err) < 0) {
		set_detail(candidate, INTEGRITY_UNREADABLE, err.msg);
		return;
	}
	if (report.decoded) {
		candidate->metadata_version = report.header.version;
		snapshot->size_bytes = report.size_bytes;
		snapshot->file_count = (int64_t)report.file_count;
	}
	if (report.verdict == VERIFY_COMPLETE && snapshot->checkpoint_id &&
	    snapshot->checkpoint_id != report.header.checkpoint_id) {
		snprintf(text, sizeof(text), "its _metadata is of checkpoint %lld, not %lld",
			 (long long)report.header.checkpoint_id,
			 (long long)snapshot->checkpoint_id);
		set_detail(candidate, INTEGRITY_DAMAGED, text);
	} else if (report.verdict == VERIFY_COMPLETE) {
		snapshot->checkpoint_id = report.header.checkpoint_id;
		snapshot->verified = true;
		candidate->integrity = INTEGRITY_COMPLETE;
	} else {
		char *why = report.problem_count ? xasprintf("%s %s", report.problems[0].path,
							     report.problems[0].detail)
						 : xstrdup(verify_verdict_name(report.verdict));

		set_detail(candidate,
			   report.verdict == VERIFY_DAMAGED ? INTEGRITY_DAMAGED
							    : INTEGRITY_UNREADABLE,
			   why);
		free(why);
	}
	verify_release(&report);
}
