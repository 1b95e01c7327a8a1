/*
 * Flink's HA at the gate of a launch. The driver and the API server are played by this file.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "gate_fake.h"
#include "kube/kube_lane.h"
#include "run/driver_internal.h"
#include "run/ha/ha_change.h"
#include "tap.h"

#define LIMIT_MS 20000

struct rig {
	struct driver driver; /* first: the part that is tested gets this one */
	struct setup setup;
	struct lifecycle_config config;
	struct gate gate;
	atomic_bool hangs, refuses;
	atomic_int cleaned;
	char seen_id[20]; /* the cluster id of the last request; read when the lane rests */
};

void driver_again(struct driver *driver)
{
	(void)driver; /* the test asks again */
}

int driver_take_flink_lock(struct driver *driver, struct err *err)
{
	(void)driver, (void)err;
	return 0;
}

struct kube_lane kube_lane_open(struct workers *workers, struct kube_client *client,
				const char *name)
{
	return (struct kube_lane){.lane = lane_new(workers, name), .kube = (struct kube *)client};
}

void kube_lane_stop(struct kube_lane *lane)
{
	(void)lane;
}

bool kube_lane_close(struct kube_lane *lane, int64_t wait_ms)
{
	return lane_free(lane->lane, wait_ms);
}

int ha_clean(struct kube *kube, const char *cluster_id, const struct launch *launch,
	     struct ha_unchanged *unchanged, struct ha_cluster *ret_cluster, struct err *err)
{
	struct rig *rig = (struct rig *)kube;

	(void)unchanged, (void)ret_cluster;
	snprintf(rig->seen_id, sizeof(rig->seen_id), "%s", cluster_id);
	CHECK_STR(launch->job_id, "aa01");
	rig->cleaned++;
	while (rig->hangs)
		usleep(1000);
	return rig->refuses ? err_set(err, ERR_BUSY, 0, "another Flink may live") : 0;
}

int ha_job_delete(struct kube *kube, const char *cluster_id, const struct ha_job *job,
		  struct err *err)
{
	(void)kube, (void)cluster_id, (void)job, (void)err;
	return 0;
}

void ha_release_lock(struct kube *kube, const char *cluster_id, const struct failover_watch *watch,
		     const char *launch_id, bool reaped, struct ha_release *ret)
{
	struct rig *rig = (struct rig *)kube;

	snprintf(rig->seen_id, sizeof(rig->seen_id), "%s", cluster_id);
	(void)watch, (void)launch_id, (void)reaped, (void)ret;
	while (rig->hangs)
		usleep(1000);
}

int64_t ha_unchanged_ms(struct ha_unchanged *unchanged, const struct failover_lock *lock)
{
	(void)unchanged, (void)lock;
	return 0;
}

void ha_unchanged_release(struct ha_unchanged *unchanged)
{
	(void)unchanged;
}

/* ---- */

static void rig_begin(struct rig *rig)
{
	struct journal journal;
	struct rng rng = {0};

	memset(rig, 0, sizeof(*rig));
	rig->setup.ha.on = true;
	rig->setup.ha.cluster_id = (char *)"orders";
	rig->setup.kube.client = (struct kube_client *)rig;
	rig->driver.setup = &rig->setup;
	rig->driver.loop = loop_new(NULL);
	rig->driver.workers = workers_new(rig->driver.loop, NULL);
	journal_init(&journal, "orders");
	strcpy(journal_add_launch(&journal)->job_id, "aa01");
	lifecycle_init(&rig->driver.life, &rig->config, &journal, &rng);
	CHECK(!part_ha.open(&rig->driver, NULL));
	rig->gate.number = 1;
}

static void rig_end(struct rig *rig)
{
	rig->driver.closing = true;
	rig->hangs = false;
	part_ha.close(&rig->driver);
	workers_free(rig->driver.workers);
	loop_free(rig->driver.loop);
	lifecycle_release(&rig->driver.life);
}

static enum gate_verdict ask(struct rig *rig)
{
	return part_ha.may(&rig->driver, GATE_LAUNCH, &rig->gate);
}

/* As the gates do it. */
static enum gate_verdict answer(struct rig *rig)
{
	int64_t end_ms = clock_mono_ms() + LIMIT_MS;
	enum gate_verdict verdict;

	while ((verdict = ask(rig)) == GATE_NOT_YET && clock_mono_ms() < end_ms)
		loop_step(rig->driver.loop, 50, NULL);
	return verdict;
}

TEST(every_launch_waits_until_ha_is_prepared_for_it)
{
	struct rig rig;

	rig_begin(&rig);
	CHECK_INT(part_ha.may(&rig.driver, GATE_OBSERVE, &rig.gate), ==, GATE_PASSES);
	CHECK_INT(ask(&rig), ==, GATE_NOT_YET);
	CHECK_STR(rig.gate.waits[0].what, "Flink's HA");
	CHECK_INT(answer(&rig), ==, GATE_PASSES);
	CHECK_INT(rig.cleaned, ==, 1);
	rig.gate.number = 2; /* the launch before may have been made under the same number */
	CHECK_INT(answer(&rig), ==, GATE_PASSES);
	CHECK_INT(rig.cleaned, ==, 2);
	rig_end(&rig);
}

