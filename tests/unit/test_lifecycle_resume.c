/* What a person's resume does to a restore request of before. */
#include "life.h"

static void resume(struct life *l, const char *token)
{
	struct intent intent = {.state = DESIRED_RUNNING};
	unsigned fields = CONTROL_STATE | CONTROL_NEW_START;

	if (token) {
		fields |= CONTROL_RESTORE;
		intent.restore = (struct restore_request){
			.kind = RESTORE_PATH, .token = (char *)token, .path = (char *)SAVEPOINT_1};
	}
	control(l, fields, intent);
}

LIFE_TEST(a_plain_resume_withdraws_a_request_that_could_not_be_met)
{
	hello(l, NULL);
	resume(l, "token-1");
	observed(l, DECISION_HOLD, NULL, 0, NULL); /* of before */
	observed(l, DECISION_HOLD, NULL, 0, NULL);
	CHECK_PHASE(l, PHASE_HOLDING);
	CHECK_INT(l->life.journal.intent.restore.kind, ==, RESTORE_PATH);
	forget(l);
	resume(l, NULL);
	CHECK_INT(l->life.journal.intent.restore.kind, ==, RESTORE_NONE);
	CHECK(!l->life.journal.intent.restore.path && !l->life.journal.intent.restore.token);
	CHECK_INT(took(l, EFFECT_WRITE_JOURNAL), ==, 1);
}

LIFE_TEST(a_plain_resume_keeps_a_request_that_was_carried_out)
{
	hello(l, NULL);
	resume(l, "token-1");
	observed(l, DECISION_HOLD, NULL, 0, NULL); /* of before */
	observed(l, DECISION_START_FROM, SAVEPOINT_1, 50, "token-1");
	CHECK_INT(took(l, EFFECT_LAUNCH), ==, 1);
	resume(l, NULL);
	CHECK_INT(l->life.journal.intent.restore.kind, ==, RESTORE_PATH);
}

LIFE_TEST(a_new_request_replaces_the_one_before)
{
	hello(l, NULL);
	resume(l, "token-1");
	l->life.journal.intent.restore.read_back = true;
	resume(l, "token-1");
	CHECK(l->life.journal.intent.restore.read_back);
	resume(l, "token-2");
	CHECK_STR(l->life.journal.intent.restore.token, "token-2");
	CHECK(!l->life.journal.intent.restore.read_back);
}

/* A control file may still have it, and the next change of its state would bring it back: long after the person
 * has decided otherwise, and over all that was started since. */
TEST(a_request_that_was_given_up_does_not_come_back)
{
	struct intent empty = {.state = DESIRED_RUNNING,
			       .restore = {.kind = RESTORE_EMPTY, .token = (char *)"t1"}};
	static const char *const after[] = {NULL, "token-2"};
	struct life l;

	for (size_t i = 0; i < ARRAY_LEN(after); i++) {
		life_begin(&l);
		hello(&l, NULL);
		control(&l, CONTROL_RESTORE | CONTROL_STANDING, empty);
		CHECK(!journal_is_consumed(&l.life.journal, "t1"));
		control(&l, CONTROL_RESTORE | CONTROL_STANDING, empty); /* the same once more */
		CHECK(!journal_is_consumed(&l.life.journal, "t1"));
		resume(&l, after[i]);
		CHECK(journal_is_consumed(&l.life.journal, "t1"));
		CHECK(!journal_is_consumed(&l.life.journal, "token-2"));
		life_end(&l);
	}
	empty.restore.generation = (char *)"g2"; /* that one has not come yet */
	life_begin(&l);
	hello(&l, NULL);
	control(&l, CONTROL_RESTORE, empty);
	resume(&l, NULL);
	CHECK(!journal_is_consumed(&l.life.journal, "t1"));
	CHECK_INT(l.life.journal.intent.restore.kind, ==, RESTORE_NONE);
	life_end(&l);
}

/* By these two a later look can tell whether the request is still open, and what nobody knew of. */
TEST(a_request_is_on_record_with_its_time_and_its_launch)
{
	struct life l;

	life_begin(&l);
	hello(&l, NULL);
	resume(&l, "token-1");
	CHECK_INT(l.life.journal.intent.restore.asked_unix_ms, ==, l.life.now_unix_ms);
	observed(&l, DECISION_HOLD, NULL, 0, NULL); /* of before */
	observed(&l, DECISION_START_FROM, SAVEPOINT_1, 50, "token-1");
	CHECK_STR(journal_launch(&l.life.journal)->request_token, "token-1");
	life_end(&l);

	life_begin(&l);
	hello(&l, NULL);
	observed(&l, DECISION_START_FROM, SAVEPOINT_1, 50, NULL);
	CHECK(!journal_launch(&l.life.journal)->request_token);
	life_end(&l);
}

