/* The warm spare: when one is started and ended, and which launch may run in it. */
#include "core/spare.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "tap.h"

#define NOW    INT64_C(1000000)
#define PLENTY (INT64_C(1) << 33)

struct rig {
	struct lifecycle life;
	struct lifecycle_config config;
	struct spare spare;
	struct spare_outside outside;
	struct spare_launch launch;
};

/* The job runs, its launch is proven, and the world has all that a spare needs. */
static void rig_begin(struct rig *rig)
{
	struct journal journal;
	struct rng rng;
	struct launch *launch;

	*rig = (struct rig){
		.outside = {true, true, true, "abc", PLENTY},
		.launch = {true, "abc", true},
	};
	journal_init(&journal, "orders");
	rng_seed(&rng, 7);
	launch = journal_add_launch(&journal);
	strcpy(launch->job_id, "aa01");
	launch->started_unix_ms = 1;
	launch->proven_unix_ms = 2;
	lifecycle_init(&rig->life, &rig->config, &journal, &rng);
	rig->life.phase = PHASE_RUNNING;
	rig->life.launch_step = LAUNCH_LIVE;
	rig->life.seen.job_present = true;
	rig->life.seen.state = JOB_RUNNING;
}

static void rig_end(struct rig *rig)
{
	lifecycle_release(&rig->life);
}

#define RIG_TEST(name) TEST_WITH(name, struct rig, rig, rig_begin, rig_end)

static bool wanted(const struct rig *rig)
{
	return spare_is_wanted(&rig->spare, &rig->life, NOW);
}

static void start(struct rig *rig)
{
	spare_starts(&rig->spare, "abc");
}

static void start_ready(struct rig *rig)
{
	start(rig);
	CHECK(spare_is_ready(&rig->spare, rig->spare.id, NOW));
}

/* ---- when one is started ---- */

static void parked(struct rig *rig)
{
	rig->life.phase = PHASE_SUSPENDED;
}

static void not_live(struct rig *rig)
{
	rig->life.launch_step = LAUNCH_NONE;
}

static void not_proven(struct rig *rig)
{
	journal_launch(&rig->life.journal)->proven_unix_ms = 0;
}

static void job_restarts(struct rig *rig)
{
	rig->life.seen.state = JOB_RESTARTING;
}

static void job_is_absent(struct rig *rig)
{
	rig->life.seen.job_present = false;
}

static void do_not_restart(struct rig *rig)
{
	rig->life.journal.intent.do_not_restart = true;
}

static void to_be_suspended(struct rig *rig)
{
	rig->life.journal.intent.state = DESIRED_SUSPENDED;
}

static void to_be_cancelled(struct rig *rig)
{
	rig->life.journal.intent.state = DESIRED_CANCELLED;
}

static void container_stops(struct rig *rig)
{
	rig->life.terminating = true;
}

static void is_fenced(struct rig *rig)
{
	rig->life.fenced = true;
}

static void finished(struct rig *rig)
{
	rig->life.phase = PHASE_FINISHED;
}

static void failed(struct rig *rig)
{
	rig->life.phase = PHASE_FAILED;
}

static void holding(struct rig *rig)
{
	rig->life.phase = PHASE_HOLDING;
}

static void launching(struct rig *rig)
{
	rig->life.phase = PHASE_LAUNCHING;
}

static void stopping(struct rig *rig)
{
	rig->life.phase = PHASE_STOPPING;
}

struct state {
	const char *name;
	void (*make)(struct rig *rig);
	bool starts; /* one is started */
	bool stays;  /* one that there is stays */
};

TEST(one_is_started_while_a_proven_job_runs_and_ended_when_nothing_will_be_launched)
{
	static const struct state rows[] = {
		{"running", NULL, true, true},
		{"suspended", parked, false, true},
		{"Flink has ended", not_live, false, true},
		{"not proven", not_proven, false, true},
		{"the job restarts inside Flink", job_restarts, false, true},
		{"the job is absent", job_is_absent, false, true},
		{"do-not-restart", do_not_restart, false, false},
		{"to be suspended", to_be_suspended, false, true},
		{"to be cancelled", to_be_cancelled, false, false},
		{"the container stops", container_stops, false, false},
		{"fenced", is_fenced, false, false},
		{"finished", finished, false, false},
		{"failed", failed, false, false},
		{"holding", holding, false, true},
		{"launching", launching, false, true},
		{"stopping", stopping, false, true},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct rig rig;
		enum spare_why why;

		rig_begin(&rig);
		if (rows[i].make)
			rows[i].make(&rig);
		if (!CHECK_INT(wanted(&rig), ==, rows[i].starts))
			tap_note("%s: started", rows[i].name);
		CHECK_INT(spare_end_why(&rig.spare, &rig.life, PLENTY), ==, SPARE_WELL);
		start_ready(&rig);
		why = spare_end_why(&rig.spare, &rig.life, PLENTY);
		if (!CHECK_INT(why, ==, rows[i].stays ? SPARE_WELL : SPARE_NOT_WANTED))
			tap_note("%s: stays", rows[i].name);
		CHECK(!wanted(&rig)); /* there is one */
		rig_end(&rig);
	}
}

