/* A candidate prepares: check, offer, Flink with main() held, TaskManagers; and what goes wrong. */
#include "standby_world.h"

POD_TEST_FROM(pod_begin, a_candidate_is_known_by_its_record_before_there_is_an_offer)
{
	hello(p, NULL);
	CHECK_ROLE(p, ROLE_CANDIDATE);
	CHECK_STATE(p, CANDIDATE_PREPARING);
	CHECK_INT(took(p, STANDBY_DO_CHECK), ==, 1);
	CHECK_STR(p->standby.record.checked.decision, "startFrom");
	CHECK_STR(p->standby.record.why, "it waits for the offer of the owner");
	CHECK_INT(p->standby.record.side, ==, SIDE_GREEN);
	CHECK_INT(took(p, STANDBY_DO_RECORD), >, 0);
	CHECK_NOTHING(p, STANDBY_DO_LAUNCH);
	CHECK(!standby_is_ready(&p->standby));
}

POD_TEST_FROM(candidate_begin, what_is_offered_is_started_under_the_reserved_id_and_held)
{
	enum side side;

	offered(p);
	CHECK_INT(took(p, STANDBY_DO_LAUNCH), ==, 1);
	CHECK_INT(p->last[STANDBY_DO_LAUNCH].side, ==, SIDE_GREEN);
	CHECK_STR(p->standby.job_id, JOB_A);
	CHECK_STR(p->standby.record.handover, "h1-00000001");
	CHECK(standby_side(&p->standby, &side) && side == SIDE_GREEN);
	started(p);
	CHECK_STATE(p, CANDIDATE_PREPARING);
	looked(p, true, 2, 4, 0);
	CHECK(p->standby.record.warm.main_held);
	CHECK_STATE(p, CANDIDATE_PREPARING);
	pass(p, 1999); /* warm for 2 s */
	CHECK_STATE(p, CANDIDATE_PREPARING);
	pass(p, 1);
	CHECK_STATE(p, CANDIDATE_PREPARED);
	CHECK_INT(p->standby.record.warm.slots_free, ==, 4);
	CHECK(p->standby.record.warm.since_unix_ms > 0);
	CHECK_INT(took(p, STANDBY_DO_LAUNCH), ==, 1);
	CHECK_HAS(p->notes, "it is prepared");
}

POD_TEST_FROM(candidate_begin, it_is_warm_only_while_nothing_changes)
{
	offered(p);
	held(p);
	pass(p, 1500);
	looked(p, true, 3, 6, 0); /* one more comes */
	pass(p, 1500);
	CHECK_STATE(p, CANDIDATE_PREPARING);
	pass(p, 500);
	CHECK_STATE(p, CANDIDATE_PREPARED);
}

POD_TEST_FROM(candidate_begin, with_fewer_slots_than_the_job_has_it_waits_longer)
{
	offered(p);
	started(p);
	looked(p, true, 1, 3, 0);
	pass(p, 29999);
	CHECK_STATE(p, CANDIDATE_PREPARING);
	CHECK_STR(p->standby.record.why, "its TaskManagers register");
	pass(p, 1);
	CHECK_STATE(p, CANDIDATE_PREPARED);
}

POD_TEST_FROM(candidate_begin, without_slots_it_is_never_prepared)
{
	offered(p);
	started(p);
	looked(p, true, 0, 0, 0);
	pass(p, 300000);
	CHECK_STATE(p, CANDIDATE_PREPARING);
	CHECK_STR(p->standby.record.why, "it waits for its TaskManagers");
	CHECK_NOTHING(p, STANDBY_DO_KILL);
}

POD_TEST_FROM(prepared_begin, task_managers_of_another_version_end_that)
{
	looked(p, true, 3, 6, 1);
	CHECK_STATE(p, CANDIDATE_PREPARING);
	CHECK_HAS(p->standby.record.why, "TaskManagers of another version");
	CHECK_INT(took(p, STANDBY_DO_RECORD), >, 0); /* at once, not with the next beat */
	looked(p, true, 2, 4, 0);
	pass(p, 2000);
	CHECK_STATE(p, CANDIDATE_PREPARED);
}

