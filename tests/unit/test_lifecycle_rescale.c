/* Another parallelism for the running job: a request is recorded, then Flink is asked, and every later launch gets it. */
#include <string.h>

#include "core/report/condition_rescale.h"
#include "life.h"

#define SECONDS 1000
#define COUNT   "b71731f1c0df9c3076c4a455334d0ad6"

/* What Flink shows: one vertex with the uid `count`. */
static struct rescale_vertex vertex(int64_t parallelism, int64_t upper)
{
	return (struct rescale_vertex){.id = COUNT,
				       .name = "count",
				       .parallelism = parallelism,
				       .max_parallelism = 8,
				       .lower = 1,
				       .upper = upper};
}

static int slots_total = -1; /* that Flink has; -1: it does not say */

static void answer(struct life *l, enum operation_status status, const char *error,
		   int64_t parallelism, int64_t upper)
{
	struct rescale_vertex seen = vertex(parallelism, upper);
	struct event e = {.type = EVENT_RESCALED,
			  .rescaled = {.launch = journal_launch(&l->life.journal)->number,
				       .put = *l->body,
				       .status = status,
				       .error = error,
				       .vertices = &seen,
				       .vertex_count = status == STATUS_COMPLETED,
				       .slots_known = slots_total >= 0,
				       .slots_total = slots_total,
				       .task_managers = 2}};

	forget(l);
	step(l, &e);
}

static void shows(struct life *l, int64_t parallelism, int64_t upper)
{
	answer(l, STATUS_COMPLETED, NULL, parallelism, upper);
}

static void want(struct life *l, const char *nonce, int64_t all)
{
	struct intent intent = {
		.parallelism = {.nonce = (char *)(uintptr_t)nonce, .all = all, .reset = !all}};

	control(l, CONTROL_PARALLELISM, intent);
}

static void begin(struct life *l)
{
	life_begin(l);
	run_proven(l);
	prove(l, 2);
	forget(l);
}

#define RESCALE_TEST(name) LIFE_TEST_FROM(begin, name)

static const struct rescaled *last(const struct life *l)
{
	return &l->life.journal.rescaled;
}

#define CHECK_LOOKS(l)                                                                             \
	(CHECK_INT(took(l, EFFECT_RESCALE), ==, 1), CHECK_STR((l)->body, ""),                      \
	 CHECK_STR((l)->last[EFFECT_RESCALE].id, job_of(l)))
#define CHECK_PUTS(l, upper)                                                                       \
	(CHECK_INT(took(l, EFFECT_RESCALE), ==, 1),                                                \
	 CHECK_STR((l)->body,                                                                      \
		   "{\"" COUNT "\":{\"parallelism\":{\"lowerBound\":1,\"upperBound\":" #upper      \
		   "}}}"))

/* ... until Flink has accepted it, and the job runs with it. */
static void rescale_to_4(struct life *l)
{
	want(l, "p1", 4);
	shows(l, 1, 1);
	shows(l, 1, 4);
	for (int i = 0; i < 5; i++) {
		pass(l, SECONDS);
		shows(l, 4, 4);
	}
	CHECK(l->life.rescale.reached);
	forget(l);
}

RESCALE_TEST(a_request_is_recorded_then_flink_is_asked_and_the_job_is_watched)
{
	l->hold_writes = true;
	want(l, "p1", 4);
	CHECK_LOOKS(l);
	shows(l, 1, 1);
	CHECK_NOTHING(l, EFFECT_RESCALE); /* not before it is on record */
	written(l);
	l->hold_writes = false;
	written(l);
	CHECK_PUTS(l, 4);
	shows(l, 1, 4);
	CHECK(last(l)->ok);
	CHECK_STR(last(l)->nonce, "p1");
	CHECK_STR(l->life.journal.intent.parallelism.nonce, NULL);
	CHECK_INT(l->life.journal.parallelism.all, ==, 4);
	CHECK(l->life.rescale.settling);
	pass(l, SECONDS);
	CHECK_LOOKS(l);
	shows(l, 1, 4);
	CHECK_STR(l->life.rescale.missing, "count: 1 of 4");
	pass(l, 3 * SECONDS);
	shows(l, 4, 4);
	CHECK(l->life.rescale.reached);
	CHECK_HAS(l->notes, "runs with the requested parallelism");
	CHECK_PHASE(l, PHASE_RUNNING);
	CHECK_INT(l->life.journal.failure_count, ==, 0);
	forget(l);
	pass(l, 3600 * SECONDS);
	CHECK_NOTHING(l, EFFECT_RESCALE); /* others may change it now */
}

