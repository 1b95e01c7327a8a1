/*
 * The effects that ask Flink: what is sent for an operation, what its answer means, and when a look at the job counts.
 * Flink's REST API and the driver are played by this file.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "flink/checkpoints.h"
#include "flink/operation.h"
#include "run/driver_internal.h"
#include "run/effects/cleanup.h"
#include "run/effects/take_checkpoint.h"
#include "run/part.h"
#include "tap.h"

#define JOB      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa01"
#define TRIGGER  "eeeeeeeeeeeeeeeeeeeeeeeeeeeeee01"
#define LIMIT_MS 20000

struct rig {
	struct driver driver; /* first: what is played gets this one */
	struct setup setup;
	/* Flink */
	enum flink_answer answer;
	enum err_kind kind;
	enum flink_job_state state;
	int tasks_running, statistics, exceptions;
	atomic_int overviews;
	const char *sent; /* which request */
	struct flink_savepoint_request request;
	char directory[64];
	struct flink_operation operation;
	/* the journal file */
	int check;
	bool remote;
	/* what came of it */
	int events, lost, ends;
	struct event last;
	char location[64], error[64];
	struct gate gate; /* that waits at GATE_END */
};

static struct rig *the_rig; /* for what is played without a driver */

/* ---- what is played ---- */

static enum flink_answer answers(struct err *err)
{
	if (the_rig->answer != FLINK_OK)
		err_set(err, the_rig->kind, 0, "the reason");
	return the_rig->answer;
}

static enum flink_answer is_sent(const char *what, const struct flink_savepoint_request *request,
				 struct err *err)
{
	the_rig->sent = what;
	the_rig->request = *request;
	CHECK_STR(request->job_id, JOB);
	CHECK_STR(request->trigger_id, TRIGGER);
	snprintf(the_rig->directory, sizeof(the_rig->directory), "%s", request->target_directory);
	return answers(err);
}

enum flink_answer flink_rest_savepoint(const struct flink_rest *rest,
				       const struct flink_savepoint_request *request,
				       int64_t timeout_ms, struct err *err)
{
	(void)rest, (void)timeout_ms;
	return is_sent("savepoint", request, err);
}

enum flink_answer flink_rest_stop(const struct flink_rest *rest,
				  const struct flink_savepoint_request *request, int64_t timeout_ms,
				  struct err *err)
{
	(void)rest, (void)timeout_ms;
	return is_sent("stop", request, err);
}

enum flink_answer flink_rest_cancel(const struct flink_rest *rest, const char *job_id,
				    int64_t timeout_ms, bool *ret_ended, struct err *err)
{
	(void)rest, (void)timeout_ms, (void)ret_ended;
	CHECK_STR(job_id, JOB);
	the_rig->sent = "cancel";
	return answers(err);
}

enum flink_answer flink_rest_operation(const struct flink_rest *rest, const char *job_id,
				       const char *trigger_id, int64_t timeout_ms,
				       struct flink_operation *ret_operation, struct err *err)
{
	(void)rest, (void)timeout_ms;
	CHECK_STR(job_id, JOB);
	CHECK_STR(trigger_id, TRIGGER);
	*ret_operation = the_rig->operation;
	return answers(err);
}

void flink_operation_release(struct flink_operation *operation)
{
	(void)operation;
}

enum flink_answer flink_rest_job_overview(const struct flink_rest *rest, const char *job_id,
					  int64_t timeout_ms,
					  struct flink_job_overview *ret_overview,
					  char ret_other[FLINK_ID_CHARS + 1], struct err *err)
{
	(void)rest, (void)timeout_ms;
	CHECK_STR(job_id, JOB);
	memset(ret_overview, 0, sizeof(*ret_overview));
	ret_overview->state = the_rig->state;
	ret_overview->tasks_total = 4;
	ret_overview->tasks_running = the_rig->tasks_running;
	ret_other[0] = '\0';
	the_rig->overviews++;
	return answers(err);
}

void flink_job_overview_release(struct flink_job_overview *overview)
{
	(void)overview;
}

enum flink_answer flink_rest_checkpoints(const struct flink_rest *rest, const char *job_id,
					 int64_t timeout_ms,
					 struct flink_checkpoints *ret_checkpoints,
					 bool *ret_disabled, struct err *err)
{
	(void)rest, (void)job_id, (void)timeout_ms, (void)ret_disabled, (void)err;
	memset(ret_checkpoints, 0, sizeof(*ret_checkpoints));
	the_rig->statistics++;
	return FLINK_OK;
}

