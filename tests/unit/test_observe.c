#include "observe_world.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/fs.h"
#include "core/job_id.h"
#include "core/resolve/flink_choice.h"

/* ---- how the last launch ended ---- */

#define NEXT "cccccccccccccccccccccccccccccc03"

static void put_result(struct world *w, const char *name, const char *fixture)
{
	cleanup_free char *from = xasprintf("tests/fixtures/results/%s", fixture);
	cleanup_free char *to = xasprintf("results/%s", name);
	cleanup_buf struct buf text = BUF_INIT;

	CHECK(!fs_read(from, 1 << 20, &text, NULL));
	dir_put(w->top, to, text.data, text.len_bytes);
}

/* The launch had this job; all that Flink has left of it is in results/. */
static void results_begin(struct world *w, const char *job)
{
	struct launch *launch;

	world_begin(w);
	dir_mkdir(w->top, "results");
	launch = journal_launch(&w->journal);
	snprintf(launch->job_id, sizeof(launch->job_id), "%s", job);
	snprintf(launch->application_id, sizeof(launch->application_id), "%s", job);
	launch->job_result_path = xasprintf("%s/results", w->top);
}

#define ARCHIVE_2_3(job) "00000000000000000000000000000000/applications/" job "/jobs/" job
#define JOB_2            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa02"
#define JOB_3            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa03"

static void finds(const char *job, const char *name, const char *fixture, enum job_end end)
{
	struct world w;

	results_begin(&w, job);
	put_result(&w, name, fixture);
	observe(&w);
	CHECK_INT(w.facts.sources[SOURCE_RESULTS].state, ==, SOURCE_PRESENT);
	CHECK_INT(w.facts.ended, ==, end);
	CHECK_STR(w.facts.ended_job, job);
	world_end(&w);
}

TEST(finds_what_flink_has_left_about_the_end_of_the_last_launch)
{
	finds(JOB, JOB ".json", "1.20.0-succeeded.json", JOB_END_FINISHED);
	finds(JOB, JOB "_DIRTY.json", "2.3.0-succeeded.json", JOB_END_FINISHED);
	finds(JOB_3, JOB_3 ".json", "2.3.0-canceled.json", JOB_END_CANCELED);
	finds(JOB, JOB, "1.20.0-archive-finished", JOB_END_FINISHED);
	finds(JOB_2, JOB_2, "1.20.0-archive-stopped", JOB_END_STOPPED);
	finds(JOB, ARCHIVE_2_3(JOB), "2.3.0-archive-finished", JOB_END_FINISHED);
	finds(JOB_2, ARCHIVE_2_3(JOB_2), "2.3.0-archive-stopped", JOB_END_STOPPED);
}

#define APP     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa09"
#define APP_DIR "00000000000000000000000000000000/applications/" APP

/* A cancelled job, and what is left of its application; NULL = nothing. */
static void application_finds(const char *entry, const char *application, enum source_state state,
			      enum job_end end)
{
	struct world w;

	results_begin(&w, JOB_3);
	strcpy(journal_launch(&w.journal)->application_id, APP);
	put_result(&w, APP_DIR "/jobs/" JOB_3, "2.3.0-archive-canceled");
	if (entry)
		put_result(&w, JOB_3 ".json", entry);
	if (application)
		dir_put(w.top, "results/" APP_DIR "/application-summary", application,
			strlen(application));
	observe(&w);
	CHECK_INT(w.facts.sources[SOURCE_RESULTS].state, ==, state);
	CHECK_INT(w.facts.ended, ==, end);
	if (state == SOURCE_PRESENT && end == JOB_END_FAILED)
		CHECK_STR(w.facts.ended_detail,
			  "the application failed, so Flink cancelled its job");
	world_end(&w);
}

TEST(a_job_that_flink_has_cancelled_with_its_application_has_failed)
{
	static const char other[] = "{\"archive\":[{\"path\":\"/applications/" APP
				    "\",\"json\":\"{\\\"status\\\":\\\"CANCELED\\\"}\"}]}";
	cleanup_buf struct buf failed = BUF_INIT;

	CHECK(!fs_read("tests/fixtures/results/2.3.0-application-failed", 1 << 20, &failed, NULL));
	application_finds(NULL, buf_str(&failed), SOURCE_PRESENT, JOB_END_FAILED);
	application_finds("2.3.0-canceled.json", buf_str(&failed), SOURCE_PRESENT, JOB_END_FAILED);
	application_finds(NULL, other, SOURCE_PRESENT, JOB_END_CANCELED);
	application_finds(NULL, NULL, SOURCE_PRESENT, JOB_END_CANCELED);
	application_finds(NULL, "{}", SOURCE_UNREADABLE, JOB_END_NONE);
	application_finds(NULL, "{\"archive\":[", SOURCE_UNREADABLE, JOB_END_NONE);
}

TEST(a_record_of_another_job_or_of_none_is_an_unknown_end)
{
	finds(JOB, JOB ".json", "2.3.0-canceled.json", JOB_END_UNKNOWN);
	finds(JOB, JOB ".json", "README.md", JOB_END_UNKNOWN);
	finds(JOB, JOB, "README.md", JOB_END_UNKNOWN);
}

/* Each may be damaged, and only the archive tells a stop. */
TEST(of_two_records_the_better_one_counts)
{
	struct world w;

	results_begin(&w, JOB);
	put_result(&w, JOB ".json", "README.md");
	put_result(&w, JOB, "1.20.0-archive-finished");
	observe(&w);
	CHECK_INT(w.facts.ended, ==, JOB_END_FINISHED);
	put_result(&w, JOB ".json", "1.20.0-succeeded.json");
	put_result(&w, JOB, "README.md");
	observe(&w);
	CHECK_INT(w.facts.ended, ==, JOB_END_FINISHED);
	world_end(&w);
}

