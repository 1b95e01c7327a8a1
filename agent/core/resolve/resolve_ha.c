/*
 * Rule 7: the current launch continues under its own ids, and Flink recovers from its own HA data.
 * Flink takes the newest entry of the job id and refuses to start if any entry of it cannot be read
 * (DefaultCompletedCheckpointStoreUtils: "Could not retrieve checkpoint ... from state handle"). It
 * then reads the completedCheckpoint files and the state files, but not _metadata.
 */
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "core/resolve/ha_keys.h"
#include "core/resolve/resolve_internal.h"

static bool is_entry(const struct candidate *c, const struct launch *launch)
{
	return c->in_ha && !c->ha_former && !strcmp(c->ha_job_id, launch->job_id);
}

static struct candidate *newest_entry(struct inquiry *in, const struct launch *launch)
{
	struct candidate *best = NULL;

	for (size_t i = 0; i < in->facts->candidate_count; i++) {
		struct candidate *c = &in->facts->candidates[i];

		if (is_entry(c, launch) &&
		    (!best || c->snapshot.checkpoint_id > best->snapshot.checkpoint_id))
			best = c;
	}
	return best;
}

/* Why the next launch would not be the one that left these data; NULL = it would. */
static const char *another_launch(const struct inquiry *in, const struct launch *launch,
				  const struct candidate *entry)
{
	const char *path = NULL;

	if (launch->job_ended)
		return "its job has ended";
	if (in->lineage.tip != (int)in->journal->launch_count - 1)
		return "a later launch was decided";
	if (!in->policy->generation || !launch->generation)
		return "no generation is configured, so it may be another job";
	if (!xstris(in->policy->generation, launch->generation))
		return "the generation has changed";
	if (in->decision->permit)
		return "non-restored state is allowed, which needs a new launch";
	if (!xstris(in->policy->flink_version, launch->flink_version))
		return "the Flink version has changed or is not known";
	if (entry->verdict != VERDICT_NONE)
		return "their newest entry is not allowed";
	if (entry->snapshot.checkpoint_id < lineage_newest(&in->lineage, true, &path))
		return "they are older than a known snapshot";
	if (candidate_vanished(in, entry))
		return "they may be older than a savepoint that Flink completed";
	return NULL;
}

/* Written by this launch but never acknowledged, since Flink's HA data do not have it. */
static bool is_unacknowledged(const struct candidate *c, const struct launch *launch,
			      const struct candidate *entry)
{
	return c->snapshot.kind == SNAPSHOT_CHECKPOINT && !is_entry(c, launch) &&
	       !strcmp(c->snapshot.job_id, launch->job_id) &&
	       c->snapshot.checkpoint_id > entry->snapshot.checkpoint_id;
}

/* Flink raises the counter of its map above the id of a checkpoint before it begins that
 * checkpoint. A complete one at or above the counter shows that the map is older, from a backup,
 * and that checkpoints missing from the map may have been acknowledged. This is true as well of one
 * that may not be chosen (`restore.policy: savepoint`). Returns the newest of them; NULL = there is
 * none. */
static const struct candidate *begun_later(const struct inquiry *in, const struct launch *launch,
					   const struct candidate *entry)
{
	const struct candidate *newest = NULL;

	for (size_t i = 0; entry->ha_counter && i < in->facts->candidate_count; i++) {
		const struct candidate *c = &in->facts->candidates[i];

		if (is_unacknowledged(c, launch, entry) &&
		    c->snapshot.checkpoint_id >= entry->ha_counter && facts_was_completed(c) &&
		    (!newest || c->snapshot.checkpoint_id > newest->snapshot.checkpoint_id))
			newest = c;
	}
	return newest;
}

/* Why the map is not Flink's latest; NULL = nothing shows that. */
static const char *old_map(struct inquiry *in, const struct launch *launch,
			   const struct candidate *entry)
{
	const struct candidate *later = begun_later(in, launch, entry);

	if (!later)
		return NULL;
	in->not_continued_detail = later->snapshot.path;
	return "they are older than a later checkpoint, so they are from a backup";
}

/* Is a savepoint newer than the map? True when decided; *ret_overtaken: there is one, usable or to
 * be passed over with a warning. */
static bool newer_decides(struct inquiry *in, const struct launch *launch,
			  const struct candidate *entry, bool *ret_overtaken)
{
	*ret_overtaken = false;
	for (size_t i = 0; i < in->order_count; i++) {
		struct candidate *c = &in->facts->candidates[in->order[i]];

		if (c->verdict != VERDICT_NONE || is_unacknowledged(c, launch, entry) ||
		    c->snapshot.checkpoint_id <= entry->snapshot.checkpoint_id)
			continue;
		if (c->integrity == INTEGRITY_UNCHECKED) {
			inquiry_verify(in, c, RULE_NEWEST);
			return true;
		}
		if (c->integrity == INTEGRITY_COMPLETE || c->integrity == INTEGRITY_UNREADABLE) {
			in->not_continued = "a savepoint is newer";
			/* MUT: a launch continues although a savepoint is newer */
			*ret_overtaken = true;
		}
	}
	return false;
}

