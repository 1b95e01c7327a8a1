/*
 * The effect LAUNCH: what has to hold before drey-init is asked to start Flink. The rest of the driver is
 * played by this file.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/mem.h"
#include "gate_fake.h"
#include "run/driver_internal.h"
#include "run/effects/relaunch.h"
#include "store_dir.h"

#define JOB "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa01"

struct rig {
	struct driver driver; /* first: the parts that are played get this one */
	struct setup setup;
	struct lifecycle_config config;
	char *command[3], *environment[1];
	char *dir;
	/* what the parts say */
	bool port_is_taken, link_is_lost;
	/* what was done */
	int launched, refused, fd;
	bool fd_locked;
	enum cause cause;
	char why[200];
};

static struct rig *rig_of(struct driver *driver)
{
	return (struct rig *)driver;
}

/* ---- the parts ---- */

int setup_check_port(const struct setup *setup, struct err *err)
{
	const struct rig *rig = (const void *)((const char *)setup - offsetof(struct rig, setup));

	return rig->port_is_taken ? err_set(err, ERR_BUSY, 0, "somebody listens there") : 0;
}

/* Can somebody else take the lock? */
static bool is_locked(const struct rig *rig)
{
	cleanup_free char *path = xasprintf("%s/flink.lock", rig->dir);
	int fd = open(path, O_RDWR | O_CLOEXEC);
	bool locked = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0;

	if (fd >= 0)
		close(fd);
	return locked;
}

int init_link_launch(struct init_link *link, const struct init_link_launch *launch, struct err *err)
{
	struct rig *rig = (struct rig *)link;

	CHECK_INT(launch->number, ==, 1);
	CHECK_STR(launch->job_id, JOB);
	CHECK(launch->argv[0] != NULL);
	CHECK_STR(launch->spare, "spare1");
	rig->launched++;
	rig->fd = launch->lock_fd;
	rig->fd_locked = is_locked(rig);
	return rig->link_is_lost ? err_set(err, ERR_SYS, 0, "drey-init is gone") : 0;
}

bool driver_relaunch(struct driver *driver, struct flink_exec *exec)
{
	(void)driver, (void)exec;
	return false;
}

const char *driver_relaunch_made_of(const struct driver *driver, bool direct)
{
	(void)driver, (void)direct;
	return NULL;
}

void driver_relaunch_begins(struct driver *driver, bool direct)
{
	(void)direct;
	CHECK(driver->flink_is_ours);
}

void driver_refuse(struct driver *driver, enum effect_type effect, enum cause cause,
		   const char *why)
{
	struct rig *rig = rig_of(driver);

	CHECK_INT(effect, ==, EFFECT_LAUNCH);
	rig->refused++;
	rig->cause = cause;
	snprintf(rig->why, sizeof(rig->why), "%s", why);
}

void driver_spare_offer(struct driver *driver, const char *fingerprint,
			struct init_link_launch *launch)
{
	(void)driver, (void)fingerprint;
	launch->spare = "spare1";
	launch->spare_argc = 2;
}

int init_link_signal(struct init_link *link, const char *launch_id, int signo, bool group,
		     struct err *err)
{
	(void)link, (void)launch_id, (void)signo, (void)group, (void)err;
	return 0;
}

void driver_step(struct driver *driver, const struct event *event)
{
	(void)driver;
	(void)event;
}

int init_link_lease(struct init_link *link, int64_t until_ms, struct err *err)
{
	(void)link, (void)until_ms, (void)err;
	return 0;
}

int init_link_stop_ack(struct init_link *link, struct err *err)
{
	(void)link, (void)err;
	return 0;
}

int init_link_exit(struct init_link *link, int status, struct err *err)
{
	(void)link, (void)status, (void)err;
	return 0;
}

void driver_stop(struct driver *driver, int status)
{
	(void)driver, (void)status;
}

/* ---- */

static void rig_begin(struct rig *rig)
{
	struct journal journal;
	struct launch *launch;
	struct rng rng;

	*rig = (struct rig){.dir = dir_new(),
			    .command = {"java", "org.apache.flink.container.entrypoint."
						"StandaloneApplicationClusterEntryPoint"},
			    .fd = -1};
	rig->setup.config.state_directory = rig->dir;
	rig->setup.config.flink.command = rig->command;
	rig->setup.config.flink.class_archive = "none";
	rig->setup.environment = rig->environment;
	rig->setup.version = (struct flink_version){1, 20, 4};
	rig->driver.setup = &rig->setup;
	rig->driver.link = (struct init_link *)rig;
	rig->driver.flink_lock_fd = -1;
	rig->driver.loop = loop_new(NULL);
	journal_init(&journal, "orders");
	launch = journal_add_launch(&journal);
	strcpy(launch->job_id, JOB);
	rng_seed(&rng, 7);
	lifecycle_init(&rig->driver.life, &rig->config, &journal, &rng);
}

