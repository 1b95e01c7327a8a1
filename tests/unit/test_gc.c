#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/gc/gc.h"
#include "tests/unit/doc_file.h"
#include "tests/unit/gc_names.h"
#include "tests/unit/tap.h"

#define HOUR   INT64_C(3600000)
#define DAY    (24 * HOUR)
#define NOW    (1000 * DAY)
#define LAST_H 100 /* hours since the last launch began */

static const char *const jobs[] = {
	"00000000000000000000000000000000", "11111111111111111111111111111111",
	"22222222222222222222222222222222", "33333333333333333333333333333333",
	"44444444444444444444444444444444",
};
#define OTHER  "ffffffffffffffffffffffffffffffff"
#define FORMER "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee"

struct world {
	struct journal journal;
	struct gc gc;
};

static int64_t ago(int64_t hours)
{
	return NOW - hours * HOUR;
}

/* Five launches, one every ten days, the last of which runs for 100 hours. */
static void begin(struct world *w)
{
	memset(w, 0, sizeof(*w));
	journal_init(&w->journal, "app");
	for (int i = 0; i < 5; i++) {
		struct launch *launch = journal_add_launch(&w->journal);

		memcpy(launch->job_id, jobs[i], JOB_ID_BYTES);
		launch->intended_unix_ms = ago(LAST_H + (4 - i) * 240);
		launch->started_unix_ms = launch->intended_unix_ms + 1000;
		launch->proven_unix_ms = launch->intended_unix_ms + HOUR;
		launch_name_results(launch, "file:/results");
	}
	w->gc.now_unix_ms = NOW;
	w->gc.policy = (struct gc_policy){HOUR, 2, 7 * DAY};
}

static void end(struct world *w)
{
	gc_release(&w->gc);
	journal_release(&w->journal);
}

#define GC_TEST(name) TEST_WITH(name, struct world, w, begin, end)

static void tree(struct world *w, const char *job)
{
	char dir[80];

	snprintf(dir, sizeof(dir), "file:/ck/%s", job);
	gc_add_tree(&w->gc, GC_TREE_JOB, dir, job);
}

static void file(struct world *w, const char *name, int64_t hours)
{
	char full[GC_NAME_BYTES];

	CHECK(gc_add_file(&w->gc, gc_full_name(name, full), 100, ago(hours), false));
}

static struct gc_snapshot *snapshot(struct world *w, const char *job, int64_t id, int64_t hours)
{
	char path[100];
	struct gc_snapshot s = {
		.path = path,
		.kind = SNAPSHOT_CHECKPOINT,
		.checkpoint_id = id,
		.unix_ms = ago(hours),
		.check = GC_CHECK_COMPLETE,
	};

	snprintf(path, sizeof(path), "file:/ck/%s/chk-%d", job, (int)id);
	snprintf(s.job_id, sizeof(s.job_id), "%s", job);
	return gc_add_snapshot(&w->gc, &s);
}

/* Each launch has left a checkpoint, 10, 20 ... 50, 90 hours before it ended; the last a new one. */
static void left_by_all(struct world *w)
{
	for (int i = 0; i < 5; i++)
		snapshot(w, jobs[i], 10 * (i + 1), i == 4 ? 2 : LAST_H + (4 - i) * 240 - 150);
}

static void judge(struct world *w)
{
	gc_retain(&w->gc, &w->journal);
	for (size_t i = 0; i < w->gc.snapshot_count; i++)
		w->gc.snapshots[i].read = w->gc.snapshots[i].retained;
	gc_judge(&w->gc, &w->journal);
}

/* Why the file of this name has its verdict. */
static const char *why(const struct world *w, const char *name)
{
	cleanup_buf struct buf text = BUF_INIT;
	char full[GC_NAME_BYTES];

	for (size_t i = 0; i < w->gc.file_count; i++)
		if (!strcmp(gc_name(&w->gc, &w->gc.files[i], &text), gc_full_name(name, full)))
			return gc_reason_name((enum gc_reason)w->gc.files[i].reason);
	return "no such file";
}

/* ---- shared files ---- */

GC_TEST(a_shared_file_that_nothing_refers_to_goes)
{
	left_by_all(w);
	tree(w, jobs[3]);
	file(w, "shared/aa", 300);
	file(w, "taskowned/bb", 300);
	file(w, "dstl/cc", 300);
	file(w, "shared/job_x_op_y_0_1/dd", 300);
	judge(w);
	CHECK(!w->gc.stop);
	CHECK_STR(why(w, "shared/aa"), "unreferenced");
	CHECK_STR(why(w, "taskowned/bb"), "task-owned");
	CHECK_STR(why(w, "dstl/cc"), "unreferenced");
	CHECK_STR(why(w, "shared/job_x_op_y_0_1/dd"), "unreferenced");
	CHECK_INT(w->gc.sums[GC_UNREFERENCED].files, ==, 3);
	CHECK_INT(w->gc.sums[GC_UNREFERENCED].bytes, ==, 300);
}

