/*
 * The journal is lost or too old, and its copy in storage says what it knows: a hold with facts, the journal
 * from the copy (restore.adopt: newest), and ends that drey itself has brought about.
 */
#include "base/buf.h"
#include "core/journal/journal_copy.h"
#include "resolve_world.h"

#define STOP_PATH "file:/sp/savepoint-aaaaaa-000000000009"

/* A copy with one launch that ran. */
static struct journal *copy_of(struct world *w)
{
	struct journal_copy *copy = xcalloc(1, sizeof(*copy));
	struct launch *launch;

	copy->head.written_unix_ms = INT64_C(1772368260000);
	journal_init(&copy->journal, "app");
	copy->journal.sequence = 100;
	launch = journal_add_launch(&copy->journal);
	snprintf(launch->job_id, sizeof(launch->job_id), "%s", JOB_A);
	launch->intended_unix_ms = 1000;
	launch->started_unix_ms = 1001;
	facts_set_source(&w->facts, SOURCE_COPY, SOURCE_PRESENT, "read");
	w->facts.copy = copy;
	return &copy->journal;
}

static void stopped_at(struct journal *journal, const char *path)
{
	struct snapshot stop = {.path = (char *)path,
				.kind = SNAPSHOT_SAVEPOINT,
				.origin = ORIGIN_STOP,
				.checkpoint_id = 9};

	journal_add_snapshot(journal, &stop);
	journal->last_operation.kind = OPERATION_STOP;
	journal->last_operation.ok = true;
	journal->last_operation.ended_unix_ms = 5000;
	xstrset(&journal->last_operation.location, path);
}

#define CHECK_LOST(w, why)                                                                         \
	do {                                                                                       \
		CHECK_DECIDES(w, HOLD);                                                            \
		CHECK_INT((w)->decision.cause, ==, CAUSE_JOURNAL_LOST);                            \
		CHECK_HAS((w)->decision.reason, why);                                              \
	} while (0)

/* ---- the journal is lost ---- */

WORLD_TEST(a_lost_journal_is_told_from_its_copy_without_any_snapshot)
{
	copy_of(w)->outcome.kind = OUTCOME_FINISHED;
	CHECK_LOST(w, "the copy of 2026-03-01 12:31 UTC (launch 1) says: finished");
	CHECK_HAS(w->decision.reason, "restore.adopt: newest");
	CHECK_HAS(w->decision.reason, "drey resume --empty");
	CHECK_INT(w->decision.rule, ==, RULE_NOTHING);
}

WORLD_TEST(the_hold_names_the_savepoint_that_only_the_copy_knows)
{
	struct journal *copy = copy_of(w);

	copy->intent.state = DESIRED_SUSPENDED;
	stopped_at(copy, "s3://elsewhere/savepoint-aaaaaa-1");
	CHECK_LOST(w, "says: suspended, newest state s3://elsewhere/savepoint-aaaaaa-1");
	CHECK_HAS(w->decision.reason, "drey resume --from s3://elsewhere/savepoint-aaaaaa-1");
}

WORLD_TEST(the_hold_names_what_the_job_has_completed_since)
{
	stopped_at(copy_of(w), STOP_PATH);
	found_savepoint(w, JOB_A, 9);
	found_checkpoint(w, JOB_A, 14);
	found_checkpoint(w, JOB_B, 20);
	CHECK_LOST(w, "drey resume --from file:/cp/" JOB_A "/chk-14");
}

/* Lying world, 80245108: the journal was put back with a request that was carried out since, and no launch. */
WORLD_TEST(a_request_from_before_what_the_copy_knows_is_not_carried_out)
{
	found_checkpoint(w, JOB_B, 3);
	request(w, RESTORE_PATH, "file:/cp/" JOB_B "/chk-3", "t1");
	w->journal.intent.restore.asked_unix_ms = 999;
	copy_of(w);
	CHECK_LOST(w, "(launch 1) says");
	/* one of now is the way out */
	w->journal.intent.restore.asked_unix_ms = 1000;
	CHECK_DECIDES(w, START_FROM);
	CHECK_INT(w->decision.rule, ==, RULE_REQUEST);
}

