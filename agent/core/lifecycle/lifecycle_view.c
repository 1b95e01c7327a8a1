#include "core/lifecycle/lifecycle_view.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/lifecycle/lifecycle_checkpoints.h"
#include "core/lifecycle/lifecycle_claim.h"
#include "core/lifecycle/lifecycle_cleanup.h"
#include "core/lifecycle/lifecycle_effects.h"
#include "core/lifecycle/lifecycle_end.h"
#include "core/lifecycle/lifecycle_ended.h"
#include "core/lifecycle/lifecycle_facts.h"
#include "core/lifecycle/lifecycle_handover_state.h"
#include "core/lifecycle/lifecycle_hang.h"
#include "core/lifecycle/lifecycle_ids.h"
#include "core/lifecycle/lifecycle_look.h"
#include "core/lifecycle/lifecycle_notice.h"
#include "core/lifecycle/lifecycle_operation_answer.h"
#include "core/lifecycle/lifecycle_outside.h"
#include "core/lifecycle/lifecycle_periodic.h"
#include "core/lifecycle/lifecycle_review.h"
#include "core/lifecycle/lifecycle_signs.h"
#include "core/lifecycle/lifecycle_state.h"
#include "core/lifecycle/lifecycle_stop_failed.h"
#include "core/lifecycle/lifecycle_take_checkpoint.h"
#include "core/lifecycle/lifecycle_tasks.h"
#include "core/report/readiness.h"
#include "core/resolve/lineage_dirs.h"

/* Flink caches the checkpoint statistics for 3 s: a restore that does not appear for this long in a
 * RUNNING job did not happen. */
#define RESTORE_PATIENCE_MS 10000