/* Flink caches what it shows, so what it shows at once may be from before. */
RESCALE_TEST(what_is_shown_at_once_is_no_proof)
{
	want(l, "p1", 4);
	shows(l, 1, 1);
	shows(l, 4, 4);
	CHECK(!l->life.rescale.reached);
	pass(l, 3200);
	CHECK_INT(took(l, EFFECT_RESCALE), ==, 1);
	shows(l, 4, 4);
	CHECK(l->life.rescale.reached);
}

RESCALE_TEST(what_flink_refuses_is_answered_and_changes_nothing)
{
	rescale_to_4(l);
	want(l, "p2", 9);
	shows(l, 4, 4);
	CHECK_NOTHING(l, EFFECT_RESCALE); /* more than the maximum */
	CHECK(!last(l)->ok);
	CHECK_STR(last(l)->nonce, "p2");
	CHECK_HAS(last(l)->error, "the maximum parallelism of count is 8");
	CHECK_INT(l->life.journal.parallelism.all, ==, 4);
	want(l, "p3", 2);
	shows(l, 4, 4);
	CHECK_PUTS(l, 2);
	answer(l, STATUS_FAILED, "no", 0, 0);
	CHECK_STR(last(l)->nonce, "p3");
	CHECK_STR(last(l)->error, "no");
	CHECK_INT(l->life.journal.parallelism.all, ==, 4);
	want(l, "p4", 2);
	answer(l, STATUS_FAILED, "the default scheduler", 0, 0);
	CHECK_STR(last(l)->error, "the default scheduler");
	CHECK_PHASE(l, PHASE_RUNNING);
}

RESCALE_TEST(no_answer_is_repeated_and_what_has_arrived_is_not_sent_again)
{
	want(l, "p1", 4);
	answer(l, STATUS_UNREACHABLE, "timeout", 0, 0);
	CHECK_NOTHING(l, EFFECT_RESCALE);
	pass(l, SECONDS);
	CHECK_LOOKS(l);
	shows(l, 1, 1);
	CHECK_PUTS(l, 4);
	answer(l, STATUS_UNREACHABLE, "timeout", 0, 0);
	pass(l, SECONDS);
	CHECK_LOOKS(l);
	shows(l, 1, 4);
	CHECK_NOTHING(l, EFFECT_RESCALE);
	CHECK(last(l)->ok);
}

RESCALE_TEST(every_launch_gets_what_is_in_force_once)
{
	rescale_to_4(l);
	exited(l, KILLED(SIGKILL));
	CHECK(l->life.rescaling.step == STEP_NONE);
	observed(l, DECISION_START_EMPTY, NULL, 0, NULL);
	started(l);
	CHECK_NOTHING(l, EFFECT_RESCALE);
	viewed(l, job_in(JOB_RUNNING));
	CHECK_LOOKS(l);
	shows(l, 1, 1);
	CHECK_PUTS(l, 4);
	shows(l, 1, 4);
	CHECK_INT(l->life.journal.parallelism_launch, ==, 2);
	CHECK_STR(last(l)->nonce, "p1");
	/* a new agent for the same Flink asks nothing */
	restart_agent(l);
	hello(l, job_of(l));
	viewed(l, job_in(JOB_RUNNING));
	prove(l, 2);
	pass(l, 60 * SECONDS);
	CHECK_PHASE(l, PHASE_RUNNING);
	CHECK_NOTHING(l, EFFECT_RESCALE);
}

