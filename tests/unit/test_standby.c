/* A pod that does not own the application: when it becomes the owner, what it says, and how it ends. */
#include "standby_world.h"

/* ---- it becomes the owner ---- */

POD_TEST_FROM(prepared_begin, what_is_granted_is_owned_with_exactly_that_read)
{
	party_set(&p->journal.owner, &p->journal.handover.to);
	state_is(p, HANDOVER_GRANTED, "old");
	event_of(p, STANDBY_TICK);
	looked(p, true, 2, 4, 0);
	CHECK_NOTHING(p, STANDBY_DO_OWN);
	journal_read(p);
	CHECK_OWNS(p, CLAIM_TAKE);
	CHECK_INT(p->standby.sequence, ==, p->journal.sequence);
	CHECK_NOTHING(p, STANDBY_DO_KILL); /* what is held is for this */
	CHECK_INT(p->standby.flink, ==, STANDBY_FLINK_HELD);
	forget(p);
	event_of(p, STANDBY_TICK); /* nothing more comes from here */
	exited(p);
	CHECK_NOTHING(p, STANDBY_DO_RECORD);
	CHECK_NOTHING(p, STANDBY_DO_LAUNCH);
}

POD_TEST_FROM(prepared_begin, what_a_watch_has_seen_is_read_before_it_is_owned)
{
	struct standby_event e = {.type = STANDBY_JOURNAL, .read.by_watch = true};

	p->hold_reads = true;
	party_set(&p->journal.owner, &p->journal.handover.to);
	state_is(p, HANDOVER_GRANTED, "old");
	e.read.journal = &p->journal;
	forget(p);
	step(p, &e);
	CHECK_ROLE(p, ROLE_OWNER);
	CHECK_NOTHING(p, STANDBY_DO_OWN);
	CHECK_INT(took(p, STANDBY_DO_READ), ==, 1);
	journal_read(p);
	CHECK_OWNS(p, CLAIM_TAKE);
}

POD_TEST_FROM(candidate_begin, what_a_watch_has_seen_of_an_offer_is_enough_to_prepare)
{
	struct standby_event e = {.type = STANDBY_JOURNAL, .read.by_watch = true};

	p->hold_reads = true;
	offer_is(p, "h1-00000001", JOB_A);
	e.read.journal = &p->journal;
	step(p, &e);
	CHECK_INT(took(p, STANDBY_DO_LAUNCH), ==, 1);
}

POD_TEST_FROM(candidate_begin, what_is_granted_while_flink_is_asked_for_waits_for_the_answer)
{
	offered(p);
	granted(p);
	CHECK_NOTHING(p, STANDBY_DO_OWN);
	started(p);
	CHECK_OWNS(p, CLAIM_TAKE);
	CHECK_NOTHING(p, STANDBY_DO_KILL);
}

POD_TEST_FROM(prepared_begin, a_flink_of_another_offer_ends_before_the_job_is_taken)
{
	offer_is(p, "h1-00000002", JOB_B);
	granted(p);
	CHECK_NOTHING(p, STANDBY_DO_OWN);
	CHECK_INT(took(p, STANDBY_DO_KILL), ==, 1);
	exited(p);
	CHECK_OWNS(p, CLAIM_TAKE);
	CHECK_INT(p->standby.flink, ==, STANDBY_FLINK_NONE);
}

POD_TEST_FROM(prepared_begin, what_was_granted_to_another_pod_is_not_owned)
{
	party_is_now(&p->journal.handover.to, "other", "g2/c1/h2", SIDE_GREEN);
	granted(p);
	CHECK_ROLE(p, ROLE_STANDBY);
	CHECK_NOTHING(p, STANDBY_DO_OWN);
	CHECK_INT(took(p, STANDBY_DO_KILL), ==, 1);
}

POD_TEST_FROM(pod_begin, the_first_pod_of_all_owns_at_once)
{
	p->absent = true;
	p->locks[SIDE_BLUE] = LOCK_FREE;
	hello(p, NULL);
	CHECK_OWNS(p, CLAIM_OWN);
	CHECK_INT(p->standby.verdict.side, ==, SIDE_BLUE);
}

