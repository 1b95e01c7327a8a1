/*
 * The control inputs in the driver: what is handed over when, and when it is saved that it was seen. The rest of the
 * driver is played by this file.
 */
#include <stdatomic.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "control_swap.h"
#include "core/desired.h"
#include "gate_fake.h"
#include "kube/kube_watch.h"
#include "run/driver_internal.h"
#include "run/inputs/control_map.h"
#include "run/part.h"

#define LIMIT_MS 20000

struct map {
	char name[8]; /* first: the map is known by it */
	struct {
		control_map_fn *fn;
		void *arg;
	} reads[8];
	size_t count;
};

struct rig {
	struct driver driver; /* first: the parts that are played get this one */
	struct setup setup;
	struct lifecycle_config config;
	struct swap swap;
	unsigned fields;            /* of the events */
	atomic_int observed, saved; /* saved: on the lane */
	struct gate gate;
	struct map map;
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

	if (rig->gate.number && part_inputs.may(driver, GATE_OBSERVE, &rig->gate) == GATE_PASSES) {
		rig->gate.number = 0;
		rig->observed++;
	}
}

/* ---- the control ConfigMap ---- */

struct control_map *control_map_new(struct workers *workers, struct kube_client *client,
				    const char *name)
{
	(void)workers, (void)client;
	return (struct control_map *)name;
}

void control_map_free(struct control_map *map)
{
	(void)map;
}

/* It answers when the test says so. */
void control_map_read(struct control_map *map, control_map_fn *fn, void *arg)
{
	struct map *played = (struct map *)map;

	if (CHECK_INT(played->count, <, ARRAY_LEN(played->reads))) {
		played->reads[played->count].fn = fn;
		played->reads[played->count++].arg = arg;
	}
}

struct kube_watch *kube_watch_new(struct kube_watches *watches,
				  const struct kube_watch_target *target,
				  void (*changed)(void *ctx), void *ctx, struct err *err)
{
	(void)watches, (void)target, (void)changed, (void)ctx;
	err_set(err, ERR_DENIED, 0, "no watch");
	return NULL;
}

void kube_watch_free(struct kube_watch *watch)
{
	(void)watch;
}

struct json *kube_watch_take(struct kube_watch *watch)
{
	(void)watch;
	return NULL;
}

bool kube_watch_holds(struct kube_watch *watch)
{
	(void)watch;
	return false;
}

static void map_answers(struct rig *rig, size_t i, const struct err *why)
{
	struct desired nothing = {0};

	rig->map.reads[i].fn(rig->map.reads[i].arg, why ? NULL : &nothing, false, why);
}

int journal_store_save_seen(struct journal_store *store, const struct buf *text, struct err *err)
{
	(void)text, (void)err;
	((struct rig *)store)->saved++;
	return 0;
}

/* ---- */

static void rig_begin_with(struct rig *rig, const char *map)
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
	snprintf(rig->map.name, sizeof(rig->map.name), "%s", map ? map : "");
	rig->setup.kube.control = map ? rig->map.name : NULL;
	CHECK(part_inputs.open(&rig->driver, NULL) == 0);
	rig->driver.alive = true;
	part_inputs.alive(&rig->driver, &(struct part_start){.seen = &seen});
}

static void rig_begin(struct rig *rig)
{
	rig_begin_with(rig, NULL);
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
static bool until(struct rig *rig, const atomic_int *count, int wanted)
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

/* ---- before a decision ---- */

/* The map and the directory have been read. why: the map cannot be read. */
static void rig_begin_with_map(struct rig *rig, const struct err *why)
{
	rig_begin_with(rig, "map");
	no_resource(rig);
	rig->gate.number = 1;
	while (rig->map.count < 2) /* when the machine came alive, and because of the directory */
		loop_step(rig->driver.loop, 50, NULL);
	map_answers(rig, 0, why);
	map_answers(rig, 1, why);
	CHECK_INT(rig->observed, ==, 1);
}

static enum gate_verdict may(struct rig *rig, enum gate_type type, struct gate *gate)
{
	return part_inputs.may(&rig->driver, type, gate);
}

TEST(a_decision_waits_until_the_map_was_read_after_it)
{
	struct decision start = {.kind = DECISION_START_EMPTY};
	struct gate gate = {.number = 2, .decision = &start}, end = {.number = 3};
	struct rig rig;

	rig_begin_with_map(&rig, NULL);
	CHECK_INT(may(&rig, GATE_TRIGGER, &gate), ==, GATE_PASSES);
	CHECK_INT(may(&rig, GATE_OBSERVED, &gate), ==, GATE_NOT_YET);
	CHECK_STR(gate.waits[0].what, "the control ConfigMap");
	CHECK_INT(may(&rig, GATE_OBSERVED, &gate), ==, GATE_NOT_YET);
	CHECK_INT(rig.map.count, ==, 3); /* read once */
	CHECK_INT(may(&rig, GATE_END, &end), ==, GATE_NOT_YET);
	CHECK_INT(rig.map.count, ==, 4);
	map_answers(&rig, 2, NULL);
	CHECK_INT(may(&rig, GATE_END, &end), ==, GATE_NOT_YET); /* that was asked later */
	CHECK_INT(may(&rig, GATE_OBSERVED, &gate), ==, GATE_PASSES);
	map_answers(&rig, 3, NULL);
	CHECK_INT(may(&rig, GATE_END, &end), ==, GATE_PASSES);
	rig_end(&rig);
}

TEST(a_map_that_was_never_read_refuses_a_start_and_nothing_else)
{
	struct err why = {.kind = ERR_DENIED, .msg = "HTTP 403 Forbidden"};
	struct decision start = {.kind = DECISION_START_EMPTY}, hold = {.kind = DECISION_HOLD};
	struct gate gate = {.number = 2, .decision = &start};
	struct rig rig;

	rig_begin_with_map(&rig, &why);
	CHECK_INT(may(&rig, GATE_OBSERVED, &gate), ==, GATE_NOT_YET);
	map_answers(&rig, 2, &why);
	CHECK_INT(may(&rig, GATE_OBSERVED, &gate), ==, GATE_REFUSED);
	CHECK_INT(gate.cause, ==, CAUSE_WISH_UNREADABLE);
	CHECK_HAS(gate.why, "HTTP 403 Forbidden");
	gate.decision = &hold;
	CHECK_INT(may(&rig, GATE_OBSERVED, &gate), ==, GATE_PASSES);
	CHECK_INT(may(&rig, GATE_END, &gate), ==, GATE_PASSES);
	rig_end(&rig);
}