/* The vertex is gone, or Flink has another scheduler: the job runs on, and people can see it. */
RESCALE_TEST(a_launch_that_cannot_have_it_runs_on)
{
	struct intent intent = {.parallelism = {.nonce = (char *)"p2", .merge = true}};

	parallelism_set(&intent.parallelism, COUNT, 3);
	rescale_to_4(l);
	control(l, CONTROL_PARALLELISM, intent);
	parallelism_release(
		&(struct parallelism){.vertices = intent.parallelism.vertices, .vertex_count = 1});
	shows(l, 4, 4);
	shows(l, 4, 3);
	exited(l, KILLED(SIGKILL));
	observed(l, DECISION_START_EMPTY, NULL, 0, NULL);
	started(l);
	viewed(l, job_in(JOB_RUNNING));
	answer(l, STATUS_FAILED, "the default scheduler", 0, 0);
	CHECK(!last(l)->ok);
	CHECK_INT(l->life.journal.parallelism_launch, ==, 2);
	CHECK_INT(l->life.journal.parallelism.all, ==, 4);
	CHECK_PHASE(l, PHASE_RUNNING);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	pass(l, 3600 * SECONDS);
	CHECK_NOTHING(l, EFFECT_RESCALE);
	exited(l, KILLED(SIGKILL));
	observed(l, DECISION_START_EMPTY, NULL, 0, NULL);
	started(l);
	viewed(l, job_in(JOB_RUNNING));
	CHECK_INT(took(l, EFFECT_RESCALE), ==, 1); /* the next one may have it */
}

RESCALE_TEST(reset_gives_the_job_its_own_parallelism_and_nothing_is_in_force)
{
	rescale_to_4(l);
	want(l, "r", 0);
	shows(l, 4, 4);
	CHECK_PUTS(l, 1);
	shows(l, 4, 1);
	CHECK(parallelism_is_empty(&l->life.journal.parallelism));
	CHECK_STR(last(l)->left_out, NULL);
	exited(l, KILLED(SIGKILL));
	observed(l, DECISION_START_EMPTY, NULL, 0, NULL);
	started(l);
	viewed(l, job_in(JOB_RUNNING));
	CHECK_NOTHING(l, EFFECT_RESCALE);
}

RESCALE_TEST(a_new_agent_does_not_know_the_own_parallelism_and_says_so)
{
	rescale_to_4(l);
	restart_agent(l);
	hello(l, job_of(l));
	viewed(l, job_in(JOB_RUNNING));
	prove(l, 3);
	forget(l);
	want(l, "r", 0);
	shows(l, 4, 4);
	CHECK_NOTHING(l, EFFECT_RESCALE);
	CHECK(last(l)->ok);
	CHECK_HAS(last(l)->left_out, "until its next launch");
	CHECK(parallelism_is_empty(&l->life.journal.parallelism));
}

RESCALE_TEST(a_later_request_replaces_one_that_is_under_way)
{
	want(l, "p1", 4);
	shows(l, 1, 1);
	CHECK_PUTS(l, 4);
	want(l, "p2", 2);
	CHECK_INT(took(l, EFFECT_RESCALE), ==, 1); /* one at a time */
	shows(l, 1, 4);
	CHECK_LOOKS(l);
	CHECK_STR(l->life.journal.intent.parallelism.nonce, "p2");
	shows(l, 1, 4);
	CHECK_PUTS(l, 2);
	shows(l, 1, 2);
	CHECK_STR(last(l)->nonce, "p2");
	CHECK_INT(l->life.journal.parallelism.all, ==, 2);
}

RESCALE_TEST(a_stop_goes_first_and_no_operation_is_disturbed)
{
	ask_savepoint(l, "n1");
	want(l, "p1", 4);
	CHECK_NOTHING(l, EFFECT_RESCALE);
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	operation(l, STATUS_COMPLETED, SAVEPOINT_1, NULL);
	inspected(l, true, true);
	CHECK_LOOKS(l);
	desire(l, DESIRED_SUSPENDED);
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 1); /* only the savepoint */
	answer(l, STATUS_UNREACHABLE, "timeout", 0, 0);
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 1);
	CHECK_PHASE(l, PHASE_STOPPING);
	CHECK_NOTHING(l, EFFECT_RESCALE);
	CHECK_STR(l->life.journal.intent.parallelism.nonce, "p1"); /* for the next launch */
}

