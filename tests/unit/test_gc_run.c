#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "gc_names.h"
#include "metadata_writer.h"
#include "run/gc/gc_run.h"
#include "store_dir.h"

#define HOUR INT64_C(3600000)
#define DAY  (24 * HOUR)

static const char *const jobs[] = {
	"00000000000000000000000000000000",
	"11111111111111111111111111111111",
	"22222222222222222222222222222222",
};
#define OTHER "ffffffffffffffffffffffffffffffff"

/* Directories of three launches, and a setup that knows them. */
struct world {
	char *top, *ck, *sp, *state;
	struct setup setup;
	struct gc_run run;
	int ends_at, calls; /* `ends` says so from this call on; 0: never */
	bool relaunch;      /* another launch is recorded during the deletion */
};

static void write_journal(struct world *w, size_t launches)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct journal journal;
	struct err err = {0};
	int64_t now_ms = clock_unix_ms();

	journal_init(&journal, "app");
	journal.sequence = (int64_t)launches;
	for (size_t i = 0; i < launches; i++) {
		struct launch *launch = journal_add_launch(&journal);

		memcpy(launch->job_id, i < 3 ? jobs[i] : OTHER, JOB_ID_BYTES);
		launch->checkpoint_dir = xstrdup(w->ck);
		launch->savepoint_dir = xstrdup(w->sp);
		launch->intended_unix_ms = now_ms - (30 - 10 * (int64_t)i) * DAY;
		launch->started_unix_ms = launch->proven_unix_ms = launch->intended_unix_ms;
	}
	CHECK_INT(journal_encode(&journal, &text, &err), ==, 0);
	dir_put(w->state, "journal.json", text.data, text.len_bytes);
	journal_release(&journal);
}

static void put_at(struct world *w, const char *name, const void *bytes, size_t len, int days)
{
	cleanup_free char *path = xasprintf("%s/%s", w->ck, name);
	struct timespec times[2];

	times[0].tv_sec = times[1].tv_sec = time(NULL) - (time_t)days * 86400;
	times[0].tv_nsec = times[1].tv_nsec = 0;
	dir_put(w->ck, name, bytes, len);
	CHECK_INT(utimensat(AT_FDCWD, path, times, 0), ==, 0);
}

/* A checkpoint that refers to this file of another directory; NULL: to none. */
static void checkpoint(struct world *w, const char *job, int id, const char *refers, int days)
{
	cleanup_buf struct buf file = BUF_INIT;
	cleanup_free char *name = xasprintf("%s/chk-%d/_metadata", job, id);
	cleanup_free char *path = refers ? xasprintf("file:%s/%s", w->ck, refers) : NULL;

	wr_head(&file, 6, id);
	wr_i32(&file, 0);
	wr_i32(&file, 1);
	wr_operator(&file, 6, "Map", "map-uid", 7);
	wr_i32(&file, 1);
	wr_subtask(&file, 6, 0);
	wr_u8(&file, 3);
	wr_groups(&file);
	if (path)
		wr_file(&file, path, 4);
	else
		wr_bytes(&file, 10);
	wr_u8(&file, 0);
	wr_subtask_end(&file, 6);
	wr_tail(&file, 6, "org.apache.flink.runtime.checkpoint.CheckpointType");
	put_at(w, name, file.data, file.len_bytes, days);
}

static void shared(struct world *w, const char *job, const char *name, int days)
{
	cleanup_free char *path = xasprintf("%s/shared/%s", job, name);
	char full[GC_NAME_BYTES];

	put_at(w, gc_full_name(path, full), "1234", 4, days);
}

static bool there(const struct world *w, const char *job, const char *name)
{
	cleanup_free char *path = xasprintf("%s/%s/%s", w->ck, job, name);
	char full[GC_NAME_BYTES];
	struct stat st;

	return stat(gc_full_name(path, full), &st) == 0;
}

static bool ends(void *ctx)
{
	struct world *w = ctx;

	return w->ends_at && ++w->calls >= w->ends_at;
}

static void deleting(void *ctx, int64_t done, int64_t of)
{
	struct world *w = ctx;

	(void)done;
	(void)of;
	if (w->relaunch)
		write_journal(w, 4);
}

static void begin(struct world *w)
{
	*w = (struct world){.top = dir_new()};
	w->ck = xasprintf("%s/ck", w->top);
	w->sp = xasprintf("%s/sp", w->top);
	w->state = xasprintf("%s/state", w->top);
	dir_mkdir(w->top, "ck");
	dir_mkdir(w->top, "sp");
	dir_mkdir(w->top, "state");
	w->setup.config.application = (char *)"app";
	w->setup.config.state_directory = w->state;
	w->setup.places.checkpoint_dir = w->ck;
	w->setup.places.savepoint_dir = w->sp;
	w->setup.places.storage = &w->setup.storage;
	w->run.watch = (struct gc_run_watch){.deleting = deleting, .ends = ends, .ctx = w};
	write_journal(w, 3);
	for (int i = 0; i < 3; i++) {
		checkpoint(w, jobs[i], 10 * (i + 1), NULL, 25 - 10 * i);
		shared(w, jobs[i], i == 0 ? "a0" : i == 1 ? "a1" : "a2", 25 - 10 * i);
	}
}

static void end(struct world *w)
{
	gc_run_close(&w->run);
	free(w->ck);
	free(w->sp);
	free(w->state);
	dir_removep(&w->top);
}

