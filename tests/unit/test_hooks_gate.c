/*
 * Hooks that something waits for, as a part: what they say at the gates. The rest of the driver is
 * played by this file; the hooks are scripts.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/mem.h"
#include "gate_fake.h"
#include "run/driver_internal.h"
#include "run/part.h"
#include "store_dir.h"

#define LIMIT_MS 20000

struct rig {
	struct driver driver; /* first: the part that is tested gets this one */
	struct setup setup;
	struct lifecycle_config config;
	char *dir;
	struct gate gate;
	struct decision decision;
	int again;
};

void driver_again(struct driver *driver)
{
	((struct rig *)driver)->again++;
}

struct json *driver_status(const struct driver *driver)
{
	(void)driver;
	return json_object();
}

/* ---- */

static void rig_begin(struct rig *rig)
{
	*rig = (struct rig){.dir = dir_new()};
	rig->setup.config.hooks.directory = rig->dir;
	rig->setup.config.hooks.timeout_ms = LIMIT_MS;
	rig->setup.config.application = "orders";
	rig->driver.setup = &rig->setup;
	rig->driver.loop = loop_new(NULL);
	rig->driver.workers = workers_new(rig->driver.loop, NULL);
	CHECK(part_hooks.open(&rig->driver, NULL) == 0);
	rig->decision.kind = DECISION_START_FROM;
	rig->gate = (struct gate){.decision = &rig->decision, .path = "file:///s/1"};
}

static void rig_end(struct rig *rig)
{
	rig->driver.closing = true;
	part_hooks.close(&rig->driver);
	workers_free(rig->driver.workers);
	loop_free(rig->driver.loop);
	dir_removep(&rig->dir);
}

static void script(const struct rig *rig, const char *name, const char *body)
{
	cleanup_free char *path = xasprintf("%s/%s", rig->dir, name);
	cleanup_free char *text = xasprintf("#!/bin/sh\n%s\n", body);

	CHECK_INT(fs_write_atomic(path, text, strlen(text), 0755, NULL), ==, 0);
	CHECK_INT(chmod(path, 0755), ==, 0);
}

static enum gate_verdict ask(struct rig *rig, enum gate_type type)
{
	return part_hooks.may(&rig->driver, type, &rig->gate);
}

/* As the gates do it, until it is no longer "not yet". A new number is something new at the gate. */
static enum gate_verdict answer(struct rig *rig, enum gate_type type, int64_t number)
{
	int64_t end_ms = clock_mono_ms() + LIMIT_MS;
	enum gate_verdict verdict;

	rig->gate.number = number;
	while ((verdict = ask(rig, type)) == GATE_NOT_YET && clock_mono_ms() < end_ms)
		loop_step(rig->driver.loop, 50, NULL);
	return verdict;
}

/* How often a hook ran. */
static size_t runs(const struct rig *rig)
{
	cleanup_free char *path = xasprintf("%s/ran", rig->dir);
	cleanup_buf struct buf text = BUF_INIT;

	return fs_read(path, 1000, &text, NULL) < 0 ? 0 : text.len_bytes;
}

static const char count[] = "printf x >>\"$(dirname \"$0\")/ran\"";

TEST(without_a_directory_nothing_waits)
{
	struct rig rig;
	struct driver none = {.setup = &rig.setup};

	rig_begin(&rig);
	for (int type = 0; type < GATES; type++)
		CHECK_INT(part_hooks.may(&none, (enum gate_type)type, &rig.gate), ==, GATE_PASSES);
	rig_end(&rig);
}

TEST(a_start_without_a_script_passes_at_once)
{
	struct rig rig;

	rig_begin(&rig);
	CHECK_INT(answer(&rig, GATE_OBSERVED, 1), ==, GATE_PASSES);
	rig.decision.kind = DECISION_HOLD; /* no start: nobody is asked */
	rig.gate.number = 2;
	CHECK_INT(ask(&rig, GATE_OBSERVED), ==, GATE_PASSES);
	rig_end(&rig);
}

TEST(a_hook_that_ran_makes_the_facts_old_and_the_same_start_passes_then_once)
{
	struct rig rig;

	rig_begin(&rig);
	script(&rig, "pre-launch", count);
	rig.gate.number = 1;
	CHECK_INT(ask(&rig, GATE_OBSERVED), ==, GATE_NOT_YET);
	CHECK_STR(rig.gate.waits[0].what, "the pre-launch hook");
	CHECK_INT(answer(&rig, GATE_OBSERVED, 1), ==, GATE_STALE);
	CHECK_INT(rig.again, ==, 1);
	CHECK_INT(runs(&rig), ==, 1);
	rig.gate.number = 2;
	CHECK_INT(ask(&rig, GATE_OBSERVED), ==, GATE_PASSES);
	CHECK_INT(ask(&rig, GATE_OBSERVED), ==, GATE_PASSES); /* still the same question */
	CHECK_INT(answer(&rig, GATE_OBSERVED, 3), ==, GATE_STALE);
	CHECK_INT(runs(&rig), ==, 2);
	rig.gate.path = "file:///s/2"; /* another start is asked about again */
	CHECK_INT(answer(&rig, GATE_OBSERVED, 4), ==, GATE_STALE);
	CHECK_INT(runs(&rig), ==, 3);
	rig_end(&rig);
}

