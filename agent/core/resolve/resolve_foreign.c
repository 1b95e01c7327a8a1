/*
 * Rule 6: snapshots that no launch of this application made.
 *
 * drey never takes them automatically. But when they are newer than all of ours, the journal may be
 * lost or from a backup, and theirs may be the newest state: drey then holds until a person
 * decides, unless they certainly belong to another job.
 */
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "core/journal/journal_adopt.h"
#include "core/resolve/resolve_internal.h"

#define WAYS_OUT                                                                                   \
	"use `drey resume --from PATH` to start from one of them, or set `restore.foreign: ignore` if other applications use these directories too"

/* ---- operator ids ---- */

static enum operators compare_ids(char (*left)[JOB_ID_BYTES], size_t left_count,
				  char (*right)[JOB_ID_BYTES], size_t right_count)
{
	size_t common = 0;

	if (!left_count || !right_count)
		return OPERATORS_UNKNOWN;
	for (size_t i = 0; i < left_count; i++)
		for (size_t k = 0; k < right_count; k++)
			if (!strcmp(left[i], right[k])) {
				common++;
				break;
			}
	if (!common)
		return OPERATORS_DISJOINT;
	return common < left_count ? OPERATORS_OVERLAP : OPERATORS_WITHIN;
}

enum operators operators_compare(const struct candidate *left, const struct candidate *right)
{
	return !left || !right ? OPERATORS_UNKNOWN
			       : compare_ids(left->operators, left->operator_count,
					     right->operators, right->operator_count);
}

enum operators operators_of_job(const struct candidate *left, const struct job_fact *job)
{
	return compare_ids(left->operators, left->operator_count, job->operators,
			   job->operator_count);
}

/* ---- what can only be ours ---- */

/* Flink's HA data of this application name it, or its job id is one that only this application
 * uses. No other application can have made it, so the policy about foreign snapshots does not
 * apply. */
static bool is_surely_ours(const struct inquiry *in, const struct candidate *c)
{
	return c->in_ha || facts_is_own_job(in->facts, c->snapshot.job_id);
}

/* Ignored, because the directories are shared with other applications. */
static bool is_ignored(const struct inquiry *in, const struct candidate *c)
{
	return in->policy->foreign == FOREIGN_IGNORE && !is_surely_ours(in, c);
}

/* ---- a journal without launches ---- */

/* Certainly older than `base`. The date of a snapshot that was copied here means nothing. */
static bool is_behind(const struct candidate *c, const struct candidate *base)
{
	const struct snapshot *a = &c->snapshot, *b = &base->snapshot;

	if (candidate_same_job(c, base) && a->checkpoint_id && b->checkpoint_id)
		return a->checkpoint_id < b->checkpoint_id;
	return base->source != SOURCE_INITIAL && base->source != SOURCE_REQUEST &&
	       facts_was_completed(c) && a->completed_unix_ms &&
	       a->completed_unix_ms < b->completed_unix_ms;
}

static bool counts(const struct inquiry *in, const struct candidate *c,
		   const struct candidate *base)
{
	return c != base && !candidate_is_fallback(in, c) && !candidate_is_tainted(in, c) &&
	       !is_ignored(in, c) && !(base && is_behind(c, base));
}

/* The newest candidate that is not clearly older than `base` (NULL = of all), and how many there
 * are. */
static struct candidate *newest_found(const struct inquiry *in, const struct candidate *base,
				      size_t *ret_count)
{
	struct candidate *all = in->facts->candidates, *newest = NULL;

	*ret_count = 0;
	for (size_t i = 0; all && i < in->facts->candidate_count; i++) {
		struct candidate *c = &all[i];

		if (!counts(in, c, base))
			continue;
		++*ret_count;
		if (!newest || facts_was_completed(c) > facts_was_completed(newest) ||
		    (facts_was_completed(c) == facts_was_completed(newest) &&
		     candidate_compare_age(&c->snapshot, &newest->snapshot, false) < 0))
			newest = c;
	}
	return newest;
}

static const struct candidate *initial_savepoint(const struct inquiry *in)
{
	const struct candidate *initial = NULL;

	for (size_t i = 0; i < in->facts->candidate_count; i++)
		if (candidate_is_fallback(in, &in->facts->candidates[i]))
			initial = &in->facts->candidates[i];
	return initial;
}

