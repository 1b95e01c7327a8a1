/*
 * What drey waits for at SIGTERM and before it exits: the owner of the Pod, the last Ready condition and
 * the last status of the custom resource. The driver and the API server are played by this file.
 */
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "gate_fake.h"
#include "kube/flinkapp.h"
#include "kube/kube_lane.h"
#include "kube/workload.h"
#include "run/driver_internal.h"
#include "tap.h"

#define LIMIT_MS 20000

struct rig {
	struct driver driver; /* first: the parts that are tested get this one */
	struct setup setup;
	struct kube_lane lane; /* of the custom resource */
	struct gate gate;
	int64_t now_ms; /* when it began */
	int acknowledged, doubted;
	/* the API server, for the lanes */
	atomic_bool hangs, is_gone;
	atomic_int reads, writes;
	int64_t replicas;
};

static struct rig *rig_of(const struct driver *driver)
{
	return (struct rig *)driver;
}

void driver_again(struct driver *driver)
{
	(void)driver; /* the test asks again */
}

void driver_judge(struct driver *driver)
{
	(void)driver;
}

void driver_event(struct driver *driver, bool warning, const char *reason, const char *action,
		  const char *note)
{
	(void)driver, (void)warning, (void)reason, (void)action, (void)note;
}

void driver_resource_doubt(struct driver *driver)
{
	rig_of(driver)->doubted++;
	driver->object.uid = NULL;
}

struct json *driver_status(const struct driver *driver)
{
	struct json *document = json_object();

	json_add_str(document, "phase", driver->life.reason);
	return document;
}

int init_link_stop_ack(struct init_link *link, struct err *err)
{
	(void)err;
	((struct rig *)link)->acknowledged++;
	return 0;
}

/* ---- the API server ---- */

struct kube_lane kube_lane_open(struct workers *workers, struct kube_client *client,
				const char *name)
{
	return (struct kube_lane){.lane = lane_new(workers, name), .kube = (struct kube *)client};
}

void kube_lane_stop(struct kube_lane *lane)
{
	if (lane->lane)
		((struct rig *)lane->kube)->hangs = false;
}

bool kube_lane_close(struct kube_lane *lane, int64_t wait_ms)
{
	return lane_free(lane->lane, wait_ms);
}

static int answer(struct kube *kube, struct err *err)
{
	struct rig *rig = (struct rig *)kube;

	while (rig->hangs)
		usleep(1000);
	return rig->is_gone ? err_set(err, ERR_ABSENT, 0, "404") : 0;
}

int workload_get(struct kube *kube, enum workload_kind kind, const char *name, int64_t timeout_ms,
		 struct workload *ret, struct kube_answer *answer_ret, struct err *err)
{
	struct rig *rig = (struct rig *)kube;

	(void)kind, (void)name, (void)timeout_ms, (void)answer_ret;
	rig->reads++;
	*ret = (struct workload){.uid = xstrdup("u1"), .replicas = rig->replicas};
	return answer(kube, err);
}

int workload_apply_condition(struct kube *kube, enum workload_kind kind, const char *name,
			     const char *uid, const struct workload_condition *condition,
			     struct kube_answer *answer_ret, struct err *err)
{
	(void)kind, (void)name, (void)uid, (void)condition, (void)answer_ret;
	((struct rig *)kube)->writes++;
	return answer(kube, err);
}

void workload_condition_release(struct workload_condition *condition)
{
	free(condition->status);
	free(condition->reason);
	free(condition->message);
	*condition = (struct workload_condition){0};
}

void workload_release(struct workload *workload)
{
	free(workload->uid);
	workload_condition_release(&workload->ready);
}

int flinkapp_apply_status(struct kube *kube, const char *name, const char *uid,
			  const struct json *document, char **ret_version,
			  struct kube_answer *answer_ret, struct err *err)
{
	(void)name, (void)document, (void)answer_ret;
	((struct rig *)kube)->writes++;
	CHECK_STR(uid, "u1");
	*ret_version = xstrdup("5");
	return answer(kube, err);
}

/* ---- */

static void rig_begin(struct rig *rig)
{
	memset(rig, 0, sizeof(*rig));
	rig->now_ms = clock_mono_ms();
	rig->replicas = 1;
	rig->setup.kube.on = true;
	rig->setup.kube.owner = (char *)"orders";
	rig->setup.kube.resource = (char *)"orders";
	rig->setup.kube.client = (struct kube_client *)rig;
	rig->driver.setup = &rig->setup;
	rig->driver.link = (struct init_link *)rig;
	rig->driver.loop = loop_new(NULL);
	rig->driver.workers = workers_new(rig->driver.loop, NULL);
	rig->driver.alive = true;
	rig->driver.conditions.list[CONDITION_READY].since_unix_ms = 1;
	rig->lane = kube_lane_open(rig->driver.workers, rig->setup.kube.client, "resource");
	rig->driver.object = (struct resource_object){
		.kube = &rig->lane, .found = "found", .uid = "u1", .version = "1", .reads = 1};
	rig->driver.life.config = &rig->driver.life_config;
	CHECK(!part_sigterm.open(&rig->driver, NULL));
	CHECK(!part_resource_status.open(&rig->driver, NULL));
	CHECK(!part_ready.open(&rig->driver, NULL));
	rig->gate = (struct gate){.number = 1, .grace_left_ms = 60000};
}

static void rig_end(struct rig *rig)
{
	rig->driver.closing = true;
	rig->hangs = false;
	part_ready.close(&rig->driver);
	part_resource_status.close(&rig->driver);
	part_sigterm.close(&rig->driver);
	kube_lane_close(&rig->lane, LIMIT_MS);
	workers_free(rig->driver.workers);
	loop_free(rig->driver.loop);
}