/* Bounds that Flink has not got yet would end the operation that begins now. */
RESCALE_TEST(a_cancel_does_not_wait_and_withdraws_what_was_not_sent)
{
	l->hold_writes = true;
	want(l, "p1", 4);
	shows(l, 1, 1);
	desire(l, DESIRED_CANCELLED);
	l->hold_writes = false;
	written(l);
	CHECK_NOTHING(l, EFFECT_RESCALE);
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 1);
	CHECK(l->life.rescaling.step == STEP_NONE);
}

RESCALE_TEST(the_answer_about_the_last_flink_counts_no_more)
{
	struct event e = {.type = EVENT_RESCALED,
			  .rescaled = {.launch = 1, .put = true, .status = STATUS_COMPLETED}};

	want(l, "p1", 4);
	exited(l, KILLED(SIGKILL));
	step(l, &e);
	CHECK_STR(last(l)->nonce, NULL);
	CHECK_STR(l->life.journal.intent.parallelism.nonce, "p1");
}

/* Flink 1.x counts it as a restart of the job. */
RESCALE_TEST(a_restart_for_another_parallelism_is_not_counted)
{
	struct view view = job_in(JOB_RUNNING);

	view.restarts_known = true;
	view.cluster = (struct cluster){.tasks_known = true, .tasks_total = 2, .tasks_running = 2};
	viewed(l, view);
	CHECK_INT(l->life.seen.restarts, ==, 0);
	rescale_to_4(l);
	view.cluster.tasks_total = view.cluster.tasks_running = 5;
	viewed(l, view); /* Flink's number is late */
	view.restarts = 3;
	viewed(l, view);
	CHECK_INT(l->life.seen.restarts, ==, 2);
	want(l, "p2", 2); /* fewer, as somebody has asked */
	shows(l, 4, 4);
	shows(l, 4, 2);
	pass(l, SECONDS);
	shows(l, 2, 2);
	view.cluster.tasks_total = view.cluster.tasks_running = 3;
	view.restarts = 4;
	viewed(l, view);
	CHECK_INT(l->life.seen.restarts, ==, 2);
	view.rescales_counted = true; /* 2.x */
	viewed(l, view);
	CHECK_INT(l->life.seen.restarts, ==, 4);
	view.restarts = 3; /* the two numbers that Flink tells may be of different times */
	viewed(l, view);
	CHECK_INT(l->life.seen.restarts, ==, 3);
}

/* By the slots, or by an autoscaler. Fewer may be because of a TaskManager that was lost. */
RESCALE_TEST(a_restart_for_more_subtasks_is_not_counted_whoever_asked_for_it)
{
	struct view view = job_in(JOB_RUNNING);

	view.restarts_known = true;
	view.cluster = (struct cluster){.tasks_known = true, .tasks_total = 2, .tasks_running = 2};
	viewed(l, view);
	view.cluster.tasks_total = 4; /* but they do not run yet */
	view.tasks_missing = true;
	viewed(l, view);
	view.cluster.tasks_running = 4;
	view.tasks_missing = false;
	view.restarts = 1;
	viewed(l, view);
	CHECK_INT(l->life.seen.restarts, ==, 0);
	view.cluster.tasks_total = view.cluster.tasks_running = 2;
	view.restarts = 2;
	viewed(l, view);
	CHECK_INT(l->life.seen.restarts, ==, 1);
	view.cluster.tasks_total = view.cluster.tasks_running = 4;
	viewed(l, view); /* Flink's number is late: what was counted stays */
	CHECK_INT(l->life.seen.restarts, ==, 1);
	view.restarts = 3;
	viewed(l, view);
	CHECK_INT(l->life.seen.restarts, ==, 1);
}

RESCALE_TEST(too_few_slots_are_reported_and_watched_for_half_an_hour)
{
	want(l, "p1", 4);
	shows(l, 1, 1);
	shows(l, 1, 4);
	for (int i = 0; i < 400 && l->life.rescale.settling; i++) {
		pass(l, 10 * SECONDS);
		shows(l, 2, 4);
	}
	CHECK(!l->life.rescale.settling && !l->life.rescale.reached);
	CHECK_HAS(l->notes, "after 30 min: count: 2 of 4");
	CHECK_STR(l->life.rescale.missing, "count: 2 of 4");
	CHECK_PHASE(l, PHASE_RUNNING);
}