GC_TEST(a_shared_file_stays_if_a_snapshot_refers_to_it_by_any_path)
{
	left_by_all(w);
	tree(w, jobs[3]);
	file(w, "shared/aa", 300);
	file(w, "shared/bb", 300);
	gc_refer(&w->gc, "s3a://somewhere/else/" GC_UUID("aa"));
	judge(w);
	CHECK_STR(why(w, "shared/aa"), "referred");
	CHECK_STR(why(w, "shared/bb"), "unreferenced");
}

GC_TEST(nothing_is_deleted_that_is_younger_than_the_first_checkpoint_of_the_last_launch)
{
	int64_t proven_unix_ms = w->journal.launches[4].proven_unix_ms;

	left_by_all(w);
	tree(w, jobs[3]);
	CHECK(gc_add_file(&w->gc, "shared/" GC_UUID("aa"), 100, proven_unix_ms, false));
	CHECK(gc_add_file(&w->gc, "shared/" GC_UUID("bb"), 100, 0, false));
	judge(w);
	CHECK_STR(why(w, "shared/aa"), "unreferenced");
	CHECK_STR(why(w, "shared/bb"), "strange");
	CHECK(gc_add_file(&w->gc, "shared/" GC_UUID("cc"), 100, proven_unix_ms + 1, false));
	judge(w);
	CHECK_STR(why(w, "shared/aa"), "active");
}

GC_TEST(a_job_for_which_something_still_writes_is_in_doubt_as_a_whole)
{
	left_by_all(w);
	tree(w, jobs[3]);
	file(w, "shared/aa", 300);
	file(w, "shared/bb", 98); /* the last launch is proven since 99 hours */
	judge(w);
	CHECK_STR(why(w, "shared/aa"), "active");
	CHECK_STR(why(w, "shared/bb"), "active");
}

GC_TEST(what_flink_does_not_write_is_in_doubt)
{
	left_by_all(w);
	tree(w, jobs[3]);
	file(w, "notes.txt", 300);
	file(w, "chk-7/inner/x", 300);
	file(w, "chk-x/y", 300);
	file(w, "sharedx/y", 300);
	CHECK(gc_add_file(&w->gc, "shared/link", 0, ago(300), true));
	judge(w);
	CHECK_INT(w->gc.sums[GC_STRANGE].files, ==, 5);
}

GC_TEST(names_that_flink_does_not_give_are_in_doubt_wherever_they_are)
{
	static const struct {
		const char *name, *reason;
	} rows[] = {
		{"shared/notes.txt", "strange"},
		{"shared/" GC_UUID("a1") ".bak", "strange"},
		{"shared/x" GC_UUID("a2"), "strange"},
		{"shared/0000a3-0000-4000-8000-000000000000", "strange"},
		{"shared/job_a_op_b_0_1/db/" GC_UUID("a4"), "strange"},
		{"shared/other/" GC_UUID("a5"), "strange"},
		{"shared/op_1/db/000012.sst", "strange"}, /* ForSt: the name is a counter */
		{"dstl/sub/" GC_UUID("a6"), "strange"},
		{"chk-41/state", "strange"},
		{"chk-41/_metadata.bak", "strange"},
		{"chk-41/._metadata.inprogress." GC_UUID("a7"), "unfinished"},
		{"chk-41/" GC_UUID("a8"), "unfinished"},
		{"chk-0/" GC_UUID("a9"), "strange"},
		{"33333333333333333333333333333333.json", "strange"},
		{"blob_p-1", "strange"},
		{"taskowned/" GC_UUID("b1"), "task-owned"},
		{"taskowned/job_a_tm_b/" GC_UUID("b2"), "task-owned"},
		{"taskowned/anything", "task-owned"},
		{"taskowned", "strange"},
	};

	left_by_all(w);
	tree(w, jobs[3]);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		CHECK(gc_add_file(&w->gc, rows[i].name, 100, ago(300), false));
	judge(w);
	CHECK(!w->gc.stop);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (!CHECK_STR(why(w, rows[i].name), rows[i].reason))
			tap_note("%s", rows[i].name);
}

GC_TEST(a_directory_of_results_loses_only_results)
{
	left_by_all(w);
	/* the result store is the checkpoint directory by another name */
	gc_add_tree(&w->gc, GC_TREE_RESULTS, "s3a://b/ck/33333333333333333333333333333333",
		    jobs[3]);
	file(w, "33333333333333333333333333333333.json", 300);
	file(w, "33333333333333333333333333333333_DIRTY.json", 300);
	file(w, "chk-40/_metadata", 300);
	file(w, "chk-40/aa", 300);
	file(w, "shared/bb", 300);
	file(w, "readme.json", 300);
	judge(w);
	CHECK_INT(w->gc.sums[GC_RESULT].files, ==, 2);
	CHECK_INT(gc_total(&w->gc, GC_DELETE).files, ==, 2);
	CHECK_STR(why(w, "chk-40/_metadata"), "strange");
	CHECK_STR(why(w, "shared/bb"), "strange");
}

