#include "core/lifecycle/lifecycle_tasks.h"

#include "core/lifecycle/lifecycle_effects.h"
#include "core/lifecycle/lifecycle_end.h"
#include "core/report/readiness.h"

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

void watch_tasks(struct lifecycle *life)
{
	life->tasks_ms = 0;
	if (life->phase != PHASE_RUNNING)
		return;
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

void not_ready(struct lifecycle *life)
{
	long long seconds = life->config->ready_deadline_ms / 1000;
	bool launching = life->phase == PHASE_LAUNCHING;
	bool verified = journal_launch(&life->journal)->verified_unix_ms;
	bool running = life->phase == PHASE_RUNNING && life->step == STEP_NONE;
	bool lost = life->seen.reachable && !life->seen.job_present;

	if (running && lost)
		end_flink(life, false, true, "Flink has not known its job for %lld s", seconds);
	else if (launching && !readiness_waits_for_slots(life) && (!verified || lost))
		end_flink(life, false, true, "not running %lld s after the launch", seconds);
	else if ((launching || running) && life->seen.reachable && readiness_waits(life))
		stall(life);
	if ((launching || running) && !life->end_wanted)
		life->ready_ms = life->now_ms + life->config->ready_deadline_ms;
}
