/*
 * jvm_files - what a JVM's command line was derived from, on disk: a text that changes when any of
 * it does. Blocks.
 *
 * Life cycle: a zeroed struct jvm_files -> jvm_files_add()... -> read `text` -> jvm_files_release().
 * Limits: JVM_FILES_MAX entries, JVM_FILES_DEPTH directories deep, JVM_FILES_MAX_BYTES of contents;
 * more is ERR_FORMAT.
 */
#ifndef DREY_FLINK_JVM_FILES_H
#define DREY_FLINK_JVM_FILES_H

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

#define JVM_FILES_MAX       4096
#define JVM_FILES_DEPTH     8
#define JVM_FILES_MAX_BYTES ((size_t)8 << 20)

enum jvm_root_kind {
	JVM_ROOT_FILE,     /* this file or directory itself */
	JVM_ROOT_TREE,     /* and everything in it */
	JVM_ROOT_CONTENTS, /* and the contents of the files */
};

struct jvm_files {
	struct buf text; /* one line for each: path, device, inode, size, mtime, ctime */
	size_t count, content_bytes;
	int64_t newest_unix_ns; /* the latest change (ctime) of any of them */
	char *newest;           /* which one; NULL = none */
};

/* Links are followed, and count themselves too. What does not exist is noted as absent: that it
 * comes into being is a change. */
int jvm_files_add(struct jvm_files *files, const char *path, enum jvm_root_kind kind,
		  struct err *err);
void jvm_files_release(struct jvm_files *files);
#define cleanup_jvm_files __attribute__((cleanup(jvm_files_release)))

#endif
