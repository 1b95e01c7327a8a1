/* What ends between SIGTERM and the answer to the last poll of the job, and a cancel at SIGTERM. */
#include "life.h"

#define GRACE_MS 120000

/* How the savepoint ends that is in flight at SIGTERM. */
enum other { OTHER_DONE, OTHER_DAMAGED, OTHER_FAILED, OTHER_COUNT };

/* What asks for a savepoint at the end of the container. */
static const struct asks {
	enum upgrade_mode upgrade;
	enum sigterm_policy on_sigterm;
	enum upgrade follows;
	const char *reason;
} asks[] = {
	{UPGRADE_BY_SAVEPOINT, SIGTERM_KEEP, UPGRADE_YES, "upgrade"},
	{UPGRADE_BY_SAVEPOINT, SIGTERM_SAVEPOINT, UPGRADE_YES, "upgrade"},
	{UPGRADE_BY_SAVEPOINT, SIGTERM_UPGRADE, UPGRADE_UNKNOWN, "upgrade"},
	{UPGRADE_BY_LAST_STATE, SIGTERM_SAVEPOINT, UPGRADE_UNKNOWN, "terminate"},
};

static void begin_savepoint(struct life *l, bool periodic)
{
	life_begin(l);
	l->hold_last_poll = true;
	if (periodic)
		l->config.savepoints.interval_ms = 60000;
	run_proven(l);
	if (periodic)
		pass(l, 60000);
	else
		ask_savepoint(l, "n1");
	CHECK_INT(l->life.journal.operation.kind, ==, OPERATION_SAVEPOINT);
	operation(l, STATUS_ACCEPTED, NULL, NULL);
}

static void end_savepoint(struct life *l, enum other other)
{
	if (other == OTHER_FAILED) {
		operation(l, STATUS_FAILED, NULL, "Checkpoint expired before completing");
		return;
	}
	operation(l, STATUS_COMPLETED, SAVEPOINT_1, NULL);
	inspected(l, true, other == OTHER_DONE);
}

/* Flink answers the last poll, and the one before it if that was in flight; or never. */
static void last_poll_ends(struct life *l, bool answered)
{
	for (int i = 0; answered && i < 2; i++)
		viewed(l, job_in(JOB_RUNNING));
	if (!answered)
		pass(l, LAST_POLL_MS);
}

static void check_stop_follows(const struct asks *ask, enum other other, bool periodic,
			       bool answered)
{
	struct life l;

	begin_savepoint(&l, periodic);
	l.config.upgrade = ask->upgrade;
	l.config.on_sigterm = ask->on_sigterm;
	forget(&l);
	stopping_for(&l, GRACE_MS, ask->follows);
	end_savepoint(&l, other);
	CHECK_NOTHING(&l, EFFECT_SIGNAL);
	last_poll_ends(&l, answered);
	CHECK_INT(took(&l, EFFECT_TRIGGER), ==, 1);
	CHECK_NOTHING(&l, EFFECT_SIGNAL);
	CHECK_INT(l.life.journal.operation.kind, ==, OPERATION_STOP);
	CHECK_STR(operation_reason_name(l.life.journal.operation.reason), ask->reason);
	CHECK(!strstr(l.notes, "although one was requested"));
	life_end(&l);
}

TEST(a_savepoint_that_ends_before_the_last_poll_does_not_take_the_place_of_the_stop)
{
	for (size_t i = 0; i < ARRAY_LEN(asks); i++)
		for (int other = 0; other < OTHER_COUNT; other++)
			for (int way = 0; way < 4; way++)
				check_stop_follows(&asks[i], (enum other)other, way & 1, way & 2);
}

TEST(it_is_no_reason_for_a_stop_either)
{
	struct life l;

	for (int other = 0; other < OTHER_COUNT; other++) {
		begin_savepoint(&l, other == OTHER_DONE);
		l.config.upgrade = UPGRADE_BY_SAVEPOINT;
		forget(&l);
		stopping_for(&l, GRACE_MS, UPGRADE_NO);
		end_savepoint(&l, (enum other)other);
		last_poll_ends(&l, other != OTHER_DAMAGED);
		CHECK_NOTHING(&l, EFFECT_TRIGGER);
		CHECK_INT(took(&l, EFFECT_SIGNAL), ==, 1);
		CHECK(!strstr(l.notes, "although one was requested"));
		life_end(&l);
	}
}

/* The stop itself fails: that is told, and it is not tried again. */
LIFE_TEST(a_stop_that_fails_is_not_repeated)
{
	l->config.upgrade = UPGRADE_BY_SAVEPOINT;
	run_proven(l);
	stopping_for(l, GRACE_MS, UPGRADE_YES);
	forget(l);
	operation(l, STATUS_FAILED, NULL, "Checkpoint expired before completing");
	CHECK_NOTHING(l, EFFECT_TRIGGER);
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	CHECK_HAS(l->life.journal.last_error, "no savepoint taken, although one was requested: "
					      "Checkpoint expired before completing");
}

/* ---- a cancel in flight ---- */

static void begin_cancel(struct life *l, enum upgrade_mode mode)
{
	life_begin(l);
	l->config.upgrade = mode;
	l->config.policy.stateless_upgrade = mode == UPGRADE_STATELESS;
	l->config.on_sigterm = SIGTERM_SAVEPOINT;
	run_proven(l);
	desire(l, DESIRED_CANCELLED);
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	forget(l);
}

static void check_no_error(const struct life *l)
{
	CHECK_STR(l->life.journal.last_error, NULL);
	CHECK(!strstr(l->notes, "savepoint"));
	CHECK(!strstr(l->notes, "superseded"));
}

/* Nobody has requested a savepoint. */
TEST(sigterm_waits_for_a_cancel_and_misses_no_savepoint)
{
	static const enum upgrade_mode modes[] = {UPGRADE_BY_SAVEPOINT, UPGRADE_STATELESS,
						  UPGRADE_BY_LAST_STATE};
	struct life l;

	for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
		begin_cancel(&l, modes[i]);
		stopping_for(&l, GRACE_MS, UPGRADE_YES);
		CHECK_NOTHING(&l, EFFECT_SIGNAL);
		CHECK_NOTHING(&l, EFFECT_TRIGGER);
		viewed(&l, job_in(JOB_CANCELED));
		CHECK_INT(took(&l, EFFECT_SIGNAL), ==, 1);
		check_no_error(&l);
		CHECK(l.life.journal.last_operation.ok);
		exited(&l, EXITED(143));
		CHECK_INT(took(&l, EFFECT_EXIT), ==, 1);
		CHECK(l.life.journal.intent.state == DESIRED_CANCELLED);
		life_end(&l);
	}
}

TEST(a_cancel_that_takes_too_long_ends_with_the_grace_period)
{
	struct life l;

	begin_cancel(&l, UPGRADE_BY_SAVEPOINT);
	stopping_for(&l, l.config.kill_after_ms + 6000, UPGRADE_YES);
	pass(&l, 4999);
	CHECK_NOTHING(&l, EFFECT_SIGNAL);
	pass(&l, 1);
	CHECK_INT(took(&l, EFFECT_SIGNAL), ==, 1);
	check_no_error(&l);
	life_end(&l);

	begin_cancel(&l, UPGRADE_BY_SAVEPOINT);
	stopping_for(&l, l.config.kill_after_ms, UPGRADE_YES);
	CHECK_INT(took(&l, EFFECT_SIGNAL), ==, 1);
	CHECK_HAS(l.life.reason, "while the job is being cancelled");
	check_no_error(&l);
	life_end(&l);
}