POD_TEST_FROM(prepared_begin, a_question_is_answered_and_none_is_answered_before_it_is_prepared)
{
	int64_t beat = p->standby.record.beat;

	p->journal.handover.asked = 1;
	written_by(p, "old");
	journal_read(p);
	CHECK_INT(p->standby.record.answer, ==, 1);
	CHECK_INT(p->standby.record.beat, ==, beat + 1);
	looked(p, true, 2, 4, 1);
	p->journal.handover.asked = 2;
	written_by(p, "old");
	journal_read(p);
	CHECK_INT(p->standby.record.answer, ==, 1);
	looked(p, true, 2, 4, 0);
	pass(p, 2000);
	CHECK_INT(p->standby.record.answer, ==, 2);
}

POD_TEST_FROM(prepared_begin, a_held_flink_that_dies_is_said_at_once_and_started_again)
{
	exited(p);
	CHECK_STATE(p, CANDIDATE_PREPARING);
	CHECK_INT(took(p, STANDBY_DO_RECORD), ==, 1);
	CHECK(!p->standby.record.warm.main_held);
	CHECK_INT(p->standby.record.warm.since_unix_ms, ==, 0);
	CHECK_STR(p->standby.record.why, "Flink was killed by signal 9");
	CHECK_NOTHING(p, STANDBY_DO_LAUNCH);
	pass(p, 2000);
	CHECK_INT(took(p, STANDBY_DO_LAUNCH), ==, 1);
	CHECK_STR(p->standby.job_id, JOB_A);
	held(p);
	pass(p, 2000);
	CHECK_STATE(p, CANDIDATE_PREPARED);
}

static void use_up_attempts(struct pod *p)
{
	for (int i = 0; i < p->config.max_attempts; i++) {
		CHECK_INT(p->standby.flink, ==, STANDBY_FLINK_ASKED);
		if (i % 2)
			started(p);
		exited_as(p, i % 2 ? STANDBY_EXITED : STANDBY_FAILED, "no such class");
		if (i + 1 < p->config.max_attempts) {
			CHECK_STATE(p, CANDIDATE_PREPARING);
			pass(p, 10000);
		}
	}
}

POD_TEST_FROM(candidate_begin, after_the_last_attempt_it_has_failed_and_waits_without_flink)
{
	offered(p);
	use_up_attempts(p);
	CHECK_STATE(p, CANDIDATE_FAILED);
	CHECK_STR(p->standby.record.why, "no such class");
	CHECK_INT(p->standby.cause, ==, CAUSE_PREPARE_FAILED);
	forget(p);
	pass(p, 120000);
	CHECK_NOTHING(p, STANDBY_DO_LAUNCH);
	CHECK_STATE(p, CANDIDATE_FAILED);
}

POD_TEST_FROM(candidate_begin, when_its_failure_was_seen_it_can_be_offered_the_job_again)
{
	offered(p);
	use_up_attempts(p);
	state_is(p, HANDOVER_NONE, "old"); /* the first try is over */
	journal_read(p);
	CHECK_STATE(p, CANDIDATE_PREPARING);
	forget(p);
	offer_is(p, "h1-00000002", JOB_B);
	journal_read(p);
	CHECK_INT(took(p, STANDBY_DO_LAUNCH), ==, 1);
	CHECK_STR(p->standby.job_id, JOB_B);
}

