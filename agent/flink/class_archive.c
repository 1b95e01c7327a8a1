#include "flink/class_archive.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"
#include "flink/command.h"

#define RELEASE_MAX_BYTES ((size_t)64 * 1024)

/* Where a user may have set options of the JVM. */
static const char *const option_variables[] = {"JVM_ARGS",          "FLINK_ENV_JAVA_OPTS",
					       "JAVA_TOOL_OPTIONS", "FLINK_ENV_JAVA_OPTS_JM",
					       "JDK_JAVA_OPTIONS",  "_JAVA_OPTIONS"};
static const char *const option_keys[] = {"env.java.opts.all", "env.java.opts",
					  "env.java.opts.jobmanager"};

/* ---- which Java ---- */

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

/* The home of the Java that `command` starts: the `java` in the command, else the choice of Flink's
 * scripts: env.java.home, $JAVA_HOME if that is a directory, the `java` in PATH. NULL: there is
 * none. The caller frees it. */
static char *java_home(const char *const *command, const char *const *env,
		       const struct flink_conf *conf)
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

/* ---- does it fit ---- */

static bool speaks_of_archives(const char *text)
{
	return text && (strstr(text, "-Xshare") || strstr(text, "SharedArchive") ||
			strstr(text, "ArchiveClassesAtExit") || strstr(text, "SharedClassList"));
}

static bool user_decides(const char *const *command, const char *const *env,
			 const struct flink_conf *conf)
{
	for (size_t i = 0; command && command[i]; i++)
		if (speaks_of_archives(command[i]))
			return true;
	for (size_t i = 0; i < ARRAY_LEN(option_variables); i++)
		if (speaks_of_archives(command_env(env, option_variables[i])))
			return true;
	for (size_t i = 0; i < ARRAY_LEN(option_keys); i++)
		if (speaks_of_archives(flink_conf_get(conf, option_keys[i])))
			return true;
	return false;
}

/* The value of NAME="value" in a `release` file; the caller frees it; NULL: there is none. */
static char *release_value(const char *release, const char *name)
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

/* "Eclipse Adoptium 17.0.9+9"; the caller frees it. */
static char *release_name(const char *release)
{
	cleanup_free char *vendor = release_value(release, "IMPLEMENTOR");
	cleanup_free char *runtime = release_value(release, "JAVA_RUNTIME_VERSION");
	cleanup_free char *version = release_value(release, "JAVA_VERSION");
	const char *number = runtime ? runtime : version;

	return xasprintf("%s %s", vendor ? vendor : "Java", number ? number : "of unknown version");
}

/* NULL: it fits, else why not. */
static char *why_not(const char *file, const char *home)
{
	cleanup_free char *made_path = xasprintf("%s.jvm", file);
	cleanup_free char *here_path = xasprintf("%s/release", home ? home : "");
	cleanup_buf struct buf made = BUF_INIT, here = BUF_INIT;
	cleanup_free char *made_name = NULL, *here_name = NULL;
	struct err err = {0};

	if (strcspn(file, " \t\r\n*?[]\\'\"$`") != strlen(file))
		return xstrdup("its path has characters that Flink's scripts do not pass on");
	if (!home)
		return xstrdup("the Java that starts Flink was not found");
	if (fs_read(made_path, RELEASE_MAX_BYTES, &made, &err) < 0)
		return xasprintf("the Java that made it is unknown: %s", err.msg);
	if (fs_read(here_path, RELEASE_MAX_BYTES, &here, &err) < 0)
		return xasprintf("the Java that starts Flink is unknown: %s", err.msg);
	if (made.len_bytes == here.len_bytes &&
	    memcmp(buf_str(&made), buf_str(&here), made.len_bytes) == 0)
		return NULL;
	made_name = release_name(buf_str(&made));
	here_name = release_name(buf_str(&here));
	return xasprintf("it was made by %s, but Flink is started by %s%s", made_name,
			 strcmp(made_name, here_name) == 0 ? "another build of " : "", here_name);
}

void class_archive_find(const char *wanted, const char *const *command, const char *const *env,
			const struct flink_conf *conf, struct class_archive *ret_archive)
{
	bool usual = strcmp(wanted, CLASS_ARCHIVE_AUTO) == 0;
	const char *file = usual ? CLASS_ARCHIVE_DEFAULT : wanted;
	cleanup_free char *home = NULL;
	struct stat info;

	*ret_archive = (struct class_archive){.use = CLASS_ARCHIVE_ABSENT};
	if (strcmp(wanted, CLASS_ARCHIVE_NONE) == 0)
		return;
	if (stat(file, &info) < 0 && usual)
		return;
	ret_archive->use = CLASS_ARCHIVE_REFUSED;
	ret_archive->file = xstrdup(file);
	if (access(file, R_OK) < 0) {
		ret_archive->why = xstrdup("the file does not exist or cannot be read");
		return;
	}
	if (user_decides(command, env, conf)) {
		ret_archive->why = xstrdup("the JVM options already have one, or disable it");
		return;
	}
	home = java_home(command, env, conf);
	ret_archive->why = why_not(file, home);
	if (!ret_archive->why)
		ret_archive->use = CLASS_ARCHIVE_USED;
}

void class_archive_release(struct class_archive *archive)
{
	free(archive->file);
	free(archive->why);
	*archive = (struct class_archive){0};
}
