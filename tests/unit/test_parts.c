/*
 * The table of parts and the gates: who is asked, in which order, and what becomes of what waits. All
 * parts are played by this file, in the real table.
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "run/driver_internal.h"
#include "run/part.h"
#include "tap.h"

struct rig {
	struct driver driver; /* first: the parts that are played get this one */
	struct lifecycle_config config;
	char order[200]; /* who was asked */
	struct {
		const char *name;
		enum gate_verdict verdict;
	} says[4]; /* everybody else: GATE_PASSES */
	enum effect_type executed[4];
	char executed_id[JOB_ID_BYTES];
	size_t executed_count;
	struct event event; /* the last one */
	char event_why[100];
	enum gate_verdict passed; /* by what is no effect */
	int passes;
};

static struct rig *rig_of(const struct driver *driver)
{
	return (struct rig *)driver;
}

static enum gate_verdict asked(struct driver *driver, const char *name, struct gate *gate)
{
	struct rig *rig = rig_of(driver);
	size_t len = strlen(rig->order);

	for (size_t i = 0; i < ARRAY_LEN(rig->says); i++) {
		if (!xstrsame(rig->says[i].name, name))
			continue;
		snprintf(rig->order + len, sizeof(rig->order) - len, "%s ", name);
		if (rig->says[i].verdict == GATE_REFUSED)
			return gate_refuses(gate, CAUSE_HOOK_REFUSED, "%s says %d", name, 7);
		if (rig->says[i].verdict == GATE_NOT_YET)
			return gate_waits(gate, "a test", clock_mono_ms() + 5000);
		return rig->says[i].verdict;
	}
	return GATE_PASSES;
}