/* ---- checkpoints ---- */

GC_TEST(a_checkpoint_without_metadata_goes)
{
	left_by_all(w);
	tree(w, jobs[3]);
	file(w, "chk-41/aa", 300);
	file(w, "chk-41/bb", 300);
	file(w, "chk-40/_metadata", 300);
	file(w, "chk-40/cc", 300);
	gc_refer(&w->gc, "file:/ck/x/chk-41/" GC_UUID("bb"));
	judge(w);
	CHECK_STR(why(w, "chk-41/aa"), "unfinished");
	CHECK_STR(why(w, "chk-41/bb"), "referred");
	CHECK_STR(why(w, "chk-40/cc"), "retained");
	CHECK_STR(why(w, "chk-40/_metadata"), "retained");
}

GC_TEST(a_metadata_that_was_not_seen_as_a_snapshot_is_in_doubt)
{
	left_by_all(w);
	tree(w, jobs[3]);
	file(w, "chk-43/_metadata", 300);
	file(w, "chk-43/aa", 300);
	judge(w);
	CHECK_STR(why(w, "chk-43/_metadata"), "strange");
	CHECK_STR(why(w, "chk-43/aa"), "strange");
}

GC_TEST(checkpoints_of_the_last_three_launches_stay)
{
	left_by_all(w);
	for (int i = 0; i < 4; i++) {
		char name[40];

		tree(w, jobs[i]);
		snprintf(name, sizeof(name), "chk-%d/_metadata", 10 * (i + 1));
		file(w, name, 300 + (4 - i) * 240);
	}
	judge(w);
	CHECK_INT(w->gc.floor, ==, 2);
	CHECK_STR(why(w, "chk-10/_metadata"), "replaced");
	CHECK_STR(why(w, "chk-20/_metadata"), "replaced");
	CHECK_STR(why(w, "chk-30/_metadata"), "retained");
	CHECK_STR(why(w, "chk-40/_metadata"), "retained");
	CHECK(gc_goes_first(&w->gc, &w->gc.files[0]));
}

GC_TEST(a_launch_without_a_usable_snapshot_is_no_way_back)
{
	left_by_all(w);
	gc_find_snapshot(&w->gc, "file:/ck/33333333333333333333333333333333/chk-40")->check =
		GC_CHECK_DAMAGED;
	tree(w, jobs[1]);
	file(w, "chk-20/_metadata", 800);
	judge(w);
	CHECK_INT(w->gc.floor, ==, 1);
	CHECK_STR(why(w, "chk-20/_metadata"), "retained");
}

GC_TEST(all_checkpoints_stay_while_there_are_too_few_launches)
{
	left_by_all(w);
	w->gc.policy.keep_launches = 5;
	tree(w, jobs[0]);
	file(w, "chk-10/_metadata", 1000);
	file(w, "shared/aa", 1000);
	judge(w);
	CHECK_STR(why(w, "chk-10/_metadata"), "retained");
	CHECK_STR(why(w, "shared/aa"), "unreferenced");
}

GC_TEST(a_checkpoint_from_which_a_kept_launch_was_started_stays)
{
	left_by_all(w);
	xstrset(&w->journal.launches[3].restore_path,
		"file:///elsewhere/11111111111111111111111111111111/chk-20/_metadata");
	tree(w, jobs[1]);
	file(w, "chk-20/_metadata", 800);
	file(w, "chk-20/aa", 800);
	judge(w);
	CHECK_STR(why(w, "chk-20/aa"), "retained");
}

GC_TEST(a_checkpoint_that_something_else_names_stays)
{
	left_by_all(w);
	gc_find_snapshot(&w->gc, "/ck/11111111111111111111111111111111/chk-20")->named = true;
	tree(w, jobs[1]);
	file(w, "chk-20/_metadata", 800);
	judge(w);
	CHECK_STR(why(w, "chk-20/_metadata"), "retained");
}

GC_TEST(a_checkpoint_stays_for_a_week)
{
	left_by_all(w);
	w->gc.policy.keep_ms = 100 * DAY;
	tree(w, jobs[1]);
	file(w, "chk-20/_metadata", 800);
	judge(w);
	CHECK_STR(why(w, "chk-20/_metadata"), "retained");
}

GC_TEST(a_checkpoint_of_an_old_launch_that_is_younger_than_the_ways_back_stays)
{
	left_by_all(w);
	tree(w, jobs[1]);
	file(w, "chk-20/_metadata", 800);
	gc_find_snapshot(&w->gc, "/ck/11111111111111111111111111111111/chk-20")->unix_ms =
		w->journal.launches[2].intended_unix_ms;
	judge(w);
	CHECK_STR(why(w, "chk-20/_metadata"), "retained");
}

