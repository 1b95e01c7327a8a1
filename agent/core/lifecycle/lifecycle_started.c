/*
 * What follows a launch whose intent is on record (lifecycle_launch.c): Flink is started, or is not, or fails. Failed
 * attempts are counted; then the job is started again, returned to the pod before, or parked.
 */
#include "core/lifecycle/lifecycle_started.h"

#include <string.h>

#include "base/backoff.h"
#include "base/mem.h"
#include "core/lifecycle/lifecycle_effects.h"
#include "core/lifecycle/lifecycle_end.h"
#include "core/lifecycle/lifecycle_handover_give.h"
#include "core/lifecycle/lifecycle_launch.h"
#include "core/lifecycle/lifecycle_lease.h"
#include "core/lifecycle/lifecycle_look.h"
#include "core/lifecycle/lifecycle_notice.h"
#include "core/lifecycle/lifecycle_pace.h"
#include "core/lifecycle/lifecycle_pursue.h"
#include "core/lifecycle/lifecycle_stopping.h"

/* ---- the intent is on record ---- */

void launch_written(struct lifecycle *life)
{
	struct decision decision;

	if (life->launch_step != LAUNCH_WRITING)
		return;
	/* do-not-restart may have been turned on, or the desired state changed, during the write */
	if (life->terminating || resolve_parked(&life->journal, &life->config->policy, &decision)) {
		launch_withdraw(life);
		if (life->terminating)
			leave(life);
		else
			resolve_start(life, "the launch was withdrawn");
		return;
	}
	/* the write may have taken long */
	if (!lease_leaves_time(life)) {
		launch_withdraw(life);
		launch_must_wait(life);
		return;
	}
	life->launch_step = LAUNCH_STARTING;
	pace_launched(life);
	emit(life, EFFECT_LAUNCH);
}

/* ---- Flink was started ---- */

void on_started(struct lifecycle *life, const struct event *event)
{
	struct launch *launch = journal_launch(&life->journal);

	/* what has ended does not start any more, whatever the order of the messages */
	if (!is_current_launch(life, event->process.launch_id, event->process.number) ||
	    launch->ended_unix_ms)
		return;
	launch->started_unix_ms = life->now_unix_ms;
	life->want_write = true;
	life->holds = 0;
	*life->handover.held_id = '\0';
	life->launch_step = LAUNCH_LIVE;
	memset(&life->seen, 0, sizeof(life->seen));
	if (life->fenced) { /* while Flink was starting */
		kill_flink(life);
		return;
	}
	if (life->end_wanted) { /* the container ends, and Flink was starting */
		life->end_wanted = false;
		end_flink(life, false, life->end_counts,
			  "Flink was still starting when the container had to end");
		return;
	}
	life->ready_ms = life->now_ms + life->config->ready_deadline_ms;
	life->poll_ms = life->now_ms + life->config->poll_fast_ms;
}

/* ---- it was not, or it has failed ---- */

static bool generation_is_proven(const struct journal *journal, const char *generation)
{
	for (size_t i = 0; i < journal->launch_count; i++)
		if (journal->launches[i].proven_unix_ms && journal->launches[i].generation &&
		    !strcmp(journal->launches[i].generation, generation))
			return true;
	return false;
}

/* Failed attempts in a row with this one, for the same reason, before a restore was seen: main() throws,
 * or the state does not fit. What was ended, or has run, may do better the next time. */
static int64_t count_alike(const struct lifecycle *life, const struct launch *launch,
			   const char *why)
{
	const struct journal *journal = &life->journal;

	if (!launch || !life->end_early)
		return 0;
	if (!xstris(journal->last_error, why) || journal->last_error_launch != launch->number - 1)
		return 1;
	return journal->failures_alike + 1;
}

/* A version that follows one that has run. Without one before it nothing runs meanwhile, and what main()
 * waits for may still come. */
static bool is_upgrade(const struct lifecycle *life)
{
	const char *generation = life->config->generation;

	return generation && life->journal.ever_proven &&
	       !generation_is_proven(&life->journal, generation);
}

/* ---- it has run before, and does not come to run any more ---- */

#define REPEAT_PART    4 /* of the time since when it fails */
#define REPEAT_MOST_MS INT64_C(300000)

/* The last launches in a row whose job did not run; *ret_since_unix_ms: when the first of them began. */
static int count_in_vain(const struct journal *journal, int64_t *ret_since_unix_ms)
{
	int count = 0;

	for (size_t i = journal->launch_count; i-- > 0;) {
		const struct launch *launch = &journal->launches[i];

		if (launch->never_started)
			continue;
		if (launch_has_run(launch))
			break;
		*ret_since_unix_ms = launch->intended_unix_ms;
		count++;
	}
	return count;
}

/* This version has run: what its main() waits for, or its storage, may come back at any time. Without generations
 * nothing tells it from a new one, which fails for a reason of its own. */
static bool may_come_back(const struct lifecycle *life)
{
	const char *generation = life->config->generation;

	return life->config->attempts_for_ever && generation &&
	       generation_is_proven(&life->journal, generation);
}

