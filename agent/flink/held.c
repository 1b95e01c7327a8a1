#include "flink/held.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/mem.h"
#include "flink/command.h"

#define DIRECTORY "held"
#define GO_SUFFIX ".json"
#define SCHEMA    1

/* ---- the jar ---- */

/* 1: it is in this directory and can be read, 0: it is not there. */
static int jar_in(const char *dir, char **ret_why)
{
	cleanup_free char *path = xasprintf("%s/%s", dir, HELD_JAR);
	struct stat info;

	if (stat(path, &info) < 0) {
		if (err_kind_of_errno(errno) == ERR_ABSENT)
			return 0;
	} else if (access(path, R_OK) == 0) {
		return S_ISREG(info.st_mode);
	}
	*ret_why = xasprintf("%s cannot be read: %s", path, strerror(errno));
	return -1;
}

/* An entry of a Java class path: "dir/" + "*", or the jar itself. */
static int jar_at(const char *entry, char **ret_why)
{
	const char *slash = strrchr(entry, '/'), *name = slash ? slash + 1 : entry;
	cleanup_free char *dir = slash ? xstrndup(entry, (size_t)(slash - entry)) : xstrdup(".");

	if (strcmp(name, "*") != 0 && strcmp(name, HELD_JAR) != 0)
		return 0;
	return jar_in(dir, ret_why);
}

static bool jar_on_class_path(const char *class_path, char **ret_why)
{
	cleanup_free char *copy = xstrdup(class_path);
	char *save = NULL;
	int found = 0;

	for (char *entry = strtok_r(copy, ":", &save); entry && !found;
	     entry = strtok_r(NULL, ":", &save))
		found = jar_at(entry, ret_why);
	if (!found)
		*ret_why = xasprintf("%s is not on the class path in flink.command", HELD_JAR);
	return found > 0;
}

