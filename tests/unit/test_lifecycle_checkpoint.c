/* What of a job's checkpoints is on record, and when. */
#include "core/report/conditions.h"
#include "life.h"

static void completes(struct life *l, int64_t id, const char *dir)
{
	cleanup_free char *path = xasprintf("%s/%s/chk-%d", dir, job_of(l), (int)id);
	struct view view = job_in(JOB_RUNNING);

	view.completed_id = id;
	view.completed_path = path;
	view.completed_unix_ms = UNIX_START + l->now_ms;
	viewed(l, view);
}

/* A job that runs in these directories and has completed a checkpoint in `really`. */
static void runs_in(struct life *l, const char *told, const char *really)
{
	life_begin(l);
	l->config.listed_checkpoint_dir = told;
	l->config.listed_savepoint_dir = "file:/sp";
	run_empty(l);
	forget(l);
	completes(l, 1, really);
}

TEST(the_newest_checkpoint_is_on_record_within_a_minute)
{
	struct life l;
	int64_t id = 2, oldest_ms = 0;
	int64_t seen_ms[400];
	int writes;

	runs_in(&l, "file:/cp", "file:/cp");
	seen_ms[1] = l.now_ms;
	forget(&l);
	for (int i = 0; i < 360; i++, id++) { /* half an hour, one every 5 s */
		int64_t noted;

		pass(&l, 5000);
		completes(&l, id, "file:/cp");
		seen_ms[id] = l.now_ms;
		noted = l.life.noted_checkpoint_id;
		if (noted < id && l.now_ms - seen_ms[noted + 1] > oldest_ms)
			oldest_ms = l.now_ms - seen_ms[noted + 1];
	}
	writes = took(&l, EFFECT_WRITE_JOURNAL);
	CHECK_INT(writes, >=, 29);
	CHECK_INT(writes, <=, 31); /* one a minute */
	CHECK_INT(oldest_ms, <=, 60000);
	life_end(&l);
}

TEST(a_job_without_new_checkpoints_writes_nothing)
{
	struct life l;

	runs_in(&l, "file:/cp", "file:/cp");
	forget(&l);
	for (int i = 0; i < 100; i++) {
		pass(&l, 30000);
		completes(&l, 1, "file:/cp");
	}
	CHECK_INT(took(&l, EFFECT_WRITE_JOURNAL), ==, 0);
	life_end(&l);
}

/* The last one is written although no poll comes at the right time. */
TEST(it_is_on_record_although_nothing_is_seen_any_more)
{
	struct life l;

	runs_in(&l, "file:/cp", "file:/cp");
	pass(&l, 1000);
	completes(&l, 2, "file:/cp");
	forget(&l);
	pass(&l, 61000);
	CHECK_INT(took(&l, EFFECT_WRITE_JOURNAL), ==, 1);
	CHECK_INT(l.life.noted_checkpoint_id, ==, 2);
	life_end(&l);
}

TEST(another_write_brings_it_along)
{
	struct life l;

	runs_in(&l, "file:/cp", "file:/cp");
	pass(&l, 1000);
	completes(&l, 2, "file:/cp");
	do_not_restart(&l, true);
	forget(&l);
	pass(&l, 120000);
	CHECK_INT(took(&l, EFFECT_WRITE_JOURNAL), ==, 0);
	life_end(&l);
}

TEST(a_launch_is_recorded_with_its_directories)
{
	struct life l;

	runs_in(&l, "file:/cp", "file:/cp");
	CHECK_STR(journal_launch(&l.life.journal)->checkpoint_dir, "file:/cp");
	CHECK_STR(journal_launch(&l.life.journal)->savepoint_dir, "file:/sp");
	life_end(&l);
}

TEST(an_operation_is_recorded_with_where_its_savepoint_is_found)
{
	struct life l;

	runs_in(&l, "file:/cp", "file:/cp");
	ask_savepoint(&l, "n1");
	CHECK_STR(l.life.journal.operation.directory, NULL); /* the same */
	operation(&l, STATUS_FAILED, NULL, "no");
	l.config.savepoint_dir = "file:/_entropy_/sp";
	ask_savepoint(&l, "n2");
	CHECK_STR(l.life.journal.operation.path, "file:/_entropy_/sp");
	CHECK_STR(l.life.journal.operation.directory, "file:/sp");
	/* 0.1.0 has not written it down */
	xstrset(&l.life.journal.operation.directory, NULL);
	restart_agent(&l);
	CHECK_STR(l.life.journal.operation.directory, "file:/sp");
	life_end(&l);
}