static void rig_end(struct rig *rig)
{
	lifecycle_release(&rig->driver.life);
	loop_free(rig->driver.loop);
	dir_removep(&rig->dir);
}

static void launch(struct rig *rig)
{
	const struct effect effect = {.type = EFFECT_LAUNCH};

	part_launch.execute(&rig->driver, &effect);
}

static void is_refused(struct rig *rig, enum cause cause, const char *why)
{
	CHECK_INT(rig->refused, ==, 1);
	CHECK_INT(rig->cause, ==, cause);
	CHECK_HAS(rig->why, why);
	CHECK_INT(rig->driver.flink_lock_fd, ==, -1);
	CHECK(!is_locked(rig));
}

#define RIG_TEST(name) TEST_WITH(name, struct rig, rig, rig_begin, rig_end)

RIG_TEST(the_lock_goes_to_flink_and_is_not_kept)
{
	launch(rig);
	CHECK_INT(rig->launched, ==, 1);
	CHECK_INT(rig->fd, >=, 0);
	CHECK(rig->fd_locked);
	CHECK_INT(rig->driver.flink_lock_fd, ==, -1);
	CHECK(!is_locked(rig)); /* nobody has taken it over here */
}

RIG_TEST(without_the_lock_nothing_is_launched)
{
	cleanup_free char *path = NULL;
	int fd;

	path = xasprintf("%s/flink.lock", rig->dir);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	CHECK(!flock(fd, LOCK_SH)); /* in whatever way */
	launch(rig);
	CHECK_INT(rig->launched, ==, 0);
	close(fd);
	is_refused(rig, CAUSE_NONE, "is still running");
}

RIG_TEST(a_drey_that_was_fenced_meanwhile_launches_nothing)
{
	rig->driver.life.fenced = true;
	launch(rig);
	CHECK_INT(rig->launched, ==, 0);
	is_refused(rig, CAUSE_JOURNAL_TAKEN, "another drey has the journal");
}

/* A drey-init that cannot end Flink by itself must not start one under a lease. */
RIG_TEST(a_lease_needs_a_drey_init_that_keeps_it)
{
	rig->setup.life.lease_ms = 15000;
	launch(rig);
	CHECK_INT(rig->launched, ==, 0);
	is_refused(rig, CAUSE_JOURNAL_UNREADABLE, "too old");
	rig->driver.init_takes_lease = true;
	launch(rig);
	CHECK_INT(rig->launched, ==, 1);
}

TEST(a_port_that_is_taken_and_a_drey_init_that_is_gone_are_told)
{
	struct rig rig;

	rig_begin(&rig);
	rig.port_is_taken = true;
	launch(&rig);
	CHECK_INT(rig.launched, ==, 0);
	is_refused(&rig, CAUSE_NONE, "somebody listens there");
	rig_end(&rig);

	rig_begin(&rig);
	rig.link_is_lost = true;
	launch(&rig);
	is_refused(&rig, CAUSE_NONE, "drey-init is gone");
	rig_end(&rig);
}

/* While another Flink lives, nothing is looked at; and the lock that was taken then stays until the
 * launch. */
RIG_TEST(the_lock_is_a_gate_of_every_observation)
{
	cleanup_free char *path = NULL;
	struct gate gate = {.number = 1};
	int fd;

	path = xasprintf("%s/flink.lock", rig->dir);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	CHECK(!flock(fd, LOCK_EX));
	CHECK_INT(part_flink_lock.may(&rig->driver, GATE_OBSERVE, &gate), ==, GATE_REFUSED);
	CHECK_INT(gate.cause, ==, CAUSE_FLINK_STILL_RUNS);
	CHECK_HAS(gate.why, "is still running");
	CHECK_INT(part_flink_lock.may(&rig->driver, GATE_EXIT, &gate), ==, GATE_PASSES);
	close(fd);
	CHECK_INT(part_flink_lock.may(&rig->driver, GATE_OBSERVE, &gate), ==, GATE_PASSES);
	CHECK(is_locked(rig));
	CHECK_INT(part_flink_lock.may(&rig->driver, GATE_OBSERVE, &gate), ==, GATE_PASSES);
	part_flink_lock.close(&rig->driver);
	CHECK(!is_locked(rig));
}
