/*
 * Whether the job runs: what Flink says of its tasks, through the real life cycle and the real
 * conditions. The recorded sequences are in tests/fixtures/rest (README.md there).
 */
#include "core/report/readiness.h"

#include <stdlib.h>

#include "base/json.h"
#include "core/report/conditions.h"
#include "core/report/status.h"
#include "life.h"

static const struct conditions_outside nothing;

/* A job of `total` tasks; those that do not run wait. */
static struct view tasks(enum job_state state, int running, int total, int managers, int slots)
{
	struct view view = job_in(state);

	view.tasks_missing = running < total;
	view.cluster = (struct cluster){.tasks_known = true,
					.slots_known = true,
					.tasks_total = total,
					.tasks_running = running,
					.tasks_waiting = total - running,
					.task_managers = managers,
					.slots_total = slots,
					.slots_free = slots - running};
	return view;
}

static struct conditions conditions_of(const struct life *l)
{
	struct conditions conditions = {0};

	conditions_update(&conditions, &l->life, &nothing, UNIX_START + l->now_ms);
	return conditions;
}

static const struct condition *ready_of(const struct life *l)
{
	static struct conditions conditions;

	conditions = conditions_of(l);
	return &conditions.list[CONDITION_READY];
}

static bool is_ready(const struct life *l)
{
	struct conditions conditions = conditions_of(l);

	return conditions_ready(&conditions, &l->life);
}

static const char *stalled(const struct life *l)
{
	struct conditions conditions = conditions_of(l);

	return truth_name(conditions.list[CONDITION_STALLED].status);
}

static void run_twelve(struct life *l)
{
	struct view view = tasks(JOB_RUNNING, 12, 12, 3, 12);

	life_begin(l);
	l->config.poll_fast_ms = 250;
	l->config.poll_tasks_ms = 5000;
	l->config.poll_slow_ms = 30000;
	l->config.task_managers = "app=orders";
	launch_empty(l);
	viewed(l, view);
	view.completed_id = 1;
	view.completed_path = CHK(1);
	viewed(l, view);
	CHECK_PHASE(l, PHASE_RUNNING);
	CHECK(is_ready(l));
	forget(l);
}

/* Let time pass, and give every poll on the way this answer. */
static void poll_for(struct life *l, int64_t ms, struct view view)
{
	int64_t until_ms = l->now_ms + ms;

	while (l->now_ms < until_ms) {
		int before = took(l, EFFECT_POLL);
		int64_t next = l->life.poll_ms ? l->life.poll_ms : until_ms;

		pass(l, (next < until_ms ? next : until_ms) - l->now_ms);
		if (took(l, EFFECT_POLL) != before)
			viewed(l, view);
	}
}

/* ---- lost and returned ---- */

LIFE_TEST_FROM(run_twelve, a_job_that_has_lost_its_taskmanagers_is_not_ready)
{
	struct view lost = tasks(JOB_RESTARTING, 0, 12, 0, 0);
	struct conditions conditions;
	int64_t since_ms;

	since_ms = l->now_ms;
	while (is_ready(l) && l->now_ms - since_ms < 60000)
		poll_for(l, 100, lost);
	CHECK_INT(l->now_ms - since_ms, <=, 10000);
	CHECK_PHASE(l, PHASE_RUNNING);
	CHECK_STR(ready_of(l)->reason, "JobNotRunning");
	CHECK_STR(
		ready_of(l)->message,
		"0 of 12 tasks run: no TaskManager is registered (0 of 12 slots); the job is RESTARTING; kubectl get pods -l app=orders");
	conditions = conditions_of(l);
	CHECK_STR(conditions_reason(&conditions, &l->life), ready_of(l)->message);
	CHECK_INT(conditions_cause(&conditions, &l->life), ==, CAUSE_JOB_NOT_RUNNING);
	CHECK_STR(truth_name(conditions.list[CONDITION_RECONCILING].status), "True");
	CHECK_STR(stalled(l), "False");
	CHECK_HAS(l->notes, "not ready: 0 of 12 tasks run");
	/* it is asked often now, so that its return is seen within 2 s */
	forget(l);
	poll_for(l, 10000, lost);
	CHECK_INT(took(l, EFFECT_POLL), >=, 9);
	since_ms = l->now_ms;
	while (!is_ready(l) && l->now_ms - since_ms < 60000)
		poll_for(l, 100, tasks(JOB_RUNNING, 12, 12, 3, 12));
	CHECK_INT(l->now_ms - since_ms, <=, 2000);
	CHECK_HAS(l->notes, "ready again: all 12 tasks run");
	CHECK_NOTHING(l, EFFECT_SIGNAL);
}

