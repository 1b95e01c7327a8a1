/*
 * jvm_process - a running process, as /proc shows it. Blocks a little.
 */
#ifndef DREY_FLINK_JVM_PROCESS_H
#define DREY_FLINK_JVM_PROCESS_H

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/* /proc/PID/NAME whole: cmdline, environ. The message never has the content. */
int jvm_process_read(int pid, const char *name, struct buf *buf, struct err *err);

/* The program that it executes; the caller frees it. */
char *jvm_process_program(int pid, struct err *err);

/*
 * Would a process that drey-init starts be like it: user, groups, capabilities, limits, priority,
 * directory, namespaces, and where it writes? This process stands for one that drey-init starts,
 * and its parent, which is drey-init, in what this one has given up.
 * ERR_FORMAT: no; the message says what differs.
 */
int jvm_process_same(int pid, struct err *err);

/* When it was forked, on the wall clock as it is set now. */
int jvm_process_forked(int pid, int64_t *ret_unix_ms, struct err *err);

/* When it became a JVM, likewise: a JVM has a thread for main() as soon as it starts, and a shell that
 * it replaces has none. */
int jvm_process_became(int pid, int64_t *ret_unix_ms, struct err *err);

#endif
