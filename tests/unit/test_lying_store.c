/*
 * Thousands of histories of an application, and a launch that is decided while its storage lies: single
 * requests against the listing, listings that are stale, cut or of something else, damage, an old journal. What is
 * decided is compared with what the history itself knows.
 */
#include <stdio.h>
#include <stdlib.h>

#include "lying_world.h"
#include "tap.h"

#define HISTORIES 3000 /* of each lie */

enum trick {
	TRICK_NONE,
	TRICK_GONE_METADATA, /* its _metadata is listed, and 404 by request */
	TRICK_GONE_HEAD,     /* the same for HEAD alone */
	TRICK_GONE_BODY,     /* the same for GET alone */
	TRICK_GONE_STATE,    /* a state file of it is listed, and 404 by request */
	TRICK_GONE_LATER,    /* everything of it is 404 after some requests */
	TRICK_STALE_LISTING,
	TRICK_CUT_LISTING,
	TRICK_EMPTY_LISTING,
	TRICK_OTHER_LISTING, /* that of the savepoints for the checkpoints */
	TRICK_OLDER_ANSWER,  /* after some requests everything is as it was before */
	TRICK_SHORT_BODY,
	TRICK_CUT_METADATA, /* these three are true: it is damaged */
	TRICK_LOST_STATE,
	TRICK_WRONG_METADATA,
	TRICK_LOST_JOURNAL,
	TRICK_OLD_JOURNAL,
	TRICK_COUNT,
};

static const char *const trick_names[TRICK_COUNT] = {
	[TRICK_NONE] = "none",
	[TRICK_GONE_METADATA] = "gone-metadata",
	[TRICK_GONE_HEAD] = "gone-head",
	[TRICK_GONE_BODY] = "gone-body",
	[TRICK_GONE_STATE] = "gone-state",
	[TRICK_GONE_LATER] = "gone-later",
	[TRICK_STALE_LISTING] = "stale-listing",
	[TRICK_CUT_LISTING] = "cut-listing",
	[TRICK_EMPTY_LISTING] = "empty-listing",
	[TRICK_OTHER_LISTING] = "other-listing",
	[TRICK_OLDER_ANSWER] = "older-answer",
	[TRICK_SHORT_BODY] = "short-body",
	[TRICK_CUT_METADATA] = "cut-metadata",
	[TRICK_LOST_STATE] = "lost-state",
	[TRICK_WRONG_METADATA] = "wrong-metadata",
	[TRICK_LOST_JOURNAL] = "lost-journal",
	[TRICK_OLD_JOURNAL] = "old-journal",
};

/* ---- the lies ---- */

static void lie(struct world *w, enum lie_kind kind, int asks, const char *name)
{
	w->lake.lie = (struct lie){.kind = kind, .asks = asks};
	snprintf(w->lake.lie.name, sizeof(w->lake.lie.name), "%.159s", name);
}

static void lie_about_file(struct world *w, enum lie_kind kind, int asks, const char *file)
{
	char name[NAME_BYTES + 16];

	snprintf(name, sizeof(name), "%s/%s", w->states[w->newest].name, file);
	lie(w, kind, asks, name);
}

static void be_stale(struct world *w, int asks)
{
	lie(w, LIE_STALE, asks, "/top/");
	w->lake.lie.tick = w->states[w->newest].tick - 1 - below(w, 20);
}

static void lie_about_listing(struct world *w, enum trick trick)
{
	switch (trick) {
	case TRICK_STALE_LISTING:
		be_stale(w, ASK_LIST);
		break;
	case TRICK_CUT_LISTING:
		lie(w, LIE_CUT, ASK_LIST, w->states[w->newest].name);
		break;
	case TRICK_EMPTY_LISTING:
		lie(w, LIE_EMPTY, ASK_LIST, chance(w, 50) ? "/top/" : "/top/ck/");
		break;
	case TRICK_OTHER_LISTING:
		lie(w, LIE_OTHER, ASK_LIST, "/top/ck");
		snprintf(w->lake.lie.other, sizeof(w->lake.lie.other), "/top/sp");
		break;
	default:
		break;
	}
}

static void break_newest(struct world *w, enum trick trick)
{
	struct state *state = &w->states[w->newest];
	const struct state *other = &w->states[below(w, w->newest + 1)];
	char name[NAME_BYTES + 16];
	struct lake_file *file;

	snprintf(name, sizeof(name), "%s/_metadata", state->name);
	file = lake_find(&w->lake, name);
	state->broken = true;
	if (trick == TRICK_CUT_METADATA) {
		file->len_bytes = (size_t)below(w, (int64_t)file->len_bytes);
		file->size_bytes = (int64_t)file->len_bytes;
	} else if (trick == TRICK_LOST_STATE) {
		lake_drop(&w->lake, state->files[below(w, state->file_count)]);
	} else if (other != state) {
		put_metadata(w, state, other, other->id);
	} else {
		put_metadata(w, state, state, state->id + 1 + below(w, 5));
	}
}

