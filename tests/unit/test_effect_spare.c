/*
 * The part that asks drey-init for a spare JVM, and offers it to the next launch. drey-init, the memory of the
 * container and the JVM that runs are played by this file.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/cgroup.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/mem.h"
#include "flink/jvm_line.h"
#include "gate_fake.h"
#include "run/driver_internal.h"
#include "run/effects/spare_line.h"
#include "store_dir.h"

#define MIB (INT64_C(1) << 20)

static char *line_argv[] = {"/jdk/bin/java",
			    "-Xmx1g",
			    "-classpath",
			    "/opt/flink/lib/*",
			    "org.apache.flink.StandaloneApplicationClusterEntryPoint",
			    "--configDir",
			    "/opt/flink/conf",
			    NULL};
static char *line_env[] = {"PATH=/bin", "SECRET=xyz", NULL};

struct rig {
	struct driver driver; /* first: the link that is played gets this one */
	struct setup setup;
	struct lifecycle_config config;
	struct jvm_line line;
	char *dir, *jar;
	int64_t headroom_bytes;
	bool link_is_lost;
	/* what drey-init was asked */
	int asked, ended;
	char id[40], class_path[200], class[40], entry[80];
	bool lock_is_free;
	struct init_link_launch launch;
};

/* What the memory of this rig is; there is one rig at a time. */
static const struct rig *current;

int64_t cgroup_headroom_bytes(const char *root)
{
	CHECK(!root);
	return current->headroom_bytes;
}

int init_link_spare(struct init_link *link, const struct init_link_launch *spare, int64_t until_ms,
		    struct err *err)
{
	struct rig *rig = (struct rig *)link;

	(void)until_ms;
	rig->asked++;
	snprintf(rig->id, sizeof(rig->id), "%s", spare->job_id);
	CHECK_STR(spare->argv[0], line_argv[0]);
	snprintf(rig->class_path, sizeof(rig->class_path), "%s", spare->argv[3]);
	snprintf(rig->class, sizeof(rig->class), "%s", spare->argv[4]);
	snprintf(rig->entry, sizeof(rig->entry), "%s", spare->argv[5]);
	CHECK_STR(spare->argv[6], "/opt/flink/conf");
	CHECK(!spare->argv[7]);
	CHECK_STR(spare->env[1], "SECRET=xyz");
	/* nobody has locked it, and it is a description of its own */
	rig->lock_is_free = flock(spare->lock_fd, LOCK_EX | LOCK_NB) == 0;
	return rig->link_is_lost ? err_set(err, ERR_SYS, 0, "drey-init is gone") : 0;
}

int init_link_spare_end(struct init_link *link, const char *id, struct err *err)
{
	struct rig *rig = (struct rig *)link;

	(void)err;
	CHECK_STR(id, rig->id);
	rig->ended++;
	return 0;
}

/* ---- */

static void rig_begin(struct rig *rig)
{
	struct journal journal;
	struct launch *launch;
	struct rng rng;

	*rig = (struct rig){.dir = dir_new(), .headroom_bytes = 1000 * MIB};
	current = rig;
	rig->jar = xasprintf("%s/spare.jar", rig->dir);
	CHECK(fs_write_atomic(rig->jar, "", 0, 0600, NULL) == 0);
	rig->setup.config.state_directory = rig->dir;
	rig->setup.config.flink.spare = rig->jar;
	rig->line = (struct jvm_line){.argv = line_argv,
				      .argc = 7,
				      .entry = 4,
				      .env = line_env,
				      .envc = 2,
				      .class_path = line_argv[3],
				      .config_dir = line_argv[6]};
	rig->driver.setup = &rig->setup;
	rig->driver.link = (struct init_link *)rig;
	rig->driver.flink_lock_fd = -1;
	rig->driver.alive = rig->driver.init_takes_spare = true;
	rig->driver.jvm = (struct jvm_seen){true, &rig->line, "f1"};
	journal_init(&journal, "orders");
	launch = journal_add_launch(&journal);
	strcpy(launch->job_id, "aa01");
	launch->proven_unix_ms = 1;
	rng_seed(&rng, 7);
	lifecycle_init(&rig->driver.life, &rig->config, &journal, &rng);
	rig->driver.life.phase = PHASE_RUNNING;
	rig->driver.life.launch_step = LAUNCH_LIVE;
	rig->driver.life.seen.job_present = true;
	rig->driver.life.seen.state = JOB_RUNNING;
	CHECK(part_spare.open(&rig->driver, NULL) == 0);
}

static void rig_end(struct rig *rig)
{
	part_spare.close(&rig->driver);
	lifecycle_release(&rig->driver.life);
	free(rig->jar);
	dir_removep(&rig->dir);
}

