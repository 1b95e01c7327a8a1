/*
 * The effect DISPOSE: when Flink is asked to delete a savepoint, and when it counts as gone. Flink, what stays, and the
 * driver are played by this file; the savepoint is a local one.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "flink/operation.h"
#include "run/driver_internal.h"
#include "run/gc/gc_needs.h"
#include "run/part.h"
#include "store_dir.h"
#include "tap.h"

#define JOB      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa01"
#define LIMIT_MS 20000

struct rig {
	struct driver driver; /* first: what is played gets this one */
	struct setup setup;
	char *top, *path;
	/* what stays needs: as gc_needs() has it */
	int needs;
	/* Flink */
	enum flink_answer state_answer, dispose_answer, poll_answer;
	enum flink_job_state state;
	enum flink_operation_state result;
	int polls_in_progress;
	int states, disposes, polls;
	bool deletes; /* it does what it is asked for */
	int events;
	char seen_path[256], error[256], needed[64];
};

static struct rig *the_rig; /* for what is played without a driver */

int gc_needs(const struct setup *setup, const char *savepoint, char **ret_why, struct err *err)
{
	(void)setup;
	CHECK_STR(savepoint, the_rig->path);
	if (the_rig->needs > 0)
		*ret_why = xstrdup("chk-7 needs it");
	if (the_rig->needs < 0)
		err_set(err, ERR_RETRY, 0, "not everything could be read");
	return the_rig->needs;
}

static enum flink_answer answer_of(enum flink_answer answer, struct err *err)
{
	if (answer != FLINK_OK)
		err_set(err, ERR_RETRY, 0, "Flink does not answer");
	return answer;
}

enum flink_answer flink_rest_job_state(const struct flink_rest *rest, const char *job_id,
				       int64_t timeout_ms, enum flink_job_state *ret_state,
				       struct err *err)
{
	(void)rest, (void)timeout_ms;
	CHECK_STR(job_id, JOB);
	the_rig->states++;
	*ret_state = the_rig->state;
	return answer_of(the_rig->state_answer, err);
}

enum flink_answer flink_rest_dispose(const struct flink_rest *rest, const char *path,
				     int64_t timeout_ms, char ret_trigger_id[FLINK_ID_CHARS + 1],
				     struct err *err)
{
	(void)rest, (void)timeout_ms;
	CHECK_STR(path, the_rig->path);
	the_rig->disposes++;
	memcpy(ret_trigger_id, JOB, sizeof(JOB));
	if (the_rig->deletes)
		dir_removep(&(char *){xasprintf("%s/sp", the_rig->top)});
	return answer_of(the_rig->dispose_answer, err);
}

enum flink_answer flink_rest_disposal(const struct flink_rest *rest, const char *trigger_id,
				      int64_t timeout_ms, struct flink_operation *ret_operation,
				      struct err *err)
{
	(void)rest, (void)timeout_ms;
	CHECK_STR(trigger_id, JOB);
	ret_operation->state = ++the_rig->polls <= the_rig->polls_in_progress
				       ? FLINK_OPERATION_IN_PROGRESS
				       : the_rig->result;
	if (ret_operation->state == FLINK_OPERATION_FAILED)
		ret_operation->failure = xstrdup("it is locked");
	return answer_of(the_rig->poll_answer, err);
}

void flink_operation_release(struct flink_operation *operation)
{
	free(operation->failure);
}

void driver_step(struct driver *driver, const struct event *event)
{
	struct rig *rig = (struct rig *)driver;

	CHECK_INT(event->type, ==, EVENT_DISPOSED);
	rig->events++;
	snprintf(rig->seen_path, sizeof(rig->seen_path), "%s", event->disposed.path);
	snprintf(rig->error, sizeof(rig->error), "%s",
		 event->disposed.error ? event->disposed.error : "");
	snprintf(rig->needed, sizeof(rig->needed), "%s",
		 event->disposed.needed ? event->disposed.needed : "");
}

/* ---- the world ---- */

static void rig_begin(struct rig *rig)
{
	memset(rig, 0, sizeof(*rig));
	the_rig = rig;
	rig->top = dir_new();
	rig->path = xasprintf("file://%s/sp", rig->top);
	dir_put(rig->top, "sp/_metadata", "x", 1);
	rig->state = FLINK_JOB_RUNNING;
	rig->result = FLINK_OPERATION_COMPLETED;
	rig->driver.setup = &rig->setup;
	rig->driver.loop = loop_new(NULL);
	rig->driver.workers = workers_new(rig->driver.loop, NULL);
	CHECK_INT(part_dispose.open(&rig->driver, NULL), ==, 0);
}

