/*
 * A suspend or a restart was requested, its stop with savepoint has failed, and the job runs. The stop is
 * repeated: as long as the request is in force, or a number of times. What follows then is configured: the
 * job runs on, or it is ended without a savepoint (lifecycle_last_resort.c).
 *
 * Not for the stops of a container that ends, which have only its grace period, and those of a hand-over,
 * which counts its own tries.
 */
#include "core/lifecycle/lifecycle_stop_failed.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "core/lifecycle/lifecycle_effects.h"
#include "core/lifecycle/lifecycle_last_resort.h"

void stop_again(struct lifecycle *life, const char *why)
{
	const struct lifecycle_config *config = life->config;

	life->stop_retry_ms = life->now_ms + config->stop_retry_ms;
	enter_because(life, PHASE_RUNNING, CAUSE_STOP_FAILED,
		      "the stop failed and the job continues: %s; retrying in %lld s", why,
		      (long long)(config->stop_retry_ms / 1000));
}

static void give_up_stop(struct lifecycle *life, enum operation_reason reason, const char *nonce,
			 const char *why)
{
	char *error = xasprintf("gave up the %s after %" PRId64 " failed stops, and the job runs "
				"on: %s",
				operation_reason_name(reason), life->stop_failures, why);

	if (reason == REASON_SUSPEND)
		life->journal.intent.state = DESIRED_RUNNING;
	else /* a later request stays */
		xstrset(&life->journal.restart_nonce_done, nonce);
	life->stop_failures = 0;
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
	    ++life->stop_failures <= config->stop_retries) {
		stop_again(life, why);
		return;
	}
	if (config->on_stop_failure == STOP_FAILURE_KEEP_RUNNING)
		give_up_stop(life, reason, nonce, why);
	else
		last_resort_begin(life, reason, nonce, why);
}