LIFE_TEST_FROM(run_twelve, one_task_that_does_not_run_is_enough)
{
	poll_for(l, 20000, tasks(JOB_RUNNING, 11, 12, 2, 11));
	CHECK(!is_ready(l));
	CHECK_HAS(ready_of(l)->message, "11 of 12 tasks run: 2 TaskManagers, 11 of 12 slots;");
}

TEST(no_state_but_running_is_ready)
{
	static const enum job_state idle[] = {JOB_RESTARTING,  JOB_SUSPENDED,    JOB_CREATED,
					      JOB_RECONCILING, JOB_INITIALIZING, JOB_FAILING};

	for (size_t i = 0; i < ARRAY_LEN(idle); i++) {
		struct view view = job_in(idle[i]);
		struct life l;

		run_twelve(&l);
		poll_for(&l, 10000, view);
		CHECK(!is_ready(&l));
		CHECK_STR(ready_of(&l)->reason, "JobNotRunning");
		CHECK_HAS(ready_of(&l)->message, job_state_name(idle[i]));
		view = (struct view){.reachable = true};
		poll_for(&l, 2000, view);
		CHECK_HAS(ready_of(&l)->message, "Flink does not know the job");
		life_end(&l);
	}
}

LIFE_TEST_FROM(run_twelve, a_restart_of_a_few_seconds_is_not_seen)
{
	for (int64_t out_ms = 250; out_ms <= 4000; out_ms += 250) {
		int64_t end_ms = l->now_ms + out_ms;

		while (l->now_ms < end_ms) {
			poll_for(l, 100, tasks(JOB_RESTARTING, 0, 12, 3, 12));
			CHECK(is_ready(l));
		}
		poll_for(l, 30000 + out_ms, tasks(JOB_RUNNING, 12, 12, 3, 12));
		CHECK(is_ready(l));
	}
	CHECK_NOTHING(l, EFFECT_NOTE);
}

/* ---- the numbers cost little ---- */

LIFE_TEST_FROM(run_twelve, at_rest_most_polls_ask_for_the_tasks_only)
{
	int depths[POLL_ALL + 1] = {0};

	poll_for(l, 60000, tasks(JOB_RUNNING, 12, 12, 3, 12));
	for (int i = 0; i < 120; i++) {
		forget(l);
		poll_for(l, 5000, tasks(JOB_RUNNING, 12, 12, 3, 12));
		CHECK_INT(took(l, EFFECT_POLL), ==, 1);
		depths[l->last[EFFECT_POLL].depth]++;
		CHECK_NOTHING(l, EFFECT_WRITE_JOURNAL);
	}
	CHECK_INT(depths[POLL_TASKS], ==, 100);
	CHECK_INT(depths[POLL_JOB] + depths[POLL_ALL], ==, 20);
	CHECK_INT(depths[POLL_ALL], ==, 20);
}

LIFE_TEST_FROM(run_twelve, numbers_that_change_are_not_written)
{
	for (int i = 0; i < 12; i++)
		poll_for(l, 1000, tasks(JOB_RUNNING, i, 12, 1 + i / 4, i));
	CHECK_NOTHING(l, EFFECT_WRITE_JOURNAL);
}

