/*
 * A candidate's Flink, whose main() is held: what has to hold before it is started, and what a look at it shows.
 * The API server, drey-init, Flink and the machine are played by this file.
 */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/mem.h"
#include "flink/held.h"
#include "run/effects/launch_build.h"
#include "run/effects/leavings.h"
#include "run/handover/check_run.h"
#include "run/handover/standing_internal.h"
#include "store_dir.h"
#include "tap.h"

#define JOB      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa01"
#define OLDER    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa00"
#define LAUNCH   "cccccccccccccccccccccccccccccc01"
#define APP      "dddddddddddddddddddddddddddddd01"
#define LIMIT_MS 20000

struct rig {
	struct driver driver; /* first: what is played gets this one */
	struct setup setup;
	struct standing standing;
	char calls[256];   /* of the lane, then of the loop */
	atomic_int cleans; /* on the lane */
	int released;      /* what a clean map has returned */
	/* what is in the way */
	enum err_kind clean, port, lock, lease, build, link;
	bool launched, sent_lock; /* with the launch */
	/* Flink */
	bool no_slots, no_managers;
	const char *const *managers;
	/* the check */
	bool fits;
	int events;
	struct standby_event last;
	char last_id[JOB_ID_BYTES], last_why[256];
};

static struct rig *the_rig; /* for what is played without a driver */

static int step_of(const char *name, enum err_kind fails, struct err *err)
{
	size_t used = strlen(the_rig->calls);

	snprintf(the_rig->calls + used, sizeof(the_rig->calls) - used, "%s%s", used ? " " : "",
		 name);
	return fails ? err_set(err, fails, 0, "the %s is in the way", name) : 0;
}

int ha_clean(struct kube *kube, const char *cluster_id, const struct launch *launch,
	     struct ha_unchanged *unchanged, struct ha_cluster *ret_cluster, struct err *err)
{
	int result;

	(void)kube, (void)unchanged, (void)ret_cluster;
	CHECK_STR(cluster_id, "green-id");
	CHECK_STR(launch->job_id, JOB);
	CHECK_STR(launch->ha_cluster_id, "green-id");
	result = step_of("map", the_rig->clean, err);
	the_rig->cleans++;
	return result;
}

void ha_unchanged_release(struct ha_unchanged *unchanged)
{
	(void)unchanged;
}

void ha_cluster_release(struct ha_cluster *cluster)
{
	(void)cluster;
	the_rig->released++;
}

const char *setup_cluster_id(const struct setup *setup, enum side side)
{
	(void)setup;
	return side == SIDE_GREEN ? "green-id" : "blue-id";
}

int setup_check_port(const struct setup *setup, struct err *err)
{
	(void)setup;
	return step_of("port", the_rig->port, err);
}

int driver_take_flink_lock(struct driver *driver, struct err *err)
{
	struct rig *rig = (struct rig *)driver;
	int result = step_of("lock", rig->lock, err);

	if (result == 0)
		driver->flink_lock_fd =
			open(rig->setup.config.state_directory, O_RDONLY | O_CLOEXEC);
	return result;
}

int init_link_lease(struct init_link *link, int64_t until_ms, struct err *err)
{
	(void)link;
	CHECK_INT(until_ms, ==, 0);
	return step_of("lease", the_rig->lease, err);
}

int launch_build(const struct setup *setup, const struct launch *launch,
		 struct flink_exec *ret_exec, struct launch_jvm *ret_jvm, struct err *err)
{
	(void)setup, (void)ret_exec, (void)ret_jvm;
	CHECK(launch->held);
	CHECK_STR(launch->job_id, JOB);
	CHECK_STR(launch->launch_id, LAUNCH);
	CHECK_STR(launch->application_id, APP);
	CHECK_INT(launch->output_side, ==, SIDE_GREEN);
	CHECK(!launch->restore_path); /* which the word to go names */
	return step_of("line", the_rig->build, err);
}

void launch_jvm_release(struct launch_jvm *jvm)
{
	(void)jvm;
}

void driver_leavings_make(struct driver *driver, const struct launch *launch)
{
	(void)driver, (void)launch;
	step_of("dirs", ERR_NONE, NULL);
}

void driver_ha_hold(struct driver *driver, const struct launch *launch,
		    const struct failover_lock *lock)
{
	(void)driver, (void)lock;
	CHECK_STR(launch->job_id, JOB);
	step_of("hold", ERR_NONE, NULL);
}

