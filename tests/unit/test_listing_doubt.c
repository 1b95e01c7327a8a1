#include "resolve_world.h"

#include <stdlib.h>

#include "core/resolve/listing_doubt.h"

/* The directories were listed completely, and only the journal knows of a snapshot that was found by its name. */
static void listed_begin(struct world *w)
{
	begin(w);
	ran(w, JOB_A, NULL, 0);
	for (size_t i = 0; i < w->facts.place_count; i++) {
		free(w->facts.places[i].dir);
		free(w->facts.places[i].detail);
	}
	w->facts.place_count = 0;
	facts_add_place(&w->facts, SOURCE_CHECKPOINTS, SNAPSHOT_CHECKPOINT, "file:/cp",
			SOURCE_PRESENT, "listed");
	facts_add_place(&w->facts, SOURCE_SAVEPOINTS, SNAPSHOT_SAVEPOINT, "file:/sp/",
			SOURCE_ABSENT, "listed");
}

#define DOUBT_TEST(name) WORLD_TEST_FROM(listed_begin, name)

static struct candidate *named(struct world *w, const char *path, enum snapshot_kind kind)
{
	return found(w, SOURCE_JOURNAL, path, kind, "", 7);
}

static enum source_state after(struct world *w, enum source_kind source)
{
	listing_doubt(&w->journal, &w->facts);
	return w->facts.sources[source].state;
}

DOUBT_TEST(a_listing_that_leaves_out_a_checkpoint_that_exists_is_unreadable)
{
	named(w, "file:/cp/" JOB_A "/chk-7", SNAPSHOT_CHECKPOINT);
	CHECK_INT(after(w, SOURCE_CHECKPOINTS), ==, SOURCE_UNREADABLE);
	CHECK_HAS(w->facts.sources[SOURCE_CHECKPOINTS].detail,
		  "the listing of file:/cp leaves out file:/cp/" JOB_A "/chk-7, which exists");
	CHECK_INT(w->facts.sources[SOURCE_SAVEPOINTS].state, ==, SOURCE_ABSENT);
	CHECK_DECIDES(w, HOLD);
	CHECK_INT(w->decision.cause, ==, CAUSE_STORAGE_UNREADABLE);
}

DOUBT_TEST(so_is_one_that_leaves_out_a_savepoint_or_a_checkpoint_without_a_job_directory)
{
	named(w, "file:/sp/savepoint-aaaaaa-0123456789ab/_metadata", SNAPSHOT_SAVEPOINT);
	CHECK_INT(after(w, SOURCE_SAVEPOINTS), ==, SOURCE_UNREADABLE);
	named(w, "/cp/chk-7/", SNAPSHOT_CHECKPOINT);
	CHECK_INT(after(w, SOURCE_CHECKPOINTS), ==, SOURCE_UNREADABLE);
}

DOUBT_TEST(one_that_exists_and_is_damaged_contradicts_a_listing_as_well)
{
	struct candidate *damaged = named(w, "file:/cp/" JOB_A "/chk-7", SNAPSHOT_CHECKPOINT);

	damaged->metadata_version = 0;
	broken(damaged, INTEGRITY_DAMAGED, "its _metadata is of checkpoint 3, not 7");
	CHECK_INT(after(w, SOURCE_CHECKPOINTS), ==, SOURCE_UNREADABLE);
}

/* Nobody knows whether the listing is right: the next look may. */
DOUBT_TEST(one_that_cannot_be_asked_for_puts_a_listing_in_doubt)
{
	struct candidate *unread = named(w, "file:/cp/" JOB_A "/chk-7", SNAPSHOT_CHECKPOINT);

	unread->metadata_version = 0;
	broken(unread, INTEGRITY_UNREADABLE, "HTTP 503");
	CHECK_INT(after(w, SOURCE_CHECKPOINTS), ==, SOURCE_UNREADABLE);
	CHECK_STR(w->facts.sources[SOURCE_CHECKPOINTS].detail,
		  "the listing of file:/cp may leave out file:/cp/" JOB_A "/chk-7: HTTP 503");
	CHECK_DECIDES(w, HOLD);
	CHECK_INT(w->decision.cause, ==, CAUSE_STORAGE_UNREADABLE);
}

DOUBT_TEST(flinks_ha_data_are_a_witness_too)
{
	found(w, SOURCE_HA, "file:/cp/" JOB_A "/chk-7", SNAPSHOT_CHECKPOINT, JOB_A, 7);
	CHECK_INT(after(w, SOURCE_CHECKPOINTS), ==, SOURCE_UNREADABLE);
}

/* Flink's record of the end of a job names the savepoint of a stop that the journal has in flight only. */
DOUBT_TEST(so_is_whatever_else_names_what_was_found)
{
	static const enum source_kind others[] = {SOURCE_RESULTS, SOURCE_INITIAL, SOURCE_REQUEST};

	struct candidate *c =
		named(w, "file:/sp/savepoint-aaaaaa-0123456789ab", SNAPSHOT_SAVEPOINT);

	for (size_t i = 0; i < ARRAY_LEN(others); i++) {
		c->source = others[i];
		w->facts.places[1].state = SOURCE_ABSENT;
		CHECK_INT(after(w, SOURCE_SAVEPOINTS), ==, SOURCE_UNREADABLE);
	}
}