static void play(struct world *w, enum trick trick)
{
	const struct state *state = &w->states[w->newest];

	switch (trick) {
	case TRICK_NONE:
	case TRICK_COUNT:
		break;
	case TRICK_GONE_METADATA:
		lie_about_file(w, LIE_GONE, ASK_STAT | ASK_READ, "_metadata");
		break;
	case TRICK_GONE_HEAD:
		lie_about_file(w, LIE_GONE, ASK_STAT, "_metadata");
		break;
	case TRICK_GONE_BODY:
		lie_about_file(w, LIE_GONE, ASK_READ, "_metadata");
		break;
	case TRICK_GONE_STATE:
		lie(w, LIE_GONE, ASK_STAT | ASK_READ, state->files[below(w, state->file_count)]);
		break;
	case TRICK_GONE_LATER:
		lie(w, LIE_GONE, ASK_ALL, state->name);
		w->lake.lie.honest = (int)below(w, 12);
		break;
	case TRICK_STALE_LISTING:
	case TRICK_CUT_LISTING:
	case TRICK_EMPTY_LISTING:
	case TRICK_OTHER_LISTING:
		lie_about_listing(w, trick);
		break;
	case TRICK_OLDER_ANSWER:
		be_stale(w, ASK_ALL);
		w->lake.lie.honest = 1 + (int)below(w, 8);
		break;
	case TRICK_SHORT_BODY:
		lie_about_file(w, LIE_SHORT, ASK_READ, "_metadata");
		break;
	case TRICK_CUT_METADATA:
	case TRICK_LOST_STATE:
	case TRICK_WRONG_METADATA:
		break_newest(w, trick);
		break;
	case TRICK_LOST_JOURNAL:
		journal_release(&w->journal);
		journal_init(&w->journal, "orders");
		w->policy.adopt_lost = chance(w, 50) ? ADOPT_NEWEST : ADOPT_HOLD;
		break;
	case TRICK_OLD_JOURNAL:
		if (!w->has_older)
			break;
		journal_release(&w->journal);
		w->journal = w->older;
		w->has_older = false;
		break;
	}
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

/* People hear of it. */
static bool is_loud(const struct result *result)
{
	for (size_t i = 0; i < result->facts.candidate_count; i++)
		if (result->facts.candidates[i].passed_over)
			return true;
	return false;
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
	if (taken == w->newest)
		return newest->broken ? "a start from what is damaged" : NULL;
	if (!has_a_witness(w, newest) || (is_loud(result) && !is_contradicted(w, newest)))
		return NULL;
	return "an older start";
}

/* ---- many ---- */

struct tally {
	int starts, holds, older, told, violations;
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
	play(&w, trick);
	decide(&w, &result);
	tally->told += w.lake.lie.told > 0;
	tally->starts += decision_starts(&result.decision);
	tally->holds += !decision_starts(&result.decision);
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
	tap_note("%s: %d starts, %d holds, %d false answers", trick_names[trick], tally.starts,
		 tally.holds, tally.told);
	CHECK_INT(tally.violations, ==, 0);
}

#define LIE_TEST(name, trick)                                                                      \
	TEST(name)                                                                                 \
	{                                                                                          \
		run_many(trick);                                                                   \
	}

LIE_TEST(without_a_lie_the_newest_is_taken, TRICK_NONE)
LIE_TEST(a_stale_listing_does_not_hide_what_the_journal_knows, TRICK_STALE_LISTING)
LIE_TEST(a_listing_that_was_cut_does_not_hide_what_the_journal_knows, TRICK_CUT_LISTING)
LIE_TEST(an_empty_listing_is_no_empty_start, TRICK_EMPTY_LISTING)
LIE_TEST(the_listing_of_another_directory_hides_nothing, TRICK_OTHER_LISTING)
LIE_TEST(a_lost_state_file_is_told, TRICK_LOST_STATE)
LIE_TEST(the_metadata_of_another_snapshot_is_told, TRICK_WRONG_METADATA)
LIE_TEST(a_lost_journal_is_no_older_start, TRICK_LOST_JOURNAL)
LIE_TEST(a_journal_from_a_backup_is_no_older_start, TRICK_OLD_JOURNAL)
