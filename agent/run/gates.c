/*
 * What waits at the gates: the parts are asked in the order of the table, stage by stage.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "run/driver_internal.h"
#include "run/part.h"

static const struct {
	bool is_effect;
	enum effect_type effect; /* that waits, or whose answer waits */
	const char *name;        /* of the effect, or of the event */
} types[GATES] = {
	[GATE_OBSERVE] = {true, EFFECT_OBSERVE, "observe"},
	[GATE_OBSERVED] = {false, EFFECT_OBSERVE, "observed"},
	[GATE_LAUNCH] = {true, EFFECT_LAUNCH, "launch"},
	[GATE_TRIGGER] = {true, EFFECT_TRIGGER, "trigger"},
	[GATE_END] = {false, EFFECT_POLL, "view"},
	[GATE_STOPPING] = {false, EFFECT_STOP_ACK, "stopping"},
	[GATE_EXIT] = {true, EFFECT_EXIT, "exit"},
};

enum gate_verdict gate_waits(struct gate *gate, const char *what, int64_t until_ms)
{
	if (gate->wait_count < GATE_WAITS)
		gate->waits[gate->wait_count++] =
			(struct gate_wait){.what = what, .until_ms = until_ms};
	return GATE_NOT_YET;
}

enum gate_verdict gate_refuses(struct gate *gate, enum cause cause, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(gate->why, sizeof(gate->why), fmt, ap);
	va_end(ap);
	gate->cause = cause;
	return GATE_REFUSED;
}

/* ---- asking ---- */

static enum gate_verdict ask_parts(struct driver *driver, enum gate_type type, struct gate *gate)
{
	enum gate_verdict verdict = GATE_PASSES;
	int stage = parts[0].stage;

	gate->wait_count = 0;
	for (const struct part_row *row = parts; row->part; row++) {
		enum gate_verdict answer;
		size_t before = gate->wait_count;

		if (row->stage != stage && verdict != GATE_PASSES)
			return verdict;
		stage = row->stage;
		if (!row->part->may)
			continue;
		answer = row->part->may(driver, type, gate);
		verdict = answer > verdict ? answer : verdict;
		if (gate->wait_count > before)
			gate->waits[before].part = row->part->name;
	}
	return verdict;
}

static void pass(struct driver *driver, struct gate *gate, enum gate_verdict verdict)
{
	struct gate passed = *gate;

	gate->number = 0; /* what follows may come to the same gate */
	passed.then(driver, &passed, verdict);
}

static void ask(struct driver *driver, enum gate_type type)
{
	struct gate *gate = &driver->gates[type];
	enum gate_verdict verdict;

	if (!gate->number || gate->asking || driver->closing)
		return;
	/* the operation was overtaken or given up meanwhile, for example */
	if (!lifecycle_awaits(&driver->life, types[type].effect, gate->effect.id)) {
		pass(driver, gate, GATE_NOT_YET);
		return;
	}
	gate->asking = true;
	verdict = ask_parts(driver, type, gate);
	gate->asking = false;
	if (verdict != GATE_NOT_YET)
		pass(driver, gate, verdict);
}

void gate_ask(struct driver *driver, enum gate_type type, const struct gate *wanted)
{
	struct gate *gate = &driver->gates[type];

	if (gate->number) {
		/* a cancel overtakes a stop; of everything else the machine has one at a time */
		if (type != GATE_TRIGGER)
			log_error(driver->log,
				  "two of the same kind are waiting, the older one is dropped",
				  LOG_STR("gate", types[type].name));
		pass(driver, gate, GATE_NOT_YET);
	}
	*gate = *wanted;
	gate->number = ++driver->gate_number;
	ask(driver, type);
}

void driver_again(struct driver *driver)
{
	for (int i = 0; i < GATES; i++)
		ask(driver, (enum gate_type)i);
}

void gates_drop(struct driver *driver)
{
	for (int i = 0; i < GATES; i++)
		if (driver->gates[i].number)
			pass(driver, &driver->gates[i], GATE_NOT_YET);
}

/* ---- effects ---- */

/* It may be refused in the step that emits it: the answer comes after that one. */
struct refusal {
	struct driver *driver;
	struct event event;
	char launch_id[JOB_ID_BYTES];
	char *why;
};

static void tell_refusal(void *arg)
{
	struct refusal *refusal = arg;

	driver_step(refusal->driver, &refusal->event);
	free(refusal->why);
	free(refusal);
}

void driver_refuse(struct driver *driver, enum effect_type effect, enum cause cause,
		   const char *why)
{
	const struct launch *launch = journal_launch(&driver->life.journal);
	struct refusal *refusal = xcalloc(1, sizeof(*refusal));
	bool failed = effect == EFFECT_LAUNCH && !cause;

	refusal->driver = driver;
	refusal->why = xstrdup(why);
	if (launch)
		memcpy(refusal->launch_id, launch->job_id, JOB_ID_BYTES);
	if (failed)
		refusal->event = (struct event){
			.type = EVENT_LAUNCH_FAILED,
			.process = {.launch_id = refusal->launch_id, .error = refusal->why}};
	else
		refusal->event = (struct event){.type = EVENT_REFUSED,
						.refused = {.effect = effect,
							    .cause = cause,
							    .why = refusal->why,
							    .launch_id = refusal->launch_id}};
	loop_post(driver->loop, tell_refusal, refusal);
}

static void effect_passes(struct driver *driver, const struct gate *gate, enum gate_verdict verdict)
{
	if (verdict == GATE_PASSES)
		driver_execute(driver, &gate->effect);
	else if (verdict == GATE_REFUSED)
		driver_refuse(driver, gate->effect.type, gate->cause, gate->why);
}

bool gate_ask_effect(struct driver *driver, const struct effect *effect)
{
	struct gate wanted = {.effect = *effect, .then = effect_passes};
	int type = 0;

	wanted.effect.text = NULL;
	while (type < GATES && !(types[type].is_effect && types[type].effect == effect->type))
		type++;
	if (type == GATES)
		return false;
	gate_ask(driver, (enum gate_type)type, &wanted);
	return true;
}

/* ---- for people ---- */

void gates_status(const struct driver *driver, struct json *document)
{
	struct json *list = json_add_array(document, "waiting");

	for (int i = 0; i < GATES; i++) {
		const struct gate *gate = &driver->gates[i];

		for (size_t k = 0; gate->number && k < gate->wait_count; k++) {
			const struct gate_wait *wait = &gate->waits[k];
			int64_t left_ms = wait->until_ms - clock_mono_ms();
			struct json *item = json_add_object(list, NULL);

			json_add_str(item, "gate", wait->part);
			json_add_str(item, "for", wait->what);
			json_add_str(item, "effect", types[i].name);
			if (wait->until_ms)
				json_add_i64(item, "atMostMs", left_ms > 0 ? left_ms : 0);
			else
				json_add_null(item, "atMostMs");
		}
	}
}