GC_TEST(a_snapshot_outside_of_every_tree_stays)
{
	left_by_all(w);
	tree(w, jobs[1]);
	file(w, "chk-20/_metadata", 800);
	judge(w);
	CHECK(gc_find_snapshot(&w->gc, "/ck/00000000000000000000000000000000/chk-10")->retained);
	CHECK(!gc_find_snapshot(&w->gc, "/ck/11111111111111111111111111111111/chk-20")->retained);
}

GC_TEST(savepoints_stay)
{
	struct gc_snapshot s = {.path = (char *)"file:/sp/savepoint-000000-0123456789ab",
				.kind = SNAPSHOT_SAVEPOINT,
				.job_id = "000000",
				.unix_ms = ago(900)};

	left_by_all(w);
	gc_add_snapshot(&w->gc, &s);
	judge(w);
	CHECK(gc_find_snapshot(&w->gc, s.path)->retained);
}

/* ---- jobs ---- */

GC_TEST(only_jobs_of_dead_launches_are_wanted)
{
	journal_add_former_job(&w->journal, FORMER);
	CHECK(gc_wants_job(&w->journal, jobs[0]));
	CHECK(gc_wants_job(&w->journal, jobs[3]));
	CHECK(gc_wants_job(&w->journal, FORMER));
	CHECK(!gc_wants_job(&w->journal, jobs[4]));
	CHECK(!gc_wants_job(&w->journal, OTHER));
	CHECK(!gc_wants_job(&w->journal, "eeeeee"));
	CHECK(!gc_wants_job(&w->journal, ""));
}

GC_TEST(a_job_that_the_last_launch_continues_is_not_wanted)
{
	memcpy(w->journal.launches[4].job_id, jobs[3], JOB_ID_BYTES);
	CHECK(!gc_wants_job(&w->journal, jobs[3]));
	CHECK(!gc_wants_job(&w->journal, jobs[4]));
}

GC_TEST(a_tree_of_another_application_or_of_the_last_launch_is_kept)
{
	left_by_all(w);
	tree(w, OTHER);
	file(w, "shared/aa", 300);
	tree(w, jobs[4]);
	file(w, "shared/bb", 300);
	judge(w);
	CHECK_STR(why(w, "shared/aa"), "strange");
	CHECK_STR(why(w, "shared/bb"), "needed");
}

GC_TEST(a_former_job_is_old)
{
	journal_add_former_job(&w->journal, FORMER);
	left_by_all(w);
	snapshot(w, FORMER, 3, 1500);
	snapshot(w, FORMER, 4, LAST_H + 400);
	tree(w, FORMER);
	file(w, "chk-3/_metadata", 1500);
	file(w, "chk-4/_metadata", LAST_H + 400);
	file(w, "shared/aa", 1500);
	judge(w);
	CHECK_STR(why(w, "chk-3/_metadata"), "replaced");
	CHECK_STR(why(w, "chk-4/_metadata"), "retained");
	CHECK_STR(why(w, "shared/aa"), "unreferenced");
}

GC_TEST(what_flink_could_recover_for_a_job_that_may_live_stays)
{
	struct candidate c = {0};

	facts_mark_ha(&c, jobs[1], NULL);
	CHECK(!gc_ha_needs(&w->journal, &c)); /* no launch continues a dead job */
	facts_mark_ha(&c, jobs[4], NULL);
	CHECK(gc_ha_needs(&w->journal, &c));
	c.recovery = INTEGRITY_DAMAGED;
	CHECK(!gc_ha_needs(&w->journal, &c));
	free(c.ha_others);
	c = (struct candidate){0};
	facts_mark_ha(&c, OTHER, NULL);
	CHECK(gc_ha_needs(&w->journal, &c));
	c.in_ha = false;
	CHECK(!gc_ha_needs(&w->journal, &c));
	free(c.ha_others);
}

/* ---- results ---- */

#define RESULT "ffffffffffffffffffffffffffffffff_DIRTY.json"

static void add_results(void *ctx, const char *dir, const char *job_id)
{
	struct world *w = ctx;

	gc_add_tree(&w->gc, GC_TREE_RESULTS, dir, job_id);
	file(w, RESULT, 300);
}

GC_TEST(results_of_dead_launches_go_also_when_a_snapshot_cannot_be_read)
{
	left_by_all(w);
	memcpy(w->journal.launches[1].job_id, jobs[2], JOB_ID_BYTES);
	xstrset(&w->journal.launches[0].job_result_path, "file:/for/all");
	memcpy(w->journal.launches[3].application_id, OTHER, JOB_ID_BYTES);
	xstrset(&w->journal.launches[3].application_result_path,
		"file:/results/application-" OTHER);
	gc_results(&w->journal, add_results, w);
	CHECK_INT(w->gc.tree_count, ==, 3);
	CHECK_STR(w->gc.trees[0].dir, "file:/results/22222222222222222222222222222222");
	CHECK_STR(w->gc.trees[2].dir, "file:/results/application-" OTHER);
	tree(w, jobs[3]);
	file(w, "shared/aa", 300);
	gc_set_unreadable(&w->gc, "file:/sp: denied");
	judge(w);
	CHECK_STR(w->gc.stop, "file:/sp: denied");
	CHECK_INT(w->gc.sums[GC_RESULT].files, ==, 3);
	CHECK_STR(why(w, "shared/aa"), "stopped");
}