/* The longer it has failed, the longer the pause; a short outage is over soon. */
static void try_for_ever(struct lifecycle *life, int count, int64_t since_unix_ms, const char *why)
{
	int64_t wait_ms = (life->now_unix_ms - since_unix_ms) / REPEAT_PART;

	if (wait_ms > REPEAT_MOST_MS)
		wait_ms = REPEAT_MOST_MS;
	if (wait_ms < life->config->backoff_first_ms)
		wait_ms = life->config->backoff_first_ms;
	enter_because(
		life, PHASE_RESOLVING, CAUSE_ATTEMPTS_REPEATED,
		"attempt %d failed: %s; this version has run before, so drey tries again, in %lld s",
		count, why, (long long)((wait_ms + 999) / 1000));
	life->retry_ms = life->now_ms + wait_ms;
}

/* False: the attempts of this launch are limited, or not used up. */
static bool is_repeated(struct lifecycle *life, const struct launch *launch, int failures,
			const char *why)
{
	int64_t since_unix_ms = 0;
	int count;

	/* MUT: a version that has run before fails for good */
	if (!launch || launch_has_run(launch) || !may_come_back(life))
		return false;
	count = count_in_vain(&life->journal, &since_unix_ms);
	if (failures < life->config->max_attempts && count < life->config->max_attempts)
		return false;
	try_for_ever(life, count, since_unix_ms, why);
	return true;
}

/* It will not be tried again: "N failed attempts, the last: WHY". */
static void end_attempts(struct lifecycle *life, int failures, const char *how, const char *why)
{
	const char *generation = life->config->generation;
	struct outcome *outcome = &life->journal.outcome;

	outcome_release(outcome);
	outcome->kind = OUTCOME_FAILED;
	outcome->unix_ms = life->now_unix_ms;
	outcome->reason = xasprintf("%d failed attempts, %s: %s", failures, how, why);
	if (generation && !generation_is_proven(&life->journal, generation))
		journal_add_failed_generation(&life->journal, generation);
	resolve_start(life, why); /* parks as Failed */
}

void launch_failure(struct lifecycle *life, const char *why)
{
	const struct lifecycle_config *config = life->config;
	const struct launch *launch = journal_launch(&life->journal);
	struct journal *journal = &life->journal;
	bool proven = launch && launch->proven_unix_ms;
	int64_t wait_ms;
	int failures;

	journal->failures_alike = count_alike(life, launch, why);
	life->end_early = false;
	journal_set_error(journal, why, life->now_unix_ms);
	note(life, NOTE_WARNING, "failed attempt: %s", why);
	tell(life, NOTICE_ATTEMPT_FAILED)->text = xstrdup(why);
	if (handover_returns(life, why))
		return;
	journal_add_failure(journal, life->now_unix_ms);
	failures = journal_failures_since(journal, life->now_unix_ms - config->attempts_window_ms);
	if (is_repeated(life, launch, failures, why))
		return;
	if (failures >= config->max_attempts) {
		end_attempts(life, failures, "the last", why);
		return;
	}
	/* MUT: a version that fails alike is tried as often as any */
	if (config->same_failures && journal->failures_alike >= config->same_failures &&
	    is_upgrade(life)) {
		end_attempts(life, (int)journal->failures_alike, "all of them alike", why);
		return;
	}
	wait_ms = proven && failures == 1
			  ? 0
			  : backoff_ms(config->backoff_first_ms, config->backoff_max_ms, failures);
	if (!wait_ms) {
		resolve_start(life, why);
		return;
	}
	enter(life, PHASE_RESOLVING, "attempt %d of %d failed: %s; retrying in %lld s", failures,
	      config->max_attempts, why, (long long)((wait_ms + 999) / 1000));
	life->retry_ms = life->now_ms + wait_ms;
}

/* False: it is not the launch that is being started, or nothing more follows from it. */
static bool launch_ends_unstarted(struct lifecycle *life, const char *launch_id, int64_t number,
				  bool is_void)
{
	if (!is_current_launch(life, launch_id, number) || life->launch_step != LAUNCH_STARTING)
		return false;
	life->launch_step = LAUNCH_NONE;
	life->launch_void = is_void;
	life->end_wanted = false;
	launch_never_started(life, journal_launch(&life->journal));
	if (life->terminating)
		leave(life);
	return !life->terminating && !life->fenced;
}

void on_launch_failed(struct lifecycle *life, const struct event *event)
{
	if (!launch_ends_unstarted(life, event->process.launch_id, event->process.number, false))
		return;
	if (event->process.shortcut)
		resolve_start(life, event->process.error);
	else
		launch_failure(life, event->process.error);
}

void launch_refused(struct lifecycle *life, const struct event *event)
{
	if (!launch_ends_unstarted(life, event->refused.launch_id, 0, true))
		return;
	look_again(life);
	enter_because(life, PHASE_HOLDING, event->refused.cause, "%s", event->refused.why);
}
