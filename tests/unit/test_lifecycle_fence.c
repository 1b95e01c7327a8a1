/* Another drey has the journal: this one does nothing more, and lets no Flink of its own run on. */
#include <signal.h>

#include "life.h"

#define PERIOD_MS 30000

static void is_killed(struct life *l)
{
	CHECK(l->life.fenced);
	CHECK_PHASE(l, PHASE_HOLDING);
	CHECK_HAS(l->life.reason, "another drey writes this application's journal");
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	CHECK_INT(l->last[EFFECT_SIGNAL].signo, ==, SIGKILL);
	CHECK(l->last[EFFECT_SIGNAL].group);
}

static void lose_journal(struct life *l)
{
	forget(l);
	write_failed(l,
		     true); /* of a write, or of a look: the sequence is that of the last write */
}

LIFE_TEST(a_running_flink_is_killed_at_once_and_without_a_savepoint)
{
	run_proven(l);
	lose_journal(l);
	is_killed(l);
	CHECK_STR(l->last[EFFECT_SIGNAL].id, job_of(l));
	CHECK_STR(l->order, "S");
	/* once more, as long as it has not gone */
	pass(l, l->config.kill_after_ms + 1000);
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 2);
	forget(l);
	exited(l, KILLED(SIGKILL));
	pass(l, 3600000);
	CHECK_STR(l->order, "");
	CHECK_PHASE(l, PHASE_HOLDING);
}

TEST(a_flink_that_is_being_started_is_killed_as_soon_as_it_is_there)
{
	struct life l;

	life_begin(&l);
	hello(&l, NULL);
	observed(&l, DECISION_START_EMPTY, NULL, 0, NULL);
	lose_journal(&l);
	CHECK_NOTHING(&l, EFFECT_SIGNAL);
	started(&l);
	is_killed(&l);
	life_end(&l);

	/* it never came to be: not tried again */
	life_begin(&l);
	hello(&l, NULL);
	observed(&l, DECISION_START_EMPTY, NULL, 0, NULL);
	lose_journal(&l);
	launch_failed(&l);
	pass(&l, 3600000);
	CHECK_STR(l.order, "");
	life_end(&l);
}

LIFE_TEST(a_flink_that_was_told_to_end_does_not_get_its_time)
{
	run_proven(l);
	l->hold_writes = true;
	viewed(l, job_in(JOB_FINISHED)); /* SIGTERM waits for the journal */
	lose_journal(l);
	is_killed(l);
}

LIFE_TEST(the_container_ends_when_it_is_told_to)
{
	run_proven(l);
	lose_journal(l);
	stopping(l, 60000);
	CHECK_NOTHING(l, EFFECT_EXIT);
	exited(l, KILLED(SIGKILL));
	pass(l, 10000);
	CHECK_INT(took(l, EFFECT_EXIT), ==, 1);
	CHECK_NOTHING(l, EFFECT_TRIGGER);
}

TEST(the_journal_is_looked_at_while_flink_lives_and_nothing_is_written)
{
	struct life l;

	life_begin(&l);
	l.config.journal_check_ms = PERIOD_MS;
	hello(&l, NULL);
	observed(&l, DECISION_HOLD, NULL, 0, NULL);
	pass(&l, 600000);
	CHECK_NOTHING(&l, EFFECT_CHECK_JOURNAL); /* there is nothing that could run twice */
	observed(&l, DECISION_START_EMPTY, NULL, 0, NULL);
	started(&l);
	viewed(&l, job_in(JOB_RUNNING));
	forget(&l);
	pass(&l, 10 * PERIOD_MS);
	CHECK_INT(took(&l, EFFECT_CHECK_JOURNAL), >=, 9);
	CHECK_INT(took(&l, EFFECT_CHECK_JOURNAL), <=, 10);
	/* a write shows the same */
	forget(&l);
	pass(&l, PERIOD_MS - 5000);
	do_not_restart(&l, true);
	forget(&l);
	pass(&l, PERIOD_MS - 5000);
	CHECK_NOTHING(&l, EFFECT_CHECK_JOURNAL);
	pass(&l, 6000);
	CHECK_INT(took(&l, EFFECT_CHECK_JOURNAL), ==, 1);
	/* and what it finds counts although no write is under way */
	lose_journal(&l);
	is_killed(&l);
	forget(&l);
	pass(&l, 10000);
	CHECK_NOTHING(&l, EFFECT_CHECK_JOURNAL);
	life_end(&l);

	/* not where a lock keeps every other drey out */
	life_begin(&l);
	run_proven(&l);
	pass(&l, 600000);
	CHECK_NOTHING(&l, EFFECT_CHECK_JOURNAL);
	life_end(&l);
}

LIFE_TEST(a_journal_that_makes_no_sense_any_more_is_broken_and_written_again_when_it_can_be)
{
	run_proven(l);
	forget(l);
	write_failed(l, false); /* of a look: no write is under way */
	CHECK(l->life.journal_broken && !l->life.fenced);
	CHECK(l->life.journal_error != NULL);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	pass(l, 60000);
	CHECK_INT(took(l, EFFECT_WRITE_JOURNAL), >=, 1);
	CHECK(!l->life.journal_broken && !l->life.journal_error);
}

LIFE_TEST(a_journal_that_was_lost_is_written_again_at_the_next_look)
{
	run_proven(l);
	journal_checked(l, false);
	CHECK_NOTHING(l, EFFECT_WRITE_JOURNAL);
	journal_checked(l, true);
	CHECK_INT(took(l, EFFECT_WRITE_JOURNAL), ==, 1);
	CHECK_HAS(l->notes, "writing it again");
	CHECK_PHASE(l, PHASE_RUNNING);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	/* not while a write is under way: that one puts it right */
	forget(l);
	l->hold_writes = true;
	do_not_restart(l, true);
	journal_checked(l, true);
	l->hold_writes = false;
	written(l);
	CHECK_INT(took(l, EFFECT_WRITE_JOURNAL), ==, 1);
}

/* The agent crashed, and while there was none another drey took over: only a drey decides launches. */
LIFE_TEST(a_flink_that_a_later_launch_has_replaced_is_killed)
{
	char old[JOB_ID_BYTES];
	struct launch *later;

	run_proven(l);
	snprintf(old, sizeof(old), "%s", job_of(l));
	later = journal_add_launch(&l->life.journal);
	snprintf(later->job_id, JOB_ID_BYTES, "%s", "cccccccccccccccccccccccccccccccc");
	put_on_record(l);
	restart_agent(l);
	hello(l, old);
	is_killed(l);
	CHECK_STR(l->last[EFFECT_SIGNAL].id, old);
	CHECK_NOTHING(l, EFFECT_WRITE_JOURNAL); /* it is the other one's */
	pass(l, 600000);
	CHECK_NOTHING(l, EFFECT_OBSERVE);
	CHECK_NOTHING(l, EFFECT_LAUNCH);
}

/* The journal was lost, and another drey has begun a new one. */
LIFE_TEST(a_flink_that_the_journal_does_not_know_is_killed_too)
{
	const char *strange = "dddddddddddddddddddddddddddddddd";

	hello(l, strange);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	lose_journal(l);
	is_killed(l);
	CHECK_STR(l->last[EFFECT_SIGNAL].id, strange);
	pass(l, l->config.kill_after_ms + 1000);
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 2);
}
