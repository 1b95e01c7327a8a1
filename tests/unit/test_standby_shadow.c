/* A candidate in a transition: when its job begins in the shadow, what its record says of it, when it ends. */
#include "core/handover/transition.h"
#include "standby_world.h"

static const struct blue_green policy = {.policy = {.gate = TRANSITION_GATE_DREY}};
static const struct blue_green no_gates = {.policy = {.gate = TRANSITION_GATE_NONE},
					   .caught_up_ms = 10000};

static void state_of(struct pod *p, enum transition_state state)
{
	p->journal.handover.transition.state = state;
	state_is(p, transition_outside(state), "old");
	journal_read(p);
}

static void transition_begins(struct pod *p)
{
	candidate_begin(p);
	p->config.blue_green = &policy;
	offer_is(p, "h1-00000001", JOB_A);
	transition_begin(&p->journal.handover, 40);
	state_of(p, TRANSITION_OFFERED);
}

static void prepared(struct pod *p)
{
	transition_begins(p);
	held(p);
	pass(p, 2500);
	CHECK_STATE(p, CANDIDATE_PREPARED);
}

static void shadow_begins(struct pod *p)
{
	prepared(p);
	state_of(p, TRANSITION_SEEDING);
	state_of(p, TRANSITION_SEEDED);
	forget(p);
}

static void job_is(struct pod *p, bool runs, bool failed)
{
	static const struct gate_report none;
	struct standby_event e = {.type = STANDBY_JOB};

	e.job.runs = runs;
	e.job.failed = failed;
	e.job.why = "it does not run";
	e.job.gate = &none;
	step(p, &e);
}

#define CHECK_SHADOW(p, expected) CHECK_INT((p)->standby.record.shadow.state, ==, expected)

POD_TEST_FROM(prepared, it_waits_for_the_seed)
{
	CHECK_STR(p->standby.record.shadow.transition, "h1-00000001");
	CHECK_SHADOW(p, SHADOW_PREPARED);
	CHECK(p->standby.record.shadow.gate.max_seen_unix_ms == GATE_NO_TIME);
	state_of(p, TRANSITION_SEEDING);
	CHECK_NOTHING(p, STANDBY_DO_SHADOW);
	state_of(p, TRANSITION_SEEDED);
	CHECK_INT(took(p, STANDBY_DO_SHADOW), ==, 1);
	CHECK(p->last[STANDBY_DO_SHADOW].seed);
	CHECK_SHADOW(p, SHADOW_STARTING);
	CHECK_STATE(p, CANDIDATE_PREPARED);
	CHECK_INT(p->standby.record.side, ==, SIDE_GREEN);
	CHECK_NOTHING(p, STANDBY_DO_KILL);
	CHECK(!standby_is_ready(&p->standby));
}

POD_TEST_FROM(prepared, the_news_of_a_watch_are_read_before_it_begins)
{
	struct standby_event e = {.type = STANDBY_JOURNAL};

	p->hold_reads = true;
	p->journal.handover.transition.state = TRANSITION_SEEDED;
	written_by(p, "old");
	e.read.journal = &p->journal;
	e.read.by_watch = true;
	step(p, &e);
	CHECK_NOTHING(p, STANDBY_DO_SHADOW);
	CHECK_INT(took(p, STANDBY_DO_READ), >, 0);
	journal_read(p);
	CHECK_INT(took(p, STANDBY_DO_SHADOW), ==, 1);
}

POD_TEST_FROM(transition_begins, what_is_not_prepared_does_not_begin)
{
	started(p);
	state_of(p, TRANSITION_SEEDED);
	CHECK_NOTHING(p, STANDBY_DO_SHADOW);
	looked(p, true, 2, 4, 0);
	pass(p, 2500); /* it is prepared later */
	pass(p, 10000);
	CHECK_INT(took(p, STANDBY_DO_SHADOW), ==, 1);
}

