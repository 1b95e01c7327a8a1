/*
 * A job whose code sets its own checkpoint storage may write where drey cannot tell which checkpoints are the
 * job's: into a directory without the job id (execution.checkpointing.create-subdir: false), or under a path
 * that names no directory at all. The journal then knows the checkpoint that was noted last, up to a minute
 * ago, and not what came after it: no start from something that may be older, unless nothing can have come.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/resolve/lineage_dirs.h"
#include "core/resolve/resolve_internal.h"

/* The dates of a storage and of this machine may differ by this. */
#define CLOCKS_MS (10 * 60 * INT64_C(1000))

/* Flink has shown the end of its job, and with that the last checkpoint, and none has run since. */
static bool is_at_its_end(const struct inquiry *in, int launch)
{
	return launch == in->lineage.tip && in->journal->launches[launch].job_ended;
}

/* The last launch that ran or, as long as it has no checkpoint that is known, the last one before it that has:
 * its code most likely does the same. NULL: its checkpoints are listed as those of one job. */
static const struct launch *hidden_launch(const struct inquiry *in)
{
	const struct journal *journal = in->journal;

	for (int i = in->lineage.tip; i >= 0; i--) {
		const struct launch *launch = &journal->launches[i];

		if (launch->never_started || (!launch->last_checkpoint_id && !launch->job_ended))
			continue;
		if (is_at_its_end(in, i) || !launch->last_checkpoint_path)
			return NULL;
		return lineage_dir_is_hidden(launch) ? launch : NULL;
	}
	return NULL;
}

/* The savepoint with which the job was stopped: nothing came after it, unless a launch that has run since. */
static bool is_of_stop(const struct inquiry *in, const struct candidate *c)
{
	const struct journal *journal = in->journal;
	const struct operation_result *last = &journal->last_operation;
	const struct launch *tip = &journal->launches[in->lineage.tip];

	if (journal->operation.kind == OPERATION_STOP &&
	    in->decision->settlement != SETTLEMENT_PASSED &&
	    in->decision->settled == (size_t)(c - in->facts->candidates))
		return true;
	/* MUT: nothing comes after a stop, although a launch was started from its savepoint */
	if (snapshot_same_path(tip->restore_path, c->snapshot.path))
		return false;
	return (last->kind == OPERATION_STOP && last->ok &&
		snapshot_same_path(last->location, c->snapshot.path)) ||
	       (in->promised && snapshot_same_path(in->promised, c->snapshot.path));
}

/* Anything in that directory with a higher id than what was decided, and not from long before the launch. */
static const struct candidate *newer_in(const struct inquiry *in, const char *dir,
					const struct launch *launch, int64_t id)
{
	const struct candidate *newest = NULL;

	for (size_t i = 0; i < in->facts->candidate_count; i++) {
		const struct candidate *c = &in->facts->candidates[i];
		const struct snapshot *s = &c->snapshot;
		int64_t made_unix_ms = s->completed_unix_ms;

		if (s->kind != SNAPSHOT_CHECKPOINT || *s->job_id || s->checkpoint_id <= id ||
		    !facts_was_completed(c) || !snapshot_is_under(s->path, dir))
			continue;
		if (made_unix_ms > 0 && made_unix_ms + CLOCKS_MS < launch->intended_unix_ms)
			continue;
		if (!newest || s->checkpoint_id > newest->snapshot.checkpoint_id)
			newest = c;
	}
	return newest;
}

#define WAYS_OUT                                                                                   \
	"choose the snapshot with `drey resume --from PATH`; then remove that setting from the code of the job"

static void hold_out_of_sight(struct inquiry *in, const struct launch *launch, const char *dir,
			      const struct candidate *newer)
{
	if (newer)
		inquiry_hold(
			in, CAUSE_CHECKPOINTS_OUT_OF_SIGHT, RULE_NEWEST,
			"the code of the job writes its checkpoints to %s without a directory for each job, so drey cannot tell whose they are: the last one that it has seen is %" PRId64
			", and there is %s; " WAYS_OUT,
			dir, launch->last_checkpoint_id, newer->snapshot.path);
	else
		inquiry_hold(
			in, CAUSE_CHECKPOINTS_OUT_OF_SIGHT, RULE_NEWEST,
			"the code of the job writes its checkpoints where drey cannot look for them: the last one that it has seen is %s, and there may be newer ones; " WAYS_OUT,
			launch->last_checkpoint_path);
}

bool sight_forbids(struct inquiry *in)
{
	const struct decision *decision = in->decision;
	const struct launch *launch;
	const struct candidate *newer = NULL;
	const struct place_fact *place;
	const bool chosen = decision->kind == DECISION_START_FROM;
	struct candidate *c = chosen ? &in->facts->candidates[decision->candidate] : NULL;
	char *dir;

	if (in->policy->restore == POLICY_NONE || decision->kind == DECISION_CONTINUE ||
	    decision->rule == RULE_REQUEST || !(launch = hidden_launch(in)))
		return false;
	if (chosen && is_of_stop(in, c))
		return false;
	dir = lineage_dir_flat(launch->last_checkpoint_path);
	place = dir ? facts_place(in->facts, SNAPSHOT_CHECKPOINT, dir) : NULL;
	if (place)
		newer = newer_in(in, dir, launch, chosen ? c->snapshot.checkpoint_id : 0);
	/* read completely, and nothing is newer than what was decided */
	/* MUT: checkpoints that cannot be told apart are overlooked */
	if (!place || newer) {
		if (chosen)
			inquiry_judge(
				c, VERDICT_REJECTED,
				"the job may have written newer ones, which drey cannot tell apart");
		hold_out_of_sight(in, launch, dir, newer);
	}
	free(dir);
	return !place || newer;
}
