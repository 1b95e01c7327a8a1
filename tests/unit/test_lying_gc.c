/*
 * Thousands of histories of an application, and a collection of what dead launches have left while their
 * storage lies. Whatever it says: what has a _metadata afterwards is as complete as before, and nothing of the last
 * launch and no savepoint has gone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "lying_tricks.h"
#include "run/gc/gc_delete.h"
#include "run/gc/gc_facts.h"
#include "tap.h"

#define HISTORIES 100 /* of each lie; COUNT=... makes it more */

/* Before drey looks again it waits; here nothing changes meanwhile. */
int nanosleep(const struct timespec *time, struct timespec *left)
{
	(void)time;
	(void)left;
	return 0;
}

/* ---- the collection ---- */

static int holds(void *ctx, struct err *err)
{
	(void)ctx;
	(void)err;
	return 0;
}

/* Returns how many files were deleted. */
static int64_t collect(struct world *w)
{
	struct gc gc = {.policy = {.grace_ms = MINUTE_MS, .keep_launches = below(w, 3)},
			.now_unix_ms = clock_unix_ms()};
	const struct gc_facts_ask ask = {.storage = &w->lake.config,
					 .journal = &w->journal,
					 .checkpoint_dir = w->ck,
					 .savepoint_dir = w->sp};
	const struct gc_delete_ask delete = {.storage = &w->lake.config, .holds = holds};
	struct gc_deleted deleted = {0};

	lake_forget(&w->lake);
	gc_facts(&ask, &gc);
	gc_judge(&gc, &w->journal);
	if (!gc.stop)
		gc_delete(&delete, &gc, &deleted, NULL);
	gc_release(&gc);
	return deleted.files;
}

/* ---- what is true ---- */

static bool is_there(const struct world *w, const struct state *state)
{
	cleanup_free char *name = xasprintf("%s/_metadata", state->name);

	return lake_find(&w->lake, name) != NULL;
}

/* Nothing could tell drey of it: every answer has denied it; or it has gone, and Flink may delete it, for it is of
 * the last launch, or what that was started from and has claimed. */
static bool is_out_of_sight(const struct world *w, const struct state *state, int last)
{
	const char *restored = journal_launch_const(&w->journal)
				       ? journal_launch_const(&w->journal)->restore_path
				       : NULL;
	cleanup_free char *name = xasprintf("%s/_metadata", state->name);
	cleanup_free char *path = uri_in(w, state->name);
	const struct lake_file *file = lake_find(&w->lake, name);

	return file && file->denied &&
	       (!file->shown || state->launch == last || snapshot_same_path(path, restored));
}

static bool is_complete(const struct world *w, const struct state *state)
{
	for (int i = 0; i < state->file_count; i++)
		if (!lake_find(&w->lake, state->files[i]))
			return false;
	return true;
}

static const char *violation(const struct world *w, int last)
{
	for (int i = 0; i < w->state_count; i++) {
		const struct state *state = &w->states[i];

		if (state->subsumed || state->broken)
			continue;
		if (is_there(w, state) && !is_out_of_sight(w, state, last) &&
		    !is_complete(w, state))
			return "a file of a snapshot that stays is deleted";
		if (!is_there(w, state) && state->launch == last)
			return "a checkpoint of the last launch is deleted";
		if (!is_there(w, state) && state->kind == SNAPSHOT_SAVEPOINT)
			return "a savepoint is deleted";
		if (!is_there(w, state) && i == w->newest)
			return "the newest is deleted";
	}
	return NULL;
}

/* ---- many ---- */

struct tally {
	int collections, told, violations;
};

/* What the lie is about: any that is there. */
static int target(struct world *w)
{
	int first = (int)below(w, w->state_count), i = first;

	while (w->states[i].subsumed && (i + 1) % w->state_count != first)
		i = (i + 1) % w->state_count;
	return i;
}

static void run_one(uint64_t seed, enum trick trick, struct tally *tally)
{
	const char *wrong;
	struct world w;
	int last, index;

	world_begin(&w, seed);
	world_live(&w);
	if (w.newest >= 0) {
		index = target(&w);
		last = (int)w.journal.launch_count - 1;
		play(&w, trick, index);
		/* the _metadata of a checkpoint says of which it is: that of another one excuses nothing */
		if (trick == TRICK_WRONG_METADATA && w.states[index].kind == SNAPSHOT_CHECKPOINT)
			w.states[index].broken = false;
		tally->collections += collect(&w) > 0;
		tally->told += w.lake.lie.told > 0;
		w.lake.lie.kind = LIE_NONE;
		wrong = violation(&w, last);
		if (wrong && tally->violations++ < 3)
			tap_note("%s seed %" PRIu64 ": %s", trick_names[trick], seed, wrong);
	}
	world_end(&w);
}

static void run_many(enum trick trick)
{
	const char *first = getenv("FIRST"), *count = getenv("COUNT");
	uint64_t from = first ? strtoull(first, NULL, 10) : 1;
	uint64_t to = from + (count ? strtoull(count, NULL, 10) : HISTORIES);
	struct tally tally = {0};

	for (uint64_t seed = from; seed < to; seed++)
		run_one(seed, trick, &tally);
	tap_note("%s: %d collections that deleted, %d false answers", trick_names[trick],
		 tally.collections, tally.told);
	CHECK_INT(tally.violations, ==, 0);
	if (trick == TRICK_NONE)
		CHECK_INT(tally.collections, >, 0);
}

#define LIE_TEST(name, trick)                                                                      \
	TEST(name)                                                                                 \
	{                                                                                          \
		run_many(trick);                                                                   \
	}

LIE_TEST(without_a_lie_only_what_nothing_needs_is_deleted, TRICK_NONE)
LIE_TEST(a_metadata_that_is_listed_and_not_found_deletes_nothing, TRICK_GONE_METADATA)
LIE_TEST(a_metadata_that_head_does_not_find_deletes_nothing, TRICK_GONE_HEAD)
LIE_TEST(a_metadata_that_get_does_not_find_deletes_nothing, TRICK_GONE_BODY)
LIE_TEST(a_state_file_that_is_not_found_deletes_nothing_that_is_needed, TRICK_GONE_STATE)
LIE_TEST(what_disappears_while_it_is_read_deletes_nothing, TRICK_GONE_LATER)
LIE_TEST(a_stale_listing_deletes_nothing_that_is_needed, TRICK_STALE_LISTING)
LIE_TEST(a_listing_that_was_cut_deletes_nothing_that_is_needed, TRICK_CUT_LISTING)
LIE_TEST(an_empty_listing_deletes_nothing_that_is_needed, TRICK_EMPTY_LISTING)
LIE_TEST(the_listing_of_another_directory_deletes_nothing, TRICK_OTHER_LISTING)
LIE_TEST(an_older_answer_deletes_nothing_that_is_needed, TRICK_OLDER_ANSWER)
LIE_TEST(a_body_that_ends_early_deletes_nothing_that_is_needed, TRICK_SHORT_BODY)
LIE_TEST(a_metadata_that_was_cut_deletes_nothing_that_is_needed, TRICK_CUT_METADATA)
LIE_TEST(a_lost_state_file_deletes_no_other, TRICK_LOST_STATE)
LIE_TEST(the_metadata_of_another_snapshot_deletes_no_other, TRICK_WRONG_METADATA)
LIE_TEST(without_a_journal_nothing_is_deleted, TRICK_LOST_JOURNAL)
LIE_TEST(an_old_journal_deletes_nothing_that_is_needed, TRICK_OLD_JOURNAL)
