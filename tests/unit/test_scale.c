#include "core/scale.h"

#include <stdio.h>
#include <string.h>

#include "tap.h"

#define NOW      INT64_C(1000000)
#define NOW_UNIX INT64_C(1700000000000)

static const struct scale_config at_once = {.when = SCALE_WHEN_PARKED};
static struct scale scale;
static int64_t now;

static void begin(void)
{
	memset(&scale, 0, sizeof(scale));
	now = NOW;
}

static void phase_by(const struct scale_config *config, enum phase phase)
{
	scale_stepped(&scale, config, phase, 0, now, NOW_UNIX + now - NOW);
}

static void phase(enum phase phase)
{
	phase_by(&at_once, phase);
}

/* "look", "record 3", "set 0", "forget", "wait 500". */
static const char *next(void)
{
	static char text[40];
	struct scale_step step = scale_next(&scale, now);
	static const char *const acts[] = {"wait", "look", "record", "set", "forget"};

	if (step.act == SCALE_LOOK || step.act == SCALE_FORGET)
		return acts[step.act];
	snprintf(text, sizeof(text), "%s %lld", acts[step.act],
		 (long long)(step.act == SCALE_NOTHING ? step.wait_ms : step.replicas));
	return text;
}

static void looked(int64_t replicas, int64_t recorded)
{
	scale_begins(&scale);
	scale_looked(&scale, replicas, recorded, now);
}

static void set_to(int64_t replicas)
{
	scale_begins(&scale);
	scale_was_set(&scale, replicas, now);
}

static void recorded(int64_t replicas)
{
	scale_begins(&scale);
	scale_recorded(&scale, replicas);
}

TEST(the_number_is_recorded_before_it_is_scaled_to_0)
{
	begin();
	phase(PHASE_SUSPENDED);
	CHECK_STR(next(), "look");
	looked(3, 0);
	CHECK_STR(next(), "record 3");
	recorded(3);
	CHECK_STR(next(), "set 0");
	set_to(0);
	CHECK_STR(next(), "wait 60000");
	CHECK_INT(scale.recorded, ==, 3);
}

TEST(it_comes_back_before_the_job_runs_and_the_record_goes_after_that)
{
	begin();
	phase(PHASE_LAUNCHING);
	CHECK_STR(next(), "look");
	looked(0, 3);
	CHECK_STR(next(), "set 3");
	set_to(3);
	CHECK_STR(next(), "forget");
	scale_begins(&scale);
	CHECK_STR(next(), "wait -1");
	scale_forgotten(&scale);
	CHECK_STR(next(), "wait -1");
	phase(PHASE_RUNNING);
	CHECK_STR(next(), "wait -1");
}

TEST(what_is_0_without_a_record_is_left_at_0)
{
	begin();
	phase(PHASE_RUNNING);
	looked(0, 0);
	CHECK_STR(next(), "wait -1");
	phase(PHASE_SUSPENDED);
	looked(0, 0);
	CHECK_STR(next(), "wait 60000");
}

TEST(what_others_have_scaled_up_is_left_and_the_old_record_goes)
{
	begin();
	phase(PHASE_RUNNING);
	looked(5, 3);
	CHECK_STR(next(), "forget");
}

TEST(a_number_that_others_set_while_it_is_parked_is_the_one_that_comes_back)
{
	begin();
	phase(PHASE_SUSPENDED);
	looked(0, 3);
	now += SCALE_LOOK_MS;
	CHECK_STR(next(), "look");
	looked(5, 3);
	CHECK_STR(next(), "record 5");
	recorded(5);
	CHECK_STR(next(), "set 0");
}

TEST(who_scales_it_up_again_and_again_means_it)
{
	begin();
	phase(PHASE_SUSPENDED);
	for (int i = 0; i < SCALE_MOST_DOWN; i++) {
		looked(3, 3);
		CHECK_STR(next(), "set 0");
		set_to(0);
		now += SCALE_LOOK_MS;
	}
	looked(3, 3);
	CHECK(scale.contested);
	CHECK_STR(next(), "wait -1");
	phase(PHASE_SUSPENDED);
	CHECK_STR(next(), "wait -1");
	/* until the next launch */
	phase(PHASE_LAUNCHING);
	looked(3, 3);
	CHECK_STR(next(), "forget");
	phase(PHASE_SUSPENDED);
	CHECK_STR(next(), "look");
}

TEST(a_record_that_cannot_be_read_is_replaced_where_the_number_is_known)
{
	begin();
	phase(PHASE_SUSPENDED);
	looked(3, SCALE_UNREADABLE);
	CHECK_STR(next(), "record 3");
	begin();
	phase(PHASE_RUNNING);
	looked(3, SCALE_UNREADABLE);
	CHECK_STR(next(), "forget");
}