POD_TEST_FROM(shadow_begins, its_record_says_how_the_job_is)
{
	struct gate_report report = {
		.known = true, .order = {41, GATE_CLOSED, 0}, .subtasks = 2, .running = 2};
	struct standby_event e = {.type = STANDBY_JOB, .job = {.runs = true, .gate = &report}};
	int written;

	CHECK(p->standby.record.warm.main_held);
	job_is(p, true, false);
	CHECK_SHADOW(p, SHADOW_RUNNING);
	CHECK(!p->standby.record.warm.main_held);
	step(p, &e);
	CHECK_INT(p->standby.record.shadow.gate.order.number, ==, 41);
	pass(p, 2000);
	written = took(p, STANDBY_DO_RECORD);
	report.min_watermark_unix_ms = 5; /* goes with the next beat */
	step(p, &e);
	CHECK_INT(took(p, STANDBY_DO_RECORD), ==, written);
	report.acked = 2; /* the owner waits for this */
	step(p, &e);
	CHECK_INT(took(p, STANDBY_DO_RECORD), ==, written + 1);
	pass(p, 3000);
	CHECK_INT(took(p, STANDBY_DO_RECORD), >=, written + 3);
}

POD_TEST_FROM(shadow_begins, an_ended_jvm_holds_no_main)
{
	CHECK(p->standby.record.warm.main_held);
	exited(p);
	CHECK(!p->standby.record.warm.main_held);
}

/* Nothing is prepared beside a job that runs. */
POD_TEST_FROM(shadow_begins, a_job_that_runs_is_all_that_it_says)
{
	job_is(p, true, false);
	pass(p, 10000);
	CHECK_SHADOW(p, SHADOW_RUNNING);
	CHECK_INT(p->standby.cause, ==, CAUSE_SHADOW);
	CHECK_NOTHING(p, STANDBY_DO_CHECK);
}

POD_TEST_FROM(shadow_begins, without_gates_it_has_caught_up_after_a_while)
{
	p->config.blue_green = &no_gates;
	job_is(p, true, false);
	pass(p, 9000);
	CHECK_SHADOW(p, SHADOW_RUNNING);
	pass(p, 10000);
	CHECK_SHADOW(p, SHADOW_CAUGHT_UP);
	job_is(p, false, false); /* it fails over */
	job_is(p, true, false);
	CHECK_SHADOW(p, SHADOW_RUNNING);
}

POD_TEST_FROM(shadow_begins, it_fails_when_the_job_is_not_started_again)
{
	job_is(p, false, true);
	CHECK_SHADOW(p, SHADOW_FAILED);
	CHECK_STATE(p, CANDIDATE_FAILED);
	CHECK_STR(p->standby.record.why, "it does not run");
	CHECK(!p->standby.record.shadow.ended);
}

/* An agent that ended here said nothing, and the next one ended by the same journal: the owner waited until it was silent. */
POD_TEST_FROM(shadow_begins, failed_it_stays_and_says_so_until_the_hand_over_is_given_up)
{
	job_is(p, false, true);
	exited(p);
	pass(p, 10000);
	CHECK_NOTHING(p, STANDBY_DO_AGAIN);
	CHECK_SHADOW(p, SHADOW_FAILED);
	CHECK_STATE(p, CANDIDATE_FAILED);
	p->journal.handover.transition.opened = true;
	state_of(p, TRANSITION_ABORTING);
	CHECK_INT(took(p, STANDBY_DO_AGAIN), ==, 1);
}

/* As any pod that stands by, when nothing of it runs. */
POD_TEST_FROM(transition_begins, refused_it_says_so)
{
	state_of(p, TRANSITION_REFUSED);
	pass(p, 100);
	exited(p);
	pass(p, 3000);
	journal_read(p);
	CHECK_INT(p->standby.cause, ==, CAUSE_HANDOVER_REFUSED);
}

