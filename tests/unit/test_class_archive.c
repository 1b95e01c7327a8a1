#include "flink/class_archive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "tap.h"

#define CLASS "org.apache.flink.container.entrypoint.StandaloneApplicationClusterEntryPoint"

static const char temurin[] =
	"IMPLEMENTOR=\"Eclipse Adoptium\"\nJAVA_RUNTIME_VERSION=\"17.0.9+9\"\n"
	"JAVA_VERSION=\"17.0.9\"\nSOURCE=\"a\"\n";
static const char other_build[] = "IMPLEMENTOR=\"Eclipse Adoptium\"\n"
				  "JAVA_RUNTIME_VERSION=\"17.0.9+9\"\n"
				  "JAVA_VERSION=\"17.0.9\"\nSOURCE=\"b\"\n";
static const char old_java[] = "JAVA_VERSION=\"11.0.1\"\n";

/* DIR/jdk and DIR/old, two Javas; DIR/bin, which is in PATH, has a link to the first. */
struct world {
	char dir[64], archive[96];
	char *path;
	const char *command[6], *script[3], *env[4];
	struct flink_conf conf;
};

static void put(const char *dir, const char *name, const char *text, mode_t mode)
{
	cleanup_free char *path = xasprintf("%s/%s", dir, name);
	FILE *file = fopen(path, "w");

	CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0 && chmod(path, mode) == 0);
}

static void make_java(const char *dir, const char *name, const char *release)
{
	cleanup_free char *home = xasprintf("%s/%s", dir, name);
	cleanup_free char *bin = xasprintf("%s/bin", home);

	CHECK(mkdir(home, 0755) == 0 && mkdir(bin, 0755) == 0);
	put(bin, "java", "", 0755);
	put(home, "release", release, 0644);
}

static void world_begin(struct world *world)
{
	cleanup_free char *bin = NULL, *target = NULL, *link = NULL;

	*world = (struct world){.dir = "/tmp/test_class_archive.XXXXXX"};
	CHECK(mkdtemp(world->dir) != NULL);
	make_java(world->dir, "jdk", temurin);
	make_java(world->dir, "old", old_java);
	bin = xasprintf("%s/bin", world->dir);
	link = xasprintf("%s/java", bin);
	target = xasprintf("%s/jdk/bin/java", world->dir);
	CHECK(mkdir(bin, 0755) == 0 && symlink(target, link) == 0);
	snprintf(world->archive, sizeof(world->archive), "%s/flink.jsa", world->dir);
	put(world->dir, "flink.jsa", "", 0644);
	put(world->dir, "flink.jsa.jvm", temurin, 0644);
	world->path = xasprintf("PATH=/nowhere:%s/bin", world->dir);
	world->env[0] = world->path;
	memcpy(world->command, (const char *const[]){"java", "-cp", "lib/*", CLASS},
	       4 * sizeof(*world->command));
	memcpy(world->script, (const char *const[]){"/docker-entrypoint.sh", "standalone-job"},
	       2 * sizeof(*world->script));
}

static void world_end(struct world *world)
{
	cleanup_free char *line = xasprintf("rm -rf %s", world->dir);

	CHECK_INT(system(line), ==, 0);
	flink_conf_release(&world->conf);
	free(world->path);
}

/* What is decided: "used", "absent" or the reason; caller frees. */
static char *decided_for(const struct world *world, enum flink_process process, const char *wanted,
			 const char *const *command)
{
	struct class_archive archive;
	char *text;

	class_archive_find(process, wanted, command, world->env, &world->conf, &archive);
	CHECK((archive.use == CLASS_ARCHIVE_ABSENT) == (archive.file == NULL));
	CHECK((archive.use == CLASS_ARCHIVE_REFUSED) == (archive.why != NULL));
	text = xstrdup(archive.why                         ? archive.why
		       : archive.use == CLASS_ARCHIVE_USED ? "used"
							   : "absent");
	class_archive_release(&archive);
	return text;
}

static char *decided(const struct world *world, const char *wanted, const char *const *command)
{
	return decided_for(world, FLINK_JOBMANAGER, wanted, command);
}

static void check(const struct world *world, const char *const *command, const char *part)
{
	cleanup_free char *text = decided(world, world->archive, command);

	CHECK_HAS(text, part);
}

#define WORLD_TEST(name) TEST_WITH(name, struct world, world, world_begin, world_end)

WORLD_TEST(one_of_this_very_java_is_used)
{
	check(world, world->command, "used");
	check(world, world->script, "used");
}

WORLD_TEST(one_of_another_java_is_refused_and_both_are_named)
{
	put(world->dir, "flink.jsa.jvm", old_java, 0644);
	check(world, world->command,
	      "made by Java 11.0.1, but Flink is started by Eclipse Adoptium 17.0.9+9");
	put(world->dir, "flink.jsa.jvm", other_build, 0644);
	check(world, world->command, "but Flink is started by another build of Eclipse");
	put(world->dir, "flink.jsa.jvm", "", 0644);
	check(world, world->command, "made by Java of unknown version,");
}