TEST(once_in_a_while_is_not_a_contest)
{
	begin();
	phase(PHASE_SUSPENDED);
	for (int i = 0; i < 3 * SCALE_MOST_DOWN; i++) {
		looked(3, 3);
		CHECK_STR(next(), "set 0");
		set_to(0);
		now += SCALE_CONTEST_MS / 2;
	}
	CHECK(!scale.contested);
}

TEST(nothing_is_done_while_it_is_not_decided)
{
	static const enum phase phases[] = {PHASE_RESOLVING, PHASE_HOLDING, PHASE_STOPPING,
					    PHASE_TERMINATING};

	begin();
	for (size_t i = 0; i < sizeof(phases) / sizeof(*phases); i++) {
		phase(phases[i]);
		CHECK_STR(next(), "wait -1");
	}
}

TEST(every_way_to_be_parked_counts)
{
	static const enum phase phases[] = {PHASE_SUSPENDED, PHASE_CANCELLED, PHASE_FAILED,
					    PHASE_FINISHED};

	for (size_t i = 0; i < sizeof(phases) / sizeof(*phases); i++) {
		begin();
		phase(phases[i]);
		CHECK_STR(next(), "look");
	}
}

TEST(it_must_have_been_parked_for_a_while)
{
	static const struct scale_config later = {.parked_after_ms = 60000,
						  .finished_after_ms = 3600000};

	begin();
	phase_by(&later, PHASE_SUSPENDED);
	CHECK_STR(next(), "wait 60000");
	now += 59999;
	phase_by(&later, PHASE_SUSPENDED);
	CHECK_STR(next(), "wait 1");
	now += 1;
	phase_by(&later, PHASE_SUSPENDED);
	CHECK_STR(next(), "look");
}

TEST(a_finished_job_counts_from_its_end_also_in_another_process)
{
	static const struct scale_config later = {.when = SCALE_WHEN_FINISHED,
						  .finished_after_ms = 3600000};

	begin();
	scale_stepped(&scale, &later, PHASE_FINISHED, NOW_UNIX - 3000000, now, NOW_UNIX);
	CHECK_STR(next(), "wait 600000");
	begin();
	scale_stepped(&scale, &later, PHASE_FINISHED, NOW_UNIX - 3600000, now, NOW_UNIX);
	CHECK_STR(next(), "look");
	/* a clock that was set back, and an end that is not known */
	begin();
	scale_stepped(&scale, &later, PHASE_FINISHED, NOW_UNIX + 5000, now, NOW_UNIX);
	CHECK_STR(next(), "wait 3600000");
	begin();
	scale_stepped(&scale, &later, PHASE_FINISHED, 0, now, NOW_UNIX);
	CHECK_STR(next(), "wait 3600000");
}

TEST(finished_only_is_not_suspended)
{
	static const struct scale_config finished = {.when = SCALE_WHEN_FINISHED};

	begin();
	phase_by(&finished, PHASE_SUSPENDED);
	CHECK_STR(next(), "wait -1");
	phase_by(&finished, PHASE_FAILED);
	CHECK_STR(next(), "wait -1");
	phase_by(&finished, PHASE_FINISHED);
	CHECK_STR(next(), "look");
}

TEST(after_a_failure_it_looks_again_later_and_later)
{
	begin();
	phase(PHASE_LAUNCHING);
	looked(0, 3);
	for (int64_t pause = SCALE_FIRST_MS; pause < SCALE_LONGEST_MS; pause *= 2) {
		scale_begins(&scale);
		scale_failed(&scale, SCALE_FAILED, -1, now);
		now += pause - 1;
		CHECK_STR(next(), "wait 1");
		now += 1;
		CHECK_STR(next(), "look");
	}
	scale_begins(&scale);
	scale_failed(&scale, SCALE_CONFLICT, 45000, now);
	CHECK_STR(next(), "wait 45000");
	/* and at once when the goal is another one */
	phase(PHASE_SUSPENDED);
	CHECK_STR(next(), "look");
}

TEST(a_refusal_that_lasts_is_asked_about_every_five_minutes)
{
	begin();
	phase(PHASE_SUSPENDED);
	scale_begins(&scale);
	scale_failed(&scale, SCALE_REFUSED, -1, now);
	CHECK_STR(next(), "wait 500");
	CHECK(!scale_is_refused(&scale, now));
	now += 5000;
	scale_begins(&scale);
	scale_failed(&scale, SCALE_REFUSED, -1, now);
	CHECK(scale_is_refused(&scale, now));
	CHECK_STR(next(), "wait 300000");
	now += 300000;
	looked(3, 0);
	CHECK(!scale_is_refused(&scale, now));
}

/* ---- several objects ---- */

#define SEVERAL 3

static struct scale several[SEVERAL];
static struct scale_step steps[SEVERAL];

static void all_in(enum phase phase)
{
	for (size_t i = 0; i < SEVERAL; i++)
		scale_stepped(&several[i], &at_once, phase, 0, now, NOW_UNIX + now - NOW);
}

static void begin_several(enum phase phase)
{
	memset(several, 0, sizeof(several));
	now = NOW;
	all_in(phase);
}