/* ---- never any slots ---- */

TEST(a_launch_without_slots_stalls_and_is_not_ended)
{
	static const enum job_state waits[] = {JOB_RUNNING, JOB_CREATED, JOB_RESTARTING};

	for (size_t i = 0; i < ARRAY_LEN(waits); i++) {
		struct view view = tasks(waits[i], 0, 12, 0, 0);
		struct life l;

		life_begin(&l);
		launch_empty(&l);
		view.statistics_known = waits[i] == JOB_RUNNING;
		poll_for(&l, l.config.ready_deadline_ms - 1000, view);
		CHECK_PHASE(&l, PHASE_LAUNCHING);
		CHECK_STR(stalled(&l), "False");
		CHECK_HAS(ready_of(&l)->message,
			  "0 of 12 tasks run: no TaskManager is registered (0 slots);");
		poll_for(&l, 2000, view);
		CHECK_PHASE(&l, PHASE_LAUNCHING);
		CHECK_INT(l.life.cause, ==, CAUSE_JOB_NOT_RUNNING);
		CHECK_STR(stalled(&l), "True");
		CHECK_HAS(ready_of(&l)->message,
			  "0 of 12 tasks run: no TaskManager is registered (0 slots);");
		poll_for(&l, 20 * l.config.ready_deadline_ms, view);
		CHECK_NOTHING(&l, EFFECT_SIGNAL);
		CHECK_INT(l.life.journal.failure_count, ==, 0);
		CHECK_STR(stalled(&l), "True");
		poll_for(&l, 3000, tasks(JOB_RUNNING, 12, 12, 3, 12));
		CHECK_PHASE(&l, PHASE_RUNNING);
		CHECK(is_ready(&l));
		CHECK_STR(stalled(&l), "False");
		life_end(&l);
	}
}

/* Flink's statistics are silent, so the launch goes on; but no task is missing any more. */
LIFE_TEST(a_stalled_launch_that_runs_waits_for_what_it_restored)
{
	struct view runs = tasks(JOB_RUNNING, 12, 12, 3, 12);

	launch_empty(l);
	poll_for(l, l->config.ready_deadline_ms + 1000, tasks(JOB_CREATED, 0, 12, 0, 0));
	CHECK_INT(l->life.cause, ==, CAUSE_JOB_NOT_RUNNING);
	runs.statistics_known = false;
	poll_for(l, 3000, runs);
	CHECK_PHASE(l, PHASE_LAUNCHING);
	CHECK_INT(l->life.cause, ==, CAUSE_NONE);
	CHECK_HAS(l->life.reason, "has not reported yet what it restored");
	CHECK_STR(stalled(l), "False");
}

LIFE_TEST(a_launch_that_has_slots_and_does_not_run_is_ended)
{
	struct view view = tasks(JOB_RESTARTING, 0, 12, 3, 12);

	launch_empty(l);
	view.statistics_known = false;
	poll_for(l, l->config.ready_deadline_ms + 1000, view);
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	CHECK_HAS(l->life.reason, "not running 120 s after the launch");
}

LIFE_TEST(restoring_for_long_is_no_stall)
{
	struct view view = tasks(JOB_RUNNING, 0, 12, 3, 12);

	launch_empty(l);
	view.cluster.tasks_waiting = 0;
	view.cluster.slots_free = 0;
	poll_for(l, 10 * l->config.ready_deadline_ms, view);
	CHECK_PHASE(l, PHASE_LAUNCHING);
	CHECK_STR(stalled(l), "False");
	CHECK_NOTHING(l, EFFECT_SIGNAL);
}

