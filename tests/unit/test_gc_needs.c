/* Does a snapshot that stays refer to files of a savepoint that is about to be deleted? */
#include <dirent.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "gc_names.h"
#include "metadata_writer.h"
#include "run/gc/gc_needs.h"
#include "store_dir.h"

#define DAY      INT64_C(86400000)
#define DEAD     "00000000000000000000000000000000"
#define LAST     "11111111111111111111111111111111"
#define OTHER    "ffffffffffffffffffffffffffffffff"
#define SP       "savepoint-000000-0123456789ab"
#define SST      GC_UUID("55")
#define IN_SP(w) xasprintf("file:%s/sp/" SP "/" SST, (w)->top)

static int hidden; /* so many listings leave out the directory of the dead launch */

struct dirent *readdir(DIR *dir)
{
	struct dirent *(*next)(DIR *) = (struct dirent * (*)(DIR *)) dlsym(RTLD_NEXT, "readdir");
	struct dirent *item = next(dir);

	if (!item || hidden <= 0 || strcmp(item->d_name, DEAD) != 0)
		return item;
	hidden--;
	return next(dir);
}

struct world {
	char *top, *ck, *sp, *state, *savepoint;
	struct setup setup;
	char *why;
	struct err err;
};

/* A snapshot that refers to this file: by a whole path, or as relative to itself. */
static void put_snapshot(struct world *w, const char *name, int id, const char *path, bool relative)
{
	cleanup_buf struct buf file = BUF_INIT;
	cleanup_free char *metadata = xasprintf("%s/_metadata", name);

	wr_head(&file, 6, id);
	wr_i32(&file, 0);
	wr_i32(&file, 1);
	wr_operator(&file, 6, "Map", "map-uid", 7);
	wr_i32(&file, 1);
	wr_subtask(&file, 6, 0);
	wr_u8(&file, 3);
	wr_groups(&file);
	if (path && relative)
		wr_relative(&file, path, 4);
	else if (path)
		wr_file(&file, path, 4);
	else
		wr_bytes(&file, 10);
	wr_u8(&file, 0);
	wr_subtask_end(&file, 6);
	wr_tail(&file, 6, "org.apache.flink.runtime.checkpoint.CheckpointType");
	dir_put(w->top, metadata, file.data, file.len_bytes);
}

static void write_journal(struct world *w)
{
	static const char *const jobs[] = {DEAD, LAST};
	cleanup_buf struct buf text = BUF_INIT;
	struct journal journal;
	struct err err = {0};

	journal_init(&journal, "app");
	for (int i = 0; i < 2; i++) {
		struct launch *launch = journal_add_launch(&journal);

		memcpy(launch->job_id, jobs[i], JOB_ID_BYTES);
		launch->checkpoint_dir = xstrdup(w->ck);
		launch->savepoint_dir = xstrdup(w->sp);
		launch->intended_unix_ms = clock_unix_ms() - (20 - 10 * i) * DAY;
		launch->started_unix_ms = launch->proven_unix_ms = launch->intended_unix_ms;
	}
	CHECK_INT(journal_encode(&journal, &text, &err), ==, 0);
	dir_put(w->state, "journal.json", text.data, text.len_bytes);
	journal_release(&journal);
}

/* A native savepoint of the first launch, and the second one, which runs from something else. */
static void begin(struct world *w)
{
	*w = (struct world){.top = dir_new()};
	w->ck = xasprintf("%s/ck", w->top);
	w->sp = xasprintf("%s/sp", w->top);
	w->state = xasprintf("%s/state", w->top);
	w->savepoint = xasprintf("file:%s/" SP, w->sp);
	dir_mkdir(w->top, "ck");
	dir_mkdir(w->top, "sp");
	dir_mkdir(w->top, "state");
	w->setup.config.application = (char *)"app";
	w->setup.config.state_directory = w->state;
	w->setup.places.checkpoint_dir = w->ck;
	w->setup.places.savepoint_dir = w->sp;
	w->setup.places.storage = &w->setup.storage;
	write_journal(w);
	put_snapshot(w, "sp/" SP, 5, SST, true);
	dir_put(w->top, "sp/" SP "/" SST, "1234", 4);
	put_snapshot(w, "ck/" LAST "/chk-30", 30, NULL, false);
}

static void end(struct world *w)
{
	free(w->why);
	free(w->ck);
	free(w->sp);
	free(w->state);
	free(w->savepoint);
	dir_removep(&w->top);
}

static void remove_dir(const char *path)
{
	char *copy = xstrdup(path);

	dir_removep(&copy);
}

#define NEEDS_TEST(name) TEST_WITH(name, struct world, w, begin, end)

static int ask(struct world *w)
{
	free(w->why);
	w->why = NULL;
	w->err = (struct err){0};
	return gc_needs(&w->setup, w->savepoint, &w->why, &w->err);
}

static void check_needed(struct world *w, const char *by)
{
	if (!CHECK_INT(ask(w), ==, 1))
		tap_note("%s", w->err.msg);
	CHECK_HAS(w->why, by);
	CHECK_HAS(w->why, "refers to its file " SST);
}