int init_link_launch(struct init_link *link, const struct init_link_launch *launch, struct err *err)
{
	(void)link;
	the_rig->launched = true;
	the_rig->sent_lock = launch->lock_fd >= 0 && fcntl(launch->lock_fd, F_GETFD) >= 0;
	CHECK_STR(launch->job_id, JOB);
	return step_of("launch", the_rig->link, err);
}

enum flink_answer flink_rest_slots(const struct flink_rest *rest, int64_t timeout_ms,
				   struct flink_slots *ret_slots, struct err *err)
{
	(void)rest, (void)timeout_ms, (void)err;
	ret_slots->available = 4;
	return the_rig->no_slots ? FLINK_ERROR : FLINK_OK;
}

enum flink_answer flink_rest_task_managers(const struct flink_rest *rest, int64_t timeout_ms,
					   struct flink_task_managers *ret_managers,
					   struct err *err)
{
	(void)rest, (void)timeout_ms, (void)err;
	if (the_rig->no_managers)
		return FLINK_ERROR;
	ret_managers->ids = (char **)(uintptr_t)the_rig->managers;
	while (the_rig->managers[ret_managers->count])
		ret_managers->count++;
	return FLINK_OK;
}

void flink_task_managers_release(struct flink_task_managers *managers)
{
	(void)managers;
}

void check_run(const char *config_file, int64_t timeout_ms, struct check_result *ret_result)
{
	CHECK_STR(config_file, "/etc/drey.yaml");
	CHECK_INT(timeout_ms, >, 0);
	ret_result->ok = the_rig->fits;
	ret_result->why = the_rig->fits ? NULL : xstrdup("it does not fit");
}

void check_result_release(struct check_result *result)
{
	free(result->why);
}

static void heard(struct standing *standing, const struct standby_event *event)
{
	struct rig *rig = (struct rig *)standing->driver;

	rig->events++;
	rig->last = *event;
	if (event->type == STANDBY_FAILED) {
		snprintf(rig->last_id, sizeof(rig->last_id), "%s", event->process.launch_id);
		snprintf(rig->last_why, sizeof(rig->last_why), "%s", event->process.why);
	} else if (event->type == STANDBY_CHECKED) {
		snprintf(rig->last_why, sizeof(rig->last_why), "%s: %s", event->checked.decision,
			 event->checked.why ? event->checked.why : "");
	}
}

/* ---- the world ---- */

static void rig_begin(struct rig *rig)
{
	struct standby *standby = &rig->standing.standby;

	memset(rig, 0, sizeof(*rig));
	the_rig = rig;
	rig->setup.config.state_directory = dir_new();
	rig->setup.config_file = (char *)"/etc/drey.yaml";
	rig->setup.config.generation = (char *)"g2";
	rig->driver.setup = &rig->setup;
	rig->driver.flink_lock_fd = -1;
	rig->driver.loop = loop_new(NULL);
	rig->driver.workers = workers_new(rig->driver.loop, NULL);
	rig->driver.flink_lane = lane_new(rig->driver.workers, "flink");
	rig->driver.store_lane = lane_new(rig->driver.workers, "store");
	rig->standing.driver = &rig->driver;
	rig->standing.step = heard;
	rig->standing.kube.lane = lane_new(rig->driver.workers, "kube");
	rig->standing.hello.flags = LINK_TAKES_LEASE;
	standby->flink = STANDBY_FLINK_ASKED;
	memcpy(standby->job_id, JOB, sizeof(JOB));
	memcpy(standby->handover.launch_id, LAUNCH, sizeof(LAUNCH));
	memcpy(standby->handover.application_id, APP, sizeof(APP));
	standby->handover.transition.output_side = SIDE_GREEN;
	standby->verdict.side = SIDE_GREEN;
}

static void rig_end(struct rig *rig)
{
	lane_free(rig->driver.flink_lane, 1000);
	lane_free(rig->driver.store_lane, 1000);
	lane_free(rig->standing.kube.lane, 1000);
	workers_free(rig->driver.workers);
	loop_free(rig->driver.loop);
	dir_removep(&rig->setup.config.state_directory);
}

#define RIG_TEST(name) TEST_WITH(name, struct rig, rig, rig_begin, rig_end)

