/*
 * The effects WRITE_JOURNAL and CHECK_JOURNAL, and the note of an agent that has lost the journal. The store and the
 * rest of the driver are played by this file.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/mem.h"
#include "run/driver_internal.h"
#include "run/handover/standing.h"
#include "run/part.h"
#include "store_dir.h"
#include "tap.h"

#define LIMIT_MS 20000

/* Where a journal is. */
struct journal_store {
	struct err fails; /* ERR_NONE: nothing does */
	int puts;
	atomic_int checks;
	int64_t sequence;
	char *text;
	int check; /* what a comparison finds: > 0: it is gone */
	int stops, frees, guards;
};

struct rig {
	struct driver driver; /* first: what is played gets this one */
	struct setup setup;
	struct journal_store application, shadow;
	int written, failed, seen, stopped; /* events, and the status; -1 = it was not stopped */
	struct event last;
	char error[256];
	bool freed;
};

static struct rig *the_rig; /* for what is played without a driver */

/* ---- what is played ---- */

struct journal_store *journal_store_open(const struct config *config, const struct setup_kube *kube)
{
	(void)config, (void)kube;
	return &the_rig->application;
}

struct journal_store *journal_store_open_shadow(const struct config *config,
						const struct setup_kube *kube, const char *map)
{
	(void)config, (void)kube;
	CHECK_STR(map, "orders-shadow");
	return &the_rig->shadow;
}

void journal_store_guard(struct journal_store *store, const struct setup_kube *kube)
{
	(void)kube;
	store->guards++;
}

void journal_store_free(struct journal_store *store)
{
	if (store)
		store->frees++;
}

void journal_store_stop(struct journal_store *store)
{
	store->stops++;
}

int journal_store_put(struct journal_store *store, const struct buf *text, int64_t sequence,
		      const char *writer, struct err *err)
{
	CHECK_STR(writer, the_rig->driver.writer);
	store->puts++;
	store->sequence = sequence;
	xstrset(&store->text, text->data);
	if (!store->fails.kind)
		return 0;
	*err = store->fails;
	return -1;
}

int journal_store_check(struct journal_store *store, const char *writer, struct err *err)
{
	CHECK_STR(writer, the_rig->driver.writer);
	store->checks++;
	if (!store->fails.kind)
		return store->check;
	*err = store->fails;
	return -1;
}

void standing_free(struct driver *driver)
{
	((struct rig *)driver)->freed = true;
}

void driver_stop(struct driver *driver, int status)
{
	((struct rig *)driver)->stopped = status;
}

void driver_step(struct driver *driver, const struct event *event)
{
	struct rig *rig = (struct rig *)driver;

	rig->last = *event;
	rig->written += event->type == EVENT_JOURNAL_WRITTEN;
	rig->failed += event->type == EVENT_JOURNAL_FAILED;
	rig->seen += event->type == EVENT_JOURNAL_SEEN;
	if (event->type == EVENT_JOURNAL_FAILED)
		snprintf(rig->error, sizeof(rig->error), "%s", event->journal.error);
}

/* ---- the world ---- */

static void rig_begin(struct rig *rig)
{
	struct journal journal;
	struct rng rng;

	memset(rig, 0, sizeof(*rig));
	the_rig = rig;
	rig->stopped = -1;
	rig->setup.config.state_directory = dir_new();
	rig->setup.config.application = (char *)"orders";
	rig->setup.kube.pod_name = (char *)"orders-7";
	rig->setup.kube.pod_uid = (char *)"u-7";
	rig->setup.handover.shadow = (char *)"orders-shadow";
	rig->driver.setup = &rig->setup;
	rig->driver.state_lock_fd = -1;
	rig->driver.loop = loop_new(NULL);
	rig->driver.workers = workers_new(rig->driver.loop, NULL);
	CHECK_INT(part_journal.open(&rig->driver, NULL), ==, 0);
	journal_init(&journal, "orders");
	rng_seed(&rng, 1);
	lifecycle_init(&rig->driver.life, &rig->setup.life, &journal, &rng);
	rig->driver.life.has_written = true; /* no newcomer */
	rig->driver.alive = true;
}

static void rig_end(struct rig *rig)
{
	part_journal.close(&rig->driver);
	CHECK_INT(rig->application.stops, ==, 1);
	CHECK_INT(rig->application.guards, ==, 1);
	CHECK_INT(rig->application.frees, ==, 1);
	CHECK_INT(rig->shadow.stops, ==, 1);
	CHECK_INT(rig->shadow.frees, ==, 1);
	CHECK(rig->freed);
	workers_free(rig->driver.workers);
	loop_free(rig->driver.loop);
	lifecycle_release(&rig->driver.life);
	dir_removep(&rig->setup.config.state_directory);
	free(rig->application.text);
	free(rig->shadow.text);
}