GC_TEST(blobs_of_dead_jobs_go_like_results)
{
	left_by_all(w);
	gc_add_tree(&w->gc, GC_TREE_BLOBS, "file:/ha/app/blob/job_x", jobs[3]);
	file(w, "blob_p-1", 300);
	gc_add_tree(&w->gc, GC_TREE_BLOBS, "file:/ha/app/blob/job_y", jobs[4]);
	file(w, "blob_p-2", 300);
	gc_set_unreadable(&w->gc, "file:/sp: denied");
	judge(w);
	CHECK_STR(why(w, "blob_p-1"), "blob");
	CHECK_STR(why(w, "blob_p-2"), "needed");
}

static void ha(struct world *w, const char *job, const char *name, int64_t hours)
{
	gc_add_tree(&w->gc, GC_TREE_HA, "file:/ha/app", job);
	file(w, name, hours);
}

GC_TEST(what_flinks_ha_has_of_dead_jobs_goes)
{
	left_by_all(w);
	ha(w, jobs[3], "completedCheckpoint0", 300); /* also of one whose checkpoints stay */
	ha(w, jobs[0], "submittedJobGraph1", 300);
	ha(w, jobs[4], "completedCheckpoint2", 300);
	ha(w, FORMER, "completedCheckpoint3", 300);
	ha(w, "", "completedCheckpoint4", 300);
	journal_add_former_job(&w->journal, FORMER);
	judge(w);
	CHECK_STR(why(w, "completedCheckpoint0"), "ha");
	CHECK_STR(why(w, "submittedJobGraph1"), "ha");
	CHECK_STR(why(w, "completedCheckpoint2"), "needed");
	CHECK_STR(why(w, "completedCheckpoint3"), "ha");
	CHECK_STR(why(w, "completedCheckpoint4"), "unproven");
	CHECK_INT(gc_total(&w->gc, GC_DELETE).files, ==, 3);
	CHECK_INT(gc_total(&w->gc, GC_DOUBT).files, ==, 1);
}

GC_TEST(what_flinks_maps_refer_to_stays_whoever_it_is_of)
{
	left_by_all(w);
	ha(w, jobs[3], "completedCheckpoint0", 300);
	file(w, "completedCheckpoint1", 300);
	ha(w, "", "completedCheckpoint2", 300);
	gc_refer(&w->gc, "s3://b/ha/app/completedCheckpoint0");
	gc_refer(&w->gc, "s3://b/ha/app/completedCheckpoint2");
	judge(w);
	CHECK_STR(why(w, "completedCheckpoint0"), "ha-named");
	CHECK_STR(why(w, "completedCheckpoint1"), "ha");
	CHECK_STR(why(w, "completedCheckpoint2"), "ha-named");
}

GC_TEST(a_job_that_still_writes_to_flinks_ha_is_in_doubt)
{
	left_by_all(w);
	ha(w, jobs[3], "completedCheckpoint0", 300);
	file(w, "completedCheckpoint1", 1);
	ha(w, jobs[2], "completedCheckpoint2", 300);
	CHECK(gc_add_file(&w->gc, "completedCheckpoint3", 100, 0, false));
	judge(w);
	CHECK_STR(why(w, "completedCheckpoint0"), "active");
	CHECK_STR(why(w, "completedCheckpoint2"), "ha");
	CHECK_STR(why(w, "completedCheckpoint3"), "strange");
}

GC_TEST(nothing_in_flinks_ha_goes_while_something_cannot_be_read)
{
	left_by_all(w);
	ha(w, jobs[3], "completedCheckpoint0", 300);
	gc_set_unreadable(&w->gc, "file:/sp: denied");
	judge(w);
	CHECK_STR(why(w, "completedCheckpoint0"), "stopped");
	CHECK(w->gc.only_jobs);
}

/* ---- when ---- */

