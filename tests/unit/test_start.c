/*
 * The start of an agent: what is known before the first step, and what happens when the journal cannot be read. The
 * journal, the other parts and the rest of the driver are played by this file.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "run/config/setup_side.h"
#include "run/driver_internal.h"
#include "run/handover/standing.h"
#include "run/part.h"
#include "tap.h"

#define JOB      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa01"
#define LIMIT_MS 20000

struct rig {
	struct driver driver; /* first: what is played gets this one */
	struct setup setup;
	struct err unreadable, unfit; /* ERR_NONE: not so */
	bool remote, noted;
	atomic_int reads, checks;
	int hellos, alives, stopped, exits, shows, stands; /* stopped: -1 = it was not */
	struct event hello;
	char running[JOB_ID_BYTES], held[JOB_ID_BYTES];
	char taken[64]; /* the types of messages, in this order */
	int64_t grace_left_ms;
	bool standing_has; /* messages are its */
	struct err err;
};

static struct rig *the_rig; /* for what is played without a driver */

/* ---- what is played ---- */

int journal_store_read(struct journal_store *store, struct journal *ret_journal, struct err *err)
{
	(void)store;
	the_rig->reads++;
	if (the_rig->unreadable.kind) {
		*err = the_rig->unreadable;
		return -1;
	}
	journal_init(ret_journal, "orders");
	ret_journal->sequence = 40;
	xstrset(&ret_journal->writer, "old/u-old/1");
	return 0;
}

bool journal_store_is_remote(const struct journal_store *store)
{
	(void)store;
	return the_rig->remote;
}

const char *journal_store_place(const struct journal_store *store)
{
	(void)store;
	return "ConfigMap orders-journal";
}

int journal_store_read_seen(struct journal_store *store, struct buf *text, struct err *err)
{
	(void)store, (void)text;
	return err_set(err, ERR_ABSENT, 0, "nothing");
}

int setup_check(const struct setup *setup, struct err *err)
{
	(void)setup;
	the_rig->checks++;
	if (!the_rig->unfit.kind)
		return 0;
	*err = the_rig->unfit;
	return -1;
}

enum side setup_side(const struct setup *setup, const struct journal *journal)
{
	(void)setup;
	CHECK(journal != NULL);
	return SIDE_BLUE;
}

enum upgrade driver_owner_ask(const struct setup *setup, char *ret_reason, size_t reason_bytes)
{
	(void)setup;
	snprintf(ret_reason, reason_bytes, "another generation");
	return UPGRADE_YES;
}

void driver_choose_side(struct driver *driver, enum side side)
{
	driver->side = side;
}

bool driver_fence_was_noted(const struct driver *driver)
{
	return ((const struct rig *)driver)->noted;
}

void driver_step(struct driver *driver, const struct event *event)
{
	struct rig *rig = (struct rig *)driver;

	CHECK_INT(event->type, ==, EVENT_HELLO);
	CHECK(driver->alive);
	CHECK_INT(rig->alives, ==, 0); /* the machine knows before the parts do */
	rig->hellos++;
	rig->hello = *event;
	snprintf(rig->running, sizeof(rig->running), "%s",
		 event->hello.running ? event->hello.running : "");
	snprintf(rig->held, sizeof(rig->held), "%s", event->hello.held ? event->hello.held : "");
}

static void alive(struct driver *driver, const struct part_start *start)
{
	struct rig *rig = (struct rig *)driver;

	CHECK_STR(start->running ? start->running : "", rig->running);
	CHECK_STR(rig->taken, "");
	rig->alives++;
}

static const struct part one_part = {.name = "one", .alive = alive};
const struct part_row parts[] = {{0, &one_part}, {0, NULL}};

void driver_judge(struct driver *driver)
{
	(void)driver;
}

void termination_see(struct termination_last *last, const struct lifecycle *life)
{
	(void)last, (void)life;
}

void driver_stepped(struct driver *driver)
{
	((struct rig *)driver)->shows++;
}

void driver_stop(struct driver *driver, int status)
{
	((struct rig *)driver)->stopped = status;
}

int init_link_exit(struct init_link *link, int status, struct err *err)
{
	(void)link, (void)err;
	CHECK_INT(status, ==, 0);
	the_rig->exits++;
	return 0;
}

void standing_begin(struct driver *driver, const struct link_msg *hello)
{
	(void)hello;
	((struct rig *)driver)->stands++;
}

