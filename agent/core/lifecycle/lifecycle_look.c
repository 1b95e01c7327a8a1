/*
 * When drey looks: at what a start could continue from, and at the job that runs, how often and how much of it.
 * What it has seen is taken by lifecycle_observed.c and lifecycle_view.c.
 */
#include "core/lifecycle/lifecycle_look.h"

#include <string.h>

#include "base/backoff.h"
#include "base/mem.h"
#include "core/lifecycle/lifecycle_effects.h"
#include "core/lifecycle/lifecycle_facts.h"
#include "core/lifecycle/lifecycle_state.h"
#include "core/report/condition_settings.h"

/* Flink's cleanup takes some tenths of a second. */
#define CLEANUP_POLL_MS 50

/* After this the statistics of a job cannot be from Flink's cache. */
#define FRESH_STATISTICS_MS 3100

/* ---- at what a start could continue from ---- */

void observe(struct lifecycle *life)
{
	life->observing = true;
	life->own->looks_early = !takeover_is_over(life);
	emit(life, EFFECT_OBSERVE);
}

void look_again(struct lifecycle *life)
{
	const struct lifecycle_config *config = life->config;

	life->holds++;
	/* MUT: a hold is never checked again */
	life->retry_ms = life->now_ms + backoff_ms(config->hold_retry_first_ms,
						   config->hold_retry_max_ms, life->holds);
}

void look_now(struct lifecycle *life)
{
	/* MUT: what was waited for has come, and is looked at with the long pauses of the wait */
	life->holds = 0;
	if (life->retry_ms)
		life->retry_ms = life->now_ms;
}

void hold(struct lifecycle *life, const struct decision *decision)
{
	look_again(life);
	if (decision->rule)
		enter_because(life, PHASE_HOLDING, decision->cause, "rule %d: %s", decision->rule,
			      decision->reason);
	else /* held for a reason outside of the rules */
		enter_because(life, PHASE_HOLDING, decision->cause, "%s", decision->reason);
}

/* ---- at the job ---- */

void seek_signs(struct lifecycle *life)
{
	if (life->seen.signs.asking)
		return;
	life->seen.signs.asking = true;
	emit(life, EFFECT_SIGNS);
}

/* Half a poll interval early is on time, because polls are evenly spaced. */
static bool is_due(const struct lifecycle *life, int64_t since_ms)
{
	const struct lifecycle_config *config = life->config;

	return !since_ms ||
	       life->now_ms - since_ms + config->poll_tasks_ms / 2 >= config->poll_slow_ms;
}

enum poll_depth poll_depth(const struct lifecycle *life, const struct launch *launch)
{
	bool calm = life->phase == PHASE_RUNNING && life->operation.step == STEP_NONE &&
		    launch->proven_unix_ms;

	if (life->clean_ms)
		return POLL_CLEANUP;
	if (is_due(life, life->own->polled_all_ms))
		return POLL_ALL;
	return !calm || life->own->review.step == REVIEW_CONFIRMS ||
			       is_due(life, life->own->polled_job_ms)
		       ? POLL_JOB
		       : POLL_TASKS;
}

/* Before its first checkpoint a job has nothing that could be lost by what its code has set; at the end of
 * the container it is too late to wait. */
static bool settings_are_urgent(const struct lifecycle *life)
{
	const struct launch *launch = journal_launch_const(&life->journal);

	return !launch->effective.known && (launch->last_checkpoint_id || life->look_ms);
}

static bool plan_is_due(const struct lifecycle *life)
{
	if ((life->seen.plan.known || life->seen.settings.known) &&
	    life->seen.settings.job_unix_ms == life->seen.job_unix_ms)
		return false;
	/* MUT: what the code of a job has set is asked for after a minute only */
	if (settings_are_urgent(life))
		return true;
	return life->seen.plan_ms && life->now_ms >= life->seen.plan_ms;
}

void poll_now(struct lifecycle *life)
{
	const struct launch *launch = journal_launch(&life->journal);
	struct effect *effect;

	if (life->polling || !launch || life->launch_step != LAUNCH_LIVE)
		return;
	life->polling = true;
	life->polled_ms = life->now_ms;
	effect = emit(life, EFFECT_POLL);
	memcpy(effect->id, launch->job_id, JOB_ID_BYTES);
	effect->depth = poll_depth(life, launch);
	effect->plan = plan_is_due(life);
	if (effect->depth >= POLL_JOB)
		life->own->polled_job_ms = life->now_ms;
	if (effect->depth >= POLL_ALL)
		life->own->polled_all_ms = life->now_ms;
}

/* The poll interval while the job runs, is proven, and no request is open. */
static int64_t calm_pace_ms(const struct lifecycle_config *config)
{
	bool looks_between = config->poll_tasks_ms && config->poll_tasks_ms < config->poll_slow_ms;

	return looks_between ? config->poll_tasks_ms : config->poll_slow_ms;
}

void schedule_poll(struct lifecycle *life, const struct launch *launch, const struct view *view)
{
	const struct lifecycle_config *config = life->config;
	bool calm = life->phase == PHASE_RUNNING && life->operation.step == STEP_NONE;
	int64_t wait_ms = config->poll_fast_ms;

	if (life->phase == PHASE_LAUNCHING && launch->verified_unix_ms)
		wait_ms = 4 * config->poll_fast_ms; /* restoring: may take long */
	if (calm)
		wait_ms = launch->proven_unix_ms && !life->seen.tasks_missing
				  ? calm_pace_ms(config)
				  : 4 * config->poll_fast_ms;
	if (life->seen.finished_ms) /* until the checkpoint statistics are recent enough */
		wait_ms = FRESH_STATISTICS_MS;
	if (cause_may_come(life, view) && life->seen.picture_until_ms < life->now_ms + wait_ms)
		wait_ms = life->seen.picture_until_ms - life->now_ms;
	if (life->clean_ms)
		wait_ms = CLEANUP_POLL_MS;
	life->poll_ms = life->now_ms + wait_ms;
	/* an even interval, so that other work shares the wakeup */
	if (wait_ms == calm_pace_ms(config) && life->polled_ms + wait_ms > life->now_ms)
		life->poll_ms = life->polled_ms + wait_ms;
}
