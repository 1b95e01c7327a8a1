/* What follows from looks at Flink about gates that say nothing themselves. */
#include "core/handover/flip_track.h"

#include "tap.h"

#define S INT64_C(1000) /* a second, of the clock and of the records */

struct rig {
	struct flip_track track;
	struct gate_report report;
	int64_t start_unix_ms;
	bool cut_seen;
	const char *launch;
};

static void begin(struct rig *rig)
{
	*rig = (struct rig){.launch = "0000000000000000000000000000000a"};
}

static void end(struct rig *rig)
{
	(void)rig;
}

/* At this second two subtasks have these watermarks, and there is one checkpoint. */
static void look(struct rig *rig, int64_t at, int64_t a, int64_t b, struct flip_checkpoint seen)
{
	int64_t watermarks[] = {a, b};
	struct flip_look it = {.at_unix_ms = at * S,
			       .start_unix_ms = rig->start_unix_ms,
			       .subtasks = 2,
			       .running = 2,
			       .watermarks = watermarks,
			       .watermark_count = 2,
			       .checkpoints = &seen,
			       .checkpoint_count = seen.id != 0,
			       .cut_seen = rig->cut_seen};

	flip_track_add(&rig->track, rig->launch, &it, &rig->report);
}

static struct flip_checkpoint none(void)
{
	return (struct flip_checkpoint){0};
}

static struct flip_checkpoint done(int64_t id, int64_t second)
{
	return (struct flip_checkpoint){.id = id, .trigger_unix_ms = second * S, .completed = true};
}

#define RIG_TEST(name) TEST_WITH(name, struct rig, rig, begin, end)

RIG_TEST(the_slowest_subtask_counts)
{
	look(rig, 10, 500, 300, none());
	CHECK(rig->report.known);
	CHECK_INT(rig->report.min_watermark_unix_ms, ==, 300);
	CHECK_INT(rig->report.max_seen_unix_ms, ==, 500);
	CHECK_INT(rig->report.idle, ==, 0);
	look(rig, 11, 500, GATE_NO_TIME, none());
	CHECK_INT(rig->report.min_watermark_unix_ms, ==, 500);
	CHECK_INT(rig->report.idle, ==, 1);
	look(rig, 12, GATE_NO_TIME, GATE_NO_TIME, none());
	CHECK(rig->report.min_watermark_unix_ms == GATE_NO_TIME);
}

RIG_TEST(only_what_runs_is_idle)
{
	int64_t watermarks[] = {GATE_NO_TIME, GATE_NO_TIME};
	struct flip_look it = {
		.subtasks = 2, .running = 1, .watermarks = watermarks, .watermark_count = 2};

	flip_track_add(&rig->track, rig->launch, &it, &rig->report);
	CHECK_INT(rig->report.idle, ==, 1);
}

RIG_TEST(a_checkpoint_has_what_was_seen_before_it)
{
	look(rig, 10, 500, 300, none());
	look(rig, 12, 800, 700, none());
	look(rig, 13, 800, 700, done(7, 11));
	CHECK_INT(rig->report.snapshot_count, ==, 0); /* Flink's list of subtasks may be old */
	look(rig, 15, 900, 900, done(7, 11));
	CHECK_INT(rig->report.snapshot_count, ==, 1);
	CHECK_INT(rig->report.snapshots[0].checkpoint_id, ==, 7);
	CHECK_INT(rig->report.snapshots[0].min_watermark_unix_ms, ==, 300);
	CHECK(!rig->report.snapshots[0].confirmed);
	look(rig, 16, 900, 900, done(8, 15));
	CHECK(rig->report.snapshots[0].confirmed);
}

RIG_TEST(of_one_that_was_there_before_nothing_is_known)
{
	look(rig, 10, 500, 300, done(7, 9));
	look(rig, 15, 900, 900, done(7, 9));
	CHECK_INT(rig->report.snapshot_count, ==, 1);
	CHECK(rig->report.snapshots[0].min_watermark_unix_ms == GATE_NO_TIME);
}

RIG_TEST(a_subtask_that_has_started_again_may_be_anywhere)
{
	look(rig, 10, 500, 300, none());
	rig->start_unix_ms = 11 * S;
	look(rig, 15, 100, 100, done(7, 11));
	CHECK_INT(rig->report.snapshot_count, ==, 1);
	CHECK(rig->report.snapshots[0].min_watermark_unix_ms == GATE_NO_TIME);
}