static const struct condition *elsewhere(const struct life *l, struct conditions *conditions)
{
	static const struct conditions_outside nothing;

	*conditions = (struct conditions){0};
	conditions_update(conditions, &l->life, &nothing, UNIX_START + l->now_ms);
	return &conditions->list[CONDITION_CHECKPOINTS_ELSEWHERE];
}

/* Flink is being ended, and still completes one: after its end nobody can be asked any more, and the checkpoint may
 * be gone at the next look. (An agent that had just been started ended Flink at once: it had seen no checkpoint
 * but those of the agent before.) */
TEST(what_is_completed_while_flink_is_ended_is_on_record)
{
	struct life l;

	runs_in(&l, "file:/cp", "file:/cp");
	stopping(&l, 30000);
	CHECK_INT(took(&l, EFFECT_SIGNAL), ==, 1);
	forget(&l);
	completes(&l, 7, "file:/cp");
	CHECK_INT(journal_launch(&l.life.journal)->last_checkpoint_id, ==, 7);
	CHECK_INT(took(&l, EFFECT_WRITE_JOURNAL), ==, 1);
	life_end(&l);
}

/* The answer was under way when Flink died. What is decided without it is decided again. */
TEST(what_flink_has_told_counts_after_its_end)
{
	struct life l;

	runs_in(&l, "file:/cp", "file:/cp");
	exited(&l, KILLED(9));
	pass(&l, 6000);
	CHECK_INT(took(&l, EFFECT_OBSERVE), ==, 1);
	forget(&l);
	completes(&l, 7, "file:/cp");
	CHECK_INT(journal_launch(&l.life.journal)->last_checkpoint_id, ==, 7);
	CHECK_INT(took(&l, EFFECT_WRITE_JOURNAL), ==, 1);
	observed(&l, DECISION_START_FROM, CHK(1), 1, NULL);
	CHECK_NOTHING(&l, EFFECT_LAUNCH);
	CHECK_INT(took(&l, EFFECT_OBSERVE), ==, 1);
	life_end(&l);
}

/* It has not restored what it should have: nothing of it is ever used. */
TEST(what_a_wrong_restore_has_completed_is_nothing)
{
	struct life l;

	runs_in(&l, "file:/cp", "file:/cp");
	stopping(&l, 30000);
	journal_launch(&l.life.journal)->mismatched = true;
	completes(&l, 7, "file:/cp");
	CHECK_INT(journal_launch(&l.life.journal)->last_checkpoint_id, ==, 1);
	life_end(&l);
}

TEST(where_they_should_go_is_no_news)
{
	struct conditions conditions;
	struct life l;

	runs_in(&l, "file:///cp", "file:/cp");
	CHECK(!strstr(l.notes, "writes its checkpoints"));
	CHECK_STR(truth_name(elsewhere(&l, &conditions)->status), "False");
	life_end(&l);
}

TEST(checkpoints_in_another_directory_are_told_once)
{
	struct conditions conditions;
	struct life l;

	runs_in(&l, "file:/cp", "s3://own/ck");
	CHECK_HAS(l.notes, "writes its checkpoints to s3://own/ck, not to file:/cp");
	CHECK_HAS(l.notes, "flink.checkpointDirectory: s3://own/ck");
	CHECK_STR(truth_name(elsewhere(&l, &conditions)->status), "True");
	CHECK_STR(conditions.list[CONDITION_CHECKPOINTS_ELSEWHERE].reason, "AnotherDirectory");
	CHECK_HAS(conditions.list[CONDITION_CHECKPOINTS_ELSEWHERE].message, "s3://own/ck");
	forget(&l);
	completes(&l, 2, "s3://own/ck");
	CHECK_STR(l.notes, "");
	/* the next agent needs no telling either, and still shows it */
	restart_agent(&l);
	hello(&l, job_of(&l));
	forget(&l);
	completes(&l, 3, "s3://own/ck");
	CHECK(!strstr(l.notes, "writes its checkpoints"));
	CHECK_STR(truth_name(elsewhere(&l, &conditions)->status), "True");
	life_end(&l);
}

TEST(checkpoints_that_are_nowhere_are_told)
{
	struct conditions conditions;
	struct view view = job_in(JOB_RUNNING);
	struct life l;

	life_begin(&l);
	l.config.listed_checkpoint_dir = "file:/cp";
	run_empty(&l);
	CHECK_STR(truth_name(elsewhere(&l, &conditions)->status), "Unknown");
	view.completed_id = 1;
	view.completed_path = "<checkpoint-not-externally-addressable>";
	viewed(&l, view);
	CHECK_HAS(l.notes, "which is not below file:/cp");
	CHECK_STR(truth_name(elsewhere(&l, &conditions)->status), "True");
	CHECK_STR(conditions.list[CONDITION_CHECKPOINTS_ELSEWHERE].reason, "NoDirectory");
	life_end(&l);
}