/* The act, and for which: "look 012", "set 0:0 2:0", "wait 500". */
static const char *next_of(void)
{
	static char text[80];
	static const char *const acts[] = {"wait", "look", "record", "set", "forget"};
	struct scale_step step = scale_next_of(several, SEVERAL, now, steps);
	bool has_number = step.act == SCALE_RECORD || step.act == SCALE_SET;
	size_t len = (size_t)snprintf(text, sizeof(text), "%s ", acts[step.act]);

	if (step.act == SCALE_NOTHING)
		snprintf(text + len, sizeof(text) - len, "%lld", (long long)step.wait_ms);
	for (size_t i = 0; i < SEVERAL; i++) {
		if (step.act == SCALE_NOTHING || steps[i].act == SCALE_NOTHING) {
			CHECK_INT(steps[i].act, ==, SCALE_NOTHING);
			continue;
		}
		CHECK_INT(steps[i].act, ==, step.act);
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%zu", i);
		if (has_number)
			len += (size_t)snprintf(text + len, sizeof(text) - len, "=%lld ",
						(long long)steps[i].replicas);
	}
	return text;
}

static void all_looked(int64_t a, int64_t b, int64_t c, int64_t recorded)
{
	const int64_t replicas[SEVERAL] = {a, b, c};

	for (size_t i = 0; i < SEVERAL; i++) {
		scale_begins(&several[i]);
		scale_looked(&several[i], replicas[i], recorded, now);
	}
}

TEST(of_several_each_has_its_own_number)
{
	begin_several(PHASE_SUSPENDED);
	CHECK_STR(next_of(), "look 012");
	all_looked(3, 0, 1, 0);
	CHECK_STR(next_of(), "record 0=3 2=1 ");
	scale_recorded(&several[0], 3);
	scale_recorded(&several[2], 1);
	CHECK_STR(next_of(), "set 0=0 2=0 ");
	scale_was_set(&several[0], 0, now);
	CHECK(!scale_is_down(&several[2]));
	scale_was_set(&several[2], 0, now);
	CHECK_STR(next_of(), "wait 60000");
	for (size_t i = 0; i < SEVERAL; i++)
		CHECK(scale_is_down(&several[i]));
	all_in(PHASE_LAUNCHING);
	CHECK_STR(next_of(), "look 012");
	scale_looked(&several[0], 0, 3, now);
	scale_looked(&several[1], 0, 0, now);
	scale_looked(&several[2], 0, 1, now);
	CHECK_STR(next_of(), "set 0=3 2=1 ");
	scale_was_set(&several[0], 3, now);
	scale_was_set(&several[2], 1, now);
	CHECK_STR(next_of(), "forget 02");
}

TEST(one_that_fails_keeps_no_other_from_it)
{
	begin_several(PHASE_LAUNCHING);
	scale_looked(&several[0], 0, 3, now);
	scale_failed(&several[1], SCALE_FAILED, -1, now);
	scale_looked(&several[2], 0, 2, now);
	CHECK_STR(next_of(), "set 0=3 2=2 ");
	scale_was_set(&several[0], 3, now);
	scale_was_set(&several[2], 2, now);
	CHECK_STR(next_of(), "forget 02");
	scale_forgotten(&several[0]);
	scale_forgotten(&several[2]);
	CHECK_STR(next_of(), "wait 500");
	now += 500;
	CHECK_STR(next_of(), "look 1");
	scale_looked(&several[1], 0, 7, now);
	CHECK_STR(next_of(), "set 1=7 ");
}

TEST(who_is_behind_catches_up_first)
{
	begin_several(PHASE_SUSPENDED);
	scale_looked(&several[0], 3, 3, now);
	scale_looked(&several[1], 2, 0, now);
	CHECK_STR(next_of(), "look 2");
	scale_looked(&several[2], 1, 1, now);
	CHECK_STR(next_of(), "record 1=2 ");
	scale_recorded(&several[1], 2);
	CHECK_STR(next_of(), "set 0=0 1=0 2=0 ");
}

TEST(nothing_is_begun_while_a_request_is_under_way)
{
	begin_several(PHASE_SUSPENDED);
	scale_begins(&several[1]);
	CHECK_STR(next_of(), "wait -1");
	scale_looked(&several[1], 3, 0, now);
	CHECK_STR(next_of(), "look 02");
}

TEST(the_soonest_of_several_is_waited_for)
{
	begin_several(PHASE_SUSPENDED);
	all_looked(0, 0, 0, 3);
	now += 1000;
	scale_failed(&several[2], SCALE_FAILED, -1, now);
	CHECK_STR(next_of(), "wait 500");
	scale_failed(&several[2], SCALE_FAILED, 70000, now);
	CHECK_STR(next_of(), "wait 59000");
	/* one that is left to others never */
	several[0].goal = several[1].goal = SCALE_KEEP;
	CHECK_STR(next_of(), "wait 70000");
}