LIFE_TEST_FROM(run_twelve, a_job_that_has_lost_its_slots_for_long_stalls_too)
{
	struct view restoring = tasks(JOB_RUNNING, 0, 12, 3, 12);

	poll_for(l, l->config.ready_deadline_ms + 20000, tasks(JOB_RUNNING, 0, 12, 0, 0));
	CHECK_PHASE(l, PHASE_RUNNING);
	CHECK_STR(stalled(l), "True");
	CHECK(!is_ready(l));
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	restoring.cluster.tasks_waiting = 0;
	poll_for(l, 3000, restoring);
	CHECK_STR(stalled(l), "False");
	CHECK(!is_ready(l));
	poll_for(l, 3000, tasks(JOB_RUNNING, 12, 12, 3, 12));
	CHECK(is_ready(l));
}

LIFE_TEST_FROM(run_twelve, no_periodic_savepoint_is_tried_while_tasks_are_missing)
{
	l->life.savepoint_ms = l->now_ms + 60000;
	poll_for(l, 120000, tasks(JOB_RUNNING, 11, 12, 2, 11));
	CHECK_NOTHING(l, EFFECT_TRIGGER);
	poll_for(l, 2000, tasks(JOB_RUNNING, 12, 12, 3, 12));
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 1);
}

/* ---- another agent ---- */

LIFE_TEST_FROM(run_twelve, an_agent_that_comes_back_believes_nothing)
{
	char job[JOB_ID_BYTES];

	snprintf(job, sizeof(job), "%s", job_of(l));
	restart_agent(l);
	hello(l, job);
	CHECK_PHASE(l, PHASE_LAUNCHING);
	CHECK(!is_ready(l));
	poll_for(l, l->config.ready_deadline_ms / 2, tasks(JOB_RUNNING, 0, 12, 0, 0));
	CHECK_PHASE(l, PHASE_LAUNCHING);
	CHECK(!is_ready(l));
	poll_for(l, l->config.ready_deadline_ms, tasks(JOB_RUNNING, 0, 12, 0, 0));
	CHECK_STR(stalled(l), "True");
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	poll_for(l, 2000, tasks(JOB_RUNNING, 12, 12, 3, 12));
	CHECK_PHASE(l, PHASE_RUNNING);
	CHECK_HAS(l->life.reason, " is running");
	CHECK(is_ready(l));
}

LIFE_TEST_FROM(run_twelve,
	       a_container_that_ends_before_the_agent_has_looked_still_stops_with_a_savepoint)
{
	char job[JOB_ID_BYTES];

	l->config.on_sigterm = SIGTERM_SAVEPOINT;
	snprintf(job, sizeof(job), "%s", job_of(l));
	restart_agent(l);
	hello(l, job);
	stopping(l, 60000);
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 1);
}

/* ---- what a real Flink has said ---- */

struct recording {
	struct json *doc;
	const struct json *steps;
};

static struct recording recording_open(const char *version, const char *name)
{
	cleanup_free char *path = xasprintf("tests/fixtures/rest/%s/%s.json", version, name);
	cleanup_fclose FILE *file = fopen(path, "r");
	cleanup_buf struct buf text = BUF_INIT;
	struct recording recording = {0};
	char chunk[4096];
	size_t got;

	tap_check(file != NULL, path, __FILE__, __LINE__);
	while (file && (got = fread(chunk, 1, sizeof(chunk), file)) > 0)
		buf_add(&text, chunk, got);
	recording.doc = json_parse(buf_str(&text), text.len_bytes, 4 << 20, NULL);
	tap_check(recording.doc != NULL, path, __FILE__, __LINE__);
	recording.steps = json_get(recording.doc, "steps");
	return recording;
}

/* As run/effects/flink.c makes it of the two answers. */
static struct view view_of(const struct json *step)
{
	const struct json *job = json_first(json_get(json_get(step, "jobs"), "jobs"));
	const struct json *counts = json_get(job, "tasks"), *slots = json_get(step, "overview");
	struct view view = job_in(job_state_parse(json_str(job, "state")));
	struct cluster *to = &view.cluster;

