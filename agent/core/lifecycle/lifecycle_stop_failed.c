/*
 * A suspend or a restart was requested, its stop with savepoint has failed, and the job runs. The stop is
 * repeated: as long as the request is in force, or a number of times. What follows then is configured: the
 * job runs on, or it is ended without a savepoint, as a last resort.
 *
 * That repeats the work since the newest checkpoint, so there must be one from which the next start will continue, and it is
 * read as a whole while the job still runs: what is missing from it is known before anything is lost. The job completes
 * checkpoints meanwhile, and Flink deletes the older ones. So Flink is asked first which one is the newest, and once more
 * if that one could not be read.
 *
 * Not for the stops of a container that ends, which have only its grace period, and those of a hand-over,
 * which counts its own tries.
 */
#include "core/lifecycle/lifecycle_stop_failed.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "core/lifecycle/lifecycle_asks.h"
#include "core/lifecycle/lifecycle_blockers.h"
#include "core/lifecycle/lifecycle_effects.h"
#include "core/lifecycle/lifecycle_end.h"
#include "core/lifecycle/lifecycle_facts.h"
#include "core/lifecycle/lifecycle_look.h"
#include "core/lifecycle/lifecycle_state.h"

static void stop_again(struct lifecycle *life, const char *why)
{
	const struct lifecycle_config *config = life->config;

	life->stop_retry_ms = life->now_ms + config->stop_retry_ms;
	enter_because(life, PHASE_RUNNING, CAUSE_STOP_FAILED,
		      "the stop failed and the job continues: %s; retrying in %lld s", why,
		      (long long)(config->stop_retry_ms / 1000));
}

/* ---- the last resort: it is ended without a savepoint ---- */

void last_resort_forget(struct lifecycle *life)
{
	free(life->own->last_resort.nonce);
	free(life->own->last_resort.why);
	free(life->own->last_resort.checkpoint);
	free(life->own->last_resort.unread);
	memset(&life->own->last_resort, 0, sizeof(life->own->last_resort));
	ask_enter(&life->newest, STEP_NONE);
}

/* Why the job must not be ended without a savepoint; NULL = it may. */
static const char *needs_savepoint(const struct lifecycle *life, enum operation_reason reason)
{
	const char *why = checkpoint_excluded(life);

	if (!why && reason == REASON_RESTART && life->journal.intent.do_not_restart)
		why = "do-not-restart is on";
	return why;
}

/* The job runs on, and its stop with savepoint is tried once more. */
static void keep_job(struct lifecycle *life, const char *needed)
{
	char *text = xasprintf("%s; it is not ended without a savepoint, because %s",
			       life->own->last_resort.why, needed);

	last_resort_forget(life);
	stop_again(life, text);
	free(text);
}

/* The next start finds the newest state, as after any end of Flink. */
static void end_without_savepoint(struct lifecycle *life)
{
	enum operation_reason reason = life->own->last_resort.reason;
	const struct launch *launch = journal_launch_const(&life->journal);
	int64_t age_ms = life->now_unix_ms - launch->last_checkpoint_unix_ms;
	char age[CLOCK_TEXT_BYTES];
	char *error = xasprintf(
		"%s without a savepoint after %" PRId64
		" failed stops: %s; the job continues from its newest checkpoint, %s (checkpoint id %" PRId64
		", %s old), and repeats the work since then",
		operation_reason_name(reason), life->own->stop_failures, life->own->last_resort.why,
		launch->last_checkpoint_path, launch->last_checkpoint_id,
		clock_human(age_ms > 0 ? age_ms : 0, age));

	/* a new agent that finds Flink alive tries again: so the restart is done when Flink is dead */
	if (reason == REASON_RESTART)
		xstrset(&life->ended_restart, life->own->last_resort.nonce);
	else
		life->ends_to_suspend = true;
	life->own->stop_failures = 0;
	journal_set_error(&life->journal, error, life->now_unix_ms);
	note(life, NOTE_WARNING, "%s", error);
	end_flink(life, true, false, "%s", error);
	free(error);
	last_resort_forget(life);
}

/* A poll that begins now tells which checkpoint is the newest. */
static void ask_newest(struct lifecycle *life)
{
	life->own->last_resort.step = LAST_RESORT_LOOKS;
	life->own->last_resort.since_ms = life->now_ms;
	poll_now(life);
}