TEST(no_record_is_no_end_and_a_known_end_is_not_looked_for)
{
	struct world w;

	results_begin(&w, JOB);
	observe(&w);
	CHECK_INT(w.facts.sources[SOURCE_RESULTS].state, ==, SOURCE_ABSENT);
	CHECK_INT(w.facts.ended, ==, JOB_END_NONE);
	put_result(&w, JOB, "1.20.0-archive-finished");
	journal_launch(&w.journal)->end_known = true;
	observe(&w);
	CHECK_INT(w.facts.sources[SOURCE_RESULTS].state, ==, SOURCE_NOT_CONFIGURED);
	world_end(&w);
}

TEST(a_record_that_cannot_be_read_is_not_absent)
{
	struct world w;

	results_begin(&w, JOB);
	xstrset(&journal_launch(&w.journal)->job_result_path, "nosuch://b/results");
	observe(&w);
	CHECK_INT(w.facts.sources[SOURCE_RESULTS].state, ==, SOURCE_UNREADABLE);
	world_end(&w);
}

/* ---- listings ---- */

WORLD_TEST(reads_the_ids_of_savepoints_and_the_dates_of_all)
{
	const struct candidate *c;

	put(w, "ck/" JOB "/chk-7", 7, DAY_S);
	put_savepoint(w, JOB, 1, 9, DAY_S + 5);
	observe(w);
	CHECK_INT(w->facts.candidate_count, ==, 2);
	c = find(w, "chk-7");
	if (CHECK(c != NULL)) {
		CHECK_INT(c->snapshot.checkpoint_id, ==, 7);
		CHECK_INT(c->snapshot.completed_unix_ms, ==, DAY_S * 1000);
		CHECK_STR(c->snapshot.job_id, JOB);
		CHECK_INT(c->snapshot.metadata_unix_ms, ==, DAY_S * 1000);
		CHECK_INT(c->snapshot.metadata_bytes, >, 0);
	}
	c = find(w, "savepoint-");
	if (CHECK(c != NULL)) {
		CHECK_INT(c->snapshot.checkpoint_id, ==, 9);
		CHECK_INT(c->metadata_version, ==, 4);
		CHECK_INT(c->integrity, ==, INTEGRITY_UNCHECKED);
		CHECK_INT(c->snapshot.completed_unix_ms, ==, (DAY_S + 5) * 1000);
	}
	CHECK_INT(w->facts.sources[SOURCE_SAVEPOINTS].state, ==, SOURCE_PRESENT);
	CHECK_STR(w->facts.sources[SOURCE_SAVEPOINTS].detail, "1 found");
}

WORLD_TEST(keeps_the_newest_and_counts_the_rest)
{
	enum { EXTRA = 1300 };
	bool newest[OBSERVE_KEEP + EXTRA + 1] = {false};
	size_t kept = 0, good = 0;

	/* dates in another order than names and ids */
	for (int i = 0; i < OBSERVE_KEEP + EXTRA; i++)
		put_savepoint(w, JOB, i, i + 1, DAY_S + (int64_t)i * 7919 % (OBSERVE_KEEP + EXTRA));
	observe(w);
	for (size_t i = 0; i < w->facts.candidate_count; i++) {
		const struct snapshot *s = &w->facts.candidates[i].snapshot;
		int64_t age = s->completed_unix_ms / 1000 - DAY_S;

		kept++;
		good += age >= EXTRA && s->checkpoint_id > 0 && !newest[age];
		newest[age] = true;
	}
	CHECK_INT(kept, ==, OBSERVE_KEEP);
	CHECK_INT(good, ==, OBSERVE_KEEP);
	CHECK_INT(w->facts.sources[SOURCE_SAVEPOINTS].left_out, ==, EXTRA);
	CHECK_STR(w->facts.sources[SOURCE_SAVEPOINTS].detail,
		  "2300 found, the newest 1000 checked");
}

WORLD_TEST(newer_ones_of_others_do_not_push_ours_out)
{
	size_t foreign = 0;

	put_savepoint(w, JOB, 1, 5, DAY_S);
	for (int i = 0; i < OBSERVE_KEEP + 50; i++)
		put_savepoint(w, FOREIGN, i, i + 1, DAY_S + 10 + i);
	observe(w);
	CHECK(find(w, "savepoint-aaaaaa") != NULL);
	CHECK(find(w, "savepoint-bbbbbb-000000000419") != NULL); /* the newest of them */
	for (size_t i = 0; i < w->facts.candidate_count; i++)
		foreign += w->facts.candidates[i].snapshot.job_id[0] == 'b';
	CHECK_INT(foreign, ==, OBSERVE_KEEP_FOREIGN);
	CHECK_INT(w->facts.sources[SOURCE_SAVEPOINTS].left_out, ==,
		  OBSERVE_KEEP + 50 - OBSERVE_KEEP_FOREIGN);
}

WORLD_TEST(checkpoints_of_other_jobs_are_seen)
{
	put(w, "ck/" JOB "/chk-7", 7, DAY_S);
	put(w, "ck/" FOREIGN "/chk-9", 9, DAY_S + 60);
	observe(w);
	CHECK_INT(w->facts.candidate_count, ==, 2);
	CHECK(find(w, FOREIGN) != NULL);
}