/* Until it is over: drey-init was asked, or the machine has heard why not. */
static void launches(struct rig *rig)
{
	int64_t end_ms = clock_mono_ms() + LIMIT_MS;

	rig->events = rig->released = 0;
	rig->launched = false;
	rig->calls[0] = '\0';
	standing_launch(&rig->standing);
	while (!rig->events && !rig->launched && clock_mono_ms() < end_ms)
		loop_step(rig->driver.loop, 50, NULL);
	CHECK_INT(rig->driver.flink_lock_fd, ==, -1); /* drey-init and Flink keep theirs */
}

/* ---- the launch ---- */

RIG_TEST(a_held_flink_is_started_when_all_is_out_of_the_way)
{
	launches(rig);
	CHECK_STR(rig->calls, "map hold lock port lease line dirs launch");
	CHECK_INT(rig->events, ==, 0);
	CHECK(rig->sent_lock);
}

/* A drey-init without leases is sent none. */
RIG_TEST(a_drey_init_that_knows_no_lease_is_told_of_none)
{
	rig->standing.hello.flags = 0;
	launches(rig);
	CHECK_STR(rig->calls, "map hold lock port line dirs launch");
}

RIG_TEST(what_is_in_the_way_is_a_failed_start)
{
	static const struct {
		enum err_kind clean, lock, port, lease, build, link;
		const char *calls, *why;
		bool waits; /* it may not be started yet; no failed attempt */
	} cases[] = {
		{.clean = ERR_BUSY, .calls = "map", .why = "the map", .waits = true},
		{.clean = ERR_RETRY, .calls = "map", .why = "the map"},
		{.clean = ERR_DENIED, .calls = "map", .why = "the map"},
		{.lock = ERR_BUSY, .calls = "map hold lock", .why = "the lock"},
		{.port = ERR_BUSY, .calls = "map hold lock port", .why = "the port"},
		{.lease = ERR_SYS, .calls = "map hold lock port lease", .why = "the lease"},
		{.build = ERR_CONFIG, .calls = "map hold lock port lease line", .why = "the line"},
		{.link = ERR_SYS,
		 .calls = "map hold lock port lease line dirs launch",
		 .why = "the launch"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		rig->clean = cases[i].clean;
		rig->lock = cases[i].lock;
		rig->port = cases[i].port;
		rig->lease = cases[i].lease;
		rig->build = cases[i].build;
		rig->link = cases[i].link;
		launches(rig);
		CHECK_STR(rig->calls, cases[i].calls);
		CHECK_INT(rig->events, ==, 1);
		CHECK_INT(rig->last.type, ==, STANDBY_FAILED);
		CHECK_STR(rig->last_id, JOB);
		CHECK_HAS(rig->last_why, cases[i].why);
		CHECK_INT(rig->last.process.waits, ==, cases[i].waits);
		/* however far it came */
		CHECK_INT(rig->released, ==, cases[i].clean == ERR_NONE);
	}
}

/* It was decided otherwise while the API server was asked. */
RIG_TEST(a_start_that_is_not_wanted_any_more_does_not_happen)
{
	static const enum standby_flink others[] = {STANDBY_FLINK_NONE, STANDBY_FLINK_ENDING,
						    STANDBY_FLINK_STARTED};

	for (size_t i = 0; i < ARRAY_LEN(others); i++) {
		rig->standing.standby.flink = others[i];
		launches(rig);
		CHECK_STR(rig->calls, "map");
		CHECK_INT(rig->last.type, ==, STANDBY_FAILED);
		CHECK_STR(rig->last_why, "it is not wanted any more");
	}
	/* the journal is ours by now: the life cycle starts what has to be */
	rig->standing.standby.flink = STANDBY_FLINK_ASKED;
	rig->standing.over = true;
	rig->events = rig->cleans = 0;
	rig->calls[0] = '\0';
	standing_launch(&rig->standing);
	for (int i = 0; i < 2000 && !rig->cleans; i++)
		usleep(10000);
	CHECK(lane_free(rig->standing.kube.lane, 5000));
	rig->standing.kube.lane = NULL;
	CHECK_STR(rig->calls, "map");
	CHECK_INT(rig->events, ==, 0);
}

static bool is_there(const char *path)
{
	return access(path, F_OK) == 0;
}

/* The word to go of another launch would let go what waits here. */
RIG_TEST(nothing_is_left_of_a_flink_that_was_held_before)
{
	cleanup_free char *older = held_file(rig->setup.config.state_directory, OLDER);
	cleanup_free char *file = held_file(rig->setup.config.state_directory, JOB);
	cleanup_free char *waits = xasprintf("%s.held", file);

	CHECK_INT(held_begin(older, NULL), ==, 0);
	CHECK_INT(fs_write_atomic(older, "{}", 2, 0644, NULL), ==, 0);
	CHECK_INT(fs_write_atomic(waits, "{}", 2, 0644, NULL), ==, 0);
	launches(rig);
	CHECK(!is_there(older));
	CHECK(!is_there(waits));
}

/* ---- a look at it ---- */

static void looks(struct rig *rig)
{
	int64_t end_ms = clock_mono_ms() + LIMIT_MS;

	rig->events = 0;
	standing_warm(&rig->standing);
	while (!rig->events && clock_mono_ms() < end_ms)
		loop_step(rig->driver.loop, 50, NULL);
	CHECK_INT(rig->last.type, ==, STANDBY_WARM);
}

RIG_TEST(task_managers_of_another_generation_are_strangers)
{
	static const struct {
		const char *generation, *managers[4];
		int count, strangers;
	} cases[] = {
		{"g2", {NULL}, 0, 0},
		{"g2", {"g2-a", "g2-b"}, 2, 0},
		{"g2", {"g2-a", "g1-b", "g22-c"}, 3, 2},
		{"g2", {"g2", "orders-tm-1"}, 2, 2},
		{NULL, {"-a", "g2-a"}, 2, 1},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		rig->setup.config.generation = (char *)(uintptr_t)cases[i].generation;
		rig->managers = cases[i].managers;
		looks(rig);
		CHECK(rig->last.warm.known);
		CHECK_INT(rig->last.warm.task_managers, ==, cases[i].count);
		CHECK_INT(rig->last.warm.strangers, ==, cases[i].strangers);
		CHECK_INT(rig->last.warm.slots_free, ==, 4);
	}
}

RIG_TEST(a_flink_that_does_not_answer_shows_nothing)
{
	static const char *const two[] = {"g2-a", "g2-b", NULL};

	rig->managers = two;
	rig->no_slots = true;
	looks(rig);
	CHECK(!rig->last.warm.known && !rig->last.warm.task_managers);
	rig->no_slots = false;
	rig->no_managers = true;
	looks(rig);
	CHECK(!rig->last.warm.known && !rig->last.warm.slots_free);
}

RIG_TEST(main_is_held_when_it_says_so_itself)
{
	static const char *const none[] = {NULL};
	static const char text[] =
		"{\"schema\":1,\"class\":\"shop.Orders\",\"heldUnixMs\":5,\"pid\":7}";
	cleanup_free char *file = held_file(rig->setup.config.state_directory, JOB);
	cleanup_free char *waits = xasprintf("%s.held", file);

	rig->managers = none;
	CHECK_INT(held_begin(file, NULL), ==, 0);
	looks(rig);
	CHECK(!rig->last.warm.held && rig->last.warm.known);
	CHECK_INT(fs_write_atomic(waits, "{", 1, 0644, NULL), ==, 0);
	looks(rig);
	CHECK(!rig->last.warm.held);
	CHECK_INT(fs_write_atomic(waits, text, strlen(text), 0644, NULL), ==, 0);
	looks(rig);
	CHECK(rig->last.warm.held && !rig->last.warm.went);
	CHECK_INT(held_go(file, &(struct held_go){.go = true, .path = "file:/seed"}, NULL), ==, 0);
	looks(rig);
	CHECK(rig->last.warm.held && rig->last.warm.went);
}

/* ---- the check ---- */

RIG_TEST(the_answer_of_the_check_is_told_in_its_own_words)
{
	for (int fits = 0; fits < 2; fits++) {
		int64_t end_ms = clock_mono_ms() + LIMIT_MS;

		rig->fits = fits;
		rig->events = 0;
		standing_check(&rig->standing);
		while (!rig->events && clock_mono_ms() < end_ms)
			loop_step(rig->driver.loop, 50, NULL);
		CHECK_INT(rig->last.type, ==, STANDBY_CHECKED);
		CHECK_INT(rig->last.checked.ok, ==, fits);
		CHECK_STR(rig->last_why, fits ? "fits: " : "refused: it does not fit");
	}
}