static void last_resort_begin(struct lifecycle *life, enum operation_reason reason,
			      const char *nonce, const char *why)
{
	last_resort_forget(life);
	life->own->last_resort.reason = reason;
	life->own->last_resort.nonce = xstrdup(nonce);
	life->own->last_resort.why = xstrdup(why);
	enter_because(
		life, PHASE_RUNNING, CAUSE_STOP_FAILED,
		"the stop failed and the job continues: %s; drey reads its newest checkpoint, "
		"then ends it without a savepoint",
		why);
	ask_newest(life);
}

/* Something else has begun meanwhile, or the job is not what it was. */
static bool is_obsolete(struct lifecycle *life)
{
	if (!blockers(life, BEGIN_LAST_RESORT))
		return false;
	last_resort_forget(life);
	return true;
}

void last_resort_viewed(struct lifecycle *life)
{
	const struct launch *launch = journal_launch_const(&life->journal);
	const char *needed;

	if (life->own->last_resort.step != LAST_RESORT_LOOKS || is_obsolete(life))
		return;
	if (life->polled_ms < life->own->last_resort.since_ms) { /* that poll began before */
		poll_now(life);
		return;
	}
	needed = needs_savepoint(life, life->own->last_resort.reason);
	/* MUT: a job is ended without anything to continue from */
	if (needed) {
		keep_job(life, needed);
		return;
	}
	if (xstrsame(life->own->last_resort.checkpoint, launch->last_checkpoint_path)) {
		keep_job(life, life->own->last_resort.unread);
		return;
	}
	xstrset(&life->own->last_resort.checkpoint, launch->last_checkpoint_path);
	life->own->last_resort.step = LAST_RESORT_READS;
	ask_begin(life, ASK_NEWEST, NULL, launch->last_checkpoint_path);
}

void last_resort_read(struct lifecycle *life, const struct event *event)
{
	const char *path = event->inspected.path, *error = event->inspected.error;
	bool once_more = !life->own->last_resort.unread;

	if (is_obsolete(life))
		return;
	/* MUT: a job is ended without a savepoint although its newest checkpoint cannot be read */
	if (event->inspected.readable && event->inspected.complete) {
		end_without_savepoint(life);
		return;
	}
	free(life->own->last_resort.unread);
	life->own->last_resort.unread =
		xasprintf("its newest checkpoint %s %s: %s", path,
			  event->inspected.readable ? "is damaged" : "cannot be read",
			  error ? error : "no detail");
	if (once_more)
		ask_newest(life);
	else
		keep_job(life, life->own->last_resort.unread);
}

/* ---- it has failed ---- */

static void give_up_stop(struct lifecycle *life, enum operation_reason reason, const char *nonce,
			 const char *why)
{
	char *error = xasprintf("gave up the %s after %" PRId64 " failed stops, and the job runs "
				"on: %s",
				operation_reason_name(reason), life->own->stop_failures, why);

	if (reason == REASON_SUSPEND)
		life->journal.intent.state = DESIRED_RUNNING;
	else /* a later request stays */
		xstrset(&life->journal.restart_nonce_done, nonce);
	life->own->stop_failures = 0;
	life->want_write = true;
	journal_set_error(&life->journal, error, life->now_unix_ms);
	enter_because(life, PHASE_RUNNING, CAUSE_STOP_FAILED,
		      "%s; fix the cause and request it again", error);
	free(error);
}

void stop_withdrawn(struct lifecycle *life)
{
	last_resort_forget(life);
	if (!life->ends_to_suspend || life->journal.intent.state != DESIRED_RUNNING ||
	    life->terminating || !withdraw(life, EFFECT_SIGNAL))
		return;
	life->ends_to_suspend = life->end_wanted = false;
	xstrset(&life->end_reason, NULL);
	enter(life, PHASE_RUNNING, "the job continues, and no stop is requested any more");
}

void stop_flink_gone(struct lifecycle *life)
{
	life->ends_to_suspend = false;
	if (!life->ended_restart)
		return;
	xstrset(&life->journal.restart_nonce_done, life->ended_restart);
	xstrset(&life->ended_restart, NULL);
	life->want_write = true;
}

void stop_failed(struct lifecycle *life, enum operation_reason reason, const char *nonce,
		 const char *why)
{
	const struct lifecycle_config *config = life->config;

	if ((reason != REASON_SUSPEND && reason != REASON_RESTART) ||
	    config->on_stop_failure == STOP_FAILURE_RETRY ||
	    ++life->own->stop_failures <= config->stop_retries) {
		stop_again(life, why);
		return;
	}
	if (config->on_stop_failure == STOP_FAILURE_KEEP_RUNNING)
		give_up_stop(life, reason, nonce, why);
	else
		last_resort_begin(life, reason, nonce, why);
}
