#include "core/resolve/resolve.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/words.h"
#include "core/resolve/evidence.h"
#include "core/resolve/listing_doubt.h"
#include "core/resolve/resolve_internal.h"

/* ---- rule 5: an error is never absence ---- */

static bool journal_is_unreadable(struct inquiry *in)
{
	const struct source_fact *journal = &in->facts->sources[SOURCE_JOURNAL];

	if (journal->state != SOURCE_UNREADABLE)
		return false;
	inquiry_hold(in, CAUSE_JOURNAL_UNREADABLE, RULE_UNREADABLE,
		     "the journal cannot be read: %s", inquiry_detail(journal->detail));
	return true;
}

bool source_is_unreadable(struct inquiry *in)
{
	for (int i = 0; i < SOURCE_COUNT; i++) {
		const struct source_fact *source = &in->facts->sources[i];

		/* decided before: journal, request and results; the initial savepoint is older than
		 * everything else */
		if (i == SOURCE_JOURNAL || i == SOURCE_REQUEST || i == SOURCE_INITIAL ||
		    i == SOURCE_RESULTS || source->state != SOURCE_UNREADABLE)
			continue;
		/* of a journal that has launches nothing is decided by its copy */
		if (i == SOURCE_COPY && !inquiry_never_ran(in))
			continue;
		inquiry_hold(in, i == SOURCE_HA ? CAUSE_HA_UNREADABLE : CAUSE_STORAGE_UNREADABLE,
			     RULE_UNREADABLE,
			     "the %s cannot be read and may have newer state: %s; drey retries",
			     i == SOURCE_HA        ? "Flink HA data"
			     : i == SOURCE_LINEAGE ? "earlier directories of this job"
			     : i == SOURCE_COPY    ? "copy of the journal"
						   : source_kind_name((enum source_kind)i),
			     inquiry_detail(source->detail));
		return true;
	}
	return false;
}

/* A stateless job needs no source but the journal and how the last launch ended. */
static bool source_decides(struct inquiry *in)
{
	return in->policy->restore != POLICY_NONE && source_is_unreadable(in);
}

/* ---- the order of the rules ---- */

struct row {
	enum rule rule;
	bool (*decides)(struct inquiry *in);
	const char *question;
};

/* The first that decides ends the search. A rule that appears twice is asked at two points: a new
 * request overrides sources that cannot be read, a repeated one does not. */
static const struct row rules[] = {
	{RULE_OPERATION, operation_decides,
	 "Flink ended during a savepoint or a stop, and its result is not known"},
	{RULE_DESIRED_STATE, desired_state_parks,
	 "do-not-restart is on, or the desired state is not running"},
	{RULE_OUTCOME, outcome_parks, "the recorded outcome forbids a launch"},
	{RULE_UNREADABLE, journal_is_unreadable, "the journal cannot be read"},
	{RULE_REQUEST, request_decides, "a restore request has not been carried out yet"},
	{RULE_OUTCOME, result_decides, "Flink has recorded that the last job ended"},
	{RULE_UNREADABLE, source_decides, "another source cannot be read"},
	{RULE_REQUEST, repeated_request_decides,
	 "the launch of a restore request has left no state of its own"},
	{RULE_NOTHING, copy_decides, "the journal has no launch, but its copy in storage has"},
	{RULE_NEWEST, stateless_decides, "the job is declared stateless"},
	{RULE_NEWEST, stateless_upgrade_decides, "the upgrade is declared stateless"},
	{RULE_OUTCOME, finished_trace_decides,
	 "the journal is lost, `restore.adopt` is `newest`, and Flink has recorded that the last job finished"},
	{RULE_NOTHING, lost_journal_decides, "the journal has no launch, but there are snapshots"},
	{RULE_NOTHING, traces_decide,
	 "the journal has no launch, but an earlier one has left other traces"},
	{RULE_UNREADABLE, unknown_age_decides,
	 "a snapshot that cannot be read could be the newest"},
	{RULE_CONTINUE, continue_decides, "the last launch can continue with Flink's own HA data"},
	{RULE_NEWEST, newest_decides, "the newest usable snapshot of the lineage"},
	{RULE_NOTHING, nothing_decides, "there is nothing to start from"},
};