static void rig_end(struct rig *rig)
{
	part_dispose.close(&rig->driver);
	workers_free(rig->driver.workers);
	loop_free(rig->driver.loop);
	dir_removep(&rig->top);
	free(rig->path);
}

#define RIG_TEST(name) TEST_WITH(name, struct rig, rig, rig_begin, rig_end)

static void disposes(struct rig *rig)
{
	struct effect effect = {.type = EFFECT_DISPOSE, .text = rig->path};
	int64_t end_ms = clock_mono_ms() + LIMIT_MS;

	memcpy(effect.id, JOB, sizeof(JOB));
	part_dispose.execute(&rig->driver, &effect);
	while (!rig->events && clock_mono_ms() < end_ms)
		loop_step(rig->driver.loop, 20, NULL);
	CHECK_INT(rig->events, ==, 1);
	CHECK_STR(rig->seen_path, rig->path);
}

RIG_TEST(flink_deletes_what_nothing_needs)
{
	rig->polls_in_progress = 2;
	disposes(rig);
	CHECK_INT(rig->disposes, ==, 1);
	CHECK_INT(rig->polls, ==, 3);
	CHECK_STR(rig->error, "");
	CHECK_STR(rig->needed, "");
}

RIG_TEST(what_is_needed_or_may_be_stays_and_flink_is_not_asked)
{
	rig->needs = 1;
	disposes(rig);
	CHECK_STR(rig->needed, "chk-7 needs it");
	CHECK_STR(rig->error, "");
	rig->events = 0;
	rig->needs = -1;
	disposes(rig);
	CHECK_STR(rig->error, "not everything could be read");
	CHECK_INT(rig->states + rig->disposes, ==, 0);
}

/* Another launch may stand on this very savepoint. */
RIG_TEST(only_a_flink_that_runs_the_job_is_asked)
{
	static const enum flink_job_state others[] = {FLINK_JOB_CREATED, FLINK_JOB_RESTARTING,
						      FLINK_JOB_FINISHED, FLINK_JOB_CANCELED,
						      FLINK_JOB_SUSPENDED};
	static const enum flink_answer answers[] = {FLINK_NOT_YET, FLINK_ABSENT, FLINK_ERROR};

	for (size_t i = 0; i < ARRAY_LEN(others); i++) {
		rig->events = 0;
		rig->state = others[i];
		disposes(rig);
		CHECK_STR(rig->error, "the job is no longer running");
	}
	rig->state = FLINK_JOB_RUNNING;
	for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
		rig->events = 0;
		rig->state_answer = answers[i];
		disposes(rig);
		CHECK_STR(rig->error, "the job is no longer running");
	}
	CHECK_INT(rig->disposes, ==, 0);
}

/* An error is never absence: it is gone when neither a look nor a listing has it. */
RIG_TEST(what_fails_counts_as_done_only_if_the_savepoint_is_gone)
{
	static const struct {
		enum flink_answer dispose, poll;
		enum flink_operation_state result;
		const char *error;
	} cases[] = {
		{FLINK_ERROR, FLINK_OK, FLINK_OPERATION_COMPLETED, "Flink does not answer"},
		{FLINK_OK, FLINK_ERROR, FLINK_OPERATION_COMPLETED, "Flink does not answer"},
		{FLINK_OK, FLINK_OK, FLINK_OPERATION_FAILED, "it is locked"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		for (int deletes = 0; deletes < 2; deletes++) {
			struct rig one;

			rig_begin(&one);
			one.dispose_answer = cases[i].dispose;
			one.poll_answer = cases[i].poll;
			one.result = cases[i].result;
			one.deletes = deletes;
			disposes(&one);
			CHECK_STR(one.error, deletes ? "" : cases[i].error);
			rig_end(&one);
		}
	}
	the_rig = rig;
	CHECK_INT(rig->events, ==, 0);
}

RIG_TEST(a_store_that_cannot_be_asked_proves_nothing)
{
	rig->dispose_answer = FLINK_ERROR;
	rig->deletes = true;
	free(rig->path);
	rig->path = xasprintf("s3://nowhere/sp");
	rig->setup.storage.s3.endpoint = (char *)"http://127.0.0.1:1";
	rig->setup.storage.s3.endpoint_from = (char *)"the test";
	rig->setup.storage.s3.access_key = (char *)"k";
	rig->setup.storage.s3.secret_key = (char *)"s";
	disposes(rig);
	CHECK_STR(rig->error, "Flink does not answer");
}
