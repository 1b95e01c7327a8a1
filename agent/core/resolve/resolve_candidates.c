/*
 * Rule 6: which candidates count, in which order, and the newest usable one.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "core/resolve/evidence.h"
#include "core/resolve/resolve_internal.h"

/* How long a recorded verification is trusted: long enough for a crash loop. */
#define TRUSTED_MS (10 * 60 * INT64_C(1000))

/* ---- which count ---- */

static void judge_foreign(struct inquiry *in, struct candidate *c)
{
	const struct snapshot *s = &c->snapshot;

	if (in->lineage.tip < 0 && c->source == SOURCE_JOURNAL)
		return; /* recorded, and nothing shows a later branch */
	/* an unreadable one without a job id in its name may be ours */
	if (!*s->job_id && c->integrity == INTEGRITY_UNREADABLE && !candidate_is_initial(c))
		return;
	if (candidate_is_initial(c))
		inquiry_judge(c, VERDICT_REJECTED,
			      "the initial savepoint is for the first start only");
	else
		inquiry_judge(c, VERDICT_REJECTED,
			      "job id %s is not in the lineage of this application",
			      *s->job_id ? s->job_id : "(unknown)");
}

/* Rejects c by what it is, whatever its content. */
static void judge_identity(struct inquiry *in, struct candidate *c)
{
	const struct snapshot *s = &c->snapshot;

	if (candidate_is_fallback(in, c))
		return;
	if (candidate_is_tainted(in, c)) {
		inquiry_judge(c, VERDICT_REJECTED,
			      "made by a launch that restored something other than was decided");
		return;
	}
	if (in->policy->restore == POLICY_SAVEPOINT && s->kind == SNAPSHOT_CHECKPOINT &&
	    !candidate_is_initial(c) && !lineage_is_origin(&in->lineage, s)) {
		inquiry_judge(c, VERDICT_REJECTED, "restore.policy allows savepoints only");
		return;
	}
	if (inquiry_never_ran(in)) {
		/* the lineage is unknown: all of them count, or none */
		if (!in->adopts)
			inquiry_judge(c, VERDICT_REJECTED, "made by no launch in the journal");
		else if (!in->policy->adopt && !foreign_counts(in, c))
			inquiry_judge(
				c, VERDICT_REJECTED,
				"older than the initial savepoint, or in a directory that other applications use too");
		return;
	}
	switch (lineage_place(&in->lineage, s)) {
	case BRANCH_LIVING:
		return;
	case BRANCH_ABANDONED:
		inquiry_judge(c, VERDICT_REJECTED,
			      "abandoned branch: a later launch did not start from it");
		return;
	case BRANCH_FOREIGN:
		judge_foreign(in, c);
		return;
	}
}

/* ---- newest first -----------------------------------------------------------------------------
 *
 * Within a lineage the checkpoint id decides. Without a journal it decides only between snapshots
 * of one job; jobs are then compared by the completion time of their newest snapshot. */

static int compare_groups(const struct inquiry *in, const struct snapshot *a,
			  const struct snapshot *b)
{
	return inquiry_never_ran(in) ? strncmp(a->job_id, b->job_id, JOB_GROUP_DIGITS) : 0;
}

static int compare_candidates(const void *left, const void *right, void *context)
{
	const struct inquiry *in = context;
	const struct snapshot *a = &in->facts->candidates[*(const size_t *)left].snapshot;
	const struct snapshot *b = &in->facts->candidates[*(const size_t *)right].snapshot;
	int group = compare_groups(in, a, b);

	return group ? group : candidate_compare_age(a, b, true);
}

static void sort_candidates(struct inquiry *in)
{
	in->order = xcalloc(in->facts->candidate_count + 1, sizeof(*in->order));
	for (size_t i = 0; i < in->facts->candidate_count; i++) {
		const struct candidate *c = &in->facts->candidates[i];

		if (c->verdict == VERDICT_NONE && !candidate_is_fallback(in, c))
			in->order[in->order_count++] = i;
	}
	qsort_r(in->order, in->order_count, sizeof(*in->order), compare_candidates, in);
}

/* Without a journal dates tell which job is the newest. What has none does not stand for its group: it is judged before all
 * others. (Where there is deliberately no journal, what can be read is taken as it is.) */
