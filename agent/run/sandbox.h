/*
 * sandbox - what the agent gives up when it starts, because it never needs it.
 *
 * It is not dumpable: no core file of it is ever written, and no process of the same user, such as the job, reads its
 * memory or its environment (/proc/PID/mem, environ, ptrace). It gains no privileges by executing a program, and neither
 * do the programs that it executes: hooks, programs that print credentials, a JVM that reads storage. Flink is a child of
 * drey-init, and has everything that the container has.
 *
 * Capabilities and system calls are not restricted: docs/tasks/security.md says why.
 */
#ifndef DREY_RUN_SANDBOX_H
#define DREY_RUN_SANDBOX_H

#include "base/err.h"

/* Before the first secret is read; for good. -1: the kernel refuses something; all else is given up. */
int sandbox_enter(struct err *err);

#endif
