/*
 * The command line of the last JVM: when it is read, when a launch waits for what it was derived from, and when it is
 * used instead of Flink's scripts. The JVM, its files and the driver are played by this file.
 */
#include "run/effects/relaunch.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "flink/jvm_process.h"
#include "flink/jvm_read.h"
#include "gate_fake.h"
#include "run/driver_internal.h"
#include "run/effects/launch_build.h"
#include "run/part.h"
#include "tap.h"

#define LIMIT_MS 20000

struct rig {
	struct driver driver; /* first: what is played gets this one */
	struct setup setup;
	char *command[3];
	/* the JVM, and what it was derived from */
	bool unreadable, lost;
	const char *made_of, *now;
	atomic_int reads, compares;
	atomic_bool hangs;
	int forked, joins, agains;
};

static struct rig *the_rig; /* for what is played without a driver */

/* ---- what is played ---- */

int launch_build(const struct setup *setup, const struct launch *launch,
		 struct flink_exec *ret_exec, struct launch_jvm *ret_jvm, struct err *err)
{
	(void)setup, (void)launch, (void)err;
	CHECK(!ret_jvm);
	memset(ret_exec, 0, sizeof(*ret_exec));
	return 0;
}

int jvm_process_forked(int pid, int64_t *ret_unix_ms, struct err *err)
{
	(void)err;
	CHECK_INT(pid, ==, getppid());
	*ret_unix_ms = 5;
	the_rig->forked++;
	return 0;
}

int jvm_read(const struct jvm_launch *launch, struct jvm_origin *ret_origin, struct err *err)
{
	CHECK_INT(launch->pid, ==, 77);
	the_rig->reads++;
	if (the_rig->unreadable)
		return err_set(err, ERR_FORMAT, 0, "a file has changed");
	memset(ret_origin, 0, sizeof(*ret_origin));
	snprintf(ret_origin->fingerprint, sizeof(ret_origin->fingerprint), "%s", the_rig->made_of);
	return 0;
}

int jvm_fingerprint(const struct jvm_origin *origin, const struct flink_exec *shape,
		    char ret_fingerprint[SHA256_HEX_BYTES], struct err *err)
{
	(void)origin, (void)shape;
	the_rig->compares++;
	while (the_rig->hangs)
		usleep(1000);
	if (the_rig->lost)
		return err_set(err, ERR_ABSENT, 0, "a file is gone");
	snprintf(ret_fingerprint, SHA256_HEX_BYTES, "%s", the_rig->now);
	return 0;
}

void jvm_origin_release(struct jvm_origin *origin)
{
	memset(origin, 0, sizeof(*origin));
}

void jvm_line_join(const struct jvm_line *line, const struct flink_exec *ordinary,
		   struct flink_exec *ret_exec)
{
	(void)line, (void)ordinary;
	the_rig->joins++;
	memset(ret_exec, 0, sizeof(*ret_exec));
}

void driver_again(struct driver *driver)
{
	((struct rig *)driver)->agains++;
}

/* ---- the world ---- */

static void rig_begin(struct rig *rig)
{
	struct journal *journal = &rig->driver.life.journal;
	struct launch *launch;

	memset(rig, 0, sizeof(*rig));
	the_rig = rig;
	rig->made_of = rig->now = "f1";
	rig->command[0] = (char *)"docker-entrypoint.sh";
	rig->command[1] = (char *)"standalone-job";
	rig->setup.config.flink.command = rig->command;
	rig->setup.config.flink.relaunch = RELAUNCH_BY_LINE;
	rig->driver.setup = &rig->setup;
	rig->driver.loop = loop_new(NULL);
	rig->driver.workers = workers_new(rig->driver.loop, NULL);
	journal_init(journal, "orders");
	launch = journal_add_launch(journal);
	launch->number = 1;
	rig->driver.alive = true;
	rig->driver.flink_is_ours = true;
	rig->driver.flink_pid = 77;
	rig->driver.life.phase = PHASE_RUNNING;
	rig->driver.life.launch_step = LAUNCH_LIVE;
	CHECK_INT(part_relaunch.open(&rig->driver, NULL), ==, 0);
}

static void rig_end(struct rig *rig)
{
	part_relaunch.close(&rig->driver);
	CHECK(!rig->driver.relauncher);
	workers_free(rig->driver.workers);
	loop_free(rig->driver.loop);
	journal_release(&rig->driver.life.journal);
}

#define RIG_TEST(name) TEST_WITH(name, struct rig, rig, rig_begin, rig_end)

static void run_until_again(struct rig *rig)
{
	int64_t end_ms = clock_mono_ms() + LIMIT_MS;

	while (!rig->agains && clock_mono_ms() < end_ms)
		loop_step(rig->driver.loop, 10, NULL);
	CHECK_INT(rig->agains, >=, 1);
	rig->agains = 0;
}

/* The job runs, and its line is read. */
static void learns(struct rig *rig)
{
	part_relaunch.stepped(&rig->driver);
	run_until_again(rig);
	CHECK_INT(rig->reads, ==, 1);
}

static enum gate_verdict may(struct rig *rig, int64_t number)
{
	struct gate gate = {.number = number};

	return part_relaunch.may(&rig->driver, GATE_LAUNCH, &gate);
}

