/*
 * The journal is lost, and its copy in storage takes its place: what the life cycle does then, and that the
 * ids that the copy knows are never drawn again.
 */
#include "core/journal/journal_copy.h"
#include "life.h"

#define JOB_7 "77777777777777777777777777777777"

static struct journal_copy *copy_with(enum desired_state state, enum outcome_kind outcome)
{
	struct journal_copy *copy = xcalloc(1, sizeof(*copy));
	struct launch *launch;

	journal_init(&copy->journal, "app");
	copy->journal.sequence = 200;
	copy->journal.writer = xstrdup("lost-pod/uid/1");
	copy->journal.intent.state = state;
	copy->journal.outcome.kind = outcome;
	copy->journal.outcome.reason = xstrdup("as recorded");
	launch = journal_add_launch(&copy->journal);
	launch->number = 7;
	snprintf(launch->job_id, sizeof(launch->job_id), JOB_7);
	launch->started_unix_ms = UNIX_START;
	launch->last_checkpoint_id = 12;
	launch->last_checkpoint_path = xstrdup(CHK(12));
	return copy;
}

static void observed_copy(struct life *l, struct journal_copy *copy, enum decision_kind kind)
{
	struct decision decision = {.kind = kind,
				    .rule = RULE_NOTHING,
				    .settled = NO_CANDIDATE,
				    .reason = "the copy says so"};
	struct facts facts = {.copy = copy};
	struct event e = {.type = EVENT_OBSERVED, .observed = {&facts, &decision}};

	step(l, &e);
	facts_release(&facts);
}

LIFE_TEST(the_copy_becomes_the_journal_and_everything_is_decided_anew)
{
	hello(l, NULL);
	forget(l);
	observed_copy(l, copy_with(DESIRED_RUNNING, OUTCOME_NONE), DECISION_ADOPT);
	CHECK_INT(took(l, EFFECT_OBSERVE), ==, 1);
	CHECK_INT(took(l, EFFECT_LAUNCH), ==, 0);
	CHECK_INT(l->life.phase, ==, PHASE_RESOLVING);
	CHECK_INT(l->life.journal.sequence, >, 200);
	CHECK_INT(l->life.acknowledged, ==, l->life.journal.sequence);
	CHECK(journal_launch(&l->life.journal)->ended_unix_ms != 0);
	/* the next launch goes on counting */
	observed(l, DECISION_START_FROM, CHK(12), 12, NULL);
	CHECK_INT(took(l, EFFECT_LAUNCH), ==, 1);
	CHECK_INT(journal_launch(&l->life.journal)->number, ==, 8);
}

/* Another place may still run it, and reads the journal; with a lease object it has ended, and would not read it. */
TEST(the_lease_has_ended_what_the_copy_knows)
{
	for (int leased = 0; leased < 2; leased++) {
		struct event e = {.type = EVENT_LEASE};
		struct journal_copy *copy = copy_with(DESIRED_RUNNING, OUTCOME_NONE);
		struct life l;

		life_begin(&l);
		xstrset(&journal_launch(&copy->journal)->writer, "lost-pod/uid/1");
		l.config.place = "new-pod/uid";
		l.config.takeover_ms = 35000;
		l.config.object_lease_ms = leased ? 30000 : 0;
		hello(&l, NULL);
		e.lease.sent_ms = l.now_ms;
		step(&l, &e);
		observed_copy(&l, copy, DECISION_ADOPT);
		forget(&l);
		observed(&l, DECISION_START_FROM, CHK(12), 12, NULL);
		CHECK_INT(took(&l, EFFECT_LAUNCH), ==, leased);
		life_end(&l);
	}
}

LIFE_TEST(a_suspended_job_stays_suspended)
{
	hello(l, NULL);
	observed_copy(l, copy_with(DESIRED_SUSPENDED, OUTCOME_NONE), DECISION_ADOPT);
	CHECK_INT(l->life.phase, ==, PHASE_SUSPENDED);
	CHECK_INT(took(l, EFFECT_LAUNCH), ==, 0);
}

