/*
 * remote_snapshot - a savepoint or a checkpoint requested from another Pod: by the key savepoint-nonce or checkpoint-nonce of the
 * control ConfigMap.
 *
 * Rights, beside those of remote.h: get of the control ConfigMap.
 */
#ifndef DREY_CMD_REMOTE_SNAPSHOT_H
#define DREY_CMD_REMOTE_SNAPSHOT_H

#include <stdint.h>

#include "core/journal/journal.h"

/* Of the commands that can do it. */
#define REMOTE_SNAPSHOT_OPTIONS                                                                    \
	{"remote", 0, NULL,                                                                        \
	 "from another Pod: send the request through the control\n"                                \
	 "ConfigMap, and read the result from the journal",                                        \
	 false},                                                                                   \
	{                                                                                          \
		"skip-parked", 0, NULL,                                                            \
			"with --remote: exit with 0 if no job is meant to run\n"                   \
			"(suspended, cancelled, finished, scaled to 0)",                           \
			false                                                                      \
	}

struct cli;

/* The result of the request with this nonce. */
enum remote_end {
	REMOTE_OPEN, /* not yet known */
	REMOTE_DONE, /* *ret_text is the path of the snapshot */
	REMOTE_FAILED,
};

/* asked_unix_ms: when, for a result that another operation has overwritten since. *ret_text is
 * borrowed from `journal` or constant. */
enum remote_end remote_judge(const struct journal *journal, const char *nonce,
			     int64_t asked_unix_ms, const char **ret_text);
/* The same of a checkpoint. */
enum remote_end remote_judge_checkpoint(const struct journal *journal, const char *nonce,
					const char **ret_text);

/* CLI_OK, or CLI_USAGE with a message: these options do not go together. */
int remote_snapshot_options(const struct cli *cli);

/* `drey savepoint --remote` and `drey checkpoint --remote`, from the configuration to the exit status. */
int remote_savepoint(const struct cli *cli);
int remote_checkpoint(const struct cli *cli); /* with --full: a full one */

#endif