static bool is_dir(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

bool held_jar_is_there(const char *const *command, const char *const *env, char **ret_why)
{
	const char *class_path = command_class_path(command);
	const char *lib = command_env(env, "FLINK_LIB_DIR");
	cleanup_free char *home = command_flink_home(command, env);
	cleanup_free char *script_home = command_script_home(command);
	cleanup_free char *home_lib = home ? xasprintf("%s/lib", home) : NULL;
	cleanup_free char *script_lib = script_home ? xasprintf("%s/lib", script_home) : NULL;
	const char *const dirs[] = {lib, home_lib, script_lib};
	int found;

	if (class_path)
		return jar_on_class_path(class_path, ret_why);
	for (size_t i = 0; i < ARRAY_LEN(dirs); i++) {
		if (!dirs[i] || !is_dir(dirs[i]))
			continue;
		found = jar_in(dirs[i], ret_why);
		if (!found)
			*ret_why = xasprintf("%s is not in %s", HELD_JAR, dirs[i]);
		return found > 0;
	}
	*ret_why = xstrdup("the lib directory of Flink was not found");
	return false;
}

bool held_is_possible(const struct flink_launch *launch, bool root, char **ret_why)
{
	const char *why = flink_launch_cannot_hold(launch);

	/* MUT: a JVM of another user may be held */
	if (!why && !command_keeps_user(launch->command, root))
		why = "flink.command may run Flink as another user";
	if (why) {
		*ret_why = xstrdup(why);
		return false;
	}
	return held_jar_is_there(launch->command, launch->env, ret_why);
}

/* ---- what the JVM writes ---- */

char *held_file(const char *state_dir, const char *job_id)
{
	return xasprintf("%s/%s/%s%s", state_dir, DIRECTORY, job_id, GO_SUFFIX);
}

int held_begin(const char *file, struct err *err)
{
	const char *slash = strrchr(file, '/');
	cleanup_free char *dir = xstrndup(file, slash ? (size_t)(slash - file) : 0);
	cleanup_free char *held = xasprintf("%s.held", file);

	if (fs_mkdirs(dir, 0700, err) < 0)
		return -1;
	/* MUT: what an earlier JVM has written counts for the next one */
	if (unlink(held) < 0 && errno != ENOENT)
		return err_set(err, err_kind_of_errno(errno), errno, "remove %s", held);
	return 0;
}

static int parse_members(const struct json *doc, struct held_main *ret_main, struct err *err)
{
	struct held_main main = {0};
	const char *class_name;
	int64_t schema;

	if (json_need_i64(doc, "schema", &schema, err) < 0 ||
	    json_need_str(doc, "class", &class_name, err) < 0 ||
	    json_need_i64(doc, "heldUnixMs", &main.held_unix_ms, err) < 0 ||
	    json_need_i64(doc, "pid", &main.pid, err) < 0)
		return -1;
	if (schema != SCHEMA)
		return err_set(err, ERR_FORMAT, 0, "its schema is not %d", SCHEMA);
	main.class_name = xstrdup(class_name);
	*ret_main = main;
	return 0;
}

int held_parse(const char *text, size_t len_bytes, struct held_main *ret_main, struct err *err)
{
	cleanup_json struct json *doc = json_parse(text, len_bytes, HELD_MAX_BYTES, err);

	return doc ? parse_members(doc, ret_main, err) : -1;
}

int held_read(const char *file, struct held_main *ret_main, struct err *err)
{
	cleanup_free char *held = xasprintf("%s.held", file);
	cleanup_buf struct buf text = BUF_INIT;

	if (fs_read(held, HELD_MAX_BYTES, &text, err) < 0)
		return -1;
	if (held_parse(buf_str(&text), text.len_bytes, ret_main, err) < 0)
		return err_wrap(err, "%s", held);
	return 0;
}

void held_main_release(struct held_main *main)
{
	free(main->class_name);
	*main = (struct held_main){0};
}

/* ---- what drey writes ---- */

static int go_text(const struct held_go *go, struct buf *text, struct err *err)
{
	cleanup_json struct json *doc = json_object();

	if (go->go && go->path && !go->path[0])
		return err_set(err, ERR_CONFIG, 0, "the restore path is empty");
	if (!go->go && (!go->why || !go->why[0]))
		return err_set(err, ERR_CONFIG, 0, "no reason is given");
	json_add_i64(doc, "schema", SCHEMA);
	json_add_bool(doc, "go", go->go);
	if (go->go) {
		json_add_str(doc, "path", go->path ? go->path : "");
		json_add_bool(doc, "allowNonRestored", go->allow_non_restored);
		if (go->side)
			json_add_str(doc, "side", go->side);
		if (go->gate_side)
			json_add_str(doc, go->gate_key, go->gate_side);
	} else {
		json_add_str(doc, "why", go->why);
	}
	json_print(doc, text);
	buf_addch(text, '\n');
	return 0;
}

int held_go(const char *file, const struct held_go *go, struct err *err)
{
	cleanup_buf struct buf text = BUF_INIT, old = BUF_INIT;
	struct err why = {0};

	if (go_text(go, &text, err) < 0)
		return err_wrap(err, "write %s", file);
	if (fs_read(file, HELD_MAX_BYTES, &old, &why) == 0) {
		if (old.len_bytes == text.len_bytes &&
		    memcmp(buf_str(&old), buf_str(&text), old.len_bytes) == 0)
			return 0;
		return err_set(err, ERR_BUSY, 0, "%s exists, and says something else", file);
	}
	if (why.kind != ERR_ABSENT)
		return err_pass(err, &why);
	return fs_write_atomic(file, buf_str(&text), text.len_bytes, 0600, err);
}

bool held_was_told(const char *file)
{
	return access(file, F_OK) == 0;
}

/* "JOBID.json" and what follows, of a launch other than job_id. */
static bool is_left(const char *name, const char *job_id)
{
	if (strspn(name, "0123456789abcdef") != FLINK_ID_CHARS ||
	    strncmp(name + FLINK_ID_CHARS, GO_SUFFIX, strlen(GO_SUFFIX)) != 0)
		return false;
	/* MUT: the go file of the running launch is removed */
	return !job_id || strncmp(name, job_id, FLINK_ID_CHARS) != 0;
}

int held_sweep(const char *state_dir, const char *job_id, struct err *err)
{
	cleanup_free char *dir = xasprintf("%s/%s", state_dir, DIRECTORY);
	const struct dirent *entry;
	DIR *stream = opendir(dir);
	int result = 0;

	if (!stream)
		return errno == ENOENT
			       ? 0
			       : err_set(err, err_kind_of_errno(errno), errno, "open %s", dir);
	while (errno = 0, (entry = readdir(stream)))
		if (is_left(entry->d_name, job_id) &&
		    unlinkat(dirfd(stream), entry->d_name, 0) < 0 && result == 0)
			result = err_set(err, err_kind_of_errno(errno), errno, "remove %s/%s", dir,
					 entry->d_name);
	if (errno && result == 0)
		result = err_set(err, err_kind_of_errno(errno), errno, "read %s", dir);
	closedir(stream);
	return result;
}