TEST(a_launch_beside_another_flink_is_refused)
{
	struct rig rig;

	rig_begin(&rig);
	rig.refuses = true;
	CHECK_INT(answer(&rig), ==, GATE_REFUSED);
	CHECK_INT(rig.gate.cause, ==, CAUSE_HA_NOT_PREPARED);
	CHECK_STR(rig.gate.why, "another Flink may live");
	rig_end(&rig);
}

TEST(do_not_restart_counts_that_was_turned_on_meanwhile)
{
	struct rig rig;

	rig_begin(&rig);
	CHECK_INT(ask(&rig), ==, GATE_NOT_YET);
	rig.driver.life.journal.intent.do_not_restart = true;
	CHECK_INT(answer(&rig), ==, GATE_REFUSED);
	CHECK_INT(rig.gate.cause, ==, CAUSE_DO_NOT_RESTART);
	rig_end(&rig);
}

TEST(when_the_container_ends_nothing_is_waited_for)
{
	struct rig rig;

	rig_begin(&rig);
	rig.hangs = true;
	CHECK_INT(ask(&rig), ==, GATE_NOT_YET);
	rig.driver.life.terminating = true;
	CHECK_INT(ask(&rig), ==, GATE_REFUSED);
	CHECK_INT(rig.gate.cause, ==, CAUSE_HA_NOT_PREPARED);
	rig_end(&rig);
}

TEST(drey_stays_until_the_lock_of_the_dead_flink_is_released)
{
	struct event ended = {.type = EVENT_EXITED, .process.launch_id = "aa01"};
	int64_t end_ms = clock_mono_ms() + LIMIT_MS;
	struct rig rig;

	rig_begin(&rig);
	rig.setup.kube.fast_failover = true;
	rig.setup.ha.home = (char *)"10.0.0.1";
	CHECK_INT(answer(&rig), ==, GATE_PASSES);
	CHECK_INT(part_ha.may(&rig.driver, GATE_EXIT, &rig.gate), ==, GATE_PASSES);
	rig.hangs = true;
	part_ha.event(&rig.driver, &ended);
	rig.gate.wait_count = 0;
	CHECK_INT(part_ha.may(&rig.driver, GATE_EXIT, &rig.gate), ==, GATE_NOT_YET);
	CHECK_STR(rig.gate.waits[0].what, "the release of the leader lock");
	CHECK_INT(rig.gate.waits[0].until_ms - clock_mono_ms(), <=, HA_RELEASE_TIMEOUT_MS);
	rig.hangs = false;
	while (part_ha.may(&rig.driver, GATE_EXIT, &rig.gate) != GATE_PASSES &&
	       clock_mono_ms() < end_ms)
		loop_step(rig.driver.loop, 50, NULL);
	CHECK_INT(part_ha.may(&rig.driver, GATE_EXIT, &rig.gate), ==, GATE_PASSES);
	rig_end(&rig);
}

static void two_sides(struct rig *rig)
{
	rig->setup.handover = (struct setup_handover){.two_sides = true,
						      .cluster_ids = {"orders", "orders-green"}};
	rig->setup.kube.fast_failover = true;
	rig->setup.ha.home = (char *)"10.0.0.1";
}

TEST(the_side_that_is_chosen_is_prepared)
{
	struct rig rig;

	rig_begin(&rig);
	two_sides(&rig);
	CHECK_INT(answer(&rig), ==, GATE_PASSES);
	CHECK_STR(rig.seen_id, "orders");
	driver_choose_side(&rig.driver, SIDE_GREEN);
	CHECK_STR(rig.driver.life_config.ha_cluster_id, "orders-green");
	rig.gate.number = 2;
	CHECK_INT(answer(&rig), ==, GATE_PASSES);
	CHECK_STR(rig.seen_id, "orders-green");
	rig_end(&rig);
}

/* A launch stays where it was started, whatever is chosen for the next one. */
TEST(the_lock_that_is_released_is_that_of_the_dead_flinks_side)
{
	struct event ended = {.type = EVENT_EXITED, .process.launch_id = "aa01"};
	int64_t end_ms = clock_mono_ms() + LIMIT_MS;
	struct rig rig;

	rig_begin(&rig);
	two_sides(&rig);
	journal_launch(&rig.driver.life.journal)->ha_cluster_id = xstrdup("orders-green");
	CHECK_INT(answer(&rig), ==, GATE_PASSES);
	CHECK_STR(rig.seen_id, "orders-green");
	*rig.seen_id = '\0';
	driver_choose_side(&rig.driver, SIDE_BLUE);
	part_ha.event(&rig.driver, &ended);
	while (part_ha.may(&rig.driver, GATE_EXIT, &rig.gate) != GATE_PASSES &&
	       clock_mono_ms() < end_ms)
		loop_step(rig.driver.loop, 50, NULL);
	CHECK_STR(rig.seen_id, "orders-green");
	rig_end(&rig);
}

TEST(where_flink_has_no_ha_a_side_has_no_cluster_id)
{
	struct rig rig;

	rig_begin(&rig);
	rig.setup.ha.on = false;
	driver_choose_side(&rig.driver, SIDE_GREEN);
	CHECK_INT(rig.driver.side, ==, SIDE_GREEN);
	CHECK(!rig.driver.life_config.ha_cluster_id);
	rig_end(&rig);
}
