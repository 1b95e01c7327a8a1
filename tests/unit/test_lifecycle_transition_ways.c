/* The owner in a transition that is given up, and what an agent, a pod or a person may do in it. */
#include "core/lifecycle/lifecycle_periodic.h"
#include "transition_life.h"

static void wish(struct life *l, bool abort, const char *nonce, int64_t at_unix_ms)
{
	struct event e = {.type = EVENT_CONTROL,
			  .control = {.fields = abort ? CONTROL_ABORT : CONTROL_PROMOTE,
				      .promote_at_unix_ms = at_unix_ms}};

	if (abort)
		e.control.abort_nonce = nonce;
	else
		e.control.promote_nonce = nonce;
	step(l, &e);
}

/* ---- given up before the cut */

LIFE_TEST_FROM(t_shadow_begin, before_the_cut_it_is_over_when_the_candidates_job_has_ended)
{
	wish(l, true, "a1", 0);
	CHECK_TRANSITION(l, TRANSITION_ABORTING);
	CHECK(transition_in(l)->opened);
	CHECK_STR(l->life.gate.told, handover_of(l)->id); /* until it is over */
	shadows(l, SHADOW_RUNNING, NULL);
	CHECK_TRANSITION(l, TRANSITION_ABORTING);
	candidate_ended(l);
	CHECK_HANDOVER(l, HANDOVER_REFUSED); /* a person has given this version up */
	CHECK_STR(l->life.gate.told, NULL);
	CHECK_INT(l->life.gate.order.word, ==, GATE_OPEN);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	CHECK_PHASE(l, PHASE_RUNNING);
	CHECK_INT(l->life.gate.order.number, >, transition_in(l)->owner_number);
	CHECK(journal_is_former_job(&l->life.journal, handover_of(l)->job_id));
}

LIFE_TEST_FROM(t_shadow_begin,
	       the_free_lock_of_a_candidate_that_is_gone_shows_that_its_job_has_ended)
{
	struct candidate_shadow shadow = {.transition = NULL};

	pass(l, 31000);
	viewed(l, job_in(JOB_RUNNING));
	CHECK_TRANSITION(l, TRANSITION_ABORTING);
	shadows_as(l, &third_pod, CANDIDATE_PREPARING, &shadow, false);
	CHECK_TRANSITION(l, TRANSITION_ABORTING);
	shadows_as(l, &third_pod, CANDIDATE_PREPARING, &shadow, true);
	CHECK_STR(handover_of(l)->to.pod, "third"); /* the next offer, at once */
	CHECK_TRANSITION(l, TRANSITION_OFFERED);
}

LIFE_TEST_FROM(t_arming_begin, a_person_that_suspends_comes_before_the_cut)
{
	int64_t number;

	forget(l);
	desire(l, DESIRED_SUSPENDED);
	CHECK_TRANSITION(l, TRANSITION_ABORTING);
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 1); /* its output was open all the time */
	CHECK_INT(l->life.journal.operation.reason, ==, REASON_SUSPEND);
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	candidate_ended(l);
	CHECK_HANDOVER(l, HANDOVER_NONE); /* and it is not offered while it stops */
	CHECK_NOTHING(l, EFFECT_GATE);    /* it would reach tasks that just end */
	number = l->life.gate.order.number;
	operation(l, STATUS_FAILED, NULL, "a task has declined");
	CHECK_INT(took(l, EFFECT_GATE), ==, 1);
	CHECK_INT(l->life.gate.order.number, >, number);
	CHECK_STR(l->life.gate.told, NULL);
}

LIFE_TEST_FROM(t_crossing_begin, a_person_that_suspends_waits_for_the_cut_that_is_in_force)
{
	forget(l);
	desire(l, DESIRED_SUSPENDED);
	CHECK_TRANSITION(l, TRANSITION_CROSSING);
	CHECK_NOTHING(l, EFFECT_TRIGGER);
	desire(l, DESIRED_CANCELLED);
	CHECK_NOTHING(l, EFFECT_TRIGGER);
	ask_restart(l, "r1");
	CHECK_NOTHING(l, EFFECT_TRIGGER);
}

LIFE_TEST_FROM(t_crossing_begin, no_savepoints_are_taken_while_the_cut_is_in_force)
{
	l->config.savepoints.interval_ms = 60000;
	forget(l);
	ask_savepoint(l, "s1");
	schedule_savepoint(&l->life);
	for (int i = 0; i < 12; i++) {
		pass(l, 10000);
		shadows(l, SHADOW_RUNNING, NULL);
	}
	CHECK_NOTHING(l, EFFECT_TRIGGER);
	CHECK_TRANSITION(l, TRANSITION_CROSSING);
}

