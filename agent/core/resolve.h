/*
 * resolve - which state the job starts from. Pure: the same facts give the same decision.
 *
 * The rules are those of docs/architecture.md, "What to start from"; first match wins, and the
 * decision names the rule. When in doubt it holds: an empty or an older start is never the fallback
 * of an error.
 */
#ifndef DREY_CORE_RESOLVE_H
#define DREY_CORE_RESOLVE_H

#include <stdbool.h>

#include "core/facts.h"
#include "core/journal.h"

enum decision_kind {
	DECISION_VERIFY,      /* not decided yet: look at candidates[candidate], then call again */
	DECISION_CONTINUE,    /* same ids, Flink's own HA recovers */
	DECISION_START_FROM,  /* new ids, candidates[candidate] */
	DECISION_START_EMPTY, /* new ids, no state: it has never run, or a request said so */
	DECISION_PARK,        /* not wanted now: brake, suspended, cancelled, finished, failed */
	DECISION_HOLD,        /* wanted, but the promise cannot be kept: say why and wait */
};

enum restore_policy {
	POLICY_LATEST,    /* newest of checkpoints and savepoints */
	POLICY_SAVEPOINT, /* savepoints only */
	POLICY_NONE,      /* the job is declared stateless: always empty */
};

/* What to make of snapshots that no launch in the journal made, and that are newer than all that
 * one did: the journal may have been restored from a backup, or somebody else writes there. */
enum foreign_policy {
	FOREIGN_HOLD,
	FOREIGN_IGNORE, /* the directories are shared with other applications */
};

struct policy {
	enum restore_policy restore;
	enum foreign_policy foreign;
	int64_t max_age_ms; /* an older restore point is not taken by itself; 0 = any age */
	bool adopt; /* no journal, knowingly: all that is found belongs to this application */
};

struct decision {
	enum decision_kind kind;
	int rule;         /* number in "What to start from" */
	size_t candidate; /* VERIFY, START_FROM */
	bool allow_non_restored;
	const char
		*token; /* one-shot request that this decision uses up, borrowed from the journal */
	char reason[512]; /* one sentence for a person; HOLD: with the way out */
};

/*
 * Decide. `journal` is the journal as read (an application that has never run has an empty one;
 * facts->sources[SOURCE_JOURNAL] says how it was read). Writes verdict and reason of every
 * candidate.
 */
void resolve(const struct journal *journal, struct facts *facts, const struct policy *policy,
	     struct decision *ret_decision);

/* Rules 1 and 2 alone: true when the journal by itself forbids a launch (PARK or HOLD). They are
 * looked at before everything else, also when nothing else can be read. */
bool resolve_parked(const struct journal *journal, struct decision *ret_decision);

const char *decision_kind_name(enum decision_kind kind); /* "START_FROM", ... */

#endif
