/* How the JVM that reads Flink's file systems is started. */
#include "run/config/setup_flinkfs.h"

#include <string.h>

#include "base/mem.h"
#include "tests/unit/store_dir.h"
#include "tests/unit/tap.h"

/* A Java and the jar, in a directory of the test. */
struct place {
	char *top, *program, *java_home_variable;
	const char *env[12];
	size_t env_count;
	struct flink_conf conf;
	struct flinkfs_config config;
};

static void add_env(struct place *place, const char *entry)
{
	place->env[place->env_count++] = entry;
	place->env[place->env_count] = NULL;
}

static void place_begin(struct place *place)
{
	cleanup_free char *java = NULL;

	*place = (struct place){.top = dir_new()};
	dir_put(place->top, "jdk/bin/java", "#!/bin/sh\n", 10);
	dir_put(place->top, "lib/drey/files.jar", "jar", 3);
	java = xasprintf("%s/jdk/bin/java", place->top);
	CHECK_INT(chmod(java, 0755), ==, 0);
	place->program = xasprintf("%s/bin/drey", place->top);
	dir_put(place->top, "bin/drey", "", 0);
	place->java_home_variable = xasprintf("JAVA_HOME=%s/jdk", place->top);
	add_env(place, place->java_home_variable);
}

static void set_up(struct place *place, const char *const *command)
{
	const struct setup_flinkfs_sources sources = {.command = command,
						      .env = place->env,
						      .conf = &place->conf,
						      .program = place->program};

	flinkfs_config_release(&place->config);
	setup_flinkfs(&sources, &place->config);
}

static void place_end(struct place *place)
{
	flinkfs_config_release(&place->config);
	flink_conf_release(&place->conf);
	free(place->program);
	free(place->java_home_variable);
	dir_removep(&place->top);
}

static bool has(const struct flinkfs_list *list, const char *text)
{
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->at[i], text))
			return true;
	return false;
}

/* What follows -cp, without the jar of drey. */
static const char *class_path(const struct place *place)
{
	for (size_t i = 0; i + 1 < place->config.argv.count; i++)
		if (!strcmp(place->config.argv.at[i], "-cp"))
			return strchr(place->config.argv.at[i + 1], ':');
	return NULL;
}

static const char *const image[] = {"/docker-entrypoint.sh", "standalone-job", NULL};

TEST(the_image_of_flink_has_its_own_directories)
{
	struct place place;

	place_begin(&place);
	add_env(&place, "FLINK_HOME=/opt/flink");
	add_env(&place, "HADOOP_CLASSPATH=/hadoop/*");
	add_env(&place, "HADOOP_CONF_DIR=/hadoop/conf");
	set_up(&place, image);
	CHECK(!place.config.missing);
	CHECK_HAS(place.config.argv.at[0], "/jdk/bin/java");
	CHECK(has(&place.config.argv, "-Xmx256m")); /* the memory that drey allows it */
	CHECK_STR(class_path(&place), ":/opt/flink/lib/*:/hadoop/*:/hadoop/conf");
	CHECK_STR(place.config.conf_dir, "/opt/flink/conf");
	CHECK(has(&place.config.env, "FLINK_PLUGINS_DIR=/opt/flink/plugins"));
	CHECK_STR(place.config.argv.at[place.config.argv.count - 1], "drey.files.Main");
	place_end(&place);
}

TEST(a_java_command_has_its_own_class_path)
{
	static const char *const command[] = {
		"java",      "-Dfs.x=1",    "-Xmx9g",
		"-cp",       "lib/*",       "x.StandaloneApplicationClusterEntryPoint",
		"-Dnot=jvm", "--configDir", "/etc/flink",
		NULL};
	struct place place;
	cleanup_free char *path = NULL;

	place_begin(&place);
	path = xasprintf("PATH=%s/jdk/bin", place.top);
	add_env(&place, path);
	add_env(&place, "FLINK_PLUGINS_DIR=/p");
	set_up(&place, command);
	CHECK(!place.config.missing);
	CHECK_STR(class_path(&place), ":lib/*");
	CHECK_STR(place.config.conf_dir, "/etc/flink");
	CHECK(has(&place.config.argv, "-Dfs.x=1"));
	CHECK(!has(&place.config.argv, "-Xmx9g"));
	CHECK(!has(&place.config.argv, "-Dnot=jvm"));
	CHECK(has(&place.config.env, "FLINK_PLUGINS_DIR=/p"));
	place_end(&place);
}

