/*
 * The version of the Flink that a command starts, from the names of its jars.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "flink/command.h"
#include "flink/version.h"

/* Which jar names contain the version; the distribution's own jar beats a single module. */
static const char *const jar_prefixes[] = {"flink-dist-", "flink-dist_2.12-", "flink-dist_2.11-",
					   "flink-runtime-"};

/* ---- detection ---- */

/* The best jar so far in one directory. */
struct found {
	struct flink_version version;
	size_t rank; /* index in jar_prefixes */
	char *jar;
};

static void found_release(struct found *found)
{
	free(found->jar);
}

/* Does this file name contain a version? */
static bool jar_version(const char *name, struct flink_version *ret_version, size_t *ret_rank)
{
	for (size_t i = 0; i < ARRAY_LEN(jar_prefixes); i++) {
		size_t prefix = strlen(jar_prefixes[i]), len = strlen(name);
		char number[64];

		if (strncmp(name, jar_prefixes[i], prefix) != 0)
			continue;
		if (len < prefix + 5 || strcmp(name + len - 4, ".jar") != 0 ||
		    len - prefix - 4 >= sizeof(number))
			return false;
		memcpy(number, name + prefix, len - prefix - 4);
		number[len - prefix - 4] = '\0';
		*ret_rank = i;
		return flink_version_parse(number, ret_version, NULL) == 0;
	}
	return false;
}

/* Consider a jar. ERR_CONFIG if its version differs from one of the same rank. */
static int look_at_jar(const char *dir, const char *name, struct found *found, struct err *err)
{
	struct flink_version version;
	size_t rank;
	char *jar;

	if (!jar_version(name, &version, &rank))
		return 0;
	if (found->jar && rank > found->rank)
		return 0;
	jar = dir ? xasprintf("%s/%s", dir, name) : xstrdup(name);
	if (found->jar && rank == found->rank && flink_version_compare(version, found->version)) {
		err_set(err, ERR_CONFIG, 0, "two Flink versions in one directory: %s and %s",
			found->jar, jar);
		free(jar);
		return -1;
	}
	free(found->jar);
	*found = (struct found){version, rank, jar};
	return 0;
}

static int look_in_dir(const char *dir, struct found *found, struct err *err)
{
	DIR *handle = opendir(dir);
	struct dirent *entry;
	int result = 0;

	if (!handle) {
		if (err_kind_of_errno(errno) == ERR_ABSENT)
			return 0;
		return err_set(err, err_kind_of_errno(errno), errno, "read directory %s", dir);
	}
	while (errno = 0, result == 0 && (entry = readdir(handle)))
		result = look_at_jar(dir, entry->d_name, found, err);
	if (result == 0 && errno)
		result = err_set(err, err_kind_of_errno(errno), errno, "read directory %s", dir);
	closedir(handle);
	return result;
}

/* One entry of a Java class path: "dir/" + "*", or a jar, or a directory of classes. */
static int look_at_entry(const char *entry, struct found *found, struct err *err)
{
	size_t len = strlen(entry);
	const char *slash = strrchr(entry, '/');

	if (len >= 1 && entry[len - 1] == '*' && (len == 1 || entry[len - 2] == '/')) {
		cleanup_free char *dir =
			len <= 2 ? xstrdup(len == 2 ? "/" : ".") : xstrndup(entry, len - 2);
		return look_in_dir(dir, found, err);
	}
	if (slash) {
		cleanup_free char *dir = xstrndup(entry, (size_t)(slash - entry));
		return look_at_jar(dir, slash + 1, found, err);
	}
	return look_at_jar(NULL, entry, found, err);
}

static int look_at_class_path(const char *class_path, struct found *found, struct err *err)
{
	cleanup_free char *copy = xstrdup(class_path);
	char *save = NULL;

	for (char *entry = strtok_r(copy, ":", &save); entry; entry = strtok_r(NULL, ":", &save))
		if (look_at_entry(entry, found, err) < 0)
			return -1;
	return 0;
}

/* The directories in order; stops at the first that has a jar. */
static int look_everywhere(const char *const *command, const char *const *env, struct found *found,
			   struct err *err)
{
	const char *class_path = command_class_path(command);
	const char *lib_dir = command_env(env, "FLINK_LIB_DIR");
	cleanup_free char *home = command_flink_home(command, env);
	cleanup_free char *home_lib = home ? xasprintf("%s/lib", home) : NULL;
	cleanup_free char *script_home = command_script_home(command);
	cleanup_free char *script_lib = script_home ? xasprintf("%s/lib", script_home) : NULL;
	const char *const dirs[] = {lib_dir, home_lib, script_lib};

	if (class_path && look_at_class_path(class_path, found, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(dirs) && !found->jar; i++)
		if (dirs[i] && look_in_dir(dirs[i], found, err) < 0)
			return -1;
	return 0;
}

int flink_version_detect(const char *const *command, const char *const *env,
			 struct flink_version *ret_version, char **ret_jar, struct err *err)
{
	struct found found = {0};

	if (look_everywhere(command, env, &found, err) < 0) {
		found_release(&found);
		return err_wrap(err, "find the Flink version");
	}
	if (!found.jar)
		return err_set(err, ERR_ABSENT, 0,
			       "find the Flink version: no flink-dist-*.jar or flink-runtime-*.jar "
			       "in the class path of the command, FLINK_LIB_DIR or FLINK_HOME/lib");
	*ret_version = found.version;
	if (ret_jar) {
		*ret_jar = found.jar;
		found.jar = NULL;
	}
	found_release(&found);
	return 0;
}