void flink_checkpoints_release(struct flink_checkpoints *checkpoints)
{
	(void)checkpoints;
}

int64_t flink_checkpoints_failures(const struct flink_checkpoints *checkpoints,
				   const struct flink_checkpoint **ret_last)
{
	(void)checkpoints;
	*ret_last = NULL;
	return 0;
}

enum flink_answer flink_rest_slots(const struct flink_rest *rest, int64_t timeout_ms,
				   struct flink_slots *ret_slots, struct err *err)
{
	(void)rest, (void)timeout_ms, (void)err;
	*ret_slots = (struct flink_slots){.task_managers = 1, .total = 4, .available = 0};
	return FLINK_OK;
}

enum flink_answer flink_rest_application(const struct flink_rest *rest, const char *application_id,
					 int64_t timeout_ms,
					 enum flink_application *ret_application, struct err *err)
{
	(void)rest, (void)application_id, (void)timeout_ms, (void)ret_application, (void)err;
	return FLINK_ERROR;
}

enum flink_answer flink_rest_application_exception(const struct flink_rest *rest,
						   const char *application_id, int64_t timeout_ms,
						   struct flink_exception *ret_exception,
						   struct err *err)
{
	(void)rest, (void)application_id, (void)timeout_ms, (void)ret_exception, (void)err;
	return FLINK_ERROR;
}

enum flink_answer flink_rest_exception(const struct flink_rest *rest, const char *job_id,
				       int64_t timeout_ms, struct flink_exception *ret_exception,
				       struct err *err)
{
	(void)rest, (void)job_id, (void)timeout_ms, (void)ret_exception, (void)err;
	the_rig->exceptions++;
	return FLINK_ERROR;
}

enum flink_answer flink_rest_restarts(const struct flink_rest *rest, const char *job_id,
				      int64_t timeout_ms, int64_t *ret_restarts,
				      int64_t *ret_rescales, struct err *err)
{
	(void)rest, (void)job_id, (void)timeout_ms, (void)err;
	*ret_restarts = 3;
	*ret_rescales = -1;
	return FLINK_OK;
}

enum flink_answer flink_rest_checkpoint_config(const struct flink_rest *rest, const char *job_id,
					       int64_t timeout_ms,
					       struct flink_checkpoint_config *ret_config,
					       struct err *err)
{
	(void)rest, (void)job_id, (void)timeout_ms, (void)ret_config, (void)err;
	return FLINK_ERROR;
}

enum flink_answer flink_rest_restart_strategy(const struct flink_rest *rest, const char *job_id,
					      int64_t timeout_ms,
					      char ret_strategy[FLINK_STRATEGY_BYTES],
					      struct err *err)
{
	(void)rest, (void)job_id, (void)timeout_ms, (void)ret_strategy, (void)err;
	return FLINK_ERROR;
}

void flink_exception_release(struct flink_exception *exception)
{
	(void)exception;
}

const char *flink_job_state_name(enum flink_job_state state)
{
	static const char *const names[] = {
		[FLINK_JOB_RUNNING] = "RUNNING",       [FLINK_JOB_FINISHED] = "FINISHED",
		[FLINK_JOB_CANCELED] = "CANCELED",     [FLINK_JOB_FAILED] = "FAILED",
		[FLINK_JOB_RESTARTING] = "RESTARTING", [FLINK_JOB_INITIALIZING] = "INITIALIZING",
	};

	return names[state];
}

/* What Flink does after the end of its job has a test of its own. */
void cleanup_ask_init(struct cleanup_ask *ask, const struct driver *driver)
{
	(void)ask, (void)driver;
}

void cleanup_ask_release(struct cleanup_ask *ask)
{
	(void)ask;
}

enum cleanup cleanup_look(const struct cleanup_ask *ask, const struct store_config *storage)
{
	(void)ask, (void)storage;
	return CLEANUP_PENDING;
}

int journal_store_check(struct journal_store *store, const char *writer, struct err *err)
{
	(void)store, (void)writer, (void)err;
	return the_rig->check;
}

bool journal_store_is_remote(const struct journal_store *store)
{
	(void)store;
	return the_rig->remote;
}