LIFE_TEST_FROM(t_shadow_begin, in_the_shadow_people_may_take_savepoints)
{
	forget(l);
	ask_savepoint(l, "s1");
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 1);
	CHECK_INT(l->life.journal.operation.reason, ==, REASON_MANUAL);
	CHECK_TRANSITION(l, TRANSITION_SHADOW);
}

/* ---- given up after the cut */

LIFE_TEST_FROM(t_aborting_begin, what_was_held_back_is_written_again)
{
	struct gate_report open;

	CHECK_INT(l->life.gate.order.word, ==, GATE_OPEN);
	CHECK_STR(l->life.gate.told, handover_of(l)->id);
	CHECK(!transition_in(l)->opened);
	open = acked(l, T0 + 9000);
	open.withheld_above = 5;
	add_snapshot(&open, 61, T0 + 7000);
	add_snapshot(&open, 62, T0 + 8000);
	open.snapshots[0].withheld_above = 5;
	forget(l);
	reported(l, &open);
	CHECK(transition_in(l)->opened);
	CHECK_STR(transition_in(l)->replay.path, "file:/cp/x/chk-61");
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1); /* its checkpoints push that one out */
	exited(l, KILLED(15));
	CHECK_PHASE(l, PHASE_HOLDING);
	CHECK_NOTHING(l, EFFECT_OBSERVE); /* the candidate's job still writes */
	candidate_ended(l);
	CHECK_INT(took(l, EFFECT_OBSERVE), ==, 1);
	CHECK_STR(l->life.journal.intent.restore.path, "file:/cp/x/chk-61");
	CHECK_HAS(l->notes, "is written twice");
	observed(l, DECISION_START_FROM, "file:/cp/x/chk-61", 61,
		 l->life.journal.intent.restore.token);
	CHECK_INT(took(l, EFFECT_LAUNCH), ==, 1);
	started(l);
	viewed(l, job_in(JOB_INITIALIZING));
	CHECK(!transition_in(l)->replayed);
}

/* The job is about to start again from before the cut. */
static void replaying_begin(struct life *l)
{
	struct gate_report open;

	t_aborting_begin(l);
	open = acked(l, T0 + 9000);
	open.withheld_above = 5;
	add_snapshot(&open, 61, T0 + 7000);
	reported(l, &open);
	exited(l, KILLED(15));
	candidate_ended(l);
	CHECK_STR(l->life.journal.intent.restore.path, "file:/cp/x/chk-61");
}

/* The launch for the replay runs. */
static void replayed_begin(struct life *l)
{
	replaying_begin(l);
	observed(l, DECISION_START_FROM, "file:/cp/x/chk-61", 61,
		 l->life.journal.intent.restore.token);
	started(l);
	viewed(l, job_restored(JOB_RUNNING, 61, "file:/cp/x/chk-61"));
}

LIFE_TEST_FROM(replayed_begin, it_is_over_when_the_job_runs_from_there)
{
	CHECK_PHASE(l, PHASE_RUNNING);
	CHECK(transition_in(l)->replayed);
	CHECK_HANDOVER(l, HANDOVER_REFUSED);
	CHECK_STR(l->life.gate.told, NULL);
	/* and it is not started from there again */
	forget(l);
	prove(l, 63);
	exited(l, KILLED(9));
	CHECK_INT(took(l, EFFECT_OBSERVE), ==, 1);
	CHECK(journal_is_consumed(&l->life.journal, l->life.journal.intent.restore.token));
}

LIFE_TEST_FROM(t_aborting_begin, where_nothing_was_held_back_nothing_is_written_again)
{
	struct gate_report open = acked(l, T0 + 9000);

	forget(l);
	reported(l, &open);
	CHECK(transition_in(l)->opened);
	CHECK_STR(transition_in(l)->replay.path, NULL);
	candidate_ended(l);
	CHECK_HANDOVER(l, HANDOVER_REFUSED);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	CHECK_PHASE(l, PHASE_RUNNING);
}