bool standing_link(struct driver *driver, const struct link_msg *msg)
{
	(void)msg;
	return ((struct rig *)driver)->standing_has;
}

/* A message that was kept. */
static void take(struct driver *driver, const struct link_msg *msg)
{
	struct rig *rig = (struct rig *)driver;
	size_t used = strlen(rig->taken);

	snprintf(rig->taken + used, sizeof(rig->taken) - used, "%d ", (int)msg->type);
	rig->grace_left_ms = msg->grace_left_ms;
}

/* ---- the world ---- */

static void rig_begin(struct rig *rig)
{
	memset(rig, 0, sizeof(*rig));
	the_rig = rig;
	rig->stopped = -1;
	rig->setup.config.application = (char *)"orders";
	rig->setup.config.holding.retry_first_ms = 10;
	rig->setup.config.holding.retry_max_ms = 20;
	rig->driver.setup = &rig->setup;
	rig->driver.err = &rig->err;
	rig->driver.writer = (char *)"new/u-new/7";
	rig->driver.loop = loop_new(NULL);
	rig->driver.workers = workers_new(rig->driver.loop, NULL);
	rig->driver.journal_lane = lane_new(rig->driver.workers, "journal");
}

static void rig_end(struct rig *rig)
{
	lane_free(rig->driver.journal_lane, 1000);
	driver_start_close(&rig->driver);
	workers_free(rig->driver.workers);
	loop_free(rig->driver.loop);
	if (rig->driver.alive || rig->driver.held)
		lifecycle_release(&rig->driver.life);
	life_trace_release(&rig->driver.trace);
}

#define RIG_TEST(name) TEST_WITH(name, struct rig, rig, rig_begin, rig_end)

static void begins(struct rig *rig, uint32_t flags)
{
	struct link_msg hello = {.type = LINK_HELLO, .flags = flags, .grace_left_ms = 9000};

	if (flags & LINK_RUNNING)
		memcpy(hello.launch_id, JOB, sizeof(JOB));
	driver_start(&rig->driver, &hello, take);
}

static void run_until(struct rig *rig, const atomic_int *counter, int least)
{
	int64_t end_ms = clock_mono_ms() + LIMIT_MS;

	while (*counter < least && clock_mono_ms() < end_ms)
		loop_step(rig->driver.loop, 20, NULL);
	CHECK_INT(*counter, >=, least);
}

/* Alive, held or stopped. */
static void run_until_known(struct rig *rig)
{
	int64_t end_ms = clock_mono_ms() + LIMIT_MS;

	while (!rig->driver.alive && !rig->driver.held && rig->stopped < 0 &&
	       clock_mono_ms() < end_ms)
		loop_step(rig->driver.loop, 20, NULL);
}

static void run_until_alive(struct rig *rig)
{
	int64_t end_ms = clock_mono_ms() + LIMIT_MS;

	while (!rig->driver.alive && clock_mono_ms() < end_ms)
		loop_step(rig->driver.loop, 20, NULL);
}

static void keeps(struct rig *rig, enum link_type type)
{
	driver_start_keep(&rig->driver, &(struct link_msg){.type = type, .grace_left_ms = 7000});
}

/* ---- ---- */

RIG_TEST(a_journal_that_is_proven_absent_is_that_of_a_new_application)
{
	err_set(&rig->unreadable, ERR_ABSENT, 0, "404");
	begins(rig, 0);
	run_until_known(rig);
	CHECK(rig->driver.alive);
	CHECK_INT(rig->hellos, ==, 1);
	CHECK_INT(rig->alives, ==, 1);
	CHECK_INT(rig->driver.life.journal.sequence, ==, 0);
	CHECK_STR(rig->driver.life.journal.application, "orders");
	CHECK_STR(rig->driver.life.journal.writer, "new/u-new/7");
	CHECK(!rig->driver.start);
}

RIG_TEST(what_drey_init_says_is_the_first_event)
{
	rig->noted = true;
	begins(rig, LINK_RUNNING | LINK_TAKES_LEASE);
	run_until_known(rig);
	CHECK_STR(rig->running, JOB);
	CHECK(rig->hello.hello.fenced);
	CHECK(!rig->hello.hello.stopping);
	CHECK_INT(rig->hello.hello.claim, ==, CLAIM_NONE);
	CHECK(rig->driver.init_takes_lease && !rig->driver.init_takes_spare);
	CHECK_INT(rig->driver.life.journal.sequence, ==, 40);
	/* a Flink that runs has the port, and needs nothing checked */
	CHECK_INT(rig->checks, ==, 0);
	/* it is said once */
	begins(rig, 0);
	CHECK(!rig->driver.start);
}

