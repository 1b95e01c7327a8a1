/* The line of a JVM, from the strings of its process. */
#include <string.h>

#include "base/mem.h"
#include "flink/jvm_line.h"
#include "tap.h"

#define ENTRY "org.apache.flink.container.entrypoint.StandaloneApplicationClusterEntryPoint"

/* Words separated by '|', as a process has them. */
struct strings {
	char text[1024];
	size_t len_bytes;
};

static struct strings strings(const char *words)
{
	struct strings strings = {.len_bytes = strlen(words) + 1};

	snprintf(strings.text, sizeof(strings.text), "%s", words);
	for (char *at = strings.text; at < strings.text + strings.len_bytes - 1; at++)
		if (*at == '|')
			*at = '\0';
	return strings;
}

static char *launched_argv[] = {
	"/docker-entrypoint.sh", "standalone-job", "-D", "a=b", "--job-id", "0123", NULL};
static char *launched_env[] = {"PATH=/bin", "SECRET=x", "JVM_ARGS=-Da=b", NULL};
static struct flink_exec launched(void)
{
	return (struct flink_exec){.argv = launched_argv,
				   .env = launched_env,
				   .argc = ARRAY_LEN(launched_argv) - 1,
				   .envc = ARRAY_LEN(launched_env) - 1,
				   .command_argc = 2};
}

#define JAVA "/usr/bin/java|-Xmx1g|-classpath|/l/a.jar:/l/b.jar:|" ENTRY "|--configDir|/c|-D|m=1"
#define TAIL "|-D|a=b|--job-id|0123"
#define ENV  "PATH=/bin|SECRET=x|JVM_ARGS=-Da=b -Xmx1g|FLINK_CONF_DIR=/c|_=/usr/bin/java"

static int parse(const char *argv, const char *env, struct jvm_line *ret_line, struct err *err)
{
	struct strings words = strings(argv), variables = strings(env);
	struct flink_exec exec = launched();

	return jvm_line_parse(words.text, words.len_bytes, variables.text, variables.len_bytes,
			      &exec, ret_line, err);
}

static void refuses(const char *argv, const char *env, const char *why)
{
	struct jvm_line line = {0};
	struct err err = {0};

	CHECK_INT(parse(argv, env, &line, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_FORMAT);
	CHECK_HAS(err.msg, why);
	CHECK(!line.argv && !line.env);
}

TEST(the_line_ends_where_the_launch_began_to_add)
{
	struct jvm_line line = {0};
	struct err err = {0};

	CHECK_INT(parse(JAVA TAIL, ENV, &line, &err), ==, 0);
	CHECK_INT(line.argc, ==, 9);
	CHECK_STR(line.argv[line.entry], ENTRY);
	CHECK_STR(line.argv[8], "m=1");
	CHECK(!line.argv[9]);
	CHECK_STR(line.config_dir, "/c");
	CHECK_STR(line.class_path, "/l/a.jar:/l/b.jar:");
	CHECK_INT(line.envc, ==, 5);
	CHECK_STR(line.env[2], "JVM_ARGS=-Da=b -Xmx1g");
	jvm_line_release(&line);
}

TEST(a_later_launch_is_the_line_and_what_that_launch_adds)
{
	char *argv[] = {
		"/docker-entrypoint.sh", "standalone-job", "--job-id", "4567", "--", "", NULL};
	struct flink_exec next = {.argv = argv, .argc = 6, .command_argc = 2}, joined;
	struct jvm_line line = {0};
	struct err err = {0};

	CHECK_INT(parse(JAVA TAIL, ENV, &line, &err), ==, 0);
	jvm_line_join(&line, &next, &joined);
	CHECK_INT(joined.argc, ==, 13);
	CHECK_INT(joined.command_argc, ==, 9);
	CHECK_STR(joined.argv[0], "/usr/bin/java");
	CHECK_STR(joined.argv[10], "4567");
	CHECK_STR(joined.argv[12], "");
	CHECK(!joined.argv[13]);
	CHECK_INT(joined.envc, ==, 5);
	CHECK_STR(joined.env[1], "SECRET=x");
	CHECK_INT(joined.packed_bytes, >, 100);
	flink_exec_release(&joined);
	jvm_line_release(&line);
}

TEST(a_process_that_is_not_the_jvm_of_the_launch_is_refused)
{
	refuses("bash|/opt/flink/bin/standalone-job.sh|start-foreground" TAIL, ENV, "not java");
	refuses("java|-cp|x|org.example.Main|--configDir|/c" TAIL, ENV, "no entry point");
	refuses(JAVA "|-D|a=b|--job-id|4567", ENV, "do not end in those of the launch");
	refuses(JAVA, ENV, "do not end in those of the launch");
	refuses("0123", ENV, "do not end in those of the launch");
	refuses("", "", "do not end in those of the launch");
	refuses("java|-cp|x|" ENTRY "|-D|m=1" TAIL, ENV, "no --configDir");
	refuses("java|" ENTRY "|--configDir|/c" TAIL, ENV, "no class path");
	refuses("java|-cp|x|" ENTRY "|--configDir|/c|word" TAIL, ENV, "unknown word");
	refuses("java|-cp|x|" ENTRY "|--configDir|/c|--newOption|y" TAIL, ENV, "unknown word");
}

TEST(a_variable_that_only_a_script_of_the_user_sets_is_refused_without_its_value)
{
	struct jvm_line line;
	struct err err = {0};

	refuses(JAVA TAIL, ENV "|TOKEN=s3cret", "has set the variable TOKEN");
	CHECK_INT(parse(JAVA TAIL, ENV "|TOKEN=s3cret", &line, &err), ==, -1);
	CHECK(!strstr(err.msg, "s3cret"));
	refuses(JAVA TAIL, "PATH=/bin|SECRET=y", "has set the variable SECRET");
	refuses(JAVA TAIL, "PATH=/bin", "has removed the variable SECRET");
}
