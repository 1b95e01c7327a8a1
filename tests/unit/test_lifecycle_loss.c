/* State that a launch gives up is recorded with it, and reported until it is settled. */
#include "core/report/conditions.h"
#include "core/report/event_text.h"
#include "story.h"

static const struct condition *loss_condition(struct story *s, struct conditions *conditions)
{
	static const struct conditions_outside nothing;

	*conditions = (struct conditions){0};
	conditions_update(conditions, &s->l.life, &nothing, story_now(s));
	return &conditions->list[CONDITION_STATE_LOST];
}

/* The job runs with checkpoints 1 and 2, 3 min apart; the newest is damaged, and Flink is killed. */
static void lose(struct story *s)
{
	story_runs(s);
	s->l.now_ms += 180000 - 1000;
	checkpoint(s, 2);
	s->stored[1].integrity = INTEGRITY_DAMAGED;
	put_on_record(&s->l);
	s->l.told[0] = '\0';
	exited(&s->l, 137 << 8);
	pass(&s->l, 1);
	observe(s);
}

static void acknowledge(struct story *s, const char *nonce)
{
	struct event e = {.type = EVENT_CONTROL,
			  .control = {.fields = CONTROL_ACKNOWLEDGE, .acknowledge_nonce = nonce}};

	step(&s->l, &e);
}

#define LOSS(s) (&(s)->l.life.journal.loss)

TEST(a_loss_is_on_record_before_the_launch_begins)
{
	struct story s;
	struct journal written;

	story_runs(&s);
	checkpoint(&s, 2);
	s.stored[1].integrity = INTEGRITY_DAMAGED;
	put_on_record(&s.l);
	exited(&s.l, 137 << 8);
	pass(&s.l, 1);
	forget(&s.l);
	s.l.hold_writes = true;
	observe(&s);
	CHECK_NOTHING(&s.l, EFFECT_LAUNCH); /* the intent is being written */
	if (CHECK(!journal_decode(s.l.written_text.data, s.l.written_text.len_bytes, &written,
				  NULL))) {
		CHECK_STR(written.loss.lost_path, s.stored[1].path);
		CHECK_STR(written.loss.path, s.stored[0].path);
		CHECK_INT(written.loss.launch, ==, 2);
		journal_release(&written);
	}
	story_end(&s);
}

TEST(what_is_lost_is_told_with_both_snapshots)
{
	struct conditions conditions;
	const struct condition *condition;
	struct story s;

	lose(&s);
	CHECK_STARTS(&s, s.stored[0].path);
	CHECK_INT(LOSS(&s)->ms, ==, 180000);
	CHECK_INT(LOSS(&s)->lost_checkpoint_id, ==, 2);
	CHECK_INT(LOSS(&s)->checkpoint_id, ==, 1);
	CHECK_STR(LOSS(&s)->reason, "as stored");
	CHECK_HAS(s.l.told, "state-lost");
	CHECK_HAS(s.l.life.journal.log[s.l.life.journal.log_count - 2].text, "launch 2 lost 3 min");
	condition = loss_condition(&s, &conditions);
	CHECK_INT(condition->status, ==, TRUTH_TRUE);
	CHECK_STR(condition->reason, "StateLost");
	CHECK_HAS(condition->message, s.stored[0].path);
	CHECK_HAS(condition->message, s.stored[1].path);
	CHECK_HAS(condition->message, "3 min of state");
	CHECK_HAS(condition->message, "as stored");
	/* the job is ready, and its cause has a page */
	start(&s);
	loss_condition(&s, &conditions);
	CHECK(conditions_ready(&conditions, &s.l.life));
	CHECK_INT(conditions_cause(&conditions, &s.l.life), ==, CAUSE_STATE_LOST);
	CHECK_HAS(conditions_reason(&conditions, &s.l.life), s.stored[1].path);
	story_end(&s);
}

TEST(a_loss_survives_the_agent)
{
	struct conditions conditions;
	struct story s;

	lose(&s);
	start(&s);
	put_on_record(&s.l);
	restart_agent(&s.l);
	CHECK_STR(LOSS(&s)->lost_path, s.stored[1].path);
	CHECK_INT(LOSS(&s)->total_ms, ==, 180000);
	CHECK_INT(loss_condition(&s, &conditions)->status, ==, TRUTH_TRUE);
	story_end(&s);
}

TEST(a_person_acknowledges_it_once)
{
	struct conditions conditions;
	struct story s;

	lose(&s);
	start(&s);
	CHECK(!lifecycle_refuses_acknowledge(&s.l.life));
	acknowledge(&s, "a1");
	CHECK_INT(LOSS(&s)->unix_ms, ==, 0);
	CHECK_HAS(s.l.last_notice, "acknowledged");
	CHECK_INT(loss_condition(&s, &conditions)->status, ==, TRUTH_FALSE);
	CHECK(lifecycle_refuses_acknowledge(&s.l.life) != NULL);
	/* what was said of one loss does not settle the next one */
	checkpoint(&s, 3);
	s.l.now_ms += 60000;
	checkpoint(&s, 4);
	s.stored[3].integrity = INTEGRITY_DAMAGED;
	exited(&s.l, 137 << 8);
	pass(&s.l, 60000);
	observe(&s);
	CHECK_STR(LOSS(&s)->lost_path, s.stored[3].path);
	acknowledge(&s, "a1");
	CHECK_STR(LOSS(&s)->lost_path, s.stored[3].path);
	story_end(&s);
}