static bool is_direct(struct rig *rig)
{
	struct flink_exec exec = {0};
	bool direct = driver_relaunch(&rig->driver, &exec);

	CHECK_INT(rig->joins, ==, direct);
	rig->joins = 0;
	flink_exec_release(&exec);
	return direct;
}

/* ---- reading ---- */

static void not_alive(struct rig *rig)
{
	rig->driver.alive = false;
}

static void not_running(struct rig *rig)
{
	rig->driver.life.phase = PHASE_LAUNCHING;
}

static void no_process(struct rig *rig)
{
	rig->driver.life.launch_step = LAUNCH_STARTING;
}

static void no_pid(struct rig *rig)
{
	rig->driver.flink_pid = 0;
}

/* Its line would wait for a word to go that is there. */
static void was_held(struct rig *rig)
{
	journal_launch(&rig->driver.life.journal)->held = true;
}

static void by_a_line(struct rig *rig)
{
	driver_relaunch_begins(&rig->driver, true);
}

static void not_configured(struct rig *rig)
{
	rig->setup.config.flink.relaunch = RELAUNCH_BY_SCRIPTS;
}

static void own_script(struct rig *rig)
{
	rig->command[0] = (char *)"/opt/mine.sh";
}

RIG_TEST(a_line_is_read_once_for_a_jvm_that_runs_the_job)
{
	static void (*const ways[])(struct rig *) = {not_alive,      not_running, no_process,
						     no_pid,         was_held,    by_a_line,
						     not_configured, own_script};

	for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
		struct rig one;

		rig_begin(&one);
		ways[i](&one);
		part_relaunch.stepped(&one.driver);
		for (int j = 0; j < 3; j++)
			loop_step(one.driver.loop, 10, NULL);
		CHECK_INT(one.reads, ==, 0);
		rig_end(&one);
	}
	the_rig = rig;
	learns(rig);
	CHECK(rig->driver.jvm.looked && rig->driver.jvm.line);
	CHECK_STR(rig->driver.jvm.fingerprint, "f1");
	CHECK_INT(rig->forked, ==, 0);
	part_relaunch.stepped(&rig->driver);
	for (int i = 0; i < 3; i++)
		loop_step(rig->driver.loop, 10, NULL);
	CHECK_INT(rig->reads, ==, 1);
}

RIG_TEST(a_jvm_of_an_earlier_agent_is_compared_with_when_drey_init_began)
{
	rig->driver.flink_is_ours = false;
	learns(rig);
	CHECK_INT(rig->forked, ==, 1);
}

RIG_TEST(a_line_that_cannot_be_read_is_not_used)
{
	rig->unreadable = true;
	learns(rig);
	CHECK(rig->driver.jvm.looked && !rig->driver.jvm.line);
	CHECK_INT(may(rig, 5), ==, GATE_PASSES);
	CHECK(!is_direct(rig));
}

/* ---- before a launch ---- */

RIG_TEST(a_launch_is_by_the_line_only_if_all_is_as_it_was)
{
	static const struct {
		const char *now;
		bool lost, direct;
	} cases[] = {{"f1", false, true}, {"f2", false, false}, {"f1", true, false}};
	int64_t number = 4;

	CHECK_INT(may(rig, number), ==, GATE_PASSES); /* no line is known yet */
	CHECK(!is_direct(rig));
	learns(rig);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		bool direct = false;

		rig->now = cases[i].now;
		rig->lost = cases[i].lost;
		/* on a slow machine the patience may end first */
		for (int tries = 0; tries < (cases[i].direct ? 100 : 3) && !direct; tries++) {
			CHECK_INT(may(rig, ++number), ==, GATE_NOT_YET);
			CHECK(!is_direct(rig)); /* it is not known yet */
			run_until_again(rig);
			CHECK_INT(may(rig, number), ==, GATE_PASSES);
			direct = is_direct(rig);
		}
		CHECK_INT(direct, ==, cases[i].direct);
	}
	CHECK_INT(rig->compares, >=, 3);
}

/* A disk that hangs must not delay a start. */
RIG_TEST(a_launch_does_not_wait_for_long_and_a_late_answer_does_not_count)
{
	int64_t began_ms;

	learns(rig);
	rig->hangs = true;
	began_ms = clock_mono_ms();
	CHECK_INT(may(rig, 5), ==, GATE_NOT_YET);
	run_until_again(rig);
	CHECK_INT(clock_mono_ms() - began_ms, >=, 45);
	CHECK_INT(may(rig, 5), ==, GATE_PASSES);
	CHECK(!is_direct(rig));
	rig->hangs = false;
	for (int i = 0; i < 10; i++)
		loop_step(rig->driver.loop, 10, NULL);
	CHECK_INT(rig->agains, ==, 0);
	CHECK(!is_direct(rig));
}

/* It is no failed attempt, and the next one is by the scripts. */
RIG_TEST(a_launch_by_the_line_that_never_answers_is_not_tried_again)
{
	const struct event answer = {.type = EVENT_VIEW, .view = {.reachable = true}};

	learns(rig);
	driver_relaunch_begins(&rig->driver, true);
	part_relaunch.event(&rig->driver, &answer);
	CHECK(!driver_relaunch_ends(&rig->driver));
	driver_relaunch_begins(&rig->driver, true);
	CHECK(driver_relaunch_ends(&rig->driver));
	CHECK_INT(may(rig, 5), ==, GATE_NOT_YET);
	run_until_again(rig);
	CHECK(!is_direct(rig));
}