POD_TEST_FROM(shadow_begins, it_may_start_its_job_only_while_the_hand_over_lasts)
{
	CHECK(standby_may_start(&p->standby));
	state_of(p, TRANSITION_CROSSING);
	CHECK(standby_may_start(&p->standby));
	/* one that runs does so until the owner's output is open */
	state_of(p, TRANSITION_ABORTING);
	CHECK_NOTHING(p, STANDBY_DO_KILL);
	CHECK(!standby_may_start(&p->standby));
}

POD_TEST_FROM(shadow_begins, given_up_it_kills_its_job_and_the_agent_ends)
{
	state_of(p, TRANSITION_ABORTING);
	CHECK_NOTHING(p, STANDBY_DO_KILL);
	p->journal.handover.transition.opened = true;
	state_of(p, TRANSITION_ABORTING);
	CHECK_INT(took(p, STANDBY_DO_KILL), ==, 1);
	CHECK_NOTHING(p, STANDBY_DO_AGAIN);
	CHECK(!p->standby.record.shadow.ended);
	exited(p);
	CHECK_INT(took(p, STANDBY_DO_AGAIN), ==, 1);
	CHECK_INT(standby_deadline_ms(&p->standby), ==, -1);
}

POD_TEST_FROM(shadow_begins, another_pod_was_named_instead)
{
	party_is_now(&p->journal.handover.to, "third", "g2/c2/h2", SIDE_GREEN);
	state_of(p, TRANSITION_CROSSING);
	CHECK_INT(took(p, STANDBY_DO_KILL), ==, 1);
	exited(p);
	CHECK_INT(took(p, STANDBY_DO_AGAIN), ==, 1);
}

POD_TEST_FROM(shadow_begins, nothing_ends_because_the_journal_cannot_be_read)
{
	p->unreadable = true;
	journal_read(p);
	CHECK_NOTHING(p, STANDBY_DO_KILL);
	CHECK(!standby_may_start(&p->standby));
	pass(p, 6000);
	CHECK_INT(took(p, STANDBY_DO_RECORD), >, 0);
	p->unreadable = false;
	journal_read(p);
	CHECK(standby_may_start(&p->standby));
}

POD_TEST_FROM(shadow_begins, when_the_pod_ends_its_job_is_killed_and_it_says_so)
{
	event_of(p, STANDBY_STOPPING);
	CHECK_INT(took(p, STANDBY_DO_KILL), ==, 1);
	CHECK_INT(took(p, STANDBY_DO_STOP_ACK), ==, 1);
	CHECK_NOTHING(p, STANDBY_DO_EXIT);
	CHECK(!standby_may_start(&p->standby));
	exited(p);
	CHECK(p->standby.record.shadow.ended);
	CHECK_STATE(p, CANDIDATE_WITHDRAWN);
	CHECK_INT(took(p, STANDBY_DO_EXIT), ==, 1);
	CHECK_NOTHING(p, STANDBY_DO_AGAIN);
}

/* ---- the agent has restarted ---- */

static void agent_begins(struct pod *p, const char *running)
{
	standby_release(&p->standby);
	standby_init(&p->standby, &p->config);
	forget(p);
	hello(p, running);
}

static void began_again(struct pod *p, const char *running)
{
	transition_begins(p);
	standby_release(&p->standby);
	standby_init(&p->standby, &p->config);
	p->seeded = true;
	p->journal.handover.transition.state = TRANSITION_CROSSING;
	written_by(p, "old");
	forget(p);
	hello(p, running);
}

static void found_running(struct pod *p)
{
	began_again(p, JOB_B); /* the second launch of its job */
}

POD_TEST_FROM(found_running, it_goes_on_by_its_own_journal)
{
	CHECK_INT(took(p, STANDBY_DO_SHADOW), ==, 1);
	CHECK(!p->last[STANDBY_DO_SHADOW].seed);
	CHECK_NOTHING(p, STANDBY_DO_KILL);
	CHECK_NOTHING(p, STANDBY_DO_LAUNCH);
	exited(p); /* what follows from that the life cycle decides */
	CHECK_NOTHING(p, STANDBY_DO_AGAIN);
}