WORLD_TEST(a_truncated_one_is_refused)
{
	cleanup_free char *made = xasprintf("%sDREY_ARCHIVE_BYTES=\"5\"\n", temurin);

	put(world->dir, "flink.jsa.jvm", made, 0644);
	put(world->dir, "flink.jsa", "12345", 0644);
	check(world, world->command, "used");
	put(world->dir, "flink.jsa", "1234", 0644);
	check(world, world->command, "it is incomplete: it was made with 5 bytes");
	put(world->dir, "flink.jsa.jvm", "DREY_ARCHIVE_BYTES=\"4\"\n", 0644);
	check(world, world->command, "made by Java of unknown version,");
}

WORLD_TEST(what_cannot_be_told_is_refused)
{
	cleanup_free char *made_by = NULL, *release = NULL;

	made_by = xasprintf("%s.jvm", world->archive);
	release = xasprintf("%s/jdk/release", world->dir);
	CHECK(unlink(release) == 0);
	check(world, world->command, "the Java that starts Flink is unknown");
	CHECK(unlink(made_by) == 0);
	check(world, world->command, "the Java that made it is unknown");
	world->env[0] = "PATH=/nowhere";
	check(world, world->command, "the Java that starts Flink was not found");
	CHECK(unlink(world->archive) == 0);
	check(world, world->command, "does not exist");
}

WORLD_TEST(a_script_takes_the_java_that_flink_would_take)
{
	cleanup_free char *old = NULL, *variable = NULL, *good = NULL;

	old = xasprintf("%s/old", world->dir);
	good = xasprintf("%s/jdk", world->dir);
	variable = xasprintf("JAVA_HOME=%s", old);
	world->env[1] = variable;
	check(world, world->script, "started by Java 11.0.1");
	check(world, world->command, "used"); /* the command names its Java */
	flink_conf_set(&world->conf, "env.java.home", good);
	check(world, world->script, "used");
	flink_conf_set(&world->conf, "env.java.home", "/nowhere");
	check(world, world->script, "used"); /* no directory: what PATH has */
}

WORLD_TEST(the_users_own_options_are_left_alone)
{
	const char *const off[] = {"java", "-Xshare:off", "-cp", "lib/*", CLASS, NULL};

	check(world, off, "the JVM options");
	world->env[1] = "JAVA_TOOL_OPTIONS=-XX:SharedArchiveFile=/mine";
	check(world, world->command, "the JVM options");
	world->env[1] = "JVM_ARGS=-ea";
	check(world, world->script, "used");
	flink_conf_set(&world->conf, "env.java.opts.jobmanager", "-XX:ArchiveClassesAtExit=/x");
	check(world, world->script, "the JVM options");
}

WORLD_TEST(options_of_the_other_process_do_not_count)
{
	static const char *const taskmanager[] = {"taskmanager.sh", "start-foreground", NULL};
	cleanup_free char *used = NULL, *other = NULL, *own = NULL, *variable = NULL;

	flink_conf_set(&world->conf, "env.java.opts.taskmanager", "-Xshare:off");
	world->env[1] = "FLINK_ENV_JAVA_OPTS_TM=-ea";
	check(world, world->script, "used");
	own = decided_for(world, FLINK_TASKMANAGER, world->archive, taskmanager);
	CHECK_HAS(own, "the JVM options");
	flink_conf_set(&world->conf, "env.java.opts.taskmanager", "-ea");
	flink_conf_set(&world->conf, "env.java.opts.jobmanager", "-Xshare:off");
	world->env[2] = "FLINK_ENV_JAVA_OPTS_JM=-Xshare:off";
	used = decided_for(world, FLINK_TASKMANAGER, world->archive, taskmanager);
	CHECK_STR(used, "used");
	other = decided(world, world->archive, world->script);
	CHECK_HAS(other, "the JVM options");
	world->env[1] = "FLINK_ENV_JAVA_OPTS_TM=-Xshare:off";
	variable = decided_for(world, FLINK_TASKMANAGER, world->archive, taskmanager);
	CHECK_HAS(variable, "the JVM options");
}

WORLD_TEST(a_path_that_a_shell_would_split_is_not_passed_on)
{
	cleanup_free char *name = NULL, *why = NULL;

	name = xasprintf("%s/my flink.jsa", world->dir);
	put(world->dir, "my flink.jsa", "", 0644);
	why = decided(world, name, world->script);
	CHECK_HAS(why, "characters");
}

TEST(without_one_at_the_usual_place_nothing_is_said)
{
	struct world world;
	cleanup_free char *automatic = NULL, *none = NULL;

	if (access(CLASS_ARCHIVE_JOBMANAGER, F_OK) == 0) {
		tap_skip(CLASS_ARCHIVE_JOBMANAGER " is there");
		return;
	}
	world_begin(&world);
	automatic = decided(&world, "auto", world.command);
	CHECK_STR(automatic, "absent");
	none = decided(&world, "none", world.command);
	CHECK_STR(none, "absent");
	world_end(&world);
}
