/* What the gates of the job here are told, and what they report, on its way through the driver. */
#include <string.h>

#include "base/mem.h"
#include "run/config/setup_side.h"
#include "run/driver_internal.h"
#include "run/handover/gate_files.h"
#include "run/part.h"
#include "tap.h"

#define JOB   "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa01"
#define OLDER "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa00"
#define ID    "h1-00000001"

struct rig {
	struct driver driver; /* first: what is played gets this one */
	struct setup setup;
	bool has_gates;
	struct gate_files_config config;
	int opened, closed, told, events;
	enum side side;
	struct gate_order order;
	char launch[JOB_ID_BYTES], transition[64];
	struct event event;
};

static struct rig *the_rig; /* for what is played without a driver */

bool setup_has_gates(const struct setup *setup)
{
	(void)setup;
	return the_rig->has_gates;
}

struct gate_files *gate_files_open(const struct gate_files_config *config)
{
	the_rig->opened++;
	the_rig->config = *config;
	return (struct gate_files *)the_rig;
}

void gate_files_close(struct gate_files *files)
{
	the_rig->closed += files != NULL;
}

void gate_files_tell(struct gate_files *files, const struct gate_file_job *job,
		     const char *transition, const struct gate_order *order)
{
	(void)files;
	the_rig->told++;
	the_rig->side = job->side;
	the_rig->order = *order;
	snprintf(the_rig->launch, sizeof(the_rig->launch), "%s", job->launch);
	snprintf(the_rig->transition, sizeof(the_rig->transition), "%s",
		 transition ? transition : "(none)");
}

void driver_step(struct driver *driver, const struct event *event)
{
	struct rig *rig = (struct rig *)driver;

	rig->events++;
	rig->event = *event;
}

static void rig_begin_with(struct rig *rig, bool has_gates)
{
	struct launch *launch;

	memset(rig, 0, sizeof(*rig));
	the_rig = rig;
	rig->has_gates = has_gates;
	rig->setup.config.state_directory = (char *)"/state";
	rig->driver.setup = &rig->setup;
	journal_init(&rig->driver.life.journal, "orders");
	launch = journal_add_launch(&rig->driver.life.journal);
	memcpy(launch->job_id, JOB, sizeof(JOB));
	launch->output_side = SIDE_GREEN;
	CHECK_INT(part_gates.open(&rig->driver, NULL), ==, 0);
}

static void rig_begin(struct rig *rig)
{
	rig_begin_with(rig, true);
}

static void rig_end(struct rig *rig)
{
	part_gates.close(&rig->driver);
	CHECK(!rig->driver.gate_files);
	CHECK_INT(rig->closed, ==, rig->opened);
	journal_release(&rig->driver.life.journal);
}

#define RIG_TEST(name) TEST_WITH(name, struct rig, rig, rig_begin, rig_end)

static void executes(struct rig *rig, enum effect_type type, const char *transition)
{
	struct effect effect = {.type = type,
				.text = (char *)(uintptr_t)transition,
				.order = {.number = 4, .word = GATE_CLOSED}};

	memcpy(effect.id, JOB, sizeof(JOB));
	part_gates.execute(&rig->driver, &effect);
}

RIG_TEST(an_order_goes_to_the_launch_that_it_names_with_the_side_of_its_output)
{
	executes(rig, EFFECT_GATE, ID);
	CHECK_INT(rig->told, ==, 1);
	CHECK_STR(rig->launch, JOB);
	CHECK_STR(rig->transition, ID);
	CHECK_INT(rig->side, ==, SIDE_GREEN);
	CHECK_INT(rig->order.number, ==, 4);
	CHECK_INT(rig->order.word, ==, GATE_CLOSED);
	executes(rig, EFFECT_GATE, NULL); /* at rest */
	CHECK_STR(rig->transition, "(none)");
	executes(rig, EFFECT_LAUNCH, ID);
	CHECK_INT(rig->told, ==, 2);
}

RIG_TEST(a_report_is_an_event_of_its_launch_and_its_transition)
{
	const struct gate_file_report report = {
		.transition = (char *)ID, .ended = true, .report = {.known = true, .acked = 3}};

	rig->config.reported(rig->config.arg, OLDER, &report);
	CHECK_INT(rig->events, ==, 1);
	CHECK_INT(rig->event.type, ==, EVENT_GATE);
	CHECK_STR(rig->event.gate.launch_id, OLDER);
	CHECK_STR(rig->event.gate.transition, ID);
	CHECK(rig->event.gate.ended);
	CHECK(rig->event.gate.report.known);
	CHECK_INT(rig->event.gate.report.acked, ==, 3);
	CHECK_STR(rig->config.state_directory, "/state");
}

TEST(a_job_without_gates_has_no_files)
{
	struct rig rig;

	rig_begin_with(&rig, false);
	CHECK_INT(rig.opened, ==, 0);
	executes(&rig, EFFECT_GATE, ID);
	CHECK_INT(rig.told, ==, 0);
	rig_end(&rig);
}
