/* The files between drey and a main() that is held, and whether a launch can be held at all. */
#include "flink/held.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"
#include "store_dir.h"
#include "tap.h"

#define JOB   "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa01"
#define OTHER "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa02"
#define CLASS "org.apache.flink.container.entrypoint.StandaloneApplicationClusterEntryPoint"
#define HELD  "{\"schema\":1,\"class\":\"a.Job\",\"heldUnixMs\":1795509950324,\"pid\":17}\n"

struct rig {
	char *top, *file;
	struct held_main main;
	struct err err;
};

static void rig_begin(struct rig *rig)
{
	*rig = (struct rig){.top = dir_new()};
	rig->file = held_file(rig->top, JOB);
}

static void rig_end(struct rig *rig)
{
	held_main_release(&rig->main);
	dir_removep(&rig->top);
	free(rig->file);
}

#define RIG_TEST(name) TEST_WITH(name, struct rig, rig, rig_begin, rig_end)

static void put(const struct rig *rig, const char *name, const char *text)
{
	cleanup_free char *path = dir_path(rig->top, name);

	CHECK(!fs_write_atomic(path, text, strlen(text), 0600, NULL));
}

static bool exists(const struct rig *rig, const char *name)
{
	cleanup_free char *path = xasprintf("%s/%s", rig->top, name);

	return access(path, F_OK) == 0;
}

static const char *content(const struct rig *rig)
{
	static char text[512];
	cleanup_buf struct buf buf = BUF_INIT;

	text[0] = '\0';
	if (fs_read(rig->file, sizeof(text) - 1, &buf, NULL) == 0)
		memcpy(text, buf_str(&buf), buf.len_bytes + 1);
	return text;
}

/* ---- the go file ---- */

RIG_TEST(the_go_file_has_the_path_and_whether_state_may_be_left_out)
{
	struct held_go go = {.go = true, .path = "s3://b/sp/savepoint-1 \"x\""};

	CHECK_INT(held_begin(rig->file, &rig->err), ==, 0);
	CHECK_INT(held_go(rig->file, &go, &rig->err), ==, 0);
	CHECK_STR(content(rig),
		  "{\"schema\":1,\"go\":true,\"path\":\"s3://b/sp/savepoint-1 \\\"x\\\"\","
		  "\"allowNonRestored\":false}\n");
}

RIG_TEST(the_go_file_names_the_side_of_the_output_if_there_is_one)
{
	struct held_go go = {.go = true, .path = "file:/sp/1", .side = "green"};

	CHECK_INT(held_begin(rig->file, &rig->err), ==, 0);
	CHECK_INT(held_go(rig->file, &go, &rig->err), ==, 0);
	CHECK_STR(content(rig), "{\"schema\":1,\"go\":true,\"path\":\"file:/sp/1\","
				"\"allowNonRestored\":false,\"side\":\"green\"}\n");
}

RIG_TEST(and_the_one_for_gates_of_flip_504)
{
	struct held_go go = {
		.go = true, .side = "green", .gate_key = "flipSide", .gate_side = "GREEN"};

	CHECK_INT(held_begin(rig->file, &rig->err), ==, 0);
	CHECK_INT(held_go(rig->file, &go, &rig->err), ==, 0);
	CHECK_HAS(content(rig), "\"side\":\"green\",\"flipSide\":\"GREEN\"}");
}

RIG_TEST(a_start_without_state_has_an_empty_path)
{
	struct held_go go = {.go = true, .allow_non_restored = true};

	CHECK_INT(held_begin(rig->file, &rig->err), ==, 0);
	CHECK_INT(held_go(rig->file, &go, &rig->err), ==, 0);
	CHECK_STR(content(rig),
		  "{\"schema\":1,\"go\":true,\"path\":\"\",\"allowNonRestored\":true}\n");
}