TEST(a_savepoint_that_completes_later_settles_it)
{
	struct story s;

	lose(&s);
	start(&s);
	ask_savepoint(&s.l, "n1");
	operation(&s.l, STATUS_ACCEPTED, NULL, NULL);
	CHECK_STR(LOSS(&s)->lost_path, s.stored[1].path);
	savepoint(&s, 5);
	reported(&s, 5);
	CHECK_INT(LOSS(&s)->unix_ms, ==, 0);
	CHECK_HAS(s.l.told, "state-lost");
	story_end(&s);
}

TEST(a_savepoint_that_is_damaged_settles_nothing)
{
	struct event e = {.type = EVENT_INSPECTED,
			  .inspected = {.readable = true, .error = "shared/1 is missing"}};
	struct story s;

	lose(&s);
	start(&s);
	ask_savepoint(&s.l, "n1");
	operation(&s.l, STATUS_ACCEPTED, NULL, NULL);
	savepoint(&s, 5);
	e.inspected.path = s.path;
	operation(&s.l, STATUS_COMPLETED, s.path, NULL);
	step(&s.l, &e);
	CHECK_STR(LOSS(&s)->lost_path, s.stored[1].path);
	story_end(&s);
}

TEST(a_savepoint_from_before_settles_nothing)
{
	struct story s;

	story_runs(&s);
	ask_savepoint(&s.l, "n1");
	operation(&s.l, STATUS_ACCEPTED, NULL, NULL);
	LOSS(&s)->unix_ms = story_now(&s) + 1;
	xstrset(&LOSS(&s)->lost_path, "file:/cp/x/chk-9");
	savepoint(&s, 5);
	reported(&s, 5);
	CHECK_STR(LOSS(&s)->lost_path, "file:/cp/x/chk-9");
	story_end(&s);
}

TEST(the_same_loss_is_told_once_and_several_are_added_up)
{
	struct story s;

	lose(&s);
	/* this launch fails before its job runs: the next one loses the same */
	started(&s.l);
	exited(&s.l, 1 << 8);
	s.l.told[0] = '\0';
	forget(&s.l);
	pass(&s.l, 60000);
	observe(&s);
	CHECK_STARTS(&s, s.stored[0].path);
	CHECK(!strstr(s.l.told, "state-lost"));
	CHECK_INT(LOSS(&s)->count, ==, 1);
	CHECK_INT(LOSS(&s)->launch, ==, 3);
	CHECK_INT(LOSS(&s)->total_ms, ==, 180000);
	/* and later another one is lost */
	start(&s);
	checkpoint(&s, 3);
	s.l.now_ms += 60000 - 1000;
	checkpoint(&s, 4);
	s.stored[3].integrity = INTEGRITY_DAMAGED;
	exited(&s.l, 137 << 8);
	pass(&s.l, 60000);
	observe(&s);
	CHECK_INT(LOSS(&s)->count, ==, 2);
	CHECK_INT(LOSS(&s)->ms, ==, 60000);
	CHECK_INT(LOSS(&s)->total_ms, ==, 240000);
	CHECK_HAS(s.l.last_notice, "launch");
	story_end(&s);
}

TEST(what_is_restored_after_all_is_not_lost)
{
	struct story s;

	lose(&s);
	started(&s.l);
	exited(&s.l, 1 << 8);
	s.stored[1].integrity = INTEGRITY_COMPLETE; /* repaired */
	forget(&s.l);
	pass(&s.l, 60000);
	observe(&s);
	CHECK_STARTS(&s, s.stored[1].path);
	CHECK_INT(LOSS(&s)->unix_ms, ==, 0);
	CHECK_HAS(s.l.life.journal.log[s.l.life.journal.log_count - 2].text, "can be used again");
	story_end(&s);
}

TEST(a_loss_that_a_person_has_chosen_is_none)
{
	struct story s;

	story_runs(&s);
	s.l.now_ms += 3600000;
	checkpoint(&s, 2);
	s.stored[1].integrity = INTEGRITY_DAMAGED;
	exited(&s.l, 137 << 8);
	pass(&s.l, 1);
	observe(&s);
	CHECK_PHASE(&s.l, PHASE_HOLDING);
	CHECK_INT(s.l.life.cause, ==, CAUSE_NEWEST_STATE_DAMAGED);
	control(&s.l, CONTROL_STATE | CONTROL_NEW_START | CONTROL_RESTORE,
		(struct intent){.state = DESIRED_RUNNING,
				.restore = {.kind = RESTORE_PATH,
					    .token = (char *)"t1",
					    .path = s.stored[0].path}});
	pass(&s.l, 1);
	observe(&s);
	CHECK_STARTS(&s, s.stored[0].path);
	CHECK_INT(LOSS(&s)->unix_ms, ==, 0);
	story_end(&s);
}

TEST(two_intervals_of_the_job_as_it_ran_may_be_lost)
{
	struct view view;
	struct story s;

	story_runs(&s);
	view = restored_view(&s, JOB_RUNNING);
	view.effective = (struct effective){.known = true, .interval_ms = 1800000};
	viewed(&s.l, view);
	put_on_record(&s.l);
	restart_agent(&s.l);
	/* so twice that may be lost */
	CHECK_INT(loss_limit_ms(&s.l.config.policy.max_loss, &s.l.life.journal), ==, 3600000);
	story_end(&s);
}

TEST(a_loss_is_a_warning_and_its_end_is_not)
{
	struct notice notice = {.type = NOTICE_STATE_LOST, .text = (char *)"launch 2 lost 3 min"};
	struct event_text text;

	CHECK(event_text(&notice, &text));
	CHECK(text.warning);
	CHECK_STR(text.reason, "StateLost");
	CHECK_STR(text.note, "launch 2 lost 3 min");
	event_text_release(&text);
	notice.ok = true;
	CHECK(event_text(&notice, &text));
	CHECK(!text.warning);
	CHECK_STR(text.reason, "StateLossSettled");
	event_text_release(&text);
}
