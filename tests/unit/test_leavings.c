/* Each launch has its own directory for temporary files, and those of dead launches go with the next one. */
#include "run/effects/leavings.h"

#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/mem.h"
#include "run/driver_internal.h"
#include "store_dir.h"
#include "tap.h"

#define FIRST "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa01"
#define LAST  "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb02"

struct rig {
	struct driver driver;
	struct setup setup;
	struct lifecycle_config config;
	char *command[3], *environment[1];
	char *dir, *tmp;
	struct launch *launch; /* the last one */
};

static void add_launch(struct rig *rig, const char *job_id)
{
	rig->launch = journal_add_launch(&rig->driver.life.journal);
	strcpy(rig->launch->job_id, job_id);
}

static void take_lock(struct rig *rig)
{
	cleanup_free char *path = xasprintf("%s/flink.lock", rig->dir);

	rig->driver.flink_lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	CHECK(!flock(rig->driver.flink_lock_fd, LOCK_EX | LOCK_NB));
}

static void release_lock(struct rig *rig)
{
	if (rig->driver.flink_lock_fd >= 0)
		close(rig->driver.flink_lock_fd);
	rig->driver.flink_lock_fd = -1;
}

static void rig_begin(struct rig *rig)
{
	struct journal journal;
	struct rng rng;

	*rig = (struct rig){.dir = dir_new(),
			    .command = {"java", "org.apache.flink.container.entrypoint."
						"StandaloneApplicationClusterEntryPoint"}};
	rig->tmp = xasprintf("%s/tmp", rig->dir);
	CHECK(!mkdir(rig->tmp, 0700));
	rig->setup.config.state_directory = rig->dir;
	rig->setup.config.flink.command = rig->command;
	rig->setup.environment = rig->environment;
	rig->setup.flink_conf.file = xstrdup("/conf/config.yaml");
	flink_conf_set(&rig->setup.flink_conf, "io.tmp.dirs", rig->tmp);
	rig->driver.setup = &rig->setup;
	rig->driver.flink_lock_fd = -1;
	rig->driver.loop = loop_new(NULL);
	rig->driver.workers = workers_new(rig->driver.loop, NULL);
	rng_seed(&rng, 7);
	journal_init(&journal, "orders");
	lifecycle_init(&rig->driver.life, &rig->config, &journal, &rng);
	CHECK(!part_leavings.open(&rig->driver, NULL));
	add_launch(rig, FIRST);
}

static void rig_end(struct rig *rig)
{
	part_leavings.close(&rig->driver);
	release_lock(rig);
	workers_free(rig->driver.workers);
	loop_free(rig->driver.loop);
	lifecycle_release(&rig->driver.life);
	flink_conf_release(&rig->setup.flink_conf);
	free(rig->tmp);
	dir_removep(&rig->dir);
}

static bool there(const struct rig *rig, const char *name)
{
	cleanup_free char *path = xasprintf("%s/%s", rig->tmp, name);

	return access(path, F_OK) == 0;
}

/* The lane works on its own thread. */
static bool goes(const struct rig *rig, const char *name)
{
	for (int i = 0; i < 1000 && there(rig, name); i++)
		usleep(10000);
	return !there(rig, name);
}

static void begin_launch(struct rig *rig)
{
	take_lock(rig);
	driver_leavings_make(&rig->driver, rig->launch);
	driver_leavings_remove(&rig->driver, rig->launch);
	release_lock(rig);
}

#define RIG_TEST(name) TEST_WITH(name, struct rig, rig, rig_begin, rig_end)

RIG_TEST(a_launch_gets_its_directory_and_the_next_one_removes_it)
{
	cleanup_free char *dirs = NULL, *expected = NULL;

	CHECK(leavings_tmp_dirs(&rig->setup, rig->launch) == NULL);
	begin_launch(rig);
	dirs = leavings_tmp_dirs(&rig->setup, rig->launch);
	expected = xasprintf("%s/drey-" FIRST "-1", rig->tmp);
	CHECK_STR(dirs, expected);
	add_launch(rig, LAST);
	begin_launch(rig);
	CHECK(goes(rig, "drey-" FIRST "-1"));
	part_leavings.close(&rig->driver); /* waits for what runs */
	CHECK(there(rig, "drey-" LAST "-2"));
}

/* Flink's high availability continues a job under its id. */
RIG_TEST(the_same_job_id_has_another_directory_in_the_next_launch)
{
	begin_launch(rig);
	add_launch(rig, FIRST);
	begin_launch(rig);
	CHECK(goes(rig, "drey-" FIRST "-1"));
	part_leavings.close(&rig->driver); /* waits for what runs */
	CHECK(there(rig, "drey-" FIRST "-2"));
}

RIG_TEST(without_the_lock_nothing_is_made_or_removed)
{
	begin_launch(rig);
	add_launch(rig, LAST);
	driver_leavings_make(&rig->driver, rig->launch);
	driver_leavings_remove(&rig->driver, rig->launch);
	part_leavings.close(&rig->driver); /* waits for what runs */
	CHECK(there(rig, "drey-" FIRST "-1"));
	CHECK(!there(rig, "drey-" LAST "-2"));
}

RIG_TEST(what_was_made_under_another_lock_stays)
{
	cleanup_free char *lock = xasprintf("%s/flink.lock", rig->dir);
	cleanup_free char *old = xasprintf("%s/old.lock", rig->dir);

	begin_launch(rig);
	CHECK(!rename(lock, old)); /* as if this journal had come into another state directory */
	add_launch(rig, LAST);
	begin_launch(rig);
	add_launch(rig, LAST);
	begin_launch(rig);
	CHECK(goes(rig, "drey-" LAST "-2"));
	CHECK(there(rig, "drey-" FIRST "-1"));
}

RIG_TEST(a_directory_that_cannot_be_made_delays_nothing)
{
	CHECK(!rmdir(rig->tmp));
	begin_launch(rig);
	CHECK(leavings_tmp_dirs(&rig->setup, rig->launch) == NULL);
}