WORLD_TEST(with_adopt_the_copy_takes_the_place_of_the_journal)
{
	copy_of(w);
	w->policy.adopt_lost = ADOPT_NEWEST;
	CHECK_DECIDES(w, ADOPT);
	CHECK_HAS(w->decision.reason, "(launch 1) says: running");
	found_checkpoint(w, JOB_A, 5);
	CHECK_DECIDES(w, ADOPT);
	CHECK(!decision_starts(&w->decision));
}

WORLD_TEST(a_copy_that_must_not_be_used_is_said_and_not_followed)
{
	w->policy.adopt_lost = ADOPT_NEWEST;
	facts_set_source(&w->facts, SOURCE_COPY, SOURCE_PRESENT, "its checksum is wrong");
	CHECK_LOST(w, "its copy in storage is not used: its checksum is wrong");
	found_checkpoint(w, JOB_A, 5);
	CHECK_LOST(w, "drey resume --from PATH");
}

WORLD_TEST(a_copy_that_cannot_be_read_forbids_a_first_start)
{
	facts_set_source(&w->facts, SOURCE_COPY, SOURCE_UNREADABLE, "timed out");
	CHECK_DECIDES(w, HOLD);
	CHECK_INT(w->decision.cause, ==, CAUSE_STORAGE_UNREADABLE);
	CHECK_HAS(w->decision.reason, "the copy of the journal cannot be read");
	w->policy.restore = POLICY_NONE;
	CHECK_DECIDES(w, HOLD);
	CHECK_INT(w->decision.cause, ==, CAUSE_STORAGE_UNREADABLE);
}

WORLD_TEST(a_healthy_journal_is_decided_on_without_it)
{
	proved(w, JOB_A, NULL, 0, 5);
	found_checkpoint(w, JOB_A, 5);
	facts_set_source(&w->facts, SOURCE_COPY, SOURCE_UNREADABLE, "timed out");
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_A "/chk-5");
	facts_set_source(&w->facts, SOURCE_COPY, SOURCE_PRESENT, "its checksum is wrong");
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_A "/chk-5");
	copy_of(w)->intent.state = DESIRED_SUSPENDED;
	journal_add_launch(&w->facts.copy->journal);
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_A "/chk-5");
}

/* Written before the first launch was started, and drey died. */
WORLD_TEST(the_copy_of_this_very_journal_is_no_loss)
{
	copy_of(w);
	intended(w, JOB_A, NULL, 0);
	CHECK_DECIDES(w, START_EMPTY);
}

WORLD_TEST(a_stateless_job_starts_unless_it_is_not_to_run)
{
	struct journal *copy = copy_of(w);

	w->policy.restore = POLICY_NONE;
	CHECK_DECIDES(w, START_EMPTY);
	copy->outcome.kind = OUTCOME_FINISHED;
	CHECK_LOST(w, "says: finished");
	copy->outcome.kind = OUTCOME_NONE;
	copy->intent.do_not_restart = true;
	CHECK_LOST(w, "do-not-restart is on");
	w->policy.adopt_lost = ADOPT_NEWEST;
	CHECK_DECIDES(w, ADOPT);
}

WORLD_TEST(a_request_of_a_person_goes_first)
{
	copy_of(w)->intent.state = DESIRED_SUSPENDED;
	found_checkpoint(w, JOB_A, 5);
	request(w, RESTORE_PATH, "file:/cp/" JOB_A "/chk-5", "t1");
	w->journal.intent.restore.asked_unix_ms = 99999;
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_A "/chk-5");
}

WORLD_TEST(a_request_of_unknown_age_does_not)
{
	copy_of(w)->outcome.kind = OUTCOME_FINISHED;
	request(w, RESTORE_EMPTY, NULL, "t1");
	w->journal.intent.restore.asked_unix_ms = 0;
	CHECK_LOST(w, "says: finished");
	w->policy.adopt_lost = ADOPT_NEWEST;
	CHECK_DECIDES(w, ADOPT);
}

WORLD_TEST(an_upgrade_with_two_jobs_is_left_to_a_person)
{
	struct journal *copy = copy_of(w);

	w->policy.adopt_lost = ADOPT_NEWEST;
	copy->handover.id = xstrdup("h2-00000000");
	copy->handover.state = HANDOVER_OFFERED;
	copy->handover.transition.id = xstrdup("h2-00000000");
	copy->handover.transition.state = TRANSITION_SHADOW;
	CHECK_LOST(w, "an upgrade with two jobs was under way");
}

