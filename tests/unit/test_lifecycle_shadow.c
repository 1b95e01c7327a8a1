/* A job in the shadow, by the journal of a candidate: it runs, and does nothing that is the owner's business. */
#include "tests/unit/life.h"

static void begin_shadow(struct life *l)
{
	life_begin(l);
	l->config.handover.shadow = true;
	l->config.savepoints.interval_ms = 600000;
	l->config.full_checkpoint_ms = 600000;
	l->config.retention.keep_count = 1;
	run_proven(l);
	for (int i = 1; i <= 3; i++) {
		char path[32];
		struct snapshot snapshot = {.path = path,
					    .kind = SNAPSHOT_SAVEPOINT,
					    .origin = ORIGIN_PERIODIC,
					    .completed_unix_ms = 1000 + i,
					    .verified = true};

		snprintf(path, sizeof(path), "file:/sp/savepoint-%d", i);
		journal_add_snapshot(&l->life.journal, &snapshot);
	}
	forget(l);
}

LIFE_TEST_FROM(begin_shadow, nothing_is_saved_by_schedule_and_nothing_deleted)
{
	for (int i = 0; i < 5; i++) {
		pass(l, 600000);
		viewed(l, job_in(JOB_RUNNING));
	}
	CHECK_NOTHING(l, EFFECT_TRIGGER);
	CHECK_NOTHING(l, EFFECT_TRIGGER_CHECKPOINT);
	CHECK_NOTHING(l, EFFECT_INSPECT);
	CHECK_NOTHING(l, EFFECT_DISPOSE);
	CHECK_INT(l->life.journal.snapshot_count, ==, 3);
	CHECK_INT(l->life.phase, ==, PHASE_RUNNING);
}

LIFE_TEST_FROM(begin_shadow, requests_are_for_the_owner)
{
	desire(l, DESIRED_SUSPENDED);
	do_not_restart(l, true);
	ask_savepoint(l, "n1");
	ask_restart(l, "n2");
	viewed(l, job_in(JOB_RUNNING));
	CHECK_NOTHING(l, EFFECT_TRIGGER);
	CHECK_INT(l->life.journal.intent.state, ==, DESIRED_RUNNING);
	CHECK(!l->life.journal.intent.do_not_restart);
	CHECK(!journal_savepoint_waits(&l->life.journal));
}

LIFE_TEST_FROM(begin_shadow, it_is_started_again_when_its_flink_ends)
{
	exited(l, 137);
	CHECK_INT(took(l, EFFECT_OBSERVE), ==, 1);
	CHECK_INT(l->life.phase, ==, PHASE_RESOLVING);
}