RIG_TEST(what_drey_init_says_meanwhile_is_taken_in_order_afterwards)
{
	cleanup_free char *want = xasprintf("%d %d ", LINK_EXITED, LINK_STOPPING);

	begins(rig, LINK_RUNNING);
	keeps(rig, LINK_EXITED);
	keeps(rig, LINK_STOPPING);
	CHECK_STR(rig->taken, "");
	run_until_known(rig);
	CHECK_STR(rig->taken, want);
	CHECK_INT(rig->grace_left_ms, <=, 7000);
	CHECK_INT(rig->grace_left_ms, >, 0);
}

RIG_TEST(what_is_wrong_with_the_configuration_ends_the_agent)
{
	err_set(&rig->unfit, ERR_CONFIG, 0, "no Flink there");
	begins(rig, 0);
	run_until_known(rig);
	CHECK_INT(rig->stopped, ==, 2);
	CHECK_STR(rig->err.msg, "no Flink there");
	CHECK(!rig->driver.alive);
	CHECK_INT(rig->reads, ==, 0);
}

/* ---- a journal that cannot be read ---- */

RIG_TEST(a_remote_journal_is_waited_for_and_nothing_is_decided)
{
	static const enum err_kind kinds[] = {ERR_RETRY, ERR_DENIED, ERR_FORMAT, ERR_CONFIG};

	rig->remote = true;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		int reads = rig->reads;

		rig->unreadable = (struct err){.kind = kinds[i], .msg = "no answer"};
		if (!i)
			begins(rig, LINK_RUNNING);
		run_until(rig, &rig->reads, reads + 2); /* again and again */
		CHECK(rig->driver.held && !rig->driver.alive);
		CHECK_HAS(rig->driver.life.reason, "no answer");
	}
	CHECK_INT(rig->hellos + rig->alives, ==, 0);
	CHECK_INT(rig->stopped, ==, -1);
	rig->unreadable = (struct err){0};
	run_until(rig, &rig->reads, rig->reads + 1);
	run_until_known(rig);
	run_until_alive(rig);
	CHECK(rig->driver.alive && !rig->driver.held);
	CHECK_STR(rig->running, JOB);
}

RIG_TEST(a_local_journal_that_cannot_be_read_ends_the_agent)
{
	err_set(&rig->unreadable, ERR_FORMAT, 0, "it is damaged");
	begins(rig, 0);
	run_until_known(rig);
	CHECK_INT(rig->stopped, ==, 2);
	CHECK_STR(rig->err.msg, "it is damaged");
	CHECK(!rig->driver.alive && !rig->driver.held);
}

RIG_TEST(a_container_that_ends_waits_for_no_journal_unless_flink_runs)
{
	static const struct {
		uint32_t flags;
		enum link_type later; /* what comes while it waits */
		bool leaves;
	} cases[] = {
		{LINK_IS_STOPPING, LINK_HELLO, true},
		{LINK_IS_STOPPING | LINK_RUNNING, LINK_HELLO, false},
		{LINK_IS_STOPPING | LINK_RUNNING, LINK_EXITED, true},
		{LINK_RUNNING, LINK_EXITED, false},
		{LINK_RUNNING, LINK_STOPPING, false},
		{0, LINK_STOPPING, true},
		{0, LINK_HELLO, false},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct rig one;

		rig_begin(&one);
		one.remote = true;
		err_set(&one.unreadable, ERR_RETRY, 0, "no answer");
		begins(&one, cases[i].flags);
		run_until_known(&one);
		if (cases[i].later != LINK_HELLO)
			keeps(&one, cases[i].later);
		if (!CHECK_INT(one.exits > 0, ==, cases[i].leaves))
			tap_note("case %zu", i);
		CHECK_INT(one.stopped, ==, cases[i].leaves ? 0 : -1);
		CHECK(!one.driver.alive);
		rig_end(&one);
	}
	the_rig = rig;
	CHECK_INT(rig->exits, ==, 0);
}

/* ---- with hand-overs ---- */