static bool is_undated(const struct inquiry *in, const struct candidate *c)
{
	if (!inquiry_never_ran(in))
		return false;
	/* MUT: a checkpoint that was never completed stands for its job */
	if (c->integrity == INTEGRITY_INCOMPLETE)
		return true;
	return !c->snapshot.completed_unix_ms &&
	       (!in->policy->adopt || c->integrity == INTEGRITY_UNREADABLE);
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
		if (is_undated(in, c))
			return c;
		head = c;
		if (!best || candidate_compare_age(&c->snapshot, &best->snapshot, false) < 0)
			best = c;
	}
	return best;
}

/* The one to use when there is no other. */
static struct candidate *open_fallback(struct inquiry *in)
{
	for (size_t i = 0; i < in->facts->candidate_count; i++)
		if (in->facts->candidates[i].verdict == VERDICT_NONE &&
		    candidate_is_fallback(in, &in->facts->candidates[i]))
			return &in->facts->candidates[i];
	return NULL;
}

/* ---- taking one ---- */

static bool too_new(const struct inquiry *in, const struct candidate *c)
{
	return in->facts->max_metadata_version &&
	       c->metadata_version > in->facts->max_metadata_version;
}

/* The last launch was decided to start from it and did not report the restore: a file may be
 * missing. */
static bool is_suspect(const struct inquiry *in, const struct candidate *c)
{
	const struct launch *launch = journal_launch_const(in->journal);

	return launch && launch->started_unix_ms && !launch->verified_unix_ms &&
	       snapshot_same_path(launch->restore_path, c->snapshot.path);
}

/* It was verified a few minutes ago, and its _metadata has not changed since. Damage is never
 * remembered: it may have been repaired. */
static bool is_trusted(struct inquiry *in, struct candidate *c)
{
	struct snapshot *s = &c->snapshot;

	if (is_suspect(in, c) || foreign_matters(in))
		return false;
	for (size_t i = 0; i < in->journal->snapshot_count; i++) {
		const struct snapshot *known = &in->journal->snapshots[i];
		int64_t age_ms = in->facts->now_unix_ms - known->verified_unix_ms;

		if (!known->verified || !known->verified_unix_ms || age_ms < 0 ||
		    age_ms >= TRUSTED_MS || !snapshot_same_path(known->path, s->path) ||
		    !s->metadata_unix_ms || s->metadata_unix_ms != known->metadata_unix_ms ||
		    !s->metadata_bytes || s->metadata_bytes != known->metadata_bytes ||
		    (s->checkpoint_id && s->checkpoint_id != known->checkpoint_id))
			continue;
		s->checkpoint_id = known->checkpoint_id;
		s->size_bytes = known->size_bytes;
		s->file_count = known->file_count;
		s->verified = true;
		s->verified_unix_ms = known->verified_unix_ms;
		c->metadata_version = known->metadata_version;
		c->integrity = INTEGRITY_COMPLETE;
		return true;
	}
	return false;
}

/* A person who requests the checkpoint (rule 4) takes the risk for the Flink that runs then. */
static bool line_forbids(struct inquiry *in, struct candidate *c, enum rule rule)
{
	const char *theirs =
		rule == RULE_REQUEST && !in->other_line ? NULL : generation_other_line(in, c);

	if (!theirs)
		return false;
	inquiry_judge(c, VERDICT_REJECTED, "a checkpoint of Flink %s, not of line %s", theirs,
		      in->policy->flink_version);
	inquiry_hold(
		in, CAUSE_SAVEPOINT_REQUIRED, rule,
		"the newest state %s is a checkpoint of Flink %s, but Flink %s needs a savepoint; start Flink %s again and stop it with a savepoint, or accept the risk with `drey resume --from %s`",
		c->snapshot.path, theirs, in->policy->flink_version, theirs, c->snapshot.path);
	return true;
}