NEEDS_TEST(a_savepoint_to_which_nothing_refers_may_go)
{
	CHECK_INT(ask(w), ==, 0);
	CHECK(!w->why);
}

NEEDS_TEST(a_checkpoint_of_the_running_job_needs_the_savepoint_that_an_earlier_one_claimed)
{
	cleanup_free char *path = IN_SP(w);

	put_snapshot(w, "ck/" LAST "/chk-31", 31, path, false);
	check_needed(w, LAST "/chk-31");
}

NEEDS_TEST(so_does_a_checkpoint_of_a_dead_launch_or_of_another_application)
{
	cleanup_free char *path = IN_SP(w), *dead = xasprintf("%s/ck/" DEAD, w->top);

	put_snapshot(w, "ck/" DEAD "/chk-9", 9, path, false);
	check_needed(w, DEAD "/chk-9");
	remove_dir(dead);
	CHECK_INT(ask(w), ==, 0);
	put_snapshot(w, "ck/" OTHER "/chk-1", 1, path, false);
	check_needed(w, OTHER "/chk-1");
}

/* Nothing else tells of it: the journal has not noted its checkpoint. */
NEEDS_TEST(one_reading_is_not_enough)
{
	cleanup_free char *path = IN_SP(w);

	put_snapshot(w, "ck/" DEAD "/chk-9", 9, path, false);
	hidden = 2;
	check_needed(w, DEAD "/chk-9");
	CHECK_INT(hidden, ==, 0);
}

NEEDS_TEST(a_relative_name_counts_wherever_flink_has_put_it)
{
	put_snapshot(w, "ck/" LAST "/chk-31", 31, SST, true);
	check_needed(w, LAST "/chk-31");
}

NEEDS_TEST(another_savepoint_can_need_it_as_well)
{
	cleanup_free char *path = IN_SP(w);

	put_snapshot(w, "sp/savepoint-111111-0123456789ab", 40, path, false);
	check_needed(w, "savepoint-111111-0123456789ab");
}

NEEDS_TEST(nothing_is_deleted_while_two_directories_are_one)
{
	cleanup_free char *link = xasprintf("%s/link", w->top);

	CHECK_INT(symlink(w->ck, link), ==, 0);
	w->setup.config.flink.result_store_directory = link;
	CHECK_INT(ask(w), ==, 1);
	CHECK_HAS(w->why, "are one directory: set another one");
}

NEEDS_TEST(what_cannot_be_read_could_refer_to_it)
{
	dir_put(w->top, "ck/" OTHER "/chk-1/_metadata", "broken", 6);
	CHECK_INT(ask(w), ==, -1);
	CHECK_HAS(w->err.msg, "it is not known whether a snapshot refers to its files");
	CHECK_HAS(w->err.msg, OTHER "/chk-1");
}

NEEDS_TEST(a_running_job_of_which_no_checkpoint_is_found_could_refer_to_it)
{
	cleanup_free char *last = xasprintf("%s/ck/" LAST, w->top);

	remove_dir(last);
	CHECK_INT(ask(w), ==, -1);
	CHECK_HAS(w->err.msg, "no snapshot of the running job was found");
}

NEEDS_TEST(a_directory_that_is_away_could_have_anything)
{
	cleanup_free char *away = xasprintf("%s/away", w->top);

	CHECK_INT(rename(w->ck, away), ==, 0);
	CHECK_INT(ask(w), ==, -1);
	CHECK_HAS(w->err.msg, "does not exist");
}

NEEDS_TEST(a_savepoint_of_one_file_is_needed_by_nothing)
{
	cleanup_free char *file = xasprintf("%s/sp/" SP "/" SST, w->top);

	CHECK_INT(unlink(file), ==, 0);
	put_snapshot(w, "sp/" SP, 5, NULL, false);
	dir_put(w->top, "ck/" OTHER "/chk-1/_metadata", "broken", 6);
	CHECK_INT(ask(w), ==, 0);
}

NEEDS_TEST(files_that_only_the_metadata_of_the_savepoint_names_count)
{
	cleanup_free char *path = IN_SP(w), *file = xasprintf("%s/sp/" SP "/" SST, w->top);

	CHECK_INT(unlink(file), ==, 0); /* the listing has left it out */
	put_snapshot(w, "ck/" LAST "/chk-31", 31, path, false);
	check_needed(w, LAST "/chk-31");
}

NEEDS_TEST(one_that_was_deleted_already_is_needed_by_nothing)
{
	cleanup_free char *dir = xasprintf("%s/sp/" SP, w->top);

	remove_dir(dir);
	CHECK_INT(ask(w), ==, 0);
}

NEEDS_TEST(flink_deletes_nothing_of_one_that_has_lost_its_metadata)
{
	cleanup_free char *path = IN_SP(w), *file = xasprintf("%s/sp/" SP "/_metadata", w->top);

	put_snapshot(w, "ck/" LAST "/chk-31", 31, path, false);
	CHECK_INT(unlink(file), ==, 0);
	CHECK_INT(ask(w), ==, 0);
}

int main(int argc, char **argv)
{
	return tap_main(argc, argv);
}