POD_TEST_FROM(transition_begins, nothing_of_it_goes_on)
{
	standby_release(&p->standby);
	standby_init(&p->standby, &p->config);
	p->seeded = true;
	p->journal.handover.transition.opened = true;
	p->journal.handover.transition.state = TRANSITION_ABORTING;
	written_by(p, "old");
	forget(p);
	hello(p, JOB_B);
	CHECK_NOTHING(p, STANDBY_DO_SHADOW);
	CHECK_INT(took(p, STANDBY_DO_KILL), ==, 1);
	exited(p);
	CHECK_SHADOW(p, SHADOW_WITHDRAWN);
	CHECK(p->standby.record.shadow.ended);
	CHECK_NOTHING(p, STANDBY_DO_AGAIN);
	/* the next offer is another one */
	p->seeded = false;
	offer_is(p, "h2-00000002", JOB_B);
	transition_begin(&p->journal.handover, 60);
	state_of(p, TRANSITION_OFFERED);
	CHECK_STR(p->standby.record.shadow.transition, "h2-00000002");
	CHECK(!p->standby.record.shadow.ended);
	CHECK_SHADOW(p, SHADOW_PREPARED);
}

POD_TEST_FROM(transition_begins, an_own_journal_that_cannot_be_read_ends_nothing)
{
	standby_release(&p->standby);
	standby_init(&p->standby, &p->config);
	p->own_unread = true;
	p->journal.handover.transition.state = TRANSITION_CROSSING;
	written_by(p, "old");
	forget(p);
	hello(p, JOB_B);
	CHECK_NOTHING(p, STANDBY_DO_SHADOW);
	CHECK_NOTHING(p, STANDBY_DO_KILL);
	CHECK_INT(p->standby.cause, ==, CAUSE_JOURNAL_UNREADABLE);
	p->own_unread = false;
	p->seeded = true;
	pass(p, 11000);
	CHECK_INT(took(p, STANDBY_DO_SHADOW), ==, 1);
	CHECK_NOTHING(p, STANDBY_DO_KILL);
}

/* It took what ran for a main() that waits, killed it, and started it "held": Flink's HA recovered the job, which wrote
 * beyond the cut for 76 s. */
POD_TEST_FROM(transition_begins, without_the_journal_of_its_job_it_ends_that_and_says_so)
{
	standby_release(&p->standby);
	standby_init(&p->standby, &p->config);
	p->journal.handover.transition.state = TRANSITION_CROSSING;
	written_by(p, "old");
	forget(p);
	hello(p, JOB_B);
	CHECK_INT(took(p, STANDBY_DO_KILL), ==, 1);
	CHECK_SHADOW(p, SHADOW_FAILED);
	CHECK_STATE(p, CANDIDATE_FAILED);
	CHECK_INT(p->standby.cause, ==, CAUSE_JOURNAL_LOST);
	CHECK_HAS(p->standby.record.why, "the journal of the job in the shadow is lost");
	exited(p);
	pass(p, 20000);
	CHECK_NOTHING(p, STANDBY_DO_LAUNCH);
	CHECK_NOTHING(p, STANDBY_DO_SHADOW);
	CHECK_NOTHING(p, STANDBY_DO_AGAIN);
	CHECK_SHADOW(p, SHADOW_FAILED);
	/* given up: still nothing is prepared, until the owner's output is open */
	state_of(p, TRANSITION_ABORTING);
	pass(p, 20000);
	CHECK_NOTHING(p, STANDBY_DO_LAUNCH);
	p->journal.handover.transition.opened = true;
	state_of(p, TRANSITION_ABORTING);
	CHECK_SHADOW(p, SHADOW_WITHDRAWN);
	CHECK(p->standby.record.shadow.ended);
}

