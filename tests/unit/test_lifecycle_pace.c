/*
 * Nothing that repeats runs without a pause: however Flink ends, it is not started again and again.
 */
#include "life.h"

/* It ends for a reason that is no failed attempt, and that nobody thought of a pause for. */
static void ends_at_once(struct life *l)
{
	char *id = xstrdup(job_of(l));
	struct event e = {.type = EVENT_EXITED,
			  .process = {.launch_id = id,
				      .wait_status = KILLED(SIGKILL),
				      .meaning = "it was killed",
				      .shortcut = true}};

	started(l);
	step(l, &e);
	free(id);
}

/* Starts of Flink until then. */
static int launches_until(struct life *l, int64_t end_ms)
{
	int count = 0;

	while (l->now_ms < end_ms) {
		pass(l, 20);
		if (!took(l, EFFECT_OBSERVE))
			continue;
		forget(l);
		observed(l, DECISION_START_EMPTY, NULL, 0, NULL);
		if (!took(l, EFFECT_LAUNCH))
			continue;
		count++;
		ends_at_once(l);
	}
	return count;
}

TEST(flink_is_not_started_again_and_again_without_a_pause)
{
	struct life l;
	int64_t begin_ms;
	int count;

	life_begin(&l);
	hello(&l, NULL);
	observed(&l, DECISION_START_EMPTY, NULL, 0, NULL);
	CHECK_INT(took(&l, EFFECT_LAUNCH), ==, 1);
	begin_ms = l.now_ms;
	ends_at_once(&l);
	observed(&l, DECISION_START_EMPTY, NULL, 0, NULL);
	ends_at_once(&l);
	observed(&l, DECISION_START_EMPTY, NULL, 0, NULL);
	ends_at_once(&l);
	observed(&l, DECISION_START_EMPTY, NULL, 0, NULL);
	ends_at_once(&l);
	forget(&l);
	observed(&l, DECISION_START_EMPTY, NULL, 0, NULL);
	CHECK_NOTHING(&l, EFFECT_LAUNCH);
	CHECK_PHASE(&l, PHASE_RESOLVING);
	CHECK_HAS(l.life.reason, "Flink was started 4 times in a minute; the next time in 5 s");
	/* a start that waits is decided anew */
	CHECK_INT(launches_until(&l, begin_ms + 4900), ==, 0);
	count = launches_until(&l, begin_ms + 59900);
	CHECK_INT(count, <=, 6);
	CHECK_INT(count, >=, 5);
	CHECK_INT(launches_until(&l, begin_ms + 599000), <=, 90);
	life_end(&l);
}

TEST(what_happens_now_and_then_does_not_wait)
{
	struct life l;

	life_begin(&l);
	hello(&l, NULL);
	for (int i = 0; i < 50; i++) {
		observed(&l, DECISION_START_EMPTY, NULL, 0, NULL);
		CHECK_INT(took(&l, EFFECT_LAUNCH), ==, 1);
		ends_at_once(&l);
		pass(&l, 6100);
		forget(&l);
	}
	life_end(&l);
}

/* Whatever makes it happen: here somebody who turns a switch on and off. */
LIFE_TEST(the_journal_is_not_written_again_and_again_without_a_pause)
{
	int count;

	run_proven(l);
	pass(l, 60000);
	forget(l);
	for (int i = 0; i < 200; i++)
		do_not_restart(l, i % 2 == 0);
	count = took(l, EFFECT_WRITE_JOURNAL);
	CHECK_INT(count, >, 5);
	CHECK_INT(count, <=, 25);
	CHECK(!lifecycle_check(&l->life));
	/* and nothing is forgotten */
	CHECK(!lifecycle_is_durable(&l->life));
	pass(l, 2000);
	CHECK(lifecycle_is_durable(&l->life));
	CHECK(!l->life.journal.intent.do_not_restart);
	/* a minute has a limit, too */
	for (int i = 0; i < 2000; i++) {
		do_not_restart(l, i % 2 == 0);
		pass(l, 20);
	}
	CHECK_INT(took(l, EFFECT_WRITE_JOURNAL), <=, 160);
	pass(l, 60000);
	CHECK(lifecycle_is_durable(&l->life));
}
