/*
 * remote_transition - what a person says once, from elsewhere than the Pods: of a blue/green transition by the keys
 * promote and abort of the control ConfigMap, of state that was lost by the key acknowledge; and by those of the custom
 * resource if that has them.
 *
 * Rights: those of remote_stop.h.
 */
#ifndef DREY_CMD_REMOTE_TRANSITION_H
#define DREY_CMD_REMOTE_TRANSITION_H

#include <stdbool.h>

#include "core/journal/journal.h"

struct cli;

struct wish_request {
	bool abort;         /* else promote */
	bool acknowledge;   /* in place of both */
	int64_t at_unix_ms; /* of a promotion; 0 = the cut as it comes */
	const char *nonce;  /* in the control ConfigMap; NULL = it was not asked for yet */
};

enum wish_step {
	WISH_WAIT,    /* asked: drey has not read it */
	WISH_ASK,     /* not asked, and there is a transition for it */
	WISH_DONE,    /* asked: it is on record */
	WISH_REFUSED, /* *ret_text says why; asked: drey has read it, and does not carry it out */
};

/* What the journal says of it. *ret_text is constant. Pure. */
enum wish_step remote_wish_judge(const struct journal *journal, const struct wish_request *request,
				 const char **ret_text);

/* `kubectl drey promote` and `abort`, from the configuration to the exit status. Options: at of the first, yes of the
 * second. */
int remote_promote(const struct cli *cli);
int remote_abort(const struct cli *cli);
int remote_acknowledge(const struct cli *cli); /* `kubectl drey acknowledge`; no option */

#endif
