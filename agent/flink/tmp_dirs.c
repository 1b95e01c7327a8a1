#include "flink/tmp_dirs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "flink/command.h"
#include "flink/java.h"

#define SEPARATORS ",:"
#define USUAL      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._-+@="

static const char key_now[] = "io.tmp.dirs", key_before[] = "taskmanager.tmp.dirs";

/* What may be in a file, unseen, counts as set. */
static const char *const java_options[] = {"java.io.tmpdir", "-XX:Flags=", "VMOptionsFile", " @",
					   NULL};

static const char *why_not(const struct flink_launch *launch, const struct flink_conf *conf,
			   bool root)
{
	if (flink_launch_user_sets(launch, key_now) || flink_launch_user_sets(launch, key_before))
		return "io.tmp.dirs is set on the command line";
	/* MUT: Flink may run as another user than the owner of its directory */
	if (!command_keeps_user(launch->command, root))
		return "flink.command may run Flink as another user";
	if (!conf->file)
		return "Flink's configuration was not found";
	if (flink_conf_get(conf, "jobmanager.resource-id"))
		return "jobmanager.resource-id is set";
	return NULL;
}

static bool add_dir(struct tmp_dirs *dirs, const char *text, size_t len)
{
	if (!len || len > TMP_DIRS_MAX_BYTES || *text != '/' || strspn(text, USUAL) < len ||
	    dirs->count == TMP_DIRS_MAX)
		return false;
	dirs->list = xreallocarray(dirs->list, dirs->count + 1, sizeof(*dirs->list));
	dirs->list[dirs->count++] = xstrndup(text, len);
	return true;
}

static bool split_dirs(const char *value, struct tmp_dirs *dirs)
{
	for (;; value++) {
		size_t len = strcspn(value, SEPARATORS);

		if (!add_dir(dirs, value, len))
			return false;
		value += len;
		if (!*value)
			return true;
	}
}

const char *tmp_dirs_choose(const struct flink_launch *launch, const struct flink_conf *conf,
			    bool root, struct tmp_dirs *ret_dirs)
{
	const char *value = flink_conf_get(conf, key_now), *why;
	struct tmp_dirs dirs = {0};

	*ret_dirs = dirs;
	if (!value)
		value = flink_conf_get(conf, key_before);
	why = why_not(launch, conf, root);
	if (why)
		return why;
	if (!value &&
	    java_option_given(FLINK_JOBMANAGER, java_options, launch->command, launch->env, conf))
		return "java.io.tmpdir is changed";
	if (!split_dirs(value ? value : "/tmp", &dirs)) {
		tmp_dirs_release(&dirs);
		return "a directory in io.tmp.dirs is not absolute, or has an unusual name";
	}
	*ret_dirs = dirs;
	return NULL;
}

void tmp_dirs_release(struct tmp_dirs *dirs)
{
	for (size_t i = 0; i < dirs->count; i++)
		free(dirs->list[i]);
	free(dirs->list);
	*dirs = (struct tmp_dirs){0};
}

char *tmp_dirs_name(const char *job_id, int64_t number)
{
	return xasprintf("drey-%s-%" PRId64, job_id, number);
}

char *tmp_dirs_join(const struct tmp_dirs *dirs, const char *name)
{
	struct buf text = BUF_INIT;

	for (size_t i = 0; i < dirs->count; i++)
		buf_addf(&text, "%s%s/%s", i ? "," : "", dirs->list[i], name);
	return dirs->count ? buf_steal(&text) : NULL;
}
