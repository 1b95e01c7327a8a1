/*
 * Thousands of histories of an application, and a launch that is decided while its storage lies: single
 * requests against the listing, listings that are stale, cut or of something else, damage, an old journal. What is
 * decided is compared with what the history itself knows.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "lying_tricks.h"
#include "tap.h"

#define HISTORIES 300 /* of each lie; COUNT=... makes it more */

/* Before drey looks again it waits; here nothing changes meanwhile. */
int nanosleep(const struct timespec *time, struct timespec *left)
{
	(void)time;
	(void)left;
	return 0;
}

/* ---- what drey decides ---- */

struct result {
	struct decision decision;
	struct facts facts;
};

static void decide(struct world *w, struct result *result)
{
	const struct observe_places places = {.storage = &w->lake.config,
					      .checkpoint_dir = w->ck,
					      .savepoint_dir = w->sp,
					      .max_metadata_version = 6};
	struct observe_plan plan;

	lake_forget(&w->lake);
	observe_plan_init(&plan, &places, &w->journal, NULL);
	plan.heads_later = chance(w, 70);
	observe_gather(&plan, &result->facts);
	for (int i = 0; i < 1000; i++) {
		resolve(&w->journal, &result->facts, &w->policy, &result->decision);
		if (result->decision.kind != DECISION_VERIFY)
			break;
		if (result->decision.of_job)
			facts_set_job(&result->facts, SOURCE_UNREADABLE, "there is no job");
		else
			observe_check(&plan, &result->facts, result->decision.candidate);
	}
	observe_plan_release(&plan);
}

/* ---- what is true ---- */

static int state_of(const struct world *w, const char *path)
{
	for (int i = 0; i < w->state_count; i++) {
		cleanup_free char *uri = uri_in(w, w->states[i].name);

		if (snapshot_same_path(uri, path))
			return i;
	}
	return -1;
}

static bool is_of(const struct state *state, const char *name)
{
	if (begins(name, state->name))
		return true;
	for (int i = 0; i < state->file_count; i++)
		if (!strcmp(state->files[i], name))
			return true;
	return false;
}

static bool is_metadata(const char *name)
{
	const char *last = strrchr(name, '/');

	return last && !strcmp(last, "/_metadata");
}

/* Has one answer shown a file of it (NULL: the _metadata of any) that another one denied? */
static bool is_contradicted(const struct world *w, const struct state *state)
{
	for (size_t i = 0; i < w->lake.count; i++) {
		const struct lake_file *file = &w->lake.files[i];

		if (file->shown && file->denied &&
		    (state ? is_of(state, file->name) : is_metadata(file->name)))
			return true;
	}
	return false;
}

/* Could drey know of it? When no answer has shown it, and no answer contradicts another one, only the journal can
 * tell. */
static bool has_a_witness(const struct world *w, const struct state *state)
{
	cleanup_free char *name = xasprintf("%s/_metadata", state->name);
	const struct lake_file *file = lake_find(&w->lake, name);

	return (file && file->shown) || journal_names(w, &w->journal, w->newest) ||
	       is_contradicted(w, NULL);
}

/* The content of another snapshot, and only the journal can know better. */
static bool is_in_disguise(const struct world *w, enum trick trick)
{
	return trick == TRICK_WRONG_METADATA && w->states[w->newest].kind == SNAPSHOT_SAVEPOINT &&
	       !journal_names(w, &w->journal, w->newest);
}

/* NULL: the promise is kept. */
static const char *violation(const struct world *w, enum trick trick, const struct result *result)
{
	const struct decision *decision = &result->decision;
	const struct state *newest = &w->states[w->newest];
	int taken;

	if (decision->kind == DECISION_START_EMPTY)
		return w->journal.ever_proven || has_a_witness(w, newest) ? "an empty start" : NULL;
	if (!decision_starts(decision))
		return trick == TRICK_NONE ? "a hold without a reason" : NULL;
	taken = state_of(w, result->facts.candidates[decision->candidate].snapshot.path);
	if (taken < 0)
		return "a start from nothing";
	if (is_in_disguise(w, trick))
		return NULL;
	if (w->states[taken].broken)
		return "a start from what is damaged";
	if (taken == w->newest)
		return NULL;
	if (!has_a_witness(w, newest))
		return NULL;
	if (!decision->loss.is_one)
		return "an older start";
	if (newest->unix_ms - w->states[taken].unix_ms >
	    loss_limit_ms(&w->policy.max_loss, &w->journal))
		return "a greater loss than restore.maxLoss";
	return NULL;
}