/* True when decided; *ret_broken: an entry that Flink cannot recover from, NULL = none. */
static bool entries_decide(struct inquiry *in, const struct launch *launch,
			   const struct candidate **ret_broken)
{
	*ret_broken = NULL;
	for (size_t i = 0; i < in->facts->candidate_count; i++) {
		struct candidate *c = &in->facts->candidates[i];

		if (!is_entry(c, launch))
			continue;
		if (c->recovery == INTEGRITY_UNCHECKED) {
			inquiry_verify(in, c, RULE_CONTINUE);
			return true;
		}
		/* MUT: a launch continues from damaged HA data */
		if (c->recovery != INTEGRITY_COMPLETE)
			*ret_broken = c;
	}
	return false;
}

static void go_on(struct inquiry *in, const struct launch *launch, struct candidate *entry)
{
	int64_t newest = entry->snapshot.checkpoint_id, unacknowledged = 0;

	in->decision->candidate = (size_t)(entry - in->facts->candidates);
	inquiry_judge(entry, VERDICT_CHOSEN,
		      "newest entry in Flink's HA data, made by the current launch");
	for (size_t i = 0; i < in->order_count; i++) {
		struct candidate *c = &in->facts->candidates[in->order[i]];

		if (c->verdict != VERDICT_NONE || c->snapshot.checkpoint_id <= newest)
			continue;
		if (is_unacknowledged(c, launch, entry)) {
			if (c->snapshot.checkpoint_id > unacknowledged &&
			    c->integrity != INTEGRITY_INCOMPLETE)
				unacknowledged = c->snapshot.checkpoint_id;
			inquiry_judge(c, VERDICT_REJECTED,
				      "not in Flink's HA data: it was never acknowledged");
			continue;
		}
		c->passed_over = candidate_is_damaged(c);
		inquiry_judge(c, VERDICT_REJECTED, "%s: %s",
			      c->passed_over ? "damaged" : "incomplete", inquiry_detail(c->detail));
	}
	inquiry_judge_rest(in, VERDICT_OLDER, "older than Flink's HA data");
	inquiry_decide(in, DECISION_CONTINUE, RULE_CONTINUE,
		       "launch %" PRId64
		       " continues with job id %s: Flink's HA has checkpoint id %" PRId64 " (%s)",
		       launch->number, launch->job_id, newest, entry->snapshot.path);
	if (entry->integrity != INTEGRITY_COMPLETE)
		inquiry_add(
			in,
			"; unverified, because its _metadata is unusable (%s), but Flink does not need it here",
			inquiry_detail(entry->detail));
	if (unacknowledged)
		inquiry_add(in,
			    "; checkpoint id %" PRId64 " is newer, but Flink never acknowledged it",
			    unacknowledged);
}

bool continue_decides(struct inquiry *in)
{
	const struct launch *launch = journal_launch_const(in->journal);
	const struct candidate *broken;
	struct candidate *entry;
	bool overtaken;

	if (!launch || inquiry_never_ran(in))
		return false;
	entry = newest_entry(in, launch);
	if (!entry)
		return false;
	in->not_continued = another_launch(in, launch, entry);
	if (!in->not_continued)
		/* MUT: a launch continues from HA data of a backup */
		in->not_continued = old_map(in, launch, entry);
	if (in->not_continued)
		return false;
	if (newer_decides(in, launch, entry, &overtaken))
		return true;
	if (overtaken)
		return false;
	if (entries_decide(in, launch, &broken))
		return true;
	if (broken) {
		in->not_continued = broken->recovery == INTEGRITY_UNREADABLE
					    ? "one of them cannot be read"
					    : "one of them is damaged";
		in->not_continued_detail = broken->recovery_detail;
		return false;
	}
	go_on(in, launch, entry);
	return true;
}

bool leftovers_forbid(struct inquiry *in)
{
	const struct facts *facts = in->facts;
	const struct launch *same =
		in->decision->kind == DECISION_CONTINUE ? journal_launch_const(in->journal) : NULL;
	size_t count = 0;

	if (!facts->lock_held)
		return false;
	for (size_t i = 0; i < facts->stored_count; i++)
		count += ha_key_is_leftover(facts->stored[i], same);
	if (!count)
		return false;
	inquiry_hold(
		in, CAUSE_STORED_JOB_LEFT, RULE_CONTINUE,
		"Flink's HA still has %zu stored job%s of an earlier launch, which Flink would start as well; drey cannot remove them while another Flink may be running: %s; drey retries",
		count, count == 1 ? "" : "s", facts->lock_held);
	return true;
}