/* Two JVMs cannot have one port, and this one does not need the heap of the other. */
TEST(of_the_options_only_properties_are_taken)
{
	struct place place;

	place_begin(&place);
	add_env(&place, "FLINK_HOME=/opt/flink");
	add_env(&place, "JAVA_TOOL_OPTIONS=-javaagent:/a.jar=9404 -Dfrom.tool=1");
	add_env(&place, "JVM_ARGS=-Xmx5g -Dfrom.args=1");
	flink_conf_set(
		&place.conf, "env.java.opts.all",
		"-Djavax.net.ssl.trustStore=/t -Dlog.file=/x --add-opens=java.base/java.util=ALL-UNNAMED");
	flink_conf_set(&place.conf, "env.java.opts.jobmanager",
		       "-agentlib:jdwp=transport=dt_socket \"-Dof.jm=1\"");
	flink_conf_set(&place.conf, "env.java.opts.taskmanager", "-Dof.tm=1");
	set_up(&place, image);
	CHECK(has(&place.config.argv, "-Dfrom.tool=1"));
	CHECK(has(&place.config.argv, "-Dfrom.args=1"));
	CHECK(has(&place.config.argv, "-Djavax.net.ssl.trustStore=/t"));
	CHECK(has(&place.config.argv, "--add-opens=java.base/java.util=ALL-UNNAMED"));
	CHECK(has(&place.config.argv, "-Dof.jm=1"));
	CHECK(!has(&place.config.argv, "-Dof.tm=1"));
	CHECK(!has(&place.config.argv, "-Dlog.file=/x"));
	for (size_t i = 0; i < place.config.argv.count; i++)
		CHECK(!strstr(place.config.argv.at[i], "agent") &&
		      !strstr(place.config.argv.at[i], "-Xmx5g"));
	for (size_t i = 0; i < place.config.env.count; i++)
		CHECK(!strstr(place.config.env.at[i], "JAVA_TOOL_OPTIONS"));
	place_end(&place);
}

/* A command line is visible to everybody. */
TEST(what_is_set_over_the_file_goes_through_the_pipe)
{
	struct place place;

	place_begin(&place);
	add_env(&place, "FLINK_HOME=/opt/flink");
	flink_conf_set(&place.conf, "fs.of.file", "1");
	flink_conf_set_from(&place.conf, "fs.azure.account.key.x", "hush", "FLINK_PROPERTIES");
	set_up(&place, image);
	CHECK_INT(place.config.properties.count, ==, 2);
	CHECK_STR(place.config.properties.at[0], "fs.azure.account.key.x");
	CHECK_STR(place.config.properties.at[1], "hush");
	for (size_t i = 0; i < place.config.argv.count; i++)
		CHECK(!strstr(place.config.argv.at[i], "hush"));
	place_end(&place);
}

TEST(plugins_that_the_image_will_link_are_known_before)
{
	struct place place;

	place_begin(&place);
	add_env(&place, "FLINK_HOME=/opt/flink");
	add_env(&place, "ENABLE_BUILT_IN_PLUGINS=flink-gs-fs-hadoop-2.3.0.jar;x.jar");
	set_up(&place, image);
	CHECK_INT(place.config.plugins.count, ==, 4);
	CHECK_STR(place.config.plugins.at[0], "flink-gs-fs-hadoop-2.3.0");
	CHECK_STR(place.config.plugins.at[1], "/opt/flink/opt/flink-gs-fs-hadoop-2.3.0.jar");
	CHECK_STR(place.config.plugins.at[3], "/opt/flink/opt/x.jar");
	place_end(&place);
}

TEST(what_is_missing_is_named_with_the_remedy)
{
	cleanup_free char *jar = NULL, *java = NULL;
	struct place place;

	place_begin(&place);
	set_up(&place, NULL);
	CHECK_HAS(place.config.missing, "set FLINK_HOME");
	add_env(&place, "FLINK_HOME=/opt/flink");
	set_up(&place, NULL);
	CHECK(!place.config.missing);
	jar = xasprintf("%s/lib/drey/files.jar", place.top);
	CHECK_INT(unlink(jar), ==, 0);
	set_up(&place, image);
	CHECK_HAS(place.config.missing, "files.jar does not exist");
	CHECK_INT(place.config.argv.count, ==, 0);
	dir_put(place.top, "bin/drey-files.jar", "jar", 3);
	place.env[0] = "PATH=/nowhere";
	set_up(&place, image);
	CHECK_HAS(place.config.missing, "set JAVA_HOME");
	place_end(&place);
}
