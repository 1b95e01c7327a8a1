#include "run/effects/spare_line.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

#define SPARE_CLASS "drey.spare.Spare"
#define ADDED       3 /* the class, its two arguments; the entry point itself is one of them */

/* The class path is a word, or behind the "=" of one. */
static char *with_jar(const struct jvm_line *line, const char *word, const char *jar)
{
	const char *equals = strchr(word, '=');
	bool has_it = word == line->class_path || (equals && equals + 1 == line->class_path);

	return has_it ? xasprintf("%s:%s", word, jar) : xstrdup(word);
}

char **spare_line_argv(const struct jvm_line *line, const char *jar)
{
	char **argv = xcalloc(line->entry + ADDED + 1, sizeof(*argv));
	size_t count = 0;

	for (; count < line->entry; count++)
		argv[count] = with_jar(line, line->argv[count], jar);
	argv[count++] = xstrdup(SPARE_CLASS);
	argv[count++] = xstrdup(line->argv[line->entry]);
	argv[count++] = xstrdup(line->config_dir);
	return argv;
}

void spare_line_free(char **argv)
{
	for (size_t i = 0; argv && argv[i]; i++)
		free(argv[i]);
	free(argv);
}

/* A warm spare would take the port, or write to the file of the JVM that runs the job. */
static bool is_exclusive(const char *option)
{
	static const char *const parts[] = {"-javaagent:",
					    "-agentlib:",
					    "-agentpath:",
					    "-Xrun",
					    "-Xloggc",
					    "-Dcom.sun.management.jmxremote.port",
					    "-XX:StartFlightRecording",
					    "-XX:LogFile="};

	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		if (strstr(option, parts[i]))
			return true;
	return strstr(option, "-Xlog") && strstr(option, "file=");
}

const char *spare_line_exclusive(const struct jvm_line *line)
{
	for (size_t i = 1; i < line->entry; i++)
		if (is_exclusive(line->argv[i]))
			return line->argv[i];
	for (size_t i = 0; i < line->envc; i++)
		if ((!strncmp(line->env[i], "JAVA_TOOL_OPTIONS=", 18) ||
		     !strncmp(line->env[i], "JDK_JAVA_OPTIONS=", 17)) &&
		    is_exclusive(line->env[i]))
			return line->env[i];
	return NULL;
}

void spare_line_hash(char *const *argv, size_t argc, char *const *env,
		     char ret_hex[SHA256_HEX_BYTES])
{
	cleanup_buf struct buf packed = BUF_INIT;

	/* each string ends in a NUL, and an empty one separates the lists */
	for (size_t i = 0; i < argc && argv[i]; i++)
		buf_add(&packed, argv[i], strlen(argv[i]) + 1);
	buf_add(&packed, "", 1);
	for (size_t i = 0; env && env[i]; i++)
		buf_add(&packed, env[i], strlen(env[i]) + 1);
	sha256_hex(packed.data, packed.len_bytes, ret_hex);
}