POD_TEST_FROM(found_running, that_its_journal_is_lost_is_said_again_when_the_journal_was_unreadable)
{
	p->seeded = false;
	agent_begins(p, JOB_B);
	exited(p);
	state_of(p, TRANSITION_ABORTING);
	CHECK_INT(p->standby.cause, ==, CAUSE_JOURNAL_LOST);
	p->unreadable = true;
	journal_read(p);
	CHECK_INT(p->standby.cause, ==, CAUSE_JOURNAL_UNREADABLE);
	p->unreadable = false;
	journal_read(p);
	CHECK_INT(p->standby.cause, ==, CAUSE_JOURNAL_LOST);
}

/* ---- its journal is lost in the second in which the job begins ---- */

static void check_given_up(struct pod *p)
{
	CHECK_SHADOW(p, SHADOW_FAILED);
	CHECK_STATE(p, CANDIDATE_FAILED);
	CHECK_INT(p->standby.cause, ==, CAUSE_JOURNAL_LOST);
	CHECK_HAS(p->standby.record.why, "the journal of the job in the shadow is lost");
	pass(p, 60000);
	CHECK_NOTHING(p, STANDBY_DO_SHADOW);
	CHECK_NOTHING(p, STANDBY_DO_LAUNCH);
	CHECK_SHADOW(p, SHADOW_FAILED);
}

/* By what its record says, whatever runs, or nothing. */
POD_TEST_FROM(shadow_begins, an_agent_that_finds_no_journal_of_a_job_that_has_begun_ends_it)
{
	static const char *const running[] = {JOB_A, JOB_B, NULL};

	CHECK_SHADOW(p, SHADOW_STARTING);
	for (size_t i = 0; i < ARRAY_LEN(running); i++) {
		p->said_begun = "h1-00000001";
		agent_begins(p, running[i]);
		CHECK_INT(took(p, STANDBY_DO_KILL), ==, running[i] != NULL);
		if (running[i])
			exited(p);
		check_given_up(p);
	}
	/* the next agent knows as much */
	CHECK(p->said_begun);
	agent_begins(p, NULL);
	check_given_up(p);
}

/* The record is lost, too: it is seen by what runs. */
POD_TEST_FROM(shadow_begins, what_was_not_held_for_this_hand_over_shows_that_the_job_has_begun)
{
	p->said_begun = NULL;
	agent_begins(p, JOB_B);
	CHECK_INT(took(p, STANDBY_DO_KILL), ==, 1);
	exited(p);
	check_given_up(p);
}

POD_TEST_FROM(shadow_begins, a_main_that_was_told_to_go_on_shows_that_the_job_has_begun)
{
	struct standby_event look = {.type = STANDBY_WARM,
				     .warm = {.held = true, .went = true, .known = true}};

	p->said_begun = NULL;
	p->warm.type = STANDBY_TICK;
	agent_begins(p, JOB_A);
	CHECK_NOTHING(p, STANDBY_DO_KILL);
	step(p, &look);
	CHECK_INT(took(p, STANDBY_DO_KILL), ==, 1);
	exited(p);
	check_given_up(p);
}

POD_TEST_FROM(shadow_begins, without_a_main_that_waits_whatever_runs_is_the_job)
{
	p->said_begun = NULL;
	p->config.hold_main = false;
	agent_begins(p, JOB_A);
	CHECK_INT(took(p, STANDBY_DO_KILL), ==, 1);
	exited(p);
	check_given_up(p);
}

/* What runs is what waits in main(): nothing has begun, and the next agent begins it. */
POD_TEST_FROM(prepared, an_agent_that_finds_what_it_holds_begins_the_job)
{
	p->journal.handover.transition.state = TRANSITION_SEEDED;
	written_by(p, "old");
	agent_begins(p, JOB_A);
	CHECK_NOTHING(p, STANDBY_DO_KILL);
	looked(p, true, 2, 4, 0);
	pass(p, 12000);
	CHECK_INT(took(p, STANDBY_DO_SHADOW), ==, 1);
}