void candidate_take(struct inquiry *in, struct candidate *c, enum rule rule, const char *why)
{
	if (c->integrity == INTEGRITY_UNCHECKED && !is_trusted(in, c)) {
		inquiry_verify(in, c, rule);
		return;
	}
	if (too_new(in, c)) {
		inquiry_judge(c, VERDICT_REJECTED,
			      "_metadata version %d is newer than this Flink can read (%d)",
			      c->metadata_version, in->facts->max_metadata_version);
		inquiry_hold(
			in, CAUSE_FLINK_TOO_OLD, rule,
			"%s was written by a newer Flink (_metadata version %d, this Flink reads up to %d); deploy the Flink version that wrote it",
			c->snapshot.path, c->metadata_version, in->facts->max_metadata_version);
		return;
	}
	if (line_forbids(in, c, rule))
		return;
	in->decision->candidate = (size_t)(c - in->facts->candidates);
	inquiry_judge(c, VERDICT_CHOSEN, "%s", why);
	inquiry_decide(in, DECISION_START_FROM, rule, "%s: %s %s, checkpoint id %" PRId64, why,
		       snapshot_kind_name(c->snapshot.kind), c->snapshot.path,
		       c->snapshot.checkpoint_id);
}

bool age_forbids(struct inquiry *in)
{
	const struct decision *decision = in->decision;
	int64_t limit_ms = in->policy->max_age_ms, completed_ms, age_ms;
	char age[CLOCK_TEXT_BYTES], limit[CLOCK_TEXT_BYTES];
	struct candidate *c;

	if (!limit_ms || decision->rule == RULE_REQUEST ||
	    (decision->kind != DECISION_START_FROM && decision->kind != DECISION_CONTINUE))
		return false;
	c = &in->facts->candidates[decision->candidate];
	completed_ms = journal_completed_unix_ms(in->journal, &c->snapshot);
	age_ms = in->facts->now_unix_ms - completed_ms;
	if (completed_ms && age_ms <= limit_ms)
		return false;
	clock_human(limit_ms, limit);
	snprintf(age, sizeof(age), "of unknown age");
	if (completed_ms)
		clock_human(age_ms, age);
	inquiry_judge(c, VERDICT_REJECTED, "%s%s, and restore.maxAge is %s", age,
		      completed_ms ? " old" : "", limit);
	inquiry_hold(
		in, CAUSE_STATE_TOO_OLD, RULE_NEWEST,
		"the newest usable snapshot is %s%s, but restore.maxAge is %s; use `drey resume --from %s` to restore it anyway",
		age, completed_ms ? " old" : "", limit, c->snapshot.path);
	return true;
}

/* ---- choosing ---- */

/* One of ours at least as new as `id` was found and is proven damaged: that loss is reported. */
static bool loss_is_known(const struct inquiry *in, int64_t id)
{
	for (size_t i = 0; i < in->order_count; i++) {
		const struct candidate *c = &in->facts->candidates[in->order[i]];

		if (c->integrity == INTEGRITY_DAMAGED && c->snapshot.checkpoint_id >= id)
			return true;
	}
	return false;
}

/* What was found at this path, an id or damage, replaces the record. */
static bool is_found(const struct inquiry *in, const char *path)
{
	for (size_t i = 0; i < in->facts->candidate_count; i++) {
		const struct candidate *c = &in->facts->candidates[i];

		if (c->integrity != INTEGRITY_INCOMPLETE &&
		    snapshot_same_path(c->snapshot.path, path))
			return true;
	}
	return false;
}

/* Of the last launch, or of one before it: Flink told of it when the later ones had begun without it, and these have left
 * nothing. */
static bool is_of_last(const struct inquiry *in, int maker, const struct snapshot *s)
{
	if (maker < 0)
		return false;
	for (int i = maker + 1; i <= in->lineage.tip; i++) {
		const struct launch *later = &in->journal->launches[i];

		if (later->request_token || s->completed_unix_ms < later->intended_unix_ms ||
		    lineage_has_left_state(in->journal, in->facts, i))
			return false;
	}
	return maker <= in->lineage.tip;
}