POD_TEST_FROM(pod_begin, without_a_journal_it_waits_while_a_flink_leads)
{
	p->absent = true;
	p->locks[SIDE_GREEN] = LOCK_UNKNOWN;
	hello(p, NULL);
	CHECK_ROLE(p, ROLE_STANDBY);
	p->locks[SIDE_BLUE] = LOCK_FREE;
	pass(p, 20000);
	CHECK_ROLE(p, ROLE_STANDBY); /* both sides must be free */
	CHECK_NOTHING(p, STANDBY_DO_OWN);
	p->locks[SIDE_GREEN] = LOCK_FREE;
	pass(p, 20000);
	CHECK_OWNS(p, CLAIM_OWN);
}

POD_TEST_FROM(prepared_begin, a_journal_that_is_gone_is_not_begun_anew)
{
	p->absent = true;
	p->locks[SIDE_BLUE] = LOCK_FREE;
	pass(p, 300000);
	CHECK_NOTHING(p, STANDBY_DO_OWN);
	CHECK_NOTHING(p, STANDBY_DO_KILL);
	CHECK_ROLE(p, ROLE_UNREADABLE);
}

/* It would be the owner that it was, beside the one that it has given the job to. */
POD_TEST_FROM(reserve_begin, a_journal_that_was_put_back_is_not_followed)
{
	p->put_back = 17;
	journal_read(p);
	pass(p, 10000);
	CHECK_NOTHING(p, STANDBY_DO_OWN);
	CHECK_ROLE(p, ROLE_UNREADABLE);
	CHECK_INT(p->standby.cause, ==, CAUSE_JOURNAL_UNREADABLE);
	CHECK_HAS(p->standby.reason, "put back to an older version (17 after ");
	/* its owner has written it again */
	p->put_back = 0;
	written_by(p, "next");
	journal_read(p);
	CHECK_ROLE(p, ROLE_RESERVE);
}

POD_TEST_FROM(pod_begin, the_agent_of_an_owner_restarts_and_its_flink_runs_on)
{
	party_is_now(&p->journal.owner, "new", "g2/c1/h2", SIDE_GREEN);
	written_by(p, "new");
	hello(p, JOB_A);
	CHECK_NOTHING(p, STANDBY_DO_KILL);
	CHECK_OWNS(p, CLAIM_OWN);
}

/* ---- the owner is gone ---- */

POD_TEST_FROM(candidate_begin, the_owner_is_asked_only_when_its_lock_is_free)
{
	pass(p, 60000);
	CHECK_INT(p->standby.record.ask, ==, 0);
	p->locks[SIDE_BLUE] = LOCK_UNKNOWN;
	pass(p, 60000);
	CHECK_INT(p->standby.record.ask, ==, 0);
	p->locks[SIDE_BLUE] = LOCK_FREE;
	pass(p, 10000);
	CHECK_INT(p->standby.record.ask, >, 0);
}

POD_TEST_FROM(candidate_begin, an_owner_that_does_not_answer_loses_the_job)
{
	p->locks[SIDE_BLUE] = LOCK_FREE;
	for (int i = 0; i < 10 && !p->standby.asks; i++)
		pass(p, 1000);
	CHECK(p->standby.asks);
	pass(p, 28000); /* a pod of the owner's own template goes first, after 15 s */
	CHECK_NOTHING(p, STANDBY_DO_OWN);
	pass(p, 3000);
	CHECK_OWNS(p, CLAIM_FORCE);
	CHECK_INT(p->standby.verdict.side, ==, SIDE_GREEN);
}

POD_TEST_FROM(candidate_begin, the_time_of_the_answer_counts_from_the_question_on_record)
{
	p->record_fails = true;
	p->locks[SIDE_BLUE] = LOCK_FREE;
	pass(p, 60000);
	CHECK_NOTHING(p, STANDBY_DO_OWN);
	p->record_fails = false;
	pass(p, 29000);
	CHECK_NOTHING(p, STANDBY_DO_OWN);
	pass(p, 3000);
	CHECK_OWNS(p, CLAIM_FORCE);
}

