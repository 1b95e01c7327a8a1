#include "core/job_id.h"

#include <stdlib.h>

#include "base/mem.h"
#include "core/resolve/facts.h"
#include "core/resolve/flink_choice.h"
#include "tests/unit/life.h"
#include "tests/unit/tap.h"

#define SPACE "shop/orders/"

/* printf 'shop/orders//0' | sha256sum | cut -c-32 */
TEST(ids_are_what_a_chart_computes)
{
	cleanup_free char *plain = job_id_space("shop", "orders", "");
	cleanup_free char *salted = job_id_space("shop", "orders", "2026");
	char id[JOB_ID_BYTES];

	CHECK_STR(plain, SPACE);
	job_id_name(plain, 0, id);
	CHECK_STR(id, "7f88b3c037de5c428b68cfd222c708c6");
	job_id_name(salted, 7, id);
	CHECK_STR(id, "13153d0ad5fc8388af2144d836a7946e");
}

static const char *id_of(int64_t number)
{
	static char id[JOB_ID_BYTES];

	job_id_name(SPACE, number, id);
	return id;
}

static void begin(struct life *l, int64_t count)
{
	life_begin(l);
	l->config.id_space = SPACE;
	l->config.id_count = count;
	hello(l, NULL);
}

/* One start without state; the facts have a trace of these numbers, ending with -1. */
static void start_empty(struct life *l, const int64_t *traces)
{
	struct facts facts = {0};
	struct decision decision = {.kind = DECISION_START_EMPTY, .rule = 8};
	struct event event = {.type = EVENT_OBSERVED,
			      .observed = {.facts = &facts, .decision = &decision}};

	for (; *traces >= 0; traces++)
		facts_add_job(&facts, id_of(*traces));
	step(l, &event);
	facts_release(&facts);
}

static const int64_t no_trace[] = {-1};

/* The launch that was just begun cannot be started: the next attempt needs another id. */
static void fail_start(struct life *l)
{
	launch_failed(l);
	forget(l);
	pass(l, 60000);
	CHECK_INT(took(l, EFFECT_OBSERVE), ==, 1);
}

TEST(launches_take_the_numbers_one_after_another)
{
	struct life l;

	begin(&l, 200);
	start_empty(&l, no_trace);
	CHECK_INT(took(&l, EFFECT_LAUNCH), ==, 1);
	CHECK_STR(job_of(&l), id_of(0));
	fail_start(&l);
	start_empty(&l, no_trace);
	CHECK_STR(job_of(&l), id_of(1));
	CHECK_STR(l.life.journal.id_space, SPACE);
	CHECK_INT(l.life.journal.id_next, ==, 2);
	life_end(&l);
}

/* The launch that was just begun must not be made now: drey-init never heard of it. */
static void hold_start(struct life *l)
{
	struct event event = {.type = EVENT_REFUSED,
			      .refused = {.effect = EFFECT_LAUNCH,
					  .launch_id = job_of(l),
					  .why = "busy",
					  .cause = CAUSE_HA_NOT_PREPARED}};

	step(l, &event);
	CHECK_PHASE(l, PHASE_HOLDING);
	forget(l);
	pass(l, 3600000);
	CHECK_INT(took(l, EFFECT_OBSERVE), ==, 1);
}

TEST(a_start_that_is_held_keeps_its_number_and_its_place)
{
	static const int64_t trace[] = {0, -1};
	struct life l;

	begin(&l, 200);
	for (int64_t number = 1; number < 300; number++) {
		start_empty(&l, no_trace);
		CHECK_STR(job_of(&l), id_of(0));
		CHECK_INT(journal_launch(&l.life.journal)->number, ==, number);
		CHECK_INT(l.life.journal.launch_count, ==, 1);
		CHECK(!journal_launch(&l.life.journal)->ended_unix_ms);
		hold_start(&l);
	}
	start_empty(&l, trace); /* somebody else has it now */
	CHECK_STR(job_of(&l), id_of(1));
	CHECK_INT(l.life.journal.launch_count, ==, 1);
	fail_start(&l); /* drey-init had it */
	start_empty(&l, no_trace);
	CHECK_STR(job_of(&l), id_of(2));
	CHECK_INT(l.life.journal.launch_count, ==, 2);
	CHECK_INT(l.life.journal.id_next, ==, 3);
	life_end(&l);
}

TEST(a_start_that_is_withdrawn_keeps_its_number)
{
	struct life l;

	begin(&l, 200);
	l.hold_writes = true;
	start_empty(&l, no_trace);
	do_not_restart(&l, true);
	l.hold_writes = false;
	written(&l);
	CHECK_NOTHING(&l, EFFECT_LAUNCH);
	CHECK_PHASE(&l, PHASE_HOLDING);
	forget(&l);
	do_not_restart(&l, false);
	CHECK_INT(took(&l, EFFECT_OBSERVE), ==, 1);
	start_empty(&l, no_trace);
	CHECK_STR(job_of(&l), id_of(0));
	CHECK_INT(l.life.journal.launch_count, ==, 1);
	life_end(&l);
}