static void observed_missing(struct life *l, enum integrity integrity)
{
	struct facts facts = {0};
	struct snapshot snapshot = {.path = (char *)"file:/cp/x/chk-61",
				    .kind = SNAPSHOT_CHECKPOINT};
	struct decision decision = {.kind = DECISION_HOLD,
				    .cause = CAUSE_REQUESTED_SNAPSHOT_UNUSABLE,
				    .rule = 4,
				    .reason = "it cannot be used"};
	struct event e = {.type = EVENT_OBSERVED, .observed = {&facts, &decision}};

	await_observe(l);
	facts_add(&facts, SOURCE_REQUEST, &snapshot)->integrity = integrity;
	step(l, &e);
	facts_release(&facts);
}

LIFE_TEST_FROM(t_aborting_begin, a_replay_point_that_is_gone_gives_way_to_the_seed)
{
	struct gate_report open = acked(l, T0 + 9000);

	open.withheld_above = 5;
	add_snapshot(&open, 61, T0 + 7000);
	reported(l, &open);
	exited(l, KILLED(15));
	candidate_ended(l);
	observed_missing(l, INTEGRITY_UNREADABLE);
	CHECK_STR(transition_in(l)->replay.path, "file:/cp/x/chk-61");
	observed_missing(l, INTEGRITY_INCOMPLETE);
	CHECK_STR(transition_in(l)->replay.path, SAVEPOINT_1);
	CHECK_STR(l->life.journal.intent.restore.path, SAVEPOINT_1);
	pass(l, 1);
	CHECK(l->life.observing);
}

LIFE_TEST_FROM(replaying_begin, a_resume_does_not_withdraw_the_replay)
{
	control(l, CONTROL_STATE | CONTROL_NEW_START, (struct intent){.state = DESIRED_RUNNING});
	CHECK_STR(l->life.journal.intent.restore.path, "file:/cp/x/chk-61");
	CHECK(!journal_is_consumed(&l->life.journal, l->life.journal.intent.restore.token));
}

LIFE_TEST_FROM(replaying_begin, a_person_may_say_what_to_start_from_instead)
{
	struct restore_request wanted = {.kind = RESTORE_PATH,
					 .token = (char *)(uintptr_t) "mine",
					 .path = (char *)(uintptr_t)SAVEPOINT_2};

	control(l, CONTROL_STATE | CONTROL_NEW_START | CONTROL_RESTORE,
		(struct intent){.state = DESIRED_RUNNING, .restore = wanted});
	CHECK_STR(l->life.journal.intent.restore.path, SAVEPOINT_2);
	CHECK_STR(transition_in(l)->replay.path, NULL);
	CHECK_HANDOVER(l, HANDOVER_REFUSED); /* it is over */
	CHECK(l->life.observing);
}

LIFE_TEST_FROM(t_crossing_begin, forward_waits_for_the_candidate)
{
	l->config.handover.blue_green.policy.after_cut = AFTER_CUT_FORWARD;
	t_here(l, T0 + 8000, 5);
	shadows(l, SHADOW_FAILED, NULL);
	CHECK_TRANSITION(l, TRANSITION_CROSSING);
	l->config.handover.blue_green.policy.after_cut = AFTER_CUT_REPLAY;
	shadows(l, SHADOW_FAILED, NULL);
	CHECK_TRANSITION(l, TRANSITION_ABORTING);
}

/* ---- a new agent, in every state */

static const struct {
	void (*begin)(struct life *l);
	enum transition_state state;
} ways[] = {
	{t_offered_begin, TRANSITION_OFFERED},   {t_seeding_begin, TRANSITION_SEEDING},
	{t_seeded_begin, TRANSITION_SEEDED},     {t_shadow_begin, TRANSITION_SHADOW},
	{t_arming_begin, TRANSITION_ARMING},     {t_armed_begin, TRANSITION_ARMED},
	{t_crossing_begin, TRANSITION_CROSSING}, {t_ending_begin, TRANSITION_ENDING},
	{t_aborting_begin, TRANSITION_ABORTING},
};

TEST(a_new_agent_goes_on_in_every_state)
{
	for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
		struct gate_order order;
		struct event e = {.type = EVENT_HELLO};
		char job[JOB_ID_BYTES];
		struct life l;

		ways[i].begin(&l);
		order = l.life.gate.order;
		snprintf(job, sizeof(job), "%s", job_of(&l));
		restart_agent(&l);
		e.hello.claim = CLAIM_OWN;
		e.hello.running = job;
		step(&l, &e);
		if (!CHECK_STR(transition_state_name(transition_of(handover_of(&l))),
			       transition_state_name(ways[i].state)))
			tap_note("%zu", i);
		/* the gates are told the same: a number stands for one content */
		if (ways[i].state != TRANSITION_ENDING) {
			CHECK_INT(took(&l, EFFECT_GATE), ==, 1);
			CHECK_INT(l.life.gate.order.number, ==, order.number);
			CHECK_INT(l.life.gate.order.word, ==, order.word);
			CHECK_STR(l.life.gate.told, handover_of(&l)->id);
		}
		CHECK_NOTHING(&l, EFFECT_SIGNAL);
		life_release(&l);
	}
}