WORLD_TEST(where_others_write_too_only_ours_are_looked_at)
{
	w->places.ignore_foreign = true;
	put(w, "ck/" JOB "/chk-7", 7, DAY_S);
	put(w, "ck/" FOREIGN "/chk-9", 9, DAY_S + 60);
	put_savepoint(w, FOREIGN, 1, 5, DAY_S);
	observe(w);
	CHECK_INT(w->facts.candidate_count, ==, 1);
	CHECK(find(w, JOB) != NULL);
	CHECK_STR(w->facts.sources[SOURCE_CHECKPOINTS].detail, "1 found");
	CHECK_STR(w->facts.sources[SOURCE_SAVEPOINTS].detail, "1 found, 1 of other jobs ignored");
}

WORLD_TEST(launches_that_the_journal_has_forgotten_are_ours_too)
{
	w->places.ignore_foreign = true;
	journal_add_former_job(&w->journal, "cccccccccccccccccccccccccccccc03");
	journal_add_former_job(&w->journal, "0ccccccccccccccccccccccccccccc03");
	put(w, "ck/" JOB "/chk-7", 7, DAY_S);
	put(w, "ck/cccccccccccccccccccccccccccccc03/chk-3", 3, DAY_S);
	put(w, "ck/" FOREIGN "/chk-9", 9, DAY_S);
	put_savepoint(w, "0ccccc", 1, 2, DAY_S);
	observe(w);
	CHECK_INT(w->facts.candidate_count, ==, 3);
	CHECK(find(w, "0ccccc") && find(w, "0ccccc")->snapshot.checkpoint_id == 2);
}

/* With the journal lost nothing else tells which of the ids that are known beforehand were used. */
WORLD_TEST(numbered_ids_leave_traces_and_what_they_made_is_ours)
{
	char ids[4][JOB_ID_BYTES];

	w->places.ignore_foreign = true;
	w->places.id_space = "shop/orders/";
	w->places.id_count = 4;
	for (int n = 0; n < 4; n++)
		job_id_name(w->places.id_space, n, ids[n]);
	put_savepoint(w, ids[0], 1, 5, DAY_S);
	for (int n = 1; n < 3; n++) {
		cleanup_free char *empty = xasprintf("ck/%s", ids[n]);

		dir_mkdir(w->top, empty);
	}
	put(w, "ck/" FOREIGN "/chk-9", 9, DAY_S);
	observe(w);
	/* whoever else writes here: nobody else has such an id */
	CHECK_INT(w->facts.candidate_count, ==, 1);
	CHECK(find(w, "sp/savepoint-") != NULL);
	CHECK_INT(w->facts.job_count, ==, 3);
	for (int n = 0; n < 4; n++)
		CHECK(flink_id_is_used(&w->journal, &w->facts, ids[n]) == (n < 3));
}

/* ---- where the lineage wrote before ---- */

WORLD_TEST(other_directories_of_the_last_launch_are_listed_too)
{
	const struct candidate *c;
	struct launch *launch;

	launch = journal_launch(&w->journal);
	launch->started_unix_ms = 1;
	launch->checkpoint_dir = xasprintf("file://%s/old-ck", w->top);
	launch->savepoint_dir = xasprintf("file://%s/old-sp", w->top);
	put(w, "old-ck/" JOB "/chk-9", 9, DAY_S);
	put(w, "old-ck/" FOREIGN "/chk-3", 3, DAY_S);
	put(w, "old-sp/savepoint-aaaaaa-000000000001", 8, DAY_S);
	put(w, "ck/" JOB "/chk-7", 7, DAY_S);
	observe(w);
	CHECK_INT(w->facts.candidate_count, ==, 4);
	c = find(w, "old-ck/" JOB "/chk-9");
	if (CHECK(c != NULL)) {
		CHECK_STR(source_kind_name(c->source), "lineage");
		CHECK_INT(c->snapshot.kind, ==, SNAPSHOT_CHECKPOINT);
		CHECK_INT(c->snapshot.checkpoint_id, ==, 9);
		CHECK_INT(c->snapshot.completed_unix_ms, ==, DAY_S * 1000);
	}
	c = find(w, "old-sp/savepoint");
	if (CHECK(c != NULL))
		CHECK_INT(c->snapshot.checkpoint_id, ==, 8);
	CHECK_INT(w->facts.sources[SOURCE_LINEAGE].state, ==, SOURCE_PRESENT);
	CHECK_HAS(w->facts.sources[SOURCE_LINEAGE].detail, "/old-ck: 2 found; savepoints in ");
	CHECK(facts_place(&w->facts, SNAPSHOT_SAVEPOINT, launch->savepoint_dir) != NULL);
	CHECK(facts_place(&w->facts, SNAPSHOT_CHECKPOINT, launch->savepoint_dir) == NULL);
	/* a shared one: only ours count, there as well */
	w->places.ignore_foreign = true;
	observe(w);
	CHECK(find(w, "old-ck/" FOREIGN) == NULL);
	CHECK(find(w, "old-ck/" JOB) != NULL);
}

