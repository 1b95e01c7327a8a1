/* What a gate does with a record, and what its reports prove. */
#include "core/handover/gate.h"

#include <string.h>

#include "base/mem.h"
#include "core/handover/gate_file.h"
#include "tap.h"

#define T     INT64_C(1767225600000)
#define NONE  GATE_NO_TIME
#define LATER (T + GATE_CEILING_MS)

TEST(each_word_lets_pass_what_it_says)
{
	static const struct {
		enum gate_word word;
		int64_t time, watermark;
		bool passes;
	} rows[] = {
		{GATE_OPEN, T - 1, NONE, true},
		{GATE_OPEN, T, T + 5, true},
		{GATE_OPEN, NONE, NONE, true},
		{GATE_CLOSED, T - 1, NONE, false},
		{GATE_CLOSED, T, T + 5, false},
		{GATE_CLOSED, NONE, NONE, false},
		{GATE_ARM_BLUE, T - 1, NONE, true},
		{GATE_ARM_BLUE, T - 1, T + 5, true}, /* late: as long as it runs */
		{GATE_ARM_BLUE, T, NONE, false},
		{GATE_ARM_BLUE, LATER - 1, NONE, false},
		{GATE_ARM_BLUE, LATER, NONE, true}, /* no cut could wait for it */
		{GATE_ARM_BLUE, NONE, NONE, true},
		{GATE_ARM_GREEN, T - 1, NONE, false},
		{GATE_ARM_GREEN, T - 1, T + 5, false},
		{GATE_ARM_GREEN, T, NONE, true},
		{GATE_ARM_GREEN, LATER - 1, NONE, true},
		{GATE_ARM_GREEN, LATER, NONE, false},
		{GATE_ARM_GREEN, NONE, NONE, false},
		{GATE_FINISH, T, NONE, true},
		{GATE_FINISH, NONE, NONE, true},
		{GATE_FINISH, T - 1, T, true},      /* late, and the other side has ended */
		{GATE_FINISH, T - 1, T - 1, false}, /* on time: it has written it */
		{GATE_FINISH, T - 1, NONE, false},  /* after a restart */
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct gate_order order = {.word = rows[i].word, .toggle_unix_ms = T};

		if (!CHECK_INT(gate_passes(&order, rows[i].time, rows[i].watermark), ==,
			       rows[i].passes))
			tap_note("row %zu: %s", i, gate_words[rows[i].word]);
	}
}

/* Of two jobs that are told the same cut, one passes a record, and never both. */
TEST(each_record_passes_on_one_side)
{
	const struct gate_order blue = {.word = GATE_ARM_BLUE, .toggle_unix_ms = T};
	const struct gate_order green = {.word = GATE_ARM_GREEN, .toggle_unix_ms = T};
	static const int64_t times[] = {NONE, 0, T - 1, T, T + 1, LATER - 1, LATER, INT64_MAX};

	for (size_t i = 0; i < ARRAY_LEN(times); i++)
		CHECK_INT(gate_passes(&blue, times[i], NONE), !=,
			  gate_passes(&green, times[i], NONE));
}

static struct gate_report report(void)
{
	return (struct gate_report){
		.known = true,
		.order = {.number = 7, .word = GATE_ARM_BLUE, .toggle_unix_ms = T},
		.subtasks = 4,
		.running = 4,
		.acked = 4,
		.min_watermark_unix_ms = T,
		.max_seen_unix_ms = T + 100};
}

TEST(an_order_is_taken_when_all_have_taken_exactly_it)
{
	struct gate_report all = report(), changed = all;
	struct gate_order order = all.order;

	CHECK(gate_has_taken(&all, &order));
	changed.acked = 3;
	CHECK(!gate_has_taken(&changed, &order));
	changed = all;
	changed.running = changed.acked = 3; /* one starts again */
	CHECK(!gate_has_taken(&changed, &order));
	changed = all;
	changed.subtasks = changed.running = changed.acked = 0;
	CHECK(!gate_has_taken(&changed, &order));
	changed = all;
	changed.known = false;
	CHECK(!gate_has_taken(&changed, &order));
	order.number = 8; /* the same words, given again */
	CHECK(!gate_has_taken(&all, &order));
	order.number = 7;
	order.word = GATE_OPEN;
	CHECK(!gate_has_taken(&all, &order));
	order = all.order;
	order.toggle_unix_ms++;
	CHECK(!gate_has_taken(&all, &order));
}

TEST(a_refusal_is_one_of_exactly_this_order)
{
	struct gate_report one = report();
	struct gate_order order = one.order;

	CHECK(!gate_has_refused(&one, &order));
	one.refused = 1;
	CHECK(gate_has_refused(&one, &order));
	order.number++;
	CHECK(!gate_has_refused(&one, &order));
}