	to->tasks_known = to->slots_known = true;
	to->tasks_total = (int)json_i64_or(counts, "total", -1);
	to->tasks_running =
		(int)(json_i64_or(counts, "running", -1) + json_i64_or(counts, "finished", -1));
	to->tasks_waiting = to->tasks_total - to->tasks_running -
			    (int)(json_i64_or(counts, "deploying", -1) +
				  json_i64_or(counts, "initializing", -1));
	to->task_managers = (int)json_i64_or(slots, "taskmanagers", -1);
	to->slots_total = (int)json_i64_or(slots, "slots-total", -1);
	to->slots_free = (int)json_i64_or(slots, "slots-available", -1);
	view.tasks_missing = to->tasks_running < to->tasks_total;
	CHECK(to->tasks_total > 0);
	return view;
}

static struct view view_at(const struct recording *recording, int64_t at_ms)
{
	const struct json *each, *last = json_first(recording->steps);

	json_each (each, recording->steps)
		if (json_i64_or(each, "atMs", 0) <= at_ms)
			last = each;
	return view_of(last);
}

static int64_t length_of(const struct recording *recording)
{
	const struct json *each;
	int64_t length_ms = 0;

	json_each (each, recording->steps)
		length_ms = json_i64_or(each, "atMs", 0);
	return length_ms;
}

/* The recording as drey would see it when its first look comes `phase_ms` after the beginning. Returns for how
 * many ms it was not ready; *ret_missed: in how many looks tasks were missing. */
static int64_t replay(const struct recording *recording, int64_t phase_ms, int *ret_missed)
{
	int64_t length_ms = length_of(recording), unready_ms = 0, begin_ms;
	struct life l;

	*ret_missed = 0;
	run_twelve(&l);
	begin_ms = l.now_ms + phase_ms - l.config.poll_tasks_ms;
	for (int64_t end_ms = l.now_ms + length_ms; l.now_ms < end_ms;) {
		int before = took(&l, EFFECT_POLL);

		pass(&l, 50);
		if (took(&l, EFFECT_POLL) != before) {
			struct view view = view_at(recording, l.now_ms - begin_ms);

			*ret_missed += view.tasks_missing;
			viewed(&l, view);
		}
		unready_ms += is_ready(&l) ? 0 : 50;
	}
	life_end(&l);
	return unready_ms;
}

static const char *const versions[] = {"1.20", "2.3"};

TEST(recorded_restarts_do_not_flap_whenever_drey_looks)
{
	for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
		struct recording recording = recording_open(versions[i], "task-failure");
		int missed, seen = 0;

		for (int64_t phase_ms = 0; phase_ms < 5000; phase_ms += 50) {
			CHECK_INT(replay(&recording, phase_ms, &missed), ==, 0);
			seen += missed;
		}
		CHECK_INT(seen, >, 10); /* it was there to be seen */
		json_free(recording.doc);
	}
}

TEST(a_recorded_loss_of_the_taskmanager_is_told)
{
	for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
		struct recording recording = recording_open(versions[i], "task-manager-killed");
		int missed;

		for (int64_t phase_ms = 0; phase_ms < 5000; phase_ms += 250)
			CHECK_INT(replay(&recording, phase_ms, &missed), >, 0);
		json_free(recording.doc);
	}
}

LIFE_TEST(the_slots_with_which_all_tasks_ran_are_those_of_the_launch)
{
	run_proven(l);
	viewed(l, tasks(JOB_RUNNING, 4, 4, 2, 6));
	CHECK_INT(journal_launch(&l->life.journal)->slots, ==, 6);
	viewed(l, tasks(JOB_RUNNING, 2, 4, 1, 3));
	CHECK_INT(journal_launch(&l->life.journal)->slots, ==, 6);
	CHECK_INT(journal_launch(&l->life.journal)->task_managers, ==, 2);
}
