#include "flink/java.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"
#include "flink/command.h"

#define RELEASE_MAX_BYTES ((size_t)64 * 1024)

static const char *const option_variables[] = {"JVM_ARGS", "FLINK_ENV_JAVA_OPTS",
					       "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS",
					       "_JAVA_OPTIONS"};
static const char *const option_keys[] = {"env.java.opts.all", "env.java.opts",
					  "env.java.default-opts.all"};

/* Only for this process, in the order of enum flink_process. */
static const struct {
	const char *variable, *keys[2];
} own_options[] = {
	{"FLINK_ENV_JAVA_OPTS_JM",
	 {"env.java.opts.jobmanager", "env.java.default-opts.jobmanager"}},
	{"FLINK_ENV_JAVA_OPTS_TM",
	 {"env.java.opts.taskmanager", "env.java.default-opts.taskmanager"}},
};

/* The home of the program `java`: HOME/bin/java with all links resolved. */
static char *home_of_program(const char *program)
{
	char *path = realpath(program, NULL), *cut;

	if (!path || access(path, X_OK) < 0)
		goto none;
	for (int i = 0; i < 2; i++) {
		cut = strrchr(path, '/');
		if (!cut || cut == path)
			goto none;
		*cut = '\0';
	}
	return path;
none:
	free(path);
	return NULL;
}

static char *home_in_path(const char *const *env)
{
	const char *path = command_env(env, "PATH");
	cleanup_free char *copy = xstrdup(path ? path : "/usr/local/bin:/usr/bin:/bin");
	char *rest, *home = NULL;

	for (char *dir = strtok_r(copy, ":", &rest); dir && !home;
	     dir = strtok_r(NULL, ":", &rest)) {
		cleanup_free char *program = xasprintf("%s/java", dir);

		home = home_of_program(program);
	}
	return home;
}

char *java_home(const char *const *command, const char *const *env, const struct flink_conf *conf)
{
	size_t at = command_java(command);
	const char *home = flink_conf_get(conf, "env.java.home");
	struct stat info;

	if (at)
		return strchr(command[at - 1], '/') ? home_of_program(command[at - 1])
						    : home_in_path(env);
	if (!home || !*home)
		home = command_env(env, "JAVA_HOME");
	if (home && stat(home, &info) == 0 && S_ISDIR(info.st_mode))
		return xstrdup(home);
	return home_in_path(env);
}

int java_release(const char *home, struct buf *ret_release, struct err *err)
{
	cleanup_free char *path = xasprintf("%s/release", home);

	return fs_read(path, RELEASE_MAX_BYTES, ret_release, err);
}

char *java_release_value(const char *release, const char *name)
{
	size_t len = strlen(name);

	for (const char *line = release; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, len) == 0 && strncmp(line + len, "=\"", 2) == 0)
			return xstrndup(line + len + 2, strcspn(line + len + 2, "\"\n"));
		if (!*line)
			break;
	}
	return NULL;
}

static bool has_option(const char *options, const char *const *words)
{
	cleanup_free char *text = options ? xasprintf(" %s", options) : NULL;

	for (; text && *words; words++)
		if (strstr(text, *words))
			return true;
	return false;
}

bool java_option_given(enum flink_process process, const char *const *words,
		       const char *const *command, const char *const *env,
		       const struct flink_conf *conf)
{
	for (size_t i = 0; command && command[i]; i++)
		if (has_option(command[i], words))
			return true;
	for (size_t i = 0; i < ARRAY_LEN(option_variables); i++)
		if (has_option(command_env(env, option_variables[i]), words))
			return true;
	for (size_t i = 0; i < ARRAY_LEN(option_keys); i++)
		if (has_option(flink_conf_get(conf, option_keys[i]), words))
			return true;
	for (size_t i = 0; i < ARRAY_LEN(own_options[process].keys); i++)
		if (has_option(flink_conf_get(conf, own_options[process].keys[i]), words))
			return true;
	return has_option(command_env(env, own_options[process].variable), words);
}

static bool is_property(const char *word)
{
	static const char *const begins[] = {"-D",
					     "--add-opens=", "--add-exports=", "--add-reads="};

	for (size_t i = 0; i < ARRAY_LEN(begins); i++)
		if (strncmp(word, begins[i], strlen(begins[i])) == 0 && word[strlen(begins[i])])
			return true;
	return false;
}

static void each_in(const char *options, java_property_fn *fn, void *ctx)
{
	cleanup_free char *copy = xstrdup(options);
	char *save = NULL;

	for (char *word = copy ? strtok_r(copy, " \t\n\"'", &save) : NULL; word;
	     word = strtok_r(NULL, " \t\n\"'", &save))
		if (is_property(word))
			fn(ctx, word);
}

void java_each_property(enum flink_process process, const char *const *command,
			const char *const *env, const struct flink_conf *conf, java_property_fn *fn,
			void *ctx)
{
	for (size_t i = ARRAY_LEN(option_variables); i-- > 0;)
		each_in(command_env(env, option_variables[i]), fn, ctx);
	/* the default ones come first in Flink's scripts */
	for (size_t i = ARRAY_LEN(option_keys); i-- > 0;)
		each_in(flink_conf_get(conf, option_keys[i]), fn, ctx);
	for (size_t i = ARRAY_LEN(own_options[process].keys); i-- > 0;)
		each_in(flink_conf_get(conf, own_options[process].keys[i]), fn, ctx);
	each_in(command_env(env, own_options[process].variable), fn, ctx);
	/* of the command those of the JVM, in front of the main class */
	for (size_t i = command_java(command), end = command_options_begin(command);
	     i && i + 1 < end; i++)
		if (is_property(command[i]))
			fn(ctx, command[i]);
}
