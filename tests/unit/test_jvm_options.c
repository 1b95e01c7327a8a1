#include "flink/jvm_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/mem.h"
#include "tap.h"

#define CLASS   "org.apache.flink.container.entrypoint.StandaloneApplicationClusterEntryPoint"
#define C1      "-XX:TieredStopAtLevel=1"
#define MAPPING "-XX:+UnlockDiagnosticVMOptions -XX:ArchiveRelocationMode=0"

/* DIR/bin/java, the Java of `command`, whose file `release` a test writes. */
struct world {
	char dir[64];
	char *java;
	const char *command[6], *env[3];
	struct flink_conf conf;
	struct class_archive archive;
};

static void put(const struct world *world, const char *name, const char *text)
{
	cleanup_free char *path = xasprintf("%s/%s", world->dir, name);
	FILE *file = fopen(path, "w");

	CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0 && chmod(path, 0755) == 0);
}

static void world_begin(struct world *world)
{
	cleanup_free char *bin = NULL;

	*world = (struct world){.dir = "/tmp/test_jvm_options.XXXXXX"};
	CHECK(mkdtemp(world->dir) != NULL);
	bin = xasprintf("%s/bin", world->dir);
	CHECK(mkdir(bin, 0755) == 0);
	put(world, "bin/java", "");
	put(world, "release", "JAVA_VERSION=\"17.0.9\"\n");
	world->java = xasprintf("%s/bin/java", world->dir);
	memcpy(world->command, (const char *const[]){world->java, "-cp", "lib/*", CLASS},
	       4 * sizeof(*world->command));
}

static void world_end(struct world *world)
{
	cleanup_free char *line = xasprintf("rm -rf %s", world->dir);

	CHECK_INT(system(line), ==, 0);
	flink_conf_release(&world->conf);
	free(world->java);
}

static void check_start(const struct world *world, enum jvm_start start, const char *expected)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct jvm_options options;

	jvm_options_choose(start, &world->archive, world->command, world->env, &world->conf,
			   &options);
	for (size_t i = 0; i < options.count; i++)
		buf_addf(&text, "%s%s", i ? " " : "", options.list[i]);
	CHECK_STR(buf_str(&text), expected);
	CHECK((options.list == NULL) == (options.count == 0));
	CHECK((options.why_not_c1 != NULL) ==
	      (start == JVM_START_FAST && !strstr(expected, "TieredStopAtLevel")));
	jvm_options_release(&options);
}

static void check(const struct world *world, const char *expected)
{
	check_start(world, JVM_START_FAST, expected);
}

#define WORLD_TEST(name) TEST_WITH(name, struct world, world, world_begin, world_end)

WORLD_TEST(a_known_java_compiles_with_c1_and_shares_its_archives)
{
	check(world, C1 " " MAPPING);
	world->archive.use = CLASS_ARCHIVE_USED;
	world->archive.file = "/a/flink.jsa";
	check(world, C1 " " MAPPING " -XX:SharedArchiveFile=/a/flink.jsa");
	world->archive.use = CLASS_ARCHIVE_REFUSED;
	check(world, C1 " " MAPPING);
}

WORLD_TEST(unchanged_leaves_only_the_archive)
{
	check_start(world, JVM_START_UNCHANGED, "");
	world->archive.use = CLASS_ARCHIVE_USED;
	world->archive.file = "/a/flink.jsa";
	check_start(world, JVM_START_UNCHANGED, "-XX:SharedArchiveFile=/a/flink.jsa");
}

WORLD_TEST(a_taskmanager_gets_only_the_archive)
{
	world->command[3] = "org.apache.flink.runtime.taskexecutor.TaskManagerRunner";
	check_start(world, JVM_START_TASKMANAGER, "");
	world->archive.use = CLASS_ARCHIVE_USED;
	world->archive.file = "/a/flink.jsa";
	check_start(world, JVM_START_TASKMANAGER, MAPPING " -XX:SharedArchiveFile=/a/flink.jsa");
	flink_conf_set(&world->conf, "env.java.opts.jobmanager", "-XX:ArchiveRelocationMode=1");
	check_start(world, JVM_START_TASKMANAGER, MAPPING " -XX:SharedArchiveFile=/a/flink.jsa");
	flink_conf_set(&world->conf, "env.java.opts.taskmanager", "-XX:ArchiveRelocationMode=1");
	check_start(world, JVM_START_TASKMANAGER, "-XX:SharedArchiveFile=/a/flink.jsa");
}

WORLD_TEST(each_java_gets_only_what_it_knows)
{
	static const struct {
		const char *release, *expected;
	} rows[] = {
		{"JAVA_VERSION=\"1.8.0_402\"\n", ""},
		{"JAVA_VERSION=\"11.0.22\"\n", C1},
		{"JAVA_VERSION=\"16.0.2\"\n", C1},
		{"JAVA_VERSION=\"21.0.2\"\n", C1 " " MAPPING},
		{"JAVA_VERSION=\"25\"\n", C1 " " MAPPING},
		{"JAVA_VERSION=\"26\"\n", C1},
		{"JAVA_VERSION=\"17.0.9\"\nJVM_VARIANT=\"Hotspot\"\n", C1 " " MAPPING},
		{"JAVA_VERSION=\"17.0.9\"\nJVM_VARIANT=\"Openj9\"\n", ""},
		{"JAVA_VERSION=\"17.0.9\"\nMODULES=\"java.base openj9.cuda\"\n", ""},
		{"JAVA_VERSION=\"17.0.9\"\nIMPLEMENTOR_VERSION=\"Zing23.1\"\n", ""},
		{"SOURCE=\"a\"\n", ""},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		put(world, "release", rows[i].release);
		check(world, rows[i].expected);
	}
}

WORLD_TEST(a_java_that_does_not_say_what_it_is_gets_nothing)
{
	cleanup_free char *release = xasprintf("%s/release", world->dir);

	CHECK(remove(release) == 0);
	check(world, "");
	CHECK(remove(world->java) == 0);
	check(world, "");
}

WORLD_TEST(the_users_compilers_prevail)
{
	static const char *const options[] = {
		"-XX:TieredStopAtLevel=4",
		"-XX:-TieredCompilation",
		"-XX:CompilationMode=default",
		"-ea -Xint",
		"-XX:+UseJVMCICompiler",
		"-XX:VMOptionsFile=/x",
		"@/x/options",
	};

	for (size_t i = 0; i < ARRAY_LEN(options); i++) {
		cleanup_free char *variable = xasprintf("JDK_JAVA_OPTIONS=%s", options[i]);

		world->env[0] = variable;
		check(world, MAPPING);
	}
	world->env[0] = "JVM_ARGS=-Dmail=a@b -Dx=-Xint";
	check(world, C1 " " MAPPING);
	flink_conf_set(&world->conf, "env.java.default-opts.all", "-XX:TieredStopAtLevel=4");
	check(world, MAPPING);
}

WORLD_TEST(the_users_relocation_prevails)
{
	const char *const command[] = {world->java, "-XX:+UnlockDiagnosticVMOptions",
				       "-XX:ArchiveRelocationMode=1", CLASS};

	memcpy(world->command, command, sizeof(command));
	check(world, C1);
}