RIG_TEST(a_refusal_has_a_reason)
{
	struct held_go go = {.why = "the owner kept the job"};

	CHECK_INT(held_begin(rig->file, &rig->err), ==, 0);
	CHECK_INT(held_go(rig->file, &go, &rig->err), ==, 0);
	CHECK_STR(content(rig), "{\"schema\":1,\"go\":false,\"why\":\"the owner kept the job\"}\n");
	go.why = NULL;
	CHECK_INT(held_go(rig->file, &go, &rig->err), ==, -1);
	CHECK_INT(rig->err.kind, ==, ERR_CONFIG);
}

RIG_TEST(an_empty_path_is_no_start_without_state)
{
	struct held_go go = {.go = true, .path = ""};

	CHECK_INT(held_begin(rig->file, &rig->err), ==, 0);
	CHECK_INT(held_go(rig->file, &go, &rig->err), ==, -1);
	CHECK_INT(rig->err.kind, ==, ERR_CONFIG);
	CHECK_STR(content(rig), "");
}

RIG_TEST(what_was_said_once_may_be_said_again_and_is_never_replaced)
{
	struct held_go go = {.go = true, .path = "file:/sp/1"};

	CHECK_INT(held_begin(rig->file, &rig->err), ==, 0);
	CHECK_INT(held_go(rig->file, &go, &rig->err), ==, 0);
	CHECK_INT(held_begin(rig->file, &rig->err), ==, 0);
	CHECK_INT(held_go(rig->file, &go, &rig->err), ==, 0);
	go.path = "file:/sp/2";
	CHECK_INT(held_go(rig->file, &go, &rig->err), ==, -1);
	CHECK_INT(rig->err.kind, ==, ERR_BUSY);
	CHECK_HAS(rig->err.msg, JOB ".json exists, and says something else");
	CHECK_HAS(content(rig), "file:/sp/1");
	go = (struct held_go){.why = "withdrawn"};
	CHECK_INT(held_go(rig->file, &go, NULL), ==, -1);
	CHECK_HAS(content(rig), "file:/sp/1");
}

RIG_TEST(a_go_file_that_cannot_be_read_is_not_written_anew)
{
	struct held_go go = {.go = true, .path = "file:/sp/1"};

	CHECK_INT(held_begin(rig->file, &rig->err), ==, 0);
	CHECK(!mkdir(rig->file, 0700));
	CHECK_INT(held_go(rig->file, &go, &rig->err), ==, -1);
	CHECK_INT(rig->err.kind, !=, ERR_NONE);
	CHECK_INT(rig->err.kind, !=, ERR_ABSENT);
	CHECK(!rmdir(rig->file));
}

RIG_TEST(without_its_directory_no_go_file_is_written)
{
	struct held_go go = {.go = true};

	CHECK_INT(held_go(rig->file, &go, &rig->err), ==, -1);
	CHECK_INT(rig->err.kind, ==, ERR_ABSENT);
}

/* ---- what the JVM has written ---- */

RIG_TEST(main_is_held_when_the_jvm_has_written_that)
{
	CHECK_INT(held_begin(rig->file, &rig->err), ==, 0);
	CHECK_INT(held_read(rig->file, &rig->main, &rig->err), ==, -1);
	CHECK_INT(rig->err.kind, ==, ERR_ABSENT);
	put(rig, "held/" JOB ".json.held", HELD);
	CHECK_INT(held_read(rig->file, &rig->main, &rig->err), ==, 0);
	CHECK_STR(rig->main.class_name, "a.Job");
	CHECK_INT(rig->main.held_unix_ms, ==, 1795509950324);
	CHECK_INT(rig->main.pid, ==, 17);
}