#define PART(id)                                                                                   \
	static enum gate_verdict may_##id(struct driver *driver, enum gate_type type,              \
					  struct gate *gate)                                       \
	{                                                                                          \
		(void)type;                                                                        \
		return asked(driver, #id, gate);                                                   \
	}                                                                                          \
	const struct part part_##id = {.name = #id, .may = may_##id};

PART(dispose)
PART(events)
PART(flink)
PART(gate_keys)
PART(flink_lock)
PART(gates)
PART(gc)
PART(ha)
PART(handover)
PART(hooks)
PART(http)
PART(init)
PART(inputs)
PART(journal)
PART(launch)
PART(lease)
PART(leavings)
PART(log)
PART(observe)
PART(ready)
PART(relaunch)
PART(requests)
PART(rescale)
PART(resource)
PART(resource_status)
PART(scale)
PART(shadow)
PART(sigterm)
PART(spare)
PART(used)

void driver_execute(struct driver *driver, const struct effect *effect)
{
	struct rig *rig = rig_of(driver);

	if (CHECK_INT(rig->executed_count, <, ARRAY_LEN(rig->executed)))
		rig->executed[rig->executed_count++] = effect->type;
	memcpy(rig->executed_id, effect->id, JOB_ID_BYTES);
}

void driver_step(struct driver *driver, const struct event *event)
{
	struct rig *rig = rig_of(driver);

	rig->event = *event;
	snprintf(rig->event_why, sizeof(rig->event_why), "%s",
		 event->type == EVENT_REFUSED ? event->refused.why : event->process.error);
	loop_stop(driver->loop);
}

static void rig_begin(struct rig *rig)
{
	struct journal journal;
	struct rng rng = {0};

	*rig = (struct rig){.passed = GATE_NOT_YET};
	rig->driver.loop = loop_new(NULL);
	journal_init(&journal, "orders");
	strcpy(journal_add_launch(&journal)->job_id, "aa01");
	lifecycle_init(&rig->driver.life, &rig->config, &journal, &rng);
	rig->driver.life.observing = true;
	rig->driver.life.launch_step = LAUNCH_STARTING;
}

static void rig_end(struct rig *rig)
{
	rig->driver.closing = true;
	gates_drop(&rig->driver);
	lifecycle_release(&rig->driver.life);
	loop_free(rig->driver.loop);
}

static void says(struct rig *rig, const char *name, enum gate_verdict verdict)
{
	size_t i = 0;

	while (rig->says[i].name && strcmp(rig->says[i].name, name) != 0)
		i++;
	rig->says[i].name = name;
	rig->says[i].verdict = verdict;
}

static void effect(struct rig *rig, enum effect_type type)
{
	CHECK(gate_ask_effect(&rig->driver, &(struct effect){.type = type}));
}

static void again(struct rig *rig)
{
	rig->order[0] = '\0';
	driver_again(&rig->driver);
}

static void passes(struct driver *driver, const struct gate *gate, enum gate_verdict verdict)
{
	struct rig *rig = rig_of(driver);

	CHECK(gate->arg == rig);
	rig->passed = verdict;
	rig->passes++;
}

static void observed(struct rig *rig)
{
	static const struct decision decision = {.kind = DECISION_START_EMPTY};

	gate_ask(&rig->driver, GATE_OBSERVED,
		 &(struct gate){.decision = &decision, .then = passes, .arg = rig});
}

/* ---- the order is policy ---- */

static int place_of(const char *name)
{
	int i = 0;

	while (parts[i].part && strcmp(parts[i].part->name, name) != 0)
		i++;
	if (!CHECK(parts[i].part != NULL))
		tap_note("no part '%s'", name);
	return i;
}

TEST(the_journal_is_opened_before_all_that_acts_and_closed_after_it)
{
	CHECK_INT(place_of("init"), ==, 0);
	CHECK_INT(place_of("journal"), ==, 1);
}

TEST(hooks_hear_of_what_has_happened_before_events_are_posted)
{
	CHECK_INT(place_of("hooks"), <, place_of("events"));
}

TEST(the_custom_resource_is_opened_before_its_status_is_written)
{
	CHECK_INT(place_of("resource"), <, place_of("resource_status"));
}

TEST(the_stages_never_go_back)
{
	for (const struct part_row *row = parts; row[1].part; row++)
		CHECK_INT(row->stage, <=, row[1].stage);
}

#define RIG_TEST(name) TEST_WITH(name, struct rig, rig, rig_begin, rig_end)

/* A hook may take its time, and what is written last has to be true after it. */
RIG_TEST(at_the_exit_hooks_end_before_the_last_status_is_written)
{
	says(rig, "hooks", GATE_NOT_YET);
	says(rig, "resource_status", GATE_NOT_YET);
	says(rig, "ready", GATE_NOT_YET);
	effect(rig, EFFECT_EXIT);
	CHECK_STR(rig->order, "hooks ");
	says(rig, "hooks", GATE_PASSES);
	again(rig); /* both at once: drey exits no later for two of them */
	CHECK_STR(rig->order, "hooks resource_status ready ");
	says(rig, "ready", GATE_PASSES);
	again(rig);
	CHECK_INT(rig->executed_count, ==, 0);
	says(rig, "resource_status", GATE_PASSES);
	again(rig);
	CHECK_INT(rig->executed_count, ==, 1);
	CHECK_INT(rig->executed[0], ==, EFFECT_EXIT);
	again(rig); /* nothing waits any more */
	CHECK_STR(rig->order, "");
}

/* So do-not-restart counts that was set while the hook ran. */
RIG_TEST(before_a_start_the_inputs_are_read_after_the_hook_has_ended)
{
	says(rig, "hooks", GATE_NOT_YET);
	says(rig, "inputs", GATE_NOT_YET);
	says(rig, "resource", GATE_NOT_YET);
	observed(rig);
	CHECK_STR(rig->order, "hooks ");
	says(rig, "hooks", GATE_PASSES);
	again(rig);
	CHECK_STR(rig->order, "hooks inputs resource ");
	/* what the ConfigMap says does not count before the resource was read, too */
	says(rig, "inputs", GATE_REFUSED);
	again(rig);
	CHECK_INT(rig->passes, ==, 0);
	says(rig, "resource", GATE_PASSES);
	again(rig);
	CHECK_INT(rig->passes, ==, 1);
	CHECK_INT(rig->passed, ==, GATE_REFUSED);
}

RIG_TEST(a_hook_that_took_its_time_makes_the_facts_old_and_asks_nobody_else)
{
	says(rig, "hooks", GATE_STALE);
	says(rig, "inputs", GATE_NOT_YET);
	observed(rig);
	CHECK_STR(rig->order, "hooks ");
	CHECK_INT(rig->passed, ==, GATE_STALE);
}

/* Whoever holds it keeps another drey out. */
RIG_TEST(flink_lock_is_taken_when_the_inputs_were_read)
{
	says(rig, "inputs", GATE_NOT_YET);
	says(rig, "flink_lock", GATE_PASSES);
	effect(rig, EFFECT_OBSERVE);
	CHECK_STR(rig->order, "inputs ");
	says(rig, "inputs", GATE_PASSES);
	again(rig);
	CHECK_STR(rig->order, "inputs flink_lock ");
	CHECK_INT(rig->executed_count, ==, 1);
}

/* ---- what waits ---- */

RIG_TEST(an_effect_that_is_refused_is_an_event_after_the_step)
{
	says(rig, "ha", GATE_REFUSED);
	effect(rig, EFFECT_LAUNCH);
	CHECK_INT(rig->event.type, ==, 0);
	CHECK(!loop_run(rig->driver.loop, NULL));
	CHECK_INT(rig->event.type, ==, EVENT_REFUSED);
	CHECK_INT(rig->event.refused.effect, ==, EFFECT_LAUNCH);
	CHECK_INT(rig->event.refused.cause, ==, CAUSE_HOOK_REFUSED);
	CHECK_STR(rig->event_why, "ha says 7");
	CHECK_INT(rig->executed_count, ==, 0);
	driver_refuse(&rig->driver, EFFECT_LAUNCH, CAUSE_NONE, "no such file: java");
	CHECK(!loop_run(rig->driver.loop, NULL));
	CHECK_INT(rig->event.type, ==, EVENT_LAUNCH_FAILED);
	CHECK_STR(rig->event_why, "no such file: java");
}

RIG_TEST(what_the_machine_has_given_up_is_not_executed)
{
	says(rig, "ha", GATE_NOT_YET);
	effect(rig, EFFECT_LAUNCH);
	rig->driver.life.launch_step = LAUNCH_NONE;
	says(rig, "ha", GATE_PASSES);
	again(rig);
	rig->driver.life.launch_step = LAUNCH_STARTING;
	again(rig);
	CHECK_INT(rig->executed_count, ==, 0);
}

static void trigger(struct rig *rig, const char *id)
{
	struct effect trigger = {.type = EFFECT_TRIGGER};

	rig->driver.life.operation.asking = true;
	strcpy(rig->driver.life.journal.operation.trigger_id, id);
	strcpy(trigger.id, id);
	CHECK(gate_ask_effect(&rig->driver, &trigger));
}

/* Its pre-stop hook may still run. */
RIG_TEST(a_cancel_overtakes_a_stop_that_waits)
{
	says(rig, "hooks", GATE_NOT_YET);
	trigger(rig, "01");
	trigger(rig, "02");
	says(rig, "hooks", GATE_PASSES);
	again(rig);
	CHECK_INT(rig->executed_count, ==, 1);
	CHECK_STR(rig->executed_id, "02");
}

RIG_TEST(when_drey_ends_what_waits_is_dropped)
{
	says(rig, "hooks", GATE_NOT_YET);
	observed(rig);
	rig->passed = GATE_PASSES;
	rig->driver.closing = true;
	again(rig);
	CHECK_INT(rig->passes, ==, 0);
	gates_drop(&rig->driver);
	CHECK_INT(rig->passes, ==, 1);
	CHECK_INT(rig->passed, ==, GATE_NOT_YET);
}

RIG_TEST(effects_without_a_gate_do_not_wait)
{
	says(rig, "hooks", GATE_NOT_YET);
	CHECK(!gate_ask_effect(&rig->driver, &(struct effect){.type = EFFECT_POLL}));
	CHECK(!gate_ask_effect(&rig->driver, &(struct effect){.type = EFFECT_WRITE_JOURNAL}));
	CHECK(!gate_ask_effect(&rig->driver, &(struct effect){.type = EFFECT_SIGNAL}));
	CHECK_STR(rig->order, "");
}

RIG_TEST(the_status_says_what_is_waited_for_and_for_how_long)
{
	cleanup_json struct json *document = json_object();
	const struct json *list, *item;
	int64_t left_ms = -1;

	says(rig, "resource_status", GATE_NOT_YET);
	says(rig, "ready", GATE_NOT_YET);
	effect(rig, EFFECT_EXIT);
	again(rig);
	gates_status(&rig->driver, document);
	list = json_get(document, "waiting");
	if (CHECK_INT((int)json_len(list), ==, 2)) {
		item = json_at(list, 1);
		CHECK_STR(json_str(item, "gate"), "ready");
		CHECK_STR(json_str(item, "for"), "a test");
		CHECK_STR(json_str(item, "effect"), "exit");
		CHECK(json_opt_i64(item, "atMostMs", &left_ms, NULL) == 1);
		CHECK(left_ms > 0 && left_ms <= 5000);
	}
}
