/*
 * What the journal's copy in storage says (core/journal/journal_copy.h). It is asked only when the journal
 * knows less than it must: it has no launch that ran, or Flink has recorded an end that the journal does not
 * have. It never speaks against a journal that fits.
 */
#include <inttypes.h>
#include <string.h>

#include "core/handover/transition.h"
#include "core/journal/journal_copy.h"
#include "core/resolve/resolve_internal.h"

#define LOST "the journal has no launch that ran"

/* A job that is declared stateless starts empty whatever there was, unless it must not start at all. */
static bool is_of_no_use(const struct inquiry *in)
{
	const struct journal_copy *copy = in->facts->copy;

	return !journal_copy_unknown_launch(copy, in->journal) ||
	       (in->policy->restore == POLICY_NONE && !journal_copy_parks(copy));
}

static bool may_be_taken(const struct inquiry *in)
{
	/* two jobs ran, and which records each of them has written is not in here */
	return in->policy->adopt_lost == ADOPT_NEWEST &&
	       !transition_is_under_way(transition_of(&in->facts->copy->journal.handover));
}

static void hold_unusable(struct inquiry *in)
{
	inquiry_hold(
		in, CAUSE_JOURNAL_LOST, RULE_NOTHING,
		LOST
		", and its copy in storage is not used: %s; use `drey resume --from PATH` to choose the snapshot, or `drey resume --empty`",
		inquiry_detail(in->facts->sources[SOURCE_COPY].detail));
}

/* What to continue from: what the copy knows, or what its last job has completed since. */
static const char *newest_path(const struct inquiry *in)
{
	const struct journal *journal = &in->facts->copy->journal;
	const struct launch *launch = journal_launch_const(journal);
	const struct snapshot *savepoint = journal_last_savepoint(journal);
	const char *path = journal_copy_newest(in->facts->copy);
	int64_t id = savepoint ? savepoint->checkpoint_id : 0;

	if (launch && launch->last_checkpoint_id > id)
		id = launch->last_checkpoint_id;
	for (size_t i = 0; launch && i < in->facts->candidate_count; i++) {
		const struct candidate *c = &in->facts->candidates[i];

		if (!facts_was_completed(c) || c->snapshot.checkpoint_id <= id ||
		    strcmp(c->snapshot.job_id, launch->job_id) != 0)
			continue;
		id = c->snapshot.checkpoint_id;
		path = c->snapshot.path;
	}
	return path;
}

static void hold_with_copy(struct inquiry *in)
{
	const struct journal_copy *copy = in->facts->copy;
	const char *newest = newest_path(in);
	cleanup_buf struct buf said = BUF_INIT;

	journal_copy_describe(copy, &said);
	inquiry_judge_rest(in, VERDICT_REJECTED, "made by no launch in the journal");
	inquiry_hold(in, CAUSE_JOURNAL_LOST, RULE_NOTHING, LOST ": the journal may be lost; %s; ",
		     buf_str(&said));
	if (in->policy->adopt_lost == ADOPT_NEWEST)
		inquiry_add(in,
			    "it is not taken, because an upgrade with two jobs was under way; ");
	else
		inquiry_add(in, "set `restore.adopt: newest` to take it as the journal, or ");
	if (newest)
		inquiry_add(in, "continue with `drey resume --from %s`", newest);
	else if (in->facts->candidate_count) /* not of the launches that the copy knows */
		inquiry_add(in, "choose the snapshot with `drey resume --from PATH`");
	else
		inquiry_add(in, "start without state with `drey resume --empty`");
}

