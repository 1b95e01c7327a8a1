/*
 * Any strings of a process as the command line of a JobManager's JVM: refused in a sentence that has no value of a
 * variable, or a line; joined with the same launch it is what the process had, and read again the same line.
 *
 * The input: the arguments, 0xff, the environment; each string ends in NUL, and "~" at the end of the arguments stands
 * for what the launch has added.
 */
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "flink/jvm_line.h"
#include "must.h"

#define SECRET   "hunter2-is-the-secret"
#define BOUNDARY 0xff

static char *launched_argv[] = {
	"/docker-entrypoint.sh", "standalone-job", "-D", "a=b", "--job-id", "x123", NULL};
static char *launched_env[] = {"PATH=/bin", "SECRET=" SECRET, "JVM_ARGS=-Da=b", "EMPTY=", NULL};
static const char tail[] = "-D\0a=b\0--job-id\0x123";

static const struct flink_exec launched = {.argv = launched_argv,
					   .env = launched_env,
					   .argc = ARRAY_LEN(launched_argv) - 1,
					   .envc = ARRAY_LEN(launched_env) - 1,
					   .command_argc = 2};

static void pack(char *const *list, struct buf *to)
{
	for (; *list; list++)
		buf_add(to, *list, strlen(*list) + 1);
}

static bool have(char *const *list, const char *text)
{
	for (; *list; list++)
		if (!strcmp(*list, text))
			return true;
	return false;
}

static bool is_within(char *const *list, const char *at)
{
	for (; *list; list++)
		if (at >= *list && at <= *list + strlen(*list))
			return true;
	return false;
}

static void check_list(char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		must(list[i] != NULL);
	must(!list[count]);
}

static void check_line(const struct jvm_line *line)
{
	check_list(line->argv, line->argc);
	check_list(line->env, line->envc);
	must(line->entry > 0 && line->entry < line->argc);
	must(is_within(line->argv, line->class_path) && is_within(line->argv, line->config_dir));
	must(strlen(line->argv[0]) >= 4 &&
	     !strcmp(line->argv[0] + strlen(line->argv[0]) - 4, "java"));
	/* what drey has set and no script changes is as it was */
	must(have(line->env, "PATH=/bin") && have(line->env, "SECRET=" SECRET) &&
	     have(line->env, "EMPTY="));
}

static void check_same(const struct jvm_line *a, const struct jvm_line *b)
{
	must(a->argc == b->argc && a->envc == b->envc && a->entry == b->entry);
	for (size_t i = 0; i < a->argc; i++)
		must(!strcmp(a->argv[i], b->argv[i]));
	must(!strcmp(a->class_path, b->class_path) && !strcmp(a->config_dir, b->config_dir));
}

static void check_join(const struct jvm_line *line, const struct buf *argv, const struct buf *env)
{
	cleanup_buf struct buf joined_argv = BUF_INIT, joined_env = BUF_INIT;
	struct flink_exec joined;
	struct jvm_line again;

	jvm_line_join(line, &launched, &joined);
	check_list(joined.argv, joined.argc);
	check_list(joined.env, joined.envc);
	pack(joined.argv, &joined_argv);
	pack(joined.env, &joined_env);
	must(joined.packed_bytes == joined_argv.len_bytes + joined_env.len_bytes);
	/* the last NUL may be missing in the input */
	must(joined_argv.len_bytes - argv->len_bytes <= 1 &&
	     !memcmp(buf_str(&joined_argv), buf_str(argv), argv->len_bytes));
	must(joined_env.len_bytes - env->len_bytes <= 1 &&
	     !memcmp(buf_str(&joined_env), buf_str(env), env->len_bytes));
	must(jvm_line_parse(joined_argv.data, joined_argv.len_bytes, joined_env.data,
			    joined_env.len_bytes, &launched, &again, NULL) == 0);
	check_same(line, &again);
	jvm_line_release(&again);
	flink_exec_release(&joined);
}

/* A name may be anything, also the secret. */
static bool is_a_name(const struct buf *env)
{
	for (size_t at = 0; at < env->len_bytes; at += strlen(env->data + at) + 1) {
		const char *entry = env->data + at, *found = strstr(entry, SECRET);

		if (found && !memchr(entry, '=', (size_t)(found - entry)))
			return true;
	}
	return false;
}

static void split_input(const uint8_t *data, size_t size_bytes, struct buf *argv, struct buf *env)
{
	const uint8_t *boundary = size_bytes ? memchr(data, BOUNDARY, size_bytes) : NULL;
	size_t len = boundary ? (size_t)(boundary - data) : size_bytes;

	buf_add(argv, data, len);
	if (len && data[len - 1] == '~') {
		argv->len_bytes--;
		buf_add(argv, tail, sizeof(tail));
	}
	if (boundary)
		buf_add(env, boundary + 1, size_bytes - len - 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	cleanup_buf struct buf argv = BUF_INIT, env = BUF_INIT;
	struct jvm_line line = {.argc = 77};
	struct err err = {0};

	split_input(data, size_bytes, &argv, &env);
	if (jvm_line_parse(buf_str(&argv), argv.len_bytes, buf_str(&env), env.len_bytes, &launched,
			   &line, &err) < 0) {
		must(err.kind == ERR_FORMAT && err.msg[0]);
		must(!strstr(err.msg, SECRET) || is_a_name(&env));
		must(line.argc == 77 && !line.argv && !line.env);
		return 0;
	}
	must(err.kind == ERR_NONE);
	check_line(&line);
	check_join(&line, &argv, &env);
	jvm_line_release(&line);
	return 0;
}