RIG_TEST(what_is_damaged_is_neither_held_nor_absent)
{
	static const char *const bad[] = {
		"",
		"{\"schema\":1,\"class\":\"a.J",
		"{\"schema\":2,\"class\":\"a.Job\",\"heldUnixMs\":1,\"pid\":1}",
		"{\"schema\":1,\"class\":null,\"heldUnixMs\":1,\"pid\":1}",
		"{\"schema\":1,\"class\":\"a.Job\",\"heldUnixMs\":\"1\",\"pid\":1}",
		"{\"schema\":1,\"class\":\"a.Job\",\"heldUnixMs\":1}",
		"[]",
	};

	CHECK_INT(held_begin(rig->file, &rig->err), ==, 0);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		put(rig, "held/" JOB ".json.held", bad[i]);
		rig->err = (struct err){0};
		CHECK_INT(held_read(rig->file, &rig->main, &rig->err), ==, -1);
		CHECK_INT(rig->err.kind, ==, ERR_FORMAT);
		CHECK_HAS(rig->err.msg, JOB ".json.held: ");
		CHECK(rig->main.class_name == NULL);
	}
}

RIG_TEST(the_next_jvm_does_not_count_as_held_because_of_an_earlier_one)
{
	struct held_go go = {.go = true};

	CHECK_INT(held_begin(rig->file, &rig->err), ==, 0);
	CHECK_INT(held_go(rig->file, &go, &rig->err), ==, 0);
	put(rig, "held/" JOB ".json.held", HELD);
	CHECK_INT(held_begin(rig->file, &rig->err), ==, 0);
	CHECK_INT(held_read(rig->file, &rig->main, &rig->err), ==, -1);
	CHECK_INT(rig->err.kind, ==, ERR_ABSENT);
	CHECK_HAS(content(rig), "\"go\":true");
}

RIG_TEST(the_files_of_other_launches_are_removed)
{
	CHECK_INT(held_sweep(rig->top, JOB, &rig->err), ==, 0); /* no directory yet */
	CHECK_INT(held_begin(rig->file, &rig->err), ==, 0);
	put(rig, "held/" JOB ".json", "x");
	put(rig, "held/" JOB ".json.held", "x");
	put(rig, "held/" OTHER ".json", "x");
	put(rig, "held/" OTHER ".json.held", "x");
	put(rig, "held/" OTHER ".json.held.new", "x");
	put(rig, "held/notes.json", "x");
	put(rig, "held/" OTHER "0.json", "x");
	CHECK_INT(held_sweep(rig->top, JOB, &rig->err), ==, 0);
	CHECK(exists(rig, "held/" JOB ".json") && exists(rig, "held/" JOB ".json.held"));
	CHECK(!exists(rig, "held/" OTHER ".json"));
	CHECK(!exists(rig, "held/" OTHER ".json.held"));
	CHECK(!exists(rig, "held/" OTHER ".json.held.new"));
	CHECK(exists(rig, "held/notes.json") && exists(rig, "held/" OTHER "0.json"));
	CHECK_INT(held_sweep(rig->top, NULL, &rig->err), ==, 0);
	CHECK(!exists(rig, "held/" JOB ".json"));
}

RIG_TEST(what_cannot_be_removed_is_reported_and_the_rest_removed)
{
	CHECK_INT(held_begin(rig->file, &rig->err), ==, 0);
	put(rig, "held/" OTHER ".json.dir/x", "x");
	put(rig, "held/" OTHER ".json", "x");
	put(rig, "held/" OTHER ".json.held", "x");
	CHECK_INT(held_sweep(rig->top, JOB, &rig->err), ==, -1);
	CHECK_HAS(rig->err.msg, OTHER ".json.dir");
	CHECK(!exists(rig, "held/" OTHER ".json") && !exists(rig, "held/" OTHER ".json.held"));
}

/* ---- can it be held? ---- */

/* "yes", or why not; caller frees. */
static char *possible(const struct flink_launch *launch, bool root)
{
	char *why = NULL;
	bool yes = held_is_possible(launch, root, &why);

	CHECK(yes == (why == NULL));
	return why ? why : xstrdup("yes");
}

