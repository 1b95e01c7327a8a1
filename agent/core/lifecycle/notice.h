/*
 * notice - what has happened, reported by the life cycle in the step in which it happens.
 *
 * A notice leaves the life cycle as EFFECT_TELL, once. Hooks, Kubernetes Events and metrics are
 * tables over notices: none of them has to compare states. A new agent does not repeat what is
 * recorded in the journal. After a crash between a notice and the journal write of its step, the
 * next agent finds the same thing again, and reports it again.
 *
 * Life cycle: filled by the life cycle -> read by the code that executes the effect -> released
 * with the effect. A consumer that keeps a string copies it.
 */
#ifndef DREY_CORE_NOTICE_H
#define DREY_CORE_NOTICE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/journal/journal.h"
#include "core/lifecycle/phase.h"
#include "core/report/cause.h"
#include "core/snapshot.h"

enum notice_type {
	NOTICE_PHASE, /* phase or cause changed in this step: from, known, text = why */
	NOTICE_ENDED, /* the application has ended (phase_is_end): text = why */
	/* it has ended: kind, reason, ok, took_ms, path, text = what went wrong; CHECKPOINT: its id */
	NOTICE_OPERATION,
	NOTICE_ATTEMPT_FAILED,   /* to run the job: text = why */
	NOTICE_RESTORE_VERIFIED, /* of this launch: path, restored */
	NOTICE_PROVEN,           /* this launch has completed its first checkpoint */
	NOTICE_FENCED,           /* another drey has written the journal: text = why */
	/* a hand-over has come to another state: handover, text = which one, to whom, and why */
	NOTICE_HANDOVER,
	NOTICE_PREPARED, /* the pod to which the job is offered is prepared: text = which one */
	/* a transition has come to another state, and the hand-over has not: transition, text as above */
	NOTICE_TRANSITION,
	NOTICE_CAUGHT_UP, /* the job in the shadow has: text = which one, and what it waits for */
	/* the condition CheckpointsFailing has become true, or (ok) false again: text = its message */
	NOTICE_CHECKPOINTS,
	NOTICE_SETTINGS, /* the same of SettingsOverridden */
	/* a launch gives up state that is damaged, or (ok) that is settled: path = the lost one, text = a
	 * sentence */
	NOTICE_STATE_LOST,
	NOTICE_REVIEW, /* the same of CheckpointsUnusable */
	NOTICE_COUNT,
};

struct notice {
	enum notice_type type;
	enum phase phase; /* in every notice, like the next line: at the time of the notice */
	enum cause cause;
	bool do_not_restart;
	int64_t launch; /* number of the last one; 0 = there was none */

	enum phase from; /* before the step */
	bool known;      /* where a new agent begins: not news, unless it has just ended */

	enum operation_kind kind;
	enum operation_reason reason;
	bool ok;
	/* by the wall clock, which may have been set back: negative; -1 = not known */
	int64_t took_ms;
	int64_t checkpoint_id; /* 0 = not known */

	enum handover_state handover;
	enum transition_state transition;

	enum snapshot_kind restored; /* with a path */
	char *path;                  /* the savepoint; what was restored; NULL = none; owned */
	char *text;                  /* or NULL; owned */
};

const char *notice_type_name(enum notice_type type); /* "restore-verified", ... */
void notice_release(struct notice *notice);

#endif
