#include "core/report/conditions.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "tap.h"

#define NOW    1700000000000
#define MINUTE 60000

static const struct lifecycle_config config = {.max_attempts = 5, .attempts_window_ms = 60000};
static const struct conditions_outside nothing;

static void life_make(struct lifecycle *life)
{
	struct journal journal;
	struct rng rng;

	rng_seed(&rng, 1);
	journal_init(&journal, "orders");
	lifecycle_init(life, &config, &journal, &rng);
	snprintf(life->reason, sizeof(life->reason), "because");
}

/* With a Flink that answers and has the job. */
static void life_make_running(struct lifecycle *life)
{
	life_make(life);
	life->phase = PHASE_RUNNING;
	life->launch_step = LAUNCH_LIVE;
	life->seen.job_present = life->seen.reachable = true;
}

static struct conditions judge(const struct lifecycle *life)
{
	struct conditions conditions = {0};

	conditions_update(&conditions, life, &nothing, NOW);
	return conditions;
}

static const char *status_of(const struct conditions *conditions, enum condition_type type)
{
	return truth_name(conditions->list[type].status);
}

/* What Helm 4 and Flux make of it, in the order of kstatus. */
static const char *waited(const struct conditions *conditions)
{
	if (conditions->list[CONDITION_RECONCILING].status == TRUTH_TRUE)
		return "InProgress";
	if (conditions->list[CONDITION_STALLED].status == TRUTH_TRUE)
		return "Failed";
	return conditions->list[CONDITION_READY].status == TRUTH_TRUE ? "Current" : "InProgress";
}

#define LIFECYCLE_TEST_FROM(begin, name)                                                           \
	TEST_WITH(name, struct lifecycle, life, begin, lifecycle_release)
#define LIFECYCLE_TEST(name) LIFECYCLE_TEST_FROM(life_make, name)

