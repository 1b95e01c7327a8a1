#include "core/report/condition_checkpoints.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"

int64_t checkpoints_every_ms(const struct checkpoint_plan *plan, const struct checkpointing *seen)
{
	int64_t every_ms = seen->duration_ms + plan->min_pause_ms;

	if (!plan->known || !plan->interval_ms)
		return 0;
	return every_ms < plan->interval_ms ? plan->interval_ms : every_ms;
}

int64_t checkpoints_limit_ms(const struct health *health, const struct checkpoint_plan *plan,
			     const struct checkpointing *seen)
{
	int64_t every_ms = checkpoints_every_ms(plan, seen), limit_ms;

	if (!every_ms || !health->checkpoint_intervals ||
	    every_ms > INT64_MAX / health->checkpoint_intervals)
		return 0;
	limit_ms = every_ms * health->checkpoint_intervals;
	return limit_ms > health->checkpoint_age_ms ? limit_ms : health->checkpoint_age_ms;
}

/* How long there could have been a checkpoint, and was none: up to the statistics, not up to now. */
static int64_t overdue_ms(const struct lifecycle *life)
{
	return life->seen.statistics_ms - life->seen.progress_ms;
}

/* ": why", of the newest failure. */
static void why(const struct lifecycle *life, char *text, size_t size_bytes)
{
	const char *failure = life->seen.checkpointing.failure;

	snprintf(text, size_bytes, "%s%s", *failure ? ": " : "", failure);
}

static void since(const struct launch *launch, char *text, size_t size_bytes)
{
	char time[CLOCK_TEXT_BYTES] = "at an unknown time";

	if (!launch->last_checkpoint_id) {
		snprintf(text, size_bytes, "since the job runs");
		return;
	}
	if (launch->last_checkpoint_unix_ms)
		clock_rfc3339(launch->last_checkpoint_unix_ms, time);
	snprintf(text, size_bytes, "since checkpoint %" PRId64 " (%s)", launch->last_checkpoint_id,
		 time);
}

static void judge_checkpoints(const struct lifecycle *life, const struct launch *launch,
			      struct condition *to)
{
	const struct health *health = &life->config->health;
	const struct checkpointing *seen = &life->seen.checkpointing;
	int64_t limit_ms = checkpoints_limit_ms(health, &life->seen.plan, seen);
	char failure[CHECKPOINT_FAILURE_BYTES + 2] = "", last[128] = "";

	if (!to->brief) {
		why(life, failure, sizeof(failure));
		since(launch, last, sizeof(last));
	}
	/* MUT: however many checkpoints fail in a row */
	if (health->checkpoint_failures && seen->failures >= health->checkpoint_failures)
		condition_say(to, TRUTH_TRUE, "ManyFailures", "%" PRId64 " checkpoints failed %s%s",
			      seen->failures, last, failure);
	/* MUT: a checkpoint that is too old is not noticed */
	else if (limit_ms && overdue_ms(life) > limit_ms)
		condition_say(to, TRUTH_TRUE, "TooOld",
			      "no checkpoint completed %s, for longer than %" PRId64 " s%s", last,
			      limit_ms / 1000, failure);
	/* younger than the age is in time with every interval */
	else if (health->checkpoint_intervals && !life->seen.plan.known &&
		 overdue_ms(life) > health->checkpoint_age_ms)
		condition_say(to, TRUTH_UNKNOWN, "NoStatistics",
			      "Flink's interval of checkpoints cannot be read");
	else
		condition_say(to, TRUTH_FALSE, "Completing", "checkpoints complete in time");
}

void condition_checkpoints(const struct lifecycle *life, struct condition *ret_condition)
{
	const struct launch *launch = journal_launch_const(&life->journal);

	if (!launch || life->launch_step != LAUNCH_LIVE || life->phase != PHASE_RUNNING)
		condition_say(ret_condition, TRUTH_UNKNOWN, "NotRunning",
			      "the job is not running here");
	/* MUT: statistics that cannot be read count as good ones */
	else if (!life->seen.reachable || life->seen.statistics_failed)
		condition_say(ret_condition, TRUTH_UNKNOWN, "NoStatistics",
			      "Flink's statistics of checkpoints cannot be read");
	else if (!life->seen.progress_ms)
		condition_say(ret_condition, TRUTH_UNKNOWN, "NotRunning",
			      "not all tasks of the job are running");
	else if (life->seen.checkpointing_off)
		condition_say(ret_condition, TRUTH_FALSE, "NoCheckpoints",
			      "the job makes no checkpoints");
	else if (!life->seen.statistics_ms)
		condition_say(ret_condition, TRUTH_UNKNOWN, "NoStatistics",
			      "Flink has not shown its statistics of checkpoints yet");
	else if (life->seen.plan.known && !life->seen.plan.interval_ms)
		condition_say(ret_condition, TRUTH_FALSE, "NoCheckpoints",
			      "the job has no checkpoint interval");
	else
		judge_checkpoints(life, launch, ret_condition);
}
