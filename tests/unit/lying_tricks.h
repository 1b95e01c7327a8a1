/*
 * lying_tricks - what is wrong with the world of a test (lying_world.h): the named lies that a store, a file or a
 * journal can tell about one state. Header-only.
 *
 *   world_live(&w); play(&w, TRICK_GONE_METADATA, w.newest);
 */
#ifndef DREY_TESTS_LYING_TRICKS_H
#define DREY_TESTS_LYING_TRICKS_H

#include "lying_world.h"

enum trick {
	TRICK_NONE,
	TRICK_GONE_METADATA, /* its _metadata is listed, and 404 by request; "its": of one state */
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

static void lie_about_file(struct world *w, enum lie_kind kind, int asks, const struct state *state,
			   const char *file)
{
	char name[NAME_BYTES + 16];

	snprintf(name, sizeof(name), "%s/%s", state->name, file);
	lie(w, kind, asks, name);
}

static void be_stale(struct world *w, int asks, const struct state *state)
{
	lie(w, LIE_STALE, asks, "/top/");
	w->lake.lie.tick = state->tick - 1 - below(w, 20);
}

static void lie_about_listing(struct world *w, enum trick trick, const struct state *state)
{
	switch (trick) {
	case TRICK_STALE_LISTING:
		be_stale(w, ASK_LIST, state);
		break;
	case TRICK_CUT_LISTING:
		lie(w, LIE_CUT, ASK_LIST, state->name);
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

/* It is gone: every state that refers to it is broken. */
static void lose_file(struct world *w, const char *name)
{
	lake_drop(&w->lake, name);
	for (int i = 0; i < w->state_count; i++)
		for (int k = 0; k < w->states[i].file_count; k++)
			w->states[i].broken |= !strcmp(w->states[i].files[k], name);
}

static void break_state(struct world *w, enum trick trick, struct state *state)
{
	const struct state *other = &w->states[below(w, w->state_count)];
	char name[NAME_BYTES + 16];
	struct lake_file *file;

	snprintf(name, sizeof(name), "%s/_metadata", state->name);
	file = lake_find(&w->lake, name);
	state->broken = true;
	if (trick == TRICK_CUT_METADATA) {
		file->len_bytes = (size_t)below(w, (int64_t)file->len_bytes);
		file->size_bytes = (int64_t)file->len_bytes;
	} else if (trick == TRICK_LOST_STATE) {
		lose_file(w, state->files[below(w, state->file_count)]);
	} else if (other != state) {
		put_metadata(w, state, other, other->id);
	} else {
		put_metadata(w, state, state, state->id + 1 + below(w, 5));
	}
}

/* About the state of this index. */
LAKE_FN void play(struct world *w, enum trick trick, int target)
{
	struct state *state = &w->states[target];

	switch (trick) {
	case TRICK_NONE:
	case TRICK_COUNT:
		break;
	case TRICK_GONE_METADATA:
		lie_about_file(w, LIE_GONE, ASK_STAT | ASK_READ, state, "_metadata");
		break;
	case TRICK_GONE_HEAD:
		lie_about_file(w, LIE_GONE, ASK_STAT, state, "_metadata");
		break;
	case TRICK_GONE_BODY:
		lie_about_file(w, LIE_GONE, ASK_READ, state, "_metadata");
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
		lie_about_listing(w, trick, state);
		break;
	case TRICK_OLDER_ANSWER:
		be_stale(w, ASK_ALL, state);
		w->lake.lie.honest = 1 + (int)below(w, 8);
		break;
	case TRICK_SHORT_BODY:
		lie_about_file(w, LIE_SHORT, ASK_READ, state, "_metadata");
		break;
	case TRICK_CUT_METADATA:
	case TRICK_LOST_STATE:
	case TRICK_WRONG_METADATA:
		break_state(w, trick, state);
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

#endif
