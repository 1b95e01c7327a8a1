#include "flink/class_archive.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"
#include "flink/java.h"

#define RELEASE_MAX_BYTES ((size_t)64 * 1024)

#define ARCHIVE_BYTES "DREY_ARCHIVE_BYTES" /* the line that drey-class-archive adds to FILE.jvm */

/* The user has one, or wants none. */
static const char *const archive_options[] = {"-Xshare", "SharedArchive", "ArchiveClassesAtExit",
					      "SharedClassList", NULL};

/* "Eclipse Adoptium 17.0.9+9"; the caller frees it. */
static char *release_name(const char *release)
{
	cleanup_free char *vendor = java_release_value(release, "IMPLEMENTOR");
	cleanup_free char *runtime = java_release_value(release, "JAVA_RUNTIME_VERSION");
	cleanup_free char *version = java_release_value(release, "JAVA_VERSION");
	const char *number = runtime ? runtime : version;

	return xasprintf("%s %s", vendor ? vendor : "Java", number ? number : "of unknown version");
}

/* A JVM that is given a truncated archive crashes. NULL: it has the size that was recorded, or none
 * was. */
static char *why_not_whole(const char *file, const char *made)
{
	cleanup_free char *text = java_release_value(made, ARCHIVE_BYTES);
	long long expected = text ? strtoll(text, NULL, 10) : 0;
	struct stat info;

	/* MUT: a truncated class archive is passed to the JVM */
	if (text && (stat(file, &info) < 0 || info.st_size != expected))
		return xasprintf("it is incomplete: it was made with %lld bytes", expected);
	return NULL;
}

/* NULL: it fits, else why not. */
static char *why_not(const char *file, const char *home)
{
	cleanup_free char *made_path = xasprintf("%s.jvm", file);
	cleanup_buf struct buf made = BUF_INIT, here = BUF_INIT;
	cleanup_free char *made_name = NULL, *here_name = NULL;
	struct err err = {0};
	const char *added;
	size_t release_bytes;

	if (strcspn(file, " \t\r\n*?[]\\'\"$`") != strlen(file))
		return xstrdup("its path has characters that Flink's scripts do not pass on");
	if (!home)
		return xstrdup("the Java that starts Flink was not found");
	if (fs_read(made_path, RELEASE_MAX_BYTES, &made, &err) < 0)
		return xasprintf("the Java that made it is unknown: %s", err.msg);
	if (java_release(home, &here, &err) < 0)
		return xasprintf("the Java that starts Flink is unknown: %s", err.msg);
	added = strstr(buf_str(&made), ARCHIVE_BYTES "=");
	release_bytes = added ? (size_t)(added - buf_str(&made)) : made.len_bytes;
	if (release_bytes == here.len_bytes &&
	    memcmp(buf_str(&made), buf_str(&here), here.len_bytes) == 0)
		return why_not_whole(file, buf_str(&made));
	made_name = release_name(buf_str(&made));
	here_name = release_name(buf_str(&here));
	return xasprintf("it was made by %s, but Flink is started by %s%s", made_name,
			 strcmp(made_name, here_name) == 0 ? "another build of " : "", here_name);
}

static const char *const usual_files[] = {
	[FLINK_JOBMANAGER] = CLASS_ARCHIVE_JOBMANAGER,
	[FLINK_TASKMANAGER] = CLASS_ARCHIVE_TASKMANAGER,
};

void class_archive_find(enum flink_process process, const char *wanted, const char *const *command,
			const char *const *env, const struct flink_conf *conf,
			struct class_archive *ret_archive)
{
	bool usual = strcmp(wanted, CLASS_ARCHIVE_AUTO) == 0;
	const char *file = usual ? usual_files[process] : wanted;
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
	if (java_option_given(process, archive_options, command, env, conf)) {
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
