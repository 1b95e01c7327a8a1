/*
 * A job that runs and completes no checkpoint any more is restarted from its newest one, if a person
 * wants that (health.restartAfter). The restart repeats the work since that checkpoint and may not
 * cure anything, so it comes only when it has a chance: this launch has completed a checkpoint before,
 * and that one can be read now. A launch that completes none is left as it is.
 */
#include "core/lifecycle/lifecycle_stall.h"

#include "base/clock.h"
#include "base/mem.h"
#include "core/lifecycle/lifecycle_asks.h"
#include "core/lifecycle/lifecycle_blockers.h"
#include "core/lifecycle/lifecycle_effects.h"
#include "core/lifecycle/lifecycle_end.h"
#include "core/lifecycle/lifecycle_facts.h"
#include "core/lifecycle/lifecycle_state.h"
#include "core/report/condition_checkpoints.h"

/* After the newest checkpoint could not be read. */
#define UNREAD_PAUSE_MS (10 * 60 * INT64_C(1000))

/* Sooner than after two checkpoints that could have been, it says nothing. */
static int64_t limit_ms(const struct lifecycle *life)
{
	int64_t wanted_ms = life->config->health.restart_after_ms;
	int64_t every_ms = checkpoints_every_ms(&life->seen.plan, &life->seen.checkpointing);

	if (!wanted_ms || !every_ms || every_ms > INT64_MAX / 2)
		return 0;
	return every_ms > wanted_ms / 2 ? 2 * every_ms : wanted_ms;
}

/* The last attempt is not spent on it: a job that runs without checkpoints is better than none. */
static bool has_attempts_left(const struct lifecycle *life)
{
	const struct lifecycle_config *config = life->config;
	int64_t since_ms = life->now_unix_ms - config->attempts_window_ms;

	return journal_failures_since(&life->journal, since_ms) + 1 < config->max_attempts;
}

/* What would have to be started again can be, and nothing else is about to happen to the job. */
static bool may_restart(const struct lifecycle *life)
{
	return !checkpoint_excluded(life) && !blockers(life, BEGIN_STALL) &&
	       has_attempts_left(life);
}

static bool is_stalled(const struct lifecycle *life)
{
	const struct launch *launch = journal_launch_const(&life->journal);
	int64_t after_ms = limit_ms(life);

	return after_ms && launch && may_restart(life) && !life->seen.checkpointing_off &&
	       !life->seen.statistics_failed && life->seen.progress_ms &&
	       life->seen.statistics_ms - life->seen.progress_ms >= after_ms;
}

bool stall_pursue(struct lifecycle *life)
{
	if (life->stalled.step != STEP_NONE)
		return true;
	if (life->now_ms < life->own->stall_pause_ms || !is_stalled(life))
		return false;
	ask_begin(life, ASK_STALLED, NULL, journal_launch(&life->journal)->last_checkpoint_path);
	return true;
}

static void restart(struct lifecycle *life, const char *path)
{
	char after[CLOCK_TEXT_BYTES];

	clock_human(life->seen.statistics_ms - life->seen.progress_ms, after);
	end_flink(life, false, true,
		  "no checkpoint has completed for %s (health.restartAfter); the newest is %s",
		  after, path);
}

void stalled_read(struct lifecycle *life, const struct event *event)
{
	const char *path = event->inspected.path, *error = event->inspected.error;

	/* a checkpoint may have completed meanwhile, or a stop begun */
	if (!is_stalled(life))
		return;
	/* MUT: a job is ended although its newest checkpoint cannot be read */
	if (event->inspected.readable && event->inspected.complete) {
		restart(life, path);
		return;
	}
	life->own->stall_pause_ms = life->now_ms + UNREAD_PAUSE_MS;
	note(life, NOTE_WARNING,
	     "the job completes no checkpoint, and is not restarted (health.restartAfter), because its newest checkpoint %s %s: %s",
	     path, event->inspected.readable ? "is damaged" : "cannot be read",
	     error ? error : "no detail");
}
