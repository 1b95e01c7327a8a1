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

#include "core/journal/journal.h"
#include "core/report/cause.h"
#include "core/resolve/facts.h"
#include "core/resolve/loss.h"

enum decision_kind {
	/* not decided yet: check candidates[candidate], then call again. By then its `integrity`
	 * must not be UNCHECKED, nor its `recovery` if it is in_ha; its operators and completion
	 * time must be filled in as far as they can be known. But when it is `wanted`, only read
	 * the beginnings of all that are wanted: none of them is `unread` then. With `of_job`, no
	 * candidate is meant: read facts->job, which is not NOT_CONFIGURED then. */
	DECISION_VERIFY,
	DECISION_CONTINUE,    /* same ids, Flink's own HA recovers candidates[candidate] */
	DECISION_START_FROM,  /* new ids, candidates[candidate] */
	DECISION_START_EMPTY, /* new ids, no state: it has never run, or as requested */
	/* not desired now: do-not-restart, suspended, cancelled, finished, failed */
	DECISION_PARK,
	DECISION_HOLD, /* desired, but the promise cannot be kept: say why and wait */
	/* the journal is lost: facts->copy takes its place, then decide again with new facts */
	DECISION_ADOPT,
};

/* The numbers of docs/architecture.md, "What to start from". */
enum rule {
	RULE_NONE, /* held by no rule */
	RULE_DESIRED_STATE,
	RULE_OUTCOME,
	RULE_OPERATION,
	RULE_REQUEST,
	RULE_UNREADABLE,
	RULE_NEWEST,
	RULE_CONTINUE,
	RULE_NOTHING,
};

enum restore_policy {
	POLICY_LATEST,    /* newest of checkpoints and savepoints */
	POLICY_SAVEPOINT, /* savepoints only */
	POLICY_NONE,      /* the job is declared stateless: always starts empty */
};
extern const char *const policy_words[]; /* as in drey.yaml, by value; NULL at the end */

/* How to treat snapshots that no launch in the journal made, and that are newer than all others:
 * the journal may have been restored from a backup, or another application writes there. */
enum foreign_policy {
	FOREIGN_HOLD,
	FOREIGN_IGNORE, /* the directories are shared with other applications */
};
extern const char *const foreign_words[]; /* the same */

/* What to do with snapshots when the journal is lost. */
enum adopt_policy {
	ADOPT_HOLD,
	ADOPT_NEWEST, /* take the newest, if it is beyond doubt that it is this job's (resolve_adopt.c) */
};
extern const char *const adopt_words[]; /* the same */

struct policy {
	enum restore_policy restore;
	enum foreign_policy foreign;
	int64_t max_age_ms; /* an older restore point is not used automatically; 0 = any age */
	struct loss_limits max_loss; /* going back further behind damaged state needs a person */
	enum adopt_policy adopt_lost;
	bool gates; /* the job has gates: what they held back is asked for where the journal is lost */
	bool adopt; /* deliberately no journal: everything found belongs to this application */
	/* What would be launched now; borrowed. A launch can be continued only by an identical
	 * one. */
	const char *generation;        /* NULL = not known: never continued */
	const char *flink_version;     /* NULL = not known */
	bool stateless_upgrade;        /* a generation other than the last one starts empty */
	const char *initial_savepoint; /* as configured; borrowed; NULL = none */
};

/* Its savepoint may be dated so much before it began: some storages have whole seconds only. */
#define OPERATION_CLOCK_MS 1000

/* Rule 3: the result of the operation that was in flight when Flink ended. */
enum settlement {
	SETTLEMENT_NONE,   /* none was */
	SETTLEMENT_MADE,   /* its savepoint is candidates[settled] */
	SETTLEMENT_PASSED, /* the same, but the job continued after it: that stop has failed */
	SETTLEMENT_FAILED, /* it has left no savepoint, or (settled) one that is damaged */
	SETTLEMENT_OPEN,   /* unknown for now: a source cannot be read */
};

#define NO_CANDIDATE ((size_t)-1)

/* What a start gives up, or would give up (HOLD): something newer was completed and is damaged. */
struct decision_loss {
	bool is_one;
	size_t candidate; /* the newest that is lost */
	int64_t unix_ms;  /* when that was completed; 0 = not known */
	int64_t ms;       /* from what is started to it; LOSS_UNKNOWN */
};

struct decision {
	enum decision_kind kind;
	enum rule rule;
	size_t candidate; /* VERIFY, CONTINUE, START_FROM */
	bool of_job;      /* VERIFY */
	enum settlement settlement;
	size_t settled; /* NO_CANDIDATE = none */
	struct decision_loss loss;
	bool allow_non_restored;
	bool adopted; /* START_FROM: restore.adopt has chosen it, in place of a lost journal */
	/* one-shot request that this decision consumes, borrowed from the journal */
	const char *token;
	/* likewise, of a request that has chosen nothing and only allows to leave state out */
	const char *permit;
	/* PARK: how the job of journal_open_launch() ended, to be recorded; NONE = nothing new */
	enum outcome_kind outcome;
	char outcome_reason[256];
	enum cause cause; /* HOLD, PARK; else CAUSE_NONE */
	char reason[512]; /* one sentence for people; HOLD: with the remedy */
};

/*
 * Decide. `journal` is the journal as read (an application that has never run has an empty one;
 * facts->sources[SOURCE_JOURNAL] says how it was read). Writes verdict and reason of every
 * candidate.
 */
void resolve(const struct journal *journal, struct facts *facts, const struct policy *policy,
	     struct decision *ret_decision);

/* Rules 1 and 2 alone: true if the journal alone forbids a launch of this generation (PARK or
 * HOLD). They are checked first, even if nothing else can be read. */
bool resolve_parked(const struct journal *journal, const struct policy *policy,
		    struct decision *ret_decision);

/* Does this trace forbid an empty start, if the journal knows of no launch that ran? *ret_why (static): why, or why not. */
bool resolve_trace(const struct journal *journal, const struct facts *facts,
		   const struct policy *policy, const struct trace *trace, const char **ret_why);

/* The rules in the order in which they are applied, then the vetoes of a start: row `index`, for
 * the table in docs/architecture.md. False: there is no such row. */
bool resolve_row(bool veto, size_t index, enum rule *ret_rule, const char **ret_question);

extern const char *const decision_words[];               /* by value; NULL at the end */
const char *decision_kind_name(enum decision_kind kind); /* "START_FROM", ... */
bool decision_starts(const struct decision *decision);   /* it is a launch, with or without state */

#endif