/* As the gates do it, until it opens. */
static bool opens(struct rig *rig, const struct part *part, enum gate_type type)
{
	int64_t end_ms = clock_mono_ms() + LIMIT_MS;

	while (part->may(&rig->driver, type, &rig->gate) != GATE_PASSES) {
		if (clock_mono_ms() > end_ms)
			return false;
		loop_step(rig->driver.loop, 50, NULL);
	}
	return true;
}

static void waits_at_most(const struct rig *rig, const char *what, int64_t ms)
{
	CHECK_STR(rig->gate.waits[0].what, what);
	CHECK(rig->gate.waits[0].until_ms >= rig->now_ms);
	CHECK(rig->gate.waits[0].until_ms <= clock_mono_ms() + ms);
}

TEST(drey_exits_after_the_last_ready_condition)
{
	struct rig rig;

	rig_begin(&rig);
	CHECK_INT(part_ready.may(&rig.driver, GATE_TRIGGER, &rig.gate), ==, GATE_PASSES);
	CHECK_INT(rig.reads, ==, 0);
	CHECK_INT(part_ready.may(&rig.driver, GATE_EXIT, &rig.gate), ==, GATE_NOT_YET);
	waits_at_most(&rig, "the last Ready condition of the owner", 1000);
	CHECK(opens(&rig, &part_ready, GATE_EXIT));
	CHECK_INT(rig.reads, ==, 1);
	CHECK_INT(rig.writes, ==, 1);
	rig_end(&rig);
}

TEST(drey_exits_after_the_last_status_of_the_custom_resource)
{
	struct rig rig;

	rig_begin(&rig);
	CHECK_INT(part_resource_status.may(&rig.driver, GATE_EXIT, &rig.gate), ==, GATE_NOT_YET);
	waits_at_most(&rig, "the last status of the custom resource", 1000);
	CHECK(rig.driver.object.writing);
	CHECK(opens(&rig, &part_resource_status, GATE_EXIT));
	CHECK(!rig.driver.object.writing);
	CHECK_INT(rig.writes, ==, 1);
	rig_end(&rig);
}

TEST(an_api_server_that_hangs_delays_the_exit_by_a_second)
{
	struct rig rig;

	rig_begin(&rig);
	rig.hangs = true;
	CHECK_INT(part_ready.may(&rig.driver, GATE_EXIT, &rig.gate), ==, GATE_NOT_YET);
	CHECK(opens(&rig, &part_resource_status, GATE_EXIT));
	CHECK(clock_mono_ms() - rig.now_ms >= 900);
	/* both at the same time */
	CHECK_INT(part_ready.may(&rig.driver, GATE_EXIT, &rig.gate), ==, GATE_PASSES);
	rig_end(&rig);
}

TEST(without_an_object_there_is_no_last_status)
{
	struct rig rig;

	rig_begin(&rig);
	rig.driver.object.uid = NULL;
	CHECK_INT(part_resource_status.may(&rig.driver, GATE_EXIT, &rig.gate), ==, GATE_PASSES);
	CHECK_INT(rig.writes, ==, 0);
	rig_end(&rig);
}

static void step_until(struct rig *rig, int writes)
{
	int64_t end_ms = clock_mono_ms() + LIMIT_MS;

	part_resource_status.stepped(&rig->driver);
	while ((rig->writes < writes || rig->driver.object.writing) && clock_mono_ms() < end_ms)
		loop_step(rig->driver.loop, 50, NULL);
	CHECK_INT(rig->writes, ==, writes);
}

TEST(the_status_is_written_again_when_somebody_else_has_changed_the_object)
{
	struct rig rig;

	rig_begin(&rig);
	step_until(&rig, 1);
	part_resource_status.stepped(&rig.driver);
	CHECK(!rig.driver.object.writing);
	rig.driver.object.version = "5"; /* read again: that is what was written */
	rig.driver.object.reads++;
	part_resource_status.stepped(&rig.driver);
	CHECK(!rig.driver.object.writing);
	rig.driver.object.version = "6";
	rig.driver.object.reads++;
	step_until(&rig, 2);
	rig_end(&rig);
}

TEST(an_object_that_has_gone_is_read_again)
{
	struct rig rig;

	rig_begin(&rig);
	rig.is_gone = true;
	step_until(&rig, 1);
	CHECK_INT(rig.doubted, ==, 1);
	rig_end(&rig);
}

/* ---- SIGTERM ---- */

TEST(sigterm_waits_for_the_owner_and_drey_init_knows_at_once)
{
	struct rig rig;

	rig_begin(&rig);
	rig.replicas = 0;
	CHECK_INT(part_sigterm.may(&rig.driver, GATE_EXIT, &rig.gate), ==, GATE_PASSES);
	CHECK_INT(part_sigterm.may(&rig.driver, GATE_STOPPING, &rig.gate), ==, GATE_NOT_YET);
	CHECK_INT(rig.acknowledged, ==, 1);
	waits_at_most(&rig, "the owner of the pod", 1800);
	CHECK(opens(&rig, &part_sigterm, GATE_STOPPING));
	CHECK_INT(rig.gate.upgrade, ==, UPGRADE_YES); /* scaled to 0 */
	CHECK_INT(rig.acknowledged, ==, 1);
	rig_end(&rig);
}

TEST(an_owner_that_does_not_answer_is_not_waited_for)
{
	struct rig rig;

	rig_begin(&rig);
	rig.hangs = true;
	CHECK(opens(&rig, &part_sigterm, GATE_STOPPING));
	CHECK_INT(rig.gate.upgrade, ==, UPGRADE_UNKNOWN);
	CHECK_INT(part_sigterm.may(&rig.driver, GATE_STOPPING, &rig.gate), ==, GATE_PASSES);
	rig_end(&rig);
}
