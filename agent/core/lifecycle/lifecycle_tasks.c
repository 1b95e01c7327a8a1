#include "core/lifecycle/lifecycle_tasks.h"

#include "base/clock.h"
#include "core/lifecycle/lifecycle_effects.h"
#include "core/lifecycle/lifecycle_end.h"
#include "core/lifecycle/lifecycle_look.h"
#include "core/report/readiness.h"
#include "core/resolve/loss.h"

/* More tasks than before: Flink has restarted the job for more slots or for another parallelism, whoever has brought that about. Fewer
 * may mean that a TaskManager was lost. */
static void see_more_tasks(struct lifecycle *life, const struct cluster *cluster)
{
	if (life->seen.tasks_missing || !cluster->tasks_known)
		return;
	/* MUT: a restart for more subtasks is a failure */
	if (life->rescale.tasks && cluster->tasks_total > life->rescale.tasks)
		life->rescale.restarts++;
	life->rescale.tasks = cluster->tasks_total;
}

static void see_restarts(struct lifecycle *life, const struct view *view)
{
	int64_t restarts = view->restarts;

	/* Flink 1.x does not tell them apart, so at least those that are known */
	if (!view->rescales_counted)
		restarts -= life->rescale.restarts;
	if (restarts < 0)
		restarts = 0;
	/* its number is late: it is not lower because a restart for more subtasks was seen first */
	if (view->rescales_counted || !life->seen.restarts_known || restarts > life->seen.restarts)
		life->seen.restarts = restarts;
	life->seen.restarts_known = true;
	life->seen.restarts_ms = life->polled_ms;
}

/* A poll that asked for less leaves the rest as it was. */
void see_tasks(struct lifecycle *life, const struct view *view)
{
	const struct cluster *from = &view->cluster;
	struct cluster *to = &life->seen.cluster;

	life->seen.tasks_missing =
		!view->job_present || view->state != JOB_RUNNING || view->tasks_missing;
	to->tasks_known = from->tasks_known;
	to->tasks_total = from->tasks_total;
	to->tasks_running = from->tasks_running;
	to->tasks_waiting = from->tasks_waiting;
	if (from->slots_known) {
		to->slots_known = true;
		to->task_managers = from->task_managers;
		to->slots_total = from->slots_total;
		to->slots_free = from->slots_free;
	}
	see_more_tasks(life, from);
	if (view->restarts_known)
		see_restarts(life, view);
	if (life->seen.tasks_missing)
		return;
	/* an answer may be slow: it counts from the time of the request */
	life->seen.all_ran_ms = life->polled_ms ? life->polled_ms : life->now_ms;
	if (!life->seen.first_ran_ms)
		life->seen.first_ran_ms = life->seen.all_ran_ms;
	if (from->slots_known)
		life->seen.slots_used = from->slots_total - from->slots_free;
}

/* Only changes are logged: this may come and go. */
static void note_tasks(struct lifecycle *life)
{
	bool run = readiness_tasks_run(life);
	char text[400];

	if (!run && !life->seen.not_ready) {
		readiness_sentence(life, text, sizeof(text));
		note(life, NOTE_WARNING, "not ready: %s", text);
		life->seen.not_ready = true;
	} else if (!life->seen.tasks_missing && life->seen.not_ready) {
		note(life, NOTE_INFO, "ready again: all %d tasks run",
		     life->seen.cluster.tasks_total);
		life->seen.not_ready = false;
	}
}

/* The launch stays one until Flink has said what it restored; that its tasks are missing is over. */
static void launch_runs(struct lifecycle *life)
{
	/* MUT: a launch that runs again is said to have no tasks */
	if (life->phase == PHASE_LAUNCHING && life->cause == CAUSE_JOB_NOT_RUNNING &&
	    !life->seen.tasks_missing)
		enter(life, PHASE_LAUNCHING,
		      "job %s runs, and Flink has not reported yet what it restored",
		      journal_launch(&life->journal)->job_id);
}

