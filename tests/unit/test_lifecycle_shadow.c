/* A job in the shadow, by the journal of a candidate: it runs, and does nothing that is the owner's business. */
#include "tests/unit/handover_life.h"

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

/* ---- who it is ---- */

LIFE_TEST_FROM(begin_shadow, it_is_no_owner_and_not_ready)
{
	viewed(l, job_in(JOB_RUNNING));
	CHECK_INT(lifecycle_role(&l->life), ==, ROLE_CANDIDATE);
	CHECK_STR(phase_name(lifecycle_phase(&l->life)), "Shadow");
	CHECK(lifecycle_is_unready(&l->life));
	CHECK(!lifecycle_keeps_ready(&l->life));
}

/* A copy of the owner's, with the hand-over as it was then; in it the candidate is another pod's. */
static void begin_seeded(struct life *l)
{
	struct handover *handover;

	life_begin(l);
	surge_config(l, &new_pod, "g2");
	l->config.handover.mode = HANDOVER_BLUE_GREEN;
	l->config.handover.shadow = true;
	handover = handover_of(l);
	xstrset(&handover->id, "h1-00000001");
	handover->state = HANDOVER_OFFERED;
	handover->transition.output_side = SIDE_GREEN;
	memcpy(handover->job_id, HELD_ID, JOB_ID_BYTES);
	party_set(&handover->from, &old_pod);
	party_set(&handover->to, &new_pod);
}

LIFE_TEST_FROM(begin_seeded, what_waits_in_main_is_let_go_and_the_hand_over_is_left_alone)
{
	claims(l, CLAIM_TAKE, HELD_ID);
	observed(l, DECISION_START_FROM, SAVEPOINT_1, 41, "h1-00000001");
	CHECK_INT(took(l, EFFECT_LAUNCH), ==, 1);
	CHECK_STR(job_of(l), HELD_ID);
	CHECK(journal_launch(&l->life.journal)->held);
	CHECK_STR(handover_of(l)->id, "h1-00000001");
	CHECK_INT(journal_launch(&l->life.journal)->output_side, ==, SIDE_GREEN);
	/* what it knows of other pods is nothing, and no deadline of theirs is its own */
	pass(l, 3600000);
	CHECK_INT(handover_of(l)->state, ==, HANDOVER_OFFERED);
	CHECK_NOTHING(l, EFFECT_STAND_DOWN);
}
