/*
 * What the running job says of its own settings: when it is asked, that it is on record, what is told, and that
 * a Flink that would delete the checkpoints of its job gets neither a SIGTERM nor a cancel.
 */
#include "core/report/condition_settings.h"
#include "life.h"

#define SECONDS 1000
#define MINUTES (60 * SECONDS)

static struct view settings(enum externalized externalized, int64_t completed_id)
{
	struct view view = job_in(JOB_RUNNING);

	view.completed_id = completed_id;
	view.completed_path = completed_id ? CHK(1) : NULL;
	view.plan = (struct checkpoint_plan){.known = true, .interval_ms = 10 * SECONDS};
	view.effective = (struct effective){.known = true,
					    .interval_ms = 10 * SECONDS,
					    .externalized = externalized,
					    .storage = CHECKPOINT_STORAGE_FILES};
	return view;
}

static void begin_running(struct life *l)
{
	life_begin(l);
	run_proven(l);
	forget(l);
}

static void begin_deleting(struct life *l)
{
	begin_running(l);
	shown_after(l, SECONDS, settings(EXTERNALIZED_DELETE, 1));
}

#define SETTINGS_TEST(name) LIFE_TEST_FROM(begin_running, name)
#define DELETING_TEST(name) LIFE_TEST_FROM(begin_deleting, name)

static const char *reason_of(const struct life *l)
{
	static struct condition condition;

	condition_settings(&l->life, &condition);
	return condition.reason;
}

SETTINGS_TEST(a_job_with_a_checkpoint_is_asked_at_the_next_poll_and_once)
{
	pass(l, 10 * SECONDS);
	CHECK(l->last[EFFECT_POLL].plan);
	CHECK_STR(reason_of(l), "NotAsked");
	viewed(l, settings(EXTERNALIZED_RETAIN, 1));
	CHECK_STR(reason_of(l), "AsConfigured");
	pass(l, 10 * SECONDS);
	CHECK(took(l, EFFECT_POLL) && !l->last[EFFECT_POLL].plan);
}

/* A picture from before a failure has no cause of it. */
LIFE_TEST(a_job_without_a_checkpoint_is_not_asked_before_it_has_run_for_a_minute)
{
	run_empty(l);
	shown_after(l, 10 * SECONDS, job_in(JOB_RUNNING));
	pass(l, 10 * SECONDS);
	CHECK(took(l, EFFECT_POLL) && !l->last[EFFECT_POLL].plan);
	viewed(l, job_in(JOB_RUNNING));
	pass(l, 55 * SECONDS);
	viewed(l, job_in(JOB_RUNNING));
	pass(l, 10 * SECONDS);
	CHECK(l->last[EFFECT_POLL].plan);
}

/* Flink answers for the cause of a failure from the picture that it took for the settings. */
SETTINGS_TEST(a_failed_job_whose_cause_is_not_in_that_picture_is_asked_again)
{
	struct view view = job_in(JOB_FAILED);

	pass(l, 10 * SECONDS);
	CHECK(l->last[EFFECT_POLL].plan);
	viewed(l, settings(EXTERNALIZED_RETAIN, 1));
	forget(l);
	shown_after(l, SECONDS, view);
	CHECK(!l->life.end_reason);
	CHECK_INT(l->life.phase, ==, PHASE_RUNNING);
	pass(l, 2 * SECONDS);
	CHECK(took(l, EFFECT_POLL));
	view.failure = "IllegalStateException: on purpose";
	viewed(l, view);
	CHECK_HAS(l->life.end_reason, "on purpose");
}

SETTINGS_TEST(a_failed_job_without_any_cause_is_not_waited_for)
{
	pass(l, 10 * SECONDS);
	viewed(l, settings(EXTERNALIZED_RETAIN, 1));
	shown_after(l, SECONDS, job_in(JOB_FAILED));
	pass(l, 2 * SECONDS);
	viewed(l, job_in(JOB_FAILED));
	CHECK_HAS(l->life.end_reason, "Flink reports no cause");
}

SETTINGS_TEST(a_job_that_another_jobmaster_has_built_is_asked_again)
{
	struct view view = settings(EXTERNALIZED_RETAIN, 1);

	view.job_unix_ms = UNIX_START;
	shown_after(l, SECONDS, view);
	view = job_since(JOB_RUNNING, UNIX_START + 5 * SECONDS);
	shown_after(l, 10 * SECONDS, view);
	shown_after(l, 61 * SECONDS, view);
	pass(l, 10 * SECONDS);
	CHECK(l->last[EFFECT_POLL].plan);
	view = settings(EXTERNALIZED_DELETE, 1);
	view.job_unix_ms = UNIX_START + 5 * SECONDS;
	viewed(l, view);
	CHECK_STR(reason_of(l), "CheckpointsDeleted");
}

