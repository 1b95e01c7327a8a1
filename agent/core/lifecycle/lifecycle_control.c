/*
 * A request that changes the desired state, of a person or of a control input. It is recorded, and lifecycle_pursue.c
 * carries it out.
 */
#include "core/lifecycle/lifecycle_control.h"

#include <string.h>

#include "base/mem.h"
#include "core/lifecycle/lifecycle_effects.h"
#include "core/lifecycle/lifecycle_handover_state.h"
#include "core/lifecycle/lifecycle_launch.h"
#include "core/lifecycle/lifecycle_look.h"
#include "core/lifecycle/lifecycle_loss.h"
#include "core/lifecycle/lifecycle_pursue.h"
#include "core/lifecycle/lifecycle_rescale.h"
#include "core/lifecycle/lifecycle_state.h"
#include "core/lifecycle/lifecycle_stop_failed.h"
#include "core/lifecycle/lifecycle_transition_wishes.h"

/* A repeated request is not a new one, and a request that was there at the first reading may be of
 * any age. Dating one now that was carried out long ago would mean that its author knew its
 * consequences. */
static void date_restore(struct restore_request *restore, const struct restore_request *wanted,
			 unsigned fields, int64_t now_unix_ms)
{
	if (restore->kind != RESTORE_NONE && restore->token && wanted->token &&
	    !strcmp(restore->token, wanted->token))
		return;
	restore->asked_unix_ms = fields & CONTROL_STANDING ? 0 : now_unix_ms;
	restore->read_back = false;
}

static void take_intent(struct journal *journal, const struct intent *wanted, unsigned fields,
			int64_t now_unix_ms)
{
	struct intent *intent = &journal->intent;

	if (fields & CONTROL_STATE)
		intent->state = wanted->state;
	if (fields & CONTROL_DO_NOT_RESTART)
		intent->do_not_restart = wanted->do_not_restart;
	if ((fields & CONTROL_SAVEPOINT) && wanted->savepoint_nonce)
		journal_ask_savepoint(journal, wanted->savepoint_nonce);
	if (fields & CONTROL_RESTART)
		xstrset(&intent->restart_nonce, wanted->restart_nonce);
	if (fields & CONTROL_RESTORE) {
		date_restore(&intent->restore, &wanted->restore, fields, now_unix_ms);
		intent->restore.kind = wanted->restore.kind;
		intent->restore.allow_non_restored = wanted->restore.allow_non_restored;
		intent->restore.foreign = wanted->restore.foreign;
		xstrset(&intent->restore.token, wanted->restore.token);
		xstrset(&intent->restore.path, wanted->restore.path);
		xstrset(&intent->restore.generation, wanted->restore.generation);
	}
}

/* A restore request applies to the next launch. While a job runs and is not being stopped, the next
 * launch may be a recovery some days later, which would then unexpectedly go back. */
bool lifecycle_refuses_restore(const struct lifecycle *life)
{
	return life->launch_step > LAUNCH_WRITING &&
	       (life->phase == PHASE_RUNNING || life->phase == PHASE_LAUNCHING) &&
	       life->journal.intent.state == DESIRED_RUNNING;
}

/* A new request replaces the previous one, and a launch request without a restore withdraws it:
 * else one that cannot be carried out would hold forever. A rejected one changes nothing. */
static bool gives_up_restore(const struct journal *journal, const struct event *event,
			     unsigned fields)
{
	if (fields & CONTROL_RESTORE)
		return !xstrsame(event->control.intent.restore.token,
				 journal->intent.restore.token);
	return (fields & CONTROL_NEW_START) && !(event->control.fields & CONTROL_RESTORE);
}

void on_control(struct lifecycle *life, const struct event *event)
{
	unsigned fields = event->control.fields;

	/* MUT: a restore request is accepted while the job runs */
	if ((fields & CONTROL_RESTORE) && lifecycle_refuses_restore(life)) {
		fields &= ~(unsigned)CONTROL_RESTORE;
		note(life, NOTE_WARNING,
		     "restore request rejected while the job is running: suspend or cancel first");
	}
	if ((fields & CONTROL_DO_NOT_RESTART) && !event->control.intent.do_not_restart)
		life->own->lifted_ms = life->now_ms;
	if (!transition_keeps_restore(life, fields) &&
	    gives_up_restore(&life->journal, event, fields))
		journal_give_up_restore(&life->journal, life->config->generation);
	take_intent(&life->journal, &event->control.intent, fields, life->now_unix_ms);
	if ((fields & CONTROL_CHECKPOINT) && event->control.checkpoint_nonce)
		journal_ask_checkpoint(&life->journal, event->control.checkpoint_nonce,
				       event->control.checkpoint_full);
	if (fields & CONTROL_PARALLELISM)
		rescale_take(life, &event->control.intent.parallelism);
	transition_wished(life, event);
	if (fields & CONTROL_ACKNOWLEDGE)
		loss_acknowledge(life, event->control.acknowledge_nonce);
	if (fields & CONTROL_NEW_START) {
		outcome_release(&life->journal.outcome);
		life->journal.failure_count = 0;
		life->journal.failures_alike = 0;
		journal_forgive_generation(&life->journal, life->config->generation);
		handover_forgive(life);
	}
	/* a launch whose record is still being written waits until this is recorded, too */
	for (size_t i = 0; i < life->deferred.count; i++)
		if (life->deferred.list[i].type == EFFECT_LAUNCH)
			life->deferred.list[i].sequence = 0;
	if ((fields & CONTROL_RESTORE) && life->launch_step == LAUNCH_WRITING) {
		launch_withdraw(life); /* it would start from something else */
		resolve_start(life, "the desired state has changed");
	}
	if (life->cause == CAUSE_STOP_FAILED && life->journal.intent.state == DESIRED_RUNNING &&
	    !journal_restart_wanted(&life->journal))
		enter(life, life->phase, "the job continues, and no stop is requested any more");
	if (fields & (CONTROL_STATE | CONTROL_RESTART))
		life->own->stop_failures = 0;
	stop_withdrawn(life);
	/* a person does not wait for a backoff */
	life->stop_retry_ms = life->savepoint_retry_ms = 0;
	life->want_write = true;
	if (life->observing)
		life->observe_again = true;
	look_now(life);
}