void take_checkpoint(struct driver *driver, const struct effect *effect)
{
	(void)driver, (void)effect;
	the_rig->sent = "checkpoint";
}

void gate_ask(struct driver *driver, enum gate_type type, const struct gate *gate)
{
	struct rig *rig = (struct rig *)driver;

	CHECK_INT(type, ==, GATE_END);
	rig->ends++;
	rig->gate = *gate;
}

void driver_step(struct driver *driver, const struct event *event)
{
	struct rig *rig = (struct rig *)driver;

	if (event->type == EVENT_JOURNAL_SEEN) {
		rig->lost += event->journal.lost;
		return;
	}
	rig->events++;
	rig->last = *event;
	if (event->type != EVENT_OPERATION)
		return;
	CHECK_STR(event->operation.trigger_id, TRIGGER);
	CHECK_STR(event->operation.job_id, JOB);
	snprintf(rig->location, sizeof(rig->location), "%s",
		 event->operation.location ? event->operation.location : "");
	snprintf(rig->error, sizeof(rig->error), "%s",
		 event->operation.error ? event->operation.error : "");
}

/* ---- the world ---- */

static void rig_begin(struct rig *rig)
{
	struct journal *journal = &rig->driver.life.journal;
	struct launch *launch;

	memset(rig, 0, sizeof(*rig));
	the_rig = rig;
	rig->kind = ERR_RETRY;
	rig->state = FLINK_JOB_RUNNING;
	rig->tasks_running = 4;
	rig->driver.setup = &rig->setup;
	rig->setup.rest.base_url = "http://127.0.0.1:8081";
	rig->driver.loop = loop_new(NULL);
	rig->driver.workers = workers_new(rig->driver.loop, NULL);
	journal_init(journal, "orders");
	launch = journal_add_launch(journal);
	memcpy(launch->job_id, JOB, sizeof(JOB));
	launch->number = 1;
	memcpy(journal->operation.job_id, JOB, sizeof(JOB));
	xstrset(&journal->operation.path, "s3://b/sp");
	CHECK_INT(part_flink.open(&rig->driver, NULL), ==, 0);
}

static void rig_end(struct rig *rig)
{
	part_flink.close(&rig->driver);
	workers_free(rig->driver.workers);
	loop_free(rig->driver.loop);
	journal_release(&rig->driver.life.journal);
}

#define RIG_TEST(name) TEST_WITH(name, struct rig, rig, rig_begin, rig_end)

static void runs_out(struct rig *rig)
{
	int64_t end_ms = clock_mono_ms() + LIMIT_MS;

	while (!rig->events && !rig->ends && clock_mono_ms() < end_ms)
		loop_step(rig->driver.loop, 20, NULL);
}

static void executes(struct rig *rig, enum effect_type type)
{
	struct effect effect = {.type = type};

	memcpy(effect.id, TRIGGER, sizeof(TRIGGER));
	rig->events = rig->ends = 0;
	rig->sent = NULL;
	part_flink.execute(&rig->driver, &effect);
	runs_out(rig);
	CHECK_INT(rig->events, ==, 1);
	CHECK_INT(rig->last.type, ==, EVENT_OPERATION);
}

/* ---- operations ---- */

RIG_TEST(what_is_sent_is_the_operation_on_record)
{
	static const struct {
		enum operation_kind kind;
		enum snapshot_format format;
		bool drain;
		const char *sent;
		enum flink_savepoint_format sent_format;
	} cases[] = {
		{OPERATION_SAVEPOINT, FORMAT_NATIVE, false, "savepoint", FLINK_SAVEPOINT_NATIVE},
		{OPERATION_SAVEPOINT, FORMAT_CANONICAL, false, "savepoint",
		 FLINK_SAVEPOINT_CANONICAL},
		{OPERATION_STOP, FORMAT_CANONICAL, false, "stop", FLINK_SAVEPOINT_CANONICAL},
		{OPERATION_STOP, FORMAT_NATIVE, true, "stop", FLINK_SAVEPOINT_NATIVE},
		{OPERATION_CANCEL, FORMAT_UNKNOWN, false, "cancel", FLINK_SAVEPOINT_CANONICAL},
	};
	struct operation *operation = &rig->driver.life.journal.operation;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		operation->kind = cases[i].kind;
		operation->format = cases[i].format;
		operation->drain = cases[i].drain;
		executes(rig, EFFECT_TRIGGER);
		CHECK_STR(rig->sent, cases[i].sent);
		CHECK_INT(rig->last.operation.status, ==, STATUS_ACCEPTED);
		if (cases[i].kind == OPERATION_CANCEL)
			continue;
		CHECK_STR(rig->directory, "s3://b/sp");
		CHECK_INT(rig->request.format, ==, cases[i].sent_format);
		CHECK_INT(rig->request.drain, ==, cases[i].drain);
	}
	/* what is none of Flink's */
	operation->kind = OPERATION_DISPOSE;
	executes(rig, EFFECT_TRIGGER);
	CHECK(!rig->sent);
	CHECK_INT(rig->last.operation.status, ==, STATUS_FAILED);
}