DOUBT_TEST(names_that_no_listing_shows_are_no_contradiction)
{
	static const char *const paths[] = {
		"file:/cp/" JOB_FOREIGN "/chk-7", /* of a job that is not asked for */
		"file:/sp/savepoint-ffffff-0123456789ab",
		"file:/cp/" JOB_A "/chk-x",
		"file:/cp/deeper/" JOB_A "/chk-7",
		"file:/sp/my-savepoint",
		"file:/sp/savepoint-aaaaaa-0123456789ab-copy",
		"file:/else/" JOB_A "/chk-7",
		"chk-7",
		"/chk-7",
	};

	for (size_t i = 0; i < ARRAY_LEN(paths); i++)
		named(w, paths[i],
		      strstr(paths[i], "/sp/") ? SNAPSHOT_SAVEPOINT : SNAPSHOT_CHECKPOINT);
	CHECK_INT(after(w, SOURCE_CHECKPOINTS), ==, SOURCE_PRESENT);
	CHECK_INT(after(w, SOURCE_SAVEPOINTS), ==, SOURCE_ABSENT);
}

DOUBT_TEST(what_was_not_found_or_is_listed_contradicts_nothing)
{
	struct candidate *gone = named(w, "file:/cp/" JOB_A "/chk-7", SNAPSHOT_CHECKPOINT);

	gone->metadata_version = 0;
	broken(gone, INTEGRITY_INCOMPLETE, "no _metadata");
	found_checkpoint(w, JOB_A, 8);
	CHECK_INT(after(w, SOURCE_CHECKPOINTS), ==, SOURCE_PRESENT);
}

DOUBT_TEST(a_listing_that_was_too_long_to_keep_may_leave_out_anything)
{
	named(w, "file:/cp/" JOB_A "/chk-7", SNAPSHOT_CHECKPOINT);
	w->facts.sources[SOURCE_CHECKPOINTS].left_out = 1;
	CHECK_INT(after(w, SOURCE_CHECKPOINTS), ==, SOURCE_PRESENT);
}

DOUBT_TEST(the_directories_of_a_job_of_old_count_too)
{
	journal_add_former_job(&w->journal, JOB_B);
	named(w, "file:/cp/" JOB_B "/chk-3", SNAPSHOT_CHECKPOINT);
	CHECK_INT(after(w, SOURCE_CHECKPOINTS), ==, SOURCE_UNREADABLE);
}

/* Flink numbers on from what it restored. */
DOUBT_TEST(a_launch_begins_with_the_checkpoint_after_what_it_was_started_from)
{
	struct launch *launch = journal_launch(&w->journal);
	cleanup_free char *empty = listing_first(&w->journal, "file:/cp/"), *after_7 = NULL;

	CHECK_STR(empty, "file:/cp/" JOB_A "/chk-1");
	CHECK(!listing_first(&w->journal, NULL));
	launch->restore_path = xstrdup("file:/sp/savepoint-bbbbbb-0123456789ab");
	CHECK(!listing_first(&w->journal, "file:/cp"));
	launch->restore_checkpoint_id = 7;
	launch->checkpoint_dir = xstrdup("file:/own");
	after_7 = listing_first(&w->journal, "file:/cp");
	CHECK_STR(after_7, "file:/own/" JOB_A "/chk-8");
	launch->never_started = true;
	CHECK(!listing_first(&w->journal, "file:/cp"));
}

/* A stop made its savepoint and failed: the job wrote on, and numbered on from the savepoint. */
DOUBT_TEST(the_next_checkpoint_is_the_one_after_the_newest_savepoint_of_the_job)
{
	struct launch *launch = journal_launch(&w->journal);
	struct candidate *savepoint =
		found(w, SOURCE_JOURNAL, "file:/sp/savepoint-aaaaaa-0123456789ab",
		      SNAPSHOT_SAVEPOINT, JOB_B, 7);
	cleanup_free char *next = NULL, *first = NULL, *of_other = NULL;

	savepoint->snapshot.checkpoint_id = 13;
	found_checkpoint(w, JOB_A, 11); /* it moves the candidates */
	savepoint = &w->facts.candidates[0];
	of_other = listing_next(&w->facts, JOB_A);
	CHECK(of_other && strstr(of_other, "/" JOB_A "/chk-12"));
	snprintf(savepoint->snapshot.job_id, sizeof(savepoint->snapshot.job_id), "%s", JOB_A);
	next = listing_next(&w->facts, JOB_A);
	CHECK(next && strstr(next, "/" JOB_A "/chk-14"));
	launch->restore_path = xstrdup("file:/sp/savepoint-bbbbbb-0123456789ab");
	launch->restore_checkpoint_id = 7;
	journal_add_snapshot(&w->journal, &savepoint->snapshot);
	first = listing_first(&w->journal, "file:/cp");
	CHECK_STR(first, "file:/cp/" JOB_A "/chk-14");
}