WORLD_TEST(where_the_jobs_code_writes_only_our_jobs_are_looked_for)
{
	struct launch *launch;

	launch = journal_launch(&w->journal);
	launch->proven_unix_ms = 1;
	launch->last_checkpoint_id = 4;
	launch->last_checkpoint_path = xasprintf("file:%s/own/" JOB "/chk-4", w->top);
	put(w, "own/" JOB "/chk-6", 6, DAY_S);
	put(w, "own/" NEXT "/chk-9", 9, DAY_S);
	put(w, "own/" FOREIGN "/chk-8", 8, DAY_S + 10);
	observe(w);
	CHECK(find(w, "own/" JOB "/chk-6") != NULL);
	CHECK(find(w, "own/" FOREIGN) == NULL);
	/* of a later launch nobody has seen where it wrote: the same code did */
	CHECK(find(w, "own/" NEXT) == NULL);
	strcpy(journal_add_launch(&w->journal)->job_id, NEXT);
	journal_launch(&w->journal)->started_unix_ms = 1;
	observe(w);
	CHECK(find(w, "own/" NEXT "/chk-9") != NULL);
	/* the one that was seen last is a candidate, there or not */
	CHECK(find(w, "own/" JOB "/chk-4") != NULL);
	CHECK_INT(find(w, "own/" JOB "/chk-4")->integrity, ==, INTEGRITY_INCOMPLETE);
	CHECK_INT(w->facts.sources[SOURCE_LINEAGE].state, ==, SOURCE_PRESENT);
}

WORLD_TEST(a_directory_of_before_that_is_gone_is_unreadable)
{
	observe(w);
	CHECK_INT(w->facts.sources[SOURCE_LINEAGE].state, ==, SOURCE_NOT_CONFIGURED);
	journal_launch(&w->journal)->checkpoint_dir = xasprintf("file://%s/gone", w->top);
	observe(w);
	CHECK_INT(w->facts.sources[SOURCE_LINEAGE].state, ==, SOURCE_UNREADABLE);
	CHECK_HAS(w->facts.sources[SOURCE_LINEAGE].detail, "does not exist");
}

WORLD_TEST(what_cannot_be_looked_at_is_never_left_out)
{
	const struct candidate *c;

	dir_mkdir(w->top, "sp/savepoint-aaaaaa-ffffffffffff");
	dir_loop(w->top, "sp/savepoint-aaaaaa-ffffffffffff/_metadata");
	dir_mkdir(w->top, "sp/savepoint-aaaaaa-eeeeeeeeeeee");
	for (int i = 0; i < OBSERVE_KEEP; i++)
		put_savepoint(w, JOB, i, i + 1, DAY_S + i);
	observe(w);
	c = find(w, "ffffffffffff");
	if (CHECK(c != NULL))
		CHECK_INT(c->integrity, ==, INTEGRITY_UNREADABLE);
	/* what was never completed is the first to go */
	CHECK(find(w, "eeeeeeeeeeee") == NULL);
	CHECK_INT(w->facts.sources[SOURCE_SAVEPOINTS].left_out, ==, 2);
}

WORLD_TEST(a_directory_that_is_not_there_is_unreadable_not_empty)
{
	dir_rm(w->top, "ck");
	observe(w);
	CHECK_INT(w->facts.sources[SOURCE_CHECKPOINTS].state, ==, SOURCE_UNREADABLE);
	CHECK_HAS(w->facts.sources[SOURCE_CHECKPOINTS].detail, "mount its volume, or");
	CHECK_INT(w->facts.sources[SOURCE_SAVEPOINTS].state, ==, SOURCE_ABSENT);
	CHECK_INT(w->facts.sources[SOURCE_HA].state, ==, SOURCE_NOT_CONFIGURED);
}

WORLD_TEST(a_job_that_cannot_be_listed_makes_all_of_them_unreadable)
{
	put(w, "ck/" JOB "/chk-7", 7, DAY_S);
	dir_loop(w->top, "ck/" FOREIGN);
	observe(w);
	CHECK_INT(w->facts.sources[SOURCE_CHECKPOINTS].state, ==, SOURCE_UNREADABLE);
}

struct seen {
	size_t calls, last;
};

static void on_progress(void *ctx, enum source_kind source, size_t found)
{
	struct seen *seen = ctx;

	CHECK_INT(source, ==, SOURCE_SAVEPOINTS);
	CHECK_INT(found, >, seen->last);
	seen->last = found;
	seen->calls++;
}

WORLD_TEST(a_long_listing_tells_how_far_it_is)
{
	struct observe_plan plan;
	struct seen seen = {0};

	for (int i = 0; i < 200; i++)
		put_savepoint(w, JOB, i, i + 1, DAY_S + i);
	observe_plan_init(&plan, &w->places, &w->journal, NULL);
	plan.progress = on_progress;
	plan.progress_ctx = &seen;
	observe_gather(&plan, &w->facts);
	CHECK_INT(seen.calls, ==, 3);
	observe_plan_release(&plan);
}

/* ---- named snapshots ---- */

static void know(struct world *w, const char *name, bool verified)
{
	cleanup_free char *path = xasprintf("file:%s/%s", w->top, name);
	struct snapshot snapshot = {.path = path,
				    .kind = SNAPSHOT_SAVEPOINT,
				    .checkpoint_id = 3,
				    .verified = verified,
				    .verified_unix_ms = 5,
				    .metadata_unix_ms = 6,
				    .metadata_bytes = 7,
				    .size_bytes = 100,
				    .file_count = 1};

	journal_add_snapshot(&w->journal, &snapshot);
}

/* Else it would count as older than it was, and an older checkpoint would take its place. */
WORLD_TEST(a_savepoint_with_another_id_than_the_journal_knows_is_damaged)
{
	const struct candidate *c;

	put_savepoint(w, JOB, 1, 2, DAY_S);
	know(w, "sp/savepoint-aaaaaa-000000000001", true);
	put(w, "elsewhere", 4, DAY_S);
	know(w, "elsewhere", true);
	observe(w);
	c = find(w, "savepoint-aaaaaa");
	if (CHECK(c != NULL)) {
		CHECK_INT(c->integrity, ==, INTEGRITY_DAMAGED);
		CHECK_STR(c->detail, "its _metadata is of checkpoint 2, not 3");
		CHECK_INT(c->snapshot.checkpoint_id, ==, 3);
	}
	c = find(w, "elsewhere");
	if (CHECK(c != NULL))
		CHECK_INT(c->integrity, ==, INTEGRITY_DAMAGED);
}