bool foreign_counts(const struct inquiry *in, const struct candidate *c)
{
	return counts(in, c, initial_savepoint(in));
}

struct candidate *foreign_newest(const struct inquiry *in)
{
	size_t count;

	return newest_found(in, initial_savepoint(in), &count);
}

bool foreign_is_there(const struct inquiry *in)
{
	return foreign_newest(in);
}

bool journal_is_lost(struct inquiry *in)
{
	const struct candidate *newest, *initial = initial_savepoint(in);
	size_t count;

	if (in->adopts || !inquiry_never_ran(in))
		return false;
	newest = newest_found(in, initial, &count);
	if (!newest)
		return false;
	inquiry_hold(
		in, CAUSE_JOURNAL_LOST, RULE_NOTHING,
		"the journal has no launch that ran, but %zu snapshots%s were found, the newest %s: the journal may be lost%s; use `drey resume --from %s` to start from it, or `drey resume --empty` to start without state%s",
		count, initial ? " that may be newer than the initial savepoint" : "",
		newest->snapshot.path,
		is_surely_ours(in, newest) ? "" : ", or they belong to another application",
		newest->snapshot.path,
		is_surely_ours(in, newest)
			? ""
			: "; set `restore.foreign: ignore` if other applications use these directories too");
	return true;
}

bool undated_request_holds(struct inquiry *in)
{
	const struct restore_request *request = &in->journal->intent.restore;
	const struct candidate *wanted =
		request->kind == RESTORE_PATH ? requested_candidate(in) : NULL;
	const struct candidate *newest;
	size_t count;

	if (!inquiry_never_ran(in) || (request->kind == RESTORE_PATH && !wanted))
		return false;
	newest = newest_found(in, wanted, &count);
	if (!newest)
		return false;
	inquiry_judge_rest(in, VERDICT_REJECTED,
			   "drey cannot tell whether the restore request is old");
	inquiry_hold(in, CAUSE_REQUEST_MAY_BE_OLD, RULE_REQUEST,
		     REQUEST_MAY_BE_OLD
		     "%zu snapshots are not older than the requested one, the newest %s",
		     request->token, count, newest->snapshot.path);
	inquiry_add(in, REQUEST_WAYS_OUT);
	return true;
}

/* ---- a journal with too few launches ---- */

/* Made by a launch of which the journal has only the job id left; or by a job that runs beside this one; or not made by this application
 * but known, because a launch was started from it or because it was recorded. */
static bool is_known(const struct journal *journal, const struct snapshot *snapshot)
{
	/* MUT: what a launch has left that this journal never had is known */
	if (journal_is_unknown_job(journal, snapshot->job_id))
		return false;
	if (journal_is_former_job(journal, snapshot->job_id) ||
	    journal_is_candidates(journal, snapshot->job_id))
		return true;
	for (size_t i = 0; i < journal->launch_count; i++)
		if (snapshot_same_path(journal->launches[i].restore_path, snapshot->path))
			return true;
	return journal_snapshot(journal, snapshot->path);
}

/* By a request of this time. One that was read back with its journal may have been carried out long ago, and what is in question may
 * have come of it: who repeats it, gives up what is there. */
static bool is_given_up_now(const struct inquiry *in)
{
	return in->judged_unix_ms && !in->journal->intent.restore.read_back;
}

/* Numbered ids are given again when a launch has left nothing. An older journal may still have that launch: what was completed
 * after the next one had begun is of a later launch, which this journal does not know. That is known by dates alone, and
 * clocks are set: what a person has given up for the next one, or gives up now, is not in question. */
static bool has_reused_id(const struct inquiry *in, const struct candidate *c)
{
	int maker = lineage_maker(in->journal, &c->snapshot);
	const struct launch *launch = maker < 0 ? NULL : &in->journal->launches[maker];

	if (!in->journal->id_space || is_given_up_now(in) || !launch ||
	    maker + 1 == (int)in->journal->launch_count || launch->proven_unix_ms ||
	    launch[1].request_token || !facts_is_own_job(in->facts, c->snapshot.job_id))
		return false;
	/* MUT: what a later launch with the same number has left counts as abandoned */
	return c->snapshot.completed_unix_ms > launch[1].intended_unix_ms;
}

/* The same of one that was trimmed away: it ended before the last launch of this journal began. (A date that is still to come tells
 * of a clock that was set back, and of no later launch.) */
