#include "flink/jvm_line.h"

#include <string.h>

#include "base/mem.h"
#include "flink/command.h"

/* What docker-entrypoint.sh, Flink's scripts and bash itself set or change. All others come from
 * drey. FLINK_* is checked by prefix. */
static const char *const script_variables[] = {
	"DYNAMIC_PARAMETERS",
	"HADOOP_CLASSPATH",
	"HADOOP_CONF_DIR",
	"HBASE_CONF_DIR",
	"HOSTNAME",
	"JAVA_HOME",
	"JAVA_RUN",
	"JVM_ARGS",
	"LD_PRELOAD",
	"MALLOC_ARENA_MAX",
	"OLDPWD",
	"MAX_LOG_FILE_NUMBER",
	"PWD",
	"ROOT_LOG_LEVEL",
	"SHLVL",
	"YARN_CONF_DIR",
	"_",
};

/* ---- lists of strings ---- */

/* Strings that end in NUL each, as a list. */
static char **split_strings(const char *text, size_t len_bytes, size_t *ret_count)
{
	char **list = xcalloc(1, sizeof(*list));
	size_t count = 0;

	for (size_t at = 0; at < len_bytes;) {
		size_t len = strnlen(text + at, len_bytes - at);

		list = xreallocarray(list, count + 2, sizeof(*list));
		list[count++] = xstrndup(text + at, len);
		list[count] = NULL;
		at += len + 1;
	}
	*ret_count = count;
	return list;
}

static void free_strings(char **list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(list[i]);
	free(list);
}

static const char *const *borrow(char *const *list)
{
	return (const char *const *)list;
}

/* ---- the environment ---- */

static bool is_name(const char *entry, size_t name_len, const char *name)
{
	return strlen(name) == name_len && strncmp(entry, name, name_len) == 0;
}

static bool scripts_set(const char *entry, size_t name_len)
{
	if (strncmp(entry, "FLINK_", 6) == 0)
		return true;
	for (size_t i = 0; i < ARRAY_LEN(script_variables); i++)
		if (is_name(entry, name_len, script_variables[i]))
			return true;
	return false;
}

static bool have_entry(char *const *env, const char *entry)
{
	for (size_t i = 0; env && env[i]; i++)
		if (strcmp(env[i], entry) == 0)
			return true;
	return false;
}

static bool have_variable(char *const *env, const char *entry, size_t name_len)
{
	for (size_t i = 0; env && env[i]; i++)
		if (strncmp(env[i], entry, name_len + 1) == 0)
			return true;
	return false;
}

static int check_env(const struct jvm_line *line, const struct flink_exec *launched,
		     struct err *err)
{
	for (size_t i = 0; i < line->envc; i++) {
		const char *entry = line->env[i];
		size_t len = strcspn(entry, "=");

		/* MUT: a variable that a script of the user has set counts as Flink's */
		if (!scripts_set(entry, len) && !have_entry(launched->env, entry))
			return err_set(err, ERR_FORMAT, 0, "the command has set the variable %.*s",
				       (int)len, entry);
	}
	for (size_t i = 0; launched->env && launched->env[i]; i++) {
		const char *entry = launched->env[i];
		size_t len = strcspn(entry, "=");

		if (!scripts_set(entry, len) && !have_variable(line->env, entry, len))
			return err_set(err, ERR_FORMAT, 0,
				       "the command has removed the variable %.*s", (int)len,
				       entry);
	}
	return 0;
}

/* ---- the words ---- */

static bool is_program_java(const char *word)
{
	const char *slash = strrchr(word, '/');

	return strcmp(slash ? slash + 1 : word, "java") == 0;
}

/* Cut off what the launch added: it has to be there word for word. */
static int cut_tail(struct jvm_line *line, const struct flink_exec *launched, struct err *err)
{
	size_t tail = launched->argc - launched->command_argc;

	for (size_t i = 0; i < tail; i++)
		/* MUT: what the launch added may be something else by now */
		if (line->argc < tail || strcmp(line->argv[line->argc - tail + i],
						launched->argv[launched->command_argc + i]) != 0)
			return err_set(err, ERR_FORMAT, 0,
				       "its arguments do not end in those of the launch");
	for (size_t i = 0; i < tail; i++)
		free(line->argv[line->argc - 1 - i]);
	line->argc -= tail;
	line->argv[line->argc] = NULL;
	return 0;
}

static int find_entry(struct jvm_line *line, struct err *err)
{
	size_t at = command_options_begin(borrow(line->argv));
	struct command_word word;

	if (line->argc == 0 || !is_program_java(line->argv[0]))
		return err_set(err, ERR_FORMAT, 0, "the process is not java");
	if (at < 2)
		return err_set(err, ERR_FORMAT, 0, "the process has no entry point of Flink");
	line->entry = at - 1;
	while (command_next_option(borrow(line->argv), &at, &word)) {
		if (word.option == COMMAND_UNKNOWN || !word.value)
			return err_set(err, ERR_FORMAT, 0,
				       "there is an unknown word after its entry point");
		if (word.option == COMMAND_CONFIG_DIR && !line->config_dir)
			line->config_dir = word.value;
	}
	if (!line->config_dir)
		return err_set(err, ERR_FORMAT, 0, "it has no --configDir");
	line->class_path = command_class_path(borrow(line->argv));
	if (!line->class_path)
		return err_set(err, ERR_FORMAT, 0, "it has no class path on its command line");
	return 0;
}

int jvm_line_parse(const char *argv, size_t argv_bytes, const char *env, size_t env_bytes,
		   const struct flink_exec *launched, struct jvm_line *ret_line, struct err *err)
{
	struct jvm_line line = {0};

	line.argv = split_strings(argv, argv_bytes, &line.argc);
	line.env = split_strings(env, env_bytes, &line.envc);
	if (cut_tail(&line, launched, err) < 0 || find_entry(&line, err) < 0 ||
	    check_env(&line, launched, err) < 0) {
		jvm_line_release(&line);
		return -1;
	}
	*ret_line = line;
	return 0;
}

void jvm_line_release(struct jvm_line *line)
{
	free_strings(line->argv, line->argc);
	free_strings(line->env, line->envc);
	*line = (struct jvm_line){0};
}

/* Append copies to a list that has room for them. */
static void copy_strings(char *const *from, size_t count, char **to, size_t *packed_bytes)
{
	for (size_t i = 0; i < count; i++) {
		to[i] = xstrdup(from[i]);
		*packed_bytes += strlen(to[i]) + 1;
	}
}

void jvm_line_join(const struct jvm_line *line, const struct flink_exec *ordinary,
		   struct flink_exec *ret_exec)
{
	size_t tail = ordinary->argc - ordinary->command_argc;
	struct flink_exec exec = {
		.argc = line->argc + tail, .command_argc = line->argc, .envc = line->envc};

	exec.argv = xcalloc(exec.argc + 1, sizeof(*exec.argv));
	exec.env = xcalloc(exec.envc + 1, sizeof(*exec.env));
	copy_strings(line->argv, line->argc, exec.argv, &exec.packed_bytes);
	copy_strings(ordinary->argv + ordinary->command_argc, tail, exec.argv + line->argc,
		     &exec.packed_bytes);
	copy_strings(line->env, line->envc, exec.env, &exec.packed_bytes);
	*ret_exec = exec;
}