/* The last launch goes on: Flink's HA data of its job have a checkpoint. */
static void go_on(struct life *l)
{
	struct facts facts = {0};
	struct snapshot snapshot = {.path = (char *)"file:/cp/chk-1", .checkpoint_id = 1};
	struct decision decision = {.kind = DECISION_CONTINUE, .rule = 7};
	struct event event = {.type = EVENT_OBSERVED,
			      .observed = {.facts = &facts, .decision = &decision}};

	facts_mark_ha(facts_add(&facts, SOURCE_HA, &snapshot), job_of(l), NULL);
	step(l, &event);
	facts_release(&facts);
}

TEST(one_that_is_held_while_it_goes_on_gives_its_id_to_no_other)
{
	struct life l;

	begin(&l, 200);
	start_empty(&l, no_trace);
	started(&l);
	exited(&l, KILLED(SIGKILL));
	for (int i = 0; i < 100; i++) {
		go_on(&l);
		CHECK_STR(job_of(&l), id_of(0));
		CHECK_INT(l.life.journal.launch_count, ==, 2);
		CHECK_STR(l.life.journal.launches[0].job_id, id_of(0));
		hold_start(&l);
	}
	start_empty(&l, no_trace); /* another start: it takes neither the id nor the place */
	CHECK_STR(job_of(&l), id_of(1));
	CHECK_INT(l.life.journal.launch_count, ==, 3);
	CHECK(l.life.journal.launches[0].started_unix_ms);
	/* what was held cannot go on; if it should all the same, it is a launch of its own */
	hold_start(&l);
	go_on(&l);
	CHECK_STR(job_of(&l), id_of(1));
	CHECK_INT(l.life.journal.launch_count, ==, 4);
	life_end(&l);
}

/* A journal from a backup has the first of two starts only: it must not take the second for it. */
TEST(a_start_that_is_held_keeps_its_number_for_the_same_start_only)
{
	struct life l;

	begin(&l, 200);
	start_empty(&l, no_trace);
	hold_start(&l);
	observed(&l, DECISION_START_FROM, "file:/sp/savepoint-1", 50, NULL);
	CHECK_STR(job_of(&l), id_of(1));
	hold_start(&l);
	observed(&l, DECISION_START_FROM, "file:/sp/savepoint-1", 50, "t1");
	CHECK_STR(job_of(&l), id_of(2));
	hold_start(&l);
	observed(&l, DECISION_START_FROM, "file:/sp/savepoint-1", 50, "t1");
	CHECK_STR(job_of(&l), id_of(2));
	CHECK_INT(l.life.journal.launch_count, ==, 3);
	life_end(&l);
}

TEST(an_id_that_has_left_a_trace_is_skipped)
{
	static const int64_t traces[] = {0, 1, 3, -1};
	struct life l;

	begin(&l, 200);
	journal_add_former_job(&l.life.journal, id_of(2));
	start_empty(&l, traces); /* the journal was lost: it counts from 0 */
	CHECK_STR(job_of(&l), id_of(4));
	CHECK_INT(l.life.journal.id_next, ==, 5);
	life_end(&l);
}

TEST(names_used_up_hold_and_name_the_way_out)
{
	static const int64_t traces[] = {0, 1, 2, -1};
	struct life l;

	begin(&l, 3);
	start_empty(&l, traces);
	CHECK_INT(took(&l, EFFECT_LAUNCH), ==, 0);
	CHECK_INT(l.life.phase, ==, PHASE_HOLDING);
	CHECK_HAS(l.life.reason, "all 3 job ids");
	CHECK_HAS(l.life.reason, "raise kubernetes.launches, or set another kubernetes.salt");
	/* more of them: it goes on behind the last one */
	l.config.id_count = 4;
	forget(&l);
	pass(&l, 60000);
	CHECK_INT(took(&l, EFFECT_OBSERVE), ==, 1);
	start_empty(&l, traces);
	CHECK_STR(job_of(&l), id_of(3));
	life_end(&l);
}

TEST(another_salt_counts_from_the_beginning)
{
	char id[JOB_ID_BYTES];
	struct life l;

	begin(&l, 1);
	start_empty(&l, no_trace);
	fail_start(&l);
	l.config.id_space = "shop/orders/2026";
	start_empty(&l, no_trace);
	job_id_name("shop/orders/2026", 0, id);
	CHECK_STR(job_of(&l), id);
	CHECK_INT(l.life.journal.id_next, ==, 1);
	life_end(&l);
}

TEST(without_a_space_ids_are_random)
{
	struct life l;

	life_begin(&l);
	hello(&l, NULL);
	start_empty(&l, no_trace);
	CHECK(strcmp(job_of(&l), id_of(0)) != 0);
	CHECK(!l.life.journal.id_space);
	life_end(&l);
}
