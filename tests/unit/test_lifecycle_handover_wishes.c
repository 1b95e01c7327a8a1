/*
 * A person requests something in the middle of a hand-over: each request in each state. What is
 * begun is the whole request or nothing, and the hand-over keeps its state, or ends without the job
 * having been touched.
 */
#include "handover_life.h"

static void prepared_begin(struct life *l)
{
	offered_begin(l);
	beats(l, CANDIDATE_PREPARED);
	forget(l);
}

static void done_begin(struct life *l)
{
	taken_begin(l);
	viewed(l, restored(JOB_RUNNING, 50));
	prove(l, 51);
	forget(l);
}

static void suspend(struct life *l)
{
	desire(l, DESIRED_SUSPENDED);
}

static void cancel(struct life *l)
{
	desire(l, DESIRED_CANCELLED);
}

static void savepoint(struct life *l)
{
	ask_savepoint(l, "n1");
}

static void forbid(struct life *l)
{
	do_not_restart(l, true);
}

/* The Deployment wants a third one, of which the owner hears before the pod of the second one has ended. */
static void deploy(struct life *l)
{
	if (handover_of(l)->state < HANDOVER_TAKEN)
		seen(l, &new_pod, CANDIDATE_PREPARED, false, WANTED_NO, 0);
	seen(l, &third_pod, CANDIDATE_PREPARING, false, WANTED_YES, 0);
	seen(l, &third_pod, CANDIDATE_PREPARING, false, WANTED_YES, 0);
}

static const struct wish_case {
	const char *name;
	void (*begin)(struct life *l), (*wish)(struct life *l);
	enum handover_state state;     /* then */
	enum operation_kind operation; /* that is under way */
	int triggers;                  /* what Flink is asked for, because of it */
} cases[] = {
	{"offered: suspend", offered_begin, suspend, HANDOVER_OFFERED, OPERATION_STOP, 1},
	{"offered: cancel", offered_begin, cancel, HANDOVER_OFFERED, OPERATION_CANCEL, 1},
	{"offered: savepoint", offered_begin, savepoint, HANDOVER_OFFERED, OPERATION_SAVEPOINT, 1},
	{"offered: do-not-restart", offered_begin, forbid, HANDOVER_OFFERED, OPERATION_NONE, 0},
	{"offered: template", offered_begin, deploy, HANDOVER_OFFERED, OPERATION_NONE, 0},
	{"prepared: suspend", prepared_begin, suspend, HANDOVER_OFFERED, OPERATION_STOP, 1},
	{"prepared: cancel", prepared_begin, cancel, HANDOVER_OFFERED, OPERATION_CANCEL, 1},
	{"prepared: savepoint", prepared_begin, savepoint, HANDOVER_OFFERED, OPERATION_SAVEPOINT,
	 1},
	{"prepared: do-not-restart", prepared_begin, forbid, HANDOVER_OFFERED, OPERATION_NONE, 0},
	{"prepared: template", prepared_begin, deploy, HANDOVER_OFFERED, OPERATION_NONE, 0},
	{"stopping: suspend", stopping_begin, suspend, HANDOVER_STOPPING, OPERATION_STOP, 0},
	{"stopping: cancel", stopping_begin, cancel, HANDOVER_STOPPING, OPERATION_CANCEL, 1},
	{"stopping: savepoint", stopping_begin, savepoint, HANDOVER_STOPPING, OPERATION_STOP, 0},
	{"stopping: do-not-restart", stopping_begin, forbid, HANDOVER_STOPPING, OPERATION_STOP, 0},
	{"stopping: template", stopping_begin, deploy, HANDOVER_STOPPING, OPERATION_STOP, 0},
	{"taken: suspend", taken_begin, suspend, HANDOVER_TAKEN, OPERATION_NONE, 0},
	{"taken: cancel", taken_begin, cancel, HANDOVER_TAKEN, OPERATION_CANCEL, 1},
	{"taken: savepoint", taken_begin, savepoint, HANDOVER_TAKEN, OPERATION_NONE, 0},
	{"taken: do-not-restart", taken_begin, forbid, HANDOVER_TAKEN, OPERATION_NONE, 0},
	{"taken: template", taken_begin, deploy, HANDOVER_TAKEN, OPERATION_NONE, 0},
	{"done: suspend", done_begin, suspend, HANDOVER_DONE, OPERATION_STOP, 1},
	{"done: cancel", done_begin, cancel, HANDOVER_DONE, OPERATION_CANCEL, 1},
	{"done: savepoint", done_begin, savepoint, HANDOVER_DONE, OPERATION_SAVEPOINT, 1},
	{"done: do-not-restart", done_begin, forbid, HANDOVER_DONE, OPERATION_NONE, 0},
	{"done: template", done_begin, deploy, HANDOVER_OFFERED, OPERATION_NONE, 0},
};

/* The state is on record before anything happens because of it, and so is the request. */
static void check_case(const struct wish_case *test)
{
	struct life life = {0}, *l = &life;
	struct journal journal;
	const char *owner;
	bool third = test->wish == deploy && test->state == HANDOVER_OFFERED;

	test->begin(l);
	owner = l->life.journal.owner.pod;
	forget(l);
	test->wish(l);
	if (!CHECK_STR(handover_state_name(handover_of(l)->state),
		       handover_state_name(test->state)) |
	    !CHECK_INT(l->life.journal.operation.kind, ==, test->operation) |
	    !CHECK_INT(took(l, EFFECT_TRIGGER), ==, test->triggers))
		tap_note("%s", test->name);
	CHECK_NOTHING(l, EFFECT_STAND_DOWN);
	CHECK_STR(l->life.journal.owner.pod, owner);
	read_record(l, &journal);
	CHECK_INT(journal.handover.state, ==, test->state);
	CHECK_INT(journal.operation.kind, ==, test->operation);
	CHECK_INT(journal.intent.state, ==, l->life.journal.intent.state);
	CHECK_INT(journal.intent.do_not_restart, ==, test->wish == forbid);
	if (third)
		CHECK_STR(journal.handover.to.pod, "third");
	journal_release(&journal);
	life_end(l);
}

TEST(each_request_in_each_state_of_a_hand_over)
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		check_case(&cases[i]);
}

/* When the job is handed over nevertheless, the next owner finds what was requested. */
LIFE_TEST_FROM(stopping_begin, what_is_requested_in_the_stop_is_handed_over_with_the_job)
{
	struct journal journal;

	suspend(l);
	stop_saved(l);
	viewed(l, job_in(JOB_FINISHED));
	exited(l, EXITED(0));
	check_on_record(l, HANDOVER_GRANTED, "new");
	read_record(l, &journal);
	CHECK_INT(journal.intent.state, ==, DESIRED_SUSPENDED);
	CHECK_STR(journal.handover.savepoint, SAVEPOINT_1);
	journal_release(&journal);
}

/* The job goes to nobody who is not wanted: it goes on where it was, and a third one is next. */
LIFE_TEST_FROM(stopping_begin, a_third_version_in_the_stop_gets_its_own_hand_over)
{
	deploy(l);
	stop_saved(l);
	viewed(l, job_in(JOB_FINISHED));
	CHECK_HANDOVER(l, HANDOVER_RETURNED);
	check_on_record(l, HANDOVER_RETURNED, "old");
}