/* ---- many ---- */

struct tally {
	int starts, holds, told, violations;
	int losses; /* told, although one answer has shown what another one denies */
};

static void run_one(uint64_t seed, enum trick trick, struct tally *tally)
{
	struct result result = {0};
	const char *wrong;
	struct world w;

	world_begin(&w, seed);
	world_live(&w);
	if (w.newest < 0) {
		world_end(&w);
		return;
	}
	play(&w, trick, w.newest);
	decide(&w, &result);
	tally->told += w.lake.lie.told > 0;
	tally->starts += decision_starts(&result.decision);
	tally->holds += !decision_starts(&result.decision);
	tally->losses += result.decision.loss.is_one && decision_starts(&result.decision) &&
			 is_contradicted(&w, &w.states[w.newest]);
	wrong = violation(&w, trick, &result);
	if (wrong && tally->violations++ < 3)
		tap_note("%s seed %" PRIu64 ": %s (newest %s): %s: %s", trick_names[trick], seed,
			 wrong, w.states[w.newest].name, decision_kind_name(result.decision.kind),
			 result.decision.reason);
	facts_release(&result.facts);
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
	tap_note("%s: %d starts, %d holds, %d false answers, %d losses against an answer",
		 trick_names[trick], tally.starts, tally.holds, tally.told, tally.losses);
	CHECK_INT(tally.violations, ==, 0);
	CHECK_INT(tally.losses, ==, 0);
}

#define LIE_TEST(name, trick)                                                                      \
	TEST(name)                                                                                 \
	{                                                                                          \
		run_many(trick);                                                                   \
	}

LIE_TEST(without_a_lie_the_newest_is_taken, TRICK_NONE)
LIE_TEST(a_metadata_that_is_listed_and_not_found_is_not_absent, TRICK_GONE_METADATA)
LIE_TEST(a_metadata_that_head_does_not_find_is_not_absent, TRICK_GONE_HEAD)
LIE_TEST(a_metadata_that_get_does_not_find_is_not_absent, TRICK_GONE_BODY)
LIE_TEST(a_state_file_that_is_not_found_is_a_loud_loss_or_a_hold, TRICK_GONE_STATE)
LIE_TEST(what_disappears_while_it_is_read_is_not_absent, TRICK_GONE_LATER)
LIE_TEST(a_stale_listing_does_not_hide_what_the_journal_knows, TRICK_STALE_LISTING)
LIE_TEST(a_listing_that_was_cut_does_not_hide_what_the_journal_knows, TRICK_CUT_LISTING)
LIE_TEST(an_empty_listing_is_no_empty_start, TRICK_EMPTY_LISTING)
LIE_TEST(the_listing_of_another_directory_hides_nothing, TRICK_OTHER_LISTING)
LIE_TEST(an_older_answer_after_a_newer_one_hides_nothing, TRICK_OLDER_ANSWER)
LIE_TEST(a_body_that_ends_early_is_not_silently_passed_over, TRICK_SHORT_BODY)
LIE_TEST(a_metadata_that_was_cut_is_told, TRICK_CUT_METADATA)
LIE_TEST(a_lost_state_file_is_told, TRICK_LOST_STATE)
LIE_TEST(the_metadata_of_another_snapshot_is_told, TRICK_WRONG_METADATA)
LIE_TEST(a_lost_journal_is_no_older_start, TRICK_LOST_JOURNAL)
LIE_TEST(a_journal_from_a_backup_is_no_older_start, TRICK_OLD_JOURNAL)