static bool has_reused_former_id(const struct inquiry *in, const struct candidate *c)
{
	const struct launch *last = journal_launch_const(in->journal);

	if (!in->journal->id_space || is_given_up_now(in) || !last || last->request_token ||
	    !facts_is_own_job(in->facts, c->snapshot.job_id) ||
	    journal_snapshot(in->journal, c->snapshot.path))
		return false;
	/* MUT: what a later launch with the number of one of old has left is old */
	return journal_is_former_job(in->journal, c->snapshot.job_id) &&
	       c->snapshot.completed_unix_ms > last->intended_unix_ms &&
	       c->snapshot.completed_unix_ms <= in->facts->now_unix_ms;
}

static bool is_of_unknown_launch(const struct inquiry *in, const struct candidate *c)
{
	enum branch branch = lineage_place(&in->lineage, &c->snapshot);

	return branch == BRANCH_FOREIGN
		       ? !is_known(in->journal, &c->snapshot) || has_reused_former_id(in, c)
		       : branch == BRANCH_ABANDONED && has_reused_id(in, c);
}

/* A damaged one is useless, but shows that there was newer state. */
static bool is_foreign(const struct inquiry *in, const struct candidate *c)
{
	return (facts_is_listed(c->source) || c->source == SOURCE_HA) &&
	       c->snapshot.origin != ORIGIN_INITIAL && facts_was_completed(c) &&
	       is_of_unknown_launch(in, c) && !is_ignored(in, c);
}

/* When our newest was completed; on the storage of `c` if one of ours is there. */
static int64_t newest_own_ms(const struct inquiry *in, const struct candidate *c)
{
	const struct launch *tip =
		in->lineage.tip < 0 ? NULL : &in->journal->launches[in->lineage.tip];
	int64_t here = 0, anywhere = tip ? tip->last_checkpoint_unix_ms : 0;

	for (size_t i = 0; i < in->facts->candidate_count; i++) {
		const struct candidate *own = &in->facts->candidates[i];
		int64_t completed_ms = own->snapshot.completed_unix_ms;

		if (own->integrity == INTEGRITY_INCOMPLETE ||
		    lineage_place(&in->lineage, &own->snapshot) != BRANCH_LIVING)
			continue;
		if (completed_ms > anywhere)
			anywhere = completed_ms;
		if (completed_ms > here &&
		    snapshot_same_storage(own->snapshot.path, c->snapshot.path))
			here = completed_ms;
	}
	return here ? here : anywhere;
}

static const struct candidate *own_with_operators(struct inquiry *in)
{
	struct candidate *newest = candidate_newest_own(in);

	if (newest && newest->operator_count)
		return newest;
	if (in->decision->kind == DECISION_START_EMPTY)
		return NULL;
	return &in->facts->candidates[in->decision->candidate];
}

/* Another snapshot of the same job has none of our operators. (The six digits in a savepoint's name
 * do not prove that it is ours.) */
static bool is_of_another_job(const struct inquiry *in, const struct candidate *own,
			      const struct candidate *c)
{
	if (strlen(c->snapshot.job_id) == JOB_ID_BYTES - 1 &&
	    facts_is_own_job(in->facts, c->snapshot.job_id))
		return false;
	for (size_t i = 0; i < in->facts->candidate_count; i++) {
		const struct candidate *other = &in->facts->candidates[i];

		if (other->operator_count && (other == c || candidate_same_job(other, c)) &&
		    operators_compare(other, own) == OPERATORS_DISJOINT)
			return true;
	}
	return false;
}

/* A request names it or something newer, so its author knew of it, whatever the dates say: the clock of the store is another one
 * than that of who asked. */
static bool is_asked_for(const struct inquiry *in, const struct candidate *c)
{
	const struct decision *decision = in->decision;
	const struct candidate *asked;

	/* MUT: a snapshot that is dated after the request for it is not taken */
	if (decision->rule != RULE_REQUEST || decision->kind != DECISION_START_FROM)
		return false;
	asked = &in->facts->candidates[decision->candidate];
	return c == asked || (is_foreign(in, asked) && is_behind(c, asked));
}