POD_TEST_FROM(candidate_begin, a_main_that_is_not_reached_in_time_is_a_failed_attempt)
{
	offered(p);
	started(p);
	for (int i = 0; i < 59; i++) {
		pass(p, 1000);
		looked(p, false, 2, 4, 0);
	}
	CHECK_NOTHING(p, STANDBY_DO_KILL);
	pass(p, 1000);
	CHECK_INT(took(p, STANDBY_DO_KILL), ==, 1);
	CHECK_STR(p->last[STANDBY_DO_KILL].id, JOB_A);
	CHECK_HAS(p->notes, "main() was not reached within attempts.readyDeadline");
	pass(p, 5000);
	CHECK_INT(took(p, STANDBY_DO_KILL), ==, 1);
	pass(p, 5000); /* it does not help: again */
	CHECK_INT(took(p, STANDBY_DO_KILL), ==, 2);
	exited(p);
	CHECK_INT(p->standby.attempts, ==, 1); /* counted once */
	pass(p, 10000);
	CHECK_INT(took(p, STANDBY_DO_LAUNCH), ==, 2);
}

POD_TEST_FROM(pod_begin, what_cannot_be_checked_is_not_started)
{
	struct standby_event e = {.type = STANDBY_CHECKED,
				  .checked = {.decision = "hold", .why = "the bucket is gone"}};

	p->no_checks = true;
	hello(p, NULL);
	offered(p);
	step(p, &e);
	CHECK_STATE(p, CANDIDATE_PREPARING);
	CHECK_STR(p->standby.record.why, "the bucket is gone");
	CHECK_INT(took(p, STANDBY_DO_CHECK), ==, 1);
	p->no_checks = false;
	pass(p, 15000);
	CHECK_INT(took(p, STANDBY_DO_CHECK), ==, 2);
	CHECK_INT(took(p, STANDBY_DO_LAUNCH), ==, 1);
}

POD_TEST_FROM(pod_begin, what_needs_many_words_is_said_once)
{
	char why[3 * STANDBY_SENTENCE_BYTES];
	struct standby_event e = {.type = STANDBY_CHECKED,
				  .checked = {.decision = "hold", .why = why}};

	memset(why, 'x', sizeof(why) - 1);
	why[sizeof(why) - 1] = 0;
	p->no_checks = true;
	hello(p, NULL);
	offered(p);
	step(p, &e);
	CHECK_STR(p->standby.record.why, why);
	forget(p);
	pass(p, 5000);
	CHECK_INT(took(p, STANDBY_DO_NOTE), ==, 0);
}

/* ---- the offer ends ---- */

POD_TEST_FROM(prepared_begin, an_offer_that_is_withdrawn_ends_its_flink)
{
	state_is(p, HANDOVER_NONE, "old");
	journal_read(p);
	CHECK_INT(took(p, STANDBY_DO_KILL), ==, 1);
	CHECK_STATE(p, CANDIDATE_PREPARING);
	exited(p);
	CHECK_INT(p->standby.attempts, ==, 0);
	pass(p, 60000);
	CHECK_NOTHING(p, STANDBY_DO_LAUNCH);
}

POD_TEST_FROM(prepared_begin, another_offer_has_another_flink)
{
	offer_is(p, "h1-00000002", JOB_B);
	journal_read(p);
	CHECK_INT(took(p, STANDBY_DO_KILL), ==, 1);
	CHECK_STR(p->last[STANDBY_DO_KILL].id, JOB_A);
	CHECK_STATE(p, CANDIDATE_PREPARING);
	CHECK_NOTHING(p, STANDBY_DO_LAUNCH); /* two would not fit */
	exited(p);
	CHECK_INT(took(p, STANDBY_DO_LAUNCH), ==, 1);
	CHECK_STR(p->standby.job_id, JOB_B);
}

POD_TEST_FROM(prepared_begin, an_offer_to_another_pod_is_none)
{
	party_is_now(&p->journal.handover.to, "other", "g2/c1/h2", SIDE_GREEN);
	written_by(p, "old");
	journal_read(p);
	CHECK_INT(took(p, STANDBY_DO_KILL), ==, 1);
	CHECK_STATE(p, CANDIDATE_PREPARING);
}

