/*
 * The effect RESCALE: bounds are set only if there are any, and what Flink answers is a refusal, or not known. Flink's
 * REST API and the driver are played by this file.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "flink/requirements.h"
#include "run/driver_internal.h"
#include "run/part.h"
#include "tap.h"

#define JOB      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa01"
#define BODY     "{\"v\":{\"parallelism\":{\"lowerBound\":1,\"upperBound\":4}}}"
#define LIMIT_MS 20000

struct rig {
	struct driver driver; /* first: what is played gets this one */
	struct setup setup;
	enum flink_answer set, get, slots;
	enum err_kind kind;
	int sets, gets, events;
	struct event last;
	struct rescale_vertex vertex;
	char id[32], error[64];
};

static struct rig *the_rig; /* for what is played without a driver */

static enum flink_answer answer_of(enum flink_answer answer, struct err *err)
{
	if (answer != FLINK_OK)
		err_set(err, the_rig->kind, 0, "the reason");
	return answer;
}

enum flink_answer flink_rest_set_requirements(const struct flink_rest *rest, const char *job_id,
					      const char *body, int64_t timeout_ms, struct err *err)
{
	(void)rest, (void)timeout_ms;
	CHECK_STR(job_id, JOB);
	CHECK_STR(body, BODY);
	the_rig->sets++;
	return answer_of(the_rig->set, err);
}

enum flink_answer flink_rest_requirements(const struct flink_rest *rest, const char *job_id,
					  int64_t timeout_ms,
					  struct flink_requirements *ret_requirements,
					  struct err *err)
{
	static struct flink_requirement one = {.id = (char *)"v",
					       .name = (char *)"Map",
					       .parallelism = 2,
					       .max_parallelism = 128,
					       .lower = 1,
					       .upper = 4};

	(void)rest, (void)timeout_ms;
	CHECK_STR(job_id, JOB);
	the_rig->gets++;
	if (the_rig->get == FLINK_OK)
		*ret_requirements = (struct flink_requirements){.list = &one, .count = 1};
	return answer_of(the_rig->get, err);
}

void flink_requirements_release(struct flink_requirements *requirements)
{
	(void)requirements;
}

enum flink_answer flink_rest_slots(const struct flink_rest *rest, int64_t timeout_ms,
				   struct flink_slots *ret_slots, struct err *err)
{
	(void)rest, (void)timeout_ms;
	*ret_slots = (struct flink_slots){.task_managers = 2, .total = 8};
	return answer_of(the_rig->slots, err);
}

void driver_step(struct driver *driver, const struct event *event)
{
	struct rig *rig = (struct rig *)driver;

	CHECK_INT(event->type, ==, EVENT_RESCALED);
	rig->events++;
	rig->last = *event;
	snprintf(rig->error, sizeof(rig->error), "%s",
		 event->rescaled.error ? event->rescaled.error : "");
	if (!event->rescaled.vertex_count)
		return;
	rig->vertex = event->rescaled.vertices[0];
	snprintf(rig->id, sizeof(rig->id), "%s", rig->vertex.id);
}

static void rig_begin(struct rig *rig)
{
	struct journal *journal = &rig->driver.life.journal;
	struct launch *launch;

	memset(rig, 0, sizeof(*rig));
	the_rig = rig;
	rig->driver.setup = &rig->setup;
	rig->driver.loop = loop_new(NULL);
	rig->driver.workers = workers_new(rig->driver.loop, NULL);
	rig->driver.flink_lane = lane_new(rig->driver.workers, "flink");
	journal_init(journal, "orders");
	launch = journal_add_launch(journal);
	memcpy(launch->job_id, JOB, sizeof(JOB));
	launch->number = 3;
}

static void rig_end(struct rig *rig)
{
	lane_free(rig->driver.flink_lane, 1000);
	workers_free(rig->driver.workers);
	loop_free(rig->driver.loop);
	journal_release(&rig->driver.life.journal);
}

#define RIG_TEST(name) TEST_WITH(name, struct rig, rig, rig_begin, rig_end)

static void rescales(struct rig *rig, const char *body)
{
	struct effect effect = {.type = EFFECT_RESCALE, .text = (char *)(uintptr_t)body};
	int64_t end_ms = clock_mono_ms() + LIMIT_MS;

	memcpy(effect.id, JOB, sizeof(JOB));
	rig->events = rig->sets = rig->gets = 0;
	part_rescale.execute(&rig->driver, &effect);
	while (!rig->events && clock_mono_ms() < end_ms)
		loop_step(rig->driver.loop, 20, NULL);
	CHECK_INT(rig->events, ==, 1);
	CHECK_INT(rig->last.rescaled.launch, ==, 3);
	CHECK_INT(rig->last.rescaled.put, ==, body != NULL);
}

RIG_TEST(a_look_sets_nothing_and_bounds_are_looked_at_when_they_are_set)
{
	rescales(rig, NULL);
	CHECK_INT(rig->sets, ==, 0);
	CHECK_INT(rig->gets, ==, 1);
	rescales(rig, BODY);
	CHECK_INT(rig->sets, ==, 1);
	CHECK_INT(rig->gets, ==, 1);
	CHECK_INT(rig->last.rescaled.status, ==, STATUS_COMPLETED);
	CHECK_INT(rig->last.rescaled.vertex_count, ==, 1);
	CHECK_STR(rig->id, "v");
	CHECK_INT(rig->vertex.parallelism, ==, 2);
	CHECK_INT(rig->vertex.max_parallelism, ==, 128);
	CHECK_INT(rig->vertex.lower, ==, 1);
	CHECK_INT(rig->vertex.upper, ==, 4);
	CHECK(rig->last.rescaled.slots_known);
	CHECK_INT(rig->last.rescaled.slots_total, ==, 8);
	CHECK_INT(rig->last.rescaled.task_managers, ==, 2);
}

RIG_TEST(only_what_flink_refuses_has_failed)
{
	static const struct {
		enum flink_answer set, get;
		enum err_kind kind;
		enum operation_status status;
		int gets;
	} cases[] = {
		{FLINK_ERROR, FLINK_OK, ERR_CONFIG, STATUS_FAILED, 0},
		{FLINK_ERROR, FLINK_OK, ERR_RETRY, STATUS_UNREACHABLE, 0},
		{FLINK_NOT_YET, FLINK_OK, ERR_CONFIG, STATUS_UNREACHABLE, 0},
		{FLINK_ABSENT, FLINK_OK, ERR_CONFIG, STATUS_UNREACHABLE, 0},
		{FLINK_OK, FLINK_ERROR, ERR_CONFIG, STATUS_FAILED, 1},
		{FLINK_OK, FLINK_ERROR, ERR_RETRY, STATUS_UNREACHABLE, 1},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		rig->set = cases[i].set;
		rig->get = cases[i].get;
		rig->kind = cases[i].kind;
		rescales(rig, BODY);
		CHECK_INT(rig->last.rescaled.status, ==, cases[i].status);
		CHECK_STR(rig->error, "the reason");
		CHECK_INT(rig->gets, ==, cases[i].gets);
		CHECK_INT(rig->last.rescaled.vertex_count, ==, 0);
	}
}

RIG_TEST(slots_that_are_not_known_do_not_make_it_fail)
{
	rig->slots = FLINK_ERROR;
	rig->kind = ERR_RETRY;
	rescales(rig, NULL);
	CHECK_INT(rig->last.rescaled.status, ==, STATUS_COMPLETED);
	CHECK(!rig->last.rescaled.slots_known);
}