WORLD_TEST(what_the_journal_names_is_looked_at)
{
	const struct candidate *c;

	put(w, "elsewhere", 3, DAY_S);
	know(w, "elsewhere", true);
	know(w, "gone", true);
	observe(w);
	c = find(w, "elsewhere");
	if (CHECK(c != NULL)) {
		CHECK_INT(c->source, ==, SOURCE_JOURNAL);
		CHECK_INT(c->integrity, ==, INTEGRITY_UNCHECKED);
		CHECK_INT(c->snapshot.checkpoint_id, ==, 3);
		/* seen now, not then */
		CHECK(!c->snapshot.verified);
		CHECK_INT(c->snapshot.verified_unix_ms, ==, 0);
		CHECK_INT(c->snapshot.metadata_unix_ms, ==, DAY_S * 1000);
	}
	c = find(w, "gone");
	if (CHECK(c != NULL)) {
		CHECK_INT(c->integrity, ==, INTEGRITY_INCOMPLETE);
		CHECK_STR(c->detail, "no _metadata");
	}
}

/* Its date is compared with those of other jobs where it is no longer listed. */
WORLD_TEST(what_a_launch_was_started_from_has_the_date_of_then)
{
	struct launch *launch = journal_launch(&w->journal);
	const struct candidate *c;

	launch->restore_path = xasprintf("%s/base", w->top);
	launch->restore_completed_unix_ms = 4711;
	observe(w);
	c = find(w, "/base");
	if (CHECK(c != NULL))
		CHECK_INT(c->snapshot.completed_unix_ms, ==, 4711);
}

WORLD_TEST(what_a_listing_has_found_is_no_second_candidate)
{
	put_savepoint(w, JOB, 1, 3, DAY_S);
	know(w, "sp/savepoint-aaaaaa-000000000001", false);
	observe(w);
	CHECK_INT(w->facts.candidate_count, ==, 1);
	CHECK_INT(w->facts.candidates[0].source, ==, SOURCE_SAVEPOINTS);
}

WORLD_TEST(the_initial_savepoint_is_present_absent_or_unreadable)
{
	static const struct {
		const char *name;
		enum source_state state;
	} all[] = {{"good", SOURCE_PRESENT}, {"none", SOURCE_ABSENT}, {"loop", SOURCE_UNREADABLE}};

	put(w, "good", 4, DAY_S);
	dir_mkdir(w->top, "loop");
	dir_loop(w->top, "loop/_metadata");
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		cleanup_free char *path = xasprintf("%s/%s", w->top, all[i].name);

		w->places.initial = path;
		observe(w);
		CHECK_INT(w->facts.sources[SOURCE_INITIAL].state, ==, all[i].state);
	}
	w->places.initial = "gopher://x/y";
	observe(w);
	CHECK_INT(w->facts.sources[SOURCE_INITIAL].state, ==, SOURCE_UNREADABLE);
	w->places.initial = NULL;
	observe(w);
	CHECK_INT(w->facts.sources[SOURCE_INITIAL].state, ==, SOURCE_NOT_CONFIGURED);
}

WORLD_TEST(bytes_that_are_no_metadata_are_damage)
{
	const struct candidate *c;

	dir_put(w->top, "sp/savepoint-aaaaaa-000000000001/_metadata", "nonsense, and more of it",
		24);
	observe(w);
	c = find(w, "savepoint-");
	if (CHECK(c != NULL))
		CHECK_INT(c->integrity, ==, INTEGRITY_DAMAGED);
}

/* ---- HA ---- */

WORLD_TEST(maps_of_a_former_cluster_id_are_known_as_such)
{
	put(w, "ck/" JOB "/chk-6", 6, DAY_S);
	ha_entry(w, 6, 5, "ck/" JOB "/chk-6");
	w->ha.maps[0].former = true;
	observe(w);
	CHECK(find(w, "/chk-6")->in_ha && find(w, "/chk-6")->ha_former);
	/* the one of now counts, and what the old one says of it does not */
	ha_entry(w, 6, 5, "ck/" JOB "/chk-6");
	ha_maps_add(&w->ha, "old-" JOB "-config-map")->former = true;
	ha_map_put(&w->ha.maps[1], "checkpointID-0000000000000000006", "nonsense", 8);
	observe(w);
	CHECK(find(w, "/chk-6")->in_ha && !find(w, "/chk-6")->ha_former);
	CHECK_INT(find(w, "/chk-6")->recovery, ==, INTEGRITY_UNCHECKED);
}

WORLD_TEST(an_ha_entry_is_merged_with_the_checkpoint_that_was_listed)
{
	const struct candidate *c;

	put(w, "ck/" JOB "/chk-7", 7, DAY_S);
	ha_entry(w, 7, DAY_S * 1000 - 250, "ck/" JOB "/chk-7");
	observe(w);
	CHECK_INT(w->facts.candidate_count, ==, 1);
	c = &w->facts.candidates[0];
	CHECK_INT(c->source, ==, SOURCE_CHECKPOINTS);
	CHECK(c->in_ha);
	CHECK_STR(c->ha_job_id, JOB);
	CHECK_INT(c->recovery, ==, INTEGRITY_UNCHECKED);
	CHECK_INT(c->snapshot.completed_unix_ms, ==, DAY_S * 1000 - 250);
	CHECK_INT(w->facts.sources[SOURCE_HA].state, ==, SOURCE_PRESENT);
	CHECK_STR(w->facts.sources[SOURCE_HA].detail, "1 checkpoint in the map of 1 job");
}