/* Of two that were taken at the same time, the one with the higher id may be complete first. */
const struct snapshot *candidate_vanished(const struct inquiry *in, const struct candidate *c)
{
	const struct journal *journal = in->journal;
	int64_t completed_ms = candidate_started_unix_ms(in, c);

	for (size_t i = 0; i < journal->snapshot_count; i++) {
		const struct snapshot *s = &journal->snapshots[i];
		int maker = lineage_maker(journal, s);
		/* that launch began after c; snapshots copied from a backup have newer dates */
		bool before = lineage_maker(journal, &c->snapshot) != maker;

		if (!s->checkpoint_id && s->completed_unix_ms && is_of_last(in, maker, s) &&
		    (before || completed_ms <= s->completed_unix_ms + LOSS_CLOCK_MS) &&
		    !is_found(in, s->path))
			return s;
	}
	return NULL;
}

/* Flink reported it, but it disappeared before drey could check it. */
static void hold_for_vanished(struct inquiry *in, struct candidate *c, const struct snapshot *gone)
{
	inquiry_judge(c, VERDICT_REJECTED, "not known to be newer than %s, which Flink completed",
		      gone->path);
	inquiry_hold(in, CAUSE_NEWEST_STATE_MISSING, RULE_NEWEST,
		     "Flink completed %s, but it was not found; the newest found is %s (%" PRId64
		     "); restore the missing one, or accept the loss with `drey resume --from %s`",
		     gone->path, c->snapshot.path, c->snapshot.checkpoint_id, c->snapshot.path);
}

/* The newest snapshot that is known to be complete, by the journal or Flink's HA data; 0 = none. */
static int64_t newest_known(const struct inquiry *in, const struct candidate *c,
			    const char **ret_path)
{
	int64_t known =
		lineage_newest(&in->lineage, in->policy->restore == POLICY_LATEST, ret_path);
	const struct candidate *missing = candidate_missing(in, c);

	if (!missing || missing->snapshot.checkpoint_id <= known)
		return known;
	*ret_path = missing->snapshot.path;
	return missing->snapshot.checkpoint_id;
}

static void hold_for_missing(struct inquiry *in, struct candidate *c, int64_t id, const char *path)
{
	const struct candidate *missing = path ? facts_find(in->facts, path) : NULL;
	struct evidence evidence;

	inquiry_judge(c, VERDICT_REJECTED, "older than the known checkpoint id %" PRId64, id);
	inquiry_hold(in, CAUSE_NEWEST_STATE_MISSING, RULE_NEWEST,
		     "checkpoint id %" PRId64
		     " (%s) was completed but not found; the newest found is %s (%" PRId64
		     "); restore the missing one, or accept the loss with `drey resume --from %s`",
		     id, path ? path : "unknown path", c->snapshot.path, c->snapshot.checkpoint_id,
		     c->snapshot.path);
	if (!missing)
		return;
	evidence_of(in->journal, in->facts, missing, &evidence);
	inquiry_add(in, " (%s; %s)", evidence.text, inquiry_detail(missing->detail));
}

static void choose_candidate(struct inquiry *in, struct candidate *c)
{
	const struct snapshot *gone = candidate_vanished(in, c);
	const char *path = NULL;
	int64_t known = newest_known(in, c, &path);

	candidate_take(in, c, RULE_NEWEST, "newest usable snapshot");
	if (in->decision->kind != DECISION_START_FROM)
		return;
	if (c->snapshot.checkpoint_id < known && !loss_is_known(in, known)) {
		if (!sight_forbids(in))
			hold_for_missing(in, c, known, path);
		return;
	}
	if (gone) {
		if (!sight_forbids(in))
			hold_for_vanished(in, c, gone);
		return;
	}
	in->decision->adopted = in->adopts && !in->policy->adopt;
	if (in->decision->adopted)
		inquiry_add(in, " (the journal is lost, and restore.adopt is newest)");
	if (in->not_continued)
		inquiry_add(in, " (Flink's HA data are not used: %s%s%s)", in->not_continued,
			    in->not_continued_detail ? ": " : "",
			    in->not_continued_detail ? in->not_continued_detail : "");
	for (size_t i = 0; i < in->facts->candidate_count; i++)
		if (in->facts->candidates[i].verdict == VERDICT_NONE &&
		    candidate_is_fallback(in, &in->facts->candidates[i]))
			inquiry_judge(&in->facts->candidates[i], VERDICT_OLDER,
				      "the initial savepoint counts only if nothing is newer");
	inquiry_judge_rest(in, VERDICT_OLDER, "older than the chosen one");
}