/* Each of these turns a decided start into a hold. */
static const struct row vetoes[] = {
	{RULE_NEWEST, unknown_launch_forbids,
	 "Flink's HA data have a job that is not in the journal"},
	{RULE_NEWEST, copy_forbids,
	 "the journal does not have a launch that has run, as its copy in storage shows"},
	{RULE_NEWEST, sight_forbids,
	 "the code of the job writes its checkpoints where drey cannot tell which are its newest"},
	{RULE_NEWEST, foreign_forbids,
	 "there is a newer snapshot that no launch of this application made"},
	{RULE_NEWEST, age_forbids, "it is older than restore.maxAge"},
	{RULE_NEWEST, promise_forbids, "the job was stopped with another savepoint"},
	{RULE_NEWEST, loss_forbids,
	 "newer state is damaged, and more than restore.maxLoss would be lost"},
	{RULE_CONTINUE, leftovers_forbid,
	 "another Flink may own the leader lock, and Flink's HA data still have old jobs"},
};

bool resolve_row(bool veto, size_t index, enum rule *ret_rule, const char **ret_question)
{
	const struct row *rows = veto ? vetoes : rules;

	if (index >= (veto ? ARRAY_LEN(vetoes) : ARRAY_LEN(rules)))
		return false;
	*ret_rule = rows[index].rule;
	*ret_question = rows[index].question;
	return true;
}

bool resolve_parked(const struct journal *journal, const struct policy *policy,
		    struct decision *ret_decision)
{
	struct inquiry in = {.journal = journal, .policy = policy, .decision = ret_decision};

	*ret_decision = (struct decision){.settled = NO_CANDIDATE};
	return desired_state_parks(&in) || outcome_parks(&in);
}

static void reset(struct facts *facts)
{
	for (size_t i = 0; i < facts->candidate_count; i++) {
		free(facts->candidates[i].reason);
		facts->candidates[i].reason = NULL;
		facts->candidates[i].verdict = VERDICT_NONE;
		facts->candidates[i].passed_over = false;
	}
}

static void tell_permission(struct inquiry *in)
{
	struct decision *decision = in->decision;

	if (in->journal->intent.restore.kind != RESTORE_NEWEST || !decision->allow_non_restored)
		return;
	if (decision->kind == DECISION_START_EMPTY)
		decision->allow_non_restored = false;
	else if (decision->kind == DECISION_START_FROM)
		inquiry_add(in, "; state without a matching operator may be dropped, as requested");
}

void resolve(const struct journal *journal, struct facts *facts, const struct policy *policy,
	     struct decision *ret_decision)
{
	struct inquiry in = {
		.journal = journal, .facts = facts, .policy = policy, .decision = ret_decision};
	size_t row = 0;

	*ret_decision = (struct decision){.settled = NO_CANDIDATE};
	reset(facts);
	/* MUT: a listing that leaves out what exists is believed */
	listing_doubt(journal, facts);
	/* MUT: an older start is permitted by the word of one witness */
	evidence_apply(journal, facts);
	lineage_find(&in.lineage, journal, facts);
	in.adopts = policy->adopt;
	in.promised = promise_of_outcome(&in);
	order_permits(&in);
	if (!heads_all_decide(&in))
		while (!rules[row].decides(&in))
			row++;
	for (row = 0; row < ARRAY_LEN(vetoes) && decision_starts(ret_decision); row++)
		vetoes[row].decides(&in);
	tell_permission(&in);
	lineage_release(&in.lineage);
	free(in.order);
}

const char *const policy_words[] = {"latest", "savepoint", "none", NULL};
_Static_assert(POLICY_LATEST == 0 && POLICY_NONE == 2, "order of policy_words");

const char *const foreign_words[] = {"hold", "ignore", NULL};
_Static_assert(FOREIGN_HOLD == 0 && FOREIGN_IGNORE == 1, "order of foreign_words");

const char *const adopt_words[] = {"hold", "newest", NULL};
_Static_assert(ADOPT_HOLD == 0 && ADOPT_NEWEST == 1, "order of adopt_words");

const char *const decision_words[] = {"VERIFY", "CONTINUE", "START_FROM", "START_EMPTY",
				      "PARK",   "HOLD",     "ADOPT",      NULL};

WORDS_OF(decision_words, decision_kind_name, enum decision_kind, "unknown");

bool decision_starts(const struct decision *decision)
{
	return decision->kind == DECISION_CONTINUE || decision->kind == DECISION_START_FROM ||
	       decision->kind == DECISION_START_EMPTY;
}
