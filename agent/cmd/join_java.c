#include "cmd/join_java.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "flink/class_archive.h"
#include "flink/command.h"
#include "flink/conf.h"
#include "flink/launch.h"
#include "flink/version.h"

#define SCRIPT_VARIABLE "JVM_ARGS"

static const char *const *environment(void)
{
	return (const char *const *)environ;
}

static int read_conf(const char *const *command, struct flink_conf *conf, struct err *err)
{
	struct flink_conf_sources sources = {.command = command, .env = environment()};

	/* an unknown version is good enough if there is one file only */
	(void)flink_version_detect(command, environment(), &sources.version, NULL, NULL);
	return flink_conf_read(&sources, conf, err);
}

static void find_archive(const char *wanted, const char *const *command,
			 struct class_archive *archive, struct jvm_options *options)
{
	cleanup_flink_conf struct flink_conf conf = {0};
	struct err err = {0};
	int result = read_conf(command, &conf, &err);

	class_archive_find(FLINK_TASKMANAGER, wanted, command, environment(), &conf, archive);
	/* the configuration may name another Java, which may not know the option */
	if (result < 0 && archive->use == CLASS_ARCHIVE_USED) {
		archive->use = CLASS_ARCHIVE_REFUSED;
		archive->why = xstrdup(err.msg);
	}
	jvm_options_choose(JVM_START_TASKMANAGER, archive, command, environment(), &conf, options);
}

static void set_script_variable(const struct jvm_options *options)
{
	cleanup_free char *text = NULL;

	if (!options->count)
		return;
	text = flink_jvm_args((const char *const *)options->list, getenv(SCRIPT_VARIABLE));
	if (setenv(SCRIPT_VARIABLE, text, 1) < 0)
		abort(); /* without memory, as everywhere */
}

void join_java_choose(const char *archive, const char *const *command, struct log *log,
		      struct join_java *ret_java)
{
	struct class_archive found = {0};
	struct join_java java = {.at = command_java(command)};

	find_archive(archive, command, &found, &java.options);
	if (found.use == CLASS_ARCHIVE_USED)
		log_info(log, "TaskManager loads its classes from the class archive",
			 LOG_STR("file", found.file));
	else if (found.use == CLASS_ARCHIVE_REFUSED)
		log_warn(log, "TaskManager starts without the class archive",
			 LOG_STR("file", found.file), LOG_STR("reason", found.why));
	class_archive_release(&found);
	if (!java.at)
		set_script_variable(&java.options);
	*ret_java = java;
}

size_t join_java_add(const struct join_java *java, const char *const *command, size_t count,
		     const char **argv)
{
	size_t added = java->at ? java->options.count : 0;

	memcpy(argv, command, java->at * sizeof(*argv));
	for (size_t i = 0; i < added; i++)
		argv[java->at + i] = java->options.list[i];
	memcpy(argv + java->at + added, command + java->at, (count - java->at) * sizeof(*argv));
	return count + added;
}

void join_java_release(struct join_java *java)
{
	jvm_options_release(&java->options);
}
