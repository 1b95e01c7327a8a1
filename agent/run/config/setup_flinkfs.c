#include "run/config/setup_flinkfs.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"
#include "flink/command.h"
#include "flink/java.h"
#include "flink/version.h"

#define MAIN_CLASS  "drey.files.Main"
#define DEFAULT_LIB "/usr/lib/drey"

/* ---- the jar ---- */

/* PREFIX/bin/drey and PREFIX/lib/drey/files.jar, or both in the directory of a build. */
static char *find_jar(const char *program)
{
	cleanup_free char *dir = fs_program_dir(program), *built = NULL;
	char *installed;

	if (!dir)
		return xstrdup(DEFAULT_LIB "/files.jar");
	built = xasprintf("%s/drey-files.jar", dir);
	if (access(built, R_OK) == 0)
		return xstrdup(built);
	installed = xasprintf("%s/../lib/drey/files.jar", dir);
	if (access(installed, R_OK) == 0)
		return installed;
	free(installed);
	return xstrdup(DEFAULT_LIB "/files.jar");
}

/* ---- the class path ---- */

static bool is_directory(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* As Flink's scripts choose it. NULL: none; caller frees. */
static char *hadoop_conf_dir(const struct setup_flinkfs_sources *from)
{
	const char *given = command_env(from->env, "HADOOP_CONF_DIR");
	const char *home = command_env(from->env, "HADOOP_HOME");
	cleanup_free char *below = home ? xasprintf("%s/etc/hadoop", home) : NULL;

	if (!given)
		given = flink_conf_get(from->conf, "env.hadoop.conf.dir");
	if (given && *given)
		return xstrdup(given);
	if (below && is_directory(below))
		return xstrdup(below);
	if (!command_env(from->env, "HADOOP_CLASSPATH") && is_directory("/etc/hadoop/conf"))
		return xstrdup("/etc/hadoop/conf");
	return NULL;
}

static void add_entry(struct buf *path, const char *entry)
{
	if (entry && *entry)
		buf_addf(path, ":%s", entry);
}

/* After the jar: that of the command, or what Flink's scripts put together. */
static void add_class_path(const struct setup_flinkfs_sources *from, const char *home,
			   struct buf *path)
{
	const char *given = command_class_path(from->command);
	const char *lib = command_env(from->env, "FLINK_LIB_DIR");
	cleanup_free char *hadoop = NULL;

	if (given) {
		add_entry(path, given);
		return;
	}
	hadoop = hadoop_conf_dir(from);
	buf_addf(path, ":%s%s/*", lib ? lib : home, lib ? "" : "/lib");
	add_entry(path, command_env(from->env, "HADOOP_CLASSPATH"));
	add_entry(path, hadoop);
	add_entry(path, command_env(from->env, "YARN_CONF_DIR"));
	add_entry(path, command_env(from->env, "HBASE_CONF_DIR"));
}

/* ---- the command line ---- */

static void add_option(void *ctx, const char *option)
{
	/* its log is drey's */
	if (strncmp(option, "-Dlog", 5) != 0)
		flinkfs_list_add(ctx, xstrdup(option));
}

static void build_argv(const struct setup_flinkfs_sources *from, const char *java, const char *jar,
		       const char *home, struct flinkfs_list *argv)
{
	/* It lives for seconds, beside a Flink that needs its memory. Its output is the answers only:
	 * what the JVM itself has to say goes to standard error. */
	static const char *const own[] = {"-Xms16m",
					  "-Xmx256m",
					  "-Xss512k",
					  "-XX:+IgnoreUnrecognizedVMOptions",
					  "-XX:+DisplayVMOutputToStderr",
					  "-Xlog:disable",
					  "-Xlog:all=warning:stderr",
					  "-XX:MetaspaceSize=64m",
					  "-XX:+UseSerialGC",
					  "-XX:TieredStopAtLevel=1",
					  "-XX:-UsePerfData",
					  "-XX:+ExitOnOutOfMemoryError",
					  "-Dlog4j.configurationFile=drey-files/log4j2.properties",
					  "-Dlogback.configurationFile=drey-files/logback.xml"};
	struct buf path = BUF_INIT;

	flinkfs_list_add(argv, xstrdup(java));
	java_each_property(FLINK_JOBMANAGER, from->command, from->env, from->conf, add_option,
			   argv);
	for (size_t i = 0; i < ARRAY_LEN(own); i++)
		flinkfs_list_add(argv, xstrdup(own[i]));
	buf_addstr(&path, jar);
	add_class_path(from, home, &path);
	flinkfs_list_add(argv, xstrdup("-cp"));
	flinkfs_list_add(argv, buf_steal(&path));
	flinkfs_list_add(argv, xstrdup(MAIN_CLASS));
}

/* ---- environment and configuration ---- */

static bool is_variable(const char *entry, const char *name)
{
	size_t len = strlen(name);

	return strncmp(entry, name, len) == 0 && entry[len] == '=';
}

/* Options that the JVM would read itself are among those of the command line. */
static bool is_for_jvm(const char *entry)
{
	return is_variable(entry, "JAVA_TOOL_OPTIONS") || is_variable(entry, "JDK_JAVA_OPTIONS") ||
	       is_variable(entry, "_JAVA_OPTIONS");
}

static void build_env(const struct setup_flinkfs_sources *from, const char *home,
		      struct flinkfs_list *env)
{
	cleanup_free char *hadoop = hadoop_conf_dir(from);

	for (size_t i = 0; from->env && from->env[i]; i++)
		if (!is_for_jvm(from->env[i]))
			flinkfs_list_add(env, xstrdup(from->env[i]));
	/* MUT: Flink's plugins are searched in the working directory */
	if (home && !command_env(from->env, "FLINK_PLUGINS_DIR"))
		flinkfs_list_add(env, xasprintf("FLINK_PLUGINS_DIR=%s/plugins", home));
	if (hadoop && !command_env(from->env, "HADOOP_CONF_DIR"))
		flinkfs_list_add(env, xasprintf("HADOOP_CONF_DIR=%s", hadoop));
}

/* Flink reads the file itself; drey only knows what is set over it. */
static void add_properties(const struct flink_conf *conf, struct flinkfs_list *properties)
{
	for (size_t i = 0; i < conf->count; i++)
		if (conf->entries[i].overlay) {
			flinkfs_list_add(properties, xstrdup(conf->entries[i].key));
			flinkfs_list_add(properties, xstrdup(conf->entries[i].value));
		}
}

/* What the entry point of Flink's image links into the plugins directory when Flink starts. */
static void add_plugins(const struct setup_flinkfs_sources *from, const char *home,
			struct flinkfs_list *plugins)
{
	const char *enabled = command_env(from->env, "ENABLE_BUILT_IN_PLUGINS");
	cleanup_free char *names = NULL;
	char *save = NULL;

	if (!enabled || !home || !command_is_docker(from->command))
		return;
	names = xstrdup(enabled);
	for (char *name = strtok_r(names, "; ", &save); name; name = strtok_r(NULL, "; ", &save)) {
		const char *end = strstr(name, ".jar");

		flinkfs_list_add(plugins,
				 xstrndup(name, end ? (size_t)(end - name) : strlen(name)));
		flinkfs_list_add(plugins, xasprintf("%s/opt/%s", home, name));
	}
}

/* ---- all of it ---- */

static char *what_is_missing(const struct setup_flinkfs_sources *from, const char *java,
			     const char *jar, const char *home)
{
	if (access(jar, R_OK) < 0)
		return xasprintf(
			"%s does not exist or cannot be read; put it into the image (`make "
			"jars`; the image of drey has it)",
			jar);
	if (!java)
		return xstrdup("no Java was found; set JAVA_HOME");
	if (!home && !command_class_path(from->command) && !command_env(from->env, "FLINK_LIB_DIR"))
		return xstrdup("Flink was not found; set FLINK_HOME");
	return NULL;
}

void setup_flinkfs(const struct setup_flinkfs_sources *sources, struct flinkfs_config *ret_config)
{
	cleanup_free char *java_at = java_home(sources->command, sources->env, sources->conf);
	cleanup_free char *java = java_at ? xasprintf("%s/bin/java", java_at) : NULL;
	cleanup_free char *home = command_flink_home(sources->command, sources->env);
	cleanup_free char *jar = find_jar(sources->program);
	struct flinkfs_config config = {.missing = what_is_missing(sources, java, jar, home)};

	if (!config.missing) {
		build_argv(sources, java, jar, home, &config.argv);
		build_env(sources, home, &config.env);
		config.conf_dir = sources->conf_dir
					  ? xstrdup(sources->conf_dir)
					  : flink_conf_find_dir(sources->command, sources->env);
		add_properties(sources->conf, &config.properties);
		add_plugins(sources, home, &config.plugins);
	}
	*ret_config = config;
}

struct flinkfs *setup_flinkfs_environment(void)
{
	struct flink_conf conf = {0};
	struct setup_flinkfs_sources sources = {.env = (const char *const *)environ, .conf = &conf};
	struct flink_conf_sources file = {.env = sources.env};
	struct flinkfs_config config;

	if (!command_env(sources.env, "FLINK_HOME") && !command_env(sources.env, "FLINK_LIB_DIR"))
		return NULL;
	/* only for its options of the JVM; what is wrong with it, Flink itself says */
	(void)flink_version_detect(NULL, sources.env, &file.version, NULL, NULL);
	if (flink_conf_read(&file, &conf, NULL) < 0)
		conf = (struct flink_conf){0};
	setup_flinkfs(&sources, &config);
	flink_conf_release(&conf);
	return flinkfs_new(&config);
}
