#include "core/job_id.h"
#include "core/journal/journal_copy.h"
#include "core/journal/journal_fields.h"

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

/* The number of the current launch; -1 = its id is none of these. */
static int64_t number_of(struct life *l)
{
	for (int64_t n = 0; n < l->config.id_count; n++)
		if (!strcmp(job_of(l), id_of(n)))
			return n;
	return -1;
}

static void begin_with(struct life *l, int64_t count, uint64_t seed)
{
	life_begin(l);
	rng_seed(&l->life.rng, seed);
	l->config.id_space = SPACE;
	l->config.id_count = count;
	hello(l, NULL);
}

static void begin(struct life *l, int64_t count)
{
	begin_with(l, count, 7);
}

/* One start without state. */
static void start_on(struct life *l, struct facts *facts)
{
	struct decision decision = {.kind = DECISION_START_EMPTY, .rule = 8};
	struct event event = {.type = EVENT_OBSERVED,
			      .observed = {.facts = facts, .decision = &decision}};

	step(l, &event);
	facts_release(facts);
}

/* The facts have a trace of these numbers, ending with -1. */
static void start_empty(struct life *l, const int64_t *traces)
{
	struct facts facts = {0};

	for (; *traces >= 0; traces++)
		facts_add_job(&facts, id_of(*traces));
	start_on(l, &facts);
}

