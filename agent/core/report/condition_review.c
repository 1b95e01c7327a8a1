#include "core/report/condition_review.h"

#include <inttypes.h>

#include "base/mem.h"

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
			native_may_be_claimed(&life->journal, launch, life->config->legacy_claim)
				? "; the job was restored from a native savepoint (FLINK-39964 if it claims, or in claim mode LEGACY): set savepoints.format: canonical, and `drey restart`"
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
