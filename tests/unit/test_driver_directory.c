/*
 * The control inputs in the driver: what is handed over when, and when it is saved that it was seen. The rest of the
 * driver is played by this file.
 */
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "control_swap.h"
#include "core/desired.h"
#include "run/driver_internal.h"
#include "run/part.h"

#define LIMIT_MS 20000

struct rig {
	struct driver driver; /* first: the parts that are played get this one */
	struct setup setup;
	struct lifecycle_config config;
	struct swap swap;
	unsigned fields; /* of the events */
	int observed, saved;
	struct gate gate;
};

static struct rig *rig_of(struct driver *driver)
{
	return (struct rig *)driver;
}

/* ---- the parts ---- */

/* As the driver does it: the journal write is on its way when the parts hear of the step. */
void driver_step(struct driver *driver, const struct event *event)
{
	CHECK_INT(event->type, ==, EVENT_CONTROL);
	rig_of(driver)->fields |= event->control.fields;
	driver->life.requested++;
	part_inputs.stepped(driver);
}

int64_t driver_covering_write(const struct driver *driver)
{
	return driver->life.requested;
}

/* As the gates do it: what waits is asked again. */
void driver_again(struct driver *driver)
{
	struct rig *rig = rig_of(driver);

	if (rig->gate.number && part_inputs.may(driver, GATE_OBSERVE, &rig->gate) == GATE_OPEN) {
		rig->gate.number = 0;
		rig->observed++;
	}
}

enum gate_verdict gate_waits(struct gate *gate, const char *what, int64_t until_ms)
{
	(void)gate, (void)until_ms;
	CHECK_STR(what, "the control inputs");
	return GATE_NOT_YET;
}

enum gate_verdict gate_refuses(struct gate *gate, enum cause cause, const char *fmt, ...)
{
	(void)gate, (void)fmt;
	CHECK_INT(cause, ==, CAUSE_WISH_UNREADABLE);
	return GATE_REFUSED;
}

int journal_store_save_seen(struct journal_store *store, const struct buf *text, struct err *err)
{
	(void)text, (void)err;
	((struct rig *)store)->saved++;
	return 0;
}

/* ---- */

static void rig_begin(struct rig *rig)
{
	struct desired_seen seen = {.known = true};
	struct journal journal;
	struct rng rng = {0};

	memset(rig, 0, sizeof(*rig));
	swap_begin(&rig->swap);
	SWAP(&rig->swap, "state=suspended");
	rig->setup.config.control.directory = rig->swap.dir;
	rig->driver.setup = &rig->setup;
	rig->driver.store = (struct journal_store *)rig;
	rig->driver.loop = loop_new(NULL);
	rig->driver.workers = workers_new(rig->driver.loop, NULL);
	rig->driver.journal_lane = lane_new(rig->driver.workers, "journal");
	journal_init(&journal, "orders");
	lifecycle_init(&rig->driver.life, &rig->config, &journal, &rng);
	rig->setup.kube.on = true;
	rig->setup.kube.resource = (char *)"orders";
	CHECK(part_inputs.open(&rig->driver, NULL) == 0);
	rig->driver.alive = true;
	part_inputs.alive(&rig->driver, &(struct part_start){.seen = &seen});
}

static void rig_end(struct rig *rig)
{
	rig->driver.closing = true;
	part_inputs.close(&rig->driver);
	lane_free(rig->driver.journal_lane, 1000);
	workers_free(rig->driver.workers);
	loop_free(rig->driver.loop);
	lifecycle_release(&rig->driver.life);
	swap_end(&rig->swap);
}

/* False: not in time. */
static bool until(struct rig *rig, const int *count, int wanted)
{
	int64_t end_ms = clock_mono_ms() + LIMIT_MS;

	while (*count < wanted && clock_mono_ms() < end_ms)
		loop_step(rig->driver.loop, 50, NULL);
	return *count == wanted;
}

static void no_resource(struct rig *rig)
{
	struct desired nothing = {0};

	driver_directory_offer(&rig->driver, &nothing, false, NULL);
}

#define RIG_TEST(name) TEST_WITH(name, struct rig, rig, rig_begin, rig_end)

/* An agent that ends in between takes the change once more. */
RIG_TEST(what_was_seen_is_saved_when_the_journal_has_its_event)
{
	no_resource(rig);
	rig->gate.number = 1;
	driver_again(&rig->driver);
	CHECK_INT(rig->observed, ==, 0);
	CHECK(until(rig, &rig->observed, 1));
	CHECK_INT(rig->fields, ==, CONTROL_STATE);
	lane_free(rig->driver.journal_lane, LIMIT_MS); /* a save that is under way would end */
	rig->driver.journal_lane = lane_new(rig->driver.workers, "journal");
	CHECK_INT(rig->saved, ==, 0);
	rig->driver.life.acknowledged = rig->driver.life.requested;
	part_inputs.stepped(&rig->driver);
	CHECK(until(rig, &rig->saved, 1));
}

RIG_TEST(a_resource_that_access_is_denied_to_is_no_input_that_is_refused)
{
	struct err why = {.kind = ERR_DENIED, .msg = "403 Forbidden"};

	driver_directory_deny(&rig->driver, &why);
	driver_directory_deny(&rig->driver, &why);
	CHECK_INT(rig->driver.metrics.refused[METRICS_DIRECTORY], ==, 0);
	driver_directory_offer(&rig->driver, NULL, false, &why);
	CHECK_INT(rig->driver.metrics.refused[METRICS_DIRECTORY], ==, 1);
}