static void sticky_mismatch(struct lifecycle *life, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Continuing this job would break the promise: end Flink, and hold until a person has decided. */
static void sticky_mismatch(struct lifecycle *life, const char *fmt, ...)
{
	struct outcome *outcome = &life->journal.outcome;
	va_list ap;

	outcome_release(outcome);
	outcome->kind = OUTCOME_RESTORE_MISMATCH;
	journal_launch(&life->journal)->mismatched = true;
	outcome->unix_ms = life->now_unix_ms;
	va_start(ap, fmt);
	outcome->reason = xvasprintf(fmt, ap);
	va_end(ap);
	/* its checkpoints look like good ones: only this Flink shows that they are not */
	end_flink(life, true, false, "%s", outcome->reason ? outcome->reason : "wrong restore");
}

/* The job restarted before the first poll: it then shows a checkpoint that it made itself, or a savepoint, whose name
 * has six digits of its id. */
static bool restored_own_state(const struct launch *launch, const struct view *view)
{
	char savepoint[32];

	snprintf(savepoint, sizeof(savepoint), "savepoint-%.6s-", launch->job_id);
	return view->restored_id > launch->restore_checkpoint_id && view->restored_path &&
	       (strstr(view->restored_path, launch->job_id) ||
		strstr(view->restored_path, savepoint));
}

static void tell_verified(struct lifecycle *life, const struct launch *launch)
{
	struct notice *notice = tell(life, NOTICE_RESTORE_VERIFIED);

	notice->restored = launch->restore_kind;
	notice->path = xstrdup(launch->restore_path);
}

static void verified(struct lifecycle *life, struct launch *launch)
{
	/* watch an empty start until it has its own checkpoint; it may be verified again */
	/* MUT: each poll sends the notice of an empty start */
	if (!launch->verified_unix_ms)
		tell_verified(life, launch);
	launch->verified_unix_ms = life->now_unix_ms;
	life->want_write = true;
	if (launch->restore_path)
		note(life, NOTE_INFO, "Flink restored exactly %s (checkpoint id %" PRId64 ")",
		     launch->restore_path, launch->restore_checkpoint_id);
	else
		note(life, NOTE_INFO, "Flink started without state, as decided");
}

/* latest.restored must equal the decision. */
static void check_restore(struct lifecycle *life, struct launch *launch, const struct view *view)
{
	/* An empty start is proven by what does not appear, and Flink's statistics come late: keep
	 * watching until there is a checkpoint that it made itself, which may come with them. */
	bool open = !launch->verified_unix_ms ||
		    (!launch->restore_path && view->restored && !launch->last_checkpoint_id);

	if (!open || view->state == JOB_INITIALIZING || !view->job_present)
		return;
	if (view->restored) {
		bool same = launch->restore_path &&
			    view->restored_id == launch->restore_checkpoint_id &&
			    snapshot_same_path(view->restored_path, launch->restore_path);

		if (same || restored_own_state(launch, view))
			verified(life, launch);
		else
			sticky_mismatch(life,
					"decided to start from %s (%" PRId64
					"), but Flink restored %s (%" PRId64 ")",
					launch->restore_path ? launch->restore_path : "nothing",
					launch->restore_checkpoint_id,
					view->restored_path ? view->restored_path : "?",
					view->restored_id);
		return;
	}
	if (view->state != JOB_RUNNING && view->state != JOB_FINISHED)
		return;
	if (!launch->restore_path) {
		if (view->statistics_known || view->checkpointing_off)
			verified(life, launch);
		return;
	}
	if (!view->statistics_known && !view->checkpointing_off)
		return;
	if (!life->seen.not_restored_ms)
		life->seen.not_restored_ms = life->now_ms;
	/* an answer may be slow: it counts from the time of the request */
	if (life->polled_ms - life->seen.not_restored_ms >= RESTORE_PATIENCE_MS)
		sticky_mismatch(life, "decided to start from %s, but Flink restored nothing%s",
				launch->restore_path,
				view->checkpointing_off ? " (the job has no checkpoints)" : "");
}

/* A job that finishes quickly may do so before its statistics show the restore. */
static bool awaits_restore_report(const struct lifecycle *life, const struct launch *launch,
				  const struct view *view)
{
	return view->state == JOB_FINISHED && !launch->verified_unix_ms &&
	       life->seen.not_restored_ms;
}

/* Of the journal's newest checkpoint, while the job runs. */
#define NOTE_CHECKPOINT_MS 60000

/* After a crash the next drey must know how far the job was, in case the newest checkpoint is not
 * where it searches, or storage was set back. One write a minute is enough, and none if another
 * write happens anyway. */
static void note_checkpoint(struct lifecycle *life, const struct launch *launch)
{
	if (launch->last_checkpoint_id <= life->noted_checkpoint_id || life->note_ms)
		return;
	life->note_ms =
		life->own->noted_ms ? life->own->noted_ms + NOTE_CHECKPOINT_MS : life->now_ms;
	if (life->note_ms > life->now_ms)
		return;
	life->note_ms = 0;
	life->want_write = true;
}

/* The path of the first checkpoint shows the actual directory. */
static void compare_directory(struct lifecycle *life, const struct launch *launch)
{
	const char *told = life->config->listed_checkpoint_dir;
	char *dir = NULL;

	if (!lineage_dir_is_another(launch, told, &dir))
		return;
	if (dir)
		note(life, NOTE_WARNING,
		     "job %s writes its checkpoints to %s, not to %s: its code or its own configuration sets another checkpoint storage; remove that, or set flink.checkpointDirectory: %s",
		     launch->job_id, dir, launch->checkpoint_dir ? launch->checkpoint_dir : told,
		     dir);
	else
		note(life, NOTE_WARNING,
		     "checkpoint %" PRId64
		     " of job %s is at %s, which is not below %s: after a failure drey may not find it; let the job write to that directory",
		     launch->last_checkpoint_id, launch->job_id, launch->last_checkpoint_path,
		     launch->checkpoint_dir ? launch->checkpoint_dir : told);
	free(dir);
}

/* True when there is a newer one than the known one. */
static bool see_newest(struct lifecycle *life, struct launch *launch, const struct view *view)
{
	bool first = !launch->last_checkpoint_id;

	if (!view->statistics_known)
		return false;
	if (view->savepoint_count) /* of the one who requested it */
		launch_has_left_state(life, launch);
	if (view->completed_id <= launch->last_checkpoint_id ||
	    view->completed_id <= launch->restore_checkpoint_id)
		return false;
	launch->last_checkpoint_id = view->completed_id;
	xstrset(&launch->last_checkpoint_path, view->completed_path);
	launch->last_checkpoint_unix_ms = view->completed_unix_ms;
	if (first)
		compare_directory(life, launch);
	return true;
}

/* Flink is ending, or had ended when its answer came: record it anyway, because the checkpoint may
 * be missing at the next poll, and there is no later time to record it. */
static void see_late(struct lifecycle *life, struct launch *launch, const struct view *view)
{
	if (!view->reachable || !view->job_present || launch->mismatched ||
	    !see_newest(life, launch, view))
		return;
	life->want_write = true;
	if (life->observing) /* without it */
		life->observe_again = true;
}

static void see_checkpoints(struct lifecycle *life, struct launch *launch, const struct view *view)
{
	if (!view->statistics_known)
		return;
	if (see_newest(life, launch, view)) {
		note_checkpoint(life, launch);
		life->seen.progress_ms = life->now_ms;
	}
	if (launch->proven_unix_ms || !launch->verified_unix_ms || !launch->last_checkpoint_id)
		return;
	launch->proven_unix_ms = life->now_unix_ms;
	life->journal.ever_proven = true;
	if (life->journal.last_error_launch != launch->number) /* it is no longer current */
		journal_set_error(&life->journal, NULL, 0);
	life->journal.failure_count = 0;
	life->want_write = true;
	note(life, NOTE_INFO, "checkpoint %" PRId64 " completed: launch %" PRId64 " is proven",
	     launch->last_checkpoint_id, launch->number);
	/* MUT: a proven launch sends no notice */
	tell(life, NOTICE_PROVEN);
}

/* An operation is for the job that was seen when it was decided, unless another one was recovered before it was sent. */
static void see_job_of_operation(struct lifecycle *life)
{
	struct operation *operation = &life->journal.operation;

	if (life->checkpoint.accepted_ms && life->polled_ms >= life->checkpoint.accepted_ms &&
	    !life->checkpoint.job_unix_ms)
		life->checkpoint.job_unix_ms = life->seen.job_unix_ms;
	if (operation->kind == OPERATION_NONE)
		return;
	if (operation->job_unix_ms != life->seen.job_unix_ms) {
		/* MUT: a job that was recovered after that has the operation */
		if (!operation_came_after_job(life))
			return;
		operation->job_unix_ms = life->seen.job_unix_ms;
		life->want_write = true; /* for the next agent */
	}
	life->seen.operation_job_ms = life->polled_ms;
}

/* Another date of the job is that of a recovery. */
static void see_job(struct lifecycle *life, const struct view *view)
{
	if (!view->job_unix_ms) /* Flink leads nothing now */
		return;
	if (life->seen.job_unix_ms != view->job_unix_ms) {
		life->seen.job_since_ms = life->now_ms;
		/* its statistics come late again */
		/* MUT: a recovered job has no time to show what it restored */
		life->seen.not_restored_ms = 0;
		settings_forget(life);
		review_soon(life);
	}
	life->seen.job_unix_ms = view->job_unix_ms;
	see_job_of_operation(life);
}

static void remember_view(struct lifecycle *life, struct launch *launch, const struct view *view)
{
	bool worse = view->state == JOB_RESTARTING || view->state == JOB_FAILING;

	if (view->failure && worse && life->seen.state != view->state) {
		journal_set_error(&life->journal, view->failure, life->now_unix_ms);
		note(life, NOTE_WARNING, "the job is %s: %s", job_state_name(view->state),
		     view->failure);
	}
	if (view->failure && worse)
		see_refusal(life, launch, view->failure);
	life->seen.reachable = view->reachable;
	see_answer(life, view);
	if (!view->reachable)
		return; /* the last seen state is still the best one */
	life->seen.job_present = view->job_present;
	life->seen.state = view->state;
	see_job(life, view);
	see_tasks(life, view);
	if (view->cluster.slots_known && !life->seen.tasks_missing) {
		launch->slots = view->cluster.slots_total;
		launch->task_managers = view->cluster.task_managers;
	}
	see_statistics(life, view);
	see_settings(life, launch, view);
	if (!view->job_present || launch->job_ended || !job_state_is_final(view->state))
		return;
	launch->job_ended = true;
	life->want_write = true;
}

/* The job counts as running when all its tasks do, because no savepoint can be taken before
 * that. */
static void job_runs(struct lifecycle *life, const struct launch *launch, const struct view *view)
{
	if (view->tasks_missing) {
		if (life->cause == CAUSE_NONE || !readiness_waits(life))
			enter(life, PHASE_LAUNCHING,
			      "job %s is scheduled, but not all its tasks are running yet",
			      launch->job_id);
		return;
	}
	life->ready_ms = 0;
	enter(life, PHASE_RUNNING, "job %s is running%s%s", launch->job_id,
	      launch->restore_path ? ", restored from " : "",
	      launch->restore_path ? launch->restore_path : "");
	handover_runs(life);
	schedule_savepoint(life);
	checkpoint_schedule(life);
}

/* drey's Flink runs one job. A second one was recovered from HA data that drey did not see, or
 * submitted by a user; it may be an older copy of our job, and only the end of the JVM surely ends
 * it. If our job has ended, that comes first: it ends Flink too. */
static void watch_other_job(struct lifecycle *life, const struct launch *launch,
			    const struct view *view)
{
	bool over = view->job_present && job_state_is_final(view->state);

	if (!view->reachable || !view->other_job || life->end_wanted || over)
		return;
	end_flink_because(life, CAUSE_SECOND_JOB,
			  "a second job is running in this Flink: %s, beside job %s; ending both",
			  view->other_job, launch->job_id);
}

void on_view(struct lifecycle *life, const struct event *event)
{
	const struct view *view = &event->view;
	struct launch *launch = journal_launch(&life->journal);

	life->polling = false;
	if (!launch || life->fenced)
		return;
	if (life->launch_step == LAUNCH_NONE ||
	    (life->launch_step == LAUNCH_LIVE && life->end_wanted))
		see_late(life, launch, view);
	if (life->launch_step != LAUNCH_LIVE)
		return;
	if (view->cleanup != CLEANUP_NOT_ASKED) {
		cleanup_seen(life, view->cleanup);
		schedule_poll(life, launch, view);
		return;
	}
	remember_view(life, launch, view);
	if (view->reachable && view->job_present && !life->end_wanted) {
		seen_without_do_not_restart(life);
		check_restore(life, launch, view);
		see_checkpoints(life, launch, view);
		outside_savepoints(life, view);
	}
	if (view->reachable && view->job_present && !life->end_wanted &&
	    !operation_view(life, view) && !awaits_restore_report(life, launch, view) &&
	    !end_is_unclear(life, view)) {
		if (job_state_is_final(view->state))
			job_ended(life, view);
		else if (life->phase == PHASE_LAUNCHING && view->state == JOB_RUNNING &&
			 launch->verified_unix_ms)
			job_runs(life, launch, view);
	} else if (view->reachable && view->job_present && life->end_wanted) {
		job_finished_meanwhile(life, view);
	}
	end_job_that_runs_again(life, view);
	watch_other_job(life, launch, view);
	watch_tasks(life);
	hang_viewed(life, view);
	if (view->reachable && view->statistics_known)
		life->seen.statistics_ms = life->polled_ms;
	schedule_poll(life, launch, view);
	review_viewed(life, view);
	watch_checkpoints(life);
	last_resort_viewed(life);
}