/* Relative paths: below the directory of the test. */
static void expect(const struct rig *rig, const char *class_path, const char *lib_dir,
		   const char *expected)
{
	cleanup_free char *lib = lib_dir ? xasprintf("FLINK_LIB_DIR=%s", lib_dir) : NULL;
	const char *const java[] = {"java", "-cp", class_path, CLASS, NULL};
	const char *const plain[] = {"java", CLASS, NULL};
	const char *const env[] = {"FLINK_HOME=home", lib, NULL};
	struct flink_launch launch = {
		.command = class_path ? java : plain, .env = env, .version = {1, 20, 0}};
	cleanup_close int before = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_free char *text = NULL;

	CHECK(!chdir(rig->top));
	text = possible(&launch, true);
	CHECK(!fchdir(before));
	tap_note("%s, %s", class_path ? class_path : "-", lib_dir ? lib_dir : "-");
	CHECK_HAS(text, expected);
}

RIG_TEST(the_jar_must_be_on_the_class_path_that_the_command_has)
{
	put(rig, "with/" HELD_JAR, "x");
	put(rig, "without/other.jar", "x");
	expect(rig, "without/*:with/*", NULL, "yes");
	expect(rig, "with/" HELD_JAR, NULL, "yes");
	expect(rig, "without/*:/nowhere/*", "with", "not on the class path in flink.command");
	expect(rig, "without/" HELD_JAR, NULL, "not on the class path");
	expect(rig, "with", NULL, "not on the class path"); /* classes, no jars */
}

RIG_TEST(else_it_must_be_in_the_lib_directory_that_flink_takes)
{
	expect(rig, NULL, NULL, "the lib directory of Flink was not found");
	put(rig, "home/lib/other.jar", "x");
	expect(rig, NULL, NULL, HELD_JAR " is not in ");
	put(rig, "home/lib/" HELD_JAR, "x");
	expect(rig, NULL, NULL, "yes");
	put(rig, "lib/other.jar", "x");
	expect(rig, NULL, "lib", HELD_JAR " is not in ");
	put(rig, "lib/" HELD_JAR, "x");
	expect(rig, NULL, "lib", "yes");
	expect(rig, NULL, "nowhere", "yes");
}

RIG_TEST(a_script_of_flink_determines_its_lib_directory)
{
	cleanup_free char *script = xasprintf("%s/dist/bin/standalone-job.sh", rig->top);
	const char *const command[] = {script, "start-foreground", NULL};
	struct flink_launch launch = {.command = command, .version = {2, 3, 0}};
	cleanup_free char *without = NULL, *with = NULL, *root = NULL;

	put(rig, "dist/lib/other.jar", "x");
	without = possible(&launch, false);
	CHECK_HAS(without, HELD_JAR " is not in ");
	put(rig, "dist/lib/" HELD_JAR, "x");
	with = possible(&launch, false);
	CHECK_STR(with, "yes");
	root = possible(&launch, true);
	CHECK_HAS(root, "another user");
}

RIG_TEST(a_jar_that_cannot_be_read_is_not_absent)
{
	cleanup_free char *jar = NULL, *why = xasprintf("cannot be read: %s", strerror(ELOOP));

	put(rig, "home/lib/other.jar", "x");
	jar = xasprintf("%s/home/lib/" HELD_JAR, rig->top);
	CHECK(!symlink(HELD_JAR, jar)); /* a loop */
	expect(rig, NULL, NULL, why);
	expect(rig, "home/lib/*", NULL, why);
}

TEST(a_launch_that_flink_would_not_hold_is_not_possible)
{
	const char *const command[] = {"java", "-cp", "x", CLASS, NULL};
	const char *const args[] = {"-py", "job.py", NULL};
	struct flink_launch launch = {
		.command = command, .version = {1, 20, 0}, .program_args = args};
	cleanup_free char *why = possible(&launch, false);

	CHECK_HAS(why, "Python");
}