#define RUN_TEST(name) TEST_WITH(name, struct world, w, begin, end)

static void collect(struct world *w, int64_t keep)
{
	const struct gc_policy policy = {HOUR, keep, 0};
	struct err err = {0};

	if (!CHECK_INT(gc_run_open(&w->run, &w->setup, &err), ==, 0))
		tap_note("%s", err.msg);
	gc_run_collect(&w->run, &policy);
	gc_run_delete(&w->run);
}

RUN_TEST(what_nothing_needs_is_deleted)
{
	collect(w, 0);
	CHECK(!w->run.gc.stop);
	CHECK_STR(w->run.ended.msg, "");
	CHECK_INT(w->run.deleted.files, ==, 4);
	CHECK(!there(w, jobs[0], ""));
	CHECK(!there(w, jobs[1], ""));
	CHECK(there(w, jobs[2], "shared/a2"));
}

RUN_TEST(what_another_job_refers_to_stays)
{
	checkpoint(w, OTHER, 7, "11111111111111111111111111111111/shared/" GC_UUID("a1"), 1);
	collect(w, 0);
	CHECK(!w->run.gc.stop);
	CHECK(there(w, jobs[1], "shared/a1"));
	CHECK(!there(w, jobs[1], "chk-20"));
	CHECK(there(w, OTHER, "chk-7/_metadata"));
}

RUN_TEST(a_last_launch_without_all_its_files_is_no_reason_to_delete)
{
	checkpoint(w, jobs[2], 30, "22222222222222222222222222222222/shared/none", 5);
	collect(w, 0);
	CHECK_HAS(w->run.gc.stop, "no complete snapshot of the last launch");
	CHECK_INT(w->run.deleted.files, ==, 0);
}

RUN_TEST(nothing_is_deleted_after_another_launch_has_begun)
{
	w->relaunch = true;
	collect(w, 0);
	CHECK_INT(w->run.deleted.files, ==, 0);
	CHECK_HAS(w->run.ended.msg, "meanwhile there is another launch");
}

RUN_TEST(it_ends_when_it_is_told_to)
{
	w->ends_at = 1;
	collect(w, 0);
	CHECK_HAS(w->run.gc.stop, "it was interrupted");
	CHECK_INT(w->run.deleted.files, ==, 0);
}

RUN_TEST(blobs_of_dead_jobs_are_deleted)
{
	w->setup.settings.ha_storage_dir = w->top;
	w->setup.settings.ha_cluster_id = "ck"; /* any directory */
	put_at(w, "blob/job_11111111111111111111111111111111/blob_p-1", "x", 1, 15);
	put_at(w, "blob/job_22222222222222222222222222222222/blob_p-2", "x", 1, 15);
	put_at(w, "blob/job_ffffffffffffffffffffffffffffffff/blob_p-3", "x", 1, 15);
	put_at(w, "completedCheckpoint1", "x", 1, 15);
	collect(w, 2);
	CHECK(!there(w, "blob", "job_11111111111111111111111111111111"));
	CHECK(there(w, "blob", "job_22222222222222222222222222222222/blob_p-2"));
	CHECK(there(w, "blob", "job_ffffffffffffffffffffffffffffffff/blob_p-3"));
	CHECK(there(w, "", "completedCheckpoint1"));
	CHECK_INT(w->run.gc.sums[GC_BLOB].files, ==, 1);
}

RUN_TEST(nothing_is_deleted_where_results_are_among_the_checkpoints)
{
	cleanup_free char *link = xasprintf("%s/link", w->top);

	CHECK_INT(symlink(w->ck, link), ==, 0);
	w->setup.config.flink.result_store_directory = link;
	collect(w, 0);
	CHECK_HAS(w->run.gc.stop, "are one directory: set another one");
	CHECK_INT(w->run.deleted.files, ==, 0);
	CHECK(there(w, jobs[0], "shared/a0"));
}

/* The State Processor API names savepoints as it likes, and they refer to files of the snapshot that they were made from. */
RUN_TEST(nor_where_a_savepoint_under_another_name_cannot_be_read)
{
	cleanup_free char *dir = xasprintf("%s/boot", w->sp);
	cleanup_free char *loop = xasprintf("%s/_metadata", dir);

	CHECK_INT(mkdir(dir, 0755), ==, 0);
	CHECK_INT(symlink(loop, loop), ==, 0);
	collect(w, 0);
	CHECK_HAS(w->run.gc.stop, "boot cannot be read");
	CHECK(there(w, jobs[0], "shared/a0"));
}

RUN_TEST(nor_where_a_directory_cannot_be_looked_at)
{
	cleanup_free char *loop = xasprintf("%s/loop", w->top);

	CHECK_INT(symlink(loop, loop), ==, 0);
	w->setup.settings.ha_storage_dir = loop;
	collect(w, 0);
	CHECK_HAS(w->run.gc.stop, "two directories could be one");
	CHECK(there(w, jobs[0], "shared/a0"));
}

RUN_TEST(a_journal_of_another_application_is_refused)
{
	struct gc_run run = {0};
	struct err err = {0};

	w->setup.config.application = (char *)"another";
	CHECK_INT(gc_run_open(&run, &w->setup, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_CONFIG);
	w->setup.config.application = (char *)"app";
	collect(w, 1);
	CHECK_INT(w->run.gc.floor, ==, 1);
}

int main(int argc, char **argv)
{
	return tap_main(argc, argv);
}
