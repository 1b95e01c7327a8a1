#include "core/report/condition_review.h"

#include <inttypes.h>

#include "base/mem.h"

/* Restored from a native savepoint that it claims, or may: Flink then writes names relative to the wrong directory
 * (FLINK-39964). */
static bool came_from_native(const struct journal *journal, const struct launch *launch)
{
	const struct snapshot *from =
		launch->restore_path ? journal_snapshot(journal, launch->restore_path) : NULL;

	return launch->effective.claim != CLAIM_MODE_NO_CLAIM &&
	       launch->restore_kind == SNAPSHOT_SAVEPOINT && from && from->format == FORMAT_NATIVE;
}

void condition_review(const struct lifecycle *life, struct condition *ret_condition)
{
	const struct launch *launch = journal_launch_const(&life->journal);

	if (!launch || life->launch_step != LAUNCH_LIVE)
		condition_say(ret_condition, TRUTH_UNKNOWN, "NotRunning",
			      "the job is not running here");
	else if (launch->unusable)
		condition_say(
			ret_condition, TRUTH_TRUE, "Damaged",
			"checkpoint %" PRId64
			" of the running job could not be restored: %s; take a savepoint now, while the job runs (`drey savepoint`)%s",
			launch->reviewed_id, launch->unusable,
			came_from_native(&life->journal, launch)
				? "; the job was restored from a native savepoint (FLINK-39964 if it claims): set savepoints.format: canonical, and `drey restart`"
				: "");
	else if (launch->reviewed_id)
		condition_say(ret_condition, TRUTH_FALSE, "Verified",
			      "the last checkpoint that was read has all its files");
	else if (!life->config->review.interval_ms)
		condition_say(ret_condition, TRUTH_UNKNOWN, "Off", "verify.interval is 0");
	else
		condition_say(ret_condition, TRUTH_UNKNOWN, "NotYet",
			      "no checkpoint of this launch has been read yet");
}
