#include "core/lifecycle/lifecycle_hang.h"

#include <signal.h>
#include <string.h>

#include "base/clock.h"
#include "core/lifecycle/lifecycle_effects.h"
#include "core/lifecycle/lifecycle_end.h"
#include "core/lifecycle/lifecycle_look.h"
#include "core/resolve/loss.h"

#define LOOKS   3 /* in that time */
#define BUSY_MS 30000
/* While a savepoint is written no checkpoint completes: so many times as long. */
#define SAVES 4
/* A JVM that can still write its threads does so within a moment. */
#define DUMP_MS 5000

/* At least two intervals of the checkpoints, which is for ever if there are no periodic ones; 0 = never. */
static int64_t limit_ms(const struct lifecycle *life)
{
	int64_t wanted_ms = life->config->health.unreachable_after_ms;
	int64_t two_ms = loss_two_intervals_ms(&life->config->policy.max_loss, &life->journal);

	/* MUT: a job between two checkpoints hangs */
	if (wanted_ms && two_ms > wanted_ms)
		wanted_ms = two_ms;
	/* MUT: a job that writes a savepoint hangs */
	if (life->operation.step == STEP_POLLING)
		wanted_ms *= SAVES;
	return wanted_ms;
}

static void hang_forget(struct lifecycle *life)
{
	memset(&life->seen.hang, 0, sizeof(life->seen.hang));
}

static bool may_hang(const struct lifecycle *life)
{
	return limit_ms(life) && life->launch_step == LAUNCH_LIVE && !life->end_wanted &&
	       !life->fenced && !life->terminating && !life->handover.giving &&
	       (life->phase == PHASE_LAUNCHING || life->phase == PHASE_RUNNING ||
		life->phase == PHASE_STOPPING);
}

/* An operation is between two answers, or waits for the end of the job, which has a deadline of its own. */
static bool is_busy(const struct lifecycle *life)
{
	return life->operation.step != STEP_NONE && life->operation.step != STEP_TRIGGERING &&
	       life->operation.step != STEP_POLLING;
}

void hang_viewed(struct lifecycle *life, const struct view *view)
{
	if (view->reachable || !view->mute || !may_hang(life)) {
		hang_forget(life);
		return;
	}
	if (life->seen.hang.since_ms)
		return;
	life->seen.hang.since_ms = life->now_ms;
	life->seen.hang.due_ms = life->now_ms + limit_ms(life) / LOOKS;
}

static void end_it(struct lifecycle *life)
{
	char time[CLOCK_TEXT_BYTES];

	clock_human(life->now_ms - life->seen.hang.since_ms, time);
	hang_forget(life);
	end_flink(
		life, false, true,
		"the JobManager hangs: Flink's REST API has not answered for %s, and no checkpoint has completed (health.unreachableAfter)",
		time);
}

void hang_due(struct lifecycle *life)
{
	if (!may_hang(life) || !life->seen.hang.since_ms) {
		hang_forget(life);
		return;
	}
	if (is_busy(life)) {
		life->seen.hang.due_ms = life->now_ms + BUSY_MS;
		return;
	}
	if (life->seen.hang.dumped) {
		end_it(life);
		return;
	}
	life->seen.signs.for_hang = true;
	seek_signs(life);
}

static void dump_threads(struct lifecycle *life)
{
	struct effect *effect = emit(life, EFFECT_SIGNAL);
	char time[CLOCK_TEXT_BYTES];

	memcpy(effect->id, journal_launch(&life->journal)->job_id, JOB_ID_BYTES);
	effect->signo = SIGQUIT;
	life->seen.hang.dumped = true;
	life->seen.hang.due_ms = life->now_ms + DUMP_MS;
	note(life, NOTE_WARNING,
	     "Flink's REST API has not answered for %s, and no checkpoint has completed: asking the JVM for its threads (SIGQUIT), which are in the output of the container, before it is ended",
	     clock_human(life->now_ms - life->seen.hang.since_ms, time));
}

void hang_signs(struct lifecycle *life, const struct signs *signs)
{
	int64_t limit = limit_ms(life), left_ms;

	if (!life->seen.hang.since_ms || !may_hang(life))
		return; /* Flink has answered since */
	/* MUT: a job that waits for its storage hangs */
	if (signs->verdict == SIGNS_UNREADABLE)
		life->seen.hang.since_ms = life->now_ms;
	/* MUT: a job that completes checkpoints hangs */
	if (signs->newest_id > life->seen.hang.newest_id) {
		life->seen.hang.newest_id = signs->newest_id;
		life->seen.hang.since_ms = life->now_ms;
	}
	left_ms = life->seen.hang.since_ms + limit - life->now_ms;
	if (left_ms <= 0) {
		dump_threads(life);
		return;
	}
	life->seen.hang.due_ms = life->now_ms + (left_ms < limit / LOOKS ? left_ms : limit / LOOKS);
}
