#include "core/lifecycle/lifecycle_signs.h"

#include <stdio.h>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/mem.h"
#include "core/lifecycle/lifecycle_effects.h"
#include "core/lifecycle/lifecycle_end.h"
#include "core/lifecycle/lifecycle_handover.h"
#include "core/lifecycle/lifecycle_hang.h"
#include "core/lifecycle/lifecycle_tasks.h"

/* ---- what REST says ---- */

void see_answer(struct lifecycle *life, const struct view *view)
{
	const char *why = view->silence ? view->silence : "";

	snprintf(life->seen.silence, sizeof(life->seen.silence), "%s", view->reachable ? "" : why);
	if (!view->reachable)
		return;
	life->seen.answered_unix_ms = life->now_unix_ms;
	if (life->cause != CAUSE_CLUSTER_UNREACHABLE || !view->job_present)
		return;
	enter(life, life->phase, "Flink's REST API answers again");
	if (!life->ready_ms)
		life->ready_ms = life->now_ms + life->config->ready_deadline_ms;
}

/* "has not answered since 12:31:02 (connection refused)"; the caller frees. */
static char *silence_says(const struct lifecycle *life)
{
	const struct launch *launch = journal_launch_const(&life->journal);
	const char *why = life->seen.silence;
	char when[CLOCK_TEXT_BYTES];

	if (life->seen.reachable)
		return xasprintf("does not know job %s", launch->job_id);
	clock_rfc3339((life->seen.answered_unix_ms ? life->seen.answered_unix_ms
						   : launch->started_unix_ms) /
			      1000 * 1000,
		      when);
	return xasprintf("has not answered since %s%s%s%s", when, *why ? " (" : "", why,
			 *why ? ")" : "");
}

/* ---- what storage and HA show ---- */

/* Until it is asked again. */
static void wait_on(struct lifecycle *life, int64_t ready_wait_ms, int64_t handover_wait_ms)
{
	life->ready_ms = life->now_ms + ready_wait_ms;
	if (handover_wait_ms && life->journal.handover.state == HANDOVER_TAKEN)
		life->handover.deadline_ms = life->now_ms + handover_wait_ms;
}

static void lives(struct lifecycle *life, const struct signs *signs)
{
	cleanup_free char *silence = silence_says(life);

	cleanup_free char *text =
		xasprintf("the job runs, but Flink's REST API %s; %s", silence, signs->text);

	life->seen.signs.unread = 0;
	wait_on(life, life->config->ready_deadline_ms, life->config->handover.run_ms);
	/* the newest checkpoint is another one each time, which is no news for the log */
	if (life->cause == CAUSE_CLUSTER_UNREACHABLE && life->seen.signs.alive)
		snprintf(life->reason, sizeof(life->reason), "%s", text);
	else
		enter_because(life, life->phase, CAUSE_CLUSTER_UNREACHABLE, "%s", text);
	life->seen.signs.alive = true;
}

/* An unreadable store is not absence, and the next start could not be decided either. */
static void cannot_tell(struct lifecycle *life, const struct signs *signs)
{
	const struct lifecycle_config *config = life->config;
	cleanup_free char *silence = silence_says(life);
	int64_t wait_ms = backoff_ms(config->hold_retry_first_ms, config->hold_retry_max_ms,
				     ++life->seen.signs.unread);

	life->seen.signs.alive = false;
	wait_on(life, wait_ms, wait_ms);
	enter_because(
		life, life->phase, CAUSE_CLUSTER_UNREACHABLE,
		"Flink's REST API %s; drey cannot tell whether the job runs, and ends nothing until it can: %s",
		silence, signs->text);
}

void on_signs(struct lifecycle *life, const struct event *event)
{
	const struct launch *launch = journal_launch_const(&life->journal);
	const struct signs *signs = &event->signs.signs;
	bool for_ready = life->seen.signs.for_ready, for_handover = life->seen.signs.for_handover;
	bool for_hang = life->seen.signs.for_hang;

	if (!launch || life->launch_step != LAUNCH_LIVE || launch->number != event->signs.launch ||
	    !life->seen.signs.asking)
		return;
	life->seen.signs.asking = life->seen.signs.for_ready = life->seen.signs.for_handover =
		life->seen.signs.for_hang = false;
	/* it is being ended, or stopped; or it has come to run since */
	if (life->end_wanted || life->fenced)
		return;
	if (for_hang)
		hang_signs(life, signs);
	if ((life->phase != PHASE_LAUNCHING && life->phase != PHASE_RUNNING) ||
	    (!for_ready && !for_handover && signs->verdict != SIGNS_ENDED))
		return;
	if (life->seen.reachable && life->seen.job_present && signs->verdict != SIGNS_NONE) {
		life->ready_ms = life->now_ms + life->config->ready_deadline_ms;
		return; /* Flink has answered since */
	}
	switch (signs->verdict) {
	case SIGNS_NONE:
		if (for_handover)
			handover_runs_late(life);
		if (for_ready && !life->end_wanted)
			still_not_ready(life);
		break;
	case SIGNS_ENDED:
		end_flink(life, false, signs->failed, "%s", signs->text);
		break;
	case SIGNS_ALIVE:
		lives(life, signs);
		break;
	case SIGNS_UNREADABLE:
		cannot_tell(life, signs);
		break;
	}
}