/* What an earlier agent has said is not known before the record was written once. */
POD_TEST_FROM(prepared, a_job_does_not_begin_before_the_record_is_known)
{
	p->journal.handover.transition.state = TRANSITION_SEEDED;
	written_by(p, "old");
	p->hold_records = true;
	agent_begins(p, JOB_A);
	looked(p, true, 2, 4, 0);
	pass(p, 12000);
	CHECK_NOTHING(p, STANDBY_DO_SHADOW);
	p->hold_records = false;
	record_written(p);
	pass(p, 11000);
	CHECK_INT(took(p, STANDBY_DO_SHADOW), ==, 1);
}

POD_TEST_FROM(prepared, a_launch_waits_until_it_is_on_record_that_the_job_begins)
{
	pass(p, 1000);
	p->hold_records = true;
	state_of(p, TRANSITION_SEEDED);
	CHECK_INT(took(p, STANDBY_DO_SHADOW), ==, 1);
	CHECK(standby_may_start(&p->standby));
	CHECK(!standby_has_told(&p->standby));
	p->record_fails = true;
	record_written(p);
	CHECK(!standby_has_told(&p->standby));
	p->record_fails = false;
	pass(p, 3000);
	record_written(p);
	CHECK(standby_has_told(&p->standby));
	/* later the owner has recorded that it runs */
	p->standby.told_job = false;
	state_of(p, TRANSITION_SHADOW);
	CHECK(standby_has_told(&p->standby));
}

POD_TEST_FROM(prepared, named_in_the_place_of_a_pod_that_is_gone_it_goes_on_without_what_waits)
{
	p->seeded = p->own_elsewhere = true;
	state_of(p, TRANSITION_CROSSING);
	CHECK_INT(took(p, STANDBY_DO_KILL), ==, 1);
	CHECK_NOTHING(p, STANDBY_DO_SHADOW);
	exited(p);
	CHECK_INT(took(p, STANDBY_DO_SHADOW), ==, 1);
	CHECK(!p->last[STANDBY_DO_SHADOW].seed);
}

/* ---- granted ---- */

static void granted_now(struct pod *p)
{
	p->journal.handover.transition.state = TRANSITION_GRANTED;
	granted(p);
}

POD_TEST_FROM(shadow_begins, granted_it_adopts)
{
	job_is(p, true, false);
	state_of(p, TRANSITION_CROSSING);
	granted_now(p);
	CHECK_INT(took(p, STANDBY_DO_ADOPT), ==, 1);
	CHECK_NOTHING(p, STANDBY_DO_OWN);
	CHECK_NOTHING(p, STANDBY_DO_KILL);
	CHECK(!standby_may_start(&p->standby));
	event_of(p, STANDBY_ADOPTED); /* it has failed: once more */
	CHECK_INT(took(p, STANDBY_DO_ADOPT), ==, 1);
	pass(p, 1000);
	CHECK_INT(took(p, STANDBY_DO_ADOPT), ==, 2);
}

POD_TEST_FROM(shadow_begins, it_adopts_nothing_while_the_journal_cannot_be_read)
{
	granted_now(p);
	CHECK_INT(took(p, STANDBY_DO_ADOPT), ==, 1);
	p->unreadable = true;
	event_of(p, STANDBY_ADOPTED);
	pass(p, 10000);
	CHECK_INT(took(p, STANDBY_DO_ADOPT), ==, 1);
	p->unreadable = false;
	pass(p, 10000);
	CHECK_INT(took(p, STANDBY_DO_ADOPT), ==, 2);
}

POD_TEST_FROM(shadow_begins, an_adoption_whose_answer_was_lost_has_happened)
{
	granted_now(p);
	transition_take(&p->journal.handover);
	written_by(p, p->config.me.pod);
	event_of(p, STANDBY_ADOPTED);
	CHECK_INT(took(p, STANDBY_DO_AGAIN), ==, 1);
	CHECK_NOTHING(p, STANDBY_DO_KILL);
}