POD_TEST_FROM(candidate_begin, an_owner_that_writes_lives_and_is_asked_again)
{
	int64_t ask;

	p->locks[SIDE_BLUE] = LOCK_FREE;
	for (int i = 0; i < 10; i++) {
		pass(p, 5000);
		ask = p->standby.record.ask;
		written_by(p, "old");
		pass(p, 10000);
		CHECK(!p->standby.asks || p->standby.record.ask > ask);
	}
	CHECK_NOTHING(p, STANDBY_DO_OWN);
	CHECK_ROLE(p, ROLE_CANDIDATE);
}

POD_TEST_FROM(candidate_begin, a_flink_that_leads_again_ends_the_question)
{
	p->locks[SIDE_BLUE] = LOCK_FREE;
	pass(p, 10000);
	CHECK(p->standby.asks);
	p->locks[SIDE_BLUE] = LOCK_HELD;
	pass(p, 60000);
	CHECK_NOTHING(p, STANDBY_DO_OWN);
	CHECK(!p->standby.asks);
}

POD_TEST_FROM(candidate_begin, what_cannot_be_read_at_the_end_of_the_time_is_not_taken)
{
	p->locks[SIDE_BLUE] = LOCK_FREE;
	pass(p, 15000);
	p->unreadable = true;
	pass(p, 120000);
	CHECK_NOTHING(p, STANDBY_DO_OWN);
	p->unreadable = false;
	pass(p, 2000);
	CHECK_NOTHING(p, STANDBY_DO_OWN); /* asked anew */
	pass(p, 35000);
	CHECK_OWNS(p, CLAIM_FORCE);
}

static void successor_begin(struct pod *p)
{
	pod_begin_as(p, "old2", "g1/c1/h1");
	hello(p, NULL);
}

POD_TEST_FROM(successor_begin, a_pod_of_the_same_template_waits_and_succeeds)
{
	CHECK_ROLE(p, ROLE_STANDBY);
	pass(p, 60000);
	CHECK_NOTHING(p, STANDBY_DO_RECORD); /* who only waits says nothing */
	p->wanted = WANTED_NO;
	p->locks[SIDE_BLUE] = LOCK_FREE;
	pass(p, 22000);
	CHECK_OWNS(p, CLAIM_SUCCEED);
	CHECK_INT(p->standby.verdict.side, ==, SIDE_BLUE);
}

POD_TEST_FROM(successor_begin, who_only_waits_ends_at_once)
{
	event_of(p, STANDBY_STOPPING);
	CHECK_INT(took(p, STANDBY_DO_STOP_ACK), ==, 1);
	CHECK_INT(took(p, STANDBY_DO_EXIT), ==, 1);
	CHECK_NOTHING(p, STANDBY_DO_RECORD);
}

/* ---- the reserve ---- */

POD_TEST_FROM(reserve_begin, the_reserve_says_that_it_is_and_is_ready_until_the_job_runs)
{
	enum side side;

	CHECK_ROLE(p, ROLE_RESERVE);
	CHECK_STATE(p, CANDIDATE_HANDED_OVER);
	CHECK(standby_is_ready(&p->standby));
	CHECK(standby_side(&p->standby, &side) && side == SIDE_BLUE);
	state_is(p, HANDOVER_TAKEN, "next");
	journal_read(p);
	CHECK(standby_is_ready(&p->standby));
	pass(p, 600000); /* its lock is held */
	CHECK_NOTHING(p, STANDBY_DO_OWN);
	state_is(p, HANDOVER_DONE, "next");
	journal_read(p);
	CHECK_ROLE(p, ROLE_RESERVE);
	CHECK(!standby_is_ready(&p->standby));
	CHECK_STATE(p, CANDIDATE_HANDED_OVER);
}