#define RIG_TEST(name) TEST_WITH(name, struct rig, rig, rig_begin, rig_end)

static void step(struct rig *rig)
{
	part_spare.stepped(&rig->driver);
}

static bool heard(struct rig *rig, enum link_type type, uint32_t flags, int sys_errno)
{
	struct link_msg msg = {.type = (uint16_t)type, .flags = flags, .sys_errno = sys_errno};

	snprintf(msg.launch_id, sizeof(msg.launch_id), "%s", rig->id);
	return driver_spare_heard(&rig->driver, &msg);
}

static void make_ready(struct rig *rig)
{
	step(rig);
	CHECK(heard(rig, LINK_SPARE_READY, 0, 0));
}

/* The words and the environment of a launch by the line of the JVM, with its own behind. */
static bool enters(struct rig *rig, const char *fingerprint, char *const *env)
{
	static char *argv[] = {"/jdk/bin/java",
			       "-Xmx1g",
			       "-classpath",
			       "/opt/flink/lib/*",
			       "org.apache.flink.StandaloneApplicationClusterEntryPoint",
			       "--configDir",
			       "/opt/flink/conf",
			       "--job-id",
			       "aa02",
			       NULL};

	rig->launch = (struct init_link_launch){.job_id = "aa02", .argv = argv, .env = env};
	driver_spare_offer(&rig->driver, fingerprint, &rig->launch);
	return rig->launch.spare;
}

static const char *status_of(const struct rig *rig, const char *part, const char *member)
{
	static char text[200];
	cleanup_json struct json *document = json_object();
	const struct json *spare;

	part_spare.status(&rig->driver, document);
	spare = json_get(document, "spare");
	if (part)
		spare = json_get(spare, part);
	snprintf(text, sizeof(text), "%s", json_str(spare, member) ? json_str(spare, member) : "-");
	return text;
}

RIG_TEST(a_proven_job_gets_a_spare_of_the_line_of_its_jvm)
{
	cleanup_free char *class_path = xasprintf("/opt/flink/lib/*:%s", rig->jar);

	step(rig);
	CHECK_INT(rig->asked, ==, 1);
	CHECK_STR(rig->class_path, class_path);
	CHECK_STR(rig->class, "drey.spare.Spare");
	CHECK_STR(rig->entry, line_argv[4]);
	CHECK(rig->lock_is_free);
	CHECK_STR(status_of(rig, NULL, "state"), "warming");
	step(rig);
	CHECK_INT(rig->asked, ==, 1);
	CHECK(heard(rig, LINK_SPARE_READY, 0, 0));
	CHECK_STR(status_of(rig, NULL, "state"), "ready");
	CHECK(rig->driver.metrics.spare_ready);
	CHECK_INT(rig->driver.metrics.spares, ==, 1);
}

RIG_TEST(a_launch_of_the_same_enters_it)
{
	make_ready(rig);
	CHECK(enters(rig, "f1", line_env));
	CHECK_STR(rig->launch.spare, rig->id);
	CHECK_INT(rig->launch.spare_argc, ==, 5);
	CHECK(!rig->driver.metrics.spare_ready);
	CHECK(!heard(rig, LINK_STARTED, LINK_FROM_SPARE, 0)); /* others need it as well */
	CHECK_INT(rig->driver.metrics.spare_launches, ==, 1);
	CHECK_STR(status_of(rig, NULL, "state"), "none");
	step(rig); /* the next launch is proven */
	CHECK_INT(rig->asked, ==, 2);
}