#define RIG_TEST(name) TEST_WITH(name, struct rig, rig, rig_begin, rig_end)

static void run_all(struct rig *rig)
{
	int64_t end_ms = clock_mono_ms() + LIMIT_MS;
	int before = rig->written + rig->failed + rig->seen;

	while (rig->written + rig->failed + rig->seen == before && rig->stopped < 0 &&
	       clock_mono_ms() < end_ms)
		loop_step(rig->driver.loop, 20, NULL);
}

static void asks_to_write(struct rig *rig, int64_t sequence)
{
	const struct effect effect = {.type = EFFECT_WRITE_JOURNAL, .sequence = sequence};

	part_journal.execute(&rig->driver, &effect);
}

static void asks_to_check(struct rig *rig)
{
	const struct effect effect = {.type = EFFECT_CHECK_JOURNAL};

	part_journal.execute(&rig->driver, &effect);
}

/* ---- writing ---- */

RIG_TEST(what_is_written_is_the_journal_as_it_was_when_that_was_decided)
{
	struct journal *journal = &rig->driver.life.journal;

	xstrset(&journal->phase, "Running");
	asks_to_write(rig, 7);
	xstrset(&journal->phase, "Later");
	run_all(rig);
	CHECK_INT(rig->written, ==, 1);
	CHECK_INT(rig->last.journal.sequence, ==, 7);
	CHECK_INT(rig->application.sequence, ==, 7);
	CHECK_HAS(rig->application.text, "Running");
	CHECK(!strstr(rig->application.text, "Later"));
	CHECK_INT(rig->shadow.puts, ==, 0);
}

RIG_TEST(the_job_in_the_shadow_writes_its_own_journal_and_no_other)
{
	rig->driver.life_config.handover.shadow = true;
	asks_to_write(rig, 7);
	run_all(rig);
	asks_to_check(rig);
	run_all(rig);
	CHECK_INT(rig->shadow.puts, ==, 1);
	CHECK_INT(rig->shadow.checks, ==, 1);
	CHECK_INT(rig->application.puts, ==, 0);
	CHECK_INT(rig->application.checks, ==, 0);
}

RIG_TEST(a_write_that_fails_is_told_with_its_number)
{
	static const struct {
		enum err_kind kind;
		bool conflict;
	} cases[] = {
		{ERR_BUSY, true},    {ERR_RETRY, false},  {ERR_DENIED, false},
		{ERR_FORMAT, false}, {ERR_CONFIG, false}, {ERR_ABSENT, false},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		err_set(&rig->application.fails, cases[i].kind, 0, "the reason");
		asks_to_write(rig, 7 + (int64_t)i);
		run_all(rig);
		CHECK_INT(rig->failed, ==, i + 1);
		CHECK_INT(rig->last.journal.sequence, ==, 7 + (int64_t)i);
		CHECK_INT(rig->last.journal.conflict, ==, cases[i].conflict);
		CHECK_STR(rig->error, "the reason");
	}
	CHECK_INT(rig->written, ==, 0);
	CHECK_INT(rig->stopped, ==, -1);
}

/* It has nothing to lose by reading the journal again; only that conflict ends it. */
RIG_TEST(an_agent_that_has_written_nothing_yet_reads_again_what_another_one_has_written)
{
	rig->driver.life.has_written = false;
	err_set(&rig->application.fails, ERR_RETRY, 0, "no route");
	asks_to_write(rig, 7);
	run_all(rig);
	CHECK_INT(rig->failed, ==, 1);
	CHECK_INT(rig->stopped, ==, -1);
	err_set(&rig->application.fails, ERR_BUSY, 0, "another one has written");
	asks_to_write(rig, 7);
	run_all(rig);
	CHECK_INT(rig->failed, ==, 1); /* it is no event */
	CHECK_INT(rig->stopped, ==, 1);
}

/* ---- comparing ---- */

