/*
 * remote - a savepoint that is asked for from another Pod, without a way to the drey that takes it: by
 * the key savepoint-nonce of the control ConfigMap; what came of it is in the journal.
 *
 * Rights that this needs: get and patch of the control ConfigMap, get of that of the journal; get of
 * the owner of the JobManager's Pod is of use (scaled to 0 is then not waited for).
 */
#ifndef DREY_CMD_REMOTE_H
#define DREY_CMD_REMOTE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/journal.h"

struct cli;

/* Why the application does not run and is not meant to, as its journal says: borrowed from
 * `journal` or constant; NULL: it is meant to run. */
const char *remote_parked(const struct journal *journal);

/* How the savepoint of this nonce has ended. */
enum remote_end {
	REMOTE_OPEN, /* it has not */
	REMOTE_DONE, /* *ret_text is where it is */
	REMOTE_FAILED,
};

/* asked_unix_ms: when, for a result that another operation has overwritten since. *ret_text is
 * borrowed from `journal` or constant. */
enum remote_end remote_judge(const struct journal *journal, const char *nonce,
			     int64_t asked_unix_ms, const char **ret_text);

/* `drey savepoint --remote`, from its configuration to its exit status. */
int remote_savepoint(const struct cli *cli);

#endif
