/*
 * notice - what has happened, said by the life cycle in the step in which it happens.
 *
 * A notice leaves the life cycle as EFFECT_TELL, once. Hooks, Kubernetes Events and metrics are tables
 * from a notice to what they make of it: none of them has to find out by comparing states. A new agent
 * does not repeat what the journal has on record. A crash may fall between a notice and the journal
 * write of its step: then the next agent finds the same thing once more, and says so.
 *
 * Life cycle: filled by the life cycle -> read by whoever executes the effect -> released with the
 * effect. A consumer that keeps a string copies it.
 */
#ifndef DREY_CORE_NOTICE_H
#define DREY_CORE_NOTICE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/cause.h"
#include "core/journal.h"
#include "core/phase.h"
#include "core/snapshot.h"

enum notice_type {
	NOTICE_PHASE, /* after this step phase or cause is another one: from, known, text = why */
	NOTICE_ENDED, /* the application has come to an end (phase_is_end): text = why */
	NOTICE_OPERATION, /* it is over: kind, reason, ok, took_ms, path, text = what went wrong */
	NOTICE_ATTEMPT_FAILED,   /* to run the job: text = why */
	NOTICE_RESTORE_VERIFIED, /* of this launch: path, restored */
	NOTICE_PROVEN,           /* this launch has completed its first checkpoint */
	NOTICE_FENCED,           /* another drey has written the journal: text = why */
	NOTICE_COUNT,
};

struct notice {
	enum notice_type type;
	enum phase phase; /* of every notice, as is the next line: at the time it was said */
	enum cause cause;
	bool do_not_restart;
	int64_t launch; /* number of the last one; 0 = there was none */

	enum phase from; /* before the step */
	bool known; /* a new agent stands there at its start: no news, unless it has just ended */

	enum operation_kind kind;
	enum operation_reason reason;
	bool ok;
	int64_t took_ms; /* by the wall clock, which may have been set back: negative; -1 = not known */

	enum snapshot_kind restored; /* with a path */
	char *path;                  /* the savepoint; what was restored; NULL = none; owned */
	char *text;                  /* or NULL; owned */
};

const char *notice_type_name(enum notice_type type); /* "restore-verified", ... */
void notice_release(struct notice *notice);

#endif