POD_TEST_FROM(found_running, an_agent_that_comes_back_adopts_first)
{
	granted_now(p);
	CHECK_INT(took(p, STANDBY_DO_ADOPT), ==, 1);
}

POD_TEST_FROM(transition_begins, the_pod_that_follows_adopts_what_the_one_before_has_left)
{
	p->seeded = true;
	party_is_now(&p->journal.handover.to, "gone", p->config.me.template, SIDE_GREEN);
	p->journal.handover.transition.state = TRANSITION_GRANTED;
	granted(p);
	exited(p); /* what had been started for the offer */
	p->locks[SIDE_GREEN] = LOCK_FREE;
	pass(p, 60000);
	CHECK_INT(took(p, STANDBY_DO_ADOPT), ==, 1);
	CHECK_NOTHING(p, STANDBY_DO_OWN);
}

POD_TEST_FROM(transition_begins, the_pod_that_follows_adopts_when_its_own_flink_has_ended)
{
	p->seeded = true;
	party_is_now(&p->journal.handover.to, "gone", p->config.me.template, SIDE_GREEN);
	p->journal.handover.transition.state = TRANSITION_GRANTED;
	granted(p);
	CHECK_INT(took(p, STANDBY_DO_KILL), ==, 1);
	p->locks[SIDE_GREEN] = LOCK_FREE;
	pass(p, 60000);
	CHECK_ROLE(p, ROLE_OWNER);
	CHECK_INT(took(p, STANDBY_DO_KILL), >, 1);
	CHECK_NOTHING(p, STANDBY_DO_ADOPT);
	exited(p);
	CHECK_INT(took(p, STANDBY_DO_ADOPT), ==, 1);
}

POD_TEST_FROM(transition_begins, without_that_journal_it_holds)
{
	granted_now(p);
	pass(p, 30000);
	CHECK_NOTHING(p, STANDBY_DO_ADOPT);
	CHECK_NOTHING(p, STANDBY_DO_OWN);
	CHECK_INT(p->standby.cause, ==, CAUSE_JOURNAL_LOST);
}

POD_TEST_FROM(candidate_begin, a_version_without_blue_green_takes_part_in_none)
{
	offer_is(p, "h1-00000001", JOB_A);
	transition_begin(&p->journal.handover, 40);
	journal_read(p);
	held(p);
	pass(p, 2500);
	CHECK_STATE(p, CANDIDATE_FAILED);
	CHECK_HAS(p->standby.record.why, "handover.mode");
	CHECK(!p->standby.record.shadow.transition);
}

/* ---- the owner is gone, with the cut in force ---- */

POD_TEST_FROM(shadow_begins, with_a_cut_in_force_it_says_whose_pod_continues)
{
	job_is(p, true, false);
	state_of(p, TRANSITION_ARMED);
	p->locks[SIDE_BLUE] = LOCK_FREE;
	pass(p, 300000);
	CHECK_NOTHING(p, STANDBY_DO_OWN); /* however long it waits */
	CHECK_INT(p->standby.cause, ==, CAUSE_OWNER_SILENT);
	CHECK_HAS(p->standby.reason, "only a pod of its template (g1/");
	CHECK_HAS(p->standby.reason, "`kubectl rollout undo`");
	CHECK(strlen(p->standby.reason) < sizeof(p->standby.reason) - 1);
	p->locks[SIDE_BLUE] = LOCK_HELD; /* that pod is there */
	written_by(p, "old");
	pass(p, 10000);
	CHECK_INT(p->standby.cause, ==, CAUSE_SHADOW);
	CHECK_STR(p->standby.reason, "the job runs in the shadow");
}

POD_TEST_FROM(shadow_begins, before_the_cut_another_version_may_follow)
{
	job_is(p, true, false);
	p->locks[SIDE_BLUE] = LOCK_FREE;
	for (int i = 0; i < 30 && p->standby.cause != CAUSE_OWNER_SILENT; i++)
		pass(p, 1000);
	CHECK_HAS(p->standby.reason, "it is followed if that lasts");
}