/* A new version of the job without the vertex that was named. */
RESCALE_TEST(a_changed_job_gets_the_rest_and_what_is_left_out_is_recorded)
{
	struct intent intent = {.parallelism = {.nonce = (char *)"p1", .all = 4}};
	struct rescale_vertex gone[2] = {vertex(1, 1), vertex(1, 1)};
	struct event e = {.type = EVENT_RESCALED,
			  .rescaled = {.launch = 1,
				       .status = STATUS_COMPLETED,
				       .vertices = gone,
				       .vertex_count = 2}};

	parallelism_set(&intent.parallelism, "gone", 3);
	gone[1].id = "7b3ed2a4c6ec2a8e0e1f8c7a0d6d1c55";
	parallelism_set(&intent.parallelism, gone[1].id, 3);
	control(l, CONTROL_PARALLELISM, intent);
	shows(l, 1, 1);
	CHECK(!last(l)->ok); /* a person is told */
	intent.parallelism.vertices[0].parallelism = 3;
	intent.parallelism.vertex_count = 1;
	free(intent.parallelism.vertices[0].vertex);
	intent.parallelism.vertices[0].vertex = xstrdup(gone[1].id);
	control(l, CONTROL_PARALLELISM, intent);
	step(l, &e);
	CHECK_INT(took(l, EFFECT_RESCALE), ==, 2);
	e.rescaled.put = true;
	gone[0].upper = 4;
	gone[1].upper = 3;
	step(l, &e);
	CHECK(last(l)->ok);
	exited(l, KILLED(SIGKILL));
	observed(l, DECISION_START_EMPTY, NULL, 0, NULL);
	started(l);
	viewed(l, job_in(JOB_RUNNING));
	shows(l, 1, 1);
	CHECK_PUTS(l, 4);
	shows(l, 1, 4);
	CHECK(last(l)->ok);
	CHECK_HAS(last(l)->left_out, gone[1].id);
	CHECK_INT(l->life.journal.parallelism.vertex_count, ==,
		  1); /* a later version may have it */
	intent.parallelism.vertex_count = 2;
	parallelism_release(
		&(struct parallelism){.vertices = intent.parallelism.vertices, .vertex_count = 2});
}

static const char *of_condition(const struct life *l, struct condition *ret_condition)
{
	condition_rescale(&l->life, ret_condition);
	return ret_condition->message;
}

RESCALE_TEST(how_many_slots_are_missing_is_said_at_once_and_until_there_are_enough)
{
	struct condition condition = {0};

	want(l, "p1", 4);
	slots_total = 3;
	shows(l, 1, 1);
	CHECK(!strstr(l->notes, "too few slots"));
	shows(l, 1, 4);
	CHECK_HAS(l->notes, "it needs 4 slots, and there are 3 (2 TaskManagers)");
	CHECK_HAS(of_condition(l, &condition), "count: 1 of 4; it needs 4 slots, and there are 3");
	forget(l);
	for (int i = 0; i < 400 && l->life.rescale.settling; i++) {
		pass(l, 10 * SECONDS);
		shows(l, 3, 4);
	}
	CHECK_HAS(l->notes, "count: 3 of 4; it needs 4 slots, and there are 3 (2 TaskManagers)");
	want(l, "p2", 4);
	slots_total = 4;
	forget(l);
	shows(l, 3, 4);
	CHECK(!strstr(l->notes, "too few slots"));
	CHECK_STR(
		of_condition(l, &condition),
		"Flink has accepted the parallelism, the job does not run with it yet: count: 3 of 4");
	slots_total = -1;
}

/* The job is only polled once more then, and runs. */
RESCALE_TEST(a_job_whose_container_ends_is_given_no_other_parallelism)
{
	l->hold_last_poll = true;
	l->config.upgrade = UPGRADE_BY_SAVEPOINT;
	want(l, "p1", 4);
	CHECK_LOOKS(l);
	stopping_for(l, 120 * SECONDS, UPGRADE_YES);
	CHECK_PHASE(l, PHASE_RUNNING);
	shows(l, 1, 1);
	CHECK_NOTHING(l, EFFECT_RESCALE);
	CHECK_STR(l->life.journal.intent.parallelism.nonce, "p1");
}
