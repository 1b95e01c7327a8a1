/*
 * hook - runs the executables in the hook directory (hooks/README.md is the contract).
 *
 * `<directory>/<name>` and then all of `<directory>/<name>.d` in the order of their names, one
 * after another: each in a process group of its own, with a deadline, `input` on its standard
 * input, its output (both streams) collected up to HOOK_OUTPUT_BYTES, a minimal environment, and no
 * other descriptor of ours. Processes left in its group when it has ended are killed. Blocks: for a
 * lane.
 */
#ifndef DREY_RUN_HOOK_H
#define DREY_RUN_HOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "core/lifecycle/notice.h"

#define HOOK_OUTPUT_BYTES 65536 /* of one executable; excess output is discarded */
#define HOOK_MAX_FILES    32    /* in one .d directory */
#define HOOK_TERM_MS      2000  /* from SIGTERM at the deadline to SIGKILL */

enum hook_event {
	HOOK_PRE_LAUNCH,
	HOOK_POST_LAUNCH,
	HOOK_POST_SAVEPOINT,
	HOOK_PRE_STOP,
	HOOK_ON_FAILURE,
	HOOK_ON_TERMINAL,
	HOOK_EVENTS,
};
const char *hook_event_name(enum hook_event event); /* "pre-launch", ... */

/* The hook that this notice triggers; HOOK_EVENTS = none. Hooks before a launch or stop are asked,
 * not notified. */
enum hook_event hook_event_of(const struct notice *notice);

struct hook_call {
	const char *directory;
	enum hook_event event;
	const char *application;
	const char *const *environment; /* "NAME=value", NULL-terminated; or NULL */
	/* TZ for the hooks: drey's own is that of the savepoints; NULL = not set */
	const char *zone;
	const struct buf *input;
	int64_t timeout_ms; /* of each executable */
	int abort_fd;       /* readable (an eventfd): kill it immediately, run no more; -1 = none */
};

struct hook_result {
	int count;         /* executables that were run */
	char *failure;     /* "pre-launch: exit status 3: no license"; the first one; NULL = none */
	struct buf output; /* "name: line\n" for every line */
};

/*
 * Run them all; HOOK_PRE_LAUNCH stops at the first failure. No executables: 0, with count 0. A file
 * that cannot be executed is a failure, and so is a directory that cannot be read. Release
 * *ret_result with hook_result_release().
 */
void hook_run(const struct hook_call *call, struct hook_result *ret_result);
void hook_result_release(struct hook_result *result);

/* Why a launch would be vetoed before any hook has judged it: the directory is not there, or what runs before a launch cannot be
 * executed. NULL: nothing says so, or there is no directory (NULL). Runs nothing. Caller frees. */
char *hook_obstacle(const char *directory);

#endif