/* ---- the journal is older than a stop of drey's own ---- */

static struct journal *put_back(struct world *w)
{
	struct launch *launch = proved(w, JOB_A, NULL, 0, 5);

	launch->job_result_path = xstrdup("file:/results/" JOB_A);
	w->journal.sequence = 60;
	found_checkpoint(w, JOB_A, 5);
	found(w, SOURCE_SAVEPOINTS, STOP_PATH, SNAPSHOT_SAVEPOINT, JOB_A, 9);
	facts_set_source(&w->facts, SOURCE_RESULTS, SOURCE_PRESENT, "read");
	facts_set_end(&w->facts, JOB_A, JOB_END_STOPPED, STOP_PATH);
	return copy_of(w);
}

WORLD_TEST(a_stop_of_dreys_own_does_not_park_an_older_journal)
{
	stopped_at(put_back(w), STOP_PATH);
	CHECK_STARTS_FROM(w, STOP_PATH);
}

WORLD_TEST(a_stop_by_a_person_still_does)
{
	put_back(w);
	CHECK_DECIDES(w, PARK);
	CHECK_INT(w->decision.outcome, ==, OUTCOME_CANCELLED);
	stopped_at(&w->facts.copy->journal, "file:/sp/another");
	CHECK_DECIDES(w, PARK);
}

WORLD_TEST(without_a_newer_copy_it_does_too)
{
	stopped_at(put_back(w), STOP_PATH);
	w->facts.copy->journal.sequence = 60;
	CHECK_DECIDES(w, PARK);
	CHECK_INT(w->decision.outcome, ==, OUTCOME_CANCELLED);
}

/* The savepoint has Flink's name, and its record does not say who asked: that much is said, and no more. */
WORLD_TEST(without_any_copy_nobody_knows_who_has_stopped_it)
{
	static const enum job_end ends[] = {JOB_END_STOPPED, JOB_END_CANCELED};

	put_back(w);
	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		facts_set_end(&w->facts, JOB_A, ends[i], STOP_PATH);
		CHECK_DECIDES(w, PARK);
		CHECK(!strstr(w->decision.reason, "or by drey itself"));
	}
	journal_copy_free(w->facts.copy);
	w->facts.copy = NULL;
	for (int state = SOURCE_NOT_CONFIGURED; state < SOURCE_UNREADABLE; state++)
		for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
			facts_set_source(&w->facts, SOURCE_COPY, (enum source_state)state, "x");
			facts_set_end(&w->facts, JOB_A, ends[i], STOP_PATH);
			CHECK_DECIDES(w, PARK);
			CHECK_INT(w->decision.outcome, ==, OUTCOME_CANCELLED);
			CHECK_HAS(w->decision.reason,
				  "or by drey itself, if this journal is an older one");
		}
}

WORLD_TEST(a_copy_that_cannot_be_read_parks_nothing)
{
	static const enum job_end ends[] = {JOB_END_STOPPED, JOB_END_CANCELED};

	put_back(w);
	journal_copy_free(w->facts.copy);
	w->facts.copy = NULL;
	facts_set_source(&w->facts, SOURCE_COPY, SOURCE_UNREADABLE, "timed out");
	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		facts_set_end(&w->facts, JOB_A, ends[i], STOP_PATH);
		CHECK_DECIDES(w, HOLD);
		CHECK_INT(w->decision.cause, ==, CAUSE_STORAGE_UNREADABLE);
		CHECK_INT(w->decision.outcome, ==, OUTCOME_NONE);
		CHECK_HAS(w->decision.reason, "timed out");
	}
}

WORLD_TEST(what_the_copy_says_of_the_desired_state_is_not_overruled)
{
	struct journal *copy = put_back(w);

	stopped_at(copy, STOP_PATH);
	copy->intent.state = DESIRED_SUSPENDED;
	CHECK_LOST(w, "the journal is older than its copy in storage");
	CHECK_HAS(w->decision.reason, "use `drey suspend` to keep the job stopped");
	CHECK_HAS(w->decision.reason, "drey resume --from " STOP_PATH);
}

