/* What the journal has of a hand-over, and how templates are compared. */
#include "core/handover/handover.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "core/journal/journal.h"
#include "tap.h"

#define ID_A "0123456789abcdef0123456789abcdef"
#define ID_B "fedcba9876543210fedcba9876543210"
#define BIG  9007199254740993LL /* 2^53 + 1: not exact as a double */

static void party_fill(struct party *party, const char *pod, enum side side)
{
	xstrset(&party->pod, pod);
	party->uid = xasprintf("u-%s", pod);
	xstrset(&party->template, "g1/c1/h1");
	party->side = side;
}

static void fill(struct journal *journal)
{
	struct handover *handover = &journal->handover;

	journal_init(journal, "orders");
	party_fill(&journal->owner, "new", SIDE_GREEN);
	xstrset(&handover->id, "h17-3f2ac1d0");
	handover->kind = HANDOVER_SAME;
	handover->state = HANDOVER_RETURNED;
	party_fill(&handover->from, "old", SIDE_BLUE);
	party_fill(&handover->to, "new", SIDE_GREEN);
	snprintf(handover->job_id, JOB_ID_BYTES, "%s", ID_A);
	snprintf(handover->application_id, JOB_ID_BYTES, "%s", ID_B);
	handover->asked = BIG;
	xstrset(&handover->savepoint, "file:/sp/savepoint-1");
	handover->slots = 4;
	handover->tries = 1;
	handover->forced = true;
	handover->started_unix_ms = BIG + 1;
	handover->state_unix_ms = BIG + 2;
	handover->deadline_unix_ms = BIG + 3;
	xstrset(&handover->why, "it was not taken");
	handover->prepared_unix_ms = BIG + 4;
	handover->taken_unix_ms = BIG + 5;
	xstrset(&handover->returned, "it did not run");
	handover->returned_unix_ms = BIG + 6;
	handover->ends = (struct handover_ends){.done = 1, .returned = 2, .none = 3};
	journal_add_launch(journal)->held = true;
	snprintf(journal->launches[0].job_id, JOB_ID_BYTES, "%s", ID_A);
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

TEST(a_hand_over_comes_back_as_it_was)
{
	struct journal journal, back;
	struct err err = {0};
	char *text, *again;

	fill(&journal);
	text = encoded(&journal);
	if (CHECK(!journal_decode(text, strlen(text), &back, &err))) {
		again = encoded(&back);
		CHECK_STR(again, text);
		CHECK_STR(back.owner.uid, "u-new");
		CHECK_INT(back.owner.side, ==, SIDE_GREEN);
		CHECK_INT(back.handover.kind, ==, HANDOVER_SAME);
		CHECK_INT(back.handover.state, ==, HANDOVER_RETURNED);
		CHECK_STR(back.handover.from.pod, "old");
		CHECK_STR(back.handover.to.template, "g1/c1/h1");
		CHECK_STR(back.handover.application_id, ID_B);
		CHECK_INT(back.handover.asked, ==, BIG);
		CHECK_INT(back.handover.deadline_unix_ms, ==, BIG + 3);
		CHECK_INT(back.handover.prepared_unix_ms, ==, BIG + 4);
		CHECK_INT(back.handover.taken_unix_ms, ==, BIG + 5);
		CHECK_INT(back.handover.done_unix_ms, ==, 0);
		CHECK_STR(back.handover.returned, "it did not run");
		CHECK_INT(back.handover.returned_unix_ms, ==, BIG + 6);
		CHECK_INT(back.handover.ends.done, ==, 1);
		CHECK_INT(back.handover.ends.returned, ==, 2);
		CHECK_INT(back.handover.ends.none, ==, 3);
		CHECK(back.handover.forced && back.launches[0].held);
		CHECK_STR(back.handover.savepoint, "file:/sp/savepoint-1");
		free(again);
		journal_release(&back);
	}
	free(text);
	journal_release(&journal);
}

TEST(nobody_keeps_the_side_and_the_last_template)
{
	struct journal journal, back;
	char *text;

	fill(&journal);
	xstrset(&journal.owner.uid, NULL);
	xstrset(&journal.owner.pod, NULL);
	text = encoded(&journal);
	if (CHECK(!journal_decode(text, strlen(text), &back, &(struct err){0}))) {
		CHECK_STR(back.owner.uid, NULL);
		CHECK_STR(back.owner.template, "g1/c1/h1");
		CHECK_INT(back.owner.side, ==, SIDE_GREEN);
		journal_release(&back);
	}
	free(text);
	xstrset(&journal.owner.template, NULL); /* hand-overs are off, and it runs at green */
	text = encoded(&journal);
	if (CHECK(!journal_decode(text, strlen(text), &back, &(struct err){0}))) {
		CHECK_INT(back.owner.side, ==, SIDE_GREEN);
		journal_release(&back);
	}
	free(text);
	journal_release(&journal);
}

TEST(what_is_cleared_does_not_come_back_from_what_was_read)
{
	struct journal journal, back;
	char *text, *plain;

	fill(&journal);
	text = encoded(&journal);
	if (CHECK(!journal_decode(text, strlen(text), &back, &(struct err){0}))) {
		party_release(&back.owner);
		handover_release(&back.handover);
		plain = encoded(&back);
		CHECK(!strstr(plain, "\"owner\"") && !strstr(plain, "handover"));
		free(plain);
		journal_release(&back);
	}
	free(text);
	journal_release(&journal);
}

/* The full journal with `from` replaced by `to` is refused, and the message has `says`. */
static void refused(const char *from, const char *to, const char *says)
{
	struct journal journal, back;
	struct err err = {0};
	char *text, *place, *damaged;

	fill(&journal);
	text = encoded(&journal);
	place = strstr(text, from);
	if (CHECK(place != NULL)) {
		damaged =
			xasprintf("%.*s%s%s", (int)(place - text), text, to, place + strlen(from));
		if (CHECK(journal_decode(damaged, strlen(damaged), &back, &err)))
			CHECK_HAS(err.msg, says);
		else
			journal_release(&back);
		free(damaged);
	} else {
		tap_note("%s", text);
	}
	free(text);
	journal_release(&journal);
}

TEST(damage_is_refused_with_its_place)
{
	refused("\"state\": \"returned\"", "\"state\": \"lost\"",
		"journal: handover: 'state': unknown word \"lost\"");
	refused("\"state\": \"returned\"", "\"state\": null", "handover: 'state'");
	/* so a transition has a member of its own: going back to this version has to stay possible */
	refused("\"mode\": \"same\"", "\"mode\": \"blueGreen\"", "handover: 'mode'");
	refused("\"pod\": \"new\"", "\"pod\": 1", "owner: 'pod'");
	refused("\"side\": \"green\"", "\"side\": \"red\"", "owner: 'side'");
	refused("\"side\": \"blue\"", "\"side\": 0", "handover: from: 'side'");
	refused("\"uid\": \"u-old\"", "\"uid\": []", "handover: from: 'uid'");
	refused("\"forced\": true", "\"forced\": \"yes\"", "handover: 'forced'");
	refused("\"tries\": 1", "\"tries\": -1", "handover: 'tries'");
	refused("\"asked\": 9007199254740993", "\"asked\": 1.5", "handover: 'asked'");
	refused("\"jobId\": \"" ID_A "\",\n    \"applicationId\"",
		"\"jobId\": \"../etc\",\n    \"applicationId\"", "handover: 'jobId'");
	refused("\"held\": true", "\"held\": 1", "launches[0]: 'held'");
	refused("\"handover\": {", "\"handover\": 1, \"other\": {", "handover");
	refused("\"owner\": {", "\"owner\": [], \"other\": {", "owner");
}

TEST(a_journal_without_them_is_read_as_before)
{
	struct journal journal, back;
	char *text, *again;

	journal_init(&journal, "orders");
	text = encoded(&journal);
	CHECK(!strstr(text, "owner") && !strstr(text, "handover") && !strstr(text, "held"));
	if (CHECK(!journal_decode(text, strlen(text), &back, &(struct err){0}))) {
		CHECK_STR(back.owner.uid, NULL);
		CHECK_INT(back.owner.side, ==, SIDE_BLUE);
		CHECK_STR(back.handover.id, NULL);
		CHECK_INT(back.handover.state, ==, HANDOVER_NONE);
		again = encoded(&back);
		CHECK_STR(again, text);
		free(again);
		journal_release(&back);
	}
	free(text);
	journal_release(&journal);
}

/* ... as long as it is the same one: what is said of a hand-over is not true of the next. */
TEST(what_a_later_drey_says_of_a_hand_over_is_kept)
{
	struct journal journal, back;
	char *text, *later, *again;

	fill(&journal);
	text = encoded(&journal);
	later = xasprintf("%.*s\"later\": [1], %s", (int)(strstr(text, "\"mode\"") - text), text,
			  strstr(text, "\"mode\""));
	if (CHECK(!journal_decode(later, strlen(later), &back, &(struct err){0}))) {
		back.handover.state = HANDOVER_DONE;
		again = encoded(&back);
		CHECK_HAS(again, "\"later\"");
		free(again);
		xstrset(&back.handover.id, "h18-00000001");
		again = encoded(&back);
		CHECK(!strstr(again, "\"later\""));
		free(again);
		journal_release(&back);
	}
	free(later);
	free(text);
	journal_release(&journal);
}

/* ---- templates ---- */

TEST(templates_are_compared_by_whole_parts)
{
	static const struct {
		const char *a, *b;
		bool generation, content;
	} pairs_of[] = {
		{"g1/c1/h1", "g1/c1/h2", true, true},
		{"g1/c1/h1", "g1/c2/h1", true, false},
		{"g1/c1/h1", "g2/c1/h1", false, false},
		{"g1/c1/h1", "g10/c1/h1", false, false},
		{"g1/c1/h1", "g1/c10/h1", true, false},
		{"g1/c1/h1", "g1//h1", true, false},
		{"g1//h1", "g1//h2", true, true},
		{"/c1/h1", "/c1/h1", false, false}, /* no generation */
		{"", "", false, false},
		{"g1", "g1/", true, false},
		{NULL, NULL, false, false},
		{"g1/c1/h1", NULL, false, false},
	};
	char *text = template_text("g1", NULL, "h1");

	CHECK_STR(text, "g1//h1");
	free(text);
	for (size_t i = 0; i < ARRAY_LEN(pairs_of); i++) {
		CHECK_INT(template_same_generation(pairs_of[i].a, pairs_of[i].b), ==,
			  pairs_of[i].generation);
		CHECK_INT(template_same_generation(pairs_of[i].b, pairs_of[i].a), ==,
			  pairs_of[i].generation);
		CHECK_INT(template_same_content(pairs_of[i].a, pairs_of[i].b), ==,
			  pairs_of[i].content);
		CHECK_INT(template_same_content(pairs_of[i].b, pairs_of[i].a), ==,
			  pairs_of[i].content);
	}
}

/* ---- the side of a version ---- */

TEST(only_a_transition_changes_the_side_that_a_job_is_told)
{
	struct journal journal;

	journal_init(&journal, "orders");
	CHECK_INT(handover_output_side(&journal, "g1", true), ==, SIDE_BLUE); /* nothing has run */
	journal_add_launch(&journal)->output_side = SIDE_GREEN;
	xstrset(&journal.owner.template, "g1/c/h");
	CHECK_INT(handover_output_side(&journal, "g1", true), ==, SIDE_GREEN);
	CHECK_INT(handover_output_side(&journal, "g2", true), ==, SIDE_BLUE);
	CHECK_INT(handover_output_side(&journal, "g2", false), ==, SIDE_GREEN); /* as with surge */
	/* the one that a transition is on its way to has what that says */
	xstrset(&journal.handover.id, "h2");
	xstrset(&journal.handover.transition.id, "h2");
	journal.handover.state = HANDOVER_OFFERED;
	journal.handover.transition.state = TRANSITION_SHADOW;
	journal.handover.transition.output_side = SIDE_GREEN;
	xstrset(&journal.handover.to.template, "g2/c/h");
	CHECK_INT(handover_output_side(&journal, "g2", true), ==, SIDE_GREEN);
	CHECK_INT(handover_output_side(&journal, "g3", true), ==, SIDE_BLUE);
	journal_release(&journal);
}