void watch_tasks(struct lifecycle *life)
{
	life->tasks_ms = 0;
	if (life->phase != PHASE_RUNNING) {
		launch_runs(life);
		return;
	}
	note_tasks(life);
	if (!life->seen.tasks_missing) {
		life->ready_ms = 0;
		if (life->cause == CAUSE_JOB_NOT_RUNNING)
			enter(life, PHASE_RUNNING, "job %s runs again, with all its tasks",
			      journal_launch(&life->journal)->job_id);
		return;
	}
	if (life->cause == CAUSE_JOB_NOT_RUNNING && life->seen.job_present &&
	    !readiness_waits(life))
		enter(life, PHASE_RUNNING, "job %s has its slots again and is restoring its state",
		      journal_launch(&life->journal)->job_id);
	if (readiness_tasks_run(life))
		life->tasks_ms = life->seen.all_ran_ms + READINESS_GRACE_MS;
	if (!life->ready_ms)
		life->ready_ms = life->now_ms + life->config->ready_deadline_ms;
}

/* A person must investigate. Flink is left alone: it continues as soon as it can, and ending it
 * would only cost an attempt. */
static void stall(struct lifecycle *life)
{
	long long seconds = life->config->ready_deadline_ms / 1000;

	if (life->cause == CAUSE_NONE)
		enter_because(
			life, life->phase, CAUSE_JOB_NOT_RUNNING,
			"the tasks of job %s have not all run for %lld s; Flink waits and continues as soon as it can",
			journal_launch(&life->journal)->job_id, seconds);
}

enum lateness {
	LATE_NOT,
	LATE_LOST,        /* Flink does not know the job that ran */
	LATE_NOT_RUNNING, /* nothing says that it has begun to run */
};

static enum lateness lateness(const struct lifecycle *life)
{
	bool verified = journal_launch_const(&life->journal)->verified_unix_ms;
	bool running = life->phase == PHASE_RUNNING && life->operation.step == STEP_NONE;
	bool lost = life->seen.reachable && !life->seen.job_present;

	if (running && lost)
		return LATE_LOST;
	if (life->phase == PHASE_LAUNCHING && !readiness_waits_for_slots(life) &&
	    (!verified || lost))
		return LATE_NOT_RUNNING;
	return LATE_NOT;
}

int64_t silence_limit_ms(const struct lifecycle *life)
{
	int64_t limit_ms = life->config->ready_deadline_ms;
	int64_t two_ms = loss_two_intervals_ms(&life->config->policy.max_loss, &life->journal);

	return two_ms > limit_ms && two_ms < LOSS_NO_INTERVAL ? two_ms : limit_ms;
}

/* Before a checkpoint can have completed, that there is none says nothing. */
static bool is_too_soon(struct lifecycle *life)
{
	int64_t more_ms = silence_limit_ms(life) - life->config->ready_deadline_ms;
	char more[CLOCK_TEXT_BYTES];

	if (life->seen.reachable || life->seen.signs.waited || more_ms <= 0)
		return false;
	life->seen.signs.waited = true;
	life->ready_ms = life->now_ms + more_ms;
	enter_because(
		life, life->phase, CAUSE_CLUSTER_UNREACHABLE,
		"Flink's REST API has not answered (%s), and the first checkpoint of the job may not be complete yet: drey waits for it for %s",
		*life->seen.silence ? life->seen.silence : "no detail", clock_human(more_ms, more));
	return true;
}

void not_ready(struct lifecycle *life)
{
	bool running = life->phase == PHASE_RUNNING && life->operation.step == STEP_NONE;

	if (life->phase != PHASE_LAUNCHING && !running)
		return;
	if (lateness(life) != LATE_NOT) {
		if (is_too_soon(life))
			return;
		/* Flink's word is one witness: a launch that lives must not be ended */
		life->seen.signs.for_ready = true;
		seek_signs(life);
		return;
	}
	if (life->seen.reachable && readiness_waits(life))
		stall(life);
	life->ready_ms = life->now_ms + life->config->ready_deadline_ms;
}

void still_not_ready(struct lifecycle *life)
{
	long long seconds = (life->seen.signs.waited ? silence_limit_ms(life)
						     : life->config->ready_deadline_ms) /
			    1000;
	const char *silence = life->seen.silence;

	switch (lateness(life)) {
	case LATE_LOST:
		end_flink(life, false, true, "Flink has not known its job for %lld s", seconds);
		break;
	case LATE_NOT_RUNNING:
		if (life->seen.reachable || !*silence)
			end_flink(life, false, true, "not running %lld s after the launch",
				  seconds);
		else
			end_flink(
				life, false, true,
				"not running %lld s after the launch; the job has completed no checkpoint, and Flink's REST API does not answer: %s",
				seconds, silence);
		break;
	case LATE_NOT:
		life->ready_ms = life->now_ms + life->config->ready_deadline_ms;
		break;
	}
}
