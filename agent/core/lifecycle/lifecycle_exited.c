/*
 * Flink has exited. Why decides what follows: an end that drey wanted, the end of its job, or a failed attempt.
 */
#include "core/lifecycle/lifecycle_exited.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "core/lifecycle/lifecycle_asks.h"
#include "core/lifecycle/lifecycle_effects.h"
#include "core/lifecycle/lifecycle_handover_events.h"
#include "core/lifecycle/lifecycle_handover_give.h"
#include "core/lifecycle/lifecycle_handover_state.h"
#include "core/lifecycle/lifecycle_launch.h"
#include "core/lifecycle/lifecycle_pursue.h"
#include "core/lifecycle/lifecycle_rescale.h"
#include "core/lifecycle/lifecycle_review.h"
#include "core/lifecycle/lifecycle_settle.h"
#include "core/lifecycle/lifecycle_started.h"
#include "core/lifecycle/lifecycle_state.h"
#include "core/lifecycle/lifecycle_stop_failed.h"
#include "core/lifecycle/lifecycle_stopping.h"

static bool exited_with_0(int wait_status)
{
	return wait_status != -1 && WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0;
}

/* How Flink ended when drey did not end it. */
void flink_died(struct lifecycle *life, int wait_status, const char *meaning)
{
	struct outcome *outcome = &life->journal.outcome;

	if (exited_with_0(wait_status)) {
		/* Flink was configured not to exit on its own, so the cause is unknown: running the
		 * job again could repeat a finished one. */
		outcome_release(outcome);
		outcome->kind = OUTCOME_UNKNOWN;
		outcome->unix_ms = life->now_unix_ms;
		outcome->reason =
			xstrdup("Flink exited with status 0 before its final state was read");
		resolve_start(life, outcome->reason);
		return;
	}
	launch_failure(life, meaning);
}

static void forget_process(struct lifecycle *life)
{
	life->launch_step = LAUNCH_NONE;
	life->poll_ms = life->ready_ms = life->kill_ms = life->savepoint_ms = life->note_ms = 0;
	life->tasks_ms = life->own->polled_job_ms = life->own->polled_all_ms = 0;
	life->polling = false;
	life->look_ms = life->clean_ms = 0;
	life->own->stop_failures = 0;
	last_resort_forget(life);
	life->operation.accepted_ms = 0;
	withdraw(life, EFFECT_SIGNAL);
	asks_forget(life);
	life->disposal_ms = life->own->stall_pause_ms = 0;
	rescale_forget(life);
	review_forget(life);
	memset(&life->seen, 0, sizeof(life->seen));
}

void record_flink_end(struct lifecycle *life, int wait_status)
{
	struct launch *launch = journal_launch(&life->journal);

	launch->ended_unix_ms = life->now_unix_ms;
	launch->wait_status = wait_status;
	if (exited_with_0(wait_status)) /* Flink exits with 0 only after its job has ended */
		/* MUT: that exit 0 is the end of a job is not recorded */
		launch->job_ended = true;
	life->want_write = true;
}

void on_exited(struct lifecycle *life, const struct event *event)
{
	enum operation_kind kind = life->journal.operation.kind;
	char *end_reason = life->end_reason;
	bool end_wanted = life->end_wanted;
	bool stopped;

	if (life->foreign) {
		life->foreign = life->end_wanted = false;
		life->kill_ms = 0;
		if (life->terminating && handover_frees_flink(life))
			leave(life);
		if (life->terminating || life->fenced)
			return;
		/* a recorded operation belongs to an earlier Flink, which cannot be asked any
		 * more */
		operation_flink_gone(life);
		resolve_start(life, "the unknown Flink has exited");
		return;
	}
	if (handover_held_exited(life, event))
		return;
	if (!is_current_launch(life, event->process.launch_id, event->process.number) ||
	    life->launch_step == LAUNCH_NONE)
		return;
	record_flink_end(life, event->process.wait_status);
	forget_process(life);
	/* a clean exit during a stop is the result of that stop, although it was not reported */
	stopped = life->operation.step == STEP_ENDING ||
		  (operation_ends_job(kind) && exited_with_0(event->process.wait_status));
	operation_flink_gone(life);
	life->end_wanted = false;
	life->end_reason = NULL;
	if (life->terminating) {
		enter(life, PHASE_TERMINATING, "Flink exited: %s", event->process.meaning);
		leave(life);
	} else if (life->fenced) {
		note(life, NOTE_WARNING, "the Flink of a drey that lost the journal has exited");
	} else if (life->handover.giving) {
		handover_rests(life);
	} else if (life->journal.outcome.kind == OUTCOME_RESTORE_MISMATCH &&
		   handover_returns(life, life->journal.outcome.reason)) {
		; /* the pod before takes what it was stopped with */
	} else if (event->process.shortcut && !stopped && end_wanted == life->end_counts &&
		   !exited_with_0(event->process.wait_status)) {
		/* the scripts may do it better; with 0 it could repeat a finished job */
		resolve_start(life, "a start without Flink's scripts has failed");
	} else if (end_wanted && life->end_counts) {
		launch_failure(life, end_reason ? end_reason : event->process.meaning);
	} else if (end_wanted || stopped) {
		resolve_start(life, end_reason ? end_reason : "the job was stopped");
	} else {
		flink_died(life, event->process.wait_status, event->process.meaning);
	}
	free(end_reason);
}