POD_TEST_FROM(prepared_begin, a_refusal_is_shown)
{
	xstrset(&p->journal.handover.why, "2 hand-overs have failed");
	state_is(p, HANDOVER_REFUSED, "old");
	journal_read(p);
	CHECK_INT(took(p, STANDBY_DO_KILL), ==, 1);
	CHECK_INT(p->standby.cause, ==, CAUSE_HANDOVER_REFUSED);
	CHECK_STR(p->standby.reason, "2 hand-overs have failed");
}

POD_TEST_FROM(prepared_begin, a_template_that_is_wanted_no_more_ends_its_flink_and_waits)
{
	p->wanted = WANTED_NO;
	pass(p, 10000);
	CHECK_ROLE(p, ROLE_STANDBY);
	CHECK_INT(took(p, STANDBY_DO_KILL), ==, 1);
	exited(p);
	p->wanted = WANTED_YES;
	pass(p, 10000);
	CHECK_ROLE(p, ROLE_CANDIDATE);
	CHECK_INT(took(p, STANDBY_DO_LAUNCH), ==, 1);
}

POD_TEST_FROM(prepared_begin, a_deployment_that_cannot_be_read_wants_what_it_wanted)
{
	p->wanted = WANTED_UNKNOWN;
	pass(p, 60000);
	CHECK_ROLE(p, ROLE_CANDIDATE);
	CHECK_STATE(p, CANDIDATE_PREPARED);
	CHECK_NOTHING(p, STANDBY_DO_KILL);
}

/* ---- returned before ---- */

POD_TEST_FROM(candidate_begin, that_it_has_returned_the_job_is_said_until_a_person_has_seen_it)
{
	xstrset(&p->journal.handover.returned, "main() threw");
	offered(p);
	CHECK_INT(p->standby.cause, ==, CAUSE_HANDOVER_RETURNED);
	CHECK_HAS(p->standby.reason, "its JobManager starts; this version has returned the job: ");
	CHECK_HAS(p->standby.reason, "main() threw");
	held(p);
	pass(p, 500);
	looked(p, true, 2, 4, 0);
	pass(p, 1500);
	CHECK_STATE(p, CANDIDATE_PREPARED);
	CHECK_INT(p->standby.cause, ==, CAUSE_HANDOVER_RETURNED);
	CHECK_HAS(p->standby.reason, "it is prepared, and waits for the job");
	xstrset(&p->journal.handover.returned, NULL); /* drey resume */
	written_by(p, "old");
	journal_read(p);
	CHECK_INT(p->standby.cause, ==, CAUSE_PREPARING);
}

POD_TEST_FROM(candidate_begin, what_another_version_has_returned_says_nothing_about_this_one)
{
	xstrset(&p->journal.handover.returned, "main() threw");
	offer_is(p, "h1-00000001", JOB_A);
	xstrset(&p->journal.handover.to.template, "g9/c1/h9");
	journal_read(p);
	CHECK_INT(p->standby.cause, ==, CAUSE_PREPARING);
}

/* ---- the journal cannot be read ---- */

POD_TEST_FROM(prepared_begin, a_journal_that_cannot_be_read_changes_nothing)
{
	p->unreadable = true;
	pass(p, 60000);
	CHECK_ROLE(p, ROLE_UNREADABLE);
	CHECK_STATE(p, CANDIDATE_PREPARED);
	CHECK_NOTHING(p, STANDBY_DO_KILL);
	CHECK_NOTHING(p, STANDBY_DO_OWN);
	CHECK_INT(p->standby.cause, ==, CAUSE_JOURNAL_UNREADABLE);
	p->unreadable = false;
	pass(p, 1000);
	CHECK_ROLE(p, ROLE_CANDIDATE);
	CHECK_STATE(p, CANDIDATE_PREPARED);
	CHECK_NOTHING(p, STANDBY_DO_LAUNCH);
	forget(p);
	pass(p, 20000); /* and it goes on saying so, and looking */
	CHECK_INT(took(p, STANDBY_DO_RECORD), >=, 3);
	CHECK_INT(took(p, STANDBY_DO_WARM), >=, 1);
}