/* What cannot be read has no date, either. (The author of a request has seen that it is there.) */
static bool may_be_newer(const struct inquiry *in, const struct candidate *c, int64_t own_ms)
{
	bool unread = c->integrity == INTEGRITY_UNREADABLE && facts_is_listed(c->source);

	/* MUT: a snapshot of another job that cannot be read is an old one */
	if (unread && !c->snapshot.completed_unix_ms && !in->judged_unix_ms)
		return true;
	return c->snapshot.completed_unix_ms > own_ms;
}

static struct candidate *newest_foreign(struct inquiry *in, const struct candidate *own)
{
	struct candidate *newest = NULL;
	const char *place = NULL; /* own_ms is valid for its storage */
	int64_t own_ms = 0;

	for (size_t i = 0; i < in->facts->candidate_count; i++) {
		struct candidate *c = &in->facts->candidates[i];

		if (!is_foreign(in, c))
			continue;
		if (!place || !snapshot_same_storage(place, c->snapshot.path)) {
			place = c->snapshot.path;
			own_ms = newest_own_ms(in, c);
			/* the author of the request knew what existed then */
			if (own_ms < in->judged_unix_ms)
				own_ms = in->judged_unix_ms;
		}
		if (!may_be_newer(in, c, own_ms) || is_asked_for(in, c))
			continue;
		if (is_of_another_job(in, own, c)) {
			inquiry_judge(
				c, VERDICT_REJECTED,
				"belongs to another job: it has none of the operators of this application");
			continue;
		}
		if (!newest || candidate_compare_age(&c->snapshot, &newest->snapshot, false) < 0)
			newest = c;
	}
	return newest;
}

bool foreign_matters(const struct inquiry *in)
{
	for (size_t i = 0; i < in->facts->candidate_count; i++)
		if (is_foreign(in, &in->facts->candidates[i]))
			return true;
	return false;
}

/* ---- a launch that left only its HA data ---- */

static bool is_made_by(const struct candidate *c, const char *job_id)
{
	const char *maker = c->snapshot.job_id;

	return *maker ? !strncmp(job_id, maker, strlen(maker))
		      : strstr(c->snapshot.path, job_id) != NULL;
}

/* It has completed something, whose date shows whether it is newer than ours. (What has no date is perhaps only a directory
 * whose _metadata could not be asked for.) */
static bool job_left_state(const struct inquiry *in, const char *job_id)
{
	for (size_t i = 0; i < in->facts->candidate_count; i++) {
		const struct candidate *c = &in->facts->candidates[i];

		if (facts_was_completed(c) && c->snapshot.completed_unix_ms &&
		    is_made_by(c, job_id))
			return true;
	}
	return false;
}

/* While the journal is adopted, that an earlier try has seen a job does not make it a launch of this journal's. */
static bool is_of_a_launch(const struct inquiry *in, const char *job_id)
{
	/* MUT: a try of adopting makes an unknown launch a known one */
	if (in->adopts && journal_is_unknown_job(in->journal, job_id))
		return false;
	return journal_knows_job(in->journal, job_id);
}

/* Flink's HA data name what a job was started from before the job completes anything. They belong
 * to this application alone, so a job that no launch in the journal had is a later launch of ours,
 * which was not started from what the journal takes for the newest state. NULL = there is none, or
 * it was started from what was decided now. */
static const struct candidate *unknown_launch(const struct inquiry *in, const char **ret_job)
{
	const struct decision *decision = in->decision;
	const struct candidate *decided = decision->kind == DECISION_START_EMPTY
						  ? NULL
						  : &in->facts->candidates[decision->candidate];

	for (size_t i = 0; i < in->facts->candidate_count; i++) {
		const struct candidate *c = &in->facts->candidates[i];

		for (size_t k = 0; c != decided && (*ret_job = facts_ha_job(c, k)); k++)
			if (**ret_job && !is_of_a_launch(in, *ret_job) &&
			    !job_left_state(in, *ret_job))
				return c;
	}
	return NULL;
}

/* A request of a person resolves this, unless its age is unknown: it may be older than that
 * launch. */