TEST(a_launch_of_anything_else_does_not)
{
	static char *other_env[] = {"PATH=/bin", "SECRET=zyx", NULL};
	static const struct {
		const char *fingerprint;
		char *const *env;
		const char *cause;
	} rows[] = {
		{"f2", line_env, "Changed"},
		{NULL, line_env, "Changed"},
		{"f1", other_env, "CommandChanged"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct rig rig;

		rig_begin(&rig);
		make_ready(&rig);
		CHECK(!enters(&rig, rows[i].fingerprint, rows[i].env));
		CHECK_STR(status_of(&rig, "lastNotUsed", "cause"), rows[i].cause);
		CHECK_INT(rig.ended, ==, 0); /* drey-init does that */
		CHECK(heard(&rig, LINK_SPARE_GONE, 0, ECANCELED));
		CHECK_STR(status_of(&rig, NULL, "state"), "none");
		rig_end(&rig);
	}
}

RIG_TEST(one_that_was_not_entered_is_told_and_not_repeated_at_once)
{
	make_ready(rig);
	CHECK(enters(rig, "f1", line_env));
	CHECK(heard(rig, LINK_SPARE_GONE, 0, ETIMEDOUT));
	CHECK(!heard(rig, LINK_STARTED, 0, 0));
	CHECK_STR(status_of(rig, "lastNotUsed", "cause"), "NotEntered");
	CHECK_INT(rig->driver.metrics.spare_launches, ==, 0);
	step(rig);
	CHECK_INT(rig->asked, ==, 1);
}

TEST(without_what_it_needs_there_is_none_and_launches_are_ordinary)
{
	for (int i = 0; i < 6; i++) {
		struct rig rig;

		rig_begin(&rig);
		if (i == 0)
			rig.driver.init_takes_spare = false;
		if (i == 1)
			CHECK(unlink(rig.jar) == 0);
		if (i == 2)
			rig.headroom_bytes = 100 * MIB;
		if (i == 3)
			rig.driver.jvm.line = NULL;
		if (i == 4)
			rig.driver.jvm = (struct jvm_seen){0};
		if (i == 5)
			rig.driver.alive = false;
		step(&rig);
		step(&rig);
		if (!CHECK_INT(rig.asked, ==, 0))
			tap_note("case %d", i);
		CHECK(!enters(&rig, "f1", line_env));
		rig_end(&rig);
	}
}

RIG_TEST(a_drey_init_that_is_gone_costs_nothing_more)
{
	rig->link_is_lost = true;
	step(rig);
	step(rig);
	CHECK_INT(rig->asked, ==, 1);
	CHECK_STR(status_of(rig, NULL, "state"), "none");
}

RIG_TEST(one_that_is_of_no_use_is_ended)
{
	make_ready(rig);
	rig->driver.life.journal.intent.do_not_restart = true;
	step(rig);
	step(rig);
	CHECK_INT(rig->ended, ==, 1);
	CHECK_STR(status_of(rig, NULL, "state"), "ending");
	CHECK(heard(rig, LINK_SPARE_GONE, 0, ECANCELED));
	CHECK_STR(status_of(rig, NULL, "state"), "none");
	step(rig);
	CHECK_INT(rig->asked, ==, 1);
	rig->driver.life.journal.intent.do_not_restart = false;
	step(rig);
	CHECK_INT(rig->asked, ==, 2);
}

RIG_TEST(one_is_ended_when_the_memory_gets_scarce)
{
	rig->headroom_bytes = 300 * MIB;
	make_ready(rig);
	rig->headroom_bytes = 20 * MIB;
	step(rig);
	CHECK_INT(rig->ended, ==, 1);
	CHECK(heard(rig, LINK_SPARE_GONE, 0, ECANCELED));
	CHECK_HAS(status_of(rig, NULL, "reason"), "memory limit");
	rig->headroom_bytes = 300 * MIB;
	step(rig);
	CHECK_INT(rig->asked, ==, 1); /* not one after the other */
}

RIG_TEST(the_memory_is_not_looked_at_with_every_step)
{
	make_ready(rig);
	step(rig);
	rig->headroom_bytes = 20 * MIB;
	step(rig);
	CHECK_INT(rig->ended, ==, 0);
}

TEST(off_does_nothing_at_all)
{
	struct rig rig;

	rig_begin(&rig);
	part_spare.close(&rig.driver);
	rig.setup.config.flink.spare = "off";
	CHECK(part_spare.open(&rig.driver, NULL) == 0);
	step(&rig);
	CHECK(!enters(&rig, "f1", line_env));
	CHECK(heard(&rig, LINK_SPARE_GONE, 0, 0));
	CHECK(!heard(&rig, LINK_STARTED, 0, 0));
	CHECK_INT(rig.asked, ==, 0);
	rig_end(&rig);
}

TEST(the_class_path_is_extended_wherever_it_is)
{
	char *argv[] = {"java", "--class-path=/a.jar", "-Dx=y", "Entry", "--configDir", "/c", NULL};
	const struct jvm_line line = {.argv = argv,
				      .argc = 6,
				      .entry = 3,
				      .class_path = argv[1] + strlen("--class-path="),
				      .config_dir = argv[5]};
	char **got = spare_line_argv(&line, "/s.jar");
	char one[SHA256_HEX_BYTES], two[SHA256_HEX_BYTES];
	char *moved[] = {"Entry", NULL};

	CHECK_STR(got[1], "--class-path=/a.jar:/s.jar");
	CHECK_STR(got[2], "-Dx=y");
	CHECK_STR(got[3], "drey.spare.Spare");
	CHECK_STR(got[4], "Entry");
	CHECK_STR(got[5], "/c");
	CHECK(!got[6]);
	spare_line_free(got);
	spare_line_hash(argv, 4, NULL, one);
	spare_line_hash(argv, 3, moved, two); /* the same strings */
	CHECK(strcmp(one, two) != 0);
	spare_line_hash(argv, 4, NULL, two);
	CHECK_STR(one, two);
}
