#include "flink/jvm_options.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "flink/java.h"

#define C1_FIRST      11
#define MAPPING_FIRST 17
#define MAPPING_LAST  25 /* a diagnostic option: any later Java may be without it */

/* What may be in a file, unseen, counts as set. */
static const char *const compiler_options[] = {"TieredStopAtLevel",
					       "TieredCompilation",
					       "CompilationMode",
					       "UseJVMCICompiler",
					       " -Xint",
					       " -Xcomp",
					       " -zero",
					       " -minimal",
					       "-XX:Flags=",
					       "VMOptionsFile",
					       " @",
					       NULL};
static const char *const mapping_options[] = {"ArchiveRelocationMode", NULL};

/* The first number of JAVA_VERSION, "17.0.9" or "1.8.0_402"; 0: not known, or another VM. */
static long known_version(const char *const *command, const char *const *env,
			  const struct flink_conf *conf)
{
	cleanup_free char *home = java_home(command, env, conf), *version = NULL;
	cleanup_buf struct buf release = BUF_INIT;
	struct err err = {0};

	if (!home || java_release(home, &release, &err) < 0)
		return 0;
	/* OpenJ9 has its name in the list of modules, and as a variant of the JVM */
	if (strcasestr(buf_str(&release), "openj9") || strcasestr(buf_str(&release), "zing"))
		return 0;
	version = java_release_value(buf_str(&release), "JAVA_VERSION");
	return version ? strtol(version, NULL, 10) : 0;
}

static void add_option(struct jvm_options *options, const char *option)
{
	options->list = xreallocarray(options->list, options->count + 2, sizeof(*options->list));
	options->list[options->count++] = xstrdup(option);
	options->list[options->count] = NULL;
}

static void add_c1(struct jvm_options *options, const char *const *command, const char *const *env,
		   const struct flink_conf *conf)
{
	/* MUT: the user's own choice of compilers is overridden */
	if (java_option_given(FLINK_JOBMANAGER, compiler_options, command, env, conf))
		options->why_not_c1 = "the JVM options already choose the compilers";
	else if (known_version(command, env, conf) < C1_FIRST)
		options->why_not_c1 =
			"the Java that starts Flink is not known, too old, or another JVM";
	else
		add_option(options, "-XX:TieredStopAtLevel=1");
}

static void add_mapping(struct jvm_options *options, enum flink_process process,
			const char *const *command, const char *const *env,
			const struct flink_conf *conf)
{
	long version = known_version(command, env, conf);

	if (version < MAPPING_FIRST || version > MAPPING_LAST ||
	    java_option_given(process, mapping_options, command, env, conf))
		return;
	add_option(options, "-XX:+UnlockDiagnosticVMOptions");
	add_option(options, "-XX:ArchiveRelocationMode=0");
}

void jvm_options_choose(enum jvm_start start, const struct class_archive *archive,
			const char *const *command, const char *const *env,
			const struct flink_conf *conf, struct jvm_options *ret_options)
{
	bool archived = archive->use == CLASS_ARCHIVE_USED;

	*ret_options = (struct jvm_options){0};
	if (start == JVM_START_FAST) {
		add_c1(ret_options, command, env, conf);
		add_mapping(ret_options, FLINK_JOBMANAGER, command, env, conf);
	} else if (start == JVM_START_TASKMANAGER && archived) {
		add_mapping(ret_options, FLINK_TASKMANAGER, command, env, conf);
	}
	if (archived) {
		cleanup_free char *option = xasprintf("-XX:SharedArchiveFile=%s", archive->file);

		add_option(ret_options, option);
	}
}

void jvm_options_release(struct jvm_options *options)
{
	for (size_t i = 0; i < options->count; i++)
		free(options->list[i]);
	free(options->list);
	*options = (struct jvm_options){0};
}
