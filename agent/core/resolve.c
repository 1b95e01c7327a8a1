#include "core/resolve.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/lineage.h"

/* What the rules share; lives for one call of resolve(). */
struct inquiry {
	const struct journal *journal;
	struct facts *facts;
	const struct policy *policy;
	struct decision *decision;
	struct lineage lineage;
	size_t *order; /* indices of the candidates that count, newest first in each group */
	size_t order_count;
};

static void decide(struct inquiry *in, enum decision_kind kind, int rule, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
static void judge(struct candidate *c, enum verdict verdict, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void decide(struct inquiry *in, enum decision_kind kind, int rule, const char *fmt, ...)
{
	va_list ap;

	in->decision->kind = kind;
	in->decision->rule = rule;
	va_start(ap, fmt);
	vsnprintf(in->decision->reason, sizeof(in->decision->reason), fmt, ap);
	va_end(ap);
}

static void judge(struct candidate *c, enum verdict verdict, const char *fmt, ...)
{
	va_list ap;

	free(c->reason);
	c->reason = NULL;
	c->verdict = verdict;
	va_start(ap, fmt);
	if (vasprintf(&c->reason, fmt, ap) < 0)
		c->reason = NULL;
	va_end(ap);
}

static const char *detail_of(const char *detail)
{
	return detail && *detail ? detail : "no detail";
}

/* ---- rules 1 and 2: not wanted ---- */

static bool parked(struct inquiry *in)
{
	const struct intent *intent = &in->journal->intent;
	const struct outcome *outcome = &in->journal->outcome;

	if (intent->do_not_restart)
		decide(in, DECISION_PARK, 1, "do-not-restart is set; lift it to allow a launch");
	else if (intent->state != DESIRED_RUNNING)
		decide(in, DECISION_PARK, 1, "the desired state is %s; resume to start again",
		       desired_state_name(intent->state));
	else if (outcome->kind == OUTCOME_RESTORE_MISMATCH)
		decide(in, DECISION_HOLD, 2, "%s; look into it, then `drey resume` starts again",
		       detail_of(outcome->reason));
	else if (outcome->kind != OUTCOME_NONE)
		decide(in, DECISION_PARK, 2,
		       "the job is %s (%s); only `drey resume` starts it again",
		       outcome_kind_name(outcome->kind), detail_of(outcome->reason));
	else
		return false;
	return true;
}

/* ---- rule 4: one-shot request ---- */

static struct candidate *requested_candidate(struct inquiry *in)
{
	for (size_t i = 0; i < in->facts->candidate_count; i++)
		if (snapshot_same_path(in->facts->candidates[i].snapshot.path,
				       in->journal->intent.restore.path))
			return &in->facts->candidates[i];
	return NULL;
}

static bool too_new(const struct inquiry *in, const struct candidate *c)
{
	return in->facts->max_metadata_version &&
	       c->metadata_version > in->facts->max_metadata_version;
}

/* Whoever was not judged yet was passed over for this reason. */
static void judge_rest(struct inquiry *in, enum verdict verdict, const char *why)
{
	for (size_t i = 0; i < in->facts->candidate_count; i++)
		if (in->facts->candidates[i].verdict == VERDICT_NONE)
			judge(&in->facts->candidates[i], verdict, "%s", why);
}

/* Take c or say why it cannot be taken now; `rule` is the one that picked it. */
static void take(struct inquiry *in, struct candidate *c, int rule, const char *why)
{
	if (c->integrity == INTEGRITY_UNCHECKED) {
		in->decision->candidate = (size_t)(c - in->facts->candidates);
		decide(in, DECISION_VERIFY, rule, "%s has to be verified", c->snapshot.path);
		return;
	}
	if (too_new(in, c)) {
		judge(c, VERDICT_REJECTED,
		      "_metadata version %d is newer than this Flink reads (%d)",
		      c->metadata_version, in->facts->max_metadata_version);
		decide(in, DECISION_HOLD, rule,
		       "%s was written by a newer Flink (_metadata version %d, this Flink reads up "
		       "to "
		       "%d); start the Flink version that wrote it",
		       c->snapshot.path, c->metadata_version, in->facts->max_metadata_version);
		return;
	}
	in->decision->candidate = (size_t)(c - in->facts->candidates);
	judge(c, VERDICT_CHOSEN, "%s", why);
	decide(in, DECISION_START_FROM, rule, "%s: %s %s, checkpoint id %" PRId64, why,
	       snapshot_kind_name(c->snapshot.kind), c->snapshot.path, c->snapshot.checkpoint_id);
}

static void carry_out_request(struct inquiry *in, const char *why)
{
	const struct restore_request *request = &in->journal->intent.restore;
	struct candidate *c;

	in->decision->token = request->token;
	in->decision->allow_non_restored = request->allow_non_restored;
	if (request->kind == RESTORE_EMPTY) {
		judge_rest(in, VERDICT_REJECTED, "an empty start was requested");
		decide(in, DECISION_START_EMPTY, 4, "an empty start was %s", why);
		return;
	}
	c = requested_candidate(in);
	if (in->facts->sources[SOURCE_REQUEST].state == SOURCE_UNREADABLE || !c)
		decide(in, DECISION_HOLD, 4, "the requested snapshot %s cannot be read: %s",
		       request->path, detail_of(in->facts->sources[SOURCE_REQUEST].detail));
	else if (c->integrity == INTEGRITY_DAMAGED || c->integrity == INTEGRITY_INCOMPLETE ||
		 c->integrity == INTEGRITY_UNREADABLE)
		decide(in, DECISION_HOLD, 4, "the requested snapshot %s cannot be used: %s",
		       request->path, detail_of(c->detail));
	else
		take(in, c, 4, why);
	if (in->decision->kind == DECISION_START_FROM)
		judge_rest(in, VERDICT_REJECTED, "another snapshot was requested");
}

/* A request that was not carried out yet. */
static bool requested(struct inquiry *in)
{
	const struct restore_request *request = &in->journal->intent.restore;

	if (request->kind == RESTORE_NONE)
		return false;
	if (!request->token || !*request->token) {
		decide(in, DECISION_HOLD, 4,
		       "the restore request has no token, so it cannot be carried out just once; "
		       "ask again with `drey resume`");
		return true;
	}
	if (journal_is_consumed(in->journal, request->token))
		return false;
	carry_out_request(in, "requested once by a person");
	return true;
}

/* A launch that was never proven does not use up its restore point. For one that a person asked for
 * this means: as long as it has left nothing of its own, it is started the same way again. */
static bool still_requested(struct inquiry *in)
{
	const struct journal *journal = in->journal;
	const struct restore_request *request = &journal->intent.restore;
	const struct launch *launch = journal_launch_const(journal);
	int index = (int)journal->launch_count - 1;

	if (request->kind == RESTORE_NONE || !launch || launch->proven_unix_ms ||
	    launch->last_checkpoint_id)
		return false;
	if (request->kind == RESTORE_EMPTY
		    ? launch->restore_path != NULL
		    : !snapshot_same_path(launch->restore_path, request->path))
		return false;
	for (size_t i = 0; i < in->facts->candidate_count; i++) {
		const struct candidate *c = &in->facts->candidates[i];

		if (c->integrity != INTEGRITY_INCOMPLETE &&
		    lineage_maker(journal, &c->snapshot) == index)
			return false;
	}
	for (size_t i = 0; i < journal->snapshot_count; i++)
		if (lineage_maker(journal, &journal->snapshots[i]) == index)
			return false;
	carry_out_request(in, "requested by a person, and that launch has not proven itself yet");
	return true;
}

/* ---- rule 5: an error is never absence ---- */

static bool source_unreadable(struct inquiry *in)
{
	for (int i = 0; i < SOURCE_COUNT; i++) {
		const struct source_fact *source = &in->facts->sources[i];

		/* a request was dealt with before; the initial savepoint is older than all else */
		if (i == SOURCE_REQUEST || i == SOURCE_INITIAL ||
		    source->state != SOURCE_UNREADABLE)
			continue;
		decide(in, DECISION_HOLD, 5,
		       "the %s cannot be read and could hold newer state: %s; drey looks again",
		       source_kind_name((enum source_kind)i), detail_of(source->detail));
		return true;
	}
	return false;
}

/* ---- rule 6: which candidates count ---- */

static bool never_ran(const struct inquiry *in)
{
	const struct journal *journal = in->journal;

	return in->lineage.tip < 0 && !journal->snapshot_count && !journal->ever_proven;
}

/* The initial savepoint is older than anything that a launch of ours has made, whatever its
 * checkpoint id. It stays in force until a launch that was started from it is proven. */
static bool is_fallback(const struct inquiry *in, const struct candidate *c)
{
	return c->source == SOURCE_INITIAL && !in->journal->ever_proven &&
	       (never_ran(in) || lineage_place(&in->lineage, &c->snapshot) != BRANCH_LIVING);
}

/* Made by a launch that had restored something else than was decided. */
static bool is_tainted(const struct inquiry *in, const struct snapshot *s)
{
	int maker = lineage_maker(in->journal, s);

	return maker >= 0 && in->journal->launches[maker].mismatched;
}

/* Rejects c when it may not be chosen by what it is, whatever its content. */
static void judge_identity(struct inquiry *in, struct candidate *c)
{
	const struct snapshot *s = &c->snapshot;

	if (is_fallback(in, c))
		return;
	if (is_tainted(in, s)) {
		judge(c, VERDICT_REJECTED,
		      "made by a launch that had restored something else than was decided");
		return;
	}
	if (in->policy->restore == POLICY_SAVEPOINT && s->kind == SNAPSHOT_CHECKPOINT &&
	    c->source != SOURCE_INITIAL && !lineage_is_origin(&in->lineage, s)) {
		judge(c, VERDICT_REJECTED, "the restore policy takes savepoints only");
		return;
	}
	if (never_ran(in))
		return; /* no lineage is known: everything in our directories counts */
	switch (lineage_place(&in->lineage, s)) {
	case BRANCH_LIVING:
		return;
	case BRANCH_ABANDONED:
		judge(c, VERDICT_REJECTED,
		      "abandoned branch: a later launch did not start from it");
		return;
	case BRANCH_FOREIGN:
		break;
	}
	if (in->lineage.tip < 0 && c->source == SOURCE_JOURNAL)
		return; /* recorded, and nothing tells of a later branch */
	/* what cannot be looked at and has no owner in its name may well be ours */
	if (!*s->job_id && c->integrity == INTEGRITY_UNREADABLE && c->source != SOURCE_INITIAL)
		return;
	if (c->source == SOURCE_INITIAL)
		judge(c, VERDICT_REJECTED, "the initial savepoint is for the first start only");
	else
		judge(c, VERDICT_REJECTED, "job id %s is not in the lineage of this application",
		      *s->job_id ? s->job_id : "(unknown)");
}

/* ---- rule 6: newest first ---------------------------------------------------------------------
 *
 * Inside a lineage the checkpoint id is the order. Without a journal it is so between snapshots of
 * one job only; the jobs then are compared by when their newest was completed. */

#define GROUP_DIGITS 6 /* a savepoint has so many digits of its job id in its name */

static int compare_groups(const struct inquiry *in, const struct snapshot *a,
			  const struct snapshot *b)
{
	return never_ran(in) ? strncmp(a->job_id, b->job_id, GROUP_DIGITS) : 0;
}

static int compare_numbers(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

/* Negative when a is newer. Nothing is left to the order in which they were found. */
static int compare_age(const struct snapshot *a, const struct snapshot *b, bool by_id)
{
	int by_number = compare_numbers(b->checkpoint_id, a->checkpoint_id);
	int by_time = compare_numbers(b->completed_unix_ms, a->completed_unix_ms);
	int first = by_id ? by_number : by_time, second = by_id ? by_time : by_number;

	if (first)
		return first;
	return second ? second : strcmp(a->path, b->path);
}

static int compare_candidates(const void *left, const void *right, void *context)
{
	const struct inquiry *in = context;
	const struct snapshot *a = &in->facts->candidates[*(const size_t *)left].snapshot;
	const struct snapshot *b = &in->facts->candidates[*(const size_t *)right].snapshot;
	int group = compare_groups(in, a, b);

	return group ? group : compare_age(a, b, true);
}

static void sort_candidates(struct inquiry *in)
{
	in->order = xcalloc(in->facts->candidate_count + 1, sizeof(*in->order));
	for (size_t i = 0; i < in->facts->candidate_count; i++) {
		const struct candidate *c = &in->facts->candidates[i];

		if (c->verdict == VERDICT_NONE && !is_fallback(in, c))
			in->order[in->order_count++] = i;
	}
	qsort_r(in->order, in->order_count, sizeof(*in->order), compare_candidates, in);
}

/* The newest of each group competes. */
static struct candidate *newest_open(struct inquiry *in)
{
	struct candidate *best = NULL, *head = NULL;

	for (size_t i = 0; i < in->order_count; i++) {
		struct candidate *c = &in->facts->candidates[in->order[i]];

		if (c->verdict != VERDICT_NONE ||
		    (head && !compare_groups(in, &head->snapshot, &c->snapshot)))
			continue;
		head = c;
		if (!best || compare_age(&c->snapshot, &best->snapshot, false) < 0)
			best = c;
	}
	return best;
}

/* The one that is left when there is no other. */
static struct candidate *fallback(struct inquiry *in)
{
	for (size_t i = 0; i < in->facts->candidate_count; i++)
		if (in->facts->candidates[i].verdict == VERDICT_NONE &&
		    is_fallback(in, &in->facts->candidates[i]))
			return &in->facts->candidates[i];
	return NULL;
}

/* ---- rule 6: choosing ---- */

/* Something of ours at least as new as `id` was found and is proven damaged: that loss is known and
 * loud. */
static bool loss_is_known(const struct inquiry *in, int64_t id)
{
	for (size_t i = 0; i < in->order_count; i++) {
		const struct candidate *c = &in->facts->candidates[in->order[i]];

		if (c->integrity == INTEGRITY_DAMAGED && c->snapshot.checkpoint_id >= id)
			return true;
	}
	return false;
}

static void choose(struct inquiry *in, struct candidate *c)
{
	const char *path = NULL;
	int64_t known = lineage_newest(&in->lineage, in->policy->restore == POLICY_LATEST, &path);

	take(in, c, 6, "newest usable state");
	if (in->decision->kind != DECISION_START_FROM)
		return;
	if (c->snapshot.checkpoint_id < known && !loss_is_known(in, known)) {
		judge(c, VERDICT_REJECTED, "older than checkpoint id %" PRId64 ", which is known",
		      known);
		decide(in, DECISION_HOLD, 6,
		       "checkpoint id %" PRId64
		       " (%s) was completed but is not to be found; the newest "
		       "found is %s (%" PRId64
		       "); bring it back, or accept the loss with `drey resume "
		       "--from %s`",
		       known, path ? path : "path not known", c->snapshot.path,
		       c->snapshot.checkpoint_id, c->snapshot.path);
		return;
	}
	for (size_t i = 0; i < in->facts->candidate_count; i++)
		if (in->facts->candidates[i].verdict == VERDICT_NONE &&
		    is_fallback(in, &in->facts->candidates[i]))
			judge(&in->facts->candidates[i], VERDICT_OLDER,
			      "the initial savepoint counts only when there is nothing newer");
	judge_rest(in, VERDICT_OLDER, "older than the chosen one");
}

/* What may be newer than its name says. True when that has to be settled first. */
static bool age_unknown(struct inquiry *in)
{
	for (size_t i = 0; i < in->order_count; i++) {
		struct candidate *c = &in->facts->candidates[in->order[i]];

		if (c->snapshot.checkpoint_id)
			continue;
		if (c->integrity == INTEGRITY_UNREADABLE) {
			decide(in, DECISION_HOLD, 5,
			       "%s cannot be read and could be the newest: %s", c->snapshot.path,
			       detail_of(c->detail));
			return true;
		}
		if (c->integrity == INTEGRITY_UNCHECKED) {
			take(in, c, 6, "its age is not known");
			return true;
		}
	}
	return false;
}

/* True when c, the newest that is left, leads to a decision or a question; else judged. */
static bool candidate_decides(struct inquiry *in, struct candidate *c)
{
	if (c->integrity == INTEGRITY_UNREADABLE) {
		decide(in, DECISION_HOLD, 5, "%s cannot be read and is the newest: %s",
		       c->snapshot.path, detail_of(c->detail));
		return true;
	}
	if (c->integrity == INTEGRITY_DAMAGED || c->integrity == INTEGRITY_INCOMPLETE) {
		judge(c, VERDICT_REJECTED, "%s: %s",
		      c->integrity == INTEGRITY_DAMAGED ? "damaged" : "incomplete",
		      detail_of(c->detail));
		c->passed_over = c->integrity == INTEGRITY_DAMAGED;
		return false;
	}
	choose(in, c);
	return true;
}

/* A snapshot of ours that was completed once, whether usable now and wanted by the policy or not;
 * NULL = none. Without a journal every trace counts. */
static const struct candidate *trace_of_state(const struct inquiry *in)
{
	for (size_t i = 0; i < in->facts->candidate_count; i++) {
		const struct candidate *c = &in->facts->candidates[i];

		if (is_fallback(in, c) || is_tainted(in, &c->snapshot))
			continue;
		if (never_ran(in) || (c->integrity != INTEGRITY_INCOMPLETE &&
				      lineage_place(&in->lineage, &c->snapshot) == BRANCH_LIVING))
			return c;
	}
	return NULL;
}

/* True when a decision (or a question) came out of the candidates. */
static bool candidates_decide(struct inquiry *in)
{
	const char *path = NULL;
	struct candidate *c;

	for (size_t i = 0; i < in->facts->candidate_count; i++)
		judge_identity(in, &in->facts->candidates[i]);
	sort_candidates(in);
	if (age_unknown(in))
		return true;
	while ((c = newest_open(in)))
		if (candidate_decides(in, c))
			return true;
	/* something of ours was there once and is newer: no way back behind it */
	if (trace_of_state(in) || lineage_newest(&in->lineage, true, &path))
		return false;
	while ((c = fallback(in)))
		if (candidate_decides(in, c))
			return true;
	return false;
}

/* ---- rule 8: nothing to start from ---- */

static bool has_state(const struct inquiry *in)
{
	const struct journal *journal = in->journal;
	const char *path = NULL;

	for (size_t i = 0; i < journal->launch_count; i++)
		if (journal->launches[i].restore_path)
			return true;
	return journal->ever_proven || journal->snapshot_count ||
	       lineage_newest(&in->lineage, true, &path);
}

static void nothing_found(struct inquiry *in)
{
	const struct source_fact *initial = &in->facts->sources[SOURCE_INITIAL];
	const struct candidate *trace = trace_of_state(in);

	if (has_state(in))
		decide(in, DECISION_HOLD, 8,
		       "the application has run before, but no usable state was found; bring the "
		       "storage back, or name a snapshot with `drey resume --from PATH`, or accept "
		       "the loss with `drey resume --empty`");
	else if (trace)
		decide(in, DECISION_HOLD, 8,
		       "state was found but none of it may be used (%s: %s); repair it, name a "
		       "snapshot with `drey resume --from PATH`, or accept the loss with `drey "
		       "resume --empty`",
		       trace->snapshot.path, detail_of(trace->reason));
	else if (initial->state == SOURCE_UNREADABLE)
		decide(in, DECISION_HOLD, 5, "the initial savepoint cannot be read: %s",
		       detail_of(initial->detail));
	else if (initial->state != SOURCE_NOT_CONFIGURED)
		decide(in, DECISION_HOLD, 8,
		       "the initial savepoint is not there or cannot be used: %s",
		       detail_of(initial->detail));
	else if (never_ran(in))
		decide(in, DECISION_START_EMPTY, 8,
		       "the application has never run: every source was read and holds nothing");
	else
		decide(in, DECISION_START_EMPTY, 8,
		       "no launch has completed a checkpoint yet and all of them started empty");
}

bool resolve_parked(const struct journal *journal, struct decision *ret_decision)
{
	struct inquiry in = {.journal = journal, .decision = ret_decision};

	memset(ret_decision, 0, sizeof(*ret_decision));
	return parked(&in);
}

void resolve(const struct journal *journal, struct facts *facts, const struct policy *policy,
	     struct decision *ret_decision)
{
	struct inquiry in = {
		.journal = journal, .facts = facts, .policy = policy, .decision = ret_decision};

	memset(ret_decision, 0, sizeof(*ret_decision));
	for (size_t i = 0; i < facts->candidate_count; i++) {
		free(facts->candidates[i].reason);
		facts->candidates[i].reason = NULL;
		facts->candidates[i].verdict = VERDICT_NONE;
		facts->candidates[i].passed_over = false;
	}
	if (parked(&in))
		return;
	if (facts->sources[SOURCE_JOURNAL].state == SOURCE_UNREADABLE) {
		decide(&in, DECISION_HOLD, 5, "the journal cannot be read: %s",
		       detail_of(facts->sources[SOURCE_JOURNAL].detail));
		return;
	}
	lineage_find(&in.lineage, journal, facts);
	if (!requested(&in) && !source_unreadable(&in) && !still_requested(&in) &&
	    !candidates_decide(&in))
		nothing_found(&in);
	lineage_release(&in.lineage);
	free(in.order);
}

const char *decision_kind_name(enum decision_kind kind)
{
	static const char *const names[] = {"VERIFY",      "CONTINUE", "START_FROM",
					    "START_EMPTY", "PARK",     "HOLD"};

	return (size_t)kind < ARRAY_LEN(names) ? names[kind] : "unknown";
}