TEST(what_the_world_must_have)
{
	static const struct {
		struct spare_outside outside;
		enum spare_why why;
	} rows[] = {
		{{true, true, true, "abc", SPARE_NEEDS_BYTES, false}, SPARE_WELL},
		{{true, true, true, "abc", INT64_MAX, false}, SPARE_WELL},
		{{false, true, true, "abc", PLENTY, false}, SPARE_OFF},
		{{true, false, true, "abc", PLENTY, false}, SPARE_INIT_TOO_OLD},
		{{true, true, false, "abc", PLENTY, false}, SPARE_NO_PROGRAM},
		{{true, true, true, NULL, PLENTY, false}, SPARE_COMMAND_UNKNOWN},
		{{true, true, true, "", PLENTY, false}, SPARE_COMMAND_UNKNOWN},
		{{true, true, true, "abc", PLENTY, true}, SPARE_NOT_SHAREABLE},
		{{true, true, true, "abc", SPARE_NEEDS_BYTES - 1, false}, SPARE_NO_HEADROOM},
		{{true, true, true, "abc", -1, false}, SPARE_NO_HEADROOM},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		CHECK_INT(spare_start_why(&rows[i].outside), ==, rows[i].why);
}

RIG_TEST(without_what_it_needs_the_world_is_looked_at_once_a_minute)
{
	spare_is_refused(&rig->spare, SPARE_NO_HEADROOM, NOW);
	CHECK(!wanted(rig));
	CHECK(!spare_is_wanted(&rig->spare, &rig->life, NOW + SPARE_LOOK_AGAIN_MS - 1));
	CHECK(spare_is_wanted(&rig->spare, &rig->life, NOW + SPARE_LOOK_AGAIN_MS));
	CHECK_INT(spare_use_why(&rig->spare, &rig->launch), ==, SPARE_NO_HEADROOM);
}

RIG_TEST(one_that_waits_is_ended_before_the_memory_is_used_up)
{
	start_ready(rig);
	CHECK_INT(spare_end_why(&rig->spare, &rig->life, SPARE_LEAST_BYTES), ==, SPARE_WELL);
	CHECK_INT(spare_end_why(&rig->spare, &rig->life, SPARE_LEAST_BYTES - 1), ==,
		  SPARE_NO_HEADROOM);
	spare_ends(&rig->spare, SPARE_NO_HEADROOM);
	/* once is enough */
	CHECK_INT(spare_end_why(&rig->spare, &rig->life, 0), ==, SPARE_WELL);
	CHECK(spare_is_gone(&rig->spare, rig->spare.id, NOW));
	CHECK(!wanted(rig)); /* the next one would take as much */
	CHECK(spare_is_wanted(&rig->spare, &rig->life, NOW + SPARE_PAUSE_FIRST_MS));
}

/* ---- how it ends ---- */

RIG_TEST(after_each_one_that_ended_unused_the_pause_doubles)
{
	int64_t pause_ms = SPARE_PAUSE_FIRST_MS, now_ms = NOW;

	for (int i = 0; i < 5; i++) {
		start(rig);
		CHECK(spare_is_gone(&rig->spare, rig->spare.id, now_ms));
		CHECK_INT(rig->spare.state, ==, SPARE_NONE);
		CHECK(!spare_is_wanted(&rig->spare, &rig->life, now_ms + pause_ms - 1));
		CHECK(spare_is_wanted(&rig->spare, &rig->life, now_ms + pause_ms));
		CHECK_INT(spare_use_why(&rig->spare, &rig->launch), ==, SPARE_GONE);
		now_ms += pause_ms;
		pause_ms *= 2;
	}
	/* one that was well for long does not count with those before it */
	start_ready(rig);
	now_ms = NOW + SPARE_WELL_MS;
	CHECK(spare_is_gone(&rig->spare, rig->spare.id, now_ms));
	CHECK(spare_is_wanted(&rig->spare, &rig->life, now_ms + SPARE_PAUSE_FIRST_MS));
}

RIG_TEST(one_that_drey_ended_is_followed_without_a_pause)
{
	start_ready(rig);
	spare_ends(&rig->spare, SPARE_NOT_WANTED);
	CHECK(!wanted(rig)); /* it has not gone */
	CHECK(!spare_is_ready(&rig->spare, rig->spare.id, NOW));
	CHECK(spare_is_gone(&rig->spare, rig->spare.id, NOW));
	CHECK(wanted(rig));
}

RIG_TEST(what_is_reported_of_an_earlier_one_is_not_about_this_one)
{
	char before[SPARE_ID_BYTES];

	start(rig);
	memcpy(before, rig->spare.id, sizeof(before));
	CHECK(spare_is_gone(&rig->spare, before, NOW));
	CHECK(!spare_is_gone(&rig->spare, before, NOW));
	start(rig);
	CHECK(strcmp(before, rig->spare.id) != 0);
	CHECK(!spare_is_ready(&rig->spare, before, NOW));
	CHECK(!spare_is_gone(&rig->spare, before, NOW));
	CHECK(!spare_is_ready(&rig->spare, NULL, NOW));
	CHECK_INT(rig->spare.state, ==, SPARE_WARMING);
	CHECK(spare_is_ready(&rig->spare, rig->spare.id, NOW));
}

/* ---- which launch may run in it ---- */

TEST(a_launch_runs_in_a_ready_one_that_was_made_of_the_same)
{
	static const struct {
		enum spare_state state;
		struct spare_launch launch;
		enum spare_why why;
	} rows[] = {
		{SPARE_READY, {true, "abc", true}, SPARE_WELL},
		{SPARE_READY, {false, "abc", true}, SPARE_OFF},
		{SPARE_READY, {true, "abd", true}, SPARE_CHANGED},
		{SPARE_READY, {true, NULL, true}, SPARE_CHANGED},
		{SPARE_READY, {true, "abc", false}, SPARE_COMMAND_CHANGED},
		{SPARE_WARMING, {true, "abc", true}, SPARE_NOT_READY},
		{SPARE_ENTERING, {true, "abc", true}, SPARE_NOT_READY},
		{SPARE_NONE, {true, "abc", true}, SPARE_NOT_PROVEN},
		{SPARE_ENDING, {true, "abc", true}, SPARE_NOT_PROVEN},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct spare spare = {.state = rows[i].state, .made_of = "abc"};

		if (!CHECK_INT(spare_use_why(&spare, &rows[i].launch), ==, rows[i].why))
			tap_note("row %zu", i);
	}
}

RIG_TEST(a_launch_enters_once_and_the_next_one_needs_another_spare)
{
	start_ready(rig);
	spare_enters(&rig->spare);
	CHECK_INT(spare_use_why(&rig->spare, &rig->launch), ==, SPARE_NOT_READY);
	CHECK(!wanted(rig));
	CHECK_INT(spare_end_why(&rig->spare, &rig->life, 0), ==, SPARE_WELL); /* it is Flink */
	CHECK(spare_entered(&rig->spare, true, NOW));
	CHECK(!spare_entered(&rig->spare, true, NOW));
	CHECK_INT(spare_use_why(&rig->spare, &rig->launch), ==, SPARE_NOT_PROVEN);
	CHECK(wanted(rig));
}

RIG_TEST(one_that_could_not_be_entered_is_a_failure)
{
	start_ready(rig);
	spare_enters(&rig->spare);
	CHECK(spare_entered(&rig->spare, false, NOW));
	CHECK(!wanted(rig));
	CHECK(spare_is_wanted(&rig->spare, &rig->life, NOW + SPARE_PAUSE_FIRST_MS));
	CHECK_INT(spare_use_why(&rig->spare, &rig->launch), ==, SPARE_NOT_ENTERED);
	/* or drey-init says first that it has gone: not two failures */
	rig->spare.not_before_ms = 0;
	start_ready(rig);
	spare_enters(&rig->spare);
	CHECK(spare_is_gone(&rig->spare, rig->spare.id, NOW));
	CHECK(!spare_entered(&rig->spare, false, NOW));
	CHECK_INT(rig->spare.failures, ==, 2);
	/* and one that is entered ends the series */
	start_ready(rig);
	spare_enters(&rig->spare);
	CHECK(spare_entered(&rig->spare, true, NOW));
	CHECK(wanted(rig));
}

RIG_TEST(an_ordinary_launch_ends_the_spare)
{
	start_ready(rig);
	spare_is_passed_by(&rig->spare, SPARE_CHANGED);
	CHECK_INT(rig->spare.state, ==, SPARE_ENDING);
	CHECK_INT(spare_use_why(&rig->spare, &rig->launch), ==, SPARE_CHANGED);
	CHECK(spare_is_gone(&rig->spare, rig->spare.id, NOW));
	CHECK(wanted(rig));
	spare_is_passed_by(&rig->spare, SPARE_NOT_PROVEN); /* there is none */
	CHECK(wanted(rig));
}

TEST(each_reason_has_a_word_and_a_sentence)
{
	for (int i = SPARE_WELL + 1; i < SPARE_WHYS; i++) {
		CHECK(*spare_why_name((enum spare_why)i) != '\0');
		CHECK(*spare_why_sentence((enum spare_why)i) != '\0');
		for (int k = SPARE_WELL; k < i; k++)
			CHECK(strcmp(spare_why_name((enum spare_why)i),
				     spare_why_name((enum spare_why)k)) != 0);
	}
	CHECK_STR(spare_state_name(SPARE_READY), "ready");
	CHECK_STR(spare_why_name(SPARE_WHYS), "");
	CHECK_STR(spare_why_sentence(SPARE_WHYS), "");
}