WORLD_TEST(a_checkpoint_that_only_ha_names_is_a_candidate)
{
	const struct candidate *c;

	put(w, "other/" JOB "/chk-8", 8, DAY_S);
	ha_entry(w, 8, DAY_S * 1000, "other/" JOB "/chk-8");
	ha_entry(w, 7, DAY_S * 1000, "other/" JOB "/chk-7");
	observe(w);
	CHECK_INT(w->facts.candidate_count, ==, 2);
	c = find(w, "chk-8");
	if (CHECK(c != NULL)) {
		CHECK_INT(c->source, ==, SOURCE_HA);
		CHECK_INT(c->integrity, ==, INTEGRITY_UNCHECKED);
		CHECK_STR(c->snapshot.job_id, JOB);
		CHECK_INT(c->snapshot.checkpoint_id, ==, 8);
	}
	c = find(w, "chk-7");
	if (CHECK(c != NULL))
		CHECK_INT(c->integrity, ==, INTEGRITY_INCOMPLETE);
}

WORLD_TEST(what_the_job_was_restored_from_keeps_its_own_maker_and_date)
{
	const struct candidate *c;

	put_savepoint(w, FOREIGN, 1, 5, DAY_S);
	put(w, "old/savepoint-cccccc-000000000001", 6, DAY_S + 1);
	ha_entry(w, 5, 0, "sp/savepoint-bbbbbb-000000000001");
	ha_entry(w, 6, 0, "old/savepoint-cccccc-000000000001");
	observe(w);
	c = find(w, "bbbbbb");
	if (CHECK(c != NULL)) {
		CHECK(c->in_ha);
		CHECK_STR(c->ha_job_id, JOB);
		CHECK_STR(c->snapshot.job_id, "bbbbbb");
		CHECK_INT(c->snapshot.checkpoint_id, ==, 5);
		CHECK_INT(c->snapshot.completed_unix_ms, ==, DAY_S * 1000);
	}
	c = find(w, "cccccc");
	if (CHECK(c != NULL)) {
		CHECK_STR(c->snapshot.job_id, "");
		CHECK_INT(c->snapshot.kind, ==, SNAPSHOT_SAVEPOINT);
		CHECK_INT(c->snapshot.completed_unix_ms, ==, (DAY_S + 1) * 1000);
	}
}

WORLD_TEST(an_entry_whose_file_is_lost_or_wrong_cannot_be_recovered)
{
	const struct candidate *c;

	ha_entry(w, 1, 5, "ck/" JOB "/chk-1");
	ha_entry(w, 2, 5, "ck/" JOB "/chk-2");
	ha_entry(w, 3, 5, "ck/" JOB "/chk-3");
	ha_entry(w, 4, 5, "ck/" JOB "/chk-4");
	dir_rm(w->top, "ha/completedCheckpoint1");
	dir_put(w->top, "ha/completedCheckpoint2", "\xac\xed\0\5x", 5);
	dir_rm(w->top, "ha/completedCheckpoint3");
	dir_loop(w->top, "ha/completedCheckpoint3");
	{
		cleanup_free char *path = xasprintf("%s/ha/completedCheckpoint4", w->top);

		CHECK(!truncate(path, 1000)); /* its head can be read, the end is lost */
	}
	observe(w);
	c = find(w, "completedCheckpoint1");
	if (CHECK(c != NULL)) {
		CHECK_INT(c->integrity, ==, INTEGRITY_DAMAGED);
		CHECK_INT(c->recovery, ==, INTEGRITY_DAMAGED);
		CHECK_INT(c->snapshot.checkpoint_id, ==, 1);
		CHECK_STR(c->snapshot.job_id, JOB);
		CHECK(c->in_ha);
	}
	c = find(w, "completedCheckpoint2");
	CHECK(c && c->recovery == INTEGRITY_DAMAGED);
	c = find(w, "completedCheckpoint3");
	CHECK(c && c->recovery == INTEGRITY_UNREADABLE && c->integrity == INTEGRITY_UNREADABLE);
	c = find(w, "completedCheckpoint4");
	if (CHECK(c != NULL)) {
		CHECK_INT(c->recovery, ==, INTEGRITY_DAMAGED);
		CHECK_HAS(c->detail, "it has 1000 bytes, expected");
	}
}

WORLD_TEST(an_entry_under_the_wrong_key_cannot_be_recovered)
{
	cleanup_buf struct buf value = BUF_INIT;
	cleanup_free char *uri = NULL;
	const struct candidate *c;

	ha_entry(w, 3, 5, "ck/" JOB "/chk-3");
	w->ha.maps[0].entries[0].checkpoint_id = 4;
	observe(w);
	c = find(w, "completedCheckpoint3");
	if (CHECK(c != NULL)) {
		CHECK_INT(c->recovery, ==, INTEGRITY_DAMAGED);
		CHECK_HAS(c->detail, "it is of checkpoint 3");
	}
}

WORLD_TEST(the_counter_of_the_map_is_a_fact)
{
	put(w, "ck/" JOB "/chk-6", 6, DAY_S);
	ha_entry(w, 6, 5, "ck/" JOB "/chk-6");
	w->ha.maps[0].counter = 9;
	observe(w);
	CHECK_INT(find(w, "/chk-6")->ha_counter, ==, 9);
}