LIFECYCLE_TEST(each_phase_and_wish_has_its_conditions)
{
	static const struct {
		enum phase phase;
		enum desired_state wanted;
		const char *ready, *why, *reconciling, *stalled, *waited;
	} rows[] = {
		{PHASE_RESOLVING, DESIRED_RUNNING, "False", "Resolving", "True", "False",
		 "InProgress"},
		{PHASE_HOLDING, DESIRED_RUNNING, "False", "Holding", "True", "False", "InProgress"},
		{PHASE_HOLDING, DESIRED_SUSPENDED, "False", "Holding", "False", "False",
		 "InProgress"},
		{PHASE_LAUNCHING, DESIRED_RUNNING, "False", "Launching", "True", "False",
		 "InProgress"},
		{PHASE_RUNNING, DESIRED_RUNNING, "True", "Running", "False", "False", "Current"},
		{PHASE_RUNNING, DESIRED_SUSPENDED, "False", "Suspending", "True", "False",
		 "InProgress"},
		{PHASE_RUNNING, DESIRED_CANCELLED, "False", "Cancelling", "True", "False",
		 "InProgress"},
		{PHASE_STOPPING, DESIRED_SUSPENDED, "False", "Stopping", "True", "False",
		 "InProgress"},
		{PHASE_SUSPENDED, DESIRED_SUSPENDED, "True", "Suspended", "False", "False",
		 "Current"},
		{PHASE_SUSPENDED, DESIRED_RUNNING, "False", "Suspended", "False", "False",
		 "InProgress"},
		{PHASE_CANCELLED, DESIRED_CANCELLED, "True", "Cancelled", "False", "False",
		 "Current"},
		{PHASE_CANCELLED, DESIRED_RUNNING, "False", "Cancelled", "False", "False",
		 "InProgress"},
		{PHASE_FINISHED, DESIRED_RUNNING, "True", "Finished", "False", "False", "Current"},
		{PHASE_FAILED, DESIRED_RUNNING, "False", "Failed", "False", "True", "Failed"},
		{PHASE_TERMINATING, DESIRED_RUNNING, "False", "Terminating", "True", "False",
		 "InProgress"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct conditions conditions;

		life->phase = rows[i].phase;
		life->journal.intent.state = rows[i].wanted;
		conditions = judge(life);
		CHECK_STR(status_of(&conditions, CONDITION_READY), rows[i].ready);
		CHECK_STR(conditions.list[CONDITION_READY].reason, rows[i].why);
		CHECK_STR(status_of(&conditions, CONDITION_RECONCILING), rows[i].reconciling);
		CHECK_STR(status_of(&conditions, CONDITION_STALLED), rows[i].stalled);
		CHECK_STR(conditions.list[CONDITION_READY].message, "because");
		CHECK_STR(waited(&conditions), rows[i].waited);
	}
}

LIFECYCLE_TEST(a_hold_stalls_after_a_minute_however_often_it_looks_again)
{
	struct conditions conditions = {0};

	life->phase = PHASE_HOLDING;
	life->holds = 1;
	conditions_update(&conditions, life, &nothing, NOW);
	CHECK_INT(conditions_due_unix_ms(&conditions), ==, NOW + MINUTE);
	life->phase = PHASE_RESOLVING;
	conditions_update(&conditions, life, &nothing, NOW + 30000);
	CHECK_STR(status_of(&conditions, CONDITION_STALLED), "False");
	life->phase = PHASE_HOLDING;
	conditions_update(&conditions, life, &nothing, NOW + MINUTE - 1);
	CHECK_STR(status_of(&conditions, CONDITION_STALLED), "False");
	CHECK_STR(status_of(&conditions, CONDITION_RECONCILING), "True");
	conditions_update(&conditions, life, &nothing, NOW + MINUTE);
	CHECK_STR(status_of(&conditions, CONDITION_STALLED), "True");
	CHECK_STR(conditions.list[CONDITION_STALLED].reason, "Holding");
	CHECK_STR(waited(&conditions), "Failed");
	CHECK_INT(conditions_due_unix_ms(&conditions), ==, 0);
	life->phase = PHASE_RESOLVING;
	snprintf(life->reason, sizeof(life->reason), "looking again");
	conditions_update(&conditions, life, &nothing, NOW + MINUTE + 1);
	CHECK_STR(status_of(&conditions, CONDITION_STALLED), "True");
	CHECK_STR(conditions.list[CONDITION_STALLED].message, "because");
	CHECK_INT(conditions.list[CONDITION_STALLED].since_unix_ms, ==, NOW + MINUTE);
	life->phase = PHASE_LAUNCHING;
	conditions_update(&conditions, life, &nothing, NOW + MINUTE + 2);
	CHECK_STR(status_of(&conditions, CONDITION_STALLED), "False");
	life->phase =
		PHASE_HOLDING; /* another hold has a minute of its own, also when the clock was set back */
	conditions_update(&conditions, life, &nothing, NOW + 2 * MINUTE);
	conditions_update(&conditions, life, &nothing, NOW);
	conditions_update(&conditions, life, &nothing, NOW + MINUTE - 1);
	CHECK_STR(status_of(&conditions, CONDITION_STALLED), "False");
}

LIFECYCLE_TEST(a_standstill_has_its_cause_for_a_reason)
{
	struct conditions conditions = {0};

	life->phase = PHASE_HOLDING;
	life->holds = 1;
	life->cause = CAUSE_STORAGE_UNREADABLE;
	conditions_update(&conditions, life, &nothing, NOW);
	CHECK_STR(conditions.list[CONDITION_READY].reason, "StorageUnreadable");
	CHECK_STR(conditions.list[CONDITION_STALLED].reason, "Holding"); /* not yet */
	conditions_update(&conditions, life, &nothing, NOW + MINUTE);
	CHECK_STR(conditions.list[CONDITION_STALLED].reason, "StorageUnreadable");
	life->phase = PHASE_FAILED;
	life->cause = CAUSE_ATTEMPTS_USED_UP;
	conditions_update(&conditions, life, &nothing, NOW + MINUTE);
	CHECK_STR(conditions.list[CONDITION_STALLED].reason, "AttemptsUsedUp");
}

LIFECYCLE_TEST(a_do_not_restart_never_stalls)
{
	struct conditions conditions = {0};

	life->phase = PHASE_HOLDING;
	life->holds = 1;
	life->journal.intent.do_not_restart = true;
	conditions_update(&conditions, life, &nothing, NOW);
	conditions_update(&conditions, life, &nothing, NOW + 100 * MINUTE);
	CHECK_STR(status_of(&conditions, CONDITION_STALLED), "False");
	CHECK_STR(status_of(&conditions, CONDITION_RECONCILING), "False");
	CHECK_STR(status_of(&conditions, CONDITION_READY), "False");
	CHECK_STR(conditions.list[CONDITION_READY].reason, "DoNotRestart");
	CHECK_STR(waited(&conditions), "InProgress");
	/* lifted: what else is wrong has its minute from then on */
	life->journal.intent.do_not_restart = false;
	conditions_update(&conditions, life, &nothing, NOW + 100 * MINUTE);
	CHECK_STR(status_of(&conditions, CONDITION_STALLED), "False");
	conditions_update(&conditions, life, &nothing, NOW + 101 * MINUTE);
	CHECK_STR(status_of(&conditions, CONDITION_STALLED), "True");
}

LIFECYCLE_TEST(a_broken_journal_stalls_a_job_that_runs_after_a_minute)
{
	struct conditions conditions = {0};

	life->phase = PHASE_RUNNING;
	life->journal_broken = true;
	life->journal_error = xstrdup("no journals on Fridays");
	conditions_update(&conditions, life, &nothing, NOW);
	CHECK_INT(conditions_due_unix_ms(&conditions), ==, NOW + MINUTE);
	conditions_update(&conditions, life, &nothing, NOW + MINUTE - 1);
	CHECK_STR(status_of(&conditions, CONDITION_STALLED), "False");
	conditions_update(&conditions, life, &nothing, NOW + MINUTE);
	CHECK_STR(status_of(&conditions, CONDITION_STALLED), "True");
	CHECK_STR(conditions.list[CONDITION_STALLED].reason, "JournalBroken");
	CHECK_HAS(conditions.list[CONDITION_STALLED].message,
		  "until it can: no journals on Fridays");
	CHECK_STR(status_of(&conditions, CONDITION_READY), "True");
	life->journal_broken = false;
	conditions_update(&conditions, life, &nothing, NOW + MINUTE + 1);
	CHECK_STR(status_of(&conditions, CONDITION_STALLED), "False");
}

LIFECYCLE_TEST(a_nonce_that_is_empty_and_a_restart_under_do_not_restart_are_not_under_way)
{
	struct conditions conditions;

	life->phase = PHASE_RUNNING;
	xstrset(&life->journal.intent.restart_nonce, "");
	conditions = judge(life);
	CHECK_STR(status_of(&conditions, CONDITION_READY), "True");
	CHECK_STR(status_of(&conditions, CONDITION_RECONCILING), "False");
	xstrset(&life->journal.intent.restart_nonce, "7");
	life->journal.intent.do_not_restart = true;
	conditions = judge(life);
	CHECK_STR(status_of(&conditions, CONDITION_READY), "True");
	CHECK_STR(status_of(&conditions, CONDITION_RECONCILING), "False");
}

LIFECYCLE_TEST(a_restart_that_is_wanted_is_under_way)
{
	struct conditions conditions;

	life->phase = PHASE_RUNNING;
	xstrset(&life->journal.intent.restart_nonce, "7");
	conditions = judge(life);
	CHECK_STR(status_of(&conditions, CONDITION_READY), "False");
	CHECK_STR(status_of(&conditions, CONDITION_RECONCILING), "True");
	CHECK_STR(conditions.list[CONDITION_RECONCILING].reason, "Restarting");
	xstrset(&life->journal.restart_nonce_done, "7");
	conditions = judge(life);
	CHECK_STR(status_of(&conditions, CONDITION_READY), "True");
	CHECK_STR(status_of(&conditions, CONDITION_RECONCILING), "False");
}

LIFECYCLE_TEST(who_lost_the_journal_says_nothing_good)
{
	struct conditions conditions;

	life->phase = PHASE_RUNNING;
	life->fenced = true;
	conditions = judge(life);
	CHECK_STR(status_of(&conditions, CONDITION_READY), "False");
	CHECK_STR(status_of(&conditions, CONDITION_RECONCILING), "False");
	CHECK_STR(status_of(&conditions, CONDITION_STALLED), "True");
}

LIFECYCLE_TEST(a_refused_spec_stalls_a_job_that_runs)
{
	const struct conditions_outside outside = {.generation = 4, .refused = "state: nonsense"};
	struct conditions conditions = {0};

	life->phase = PHASE_RUNNING;
	conditions_update(&conditions, life, &outside, NOW);
	CHECK_STR(status_of(&conditions, CONDITION_READY), "True");
	CHECK_STR(status_of(&conditions, CONDITION_STALLED), "True");
	CHECK_STR(conditions.list[CONDITION_STALLED].reason, "SpecRefused");
	CHECK_HAS(conditions.list[CONDITION_STALLED].message, "state: nonsense");
	CHECK_INT(conditions.generation, ==, 4);
}

LIFECYCLE_TEST(a_time_changes_only_with_the_status)
{
	struct conditions conditions = {0};

	life->phase = PHASE_LAUNCHING;
	conditions_update(&conditions, life, &nothing, NOW);
	CHECK_INT(conditions.list[CONDITION_READY].since_unix_ms, ==, NOW);
	life->phase = PHASE_RUNNING;
	conditions_update(&conditions, life, &nothing, NOW + 5000);
	CHECK_INT(conditions.list[CONDITION_READY].since_unix_ms, ==, NOW + 5000);
	CHECK_INT(conditions.list[CONDITION_STALLED].since_unix_ms, ==, NOW);
	snprintf(life->reason, sizeof(life->reason), "another one");
	conditions_update(&conditions, life, &nothing, NOW + 9000);
	CHECK_INT(conditions.list[CONDITION_READY].since_unix_ms, ==, NOW + 5000);
	CHECK_STR(conditions.list[CONDITION_READY].message, "another one");
}

LIFECYCLE_TEST(a_time_outlives_the_agent)
{
	struct conditions before = {0}, after = {0};
	struct json *doc = json_object();

	life->phase = PHASE_RUNNING;
	conditions_update(&before, life, &nothing, NOW);
	conditions_add(&before, doc, "conditions");
	conditions_seed(&after, json_get(doc, "conditions"));
	life->phase = PHASE_FAILED;
	conditions_update(&after, life, &nothing, NOW + 7000);
	CHECK_INT(after.list[CONDITION_READY].since_unix_ms, ==, NOW + 7000);
	CHECK_INT(after.list[CONDITION_RECONCILING].since_unix_ms, ==, NOW);
	/* also when they were judged before the old ones were read */
	memset(&after, 0, sizeof(after));
	life->phase = PHASE_RUNNING;
	conditions_update(&after, life, &nothing, NOW + 8000);
	conditions_seed(&after, json_get(doc, "conditions"));
	CHECK_INT(after.list[CONDITION_READY].since_unix_ms, ==, NOW);
	json_free(doc);
}

LIFECYCLE_TEST(failed_attempts_are_restarts_also_when_the_journal_forgets_them)
{
	struct conditions conditions = {0};

	life->phase = PHASE_RUNNING;
	for (int i = 0; i < 3; i++) {
		CHECK_STR(truth_name(conditions.list[CONDITION_JOB_FAILING].status),
			  i ? "False" : "Unknown");
		journal_add_failure(&life->journal, NOW - 1000 + i);
		conditions_update(&conditions, life, &nothing, NOW + i);
	}
	CHECK_STR(status_of(&conditions, CONDITION_JOB_FAILING), "True");
	CHECK_STR(status_of(&conditions, CONDITION_READY), "False");
	CHECK_STR(conditions.list[CONDITION_READY].reason, "JobFailing");
	life->journal.failure_count = 0;
	conditions_update(&conditions, life, &nothing, NOW + 5 * MINUTE);
	CHECK_STR(status_of(&conditions, CONDITION_JOB_FAILING), "True");
	conditions_update(&conditions, life, &nothing, NOW + 11 * MINUTE);
	CHECK_STR(status_of(&conditions, CONDITION_JOB_FAILING), "False");
	CHECK_STR(status_of(&conditions, CONDITION_JOB_UNSTABLE), "True");
	CHECK_STR(status_of(&conditions, CONDITION_READY), "True");
	conditions_update(&conditions, life, &nothing, NOW + 61 * MINUTE);
	CHECK_STR(status_of(&conditions, CONDITION_JOB_UNSTABLE), "False");
}

LIFECYCLE_TEST_FROM(life_make_running, restarts_by_flink_itself_count_once_each)
{
	struct conditions conditions = {0};

	for (int i = 0; i < 200; i++) {
		life->seen.state = i % 4 < 2 ? JOB_RESTARTING : JOB_RUNNING;
		conditions_update(&conditions, life, &nothing, NOW + i);
		if (i == 7)
			CHECK_STR(status_of(&conditions, CONDITION_JOB_FAILING), "False");
		if (i == 8)
			CHECK_STR(status_of(&conditions, CONDITION_JOB_FAILING), "True");
	}
	CHECK_HAS(conditions.list[CONDITION_JOB_FAILING].message, "50 restarts");
	for (int i = 0; i < 400; i++) {
		life->seen.state = i % 2 ? JOB_RESTARTING : JOB_RUNNING;
		conditions_update(&conditions, life, &nothing, NOW + (int64_t)i * MINUTE);
	}
	CHECK_INT(conditions.restarts.entry_count, ==, RESTART_HISTORY_ENTRIES);
	CHECK_HAS(conditions.list[CONDITION_JOB_UNSTABLE].message, "30 restarts");
}

LIFECYCLE_TEST_FROM(life_make_running, all_restarts_that_flink_tells_of_count_and_none_twice)
{
	struct conditions conditions = {0};

	journal_add_launch(&life->journal)->number = 1;
	life->seen.restarts_known = true;
	life->seen.restarts = 500; /* it was taken over with these */
	conditions_update(&conditions, life, &nothing, NOW);
	CHECK_HAS(conditions.list[CONDITION_JOB_UNSTABLE].message, "0 restarts");
	life->seen.state = JOB_RESTARTING; /* seen before it is told of */
	conditions_update(&conditions, life, &nothing, NOW + 1);
	CHECK_HAS(conditions.list[CONDITION_JOB_UNSTABLE].message, "1 restarts");
	life->seen.state = JOB_RUNNING;
	life->seen.restarts = 500 + 555;
	conditions_update(&conditions, life, &nothing, NOW + MINUTE / 2);
	CHECK_HAS(conditions.list[CONDITION_JOB_UNSTABLE].message, "555 restarts");
	CHECK_STR(status_of(&conditions, CONDITION_JOB_FAILING), "True");
	conditions_update(&conditions, life, &nothing, NOW + MINUTE);
	CHECK_HAS(conditions.list[CONDITION_JOB_UNSTABLE].message, "555 restarts");
	/* the next launch begins with none */
	journal_add_launch(&life->journal)->number = 2;
	life->seen.restarts_known = false;
	conditions_update(&conditions, life, &nothing, NOW + MINUTE);
	life->seen.restarts_known = true;
	life->seen.restarts = 2;
	conditions_update(&conditions, life, &nothing, NOW + MINUTE);
	CHECK_HAS(conditions.list[CONDITION_JOB_UNSTABLE].message, "557 restarts");
}

/* Three upgrades within ten minutes, each of which restarts once before its TaskManagers are there. */
LIFECYCLE_TEST_FROM(life_make_running, the_restarts_of_a_start_that_succeeds_do_not_count)
{
	struct conditions conditions = {0};
	int64_t now = NOW;

	conditions_update(&conditions, life, &nothing, now);
	for (int i = 2; i < 5; i++, now += MINUTE) {
		journal_add_launch(&life->journal)->number = i;
		life->seen.restarts_known = false;
		life->seen.first_ran_ms = 0;
		life->seen.state = JOB_RESTARTING;
		conditions_update(&conditions, life, &nothing, now);
		CHECK_HAS(conditions.list[CONDITION_JOB_FAILING].message, "1 restarts");
		life->seen.state = JOB_RUNNING;
		life->seen.first_ran_ms = 1000;
		life->seen.restarts_known = true;
		life->seen.restarts = 0; /* an old number */
		life->seen.restarts_ms = 1000;
		conditions_update(&conditions, life, &nothing, now + 1);
		CHECK_HAS(conditions.list[CONDITION_JOB_FAILING].message, "0 restarts");
		life->seen.restarts = 1;
		life->seen.restarts_ms = 31000;
		conditions_update(&conditions, life, &nothing, now + 2);
		CHECK_HAS(conditions.list[CONDITION_JOB_FAILING].message, "0 restarts");
	}
	CHECK_STR(status_of(&conditions, CONDITION_READY), "True");
	life->seen.restarts = 2; /* after it ran */
	conditions_update(&conditions, life, &nothing, now);
	CHECK_HAS(conditions.list[CONDITION_JOB_FAILING].message, "1 restarts");
}

LIFECYCLE_TEST_FROM(life_make_running, the_restarts_of_a_start_that_never_succeeds_count)
{
	struct conditions conditions = {0};

	journal_add_launch(&life->journal)->number = 2;
	for (int i = 0; i < 8; i++) {
		life->seen.state = i % 2 ? JOB_RUNNING : JOB_RESTARTING;
		conditions_update(&conditions, life, &nothing, NOW + i);
	}
	CHECK_HAS(conditions.list[CONDITION_JOB_FAILING].message, "4 restarts");
	CHECK_STR(status_of(&conditions, CONDITION_JOB_FAILING), "True");
}

LIFECYCLE_TEST(a_flink_that_gives_no_answer_is_unreachable_after_a_minute)
{
	struct conditions conditions = {0};

	life->phase = PHASE_RUNNING;
	conditions_update(&conditions, life, &nothing, NOW);
	CHECK_STR(conditions.list[CONDITION_CLUSTER_UNREACHABLE].reason, "NoFlink");
	life->launch_step = LAUNCH_LIVE;
	conditions_update(&conditions, life, &nothing, NOW);
	conditions_update(&conditions, life, &nothing, NOW + 59999);
	CHECK_STR(status_of(&conditions, CONDITION_CLUSTER_UNREACHABLE), "False");
	conditions_update(&conditions, life, &nothing, NOW + 60000);
	CHECK_STR(status_of(&conditions, CONDITION_CLUSTER_UNREACHABLE), "True");
	CHECK_STR(conditions.list[CONDITION_READY].reason, "ClusterUnreachable");
	life->seen.reachable = true;
	conditions_update(&conditions, life, &nothing, NOW + 61000);
	CHECK_STR(status_of(&conditions, CONDITION_CLUSTER_UNREACHABLE), "False");
	life->seen.reachable = false;
	conditions_update(&conditions, life, &nothing, NOW + 62000);
	/* the clock is set back meanwhile */
	conditions_update(&conditions, life, &nothing, NOW - 3600 * 1000);
	conditions_update(&conditions, life, &nothing, NOW - 3600 * 1000 + 60000);
	CHECK_STR(status_of(&conditions, CONDITION_CLUSTER_UNREACHABLE), "True");
}

LIFECYCLE_TEST_FROM(life_make_running,
		    settings_that_may_lose_state_have_their_word_and_the_job_is_ready)
{
	struct launch *launch = journal_add_launch(&life->journal);
	struct conditions conditions;

	launch->effective = (struct effective){
		.known = true, .interval_ms = 1000, .externalized = EXTERNALIZED_RETAIN};
	conditions = judge(life);
	CHECK_STR(status_of(&conditions, CONDITION_SETTINGS_OVERRIDDEN), "False");
	launch->effective.externalized = EXTERNALIZED_DELETE;
	conditions = judge(life);
	CHECK_STR(status_of(&conditions, CONDITION_SETTINGS_OVERRIDDEN), "True");
	CHECK_STR(status_of(&conditions, CONDITION_READY), "True");
	CHECK_INT(conditions_cause(&conditions, life), ==, CAUSE_SETTINGS_OVERRIDDEN);
	CHECK_HAS(conditions_reason(&conditions, life), "RETAIN_ON_CANCELLATION, or nothing");
}

LIFECYCLE_TEST_FROM(life_make_running,
		    checkpoints_that_cannot_be_restored_have_their_word_and_the_job_is_ready)
{
	struct launch *launch = journal_add_launch(&life->journal);
	struct conditions conditions;

	launch->reviewed_id = 7;
	launch->reviewed_unix_ms = 1;
	conditions = judge(life);
	CHECK_INT(conditions_cause(&conditions, life), ==, CAUSE_NONE);
	launch->unusable = xstrdup("shared/a is missing");
	conditions = judge(life);
	CHECK_STR(status_of(&conditions, CONDITION_CHECKPOINTS_UNUSABLE), "True");
	CHECK_STR(status_of(&conditions, CONDITION_READY), "True");
	CHECK_INT(conditions_cause(&conditions, life), ==, CAUSE_CHECKPOINTS_UNUSABLE);
	CHECK_HAS(conditions_reason(&conditions, life), "shared/a is missing");
}

LIFECYCLE_TEST_FROM(life_make_running, checkpoints_that_fail_have_their_word_and_the_job_is_ready)
{
	static const struct lifecycle_config strict = {.health.checkpoint_failures = 3};
	struct conditions conditions;

	life->config = &strict;
	journal_add_launch(&life->journal)->number = 1;
	life->seen.statistics_ms = life->seen.progress_ms = 1;
	life->seen.checkpointing.failures = 2;
	conditions = judge(life);
	CHECK_STR(status_of(&conditions, CONDITION_CHECKPOINTS_FAILING), "False");
	CHECK_INT(conditions_cause(&conditions, life), ==, CAUSE_NONE);
	life->seen.checkpointing.failures = 3;
	conditions = judge(life);
	CHECK_STR(status_of(&conditions, CONDITION_CHECKPOINTS_FAILING), "True");
	CHECK_STR(status_of(&conditions, CONDITION_READY), "True");
	CHECK_STR(waited(&conditions), "Current");
	CHECK(conditions_ready(&conditions, life));
	CHECK_INT(conditions_cause(&conditions, life), ==, CAUSE_CHECKPOINTS_FAILING);
	CHECK_HAS(conditions_reason(&conditions, life), "3 checkpoints failed since the job runs");
	/* what is worse comes first */
	life->cause = CAUSE_STOP_FAILED;
	conditions = judge(life);
	CHECK_INT(conditions_cause(&conditions, life), ==, CAUSE_STOP_FAILED);
	CHECK_STR(conditions_reason(&conditions, life), "because");
	life->cause = CAUSE_NONE;
	life->seen.tasks_missing = true;
	conditions = judge(life);
	CHECK_INT(conditions_cause(&conditions, life), ==, CAUSE_JOB_NOT_RUNNING);
}

/* ---- a hand-over ---- */

static const struct lifecycle_config surge = {.handover.mode = HANDOVER_SURGE};

static void check_handing_over(const struct lifecycle *life, const char *status, const char *reason,
			       const char *message)
{
	struct conditions conditions = judge(life);

	CHECK_STR(status_of(&conditions, CONDITION_HANDING_OVER), status);
	CHECK_STR(conditions.list[CONDITION_HANDING_OVER].reason, reason);
	CHECK_HAS(conditions.list[CONDITION_HANDING_OVER].message, message);
}

static void hands_over(struct lifecycle *life, enum handover_state state, const char *why)
{
	life->config = &surge;
	xstrset(&life->journal.handover.id, "h2-00000001");
	xstrset(&life->journal.handover.to.pod, "new");
	xstrset(&life->journal.handover.to.uid, "unew");
	xstrset(&life->journal.handover.why, why);
	life->journal.handover.state = state;
}

LIFECYCLE_TEST_FROM(life_make_running, a_hand_over_has_its_state_for_a_reason)
{
	struct candidate_seen *seen = &life->handover.seen[PLACE_CANDIDATE];

	check_handing_over(life, "False", "NoHandover", "there was no hand-over");
	hands_over(life, HANDOVER_OFFERED, "new prepares");
	check_handing_over(life, "True", "HandoverOffered",
			   "hand-over h2-00000001 to new is offered: new prepares");
	seen->present = true;
	seen->state = CANDIDATE_PREPARED;
	xstrset(&seen->party.uid, "unew");
	check_handing_over(life, "True", "HandoverPrepared", "new prepares");
	hands_over(life, HANDOVER_STOPPING, "the job is being stopped");
	check_handing_over(life, "True", "HandoverStopping", "the job is being stopped");
	hands_over(life, HANDOVER_GRANTED, "the job has stopped");
	check_handing_over(life, "True", "HandoverGranted", "the job has stopped");
	hands_over(life, HANDOVER_TAKEN, "new takes the job");
	check_handing_over(life, "True", "HandoverTaken", "new takes the job");
	hands_over(life, HANDOVER_DONE, "the job runs at new");
	check_handing_over(life, "False", "HandoverDone", "the job runs at new");
	hands_over(life, HANDOVER_REFUSED, "not in time");
	check_handing_over(life, "False", "HandoverRefused", "not in time");
	hands_over(life, HANDOVER_NONE, "the candidate is gone");
	check_handing_over(life, "False", "HandoverGivenUp", "the candidate is gone");
}

LIFECYCLE_TEST_FROM(life_make_running, that_the_job_was_returned_stays_in_the_condition)
{
	hands_over(life, HANDOVER_RETURNED, "main() threw");
	xstrset(&life->journal.handover.returned, "main() threw");
	check_handing_over(life, "False", "HandoverReturned", "is returned: main() threw");
	hands_over(life, HANDOVER_OFFERED, "new prepares");
	check_handing_over(life, "True", "HandoverOffered",
			   "new prepares; this version has returned the job: main() threw");
	hands_over(life, HANDOVER_NONE, "the candidate is gone");
	check_handing_over(life, "False", "HandoverReturned", "main() threw");
}

LIFECYCLE_TEST(a_pod_that_is_not_the_owner_knows_of_no_hand_over)
{
	life->config = &surge;
	life->phase = PHASE_PREPARED;
	check_handing_over(life, "Unknown", "StandingBy", "the owner");
}

LIFECYCLE_TEST(they_are_written_as_kubernetes_reads_them)
{
	const struct conditions_outside outside = {.generation = 3};
	struct conditions conditions = {0};
	struct json *doc = json_object();
	const struct json *each;

	life->phase = PHASE_RUNNING;
	conditions_update(&conditions, life, &outside, NOW + 999);
	conditions_add(&conditions, doc, "conditions");
	CHECK_INT(json_len(json_get(doc, "conditions")), ==, CONDITION_COUNT);
	each = json_first(json_get(doc, "conditions"));
	CHECK_STR(json_str(each, "type"), "Ready");
	CHECK_STR(json_str(each, "status"), "True");
	CHECK_STR(json_str(each, "reason"), "Running");
	CHECK_STR(json_str(each, "lastTransitionTime"), "2023-11-14T22:13:20Z");
	CHECK_INT(json_i64_or(each, "observedGeneration", 0), ==, 3);
	json_free(doc);
}

/* ---- an upgrade ---- */

static const struct lifecycle_config upgraded = {.generation = "g2",
						 .health.probation_ms = 5 * MINUTE};

static struct launch *launched(struct lifecycle *life, const char *generation,
			       int64_t proven_unix_ms, int64_t ended_unix_ms)
{
	struct launch *launch = journal_add_launch(&life->journal);

	launch->generation = generation ? xstrdup(generation) : NULL;
	launch->proven_unix_ms = proven_unix_ms;
	launch->ended_unix_ms = ended_unix_ms;
	return launch;
}

static void check_upgraded(const struct lifecycle *life, const char *status, const char *reason,
			   int64_t due_unix_ms)
{
	struct conditions conditions = judge(life);

	CHECK_STR(status_of(&conditions, CONDITION_UPGRADED), status);
	CHECK_STR(conditions.list[CONDITION_UPGRADED].reason, reason);
	CHECK_INT(conditions_due_unix_ms(&conditions), ==, due_unix_ms);
}

LIFECYCLE_TEST_FROM(life_make_running,
		    an_upgrade_has_succeeded_after_a_checkpoint_and_the_probation)
{
	struct launch *launch;

	check_upgraded(life, "Unknown", "NoGeneration", 0);
	life->config = &upgraded;
	launched(life, "g1", NOW - 60 * MINUTE, NOW - 10 * MINUTE);
	check_upgraded(life, "False", "NoCheckpoint", 0);
	launch = launched(life, "g2", 0, 0);
	check_upgraded(life, "False", "NoCheckpoint", 0);
	launch->proven_unix_ms = NOW - 2 * MINUTE;
	check_upgraded(life, "False", "Probation", NOW + 3 * MINUTE);
	launch->proven_unix_ms = NOW + 9 * MINUTE; /* the clock was set back */
	check_upgraded(life, "False", "Probation", NOW + 5 * MINUTE);
	launch->proven_unix_ms = NOW - 5 * MINUTE;
	check_upgraded(life, "True", "Proven", 0);
	/* it has run long enough, and failed later */
	launch->ended_unix_ms = NOW;
	launched(life, "g2", 0, 0);
	launch = &life->journal.launches[1];
	check_upgraded(life, "True", "Proven", 0);
	/* another one that has not */
	launch->ended_unix_ms = NOW - MINUTE;
	check_upgraded(life, "False", "Probation", 0);
	journal_add_failed_generation(&life->journal, "g2");
	check_upgraded(life, "False", "Failed", 0);
}

LIFECYCLE_TEST_FROM(life_make_running, what_stalls_sooner_is_due_sooner)
{
	struct conditions conditions;

	life->config = &upgraded;
	launched(life, "g2", NOW - 1, 0);
	life->journal_broken = true;
	conditions = judge(life);
	CHECK_INT(conditions_due_unix_ms(&conditions), ==, NOW + CONDITIONS_PATIENCE_MS);
	life->journal_broken = false;
	conditions = judge(life);
	CHECK_INT(conditions_due_unix_ms(&conditions), ==, NOW + 5 * MINUTE - 1);
}

LIFECYCLE_TEST_FROM(life_make_running, a_job_in_the_shadow_is_not_ready)
{
	struct lifecycle_config here = *life->config;
	struct conditions conditions;

	here.handover.shadow = true;
	life->config = &here;
	conditions = judge(life);
	CHECK_STR(status_of(&conditions, CONDITION_READY), "False");
	CHECK_STR(conditions.list[CONDITION_READY].reason, "Shadow");
	CHECK_STR(status_of(&conditions, CONDITION_STALLED), "False");
	CHECK(!conditions_ready(&conditions, life));
	CHECK_INT(conditions_cause(&conditions, life), ==, CAUSE_SHADOW);
}