TEST(the_next_pod_of_the_owners_template_goes_on_in_every_state)
{
	for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
		struct party next = PARTY("next", "g1/c1/h1", SIDE_BLUE);
		struct event e = {.type = EVENT_HELLO};
		struct life l;

		ways[i].begin(&l);
		blue_green_config(&l, &next, "g1");
		restart_agent(&l);
		e.hello.claim = CLAIM_SUCCEED;
		step(&l, &e);
		CHECK_STR(transition_state_name(transition_of(handover_of(&l))),
			  transition_state_name(ways[i].state));
		CHECK_STR(handover_of(&l)->from.pod, "next");
		CHECK_STR(l.life.journal.owner.pod, "next");
		CHECK(l.life.observing); /* the job is to run here */
		life_release(&l);
	}
}

TEST(when_the_owners_pod_ends_only_a_cut_that_is_in_force_keeps_it)
{
	for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
		bool cut = ways[i].state >= TRANSITION_ARMED;
		struct life l;

		ways[i].begin(&l);
		stopping_for(&l, GRACE_MS, UPGRADE_NO);
		if (ways[i].state == TRANSITION_ENDING || ways[i].state == TRANSITION_SEEDING)
			pass(&l, GRACE_MS); /* the operation is awaited */
		exited(&l, KILLED(15));
		CHECK_STR(transition_state_name(transition_of(handover_of(&l))),
			  transition_state_name(cut ? ways[i].state : TRANSITION_NONE));
		CHECK_STR(l.life.journal.owner.uid, cut ? "uold" : NULL);
		life_release(&l);
	}
}

/* ---- the one that has taken it */

/* "new" has adopted the journal; its job runs. */
static void t_taken_begin(struct life *l)
{
	struct event e = {.type = EVENT_HELLO};
	struct launch *launch;
	char job[JOB_ID_BYTES];

	t_ending_begin(l);
	t_stopped(l, transition_in(l)->toggle_unix_ms);
	journal_launch(&l->life.journal)->ended_unix_ms = UNIX_START;
	launch = journal_add_launch(&l->life.journal);
	snprintf(launch->job_id, JOB_ID_BYTES, "%s", HELD_ID);
	launch->writer = xstrdup("new/unew/x");
	launch->started_unix_ms = launch->verified_unix_ms = UNIX_START;
	launch->restore_path = xstrdup(SAVEPOINT_1);
	launch->restore_checkpoint_id = 50;
	put_on_record(l);
	blue_green_config(l, &new_pod, "g2");
	restart_agent(l);
	snprintf(job, sizeof(job), "%s", job_of(l));
	e.hello.claim = CLAIM_TAKE;
	e.hello.running = job;
	step(l, &e);
	CHECK_TRANSITION(l, TRANSITION_TAKEN);
}

LIFE_TEST_FROM(t_taken_begin, the_new_owner_tells_its_gates_to_finish)
{
	check_on_record(l, HANDOVER_TAKEN, "new");
	CHECK_INT(l->life.gate.order.word, ==, GATE_FINISH);
	CHECK_STR(l->life.gate.told, handover_of(l)->id);
	CHECK(lifecycle_is_unready(&l->life));
	CHECK_NOTHING(l, EFFECT_LAUNCH);
}

LIFE_TEST_FROM(t_taken_begin, the_cut_is_forgotten_with_a_checkpoint_behind_it)
{
	int64_t cut = transition_in(l)->toggle_unix_ms;
	struct gate_report report = acked(l, cut + 9000);

	viewed(l, restored(JOB_RUNNING, 50));
	prove(l, 80);
	add_snapshot(&report, 80, cut + 1000);
	report.acked = 1;
	reported(l, &report);
	report.acked = 2;
	reported(l, &report); /* it may have begun before they finished */
	CHECK_TRANSITION(l, TRANSITION_TAKEN);
	add_snapshot(&report, 81, cut - 1);
	reported(l, &report);
	CHECK_TRANSITION(l, TRANSITION_TAKEN);
	add_snapshot(&report, 82, cut);
	reported(l, &report);
	CHECK_TRANSITION(l, TRANSITION_DONE);
	CHECK_HANDOVER(l, HANDOVER_DONE);
	CHECK_STR(l->life.gate.told, NULL);
	CHECK_INT(l->life.gate.order.word, ==, GATE_OPEN);
	CHECK(!lifecycle_is_unready(&l->life));
	CHECK(!transition_keeps(handover_of(l), SAVEPOINT_1));
}

