/*
 * jvm_options - the options that drey adds to a JVM of Flink, so that it starts fast.
 *
 * Life cycle: jvm_options_choose() -> flink_launch.jvm_options -> jvm_options_release(). A TaskManager
 * gets no choice of compilers: it lives from its throughput.
 *
 *   -XX:TieredStopAtLevel=1    only the quick compiler (C1). A JobManager lives from a burst of
 *                              work at its start, and the threads of the other one (C2) are then
 *                              the biggest consumer of processor time. Heap and garbage collector
 *                              stay as they are; the JVM reserves 48 MB for code instead of 240.
 *   -XX:ArchiveRelocationMode=0, which needs -XX:+UnlockDiagnosticVMOptions
 *                              class archives are mapped where they were made for, so that JVMs
 *                              share their pages. Otherwise Java 17 and later move them, for the
 *                              sake of address randomisation, and each JVM has its own copy. If
 *                              the address is taken the JVM moves them.
 *   -XX:SharedArchiveFile=...  the class archive (class_archive.h)
 *
 * A JVM that does not know an option does not start. So only a Java whose file `release` says which
 * it is, and that is not another VM (OpenJ9, Zing), gets the first two: C1 from Java 11 on, the
 * option of the archive from 17 to 25. Neither is added if the user has set the same thing, and
 * the user's options come after those of drey, so that they prevail.
 */
#ifndef DREY_FLINK_JVM_OPTIONS_H
#define DREY_FLINK_JVM_OPTIONS_H

#include <stddef.h>

#include "flink/class_archive.h"
#include "flink/conf.h"

/* The values of the key flink.jvm, in the order of its words, and the JVM of a TaskManager. */
enum jvm_start {
	JVM_START_FAST,
	JVM_START_UNCHANGED,   /* only the class archive, which has a key of its own */
	JVM_START_TASKMANAGER, /* the class archive, mapped where it was made for */
};

struct jvm_options {
	char **list; /* NULL-terminated; NULL: none */
	size_t count;
	const char
		*why_not_c1; /* a part of a sentence; NULL: it is C1, or unchanged is configured */
};

/* Choose. archive: what class_archive_find() has decided. command, env, conf as there. Reads one
 * small file. */
void jvm_options_choose(enum jvm_start start, const struct class_archive *archive,
			const char *const *command, const char *const *env,
			const struct flink_conf *conf, struct jvm_options *ret_options);
void jvm_options_release(struct jvm_options *options);

#endif