RIG_TEST(what_an_answer_to_a_post_means)
{
	static const struct {
		enum flink_answer answer;
		enum err_kind kind;
		enum operation_status status;
	} cases[] = {
		{FLINK_NOT_YET, ERR_RETRY, STATUS_UNREACHABLE},
		{FLINK_ERROR, ERR_RETRY, STATUS_UNREACHABLE}, /* it may have been accepted */
		{FLINK_ERROR, ERR_CONFIG, STATUS_FAILED},
		{FLINK_ABSENT, ERR_ABSENT, STATUS_FAILED}, /* there is no such job */
	};

	rig->driver.life.journal.operation.kind = OPERATION_STOP;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		rig->answer = cases[i].answer;
		rig->kind = cases[i].kind;
		executes(rig, EFFECT_TRIGGER);
		CHECK_INT(rig->last.operation.status, ==, cases[i].status);
		CHECK_STR(rig->error, "the reason");
	}
}

RIG_TEST(what_has_become_of_an_operation)
{
	static const struct {
		enum flink_answer answer;
		enum flink_operation_state state;
		enum operation_status status;
		const char *location, *error;
	} cases[] = {
		{FLINK_OK, FLINK_OPERATION_IN_PROGRESS, STATUS_IN_PROGRESS, "", ""},
		{FLINK_OK, FLINK_OPERATION_COMPLETED, STATUS_COMPLETED, "s3://b/sp/1", ""},
		/* the savepoint of a stop that failed is good */
		{FLINK_OK, FLINK_OPERATION_FAILED, STATUS_FAILED, "s3://b/sp/2", "it failed"},
		{FLINK_ABSENT, FLINK_OPERATION_FAILED, STATUS_UNKNOWN_ID, "", "the reason"},
		{FLINK_NOT_YET, FLINK_OPERATION_FAILED, STATUS_UNREACHABLE, "", "the reason"},
	};

	rig->operation = (struct flink_operation){.location = (char *)"s3://b/sp/1",
						  .saved_location = (char *)"s3://b/sp/2",
						  .failure = (char *)"it failed"};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		rig->answer = cases[i].answer;
		rig->operation.state = cases[i].state;
		executes(rig, EFFECT_POLL_OPERATION);
		CHECK_INT(rig->last.operation.status, ==, cases[i].status);
		CHECK_STR(rig->location, cases[i].location);
		CHECK_STR(rig->error, cases[i].error);
	}
}

/* ---- a look at the job ---- */

static void asks(struct rig *rig, enum poll_depth depth)
{
	struct effect effect = {.type = EFFECT_POLL, .depth = depth};

	memcpy(effect.id, JOB, sizeof(JOB));
	rig->events = rig->ends = rig->statistics = rig->exceptions = rig->lost = 0;
	part_flink.execute(&rig->driver, &effect);
}

static void looks(struct rig *rig, enum poll_depth depth)
{
	asks(rig, depth);
	runs_out(rig);
}

