#include "core/lifecycle/lifecycle_checkpoints.h"

#include "base/mem.h"
#include "core/lifecycle/lifecycle_claim.h"
#include "core/lifecycle/lifecycle_effects.h"
#include "core/lifecycle/lifecycle_notice.h"
#include "core/report/condition_checkpoints.h"
#include "core/report/condition_review.h"
#include "core/report/condition_settings.h"
#include "core/report/readiness.h"

/* Flink answers for the plan from a picture of the job that it keeps for 3 s (web.refresh-interval), and
 * so for the cause of a failure. A picture from before the failure has no cause, and a job often fails
 * when it has just begun to run. */
#define PICTURE_MS    3000
#define PLAN_AFTER_MS 60000

void see_settings(struct lifecycle *life, struct launch *launch, const struct view *view)
{
	struct effective now;

	see_claim(life, launch, view);
	if (!view->plan.known && !view->effective.known)
		return;
	life->seen.picture_until_ms = life->now_ms + PICTURE_MS;
	if (view->plan.known)
		life->seen.plan = view->plan;
	life->seen.settings.known = view->effective.known;
	life->seen.settings.job_unix_ms = life->seen.job_unix_ms;
	if (!view->effective.known)
		return;
	now = view->effective;
	now.claim = launch->effective.claim;
	now.canonical_refused = launch->effective.canonical_refused;
	if (effective_same(&launch->effective, &now))
		return;
	/* MUT: what the job says of its settings is not recorded */
	launch->effective = now;
	life->want_write = true;
}

/* Another JobMaster may have built the job anew: it is asked again when its tasks run. */
void settings_forget(struct lifecycle *life)
{
	life->seen.plan_ms = 0;
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
	if (!life->seen.plan_ms && life->seen.all_ran_ms)
		life->seen.plan_ms = life->now_ms + PLAN_AFTER_MS;
	/* MUT: what was not possible counts as late */
	if (!readiness_tasks_run(life))
		life->seen.progress_ms = 0;
	/* a savepoint is state as well, and there is no checkpoint meanwhile */
	else if (!life->seen.progress_ms || life->operation.step != STEP_NONE)
		life->seen.progress_ms = life->now_ms;
}

typedef void condition_judge(const struct lifecycle *life, struct condition *ret_condition);

/* Tell once that a condition has become true, and once that it is not any more. */
static void watch_condition(struct lifecycle *life, condition_judge *judge, bool *told,
			    enum notice_type type, const char *what)
{
	struct condition now = {.brief = true}; /* its sentence is rarely needed */
	bool is_true;
	struct notice *notice;

	judge(life, &now);
	is_true = now.status == TRUTH_TRUE;
	if (now.status == TRUTH_UNKNOWN || is_true == *told)
		return;
	now.brief = false;
	judge(life, &now);
	*told = is_true;
	note(life, is_true ? NOTE_WARNING : NOTE_INFO, "%s%s", is_true ? what : "", now.message);
	notice = tell(life, type);
	notice->ok = !is_true;
	notice->text = xstrdup(now.message);
}

void watch_checkpoints(struct lifecycle *life)
{
	watch_condition(life, condition_checkpoints, &life->seen.checkpoints_failing,
			NOTICE_CHECKPOINTS, "the checkpoints of the job fail: ");
	watch_condition(life, condition_settings, &life->seen.settings.overridden, NOTICE_SETTINGS,
			"");
	watch_condition(life, condition_review, &life->seen.settings.unusable, NOTICE_REVIEW, "");
}