RIG_TEST(what_a_comparison_finds)
{
	static const struct {
		int check;
		enum err_kind kind;
		bool in_flight, broken; /* a write that says so itself; it is known */
		int seen, failed;
		bool lost, unknown, conflict;
	} cases[] = {
		{.seen = 1},
		{.check = 1, .seen = 1, .lost = true},
		{.kind = ERR_RETRY, .seen = 1, .unknown = true},
		{.kind = ERR_DENIED, .seen = 1, .unknown = true},
		{.kind = ERR_BUSY, .failed = 1, .conflict = true},
		{.kind = ERR_BUSY, .in_flight = true, .failed = 1, .conflict = true},
		{.kind = ERR_FORMAT, .seen = 1, .failed = 1, .unknown = true},
		{.kind = ERR_FORMAT, .in_flight = true, .seen = 1, .unknown = true},
		{.kind = ERR_FORMAT, .broken = true, .seen = 1, .unknown = true},
		{.kind = ERR_CONFIG, .seen = 1, .failed = 1, .unknown = true},
	};
	struct lifecycle *life = &rig->driver.life;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		rig->seen = rig->failed = 0;
		rig->application.check = cases[i].check;
		rig->application.fails = (struct err){.kind = cases[i].kind, .msg = "the reason"};
		life->requested = life->acknowledged + cases[i].in_flight;
		life->journal_broken = cases[i].broken;
		asks_to_check(rig);
		run_all(rig);
		if (!CHECK_INT(rig->seen, ==, cases[i].seen) ||
		    !CHECK_INT(rig->failed, ==, cases[i].failed))
			tap_note("case %zu", i);
		if (cases[i].failed) {
			CHECK_INT(rig->last.journal.conflict, ==, cases[i].conflict);
			CHECK_INT(rig->last.journal.sequence, ==, life->requested);
		} else {
			CHECK_INT(rig->last.journal.lost, ==, cases[i].lost);
			CHECK_INT(rig->last.journal.unknown, ==, cases[i].unknown);
		}
	}
	CHECK_INT(rig->application.puts, ==, 0);
}

RIG_TEST(one_comparison_at_a_time)
{
	asks_to_check(rig);
	asks_to_check(rig);
	run_all(rig);
	CHECK_INT(rig->application.checks, ==, 1);
	asks_to_check(rig);
	run_all(rig);
	CHECK_INT(rig->application.checks, ==, 2);
}

RIG_TEST(what_is_found_while_drey_ends_says_nothing)
{
	asks_to_check(rig);
	rig->driver.closing = true;
	for (int i = 0; i < 2000 && !rig->application.checks; i++)
		usleep(10000);
	CHECK(lane_free(rig->driver.journal_lane, 5000));
	rig->driver.journal_lane = NULL;
	CHECK_INT(rig->seen + rig->failed, ==, 0);
}

/* ---- who writes ---- */

RIG_TEST(a_writer_is_the_pod_and_this_process)
{
	struct rig other;

	CHECK_INT(strncmp(rig->driver.writer, "orders-7/u-7/", 13), ==, 0);
	rig_begin(&other);
	CHECK(strcmp(rig->driver.writer, other.driver.writer) != 0);
	rig_end(&other);
	the_rig = rig;
}

RIG_TEST(a_second_agent_does_not_get_the_state_directory)
{
	struct driver second = {.setup = &rig->setup, .state_lock_fd = -1};
	struct err err = {0};

	second.workers = rig->driver.workers;
	CHECK_INT(part_journal.open(&second, &err), ==, -1);
	CHECK_INT(err.kind, !=, ERR_NONE);
	CHECK(!second.store && !second.writer);
}

/* ---- the fence ---- */

static char *note_of(const struct rig *rig)
{
	return xasprintf("%s/fenced", rig->setup.config.state_directory);
}

static void wait_for(struct rig *rig, const char *path)
{
	int64_t end_ms = clock_mono_ms() + LIMIT_MS;

	while (access(path, F_OK) < 0 && clock_mono_ms() < end_ms)
		loop_step(rig->driver.loop, 20, NULL);
	CHECK_INT(access(path, F_OK), ==, 0);
}

RIG_TEST(that_an_agent_is_fenced_is_known_to_the_next_one_in_this_container)
{
	cleanup_free char *path = note_of(rig);

	part_journal.stepped(&rig->driver);
	CHECK(!driver_fence_was_noted(&rig->driver));
	CHECK(!rig->driver.fence_noted);
	rig->driver.life.fenced = true;
	part_journal.stepped(&rig->driver);
	wait_for(rig, path);
	CHECK(driver_fence_was_noted(&rig->driver));
	/* once */
	CHECK_INT(unlink(path), ==, 0);
	part_journal.stepped(&rig->driver);
	CHECK(lane_free(rig->driver.journal_lane, 5000));
	rig->driver.journal_lane = NULL;
	CHECK(access(path, F_OK) < 0);
}

RIG_TEST(the_note_of_another_container_does_not_fence_this_one)
{
	static const char *const notes[] = {"", "00000000-0000-0000-0000-000000000000 1 5",
					    "a note that was cut"};
	cleanup_free char *path = note_of(rig);

	for (size_t i = 0; i < ARRAY_LEN(notes); i++) {
		CHECK_INT(fs_write_atomic(path, notes[i], strlen(notes[i]), 0600, NULL), ==, 0);
		CHECK(!driver_fence_was_noted(&rig->driver));
	}
}