LIFE_TEST_FROM(t_taken_begin, a_job_that_was_taken_never_goes_back)
{
	viewed(l, restored(JOB_RUNNING, 50));
	for (int i = 0; i < 30; i++) {
		reserve_beats(l);
		pass(l, 10000);
	}
	exited(l, KILLED(9));
	CHECK_TRANSITION(l, TRANSITION_TAKEN);
	check_on_record(l, HANDOVER_TAKEN, "new");
}

/* ---- people */

LIFE_TEST_FROM(gated_begin, a_wish_without_a_transition_is_not_for_the_next_one)
{
	CHECK_HAS(lifecycle_refuses_promote(&l->life, 0), "no blue/green transition");
	CHECK_HAS(lifecycle_refuses_abort(&l->life), "no blue/green transition");
	wish(l, false, "p1", 0);
	wish(l, true, "a1", 0);
	CHECK_HAS(l->notes, "promote (p1) is not carried out: no blue/green transition");
	beats(l, CANDIDATE_PREPARING);
	beats(l, CANDIDATE_PREPARING);
	CHECK_TRANSITION(l, TRANSITION_OFFERED);
	wish(l, false, "p1", 0); /* it is read again */
	wish(l, true, "a1", 0);
	CHECK(!transition_in(l)->promoted);
	CHECK_TRANSITION(l, TRANSITION_OFFERED);
	wish(l, false, "p2", T0);
	CHECK(transition_in(l)->promoted);
	CHECK_INT(transition_in(l)->at_unix_ms, ==, T0);
}

LIFE_TEST_FROM(t_shadow_begin, a_cut_in_the_past_is_refused)
{
	struct gate_report old = acked(l, T0), new = green(l, T0 + 4000);

	reported(l, &old);
	CHECK_HAS(lifecycle_refuses_promote(&l->life, T0 + 1000), "is in the past");
	CHECK_STR(lifecycle_refuses_promote(&l->life, T0 + 1001), NULL);
	shadows(l, SHADOW_RUNNING, &new);
	CHECK_HAS(lifecycle_refuses_promote(&l->life, T0 + 5000), "is in the past");
	CHECK_STR(lifecycle_refuses_promote(&l->life, T0 + 5001), NULL);
	CHECK_STR(lifecycle_refuses_promote(&l->life, 0), NULL);
	l->life.gate.report.known = false;
	CHECK_STR(lifecycle_refuses_promote(&l->life, T0 + 5001), NULL);
	wish(l, false, "p1", T0 + 5000);
	CHECK(!transition_in(l)->promoted);
	CHECK_HAS(l->notes, "promote (p1) is not carried out: the time of the cut is in the past");
	wish(l, false, "p2", T0 + 5001);
	CHECK(transition_in(l)->promoted);
	CHECK_INT(transition_in(l)->at_unix_ms, ==, T0 + 5001);
}

LIFE_TEST_FROM(t_armed_begin, what_is_past_cannot_be_promoted_any_more)
{
	CHECK_HAS(lifecycle_refuses_promote(&l->life, 0), "the cut was chosen already");
	CHECK_STR(lifecycle_refuses_abort(&l->life), NULL);
	wish(l, true, "a1", 0);
	CHECK_TRANSITION(l, TRANSITION_ABORTING);
	CHECK_HAS(lifecycle_refuses_abort(&l->life), "is being given up already");
}

LIFE_TEST_FROM(t_armed_begin, a_wish_survives_the_agent)
{
	l->hold_writes = true;
	wish(l, true, "a1", 0);
	CHECK_TRANSITION(l, TRANSITION_ARMED); /* it is on record first */
	write_lands(l);
	restart_agent(l);
	claims(l, CLAIM_OWN, NULL);
	CHECK(transition_in(l)->aborted);
	CHECK(journal_is_consumed(&l->life.journal, "a1"));
}