TEST(a_hook_that_fails_refuses_the_start)
{
	struct rig rig;

	rig_begin(&rig);
	script(&rig, "pre-launch", "echo no license left; exit 3");
	CHECK_INT(answer(&rig, GATE_OBSERVED, 1), ==, GATE_REFUSED);
	CHECK_INT(rig.gate.cause, ==, CAUSE_HOOK_REFUSED);
	CHECK_HAS(rig.gate.why, "pre-launch: exit status 3: no license left");
	script(&rig, "pre-launch", "exit 0"); /* the next try asks it again */
	CHECK_INT(answer(&rig, GATE_OBSERVED, 2), ==, GATE_STALE);
	rig_end(&rig);
}

static void operation(struct rig *rig, enum operation_kind kind, const char *id)
{
	rig->driver.life.journal.operation.kind = kind;
	snprintf(rig->gate.effect.id, sizeof(rig->gate.effect.id), "%s", id);
}

TEST(a_stop_waits_for_its_hook_and_a_savepoint_does_not)
{
	struct rig rig;

	rig_begin(&rig);
	script(&rig, "pre-stop", count);
	operation(&rig, OPERATION_SAVEPOINT, "01");
	rig.gate.number = 1;
	CHECK_INT(ask(&rig, GATE_TRIGGER), ==, GATE_PASSES);
	operation(&rig, OPERATION_STOP, "02");
	rig.gate.number = 2;
	CHECK_INT(ask(&rig, GATE_TRIGGER), ==, GATE_NOT_YET);
	CHECK_STR(rig.gate.waits[0].what, "the pre-stop hook");
	CHECK_INT(answer(&rig, GATE_TRIGGER, 2), ==, GATE_PASSES);
	CHECK_INT(runs(&rig), ==, 1);
	CHECK_INT(answer(&rig, GATE_TRIGGER, 3), ==, GATE_PASSES); /* the POST is repeated */
	CHECK_INT(runs(&rig), ==, 1);
	rig_end(&rig);
}

/* The hook of the stop ends first; that says nothing about the cancel. */
TEST(a_cancel_that_overtakes_a_stop_waits_for_its_own_hook)
{
	cleanup_free char *slow = NULL;
	struct rig rig;

	rig_begin(&rig);
	slow = xasprintf("sleep 0.3; %s", count);
	script(&rig, "pre-stop", slow);
	operation(&rig, OPERATION_STOP, "01");
	rig.gate.number = 1;
	CHECK_INT(ask(&rig, GATE_TRIGGER), ==, GATE_NOT_YET);
	operation(&rig, OPERATION_CANCEL, "02");
	CHECK_INT(answer(&rig, GATE_TRIGGER, 2), ==, GATE_PASSES);
	CHECK_INT(runs(&rig), ==, 2);
	rig_end(&rig);
}

TEST(drey_exits_after_the_hooks_but_does_not_wait_for_ever)
{
	struct rig rig;
	int64_t now_ms = clock_mono_ms();

	rig_begin(&rig);
	rig.gate.number = 1;
	CHECK_INT(ask(&rig, GATE_EXIT), ==, GATE_PASSES);
	script(&rig, "on-failure", "sleep 0.2");
	part_hooks.notice(&rig.driver, &(struct notice){.type = NOTICE_ATTEMPT_FAILED});
	CHECK_INT(ask(&rig, GATE_EXIT), ==, GATE_NOT_YET);
	CHECK(rig.gate.waits[0].until_ms >= now_ms + 5000 &&
	      rig.gate.waits[0].until_ms <= clock_mono_ms() + 5000);
	CHECK_INT(answer(&rig, GATE_EXIT, 1), ==, GATE_PASSES);
	rig_end(&rig);
	rig_begin(&rig);
	script(&rig, "on-failure", "sleep 60");
	part_hooks.notice(&rig.driver, &(struct notice){.type = NOTICE_ATTEMPT_FAILED});
	CHECK_INT(answer(&rig, GATE_EXIT, 1), ==, GATE_PASSES);
	CHECK(clock_mono_ms() - now_ms < 15000);
	rig_end(&rig);
}
