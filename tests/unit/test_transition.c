/* What the journal has of a transition, and what follows from its state. */
#include "core/handover/transition.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "core/journal/journal.h"
#include "tap.h"

#define BIG 9007199254740993LL /* 2^53 + 1: not exact as a double */

static void fill(struct journal *journal)
{
	struct handover *handover = &journal->handover;
	struct transition *transition = &handover->transition;

	journal_init(journal, "orders");
	xstrset(&handover->id, "h17-3f2ac1d0");
	handover->state = HANDOVER_OFFERED;
	xstrset(&transition->id, "h17-3f2ac1d0");
	transition->state = TRANSITION_CROSSING;
	transition->seed = (struct transition_point){xstrdup("file:/sp/seed"), 41};
	transition->stop = (struct transition_point){xstrdup("file:/sp/stop"), 57};
	transition->replay = (struct transition_point){xstrdup("file:/chk/45"), 45};
	transition->toggle_unix_ms = BIG;
	transition->seen_unix_ms = BIG + 6;
	transition->armings = 2;
	transition->owner_number = BIG + 3;
	transition->candidate_number = BIG + 4;
	transition->promoted = transition->opened = transition->replayed = true;
	transition->above = BIG + 1;
	transition->inexact = true;
	transition->below = BIG + 5;
	transition->first_number = BIG + 2;
	transition->numbers = 8;
}

static char *encoded(struct journal *journal)
{
	struct buf text = {0};
	char *copy;

	CHECK(!journal_encode(journal, &text, &(struct err){0}));
	copy = xstrdup(buf_str(&text));
	buf_release(&text);
	return copy;
}

/* The full journal as text, with `from` replaced by `to`. */
static char *changed(const char *from, const char *to)
{
	struct journal journal;
	char *text, *place, *result = NULL;

	fill(&journal);
	text = encoded(&journal);
	place = strstr(text, from);
	if (CHECK(place != NULL))
		result = xasprintf("%.*s%s%s", (int)(place - text), text, to, place + strlen(from));
	else
		tap_note("%s", text);
	free(text);
	journal_release(&journal);
	return result;
}

static bool decoded(const char *text, struct journal *ret_journal)
{
	struct err err = {0};
	bool well = text && !journal_decode(text, strlen(text), ret_journal, &err);

	CHECK(well);
	CHECK_STR(err.msg, "");
	return well;
}

TEST(a_transition_comes_back_as_it_was)
{
	struct journal journal, back;
	const struct transition *transition = &back.handover.transition;
	char *text, *again;

	fill(&journal);
	text = encoded(&journal);
	if (decoded(text, &back)) {
		again = encoded(&back);
		CHECK_STR(again, text);
		CHECK_INT(transition_of(&back.handover), ==, TRANSITION_CROSSING);
		CHECK_STR(transition->seed.path, "file:/sp/seed");
		CHECK_INT(transition->seed.checkpoint_id, ==, 41);
		CHECK_STR(transition->stop.path, "file:/sp/stop");
		CHECK_STR(transition->replay.path, "file:/chk/45");
		CHECK_INT(transition->toggle_unix_ms, ==, BIG);
		CHECK_INT(transition->seen_unix_ms, ==, BIG + 6);
		CHECK_INT(transition->armings, ==, 2);
		CHECK(transition->promoted && transition->opened && transition->replayed);
		CHECK_INT(transition->above, ==, BIG + 1);
		CHECK(transition->inexact);
		CHECK_INT(transition->below, ==, BIG + 5);
		CHECK_INT(transition->owner_number, ==, BIG + 3);
		CHECK_INT(transition->candidate_number, ==, BIG + 4);
		CHECK_INT(transition->first_number, ==, BIG + 2);
		CHECK_INT(transition->numbers, ==, 8);
		free(again);
		journal_release(&back);
	}
	free(text);
	journal_release(&journal);
}

TEST(without_one_nothing_is_written_and_nothing_is_there)
{
	struct journal journal, back;
	char *text;

	fill(&journal);
	transition_release(&journal.handover.transition);
	text = encoded(&journal);
	CHECK(!strstr(text, "transition"));
	if (decoded(text, &back)) {
		CHECK_INT(transition_of(&back.handover), ==, TRANSITION_NONE);
		CHECK(!transition_permits_two(&back.handover));
		CHECK(!transition_keeps(&back.handover, "file:/sp/seed"));
		journal_release(&back);
	}
	free(text);
	journal_release(&journal);
}

static void refused(const char *from, const char *to, const char *says)
{
	struct journal back;
	struct err err = {0};
	char *text = changed(from, to);

	if (text && CHECK(journal_decode(text, strlen(text), &back, &err)))
		CHECK_HAS(err.msg, says);
	free(text);
}

