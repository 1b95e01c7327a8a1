#include "core/resolve.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* What the rules share; lives for one call of resolve(). */
struct inquiry {
	const struct journal *journal;
	struct facts *facts;
	const struct policy *policy;
	struct decision *decision;
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

/* ---- rules 1 and 2: not wanted ----------------------------------------------------------------
 */

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

/* ---- rule 4: one-shot request -----------------------------------------------------------------
 */

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
		decide(
		    in, DECISION_HOLD, rule,
		    "%s was written by a newer Flink (_metadata version %d, this Flink reads up to "
		    "%d); start the Flink version that wrote it",
		    c->snapshot.path, c->metadata_version, in->facts->max_metadata_version);
		return;
	}
	in->decision->candidate = (size_t)(c - in->facts->candidates);
	judge(c, VERDICT_CHOSEN, "%s", why);
	decide(in, DECISION_START_FROM, rule, "%s: %s %s, checkpoint id %" PRId64, why,
	       snapshot_kind_name(c->snapshot.kind), c->snapshot.path, c->snapshot.checkpoint_id);
}

static bool requested(struct inquiry *in)
{
	const struct restore_request *request = &in->journal->intent.restore;
	struct candidate *c;

	if (request->kind == RESTORE_NONE || !request->token ||
	    journal_is_consumed(in->journal, request->token))
		return false;
	in->decision->token = request->token;
	in->decision->allow_non_restored = request->allow_non_restored;
	if (request->kind == RESTORE_EMPTY) {
		decide(in, DECISION_START_EMPTY, 4, "an empty start was requested once");
		return true;
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
		take(in, c, 4, "requested once by a person");
	return true;
}

/* ---- rule 5: an error is never absence --------------------------------------------------------
 */

static bool source_unreadable(struct inquiry *in)
{
	for (int i = 0; i < SOURCE_COUNT; i++) {
		const struct source_fact *source = &in->facts->sources[i];

		if (i == SOURCE_REQUEST || source->state != SOURCE_UNREADABLE)
			continue;
		decide(in, DECISION_HOLD, 5,
		       "the %s cannot be read and could hold newer state: %s; drey looks again",
		       source_kind_name((enum source_kind)i), detail_of(source->detail));
		return true;
	}
	return false;
}

/* ---- rule 6: which candidates count -----------------------------------------------------------
 */

/* Index of the launch that made the snapshot; -1 when none of ours did. A savepoint found by name
 * has the first six digits only. A restore point counts as made by the launch before the one that
 * it started (index -1 for the first). *ret_ours tells whether it belongs to this application at
 * all. */
static int maker_of(const struct journal *journal, const struct snapshot *s, bool *ret_ours)
{
	size_t id_len = strlen(s->job_id);

	*ret_ours = true;
	for (size_t i = journal->launch_count; i-- > 0;)
		if (id_len && !strncmp(journal->launches[i].job_id, s->job_id, id_len))
			return (int)i;
	for (size_t i = 0; i < journal->launch_count; i++)
		if (snapshot_same_path(journal->launches[i].restore_path, s->path))
			return (int)i - 1;
	*ret_ours = false;
	return -1;
}

/* The highest checkpoint id of launch `maker` that the present state still descends from: what a
 * later launch did not start from is an abandoned branch. */
static int64_t lineage_limit(const struct journal *journal, int maker)
{
	int64_t limit = INT64_MAX;

	for (size_t k = (size_t)(maker + 1); k < journal->launch_count; k++) {
		const struct launch *later = &journal->launches[k];

		if (!later->started_unix_ms)
			continue;
		if (!later->restore_path)
			limit = 0;
		else if (later->restore_checkpoint_id < limit)
			limit = later->restore_checkpoint_id;
	}
	return limit;
}

static bool never_ran(const struct journal *journal)
{
	return !journal->launch_count && !journal->snapshot_count && !journal->ever_proven;
}

/* True when c may be chosen as far as identity goes; else judged. */
static bool belongs(struct inquiry *in, struct candidate *c)
{
	const struct snapshot *s = &c->snapshot;
	bool ours = false;
	int maker;
	int64_t limit;

	if (in->policy->restore == POLICY_SAVEPOINT && s->kind == SNAPSHOT_CHECKPOINT &&
	    c->source != SOURCE_INITIAL) {
		judge(c, VERDICT_REJECTED, "the restore policy takes savepoints only");
		return false;
	}
	if (never_ran(in->journal))
		return true; /* no lineage is known: everything in our directories counts */
	maker = maker_of(in->journal, s, &ours);
	if (c->source == SOURCE_INITIAL && !ours) {
		ours = !in->journal->ever_proven;
		if (!ours) {
			judge(c, VERDICT_REJECTED,
			      "the initial savepoint is for the first start only");
			return false;
		}
	}
	if (!ours && c->source != SOURCE_JOURNAL) {
		judge(c, VERDICT_REJECTED, "job id %s is not in the lineage of this application",
		      *s->job_id ? s->job_id : "(unknown)");
		return false;
	}
	limit = lineage_limit(in->journal, maker);
	if (s->checkpoint_id > limit) {
		judge(c, VERDICT_REJECTED,
		      "abandoned branch: a later launch started from checkpoint id %" PRId64,
		      limit);
		return false;
	}
	return true;
}

/* Newest first. Inside a lineage the checkpoint id is the order; without a journal only the time of
 * completion is comparable, and the id between snapshots of one job. */
static bool newer(const struct inquiry *in, const struct snapshot *a, const struct snapshot *b)
{
	bool by_id =
	    !never_ran(in->journal) ||
	    (*a->job_id && strlen(a->job_id) == strlen(b->job_id) && !strcmp(a->job_id, b->job_id));

	if (by_id && a->checkpoint_id != b->checkpoint_id)
		return a->checkpoint_id > b->checkpoint_id;
	return a->completed_unix_ms > b->completed_unix_ms;
}

static struct candidate *newest_open(struct inquiry *in)
{
	struct candidate *best = NULL;

	for (size_t i = 0; i < in->facts->candidate_count; i++) {
		struct candidate *c = &in->facts->candidates[i];

		if (c->verdict != VERDICT_NONE)
			continue;
		if (!best || newer(in, &c->snapshot, &best->snapshot))
			best = c;
	}
	return best;
}

/* The newest completed snapshot that the journal knows of on the living branch; 0 = none. */
static int64_t newest_known(const struct inquiry *in, const char **ret_path)
{
	const struct journal *journal = in->journal;
	int64_t newest = 0;
	bool ours;

	for (size_t i = 0; i < journal->launch_count; i++) {
		const struct launch *launch = &journal->launches[i];

		if (in->policy->restore == POLICY_LATEST && launch->last_checkpoint_id > newest &&
		    launch->last_checkpoint_id <= lineage_limit(journal, (int)i)) {
			newest = launch->last_checkpoint_id;
			*ret_path = launch->last_checkpoint_path;
		}
	}
	for (size_t i = 0; i < journal->snapshot_count; i++) {
		const struct snapshot *s = &journal->snapshots[i];

		if (s->checkpoint_id > newest &&
		    s->checkpoint_id <= lineage_limit(journal, maker_of(journal, s, &ours))) {
			newest = s->checkpoint_id;
			*ret_path = s->path;
		}
	}
	return newest;
}

/* Something at least as new as `id` was found and is proven damaged: that loss is known and loud.
 */
static bool loss_is_known(const struct inquiry *in, int64_t id)
{
	for (size_t i = 0; i < in->facts->candidate_count; i++) {
		const struct candidate *c = &in->facts->candidates[i];

		if (c->integrity == INTEGRITY_DAMAGED && c->snapshot.checkpoint_id >= id)
			return true;
	}
	return false;
}

static void choose(struct inquiry *in, struct candidate *c)
{
	const char *path = NULL;
	int64_t known = newest_known(in, &path);

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
		if (in->facts->candidates[i].verdict == VERDICT_NONE)
			judge(&in->facts->candidates[i], VERDICT_OLDER,
			      "older than the chosen one");
}

/* True when a decision (or a question) came out of the candidates. */
static bool candidates_decide(struct inquiry *in)
{
	struct candidate *c;

	for (size_t i = 0; i < in->facts->candidate_count; i++)
		belongs(in, &in->facts->candidates[i]);
	/* what cannot be looked at may be the newest of all, whatever its name says */
	for (size_t i = 0; i < in->facts->candidate_count; i++) {
		c = &in->facts->candidates[i];
		if (c->verdict == VERDICT_NONE && c->integrity == INTEGRITY_UNREADABLE &&
		    !c->snapshot.checkpoint_id) {
			decide(in, DECISION_HOLD, 5,
			       "%s cannot be read and could be the newest: %s", c->snapshot.path,
			       detail_of(c->detail));
			return true;
		}
	}
	while ((c = newest_open(in))) {
		if (c->integrity == INTEGRITY_UNREADABLE) {
			decide(in, DECISION_HOLD, 5, "%s cannot be read and is the newest: %s",
			       c->snapshot.path, detail_of(c->detail));
			return true;
		}
		if (c->integrity == INTEGRITY_DAMAGED || c->integrity == INTEGRITY_INCOMPLETE) {
			judge(c, VERDICT_REJECTED, "%s: %s",
			      c->integrity == INTEGRITY_DAMAGED ? "damaged" : "incomplete",
			      detail_of(c->detail));
			continue;
		}
		choose(in, c);
		return true;
	}
	return false;
}

/* ---- rule 8: nothing to start from ------------------------------------------------------------
 */

static size_t count_integrity(const struct facts *facts, enum integrity integrity)
{
	size_t count = 0;

	for (size_t i = 0; i < facts->candidate_count; i++)
		count += facts->candidates[i].integrity == integrity;
	return count;
}

static void nothing_found(struct inquiry *in)
{
	const struct journal *journal = in->journal;
	const struct source_fact *initial = &in->facts->sources[SOURCE_INITIAL];
	const char *path = NULL;
	bool all_empty = true;

	for (size_t i = 0; i < journal->launch_count; i++)
		all_empty = all_empty && !journal->launches[i].restore_path;
	if (journal->ever_proven || newest_known(in, &path) || !all_empty)
		decide(in, DECISION_HOLD, 8,
		       "the application has run before, but no usable state was found; bring the "
		       "storage back, or name a snapshot with `drey resume --from PATH`, or accept "
		       "the loss with `drey resume --empty`");
	else if (count_integrity(in->facts, INTEGRITY_DAMAGED) ||
		 (never_ran(journal) && in->facts->candidate_count))
		decide(in, DECISION_HOLD, 8,
		       "state was found but none of it is usable (%s); repair it, name a snapshot "
		       "with "
		       "`drey resume --from PATH`, or accept the loss with `drey resume --empty`",
		       detail_of(in->facts->candidates[0].detail));
	else if (initial->state != SOURCE_NOT_CONFIGURED)
		decide(in, DECISION_HOLD, 8, "the initial savepoint is not there: %s",
		       detail_of(initial->detail));
	else if (never_ran(journal))
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
	struct inquiry in = {journal, facts, policy, ret_decision};

	memset(ret_decision, 0, sizeof(*ret_decision));
	for (size_t i = 0; i < facts->candidate_count; i++) {
		free(facts->candidates[i].reason);
		facts->candidates[i].reason = NULL;
		facts->candidates[i].verdict = VERDICT_NONE;
	}
	if (parked(&in))
		return;
	if (facts->sources[SOURCE_JOURNAL].state == SOURCE_UNREADABLE) {
		decide(&in, DECISION_HOLD, 5, "the journal cannot be read: %s",
		       detail_of(facts->sources[SOURCE_JOURNAL].detail));
		return;
	}
	if (requested(&in) || source_unreadable(&in) || candidates_decide(&in))
		return;
	nothing_found(&in);
}

const char *decision_kind_name(enum decision_kind kind)
{
	static const char *const names[] = {"VERIFY",      "CONTINUE", "START_FROM",
					    "START_EMPTY", "PARK",     "HOLD"};

	return (size_t)kind < ARRAY_LEN(names) ? names[kind] : "unknown";
}