/* Without an archive Flink's record is that of a job that has finished. */
WORLD_TEST(a_stop_that_looks_like_an_end_is_known_by_the_copy)
{
	struct journal *copy = put_back(w);

	facts_set_end(&w->facts, JOB_A, JOB_END_FINISHED, NULL);
	CHECK_DECIDES(w, PARK);
	CHECK_INT(w->decision.outcome, ==, OUTCOME_FINISHED);
	stopped_at(copy, STOP_PATH);
	CHECK_STARTS_FROM(w, STOP_PATH);
	w->facts.candidates[1].integrity = INTEGRITY_DAMAGED;
	CHECK_DECIDES(w, HOLD);
	CHECK_INT(w->decision.cause, ==, CAUSE_NEWEST_STATE_MISSING);
}

WORLD_TEST(a_launch_after_that_stop_is_not_lost_silently)
{
	struct journal *copy = put_back(w);
	struct launch *next;

	stopped_at(copy, STOP_PATH);
	next = journal_add_launch(copy);
	snprintf(next->job_id, sizeof(next->job_id), "%s", JOB_B);
	facts_add_job(&w->facts, JOB_B);
	found_checkpoint(w, JOB_B, 12);
	CHECK_DECIDES(w, HOLD);
	CHECK_INT(w->decision.cause, ==, CAUSE_UNKNOWN_NEWER_STATE);
}

/* ---- the journal is older than a launch ---- */

/* The journal knows the launch that was stopped with a savepoint; then came one that has run. No listing, and no HA data, show
 * what it has left. */
static struct launch *ran_since(struct world *w)
{
	struct journal *copy = put_back(w);
	struct launch *next;

	stopped_at(copy, STOP_PATH);
	next = journal_add_launch(copy);
	snprintf(next->job_id, sizeof(next->job_id), "%s", JOB_B);
	next->number = 7;
	xstrset(&next->last_checkpoint_path, "file:/cp/" JOB_B "/chk-12");
	next->last_checkpoint_id = 12;
	return next;
}

WORLD_TEST(a_launch_that_only_the_copy_knows_is_not_gone_back_behind)
{
	struct launch *since = ran_since(w);

	CHECK_LOST(w, "the journal is older than its copy in storage, and does not have launch 7");
	CHECK_HAS(w->decision.reason, "drey resume --from file:/cp/" JOB_B "/chk-12");
	CHECK_INT(w->decision.rule, ==, 6);
	/* one that has only been seen to run, too */
	since->last_checkpoint_id = 0;
	xstrset(&since->last_checkpoint_path, NULL);
	since->verified_unix_ms = 1;
	CHECK_LOST(w, "the journal is older than its copy in storage");
	CHECK_HAS(w->decision.reason, "drey resume --from " STOP_PATH);
	/* nothing shows that this one has got that far */
	since->verified_unix_ms = 0;
	CHECK_STARTS_FROM(w, STOP_PATH);
}

WORLD_TEST(a_person_may_go_back_behind_it)
{
	ran_since(w);
	request(w, RESTORE_PATH, STOP_PATH, "t1");
	w->journal.intent.restore.asked_unix_ms = 99999;
	CHECK_STARTS_FROM(w, STOP_PATH);
	w->journal.intent.restore.asked_unix_ms = 0;
	CHECK_DECIDES(w, HOLD);
}

WORLD_TEST(a_stateless_job_does_not_ask_it)
{
	ran_since(w);
	w->policy.restore = POLICY_NONE;
	CHECK_DECIDES(w, START_EMPTY);
}

/* Somebody began anew, and the copy was not written since. */
WORLD_TEST(a_copy_of_another_life_does_not_count)
{
	struct journal *copy;

	ran_since(w);
	facts_set_end(&w->facts, JOB_A, JOB_END_NONE, NULL);
	CHECK_LOST(w, "the journal is older than its copy in storage");
	copy = &w->facts.copy->journal;
	snprintf(copy->launches[0].job_id, sizeof(copy->launches[0].job_id), "%s",
		 "cccccccccccccccccccccccccccccccc");
	CHECK_STARTS_FROM(w, STOP_PATH);
}