TEST(flink_cannot_go_on_where_the_counter_is_wrong)
{
	static const struct {
		int64_t counter;
		bool broken;
		const char *says;
	} all[] = {{0, true, "is not a number"},
		   {0, false, "is 0, but there is checkpoint id 7"},
		   {7, false, "is 7, but there is checkpoint id 7"}};
	struct world w;
	const struct candidate *c;

	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		world_begin(&w);
		put(&w, "ck/" JOB "/chk-6", 6, DAY_S);
		ha_entry(&w, 6, 5, "ck/" JOB "/chk-6");
		ha_entry(&w, 7, 5, "ck/" JOB "/chk-7");
		w.ha.maps[0].counter = all[i].counter;
		w.ha.maps[0].counter_broken = all[i].broken;
		observe(&w);
		c = find(&w, "/chk-6");
		if (CHECK(c != NULL)) {
			CHECK_INT(c->integrity, ==,
				  INTEGRITY_UNCHECKED); /* the snapshot is as good as ever */
			CHECK_INT(c->recovery, ==, INTEGRITY_DAMAGED);
			CHECK_HAS(c->recovery_detail, all[i].says);
		}
		world_end(&w);
	}
}

WORLD_TEST(a_checkpoint_without_a_directory_is_for_flink_alone)
{
	const struct candidate *c;

	ha_entry(w, 3, 5, "<checkpoint-not-externally-addressable>");
	observe(w);
	c = find(w, "completedCheckpoint3");
	if (CHECK(c != NULL)) {
		CHECK_INT(c->integrity, ==, INTEGRITY_INCOMPLETE);
		CHECK_INT(c->recovery, ==, INTEGRITY_UNCHECKED);
		CHECK_HAS(c->detail, "only Flink can recover it");
	}
}

WORLD_TEST(maps_without_an_entry_that_counts_are_absence)
{
	cleanup_buf struct buf value = BUF_INIT;

	ha_value_write(&value, "file:/ha/x", 5, true);
	ha_maps_add(&w->ha, "orders-" JOB "-config-map");
	ha_map_put(&w->ha.maps[0], "checkpointID-0000000000000000003", buf_str(&value),
		   value.len_bytes);
	ha_maps_add(&w->ha, "unrelated");
	observe(w);
	CHECK_INT(w->facts.sources[SOURCE_HA].state, ==, SOURCE_ABSENT);
	CHECK_STR(
		w->facts.sources[SOURCE_HA].detail,
		"0 checkpoints in the map of 1 job, 1 more being deleted, 1 map of something else");
	CHECK_INT(w->facts.candidate_count, ==, 0);
}

/* ---- closely ---- */

WORLD_TEST(looking_closely_tells_operators_size_and_date)
{
	const struct candidate *c;

	put(w, "ck/" JOB "/chk-7", 7, DAY_S);
	dir_hole(w->top, "ck/" JOB "/chk-7/state", 20);
	observe(w);
	c = find(w, "chk-7");
	w->facts.candidates[0].snapshot.completed_unix_ms = 0;
	verify(w, "chk-7");
	CHECK_INT(c->integrity, ==, INTEGRITY_COMPLETE);
	CHECK_INT(c->snapshot.size_bytes, ==, 20);
	CHECK_INT(c->snapshot.file_count, ==, 1);
	CHECK_INT(c->snapshot.completed_unix_ms, ==, DAY_S * 1000);
	CHECK(c->snapshot.verified);
	CHECK_INT(c->snapshot.verified_unix_ms, >, DAY_S * 1000);
	if (CHECK_INT(c->operator_count, ==, 1))
		CHECK_STR(c->operators[0], "0000000000000007fffffffffffffff9");
	CHECK_INT(c->recovery, ==, INTEGRITY_UNCHECKED); /* no HA map names it */
}

WORLD_TEST(operators_are_sorted)
{
	cleanup_buf struct buf bytes = BUF_INIT;
	const struct candidate *c;

	ha_read("2.3.0-rocksdb-inc-chk", &bytes);
	dir_put(w->top, "ck/" JOB "/chk-7/_metadata", bytes.data, bytes.len_bytes);
	observe(w);
	verify(w, "chk-7");
	c = find(w, "chk-7");
	if (CHECK_INT(c->operator_count, ==, 3)) {
		CHECK(strcmp(c->operators[0], c->operators[1]) < 0);
		CHECK(strcmp(c->operators[1], c->operators[2]) < 0);
	}
}

/* The entry's own object, with one file of state. */
static void put_object(struct world *w, int id, const char *pointer, const char *state,
		       int64_t size_bytes)
{
	struct ha_map *map = &w->ha.maps[0];
	cleanup_free char *name = xasprintf("ha/completedCheckpoint%d", id);
	cleanup_free char *path = xasprintf("file:%s/%s", w->top, pointer);
	cleanup_free char *file = xasprintf("file:%s/%s", w->top, state);
	cleanup_free char *uri = xasprintf("file:%s/%s", w->top, name);
	cleanup_free char *key = xasprintf("checkpointID-%019d", id);
	cleanup_buf struct buf bytes = BUF_INIT, value = BUF_INIT;

	ha_object_write(&bytes, id, DAY_S * 1000, path, file, size_bytes);
	dir_put(w->top, name, bytes.data, bytes.len_bytes);
	ha_value_write(&value, uri, (int64_t)bytes.len_bytes, false);
	ha_map_put(map, key, buf_str(&value), value.len_bytes);
	map->counter = id + 1;
}