static void owns(struct rig *rig, const struct driver_claim *claim, uint32_t flags)
{
	struct link_msg hello = {.type = LINK_HELLO, .flags = flags, .grace_left_ms = -1};
	struct journal journal;

	rig->setup.handover.on = true;
	begins(rig, 0);
	CHECK_INT(rig->stands, ==, 1);
	CHECK_INT(rig->reads, ==, 0); /* that is read by who stands by */
	journal_init(&journal, "orders");
	journal.sequence = 51;
	driver_start_own(&rig->driver, &hello, &journal, claim);
	CHECK(!journal.application); /* taken over */
	run_until_known(rig);
}

RIG_TEST(a_journal_that_was_decided_on_is_not_read_again)
{
	const struct driver_claim claim = {.claim = CLAIM_TAKE, .side = SIDE_GREEN, .held = JOB};

	owns(rig, &claim, 0);
	CHECK(rig->driver.alive);
	CHECK_INT(rig->reads, ==, 0);
	CHECK_INT(rig->driver.life.journal.sequence, ==, 51);
	CHECK_INT(rig->hello.hello.claim, ==, CLAIM_TAKE);
	CHECK_STR(rig->held, JOB);
	CHECK_STR(rig->running, "");
	CHECK_INT(rig->driver.side, ==, SIDE_GREEN);
	CHECK_INT(rig->driver.life_config.handover.me.side, ==, SIDE_GREEN);
	CHECK(!driver_in_shadow(&rig->driver));
	CHECK_INT(rig->checks, ==, 0); /* the one that is held has the port */
}

RIG_TEST(a_job_in_the_shadow_is_known_as_one_from_its_first_step)
{
	const struct driver_claim claim = {.claim = CLAIM_OWN, .side = SIDE_GREEN, .shadow = true};

	owns(rig, &claim, LINK_RUNNING);
	CHECK(driver_in_shadow(&rig->driver));
	CHECK_INT(rig->hello.hello.claim, ==, CLAIM_OWN);
	CHECK_STR(rig->held, "");
}

RIG_TEST(a_pod_that_cannot_start_flink_leaves_the_journal_alone)
{
	const struct driver_claim claim = {.claim = CLAIM_TAKE, .side = SIDE_GREEN};

	err_set(&rig->unfit, ERR_CONFIG, 0, "no Flink there");
	owns(rig, &claim, 0);
	CHECK_INT(rig->stopped, ==, 1); /* the next agent tries again */
	CHECK(!rig->driver.alive && !rig->hellos);
}

RIG_TEST(what_is_for_the_pod_that_stands_by_is_not_kept)
{
	rig->setup.handover.on = true;
	begins(rig, 0);
	rig->standing_has = true;
	keeps(rig, LINK_EXITED);
	rig->standing_has = false;
	keeps(rig, LINK_STARTED);
	CHECK_INT(rig->reads, ==, 0);
	{
		struct link_msg hello = {.type = LINK_HELLO};
		struct journal journal;
		cleanup_free char *want = xasprintf("%d ", LINK_STARTED);

		journal_init(&journal, "orders");
		driver_start_own(&rig->driver, &hello, &journal,
				 &(struct driver_claim){.claim = CLAIM_OWN});
		run_until_known(rig);
		CHECK_STR(rig->taken, want);
	}
}

RIG_TEST(a_pod_that_stands_by_shows_that_until_it_owns_the_journal)
{
	const struct driver_claim claim = {.claim = CLAIM_OWN};

	driver_start_show(&rig->driver, PHASE_STANDBY, CAUSE_STANDING_BY, "it waits");
	CHECK(rig->driver.held && rig->driver.stands);
	CHECK_INT(rig->shows, ==, 1);
	driver_start_show(&rig->driver, PHASE_STANDBY, CAUSE_STANDING_BY, "it waits");
	CHECK_INT(rig->shows, ==, 1);
	driver_start_show(&rig->driver, PHASE_PREPARED, CAUSE_STANDING_BY, "it waits");
	CHECK_INT(rig->shows, ==, 2);
	CHECK_INT(rig->driver.life.phase, ==, PHASE_PREPARED);
	owns(rig, &claim, 0);
	run_until_alive(rig);
	CHECK(rig->driver.alive && !rig->driver.held && !rig->driver.stands);
	driver_start_show(&rig->driver, PHASE_STANDBY, CAUSE_STANDING_BY, "it waits");
	CHECK(!rig->driver.held);
}
