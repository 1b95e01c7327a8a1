/*
 * class_archive - may a JVM of Flink take its classes from an archive, and from which?
 *
 * Java 13 and later can write the classes of a program, parsed and linked, into a file, and map
 * that file when the program starts again (application class data sharing;
 * -XX:ArchiveClassesAtExit, -XX:SharedArchiveFile). Flink's REST API is up in about half the time
 * then. The image build creates the file (tools/make-class-archive.sh), and next to it FILE.jvm, a
 * copy of `release` in the home of the JVM that created it, with a line more for the size of FILE.
 * A JVM checks an archive itself and runs without it if another JVM created it or the class path
 * differs, but it crashes if the file was truncated; this module decides whether to offer it, so
 * that engineers can see why a start is slow, and so that no JVM is given an option that it does
 * not know. A TaskManager loads other classes than a JobManager, and has an archive of its own.
 */
#ifndef DREY_FLINK_CLASS_ARCHIVE_H
#define DREY_FLINK_CLASS_ARCHIVE_H

#include "flink/conf.h"
#include "flink/java.h"

/* where the image has them */
#define CLASS_ARCHIVE_JOBMANAGER  "/usr/lib/drey/flink.jsa"
#define CLASS_ARCHIVE_TASKMANAGER "/usr/lib/drey/flink-taskmanager.jsa"

#define CLASS_ARCHIVE_AUTO "auto"
#define CLASS_ARCHIVE_NONE "none"

enum class_archive_use {
	/* none is configured, or none is at the usual path: nothing to report */
	CLASS_ARCHIVE_ABSENT,
	CLASS_ARCHIVE_USED,    /* `file` is for flink_launch.class_archive */
	CLASS_ARCHIVE_REFUSED, /* one exists or is configured, and `why` says why it is not used */
};

struct class_archive {
	enum class_archive_use use;
	char *file;
	char *why; /* a sentence without a period; NULL unless refused */
};

/*
 * Decide. wanted: "auto" (the one of the image for this process), "none", or a file. command, env: the command line
 * and environment of Flink. conf: Flink's configuration, for env.java.home and env.java.opts*.
 * Reads a few small files. Release *ret_archive with class_archive_release().
 */
void class_archive_find(enum flink_process process, const char *wanted, const char *const *command,
			const char *const *env, const struct flink_conf *conf,
			struct class_archive *ret_archive);
void class_archive_release(struct class_archive *archive);

#endif
