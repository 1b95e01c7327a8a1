/*
 * A checkpoint that drey asks Flink for: what is sent, and what has become of it. Flink's REST API and the driver are
 * played by this file.
 */
#include "run/effects/take_checkpoint.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "flink/checkpoints.h"
#include "flink/operation.h"
#include "run/driver_internal.h"
#include "tap.h"

#define JOB      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa01"
#define TRIGGER  "eeeeeeeeeeeeeeeeeeeeeeeeeeeeee01"
#define LIMIT_MS 20000

struct rig {
	struct driver driver; /* first: what is played gets this one */
	struct setup setup;
	enum flink_answer answer;
	enum err_kind kind;
	struct flink_operation operation;
	bool no_statistics;
	bool sent, sent_full;
	int events;
	struct event last;
	char location[64], error[64];
};

static struct rig *the_rig; /* for what is played without a driver */

static enum flink_answer answers(struct err *err)
{
	if (the_rig->answer != FLINK_OK)
		err_set(err, the_rig->kind, 0, "the reason");
	return the_rig->answer;
}

enum flink_answer flink_rest_checkpoint(const struct flink_rest *rest, const char *job_id,
					const char *trigger_id, bool full, int64_t timeout_ms,
					struct err *err)
{
	(void)rest, (void)timeout_ms;
	CHECK_STR(job_id, JOB);
	CHECK_STR(trigger_id, TRIGGER);
	the_rig->sent = true;
	the_rig->sent_full = full;
	return answers(err);
}

enum flink_answer flink_rest_checkpoint_operation(const struct flink_rest *rest, const char *job_id,
						  const char *trigger_id, int64_t timeout_ms,
						  struct flink_operation *ret_operation,
						  struct err *err)
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

enum flink_answer flink_rest_checkpoints(const struct flink_rest *rest, const char *job_id,
					 int64_t timeout_ms,
					 struct flink_checkpoints *ret_checkpoints,
					 bool *ret_disabled, struct err *err)
{
	(void)rest, (void)timeout_ms, (void)ret_checkpoints, (void)ret_disabled, (void)err;
	CHECK_STR(job_id, JOB);
	return the_rig->no_statistics ? FLINK_ERROR : FLINK_OK;
}

void flink_checkpoints_release(struct flink_checkpoints *checkpoints)
{
	(void)checkpoints;
}

const struct flink_checkpoint *flink_checkpoints_find(const struct flink_checkpoints *checkpoints,
						      int64_t id)
{
	static const struct flink_checkpoint seven = {.id = 7, .path = (char *)"s3://b/ck/chk-7"};

	(void)checkpoints;
	return id == 7 ? &seven : NULL;
}

void driver_step(struct driver *driver, const struct event *event)
{
	struct rig *rig = (struct rig *)driver;

	CHECK_INT(event->type, ==, EVENT_CHECKPOINT);
	CHECK_STR(event->checkpoint.trigger_id, TRIGGER);
	rig->events++;
	rig->last = *event;
	snprintf(rig->location, sizeof(rig->location), "%s",
		 event->checkpoint.location ? event->checkpoint.location : "");
	snprintf(rig->error, sizeof(rig->error), "%s",
		 event->checkpoint.error ? event->checkpoint.error : "");
}

static void rig_begin(struct rig *rig)
{
	struct journal *journal = &rig->driver.life.journal;

	memset(rig, 0, sizeof(*rig));
	the_rig = rig;
	rig->driver.setup = &rig->setup;
	rig->driver.loop = loop_new(NULL);
	rig->driver.workers = workers_new(rig->driver.loop, NULL);
	rig->driver.flink_lane = lane_new(rig->driver.workers, "flink");
	journal_init(journal, "orders");
	memcpy(journal_add_launch(journal)->job_id, JOB, sizeof(JOB));
}

static void rig_end(struct rig *rig)
{
	lane_free(rig->driver.flink_lane, 1000);
	workers_free(rig->driver.workers);
	loop_free(rig->driver.loop);
	journal_release(&rig->driver.life.journal);
}

#define RIG_TEST(name) TEST_WITH(name, struct rig, rig, rig_begin, rig_end)

static void takes(struct rig *rig, enum effect_type type)
{
	struct effect effect = {.type = type};
	int64_t end_ms = clock_mono_ms() + LIMIT_MS;

	memcpy(effect.id, TRIGGER, sizeof(TRIGGER));
	rig->events = 0;
	rig->sent = false;
	take_checkpoint(&rig->driver, &effect);
	while (!rig->events && clock_mono_ms() < end_ms)
		loop_step(rig->driver.loop, 20, NULL);
	CHECK_INT(rig->events, ==, 1);
	CHECK_INT(rig->sent, ==, type == EFFECT_TRIGGER_CHECKPOINT);
}

RIG_TEST(a_checkpoint_is_full_only_if_that_is_on_record)
{
	for (int full = 0; full < 2; full++) {
		rig->driver.life.journal.checkpoint.full = full;
		takes(rig, EFFECT_TRIGGER_CHECKPOINT);
		CHECK_INT(rig->sent_full, ==, full);
		CHECK_INT(rig->last.checkpoint.status, ==, STATUS_ACCEPTED);
	}
	rig->answer = FLINK_ERROR;
	rig->kind = ERR_RETRY;
	takes(rig, EFFECT_TRIGGER_CHECKPOINT);
	CHECK_INT(rig->last.checkpoint.status, ==, STATUS_UNREACHABLE);
	CHECK_STR(rig->error, "the reason");
	rig->kind = ERR_CONFIG;
	takes(rig, EFFECT_TRIGGER_CHECKPOINT);
	CHECK_INT(rig->last.checkpoint.status, ==, STATUS_FAILED);
}

RIG_TEST(what_has_become_of_a_checkpoint)
{
	static const struct {
		enum flink_answer answer;
		enum flink_operation_state state;
		int64_t id;
		bool no_statistics;
		enum operation_status status;
		const char *location, *error;
	} cases[] = {
		{FLINK_OK, FLINK_OPERATION_IN_PROGRESS, 0, false, STATUS_IN_PROGRESS, "", "why"},
		{FLINK_OK, FLINK_OPERATION_COMPLETED, 7, false, STATUS_COMPLETED, "s3://b/ck/chk-7",
		 "why"},
		/* where it is will be asked again */
		{FLINK_OK, FLINK_OPERATION_COMPLETED, 8, false, STATUS_COMPLETED, "", "why"},
		{FLINK_OK, FLINK_OPERATION_COMPLETED, 7, true, STATUS_COMPLETED, "", "why"},
		{FLINK_OK, FLINK_OPERATION_FAILED, 7, false, STATUS_FAILED, "", "why"},
		{FLINK_ABSENT, FLINK_OPERATION_COMPLETED, 0, false, STATUS_UNKNOWN_ID, "",
		 "the reason"},
		{FLINK_NOT_YET, FLINK_OPERATION_COMPLETED, 0, false, STATUS_UNREACHABLE, "",
		 "the reason"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		rig->answer = cases[i].answer;
		rig->no_statistics = cases[i].no_statistics;
		rig->operation = (struct flink_operation){.state = cases[i].state,
							  .checkpoint_id = cases[i].id,
							  .failure = (char *)"why"};
		takes(rig, EFFECT_POLL_CHECKPOINT);
		CHECK_INT(rig->last.checkpoint.status, ==, cases[i].status);
		CHECK_INT(rig->last.checkpoint.checkpoint_id, ==, cases[i].id);
		CHECK_STR(rig->location, cases[i].location);
		CHECK_STR(rig->error, cases[i].error);
	}
}