TEST(behind_the_cut_is_every_subtask)
{
	struct gate_report all = report();

	CHECK(gate_is_behind(&all, T, false));
	CHECK(!gate_is_behind(&all, T + 1, false));
	all.idle = 1;
	CHECK(!gate_is_behind(&all, T, false));
	CHECK(gate_is_behind(&all, T, true));
	all.running = 3;
	CHECK(!gate_is_behind(&all, T, true));
}

TEST(near_is_neither_behind_nor_ahead_of_all_that_was_seen)
{
	static const struct {
		int64_t ours, seen, theirs;
		bool near, ahead;
	} rows[] = {
		{1000, 1500, 990, true, false},
		{1000, 1500, 989, false, false},
		{1000, 1500, 1510, true, false}, /* a subtask here is slow, others are not */
		{1000, 1500, 1511, false, true},
		{GATE_NO_TIME, 1500, 1490, true, false},
		{GATE_NO_TIME, 1500, 1511, false, true},
		{GATE_NO_TIME, GATE_NO_TIME, 1000, false, false},
		{1000, 1500, GATE_NO_TIME, false, false},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct gate_report here = {.known = true,
					   .min_watermark_unix_ms = rows[i].ours,
					   .max_seen_unix_ms = rows[i].seen};
		struct gate_report there = {.known = true, .min_watermark_unix_ms = rows[i].theirs};

		CHECK_INT(gate_is_near(&here, &there, 10), ==, rows[i].near);
		CHECK_INT(gate_is_ahead(&here, &there, 10), ==, rows[i].ahead);
		there.known = false;
		CHECK(!gate_is_near(&here, &there, 10) && !gate_is_ahead(&here, &there, 10));
	}
}

TEST(snapshots_show_what_is_committed_and_from_where_nothing_is_missing)
{
	struct gate_report all = report();

	CHECK(gate_clean(&all) == NULL);
	CHECK(!gate_has_committed(&all, 0));
	all.snapshots[0] = (struct gate_snapshot){52, false, 9, T + 5, T + 5, 0, false};
	all.snapshots[1] = (struct gate_snapshot){51, true, 1, T - 5, T - 5, 0, false};
	all.snapshots[2] = (struct gate_snapshot){50, true, 0, T - 90, T - 90, 0, false};
	all.snapshots[3] = (struct gate_snapshot){49, true, 0, T - 95, T - 95, 0, false};
	all.snapshot_count = 4;
	if (CHECK(gate_clean(&all) != NULL))
		CHECK_INT(gate_clean(&all)->checkpoint_id, ==, 50);
	/* the first one is complete, but its sinks do not know */
	CHECK(!gate_has_committed(&all, T));
	CHECK(gate_has_committed(&all, T - 5));
	all.snapshots[0].confirmed = true;
	CHECK(gate_has_committed(&all, T));
}

/* A record of the candidate that somebody has changed. */
TEST(a_time_of_the_far_future_becomes_no_cut_that_gates_take)
{
	const struct gate_file_job job = {.launch = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa01"};
	struct gate_report here = report(), there = report();
	struct gate_order order = {.number = 7, .word = GATE_ARM_GREEN};
	cleanup_buf struct buf text = BUF_INIT;
	struct err err = {0};

	there.max_seen_unix_ms = INT64_MAX;
	order.toggle_unix_ms = gate_cut(&here, &there, 30000, 60000, 0);
	CHECK_INT(order.toggle_unix_ms, >, GATE_MAX_TIME_MS);
	CHECK_INT(gate_file_order(&job, "h1", &order, &text, &err), ==, -1);
	CHECK_HAS(err.msg, "the order to the gates");
	CHECK_INT(text.len_bytes, ==, 0);
}

TEST(a_cut_is_after_all_that_was_seen_and_after_the_last_one)
{
	struct gate_report here = report(), there = report();

	there.max_seen_unix_ms = T + 900;
	CHECK_INT(gate_cut(&here, &there, 30000, 0, 0), ==, T + 30900);
	CHECK_INT(gate_cut(&there, &here, 30000, 0, 0), ==, T + 30900);
	CHECK_INT(gate_cut(&here, &there, 0, 0, T + 2000), ==, T + 2001);
	CHECK_INT(gate_cut(&here, &there, 0, 60000, 0), ==, T + 60000);
	CHECK_INT(gate_cut(&here, &there, 0, 900, 0) % 900, ==, 0);
	here.max_seen_unix_ms = there.max_seen_unix_ms = T;
	CHECK_INT(gate_cut(&here, &there, 60000, 60000, 0), ==, T + 60000);
}