TEST(damage_is_refused_with_its_place)
{
	refused("\"state\": \"crossing\"", "\"state\": \"lost\"",
		"journal: handover: transition: 'state': unknown word \"lost\"");
	refused("\"state\": \"crossing\"", "\"state\": null", "transition: 'state'");
	refused("\"toggleUnixMs\": 9007199254740993", "\"toggleUnixMs\": \"soon\"",
		"transition: 'toggleUnixMs'");
	refused("\"toggleUnixMs\": 9007199254740993", "\"toggleUnixMs\": -5",
		"transition: 'toggleUnixMs'");
	refused("\"armings\": 2", "\"armings\": 1.5", "transition: 'armings'");
	refused("\"promoted\": true", "\"promoted\": 1", "transition: 'promoted'");
	refused("\"path\": \"file:/sp/seed\"", "\"path\": 7", "transition: seed: 'path'");
	refused("\"checkpointId\": 57", "\"checkpointId\": -57",
		"transition: stop: 'checkpointId'");
	refused("\"transition\": {", "\"transition\": 1, \"other\": {", "transition");
}

/* A later drey may have more to say of it; this one keeps that, and so does one that knows no
 * transitions at all (it keeps the whole member likewise). */
TEST(what_is_from_the_future_is_kept)
{
	struct journal back;
	char *text = changed("\"armings\": 2", "\"armings\": 2, \"later\": {\"x\": 9}"), *again;

	if (decoded(text, &back)) {
		back.handover.transition.armings = 3;
		again = encoded(&back);
		CHECK_HAS(again, "\"later\"");
		CHECK_HAS(again, "\"armings\": 3");
		free(again);
		journal_release(&back);
	}
	free(text);
}

TEST(what_is_cleared_does_not_come_back_from_what_was_read)
{
	struct journal back;
	char *text = changed("x", "x"), *again;

	if (decoded(text, &back)) {
		handover_renew(&back.handover, false);
		xstrset(&back.handover.id, "h18-00000001");
		again = encoded(&back);
		CHECK(!strstr(again, "\"armings\": 2"));
		CHECK(!strstr(again, "\"toggleUnixMs\": 9"));
		/* but for the numbers of the orders, which only grow */
		CHECK_INT(back.handover.transition.owner_number, >, 0);
		CHECK(!transition_of(&back.handover));
		free(again);
		journal_release(&back);
	}
	free(text);
}

/* An older drey has gone on with hand-overs of its own, and has kept the member. */
TEST(one_of_another_hand_over_does_not_count)
{
	struct journal journal;

	fill(&journal);
	CHECK(transition_permits_two(&journal.handover));
	xstrset(&journal.handover.id, "h18-00000001");
	CHECK_INT(transition_of(&journal.handover), ==, TRANSITION_NONE);
	CHECK(!transition_permits_two(&journal.handover));
	CHECK(!transition_keeps(&journal.handover, "file:/sp/seed"));
	xstrset(&journal.handover.id, "h17-3f2ac1d0");
	/* the same one, that it has stopped for as in a surge */
	journal.handover.state = HANDOVER_GRANTED;
	CHECK_INT(transition_of(&journal.handover), ==, TRANSITION_NONE);
	journal_release(&journal);
}

TEST(each_state_has_one_for_those_who_know_only_surge)
{
	static const struct {
		enum transition_state state;
		enum handover_state outside;
		bool two, cut, keeps;
	} rows[] = {
		{TRANSITION_NONE, HANDOVER_NONE, false, false, false},
		{TRANSITION_OFFERED, HANDOVER_OFFERED, false, false, true},
		{TRANSITION_SEEDING, HANDOVER_OFFERED, false, false, true},
		{TRANSITION_SEEDED, HANDOVER_OFFERED, true, false, true},
		{TRANSITION_SHADOW, HANDOVER_OFFERED, true, false, true},
		{TRANSITION_ARMING, HANDOVER_OFFERED, true, false, true},
		{TRANSITION_ARMED, HANDOVER_OFFERED, true, true, true},
		{TRANSITION_CROSSING, HANDOVER_OFFERED, true, true, true},
		{TRANSITION_CROSSED, HANDOVER_OFFERED, true, true, true},
		{TRANSITION_ENDING, HANDOVER_STOPPING, true, true, true},
		{TRANSITION_GRANTED, HANDOVER_GRANTED, false, false, true},
		{TRANSITION_TAKEN, HANDOVER_TAKEN, false, false, true},
		{TRANSITION_DONE, HANDOVER_DONE, false, false, false},
		{TRANSITION_ABORTING, HANDOVER_OFFERED, true, false, true},
		{TRANSITION_REFUSED, HANDOVER_REFUSED, false, false, false},
	};
	struct journal journal;

	fill(&journal);
	CHECK_INT(ARRAY_LEN(rows), ==, TRANSITION_STATES);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		journal.handover.transition.state = rows[i].state;
		journal.handover.state = transition_outside(rows[i].state);
		CHECK_INT(journal.handover.state, ==, rows[i].outside);
		CHECK_INT(transition_of(&journal.handover), ==, rows[i].state);
		CHECK_INT(transition_permits_two(&journal.handover), ==, rows[i].two);
		CHECK_INT(transition_is_cut(rows[i].state), ==, rows[i].cut);
		CHECK_INT(transition_keeps(&journal.handover, "file:///sp/seed/"), ==,
			  rows[i].keeps);
		CHECK(!transition_keeps(&journal.handover, "file:/sp/other"));
		CHECK(!transition_keeps(&journal.handover, NULL));
	}
	journal_release(&journal);
}