bool copy_decides(struct inquiry *in)
{
	const struct source_fact *source = &in->facts->sources[SOURCE_COPY];

	if (in->policy->adopt || !inquiry_never_ran(in))
		return false;
	if (source->state == SOURCE_UNREADABLE) { /* not asked before if the job is stateless */
		inquiry_hold(in, CAUSE_STORAGE_UNREADABLE, RULE_UNREADABLE,
			     "the copy of the journal cannot be read: %s; drey retries",
			     inquiry_detail(source->detail));
		return true;
	}
	if (source->state != SOURCE_PRESENT || (in->facts->copy && is_of_no_use(in)))
		return false;
	if (!in->facts->copy) {
		hold_unusable(in);
	} else if (may_be_taken(in)) {
		cleanup_buf struct buf said = BUF_INIT;

		journal_copy_describe(in->facts->copy, &said);
		inquiry_decide(in, DECISION_ADOPT, RULE_NOTHING,
			       LOST
			       ", and %s; restore.adopt is newest, so the copy takes its place",
			       buf_str(&said));
	} else {
		hold_with_copy(in);
	}
	return true;
}

/* ---- a journal that was put back ---- */

bool copy_is_past(const struct inquiry *in, int64_t unix_ms)
{
	const struct journal_copy *copy = in->facts->copy;

	for (size_t i = 0; copy && i < copy->journal.launch_count; i++)
		if (copy->journal.launches[i].intended_unix_ms > unix_ms)
			return true;
	return false;
}

/* The journal was put back as it was before the copy. */
static bool copy_is_ahead(const struct inquiry *in)
{
	const struct journal_copy *copy = in->facts->copy;

	return copy && copy->journal.sequence > in->journal->sequence;
}

/* The launch that has run and that the journal does not have; NULL = none. */
static const struct launch *launch_since(const struct inquiry *in)
{
	const struct journal_copy *copy = in->facts->copy;
	const struct launch *since;

	if (!copy_is_ahead(in))
		return NULL;
	/* where each of them has one that the other does not know, the copy is of another life */
	for (size_t i = 0; i < in->journal->launch_count; i++)
		if (!journal_knows_job(&copy->journal, in->journal->launches[i].job_id))
			return NULL;
	since = journal_copy_unknown_launch(copy, in->journal);
	return since && launch_has_run(since) ? since : NULL;
}

/* A request of a person resolves this, unless its age is unknown: it may be older than that launch. */
bool copy_forbids(struct inquiry *in)
{
	const struct launch *since = launch_since(in);
	cleanup_buf struct buf said = BUF_INIT;
	const char *newest;

	/* MUT: a launch that only the journal's copy knows does not count */
	if (!since || in->policy->restore == POLICY_NONE ||
	    (in->decision->rule == RULE_REQUEST && !in->undated))
		return false;
	newest = newest_path(in);
	if (in->decision->kind != DECISION_START_EMPTY)
		inquiry_judge(&in->facts->candidates[in->decision->candidate], VERDICT_REJECTED,
			      "a launch that the journal does not have has run since");
	journal_copy_describe(in->facts->copy, &said);
	inquiry_hold(
		in, CAUSE_JOURNAL_LOST, RULE_NEWEST,
		"the journal is older than its copy in storage, and does not have launch %" PRId64
		" (job %s), which has run: %s; use `drey resume --from %s`",
		since->number, since->job_id, buf_str(&said), newest ? newest : "PATH");
	return true;
}

/* ---- an end that the journal does not have ---- */

bool copy_made_end(const struct inquiry *in, const struct launch *launch, enum operation_kind kind,
		   const char *path)
{
	const struct journal_copy *copy = in->facts->copy;

	return copy_is_ahead(in) && journal_copy_made_end(copy, kind, launch->job_id, path);
}

bool copy_end_holds(struct inquiry *in)
{
	const struct journal_copy *copy = in->facts->copy;
	const char *newest = journal_copy_newest(copy);
	cleanup_buf struct buf said = BUF_INIT;

	if (!journal_copy_parks(copy))
		return false;
	journal_copy_describe(copy, &said);
	inquiry_hold(
		in, CAUSE_JOURNAL_LOST, RULE_OUTCOME,
		"the journal is older than its copy in storage: %s; use `drey suspend` to keep the job stopped, or `drey resume --from %s`",
		buf_str(&said), newest ? newest : "PATH");
	return true;
}
