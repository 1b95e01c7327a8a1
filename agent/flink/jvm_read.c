#include "flink/jvm_read.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "flink/command.h"
#include "flink/jvm_files.h"
#include "flink/jvm_process.h"

/* The clock of /proc counts hundredths of seconds, and exec takes time. */
#define CLOCK_TOLERANCE_MS 2000

struct jvm_root {
	char *path;
	enum jvm_root_kind kind;
};

static const char *const *constant(char *const *list)
{
	return (const char *const *)list;
}

/* ---- what the line was derived from ---- */

/* Takes the path over. */
static void add_root(struct jvm_origin *origin, char *path, enum jvm_root_kind kind)
{
	origin->roots =
		xreallocarray(origin->roots, origin->root_count + 1, sizeof(*origin->roots));
	origin->roots[origin->root_count++] = (struct jvm_root){path, kind};
}

static char *in_path(const char *program, const char *const *env)
{
	const char *path = command_env(env, "PATH");
	cleanup_free char *copy = xstrdup(path ? path : "/usr/local/bin:/usr/bin:/bin");
	char *rest;

	for (char *dir = strtok_r(copy, ":", &rest); dir; dir = strtok_r(NULL, ":", &rest)) {
		char *file = xasprintf("%s/%s", dir, program);

		if (access(file, X_OK) == 0)
			return file;
		free(file);
	}
	return NULL;
}

/* Words of the command that are files: scripts, mostly. */
static void add_command_files(struct jvm_origin *origin, const struct flink_exec *launched)
{
	for (size_t i = 0; i < launched->command_argc; i++) {
		const char *word = launched->argv[i];
		char *found = NULL;

		if (strchr(word, '/') && access(word, F_OK) == 0)
			found = xstrdup(word);
		else if (i == 0)
			found = in_path(word, constant(launched->env));
		if (found)
			add_root(origin, found, JVM_ROOT_FILE);
	}
}

static void add_class_path(struct jvm_origin *origin)
{
	cleanup_free char *copy = xstrdup(origin->line.class_path);
	char *rest;

	/* an empty entry is the working directory, which is not Flink's */
	for (char *entry = strtok_r(copy, ":", &rest); entry; entry = strtok_r(NULL, ":", &rest)) {
		size_t len = strlen(entry);

		if (len > 1 && strcmp(entry + len - 2, "/*") == 0)
			len -= 2;
		add_root(origin, xstrndup(entry, len), JVM_ROOT_TREE);
	}
}

/* Options of the JVM that name a file; what follows the file is cut off. */
static void add_option_files(struct jvm_origin *origin)
{
	static const char *const options[] = {"-javaagent:",
					      "-agentpath:",
					      "-Xbootclasspath/a:",
					      "-XX:SharedArchiveFile=",
					      "-XX:VMOptionsFile=",
					      "-XX:Flags=",
					      "@"};

	for (size_t i = 1; i < origin->line.entry; i++)
		for (size_t k = 0; k < ARRAY_LEN(options); k++) {
			const char *word = origin->line.argv[i];
			size_t len = strlen(options[k]);

			if (strncmp(word, options[k], len) == 0)
				add_root(origin, xstrndup(word + len, strcspn(word + len, "=:")),
					 JVM_ROOT_FILE);
		}
}

/* What drey-init would find must be what runs. */
static int add_java(struct jvm_origin *origin, const char *program, struct err *err)
{
	static const char *const parts[] = {"lib/modules", "lib/server/libjvm.so", "lib/jvm.cfg"};
	const char *name = origin->line.argv[0], *slash = strrchr(program, '/');
	char *called =
		strchr(name, '/') ? xstrdup(name) : in_path(name, constant(origin->line.env));
	struct stat found, running;

	add_root(origin, xstrdup(program), JVM_ROOT_FILE);
	if (called)
		add_root(origin, called, JVM_ROOT_FILE);
	if (!called || stat(called, &found) < 0 || stat(program, &running) < 0 ||
	    found.st_dev != running.st_dev || found.st_ino != running.st_ino)
		return err_set(err, ERR_FORMAT, 0, "'%s' is another program than %s", name,
			       program);
	for (size_t i = 0; slash && i < ARRAY_LEN(parts); i++)
		add_root(origin, xasprintf("%.*s/../%s", (int)(slash - program), program, parts[i]),
			 JVM_ROOT_FILE);
	return 0;
}

/* A directory of the distribution: what its scripts say, else where it usually is. */
static void add_home_dir(struct jvm_origin *origin, const char *variable, const char *home,
			 const char *name)
{
	const char *dir = command_env(constant(origin->line.env), variable);

	if (dir)
		add_root(origin, xstrdup(dir), JVM_ROOT_TREE);
	if (home)
		add_root(origin, xasprintf("%s/%s", home, name), JVM_ROOT_TREE);
}

