/*
 * remote - a savepoint requested from another Pod, without a connection to the drey that takes it:
 * through the key savepoint-nonce of the control ConfigMap; the result is in the journal.
 *
 * Rights that this needs: get and patch of the control ConfigMap, get of that of the journal; get
 * of the owner of the JobManager's Pod is useful (if it is scaled to 0, the command does not wait).
 */
#ifndef DREY_CMD_REMOTE_H
#define DREY_CMD_REMOTE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/journal/journal.h"

struct cli;

/* Why the application is stopped as desired, according to its journal: borrowed from `journal` or
 * constant; NULL: it should be running. */
const char *remote_parked(const struct journal *journal);

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