bool unknown_launch_forbids(struct inquiry *in)
{
	const struct candidate *c;
	const char *job;
	bool unasked = inquiry_never_ran(in) && (!in->adopts || in->policy->adopt);

	if (in->policy->restore == POLICY_NONE || unasked ||
	    (in->decision->rule == RULE_REQUEST && !in->undated) || !(c = unknown_launch(in, &job)))
		return false;
	if (in->decision->kind != DECISION_START_EMPTY)
		inquiry_judge(
			&in->facts->candidates[in->decision->candidate], VERDICT_REJECTED,
			"a launch that is not in the journal was started from another snapshot");
	inquiry_hold(
		in, CAUSE_UNKNOWN_LAUNCH, RULE_NEWEST,
		"Flink's HA has job %s, started from %s, but no launch in the journal had this job id: the journal may be from a backup; use `drey resume --from PATH` to choose the snapshot, or `drey resume --empty` to start without state",
		job, c->snapshot.path);
	return true;
}

static void hold_for_unread(struct inquiry *in, const struct candidate *c)
{
	if (in->decision->kind != DECISION_START_EMPTY)
		inquiry_judge(&in->facts->candidates[in->decision->candidate], VERDICT_REJECTED,
			      "one that cannot be read may be newer");
	inquiry_hold(
		in, CAUSE_SNAPSHOT_UNREADABLE, RULE_UNREADABLE,
		"%s cannot be read and may be newer than every snapshot of the launches in the journal: %s; drey retries; if it does not go away, " WAYS_OUT,
		c->snapshot.path, inquiry_detail(c->detail));
}

bool foreign_forbids(struct inquiry *in)
{
	const struct decision *decision = in->decision;
	const struct candidate *own;
	struct candidate *c, *newest;
	bool judged = in->judged_unix_ms || in->undated;

	if (in->policy->restore == POLICY_NONE ||
	    (inquiry_never_ran(in) && (!in->judged_unix_ms || in->adopts)) ||
	    (decision->rule == RULE_REQUEST && !judged))
		return false;
	own = own_with_operators(in);
	c = newest_foreign(in, own);
	if (!c)
		return false;
	/* an empty start has checked none of ours, and only the operators tell jobs apart */
	newest = own ? NULL : candidate_newest_own(in);
	if (c->integrity == INTEGRITY_UNCHECKED ||
	    (newest && newest->integrity == INTEGRITY_UNCHECKED)) {
		inquiry_verify(in, c->integrity == INTEGRITY_UNCHECKED ? c : newest, RULE_NEWEST);
		return true;
	}
	if (!c->snapshot.completed_unix_ms) {
		hold_for_unread(in, c);
		return true;
	}
	inquiry_judge(c, VERDICT_REJECTED,
		      "newer than every snapshot of this application, but made by job %s",
		      *c->snapshot.job_id ? c->snapshot.job_id : "(unknown)");
	if (decision->kind != DECISION_START_EMPTY)
		inquiry_judge(&in->facts->candidates[decision->candidate], VERDICT_REJECTED,
			      "there is a newer snapshot that no launch of this application made");
	inquiry_hold(
		in, CAUSE_UNKNOWN_NEWER_STATE, RULE_NEWEST,
		"%s is newer than every snapshot of the launches in the journal, and none of them made it: the journal may be from a backup%s",
		c->snapshot.path,
		is_surely_ours(in, c)
			? ", since only this application uses such job ids; use `drey resume --from PATH` to choose the snapshot"
			: ", or another application writes to this directory; " WAYS_OUT);
	return true;
}

/* ---- a request for a foreign snapshot ---- */

bool foreign_request_passes(struct inquiry *in, struct candidate *c)
{
	struct candidate *own = candidate_newest_own(in);

	if (in->journal->intent.restore.foreign || !own || own == c ||
	    lineage_maker(in->journal, &c->snapshot) >= 0)
		return true;
	if (c->integrity == INTEGRITY_UNCHECKED || own->integrity == INTEGRITY_UNCHECKED) {
		inquiry_verify(in, c->integrity == INTEGRITY_UNCHECKED ? c : own, RULE_REQUEST);
		return false;
	}
	if (operators_compare(c, own) != OPERATORS_DISJOINT)
		return true;
	inquiry_judge(c, VERDICT_REJECTED, "it has none of the operators of this application");
	inquiry_hold(
		in, CAUSE_REQUESTED_SNAPSHOT_FOREIGN, RULE_REQUEST,
		"the requested snapshot %s belongs to another job: it has none of the operators of this application's newest state (%s); if this is intended, use `drey resume --from PATH --foreign`",
		c->snapshot.path, own->snapshot.path);
	return false;
}