DELETING_TEST(what_the_job_says_is_on_record_for_the_next_agent)
{
	char *job = xstrdup(job_of(l));

	CHECK_HAS(buf_str(&l->durable_text), "\"DELETE_ON_CANCELLATION\"");
	restart_agent(l);
	hello(l, job);
	CHECK_STR(reason_of(l), "CheckpointsDeleted");
	stopping(l, 30 * SECONDS);
	CHECK_INT(l->last[EFFECT_SIGNAL].signo, ==, SIGKILL);
	free(job);
}

/* The checkpoints are not needed any more, and a job that has ended is cleaned up. A damaged savepoint is none. */
TEST(after_a_stop_that_has_its_savepoint_flink_gets_sigterm)
{
	for (int complete = 0; complete < 2; complete++) {
		struct life l;

		begin_deleting(&l);
		desire(&l, DESIRED_SUSPENDED);
		operation(&l, STATUS_ACCEPTED, NULL, NULL);
		operation(&l, STATUS_COMPLETED, SAVEPOINT_1, NULL);
		inspected(&l, true, complete);
		forget(&l);
		stopping(&l, l.config.kill_after_ms);
		CHECK_INT(took(&l, EFFECT_SIGNAL), ==, 1);
		CHECK_INT(l.last[EFFECT_SIGNAL].signo, ==, complete ? SIGTERM : SIGKILL);
		life_end(&l);
	}
}

DELETING_TEST(what_may_lose_state_is_told_once)
{
	CHECK_STR(l->told, "settings");
	CHECK_HAS(l->last_notice, "DELETE_ON_CANCELLATION");
	shown_after(l, SECONDS, settings(EXTERNALIZED_DELETE, 1));
	CHECK_INT(took(l, EFFECT_TELL), ==, 1);
}

DELETING_TEST(a_flink_that_would_delete_the_checkpoints_is_killed_when_the_container_ends)
{
	stopping(l, 30 * SECONDS);
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	CHECK_INT(l->last[EFFECT_SIGNAL].signo, ==, SIGKILL);
	CHECK(l->last[EFFECT_SIGNAL].group);
}

SETTINGS_TEST(what_becomes_known_while_the_signal_waits_for_the_journal_counts)
{
	desire(l, DESIRED_CANCELLED);
	l->hold_writes = true;
	operation(l, STATUS_FAILED, NULL, "declined");
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	shown_after(l, SECONDS, settings(EXTERNALIZED_DELETE, 1));
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	l->hold_writes = false;
	written(l);
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	CHECK_INT(l->last[EFFECT_SIGNAL].signo, ==, SIGKILL);
	CHECK(l->last[EFFECT_SIGNAL].group);
}

SETTINGS_TEST(one_that_keeps_them_gets_a_sigterm)
{
	shown_after(l, SECONDS, settings(EXTERNALIZED_RETAIN, 1));
	stopping(l, 30 * SECONDS);
	CHECK_INT(l->last[EFFECT_SIGNAL].signo, ==, SIGTERM);
}

DELETING_TEST(with_high_availability_flink_keeps_them_and_gets_a_sigterm)
{
	xstrset(&journal_launch(&l->life.journal)->ha_cluster_id, "orders");
	CHECK_STR(reason_of(l), "AsConfigured");
	stopping(l, 30 * SECONDS);
	CHECK_INT(l->last[EFFECT_SIGNAL].signo, ==, SIGTERM);
}

DELETING_TEST(after_its_stop_with_savepoint_it_gets_a_sigterm)
{
	desire(l, DESIRED_SUSPENDED);
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	operation(l, STATUS_COMPLETED, SAVEPOINT_1, NULL);
	inspected(l, true, true);
	viewed(l, job_in(JOB_FINISHED));
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	CHECK_INT(l->last[EFFECT_SIGNAL].signo, ==, SIGTERM);
}

DELETING_TEST(a_cancel_is_carried_out_by_a_kill)
{
	desire(l, DESIRED_CANCELLED);
	CHECK_NOTHING(l, EFFECT_TRIGGER);
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	CHECK_INT(l->last[EFFECT_SIGNAL].signo, ==, SIGKILL);
	exited(l, KILLED(SIGKILL));
	CHECK_PHASE(l, PHASE_CANCELLED);
}

SETTINGS_TEST(a_job_that_keeps_them_is_cancelled_by_flink)
{
	shown_after(l, SECONDS, settings(EXTERNALIZED_RETAIN, 1));
	desire(l, DESIRED_CANCELLED);
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 1);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
}

