/*
 * The job has ended: find out how, and record that before anything else happens. A job that was
 * stopped with a savepoint is FINISHED to Flink as well; only the savepoint tells the difference.
 */
#include "core/lifecycle/lifecycle_ended.h"

#include <stdarg.h>
#include <string.h>

#include "base/mem.h"
#include "core/lifecycle/lifecycle_effects.h"
#include "core/lifecycle/lifecycle_end.h"
#include "core/lifecycle/lifecycle_facts.h"
#include "core/lifecycle/lifecycle_outside.h"

/* Flink caches its checkpoint statistics for 3 s (rest.cache.checkpoint-statistics.timeout). */
#define STATISTICS_CACHE_MS 3000
#define UNCLEAR_MS          (4 * STATISTICS_CACHE_MS) /* give up on statistics that never come */

void outcome_set(struct lifecycle *life, enum outcome_kind kind, const char *fmt, ...)
{
	struct outcome *outcome = &life->journal.outcome;
	const struct launch *launch = journal_launch_const(&life->journal);
	va_list ap;

	outcome_release(outcome);
	outcome->kind = kind;
	outcome->unix_ms = life->now_unix_ms;
	/* without a launch: the journal is lost, and the record that Flink has left is adopted */
	if (launch)
		memcpy(outcome->job_id, launch->job_id, JOB_ID_BYTES);
	va_start(ap, fmt);
	outcome->reason = xvasprintf(fmt, ap);
	va_end(ap);
	life->want_write = true;
}

void launch_end_is_known(struct lifecycle *life, const char *job_id)
{
	for (size_t i = 0; i < life->journal.launch_count; i++) {
		struct launch *launch = &life->journal.launches[i];

		if (!strcmp(launch->job_id, job_id))
			launch->end_known = launch->job_ended = true;
	}
	life->want_write = true;
}

/* Flink says a moment after the end of a job that it has cancelled why. */
static bool canceled_is_unclear(const struct view *view)
{
	/* MUT: a job that Flink has cancelled counts as cancelled before Flink has said why */
	return view->state == JOB_CANCELED && (view->application == APPLICATION_FAILING ||
					       view->application == APPLICATION_UNREAD);
}

bool end_is_unclear(struct lifecycle *life, const struct view *view)
{
	bool fresh = view->checkpointing_off ||
		     (view->statistics_known &&
		      (!life->seen.statistics_ms ||
		       life->polled_ms - life->seen.statistics_ms >= STATISTICS_CACHE_MS));

	/* MUT: a job that has failed has no cause in a picture from before that */
	if (cause_may_come(life, view))
		return true;
	if (!canceled_is_unclear(view) &&
	    (view->state != JOB_FINISHED || shown_stop(view) || fresh))
		return false;
	if (!life->seen.finished_ms)
		life->seen.finished_ms = life->now_ms;
	return life->now_ms - life->seen.finished_ms < UNCLEAR_MS;
}

bool finished_by_itself(const struct view *view)
{
	return view->state == JOB_FINISHED && !shown_stop(view);
}

/* The job was stopped (`stop`) or cancelled (NULL) from outside drey. While do-not-restart is on
 * this is a suspension, also without a savepoint: then the newest retained checkpoint is the newest
 * state, and if Flink has deleted it, the next start holds. */
static void ended_outside(struct lifecycle *life, const struct seen_savepoint *stop)
{
	struct outcome *outcome = &life->journal.outcome;
	bool do_not_restart = journal_launch(&life->journal)->do_not_restart;

	outcome_set(life, OUTCOME_CANCELLED, "%s from outside drey%s%s%s",
		    stop ? "stopped" : "cancelled", stop ? ", with " : "", stop ? stop->path : "",
		    do_not_restart ? ", while do-not-restart was on" : "");
	outcome->suspended = do_not_restart;
	outcome->savepoint = stop ? xstrdup(stop->path) : NULL;
}

/* Not by a person: main() has failed after it had submitted the job. */
static bool flink_has_cancelled(const struct view *view)
{
	/* MUT: a job that Flink has cancelled is cancelled from outside drey */
	return view->state == JOB_CANCELED && (view->application == APPLICATION_FAILING ||
					       view->application == APPLICATION_FAILED);
}

void job_ended(struct lifecycle *life, const struct view *view)
{
	const struct seen_savepoint *stop = outside_stop(life, view);

	launch_end_is_known(life, journal_launch(&life->journal)->job_id);
	if (view->state == JOB_FAILED) {
		life->end_early =
			view->failure && !journal_launch(&life->journal)->verified_unix_ms;
		end_flink(life, false, true, "the job failed: %s",
			  view->failure ? view->failure : "Flink reports no cause");
		return;
	}
	if (flink_has_cancelled(view)) {
		life->end_early = !journal_launch(&life->journal)->verified_unix_ms;
		end_flink(life, false, true,
			  "the application failed, so Flink cancelled its job: %s",
			  view->failure ? view->failure : "Flink reports no cause");
		return;
	}
	if (view->state == JOB_FINISHED && !stop)
		outcome_set(life, OUTCOME_FINISHED, "the job finished");
	else
		ended_outside(life, view->state == JOB_FINISHED ? stop : NULL);
	/* record the outcome before the only witness exits */
	end_flink(life, true, false, "the job is %s: %s", job_state_name(view->state),
		  life->journal.outcome.reason);
}

void job_finished_meanwhile(struct lifecycle *life, const struct view *view)
{
	const struct launch *launch = journal_launch(&life->journal);

	if (launch->end_known || launch->mismatched ||
	    life->journal.operation.kind != OPERATION_NONE || !finished_by_itself(view) ||
	    end_is_unclear(life, view))
		return;
	launch_end_is_known(life, launch->job_id);
	outcome_set(life, OUTCOME_FINISHED, "the job finished");
	life->end_counts = false;
}

void end_job_that_runs_again(struct lifecycle *life, const struct view *view)
{
	const struct launch *launch = journal_launch(&life->journal);

	/* MUT: an answer of before the stop shows that the job runs again */
	if (life->polled_ms < life->seen.stopped_ms)
		return;
	/* MUT: a job that has ended may run again */
	if (!launch->job_ended || !view->reachable || !view->job_present ||
	    view->state == JOB_UNKNOWN || job_state_is_final(view->state))
		return;
	note(life, NOTE_WARNING,
	     "job %s has ended, and Flink has recovered it: it lost its leadership before it could store the end; killing Flink",
	     launch->job_id);
	/* MUT: a job is running whose Flink is killed because it has ended */
	if (life->phase != PHASE_STOPPING && life->phase != PHASE_TERMINATING)
		enter(life, ending_phase(life), "killing Flink, which runs a job that has ended");
	withdraw(life, EFFECT_SIGNAL);
	kill_flink(life);
}