POD_TEST_FROM(reserve_begin, what_was_not_taken_in_time_is_taken_back_with_a_fresh_read)
{
	p->hold_reads = true;
	pass(p, 14000);
	CHECK_NOTHING(p, STANDBY_DO_OWN);
	forget(p);
	pass(p, 3000);
	CHECK_ROLE(p, ROLE_OWNER);
	CHECK_NOTHING(p, STANDBY_DO_OWN);
	journal_read(p);
	CHECK_OWNS(p, CLAIM_BACK);
}

POD_TEST_FROM(reserve_begin, what_was_taken_at_the_last_moment_is_not_taken_back)
{
	p->hold_reads = true;
	pass(p, 17000);
	state_is(p, HANDOVER_TAKEN, "next");
	journal_read(p);
	CHECK_ROLE(p, ROLE_RESERVE);
	CHECK_NOTHING(p, STANDBY_DO_OWN);
}

POD_TEST_FROM(reserve_begin, what_is_returned_is_owned)
{
	state_is(p, HANDOVER_TAKEN, "next");
	journal_read(p);
	party_set(&p->journal.owner, &p->journal.handover.from);
	state_is(p, HANDOVER_RETURNED, "next");
	CHECK_NOTHING(p, STANDBY_DO_OWN);
	journal_read(p);
	CHECK_OWNS(p, CLAIM_BACK);
	CHECK_INT(p->standby.verdict.side, ==, SIDE_BLUE);
}

POD_TEST_FROM(reserve_begin, a_job_that_was_taken_by_a_pod_that_is_gone_comes_back_late)
{
	state_is(p, HANDOVER_TAKEN, "next");
	journal_read(p);
	p->locks[SIDE_GREEN] = LOCK_FREE;
	pass(p, 179000);
	CHECK_NOTHING(p, STANDBY_DO_OWN);
	pass(p, 2000);
	CHECK_OWNS(p, CLAIM_BACK);
}

POD_TEST_FROM(reserve_begin, the_reserve_is_a_candidate_when_it_is_wanted_again)
{
	state_is(p, HANDOVER_DONE, "next");
	p->wanted = WANTED_YES;
	journal_read(p);
	pass(p, 10000);
	CHECK_ROLE(p, ROLE_CANDIDATE);
	CHECK_STATE(p, CANDIDATE_PREPARING);
	CHECK_INT(p->standby.verdict.side, ==, SIDE_BLUE);
}

POD_TEST_FROM(reserve_begin, the_reserve_ends_when_it_is_told_to)
{
	forget(p);
	event_of(p, STANDBY_STOPPING);
	CHECK_STATE(p, CANDIDATE_WITHDRAWN);
	CHECK_INT(took(p, STANDBY_DO_RECORD), ==, 1);
	CHECK_INT(took(p, STANDBY_DO_EXIT), ==, 1);
}

/* ---- a drey that knows no hand-over ---- */

POD_TEST_FROM(pod_begin, after_a_drey_without_owner_it_is_ready_and_waits_for_its_end)
{
	written_by(p, "ancient");
	hello(p, NULL);
	CHECK_ROLE(p, ROLE_HEIR);
	CHECK(!standby_is_ready(&p->standby));
	pass(p, 29000);
	CHECK(!standby_is_ready(&p->standby));
	pass(p, 11000);
	CHECK(standby_is_ready(&p->standby));
	pass(p, 60000);
	CHECK_NOTHING(p, STANDBY_DO_OWN);
	CHECK_NOTHING(p, STANDBY_DO_RECORD);
	p->locks[SIDE_BLUE] = LOCK_FREE;
	pass(p, 10000);
	CHECK_OWNS(p, CLAIM_OWN);
}

/* ---- the record ---- */

POD_TEST_FROM(prepared_begin, it_beats_every_5_s)
{
	int64_t beat = p->standby.record.beat;

	pass(p, 60000);
	CHECK_INT(p->standby.record.beat, >=, beat + 11);
	CHECK_INT(p->standby.record.beat, <=, beat + 13);
}