/* Whether what an order gives up is given up: nobody knows what became of a launch, unless it was never made. */
TEST(a_launch_that_was_never_made_is_on_record_as_such)
{
	struct life l;

	life_begin(&l);
	hello(&l, NULL);
	l.hold_writes = true;
	observed(&l, DECISION_START_FROM, SAVEPOINT_1, 50, NULL);
	CHECK(!journal_launch(&l.life.journal)->never_started);
	resume(&l, "token-1"); /* while it is being written */
	CHECK(journal_launch(&l.life.journal)->never_started);
	life_end(&l);

	life_begin(&l);
	hello(&l, NULL);
	observed(&l, DECISION_START_FROM, SAVEPOINT_1, 50, NULL);
	CHECK(!journal_launch(&l.life.journal)->never_started);
	launch_failed(&l);
	CHECK(journal_launch(&l.life.journal)->never_started);
	life_end(&l);

	life_begin(&l);
	hello(&l, NULL);
	observed(&l, DECISION_START_FROM, SAVEPOINT_1, 50, NULL);
	restart_agent(&l);
	hello(&l, NULL); /* nobody knows */
	CHECK(!journal_launch(&l.life.journal)->never_started);
	life_end(&l);
}

/* One that stood there when it was looked at first may have been made long ago, and to be asked for once more
 * under the same token makes it no younger. */
LIFE_TEST(the_date_of_a_request_is_that_of_the_first_time)
{
	struct intent intent = {.restore = {.kind = RESTORE_EMPTY, .token = (char *)"t1"}};
	int64_t asked_unix_ms;

	hello(l, NULL);
	control(l, CONTROL_RESTORE | CONTROL_STANDING, intent);
	CHECK_INT(l->life.journal.intent.restore.kind, ==, RESTORE_EMPTY);
	CHECK_INT(l->life.journal.intent.restore.asked_unix_ms, ==, 0);
	control(l, CONTROL_RESTORE | CONTROL_NEW_START, intent);
	CHECK_INT(l->life.journal.intent.restore.asked_unix_ms, ==, 0);
	intent.restore.token = (char *)"t2";
	control(l, CONTROL_RESTORE, intent);
	asked_unix_ms = l->life.journal.intent.restore.asked_unix_ms;
	CHECK_INT(asked_unix_ms, ==, l->life.now_unix_ms);
	control(l, CONTROL_RESTORE | CONTROL_STANDING, intent);
	CHECK_INT(l->life.journal.intent.restore.asked_unix_ms, ==, asked_unix_ms);
}

/* A start that nobody has carried out is for the generation that it came with. */
TEST(what_was_asked_of_another_generation_does_not_lie_in_wait_for_it)
{
	struct intent intent = {.restore = {.kind = RESTORE_EMPTY,
					    .token = (char *)"t1",
					    .generation = (char *)"g2"}};
	struct life l;

	life_begin(&l); /* g1 */
	hello(&l, NULL);
	control(&l, CONTROL_RESTORE, intent);
	observed(&l, DECISION_HOLD, NULL, 0, NULL); /* of before */
	CHECK_STR(l.life.journal.intent.restore.generation, "g2");
	observed(&l, DECISION_START_FROM, SAVEPOINT_1, 50, NULL);
	CHECK_INT(took(&l, EFFECT_LAUNCH), ==, 1);
	CHECK_INT(l.life.journal.intent.restore.kind, ==, RESTORE_NONE);
	life_end(&l);
}

/* Nothing was chosen by it: the launch is one by the rules, and gives up nothing. */
LIFE_TEST(a_permission_is_used_up_with_the_launch)
{
	struct intent intent = {.restore = {.kind = RESTORE_NEWEST,
					    .token = (char *)"t1",
					    .allow_non_restored = true}};
	struct decision decision = {
		.kind = DECISION_START_EMPTY, .rule = 8, .permit = "t1", .settled = NO_CANDIDATE};
	struct facts facts = {0};

	hello(l, NULL);
	control(l, CONTROL_RESTORE, intent);
	observed(l, DECISION_HOLD, NULL, 0, NULL); /* of before */
	step(l, &(struct event){.type = EVENT_OBSERVED,
				.observed = {.decision = &decision, .facts = &facts}});
	CHECK_INT(took(l, EFFECT_LAUNCH), ==, 1);
	CHECK(journal_is_consumed(&l->life.journal, "t1"));
	CHECK(!journal_launch(&l->life.journal)->request_token);
	facts_release(&facts);
}