static int find_roots(struct jvm_origin *origin, const struct jvm_launch *launch,
		      const char *program, struct err *err)
{
	const char *conf = command_env(constant(origin->line.env), "FLINK_CONF_DIR");

	add_command_files(origin, launch->launched);
	add_root(origin, xstrdup(origin->line.config_dir), JVM_ROOT_CONTENTS);
	if (conf && strcmp(conf, origin->line.config_dir) != 0)
		add_root(origin, xstrdup(conf), JVM_ROOT_CONTENTS);
	add_home_dir(origin, "FLINK_BIN_DIR", launch->flink_home, "bin");
	add_home_dir(origin, "FLINK_LIB_DIR", launch->flink_home, "lib");
	add_home_dir(origin, "FLINK_PLUGINS_DIR", launch->flink_home, "plugins");
	add_class_path(origin);
	add_option_files(origin);
	return add_java(origin, program, err);
}

/* ---- the fingerprint ---- */

static void add_strings(struct buf *text, char *const *list)
{
	for (size_t i = 0; list && list[i]; i++)
		buf_add(text, list[i], strlen(list[i]) + 1);
	buf_addch(text, '\0');
}

static int read_files(const struct jvm_origin *origin, struct jvm_files *files, struct err *err)
{
	for (size_t i = 0; i < origin->root_count; i++)
		if (jvm_files_add(files, origin->roots[i].path, origin->roots[i].kind, err) < 0)
			return -1;
	return 0;
}

static void hash(const struct flink_exec *shape, struct jvm_files *files,
		 char ret_fingerprint[SHA256_HEX_BYTES])
{
	add_strings(&files->text, shape->argv);
	add_strings(&files->text, shape->env);
	sha256_hex(files->text.data, files->text.len_bytes, ret_fingerprint);
}

int jvm_fingerprint(const struct jvm_origin *origin, const struct flink_exec *shape,
		    char ret_fingerprint[SHA256_HEX_BYTES], struct err *err)
{
	cleanup_jvm_files struct jvm_files files = {0};
	int result = read_files(origin, &files, err);

	if (result == 0)
		hash(shape, &files, ret_fingerprint);
	return result;
}

/* ---- reading ---- */

/* Everything must be as it was when the JVM began: nobody has seen it then. */
static int check_unchanged(const struct jvm_launch *launch, const struct jvm_files *files,
			   struct err *err)
{
	int64_t forked_unix_ms, became_unix_ms;

	if (jvm_process_forked(launch->pid, &forked_unix_ms, err) < 0 ||
	    jvm_process_became(launch->pid, &became_unix_ms, err) < 0)
		return -1;
	if (launch->started_unix_ms &&
	    llabs(forked_unix_ms - launch->started_unix_ms) > CLOCK_TOLERANCE_MS)
		return err_set(err, ERR_FORMAT, 0, "the clock was changed since it was started");
	/* MUT: a file that changed after the start of the JVM counts as unchanged */
	if (files->newest_unix_ns >= became_unix_ms * 1000000)
		return err_set(err, ERR_FORMAT, 0, "%s has changed since it was started",
			       files->newest);
	return 0;
}

/* What was launched is computed again from a file that may say something else by now. */
static int check_file(const struct jvm_launch *launch, struct err *err)
{
	cleanup_jvm_files struct jvm_files files = {0};
	int result;

	if (!launch->file)
		return 0;
	result = jvm_files_add(&files, launch->file, JVM_ROOT_FILE, err);
	if (result == 0 && files.newest_unix_ns >= launch->file_before_unix_ms * 1000000)
		result = err_set(err, ERR_FORMAT, 0, "%s may have changed since it was started",
				 launch->file);
	return result;
}

static int read_line(const struct jvm_launch *launch, struct jvm_line *ret_line, struct err *err)
{
	cleanup_buf struct buf argv = BUF_INIT, env = BUF_INIT;

	if (jvm_process_read(launch->pid, "cmdline", &argv, err) < 0 ||
	    jvm_process_read(launch->pid, "environ", &env, err) < 0)
		return -1;
	return jvm_line_parse(buf_str(&argv), argv.len_bytes, buf_str(&env), env.len_bytes,
			      launch->launched, ret_line, err);
}

static int read_origin(const struct jvm_launch *launch, const char *program,
		       struct jvm_origin *origin, struct err *err)
{
	cleanup_jvm_files struct jvm_files files = {0};
	int result = find_roots(origin, launch, program, err);

	if (result == 0)
		result = read_files(origin, &files, err);
	if (result == 0)
		result = check_unchanged(launch, &files, err);
	if (result == 0)
		hash(launch->shape, &files, origin->fingerprint);
	return result;
}

int jvm_read(const struct jvm_launch *launch, struct jvm_origin *ret_origin, struct err *err)
{
	struct jvm_origin origin = {0};
	cleanup_free char *program = jvm_process_program(launch->pid, err);

	if (!program || jvm_process_same(launch->pid, err) < 0 || check_file(launch, err) < 0 ||
	    read_line(launch, &origin.line, err) < 0)
		return -1;
	if (read_origin(launch, program, &origin, err) < 0) {
		jvm_origin_release(&origin);
		return -1;
	}
	*ret_origin = origin;
	return 0;
}

void jvm_origin_release(struct jvm_origin *origin)
{
	for (size_t i = 0; i < origin->root_count; i++)
		free(origin->roots[i].path);
	free(origin->roots);
	jvm_line_release(&origin->line);
	*origin = (struct jvm_origin){0};
}
