/*
 * remote_start - the job started again from elsewhere than its Pod: resumed, by the keys state and restore of the
 * control ConfigMap, or restarted, by the key restart-nonce; and of the custom resource if that has them.
 *
 * drey follows changes only, and remembers the text that it has seen last. If that is `running` already, nothing would
 * change: so a resume then sets `suspended` first, and waits until drey has seen it. The job does not run at that time.
 *
 * Rights: those of remote_stop.h.
 */
#ifndef DREY_CMD_REMOTE_START_H
#define DREY_CMD_REMOTE_START_H

#include <stdbool.h>
#include <stdint.h>

#include "core/journal/journal.h"

struct cli;

struct start_request {
	const char *nonce;     /* of a restart; NULL: it is a resume */
	bool restore;          /* a resume from something else than the newest state */
	bool asked;            /* it is in the control ConfigMap */
	bool taken;            /* drey has read it */
	int64_t launch_before; /* number of the last launch before it */
};

enum start_step {
	START_WAIT,   /* *ret_text: what for; not asked: a start is under way already */
	START_ASK,    /* not asked, and this is the moment */
	START_DONE,   /* the job runs; asked: from a launch that the request has brought about */
	START_PARKED, /* no job is running, and none will: *ret_text says why */
	START_HELD,   /* drey holds: *ret_text says why. It may only have begun to */
	START_FAILED, /* *ret_text says why; not asked: nothing may be restored in this phase */
};

/* What the journal says of it. *ret_text is borrowed from `journal` or constant. Pure. */
enum start_step remote_start_judge(const struct journal *journal,
				   const struct start_request *request, const char **ret_text);

/* What a resume is to start from: the text of the key `restore`, which the caller frees. Pure. */
char *remote_start_restore(const struct restore_request *restore);

/* `kubectl drey resume` and `restart`, from the configuration to the exit status. A resume has the options from, empty,
 * foreign, allow-non-restored-state and yes. */
int remote_resume(const struct cli *cli);
int remote_restart(const struct cli *cli);

#endif
