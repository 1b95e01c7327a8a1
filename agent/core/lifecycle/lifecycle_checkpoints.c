#include "base/mem.h"
#include "core/lifecycle/lifecycle_internal.h"
#include "core/report/condition_checkpoints.h"
#include "core/report/readiness.h"

/* Flink answers for the plan from a picture of the job that it keeps for 3 s (web.refresh-interval), and
 * so for the cause of a failure. A picture from before the failure has no cause, and a job often fails
 * when it has just begun to run. */
#define PLAN_AFTER_MS 60000

bool plan_is_due(const struct lifecycle *life)
{
	return !life->seen.plan.known && life->seen.plan_ms && life->now_ms >= life->seen.plan_ms;
}

/* A poll that asked for less leaves the rest as it was. */
void see_statistics(struct lifecycle *life, const struct view *view)
{
	if (view->statistics_known)
		life->seen.checkpointing = view->checkpointing;
	if (view->statistics_known || view->checkpointing_off || view->statistics_failed) {
		life->seen.checkpointing_off = view->checkpointing_off;
		life->seen.statistics_failed = view->statistics_failed;
	}
	if (view->plan.known)
		life->seen.plan = view->plan;
	if (!life->seen.plan_ms && life->seen.all_ran_ms)
		life->seen.plan_ms = life->now_ms + PLAN_AFTER_MS;
	/* MUT: what was not possible counts as late */
	if (!readiness_tasks_run(life))
		life->seen.progress_ms = 0;
	/* a savepoint is state as well, and there is no checkpoint meanwhile */
	else if (!life->seen.progress_ms || life->step != STEP_NONE)
		life->seen.progress_ms = life->now_ms;
}

const char *checkpoint_excluded(const struct lifecycle *life)
{
	const struct launch *launch = journal_launch_const(&life->journal);
	const struct policy *policy = &life->config->policy;
	int64_t age_ms = life->now_unix_ms - launch->last_checkpoint_unix_ms;

	if (!launch->proven_unix_ms || !launch->last_checkpoint_path)
		return "this launch has no checkpoint to continue from";
	if (policy->restore == POLICY_SAVEPOINT)
		return "restore.policy excludes checkpoints";
	if (policy->max_age_ms && age_ms > policy->max_age_ms)
		return "its newest checkpoint is older than restore.maxAge";
	return NULL;
}

void watch_checkpoints(struct lifecycle *life)
{
	struct condition now;
	struct notice *notice;
	bool failing;

	condition_checkpoints(life, &now);
	failing = now.status == TRUTH_TRUE;
	if (now.status == TRUTH_UNKNOWN || failing == life->seen.checkpoints_failing)
		return;
	life->seen.checkpoints_failing = failing;
	note(life, failing ? NOTE_WARNING : NOTE_INFO, "%s%s",
	     failing ? "the checkpoints of the job fail: " : "", now.message);
	notice = tell(life, NOTICE_CHECKPOINTS);
	notice->ok = !failing;
	notice->text = xstrdup(now.message);
}