RIG_TEST(a_look_without_all_subtasks_says_nothing_about_a_checkpoint)
{
	look(rig, 10, 500, GATE_NO_TIME, none());
	look(rig, 15, 900, 900, done(7, 11));
	CHECK(rig->report.snapshots[0].min_watermark_unix_ms == GATE_NO_TIME);
}

static const struct gate_snapshot *seventh(const struct rig *rig)
{
	return gate_snapshot_of(&rig->report, 7);
}

/* Flink shows some seconds later what they had by then. */
RIG_TEST(a_checkpoint_has_at_most_what_is_shown_after_it)
{
	look(rig, 12, 500, 300, done(7, 11));
	look(rig, 15, 700, 600, done(7, 11));
	CHECK_INT(seventh(rig)->seen_unix_ms, ==, 0);
	look(rig, 16, 900, 800, done(7, 11));
	CHECK_INT(seventh(rig)->seen_unix_ms, ==, 901);
	look(rig, 17, 950, 850, done(7, 11));
	CHECK_INT(seventh(rig)->seen_unix_ms, ==, 901);
	CHECK(!seventh(rig)->restarted);
}

RIG_TEST(a_checkpoint_of_a_job_without_watermarks_has_none)
{
	look(rig, 12, GATE_NO_TIME, GATE_NO_TIME, done(7, 11));
	look(rig, 16, GATE_NO_TIME, GATE_NO_TIME, done(7, 11));
	CHECK_INT(seventh(rig)->seen_unix_ms, ==, 1);
}

/* What is shown then is of a job that went back. */
RIG_TEST(after_a_restart_it_is_not_known_what_a_checkpoint_had)
{
	look(rig, 12, 500, 300, done(7, 11));
	rig->start_unix_ms = 14 * S;
	look(rig, 16, GATE_NO_TIME, GATE_NO_TIME, done(7, 11));
	look(rig, 30, 900, 800, done(7, 11));
	CHECK_INT(seventh(rig)->seen_unix_ms, ==, 0);
	CHECK(seventh(rig)->restarted);
}

RIG_TEST(what_was_known_stays_known_after_a_restart)
{
	look(rig, 12, 500, 300, done(7, 11));
	look(rig, 16, 900, 800, done(7, 11));
	rig->start_unix_ms = 17 * S;
	look(rig, 20, 100, 100, done(7, 11));
	CHECK_INT(seventh(rig)->seen_unix_ms, ==, 901);
}

RIG_TEST(it_is_clean_if_it_was_complete_before_the_cut)
{
	struct flip_checkpoint begun = {.id = 7, .trigger_unix_ms = 11 * S};
	struct flip_checkpoint gone = done(6, 5);

	look(rig, 10, 500, 300, gone);
	look(rig, 11, 500, 300, begun);
	rig->cut_seen = true;
	look(rig, 16, 900, 900, done(7, 11));
	CHECK_INT(rig->report.snapshot_count, ==, 2);
	CHECK_INT(rig->report.snapshots[0].withheld_above, ==, 1);
	CHECK_INT(rig->report.snapshots[1].withheld_above, ==, 0);
	CHECK_INT(gate_clean(&rig->report)->checkpoint_id, ==, 6);
	gone.discarded = true;
	look(rig, 17, 900, 900, gone);
	CHECK(!gate_clean(&rig->report)); /* it cannot be restored */
	CHECK_INT(rig->report.snapshot_count, ==, 2);
}

RIG_TEST(another_launch_begins_anew)
{
	look(rig, 10, 500, 300, none());
	rig->launch = "0000000000000000000000000000000b";
	look(rig, 12, 500, 300, done(7, 11));
	look(rig, 16, 500, 300, done(7, 11));
	CHECK(rig->report.snapshots[0].min_watermark_unix_ms == GATE_NO_TIME);
}

RIG_TEST(the_newest_ones_are_kept)
{
	for (int id = 1; id <= 40; id++)
		look(rig, 10 * id, id, id, done(id, 10 * id - 5));
	CHECK_INT(rig->report.snapshot_count, ==, GATE_SNAPSHOTS);
	CHECK_INT(rig->report.snapshots[0].checkpoint_id, ==, 40);
	look(rig, 500, 50, 50, done(3, 25));
	CHECK_INT(rig->report.snapshots[0].checkpoint_id, ==, 40);
	CHECK_INT(rig->report.snapshots[0].min_watermark_unix_ms, ==, 39);
}

TEST(behind_is_counted_by_subtask)
{
	static const int64_t watermarks[] = {100, 99, GATE_NO_TIME, 101};

	CHECK_INT(flip_behind(watermarks, 4, 100), ==, 2);
	CHECK_INT(flip_behind(watermarks, 4, 102), ==, 0);
}
