/*
 * remote_savepoint - a savepoint requested from another Pod: by the key savepoint-nonce of the control ConfigMap.
 *
 * Rights, beside those of remote.h: get of the control ConfigMap.
 */
#ifndef DREY_CMD_REMOTE_SAVEPOINT_H
#define DREY_CMD_REMOTE_SAVEPOINT_H

#include <stdint.h>

#include "core/journal/journal.h"

struct cli;

/* The result of the savepoint with this nonce. */
enum remote_end {
	REMOTE_OPEN, /* not yet known */
	REMOTE_DONE, /* *ret_text is its path */
	REMOTE_FAILED,
};

/* asked_unix_ms: when, for a result that another operation has overwritten since. *ret_text is
 * borrowed from `journal` or constant. */
enum remote_end remote_judge(const struct journal *journal, const char *nonce,
			     int64_t asked_unix_ms, const char **ret_text);

/* `drey savepoint --remote`, from its configuration to its exit status. */
int remote_savepoint(const struct cli *cli);

#endif