/* After a native savepoint was claimed (FLINK-39964) each _metadata names files in a wrong directory. */
WORLD_TEST(flink_recovers_the_files_that_its_own_object_names)
{
	ha_entry(w, 5, DAY_S * 1000, "ck/" JOB "/chk-5");
	for (int id = 6; id <= 8; id++) {
		cleanup_free char *dir = xasprintf("ck/" JOB "/chk-%d", id);

		put(w, dir, id, DAY_S); /* its `state` is not there */
		put_object(w, id, dir, id == 8 ? "sp/gone" : "sp/state", id == 7 ? 19 : 20);
	}
	dir_hole(w->top, "sp/state", 20);
	observe(w);
	verify(w, "/chk-6");
	verify(w, "/chk-7");
	verify(w, "/chk-8");
	CHECK_INT(find(w, "/chk-6")->integrity, ==, INTEGRITY_DAMAGED);
	CHECK_INT(find(w, "/chk-6")->recovery, ==, INTEGRITY_COMPLETE);
	CHECK_INT(find(w, "/chk-7")->recovery, ==, INTEGRITY_DAMAGED);
	CHECK_HAS(find(w, "/chk-7")->recovery_detail, "sp/state has 20 bytes, expected 19");
	CHECK_INT(find(w, "/chk-8")->recovery, ==, INTEGRITY_DAMAGED);
	CHECK_HAS(find(w, "/chk-8")->recovery_detail, "sp/gone is missing");
}

WORLD_TEST(flink_recovers_what_is_complete_or_lacks_only_its_metadata)
{
	/* its state is lost there, but Flink reads it from its own object */
	put(w, "ck/" JOB "/chk-6", 6, DAY_S);
	put(w, "ck/" JOB "/chk-7", 7, DAY_S);
	dir_hole(w->top, "ck/" JOB "/chk-7/state", 20);
	dir_put(w->top, "ck/" JOB "/chk-8/_metadata", "nonsense, and more of it", 24);
	dir_mkdir(w->top, "ck/" JOB "/chk-9");
	for (int id = 6; id <= 9; id++) {
		cleanup_free char *pointer = xasprintf("ck/" JOB "/chk-%d", id);

		ha_entry(w, id, DAY_S * 1000, pointer);
	}
	observe(w);
	for (int id = 6; id <= 9; id++) {
		cleanup_free char *name = xasprintf("/chk-%d", id);

		verify(w, name);
	}
	CHECK_INT(find(w, "/chk-6")->integrity, ==, INTEGRITY_DAMAGED);
	CHECK_INT(find(w, "/chk-6")->recovery, ==, INTEGRITY_COMPLETE);
	CHECK_INT(find(w, "/chk-7")->integrity, ==, INTEGRITY_COMPLETE);
	CHECK_INT(find(w, "/chk-7")->recovery, ==, INTEGRITY_COMPLETE);
	CHECK_INT(find(w, "/chk-8")->integrity, ==, INTEGRITY_DAMAGED);
	CHECK_INT(find(w, "/chk-8")->recovery, ==, INTEGRITY_COMPLETE);
	CHECK_INT(find(w, "/chk-9")->integrity, ==, INTEGRITY_INCOMPLETE);
	CHECK_INT(find(w, "/chk-9")->recovery, ==, INTEGRITY_COMPLETE);
	CHECK_HAS(find(w, "/chk-9")->detail, "_metadata is missing");
}

TEST(ten_thousand_savepoints_take_no_time)
{
	struct world w;
	clock_t began; /* of the CPU: a loaded machine takes its time */
	int cpu_ms;

	if (tap_valgrind()) {
		tap_skip("everything takes time under valgrind");
		return;
	}
	world_begin(&w);
	for (int i = 0; i < 10000; i++)
		put_savepoint(&w, JOB, i, i + 1, DAY_S + i);
	began = clock();
	observe(&w);
	cpu_ms = (int)((clock() - began) / (CLOCKS_PER_SEC / 1000));
	tap_note("10000 savepoints in %d ms", cpu_ms);
	CHECK_INT(w.facts.candidate_count, ==, OBSERVE_KEEP);
	CHECK_INT(cpu_ms, <, 5000); /* sanitizers */
	world_end(&w);
}

WORLD_TEST(what_flink_would_start_again_and_who_leads_are_facts)
{
	struct observe_plan plan;
	struct facts facts;
	struct ha_maps maps = {0};

	ha_map_put(ha_maps_add(&maps, "orders-cluster-config-map"), "jobGraph-" JOB, "x", 1);
	ha_map_put(&maps.maps[0], "application-" JOB, "x", 1);
	ha_map_put(&maps.maps[0], "org.apache.flink.k8s.leader.dispatcher", "x", 1);
	ha_maps_add(&maps, "orders-" JOB "-config-map"); /* empty, and a trace of its job */
	observe_plan_init(&plan, &w->places, &w->journal, NULL);
	observe_plan_add_ha(&plan, &maps, SOURCE_PRESENT, NULL);
	xstrset(&plan.lock_held, "drey-a owns it");
	observe_gather(&plan, &facts);
	CHECK_INT(facts.stored_count, ==, 2);
	CHECK_STR(facts.lock_held, "drey-a owns it");
	CHECK_INT(facts.job_count, ==, 1);
	CHECK_STR(facts.jobs[0], JOB);
	facts_release(&facts);
	observe_plan_release(&plan);
}

int main(int argc, char **argv)
{
	/* thousands of little files: a disk takes its time for them */
	if (!getenv("TMPDIR") && !access("/dev/shm", W_OK))
		setenv("TMPDIR", "/dev/shm", 1);
	return tap_main(argc, argv);
}