POD_TEST_FROM(prepared_begin, one_write_of_the_record_at_a_time)
{
	p->hold_records = true;
	looked(p, true, 2, 4, 1);
	CHECK_INT(took(p, STANDBY_DO_RECORD), ==, 1);
	looked(p, true, 2, 4, 0);
	pass(p, 30000);
	CHECK_INT(took(p, STANDBY_DO_RECORD), ==, 1);
	p->hold_records = false;
	record_written(p);
	CHECK_INT(took(p, STANDBY_DO_RECORD), ==, 2); /* what has changed meanwhile */
}

POD_TEST_FROM(candidate_begin, a_record_that_could_not_be_written_is_written_again)
{
	p->record_fails = true;
	offered(p);
	CHECK_INT(took(p, STANDBY_DO_RECORD), ==, 1);
	pass(p, 1000);
	CHECK_INT(took(p, STANDBY_DO_RECORD), ==, 2);
	p->record_fails = false;
	p->place_taken = true;
	pass(p, 1000);
	forget(p);
	pass(p, 9000); /* of another candidate: it may end */
	CHECK_INT(took(p, STANDBY_DO_RECORD), ==, 1);
	CHECK(p->standby.place_taken);
	p->place_taken = false;
	pass(p, 5000);
	CHECK(!p->standby.place_taken);
}

/* ---- the container is being stopped ---- */

POD_TEST_FROM(prepared_begin, a_candidate_that_ends_withdraws_and_kills_its_flink)
{
	event_of(p, STANDBY_STOPPING);
	CHECK_INT(took(p, STANDBY_DO_STOP_ACK), ==, 1);
	CHECK_INT(took(p, STANDBY_DO_KILL), ==, 1);
	CHECK_STATE(p, CANDIDATE_WITHDRAWN);
	CHECK_INT(took(p, STANDBY_DO_RECORD), ==, 1);
	CHECK_NOTHING(p, STANDBY_DO_EXIT);
	granted(p); /* too late: it is taken back */
	CHECK_NOTHING(p, STANDBY_DO_OWN);
	pass(p, 5000);
	CHECK_NOTHING(p, STANDBY_DO_EXIT);
	exited(p);
	CHECK_INT(took(p, STANDBY_DO_EXIT), ==, 1);
	CHECK_INT(standby_deadline_ms(&p->standby), ==, -1);
	CHECK(!standby_is_ready(&p->standby));
}

POD_TEST_FROM(prepared_begin, the_last_record_is_awaited_for_2_s_only)
{
	p->hold_records = true;
	event_of(p, STANDBY_STOPPING);
	exited(p);
	pass(p, 1999);
	CHECK_NOTHING(p, STANDBY_DO_EXIT);
	pass(p, 1);
	CHECK_INT(took(p, STANDBY_DO_EXIT), ==, 1);
}

POD_TEST_FROM(candidate_begin, a_flink_that_is_being_started_ends_too)
{
	offered(p);
	event_of(p, STANDBY_STOPPING);
	CHECK_INT(took(p, STANDBY_DO_KILL), ==, 1);
	started(p);
	CHECK_NOTHING(p, STANDBY_DO_EXIT);
	pass(p, 10000);
	CHECK_INT(took(p, STANDBY_DO_KILL), ==, 2);
	exited(p);
	CHECK_INT(took(p, STANDBY_DO_EXIT), ==, 1);
}

POD_TEST_FROM(candidate_begin, a_flink_that_could_not_be_started_needs_no_end)
{
	offered(p);
	event_of(p, STANDBY_STOPPING);
	exited_as(p, STANDBY_FAILED, "no java");
	CHECK_INT(took(p, STANDBY_DO_EXIT), ==, 1);
}

POD_TEST_FROM(pod_begin, it_can_end_before_the_journal_was_read)
{
	p->unreadable = true;
	hello(p, NULL);
	event_of(p, STANDBY_STOPPING);
	CHECK_INT(took(p, STANDBY_DO_EXIT), ==, 1);
}