/* One that may be newer than its name says. True when this must be settled first. */
static bool age_unknown(struct inquiry *in)
{
	for (size_t i = 0; i < in->order_count; i++) {
		struct candidate *c = &in->facts->candidates[in->order[i]];

		if (c->snapshot.checkpoint_id || c->unread)
			continue;
		if (c->integrity == INTEGRITY_UNREADABLE) {
			inquiry_hold(in, CAUSE_SNAPSHOT_UNREADABLE, RULE_UNREADABLE,
				     "%s cannot be read and may be the newest: %s",
				     c->snapshot.path, inquiry_detail(c->detail));
			return true;
		}
		if (c->integrity == INTEGRITY_UNCHECKED) {
			inquiry_verify(in, c, RULE_NEWEST);
			return true;
		}
	}
	return false;
}

/* True when c, the newest remaining one, leads to a decision or a question; else it is judged. */
static bool candidate_decides(struct inquiry *in, struct candidate *c)
{
	if (c->integrity == INTEGRITY_UNREADABLE) {
		inquiry_hold(in,
			     candidate_is_fallback(in, c) ? CAUSE_INITIAL_SAVEPOINT_UNUSABLE
							  : CAUSE_SNAPSHOT_UNREADABLE,
			     RULE_UNREADABLE, "%s cannot be read and is the newest: %s",
			     c->snapshot.path, inquiry_detail(c->detail));
		return true;
	}
	if (c->integrity == INTEGRITY_DAMAGED || c->integrity == INTEGRITY_INCOMPLETE) {
		c->passed_over = candidate_is_damaged(c);
		inquiry_judge(c, VERDICT_REJECTED, "%s: %s",
			      c->passed_over ? "damaged" : "incomplete", inquiry_detail(c->detail));
		return false;
	}
	/* MUT: a snapshot of a job that has finished is adopted */
	if (in->adopts && !in->policy->adopt && trace_forbids_adoption(in, c))
		return true;
	if (in->adopts && !in->policy->adopt && adopt_decides(in, c))
		return true;
	/* MUT: the newest snapshot is adopted although it is another job's */
	if (c->verdict == VERDICT_REJECTED)
		return false;
	choose_candidate(in, c);
	return true;
}

bool lost_journal_decides(struct inquiry *in)
{
	in->adopts = in->adopts || adopt_applies(in);
	for (size_t i = 0; i < in->facts->candidate_count; i++)
		judge_identity(in, &in->facts->candidates[i]);
	return lost_gates_decide(in) || journal_is_lost(in);
}

bool unknown_age_decides(struct inquiry *in)
{
	sort_candidates(in);
	return heads_decide(in) || age_unknown(in);
}

/* An initial savepoint, of now or of an earlier configuration. */
static bool is_initial_path(const struct inquiry *in, const char *path)
{
	const struct snapshot *known = journal_snapshot(in->journal, path);
	const struct candidate *c = facts_find(in->facts, path);

	return (known && known->origin == ORIGIN_INITIAL) || (c && candidate_is_initial(c));
}

/* A launch was to start from something else, whether it ran or not, or has left state somewhere: the initial savepoint is
 * from before that. */
static bool is_past_initial(const struct inquiry *in)
{
	const struct journal *journal = in->journal;

	for (size_t i = 0; i < journal->launch_count; i++) {
		const struct launch *launch = &journal->launches[i];

		if (launch->restore_path && !is_initial_path(in, launch->restore_path))
			return true;
		/* a savepoint that somebody else requested may be anywhere */
		if (launch_left_state(launch))
			return true;
	}
	return false;
}

bool newest_decides(struct inquiry *in)
{
	const char *path = NULL;
	struct candidate *c;

	/* what was passed over may have been the reason not to read others */
	while ((c = newest_open(in)))
		if (heads_decide(in) || candidate_decides(in, c))
			return true;
	/* a newer snapshot of ours existed: do not go back behind it */
	if (candidate_trace(in) || lineage_newest(&in->lineage, true, &path) || is_past_initial(in))
		return false;
	while ((c = open_fallback(in)))
		if (candidate_decides(in, c))
			return true;
	return false;
}