/* The next launch of the same version, which Flink was not asked about yet, has the same code. */
DELETING_TEST(before_a_launch_is_asked_the_one_before_speaks_for_it)
{
	exited(l, KILLED(SIGKILL));
	observed(l, DECISION_START_FROM, CHK(1), 1, NULL);
	started(l);
	CHECK(!journal_launch(&l->life.journal)->effective.known);
	stopping(l, 30 * SECONDS);
	CHECK_INT(l->last[EFFECT_SIGNAL].signo, ==, SIGKILL);
}

SETTINGS_TEST(the_last_look_before_the_end_asks_for_the_settings)
{
	l->hold_last_poll = true;
	stopping(l, 30 * SECONDS);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	CHECK(l->last[EFFECT_POLL].plan);
	l->now_ms += 10;
	viewed(l, settings(EXTERNALIZED_NONE, 1));
	CHECK_INT(l->last[EFFECT_SIGNAL].signo, ==, SIGKILL);
}

TEST(native_savepoints_and_a_job_that_claims_do_not_go_together)
{
	static const struct {
		enum format_policy format;
		bool loses_claimed;
		enum claim_mode claim;
		const char *reason;
	} rows[] = {
		{FORMAT_POLICY_NATIVE, true, CLAIM_MODE_CLAIM, "NativeClaimed"},
		{FORMAT_POLICY_NATIVE, true, CLAIM_MODE_NO_CLAIM, "AsConfigured"},
		{FORMAT_POLICY_NATIVE, true, CLAIM_MODE_UNKNOWN, "AsConfigured"},
		{FORMAT_POLICY_NATIVE, false, CLAIM_MODE_CLAIM, "AsConfigured"},
		{FORMAT_POLICY_AUTO, true, CLAIM_MODE_CLAIM, "AsConfigured"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct life l;

		life_begin(&l);
		run_empty(&l);
		journal_launch(&l.life.journal)->effective =
			(struct effective){.known = true, .interval_ms = 5, .claim = rows[i].claim};
		l.config.format = rows[i].format;
		l.config.native_loses_claimed = rows[i].loses_claimed;
		if (!CHECK_STR(reason_of(&l), rows[i].reason))
			tap_note("row %zu", i);
		life_release(&l);
	}
}

TEST(each_contradiction_has_its_reason)
{
	static const struct {
		struct effective runs;
		bool ha, restored, fails;
		int64_t configured_ms;
		const char *reason;
	} rows[] = {
		{{.externalized = EXTERNALIZED_DELETE, .interval_ms = 5},
		 false,
		 false,
		 false,
		 5,
		 "CheckpointsDeleted"},
		{{.externalized = EXTERNALIZED_NONE, .interval_ms = 5},
		 true,
		 false,
		 false,
		 5,
		 "CheckpointsDeletedAtFailure"},
		{{.storage = CHECKPOINT_STORAGE_MEMORY, .interval_ms = 5},
		 false,
		 false,
		 false,
		 5,
		 "CheckpointsInMemory"},
		{{.interval_ms = 0}, false, false, false, 5, "NoCheckpoints"},
		{{.checkpointing_off = true}, false, false, false, 5, "NoCheckpoints"},
		/* nobody expects any */
		{{.checkpointing_off = true}, false, false, false, 0, "AsConfigured"},
		{{.changelog = true, .interval_ms = 5},
		 false,
		 true,
		 true,
		 5,
		 "ChangelogWithoutClaim"},
		{{.changelog = true, .interval_ms = 5, .claim = CLAIM_MODE_NO_CLAIM},
		 false,
		 true,
		 true,
		 5,
		 "ChangelogWithoutClaim"},
		{{.changelog = true, .interval_ms = 5, .claim = CLAIM_MODE_CLAIM},
		 false,
		 true,
		 true,
		 5,
		 "AsConfigured"},
		/* the claim mode is not known, and they may be to come */
		{{.changelog = true, .interval_ms = 5}, false, true, false, 5, "AsConfigured"},
		{{.changelog = true, .interval_ms = 5}, false, false, true, 5, "AsConfigured"},
		{{.interval_ms = 7, .externalized = EXTERNALIZED_RETAIN},
		 false,
		 true,
		 false,
		 5,
		 "AsConfigured"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct life l;
		struct launch *launch;

		life_begin(&l);
		run_empty(&l);
		launch = journal_launch(&l.life.journal);
		launch->effective = rows[i].runs;
		launch->effective.known = true;
		xstrset(&launch->ha_cluster_id, rows[i].ha ? "orders" : NULL);
		xstrset(&launch->restore_path, rows[i].restored ? CHK(1) : NULL);
		l.config.configured_interval_ms = rows[i].configured_ms;
		l.life.seen.checkpointing.failures = rows[i].fails;
		if (!CHECK_STR(reason_of(&l), rows[i].reason))
			tap_note("row %zu", i);
		life_release(&l);
	}
}