TEST(it_is_due_after_the_grace_time_and_then_at_intervals)
{
	static const struct {
		int64_t proven, grace, ended;
		bool stopped;
		int64_t interval, due;
	} cases[] = {
		{1000, HOUR, 0, false, 6 * HOUR, 1000 + HOUR + GC_SLACK_MS},
		{1000, HOUR, 0, true, 6 * HOUR, 1000 + HOUR + GC_SLACK_MS},
		{1000, 0, 5 * HOUR, false, 6 * HOUR, 11 * HOUR},
		{1000, 0, 5 * HOUR, true, 6 * HOUR, 5 * HOUR + GC_RETRY_MS},
		{1000, 0, 5 * HOUR, true, 1000, 5 * HOUR + 1000}, /* no later than usual */
		/* another launch is proven meanwhile */
		{9 * HOUR, HOUR, 5 * HOUR, false, HOUR, 10 * HOUR + GC_SLACK_MS},
		{9 * HOUR, HOUR, 5 * HOUR, true, 6 * HOUR, 10 * HOUR + GC_SLACK_MS},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		CHECK_INT(gc_due_unix_ms(cases[i].proven, cases[i].grace, cases[i].ended,
					 cases[i].stopped, cases[i].interval),
			  ==, cases[i].due);
}

/* ---- what stops it ---- */

static const char *stop_of(struct world *w)
{
	struct world *now = w;

	gc_release(&w->gc);
	w->gc = (struct gc){.now_unix_ms = NOW, .policy = {HOUR, 2, 7 * DAY}};
	left_by_all(w);
	tree(w, jobs[3]);
	file(w, "shared/aa", 300);
	gc_results(&w->journal, add_results, w);
	judge(w);
	CHECK_STR(why(w, "shared/aa"), now->gc.stop ? "stopped" : "unreferenced");
	CHECK_STR(why(w, RESULT), now->gc.stop ? "stopped" : "result");
	return w->gc.stop ? w->gc.stop : "none";
}

GC_TEST(nothing_is_deleted_before_the_last_launch_is_proven_for_an_hour)
{
	CHECK_STR(stop_of(w), "none");
	w->journal.launches[4].proven_unix_ms = 0;
	CHECK_HAS(stop_of(w), "launch 5 has not completed a checkpoint yet");
	w->journal.launches[4].proven_unix_ms = NOW - HOUR + 1;
	CHECK_HAS(stop_of(w), "less than 60 min ago");
}

GC_TEST(nothing_is_deleted_after_a_wrong_restore)
{
	w->journal.launches[4].mismatched = true;
	CHECK_HAS(stop_of(w), "something else");
	w->journal.launches[4].mismatched = false;
	w->journal.outcome.kind = OUTCOME_RESTORE_MISMATCH;
	CHECK_HAS(stop_of(w), "something else");
}

GC_TEST(nothing_is_deleted_while_a_restore_request_waits)
{
	w->journal.intent.restore.kind = RESTORE_PATH;
	w->journal.intent.restore.token = xstrdup("t1");
	w->journal.intent.restore.path = xstrdup("file:/x");
	CHECK_HAS(stop_of(w), "restore request");
	journal_consume(&w->journal, "t1");
	CHECK_STR(stop_of(w), "none");
}

GC_TEST(nothing_is_deleted_during_a_hand_over)
{
	w->journal.handover.state = HANDOVER_GRANTED;
	CHECK_HAS(stop_of(w), "hand-over");
}

GC_TEST(nothing_is_deleted_without_a_launch)
{
	struct journal empty;

	journal_init(&empty, "app");
	tree(w, jobs[3]);
	file(w, "shared/aa", 300);
	gc_judge(&w->gc, &empty);
	CHECK_HAS(w->gc.stop, "no launch");
	CHECK_STR(why(w, "shared/aa"), "stopped");
	journal_release(&empty);
}

GC_TEST(no_snapshot_is_deleted_if_the_last_launch_has_none_that_is_complete)
{
	left_by_all(w);
	gc_find_snapshot(&w->gc, "/ck/44444444444444444444444444444444/chk-50")->check =
		GC_CHECK_DAMAGED;
	tree(w, jobs[3]);
	file(w, "shared/aa", 300);
	judge(w);
	CHECK_HAS(w->gc.stop, "no complete snapshot of the last launch");
	CHECK_STR(why(w, "shared/aa"), "stopped");
}

GC_TEST(a_savepoint_of_the_last_launch_is_a_snapshot_of_it)
{
	struct gc_snapshot s = {.path = (char *)"file:/sp/savepoint-444444-0123456789ab",
				.kind = SNAPSHOT_SAVEPOINT,
				.job_id = "444444",
				.unix_ms = ago(1)};

	left_by_all(w);
	gc_find_snapshot(&w->gc, "/ck/44444444444444444444444444444444/chk-50")->check =
		GC_CHECK_DAMAGED;
	gc_add_snapshot(&w->gc, &s);
	CHECK_STR(w->gc.snapshots[gc_next_check(&w->gc, &w->journal)].path, s.path);
	gc_find_snapshot(&w->gc, s.path)->check = GC_CHECK_COMPLETE;
	judge(w);
	CHECK(!w->gc.stop);
}

GC_TEST(it_must_be_known_to_what_the_last_launch_refers)
{
	struct launch *last = &w->journal.launches[4];

	left_by_all(w);
	xstrset(&last->restore_path, "file:/ck/33333333333333333333333333333333/chk-40");
	tree(w, jobs[3]);
	file(w, "shared/aa", 300);
	judge(w);
	CHECK(!w->gc.stop);
	/* Flink has discarded it since, and its successor was not seen */
	gc_find_snapshot(&w->gc, "/ck/44444444444444444444444444444444/chk-50")->gone = true;
	gc_judge(&w->gc, &w->journal);
	CHECK(w->gc.stop); /* what it was started from is known, but nothing of its own */
	gc_find_snapshot(&w->gc, last->restore_path)->gone = true;
	gc_judge(&w->gc, &w->journal);
	CHECK_HAS(w->gc.stop, "no snapshot of the last launch could be read");
	last->restore_kind = SNAPSHOT_SAVEPOINT;
	gc_judge(&w->gc, &w->journal);
	/* a savepoint has its own files, but not even one snapshot of a running job is left */
	CHECK_HAS(w->gc.stop, "no snapshot of the last launch could be read");
	gc_find_snapshot(&w->gc, "/ck/44444444444444444444444444444444/chk-50")->gone = false;
	gc_judge(&w->gc, &w->journal);
	CHECK(!w->gc.stop);
}

/* A checkpoint of this job that the journal knows, and that has lost its _metadata. */
static struct gc_snapshot *lost(struct world *w, const char *job, int64_t id)
{
	struct gc_snapshot *s = snapshot(w, job, id, 0);

	s->unix_ms = 0;
	s->lost = true;
	s->check = GC_CHECK_NONE;
	return s;
}

GC_TEST(a_checkpoint_that_has_lost_its_metadata_stops_all_unless_it_is_not_needed_any_more)
{
	struct gc_snapshot *s;

	left_by_all(w);
	tree(w, jobs[1]);
	file(w, "chk-20/_metadata", 800);
	file(w, "chk-21/aa", 800);
	file(w, "shared/bb", 800);
	lost(w, jobs[1], 21); /* drey gc was killed when it had deleted the _metadata */
	judge(w);
	CHECK(!w->gc.stop);
	CHECK_STR(why(w, "chk-21/aa"), "replaced");

	tree(w, jobs[3]);
	file(w, "chk-41/aa", 300);
	s = lost(w, jobs[3], 41);
	gc_retain(&w->gc, &w->journal);
	CHECK(s->retained);
	gc_judge(&w->gc, &w->journal);
	CHECK_HAS(w->gc.stop, "was not read");
	CHECK_INT(gc_total(&w->gc, GC_DELETE).files, ==, 0);
}

GC_TEST(a_lost_checkpoint_in_a_tree_with_young_files_stays)
{
	left_by_all(w);
	tree(w, jobs[1]);
	file(w, "chk-20/_metadata", 800);
	file(w, "chk-21/aa", 800);
	file(w, "shared/bb", LAST_H + 10); /* younger than the launches that are a way back */
	lost(w, jobs[1], 21);
	gc_retain(&w->gc, &w->journal);
	CHECK(gc_find_snapshot(&w->gc, "/ck/11111111111111111111111111111111/chk-21")->retained);
}

GC_TEST(what_the_journal_has_seen_completed_is_known_however_it_is_spelled)
{
	struct gc_snapshot s = {.path = (char *)"s3a://b/x/33333333333333333333333333333333/chk-40",
				.kind = SNAPSHOT_CHECKPOINT,
				.job_id = "33333333333333333333333333333333",
				.checkpoint_id = 40};
	struct gc_snapshot sp = {.path = (char *)"file:/sp/savepoint-444444-0123456789ab",
				 .kind = SNAPSHOT_SAVEPOINT};

	CHECK(!gc_was_completed(&w->journal, &s));
	xstrset(&w->journal.launches[3].last_checkpoint_path,
		"s3://b/x/33333333333333333333333333333333/chk-40");
	CHECK(gc_was_completed(&w->journal, &s));
	s.checkpoint_id = 4;
	CHECK(!gc_was_completed(&w->journal, &s));
	xstrset(&w->journal.launches[4].restore_path, "/sp/savepoint-444444-0123456789ab");
	CHECK(gc_was_completed(&w->journal, &sp));
}

static void count_dir(void *ctx, const char *dir)
{
	struct buf *text = ctx;

	buf_addf(text, "%s ", dir);
}

GC_TEST(checkpoints_without_metadata_are_named_to_be_looked_for)
{
	cleanup_buf struct buf text = BUF_INIT;

	left_by_all(w);
	tree(w, jobs[3]);
	file(w, "chk-40/aa", 300); /* a snapshot: it was seen with its _metadata */
	file(w, "chk-41/aa", 300);
	file(w, "chk-42/_metadata", 300);
	file(w, "chk-42/aa", 300);
	file(w, "chk-43/aa", 300);
	lost(w, jobs[3], 43);
	gc_unfinished(&w->gc, count_dir, &text);
	CHECK_STR(buf_str(&text), "file:/ck/33333333333333333333333333333333/chk-41 "
				  "file:/ck/33333333333333333333333333333333/chk-43 ");
}

GC_TEST(no_snapshot_is_deleted_if_one_that_stays_was_not_read)
{
	left_by_all(w);
	tree(w, jobs[3]);
	file(w, "shared/aa", 300);
	judge(w);
	CHECK(!w->gc.stop);
	snapshot(w, OTHER, 7, 1)->retained = true;
	gc_judge(&w->gc, &w->journal);
	CHECK_HAS(w->gc.stop, OTHER "/chk-7 was not read");
}

/* ---- checks ---- */

GC_TEST(the_newest_of_each_launch_are_checked_until_there_are_enough)
{
	int i;

	left_by_all(w);
	snapshot(w, jobs[4], 51, 1);
	for (size_t k = 0; k < w->gc.snapshot_count; k++)
		w->gc.snapshots[k].check = GC_CHECK_NONE;
	i = gc_next_check(&w->gc, &w->journal);
	CHECK_INT(w->gc.snapshots[i].checkpoint_id, ==, 51);
	w->gc.snapshots[i].check = GC_CHECK_DAMAGED;
	i = gc_next_check(&w->gc, &w->journal);
	CHECK_INT(w->gc.snapshots[i].checkpoint_id, ==, 50);
	w->gc.snapshots[i].check = GC_CHECK_COMPLETE;
	i = gc_next_check(&w->gc, &w->journal);
	CHECK_INT(w->gc.snapshots[i].checkpoint_id, ==, 40);
	w->gc.snapshots[i].check = GC_CHECK_DAMAGED;
	i = gc_next_check(&w->gc, &w->journal);
	CHECK_INT(w->gc.snapshots[i].checkpoint_id, ==, 30);
	w->gc.snapshots[i].check = GC_CHECK_COMPLETE;
	i = gc_next_check(&w->gc, &w->journal);
	CHECK_INT(w->gc.snapshots[i].checkpoint_id, ==, 20);
	w->gc.snapshots[i].check = GC_CHECK_COMPLETE;
	CHECK_INT(gc_next_check(&w->gc, &w->journal), ==, -1);
}

GC_TEST(nothing_more_is_checked_if_the_last_launch_has_nothing)
{
	snapshot(w, jobs[3], 40, 300)->check = GC_CHECK_NONE;
	CHECK_INT(gc_next_check(&w->gc, &w->journal), ==, -1);
}

/* ---- meanwhile ---- */

GC_TEST(a_decision_does_not_hold_after_another_launch_or_a_request)
{
	struct world other;
	const char *said;

	begin(&other);
	other.journal.sequence = 77;
	CHECK(gc_still_holds(&w->journal, &other.journal, &said));
	other.journal.intent.restore.kind = RESTORE_NEWEST;
	other.journal.intent.restore.token = xstrdup("t1");
	CHECK(!gc_still_holds(&w->journal, &other.journal, &said));
	CHECK_STR(said, "a restore was requested");
	other.journal.intent.restore.kind = RESTORE_NONE;
	other.journal.handover.state = HANDOVER_OFFERED;
	CHECK(!gc_still_holds(&w->journal, &other.journal, &said));
	other.journal.handover.state = HANDOVER_NONE;
	other.journal.outcome.kind = OUTCOME_FAILED;
	CHECK(!gc_still_holds(&w->journal, &other.journal, &said));
	other.journal.outcome.kind = OUTCOME_NONE;
	journal_add_launch(&other.journal);
	CHECK(!gc_still_holds(&w->journal, &other.journal, &said));
	CHECK_STR(said, "there is another launch");
	end(&other);
}

GC_TEST(many_references_are_found_again)
{
	char name[40];
	int found = 0, wrong = 0;

	for (int i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "file:/a/%d", i);
		gc_refer(&w->gc, name);
		gc_refer(&w->gc, name);
	}
	for (int i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "shared/%d", i);
		found += gc_is_referred(&w->gc, name);
		snprintf(name, sizeof(name), "shared/x%d", i);
		wrong += gc_is_referred(&w->gc, name);
	}
	CHECK_INT(w->gc.ref_count, ==, 5000);
	CHECK_INT(found, ==, 5000);
	CHECK_INT(wrong, ==, 0);
}

/* ---- docs/reference/commands/gc.md ---- */

TEST(the_page_has_all_reasons_in_their_order)
{
	cleanup_buf struct buf doc = BUF_INIT;
	const char *at;

	if (!doc_read("docs/reference/commands/gc.md", &doc))
		return;
	at = strstr(buf_str(&doc), "| Reason | Verdict | Words |");
	for (int i = 0; i < GC_REASON_COUNT && at; i++) {
		enum gc_reason reason = (enum gc_reason)i;
		cleanup_free char *row = xasprintf("\n| `%s` | %s | %s | ", gc_reason_name(reason),
						   gc_verdict_name(gc_reason_verdict(reason)),
						   gc_reason_text(reason));

		at = strstr(at, row);
		if (!at)
			tap_note("no row in its place:%s", row);
	}
	CHECK(at != NULL);
	/* and no others */
	at = at ? strchr(at + 1, '\n') : NULL;
	CHECK(at && at[1] != '|');
}

int main(int argc, char **argv)
{
	return tap_main(argc, argv);
}