/* ---- level 1, and the same generation ---- */

POD_TEST_FROM(pod_begin, without_a_held_main_the_offer_is_enough)
{
	p->config.hold_main = false;
	hello(p, NULL);
	CHECK_STATE(p, CANDIDATE_PREPARING);
	offered(p);
	CHECK_STATE(p, CANDIDATE_PREPARED);
	p->journal.handover.asked = 1;
	written_by(p, "old");
	journal_read(p);
	CHECK_INT(p->standby.record.answer, ==, 1);
	CHECK_NOTHING(p, STANDBY_DO_LAUNCH);
	granted(p);
	CHECK_OWNS(p, CLAIM_TAKE);
}

POD_TEST_FROM(pod_begin, the_same_generation_has_the_same_side_and_holds_nothing)
{
	p->config.me.template = "g1/c2/h2";
	hello(p, NULL);
	CHECK_NOTHING(p, STANDBY_DO_CHECK);
	CHECK_INT(p->standby.record.side, ==, SIDE_BLUE);
	offer_is(p, "h1-00000001", "");
	p->journal.handover.kind = HANDOVER_SAME;
	p->journal.handover.to.side = SIDE_BLUE;
	journal_read(p);
	CHECK_STATE(p, CANDIDATE_PREPARED);
	CHECK_NOTHING(p, STANDBY_DO_LAUNCH);
	granted(p);
	CHECK_OWNS(p, CLAIM_TAKE);
}

/* ---- the agent restarts ---- */

POD_TEST_FROM(pod_begin, a_new_agent_goes_on_with_the_flink_that_is_held)
{
	offer_is(p, "h1-00000001", JOB_A);
	hello(p, JOB_A);
	CHECK_NOTHING(p, STANDBY_DO_LAUNCH);
	CHECK_NOTHING(p, STANDBY_DO_KILL);
	CHECK_INT(took(p, STANDBY_DO_WARM), ==, 1);
	looked(p, true, 2, 4, 0);
	pass(p, 2000);
	CHECK_STATE(p, CANDIDATE_PREPARED);
}

POD_TEST_FROM(pod_begin, a_new_agent_ends_a_flink_that_is_for_no_offer)
{
	hello(p, JOB_A);
	CHECK_INT(took(p, STANDBY_DO_KILL), ==, 1);
	CHECK_STR(p->last[STANDBY_DO_KILL].id, JOB_A);
}

POD_TEST_FROM(pod_begin, while_the_journal_is_being_read_nothing_is_done)
{
	p->hold_reads = true;
	hello(p, JOB_A);
	pass(p, 30000);
	CHECK_NOTHING(p, STANDBY_DO_KILL);
	CHECK_NOTHING(p, STANDBY_DO_RECORD);
	CHECK_INT(took(p, STANDBY_DO_READ), ==, 1);
	CHECK_STR(p->standby.reason, "the journal is being read");
}

POD_TEST_FROM(candidate_begin, a_leader_lock_that_is_not_free_yet_is_no_failed_attempt)
{
	struct standby_event e = {.type = STANDBY_FAILED};

	offered(p);
	e.process.launch_id = JOB_A;
	e.process.why = "another Flink may be running";
	e.process.waits = true;
	for (int i = 1; i <= 20; i++) { /* as long as such a lock lasts */
		CHECK_INT(took(p, STANDBY_DO_LAUNCH), ==, i);
		step(p, &e);
		CHECK_STATE(p, CANDIDATE_PREPARING);
		CHECK_STR(p->standby.record.why, "another Flink may be running");
		pass(p, 1000);
	}
	held(p);
	pass(p, 2500);
	CHECK_STATE(p, CANDIDATE_PREPARED);
}