/* All but these numbers have left a trace, and everything was read. */
static void start_among(struct life *l, int64_t first, int64_t last)
{
	struct facts facts = {.names_read = true};

	for (int64_t n = 0; n < l->config.id_count; n++)
		if (n < first || n > last)
			facts_add_job(&facts, id_of(n));
	start_on(l, &facts);
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

/* The journal of an application that has lost it, and of one that has not, must not count from the same
 * number, nor one after another. */
TEST(numbers_are_drawn_at_random)
{
	int64_t first[8], in_order = 0;
	struct life l;

	for (uint64_t seed = 0; seed < ARRAY_LEN(first); seed++) {
		begin_with(&l, 200, seed + 1);
		start_empty(&l, no_trace);
		CHECK_INT(took(&l, EFFECT_LAUNCH), ==, 1);
		first[seed] = number_of(&l);
		CHECK_INT(first[seed], >=, 0);
		CHECK_STR(l.life.journal.id_space, SPACE);
		fail_start(&l);
		start_empty(&l, no_trace);
		in_order += number_of(&l) == first[seed] + 1;
		CHECK_INT(number_of(&l), !=, first[seed]);
		life_end(&l);
	}
	for (size_t i = 1; i < ARRAY_LEN(first); i++)
		CHECK_INT(first[i], !=, first[0]);
	CHECK_INT(in_order, <, 3);
}

/* A journal from a backup knows which HA map to look at. */
TEST(the_number_of_the_next_launch_is_on_record)
{
	struct life l;

	begin(&l, 200);
	start_empty(&l, no_trace);
	for (int i = 0; i < 20; i++) {
		int64_t next = l.life.journal.id_next;

		fail_start(&l);
		l.life.journal.failure_count = 0;
		start_empty(&l, no_trace);
		CHECK_INT(number_of(&l), ==, next);
	}
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
	int64_t trace[] = {-1, -1}, second;
	struct life l;

	begin(&l, 200);
	for (int64_t number = 1; number < 300; number++) {
		start_empty(&l, no_trace);
		if (number == 1)
			trace[0] = number_of(&l);
		CHECK_INT(number_of(&l), ==, trace[0]);
		CHECK_INT(journal_launch(&l.life.journal)->number, ==, number);
		CHECK_INT(l.life.journal.launch_count, ==, 1);
		CHECK(!journal_launch(&l.life.journal)->ended_unix_ms);
		hold_start(&l);
	}
	start_empty(&l, trace); /* somebody else has it now */
	second = number_of(&l);
	CHECK_INT(second, !=, trace[0]);
	CHECK_INT(l.life.journal.launch_count, ==, 1);
	fail_start(&l); /* drey-init had it */
	start_empty(&l, trace);
	CHECK_INT(number_of(&l), !=, second);
	CHECK_INT(number_of(&l), !=, trace[0]);
	CHECK_INT(l.life.journal.launch_count, ==, 2);
	life_end(&l);
}

/* The first launch of an application, of which the copy is in storage. */
static int64_t start_copied(struct life *l, struct journal_copy **ret_copy)
{
	begin(l, 200);
	start_empty(l, no_trace);
	*ret_copy = xcalloc(1, sizeof(**ret_copy));
	record_copy(&journal_table, &l->life.journal, &(*ret_copy)->journal);
	return number_of(l);
}

static void start_beside(struct life *l, struct journal_copy *copy)
{
	struct facts facts = {0};

	hold_start(l);
	facts_take_copy(&facts, copy, journal_launch(&l->life.journal)->launch_id);
	start_on(l, &facts);
}

/* It is held by then, and no journal was lost. */
TEST(a_start_that_is_held_keeps_its_number_though_the_copy_has_it)
{
	struct journal_copy *copy;
	struct life l;
	int64_t number = start_copied(&l, &copy);

	for (int i = 0; i < 3; i++) {
		hold_start(&l);
		start_empty(&l, no_trace);
	}
	start_beside(&l, copy);
	CHECK_INT(number_of(&l), ==, number);
	life_end(&l);
}

/* What the copy has of any other launch is a trace. */
TEST(the_number_of_a_launch_that_only_the_copy_has_is_used)
{
	for (int by_job = 0; by_job < 2; by_job++) {
		struct journal_copy *copy;
		struct life l;
		int64_t number = start_copied(&l, &copy);

		if (by_job) {
			journal_add_former_job(&copy->journal, copy->journal.launches[0].job_id);
			journal_launch(&copy->journal)->job_id[0] ^= 1;
		} else {
			copy->journal.launches[0].launch_id[0] ^= 1;
		}
		start_beside(&l, copy);
		CHECK_INT(number_of(&l), !=, number);
		life_end(&l);
	}
}

TEST(a_start_that_is_withdrawn_keeps_its_number)
{
	char before[JOB_ID_BYTES];
	struct life l;

	begin(&l, 200);
	l.hold_writes = true;
	start_empty(&l, no_trace);
	snprintf(before, JOB_ID_BYTES, "%s", job_of(&l));
	do_not_restart(&l, true);
	l.hold_writes = false;
	written(&l);
	CHECK_NOTHING(&l, EFFECT_LAUNCH);
	CHECK_PHASE(&l, PHASE_HOLDING);
	forget(&l);
	do_not_restart(&l, false);
	CHECK_INT(took(&l, EFFECT_OBSERVE), ==, 1);
	start_empty(&l, no_trace);
	CHECK_STR(job_of(&l), before);
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
	char first[JOB_ID_BYTES], second[JOB_ID_BYTES];
	struct life l;

	begin(&l, 200);
	start_empty(&l, no_trace);
	snprintf(first, JOB_ID_BYTES, "%s", job_of(&l));
	started(&l);
	exited(&l, KILLED(SIGKILL));
	for (int i = 0; i < 100; i++) {
		go_on(&l);
		CHECK_STR(job_of(&l), first);
		CHECK_INT(l.life.journal.launch_count, ==, 2);
		CHECK_STR(l.life.journal.launches[0].job_id, first);
		hold_start(&l);
	}
	start_empty(&l, no_trace); /* another start: it takes neither the id nor the place */
	snprintf(second, JOB_ID_BYTES, "%s", job_of(&l));
	CHECK(strcmp(second, first) != 0);
	CHECK_INT(l.life.journal.launch_count, ==, 3);
	CHECK(l.life.journal.launches[0].started_unix_ms);
	/* what was held cannot go on; if it should all the same, it is a launch of its own */
	hold_start(&l);
	go_on(&l);
	CHECK_STR(job_of(&l), second);
	CHECK_INT(l.life.journal.launch_count, ==, 4);
	life_end(&l);
}

/* A journal from a backup has the first of two starts only: it must not take the second for it. */
TEST(a_start_that_is_held_keeps_its_number_for_the_same_start_only)
{
	char ids[3][JOB_ID_BYTES];
	struct life l;

	begin(&l, 200);
	start_empty(&l, no_trace);
	snprintf(ids[0], JOB_ID_BYTES, "%s", job_of(&l));
	hold_start(&l);
	observed(&l, DECISION_START_FROM, "file:/sp/savepoint-1", 50, NULL);
	snprintf(ids[1], JOB_ID_BYTES, "%s", job_of(&l));
	hold_start(&l);
	observed(&l, DECISION_START_FROM, "file:/sp/savepoint-1", 50, "t1");
	snprintf(ids[2], JOB_ID_BYTES, "%s", job_of(&l));
	CHECK(strcmp(ids[0], ids[1]) != 0 && strcmp(ids[1], ids[2]) != 0 &&
	      strcmp(ids[0], ids[2]) != 0);
	hold_start(&l);
	observed(&l, DECISION_START_FROM, "file:/sp/savepoint-1", 50, "t1");
	CHECK_STR(job_of(&l), ids[2]);
	CHECK_INT(l.life.journal.launch_count, ==, 3);
	life_end(&l);
}

/* Also of a journal that was lost: it knows none of them. */
TEST(an_id_that_has_left_a_trace_is_never_drawn)
{
	struct life l;

	for (uint64_t seed = 1; seed < 40; seed++) {
		begin_with(&l, 10, seed);
		journal_add_former_job(&l.life.journal, id_of(4));
		start_empty(&l, (const int64_t[]){0, 1, 2, 3, 6, 8, 9, -1});
		CHECK(number_of(&l) == 5 || number_of(&l) == 7);
		life_end(&l);
	}
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
	CHECK_HAS(l.life.reason, "`drey gc`, or raise kubernetes.launches, or set another "
				 "kubernetes.salt");
	/* one more of them */
	l.config.id_count = 4;
	forget(&l);
	pass(&l, 60000);
	CHECK_INT(took(&l, EFFECT_OBSERVE), ==, 1);
	start_empty(&l, traces);
	CHECK_STR(job_of(&l), id_of(3));
	life_end(&l);
}

/* Flink's HA is read, as far as run/ha reads it. */
static void start_with_maps(struct life *l, const int64_t *traces)
{
	struct facts facts = {0};

	facts_set_source(&facts, SOURCE_HA, SOURCE_ABSENT, NULL);
	for (; *traces >= 0; traces++)
		facts_add_job(&facts, id_of(*traces));
	start_on(l, &facts);
}

/* A journal from a backup does not know that it was used, and its map may be all that is left of that launch. */
TEST(an_id_whose_ha_map_was_not_read_is_not_drawn)
{
	struct life l;

	begin(&l, 200);
	xstrset(&l.life.journal.id_space, SPACE);
	journal_add_former_job(&l.life.journal, id_of(3));
	l.life.journal.id_next = 10;
	start_with_maps(&l, (const int64_t[]){10, 11, -1});
	CHECK_NOTHING(&l, EFFECT_LAUNCH);
	CHECK_PHASE(&l, PHASE_RESOLVING);
	CHECK_HAS(l.life.reason, "the HA maps of all of them are read first");
	CHECK(!l.life.journal.id_space); /* so all are read (test_ha_read.c) */
	forget(&l);
	pass(&l, l.config.hold_retry_first_ms);
	CHECK_INT(took(&l, EFFECT_OBSERVE), ==, 1);
	start_with_maps(&l, (const int64_t[]){10, 11, 12, -1});
	CHECK_PHASE(&l, PHASE_LAUNCHING);
	CHECK_INT(number_of(&l), >, -1);
	life_end(&l);
}

/* Some launches later the maps of the two that were next in the backup tell nothing: any may have the newest state. */
TEST(a_trace_that_the_journal_does_not_know_makes_drey_read_all_maps_once)
{
	struct life l;

	begin(&l, 200);
	xstrset(&l.life.journal.id_space, SPACE);
	journal_add_former_job(&l.life.journal, id_of(3));
	l.life.journal.id_next = 10;
	start_with_maps(&l, (const int64_t[]){3, 77, -1});
	CHECK_NOTHING(&l, EFFECT_LAUNCH);
	CHECK_PHASE(&l, PHASE_RESOLVING);
	CHECK(!l.life.journal.id_space);
	forget(&l);
	pass(&l, 1);
	CHECK_INT(took(&l, EFFECT_OBSERVE), ==, 1);
	start_with_maps(&l, (const int64_t[]){3, 77, -1});
	CHECK_PHASE(&l, PHASE_LAUNCHING);
	CHECK_STR(l.life.journal.id_space, SPACE);
	/* a journal that was read once is not replaced by a backup without a word (lifecycle_fence.c) */
	fail_start(&l);
	start_with_maps(&l, (const int64_t[]){3, 77, 78, -1});
	CHECK_PHASE(&l, PHASE_LAUNCHING);
	life_end(&l);
}

TEST(one_that_it_knows_does_not)
{
	struct life l;

	begin(&l, 200);
	xstrset(&l.life.journal.id_space, SPACE);
	journal_add_former_job(&l.life.journal, id_of(3));
	start_with_maps(&l, (const int64_t[]){3, -1});
	CHECK_PHASE(&l, PHASE_LAUNCHING);
	life_end(&l);
}

/* A request overrides sources that cannot be read, but gives the job no name that may have been used. */
TEST(an_id_whose_traces_were_not_read_is_not_drawn)
{
	static const struct {
		enum source_kind kind;
		bool ha_unread, numbered;
		enum cause cause; /* NONE: it is started */
	} rows[] = {
		{SOURCE_HA, true, true, CAUSE_HA_UNREADABLE},
		{SOURCE_CHECKPOINTS, false, true, CAUSE_STORAGE_UNREADABLE},
		{SOURCE_SAVEPOINTS, false, true, CAUSE_STORAGE_UNREADABLE},
		/* the maps were read: one of another cluster id was not, or a value cannot be decoded */
		{SOURCE_HA, false, true, CAUSE_NONE},
		/* what is not configured any more may be lost for good */
		{SOURCE_LINEAGE, false, true, CAUSE_NONE},
		{SOURCE_RESULTS, false, true, CAUSE_NONE},
		{SOURCE_HA, true, false, CAUSE_NONE},
		{SOURCE_CHECKPOINTS, false, false, CAUSE_NONE},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct facts facts = {.ha_unread = rows[i].ha_unread};
		struct life l;

		begin(&l, 200);
		if (!rows[i].numbered)
			l.config.id_space = NULL;
		facts_set_source(&facts, rows[i].kind, SOURCE_UNREADABLE, "403");
		start_on(&l, &facts);
		if (!CHECK_INT(l.life.cause, ==, rows[i].cause) ||
		    !CHECK_INT(took(&l, EFFECT_LAUNCH), ==, rows[i].cause == CAUSE_NONE))
			tap_note("row %zu", i);
		if (rows[i].cause) {
			CHECK_HAS(l.life.reason, "no job id is certain to be unused");
			CHECK(!l.life.journal.launch_count);
		}
		life_end(&l);
	}
}

TEST(ids_that_are_all_used_are_not_looked_at_for_ever)
{
	struct life l;

	begin(&l, 3);
	xstrset(&l.life.journal.id_space, SPACE);
	journal_add_former_job(&l.life.journal, id_of(2));
	start_with_maps(&l, (const int64_t[]){0, 1, 2, -1});
	CHECK_PHASE(&l, PHASE_HOLDING);
	CHECK_INT(l.life.cause, ==, CAUSE_JOB_IDS_USED_UP);
	life_end(&l);
}

/* ---- names come back ---- */

static void add_former(struct life *l, int64_t first, int64_t last)
{
	for (int64_t n = first; n <= last; n++)
		journal_add_former_job(&l->life.journal, id_of(n));
}

TEST(an_id_of_which_nothing_is_left_is_drawn_again)
{
	struct life l;

	begin(&l, 200);
	add_former(&l, 0, 199);
	start_among(&l, 17, 17);
	CHECK_STR(job_of(&l), id_of(17));
	CHECK_INT(l.life.journal.former_job_count, ==, 199);
	CHECK(journal_is_former_job(&l.life.journal, id_of(18)));
	life_end(&l);
}

/* 300 launches, of which the last ten have left something each time. */
TEST(a_thousand_launches_do_not_use_up_two_hundred_names)
{
	struct life l;

	begin(&l, 200);
	l.config.max_attempts = 100000;
	for (int i = 0; i < 1000 && CHECK_INT(took(&l, EFFECT_LAUNCH), ==, 0); i++) {
		struct facts facts = {.names_read = true};
		struct journal *journal = &l.life.journal;
		size_t count = journal->launch_count;

		for (size_t k = count < 10 ? 0 : count - 10; k < count; k++)
			facts_add_job(&facts, journal->launches[k].job_id);
		start_on(&l, &facts);
		if (!CHECK_PHASE(&l, PHASE_LAUNCHING))
			break;
		fail_start(&l);
	}
	life_end(&l);
}

TEST(names_come_back_only_when_everything_was_read)
{
	struct life l;

	for (int read = 0; read < 2; read++) {
		struct facts facts = {.names_read = read};

		begin(&l, 3);
		add_former(&l, 0, 2);
		start_on(&l, &facts);
		CHECK_INT(took(&l, EFFECT_LAUNCH), ==, read);
		life_end(&l);
	}
}

/* What is left there is not seen. */
TEST(names_do_not_come_back_while_the_directories_were_others)
{
	struct life l;

	begin(&l, 3);
	start_among(&l, 0, 2);
	add_former(&l, 0, 2);
	fail_start(&l);
	l.config.listed_checkpoint_dir = "file:/elsewhere";
	start_among(&l, 0, 2);
	CHECK_NOTHING(&l, EFFECT_LAUNCH);
	CHECK_PHASE(&l, PHASE_HOLDING);
	life_end(&l);
}

TEST(what_a_hand_over_has_set_aside_is_not_drawn)
{
	struct life l;

	for (uint64_t seed = 1; seed < 40; seed++) {
		begin_with(&l, 3, seed);
		snprintf(l.life.journal.handover.job_id, JOB_ID_BYTES, "%s", id_of(1));
		start_empty(&l, (const int64_t[]){0, -1});
		CHECK_STR(job_of(&l), id_of(2));
		life_end(&l);
	}
}

/* The candidate's job runs beside the owner's, which draws at the same time. */
TEST(a_job_in_the_shadow_draws_only_what_was_set_aside_for_it)
{
	struct life l;

	for (uint64_t seed = 1; seed < 40; seed++) {
		struct transition *transition = &l.life.journal.handover.transition;

		begin_with(&l, 200, seed);
		l.config.handover.shadow = true;
		xstrset(&l.life.journal.id_space, SPACE);
		l.life.journal.id_next = transition->first_number = 60;
		transition->numbers = 2;
		start_empty(&l, no_trace);
		CHECK_STR(job_of(&l), id_of(60));
		journal_add_former_job(&l.life.journal, id_of(60));
		fail_start(&l);
		start_empty(&l, no_trace);
		CHECK_STR(job_of(&l), id_of(61));
		fail_start(&l);
		start_empty(&l, no_trace);
		CHECK_PHASE(&l, PHASE_HOLDING);
		life_end(&l);
	}
}

TEST(another_salt_begins_anew)
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
	CHECK_STR(l.life.journal.id_space, "shop/orders/2026");
	life_end(&l);
}

/* ---- the result store ---- */

TEST(the_result_store_is_called_by_a_random_launch_id)
{
	struct life l;
	const struct launch *launch;
	char first[JOB_ID_BYTES];

	begin(&l, 200);
	start_empty(&l, no_trace);
	launch = journal_launch(&l.life.journal);
	memcpy(first, launch->launch_id, sizeof(first));
	CHECK_INT(strlen(first), ==, JOB_ID_BYTES - 1);
	CHECK(strcmp(first, launch->job_id) != 0);
	CHECK_HAS(launch->job_result_path, first);
	CHECK(!strstr(launch->job_result_path, launch->job_id));
	fail_start(&l);
	start_empty(&l, no_trace);
	launch = journal_launch(&l.life.journal);
	CHECK(strcmp(launch->launch_id, first) != 0);
	CHECK_HAS(launch->job_result_path, launch->launch_id);
	started(&l); /* what continues has the same, to Flink it is the same launch */
	exited(&l, KILLED(SIGKILL));
	go_on(&l);
	launch = journal_launch(&l.life.journal);
	CHECK_STR(launch->launch_id, (launch - 1)->launch_id);
	CHECK_STR(launch->job_result_path, (launch - 1)->job_result_path);
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