RIG_TEST(what_a_look_shows)
{
	static const struct {
		enum flink_answer answer;
		enum flink_job_state state;
		enum poll_depth depth;
		int running;
		bool reachable, present, missing;
		int statistics, exceptions;
	} cases[] = {
		{FLINK_OK, FLINK_JOB_RUNNING, POLL_TASKS, 4, true, true, false, 0, 0},
		{FLINK_OK, FLINK_JOB_RUNNING, POLL_JOB, 4, true, true, false, 1, 0},
		{FLINK_OK, FLINK_JOB_RUNNING, POLL_JOB, 3, true, true, true, 1, 0},
		{FLINK_OK, FLINK_JOB_RESTARTING, POLL_TASKS, 0, true, true, true, 0, 1},
		{FLINK_OK, FLINK_JOB_FAILED, POLL_TASKS, 0, true, true, true, 1, 1},
		{FLINK_OK, FLINK_JOB_INITIALIZING, POLL_ALL, 0, true, true, true, 0, 0},
		{FLINK_ABSENT, FLINK_JOB_RUNNING, POLL_ALL, 0, true, false, true, 0, 0},
		{FLINK_NOT_YET, FLINK_JOB_RUNNING, POLL_ALL, 0, false, false, true, 0, 0},
		{FLINK_ERROR, FLINK_JOB_RUNNING, POLL_ALL, 0, false, false, true, 0, 0},
	};

	rig->remote = true;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		rig->answer = cases[i].answer;
		rig->state = cases[i].state;
		rig->tasks_running = cases[i].running;
		looks(rig, cases[i].depth);
		CHECK_INT(rig->last.type, ==, EVENT_VIEW);
		CHECK_INT(rig->last.view.reachable, ==, cases[i].reachable);
		CHECK_INT(rig->last.view.job_present, ==, cases[i].present);
		CHECK_INT(rig->last.view.tasks_missing, ==, cases[i].missing);
		if (!CHECK_INT(rig->statistics, ==, cases[i].statistics) ||
		    !CHECK_INT(rig->exceptions, ==, cases[i].exceptions))
			tap_note("case %zu", i);
	}
}

RIG_TEST(a_look_at_a_launch_that_has_ended_says_nothing_about_the_next_one)
{
	asks(rig, POLL_JOB);
	/* the next one continues the job, under the same id */
	memcpy(journal_add_launch(&rig->driver.life.journal)->job_id, JOB, sizeof(JOB));
	for (int i = 0; i < 2000 && !rig->overviews; i++)
		usleep(10000);
	CHECK(lane_free(rig->driver.flink_lane, 5000));
	rig->driver.flink_lane = NULL;
	CHECK_INT(rig->events, ==, 0);
	CHECK_INT(rig->ends, ==, 0);
}

/* The control inputs may say why: they are read first. */
RIG_TEST(an_end_that_drey_has_not_asked_for_waits_at_its_gate)
{
	static const struct {
		enum flink_job_state state;
		enum operation_kind operation;
		bool wanted, terminating, waits;
	} cases[] = {
		{FLINK_JOB_FINISHED, OPERATION_NONE, false, false, true},
		{FLINK_JOB_CANCELED, OPERATION_NONE, false, false, true},
		{FLINK_JOB_CANCELED, OPERATION_SAVEPOINT, false, false, true},
		{FLINK_JOB_FAILED, OPERATION_NONE, false, false, false},
		{FLINK_JOB_RUNNING, OPERATION_NONE, false, false, false},
		{FLINK_JOB_FINISHED, OPERATION_STOP, false, false, false},
		{FLINK_JOB_CANCELED, OPERATION_CANCEL, false, false, false},
		{FLINK_JOB_FINISHED, OPERATION_NONE, true, false, false},
		{FLINK_JOB_FINISHED, OPERATION_NONE, false, true, false},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		rig->state = cases[i].state;
		rig->driver.life.journal.operation.kind = cases[i].operation;
		rig->driver.life.end_wanted = cases[i].wanted;
		rig->driver.life.terminating = cases[i].terminating;
		looks(rig, POLL_JOB);
		CHECK_INT(rig->ends, ==, cases[i].waits);
		CHECK_INT(rig->events, ==, !cases[i].waits);
		if (!cases[i].waits)
			continue;
		rig->gate.then(&rig->driver, &rig->gate, GATE_PASSES);
		CHECK_INT(rig->events, ==, 1);
		CHECK_INT(rig->last.type, ==, EVENT_VIEW);
	}
}

RIG_TEST(a_journal_file_that_is_lost_is_noticed_with_a_deep_look)
{
	rig->check = 1;
	looks(rig, POLL_JOB);
	CHECK_INT(rig->lost, ==, 0);
	looks(rig, POLL_ALL);
	CHECK_INT(rig->lost, ==, 1);
	rig->check = -1; /* it is not known */
	looks(rig, POLL_ALL);
	CHECK_INT(rig->lost, ==, 0);
	rig->check = 1;
	rig->remote = true; /* it is compared by its own effect */
	looks(rig, POLL_ALL);
	CHECK_INT(rig->lost, ==, 0);
}