LIFE_TEST(a_finished_job_stays_finished)
{
	hello(l, NULL);
	observed_copy(l, copy_with(DESIRED_RUNNING, OUTCOME_FINISHED), DECISION_ADOPT);
	CHECK_INT(l->life.phase, ==, PHASE_FINISHED);
}

LIFE_TEST(an_end_that_flink_has_recorded_is_adopted_by_a_journal_without_a_launch)
{
	struct decision decision = {.kind = DECISION_PARK,
				    .rule = RULE_OUTCOME,
				    .settled = NO_CANDIDATE,
				    .cause = CAUSE_FINISHED,
				    .outcome = OUTCOME_FINISHED,
				    .outcome_reason = "the journal is lost, and it has finished"};
	struct facts facts = {0};
	struct event e = {.type = EVENT_OBSERVED, .observed = {&facts, &decision}};

	hello(l, NULL);
	step(l, &e);
	CHECK_INT(l->life.phase, ==, PHASE_FINISHED);
	CHECK_INT(l->life.journal.outcome.kind, ==, OUTCOME_FINISHED);
	CHECK_STR(l->life.journal.outcome.job_id, "");
	CHECK_INT(took(l, EFFECT_LAUNCH), ==, 0);
}

LIFE_TEST(do_not_restart_stays_on)
{
	struct journal_copy *copy = copy_with(DESIRED_RUNNING, OUTCOME_NONE);

	copy->journal.intent.do_not_restart = true;
	hello(l, NULL);
	observed_copy(l, copy, DECISION_ADOPT);
	CHECK_INT(l->life.phase, ==, PHASE_HOLDING);
	CHECK_INT(l->life.cause, ==, CAUSE_DO_NOT_RESTART);
}

LIFE_TEST(a_stop_that_was_in_flight_is_settled_first)
{
	struct journal_copy *copy = copy_with(DESIRED_SUSPENDED, OUTCOME_NONE);

	copy->journal.operation.kind = OPERATION_STOP;
	copy->journal.operation.reason = REASON_SUSPEND;
	snprintf(copy->journal.operation.job_id, JOB_ID_BYTES, JOB_7);
	snprintf(copy->journal.operation.trigger_id, JOB_ID_BYTES, JOB_7);
	hello(l, NULL);
	forget(l);
	observed_copy(l, copy, DECISION_ADOPT);
	CHECK_INT(took(l, EFFECT_OBSERVE), ==, 1);
	CHECK_INT(l->life.operation.step, ==, STEP_SETTLING);
}

LIFE_TEST(a_person_who_decides_otherwise_draws_no_used_id)
{
	struct journal_copy *copy = copy_with(DESIRED_SUSPENDED, OUTCOME_NONE);

	journal_add_former_job(&copy->journal, "66666666666666666666666666666666");
	hello(l, NULL);
	observed_copy(l, copy, DECISION_START_EMPTY);
	CHECK_INT(took(l, EFFECT_LAUNCH), ==, 1);
	CHECK(journal_is_former_job(&l->life.journal, JOB_7));
	CHECK(journal_is_former_job(&l->life.journal, "66666666666666666666666666666666"));
}

LIFE_TEST(it_is_not_taken_while_the_journal_is_being_written)
{
	l->hold_writes = true;
	hello(l, NULL);
	l->life.want_write = true;
	step(l, &(struct event){.type = EVENT_TICK});
	CHECK_INT(l->life.requested, >, l->life.acknowledged);
	observed_copy(l, copy_with(DESIRED_RUNNING, OUTCOME_NONE), DECISION_ADOPT);
	CHECK_INT(l->life.journal.sequence, <, 200);
	CHECK_INT(l->life.journal.launch_count, ==, 0);
	CHECK(l->life.retry_ms != 0); /* it looks again */
}
