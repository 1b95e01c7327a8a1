/* The end of Flink: SIGTERM, and SIGKILL when that does not help or must not be. What follows is lifecycle_exited.c. */
#include "core/lifecycle/lifecycle_end.h"

#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/lifecycle/lifecycle_effects.h"
#include "core/lifecycle/lifecycle_facts.h"

/* The job ends by its stop, whose savepoint needs no checkpoint. */
static bool is_saved(const struct lifecycle *life)
{
	return stop_is_reported(life) && !life->operation_error;
}

void end_signal_goes_out(struct lifecycle *life, struct effect *effect)
{
	/* MUT: a signal that waited for the journal is the one that was right before */
	if (effect->signo == SIGTERM && signal_deletes_checkpoints(life) && !is_saved(life)) {
		effect->signo = SIGKILL;
		effect->group = true;
		note(life, NOTE_WARNING,
		     "Flink is killed and gets no SIGTERM: the code of the job has set that Flink deletes its checkpoints when it shuts down");
	}
	life->kill_ms = life->now_ms + life->config->kill_after_ms;
}

static void send_term(struct lifecycle *life, bool after_write)
{
	struct effect *effect =
		after_write ? emit_after_write(life, EFFECT_SIGNAL) : emit(life, EFFECT_SIGNAL);

	memcpy(effect->id, journal_launch(&life->journal)->job_id, JOB_ID_BYTES);
	effect->signo = SIGTERM;
	if (after_write)
		return;
	end_signal_goes_out(life, effect);
	life->clean_ms = 0;
}

void terminate_flink(struct lifecycle *life)
{
	send_term(life, false);
}

void kill_flink(struct lifecycle *life)
{
	struct effect *effect = emit(life, EFFECT_SIGNAL);

	memcpy(effect->id,
	       life->foreign ? life->foreign_id : journal_launch(&life->journal)->job_id,
	       JOB_ID_BYTES);
	effect->signo = SIGKILL;
	effect->group = true;
	life->kill_ms = life->now_ms + life->config->kill_after_ms;
	life->clean_ms = 0;
	life->end_wanted = true;
}

/* How a job has ended that was not stopped with a savepoint, only Flink can tell; and without HA data it recovers no job. */
void end_flink_unrecorded(struct lifecycle *life)
{
	if (!life->end_wanted || life->operation.step != STEP_ENDING || !life->stop_location ||
	    life->journal.operation.kind != OPERATION_STOP ||
	    !journal_launch_const(&life->journal)->ha_cluster_id)
		return;
	/* MUT: a Flink whose job has stopped waits for the journal for ever */
	if (!withdraw(life, EFFECT_SIGNAL))
		return;
	note(life, NOTE_WARNING,
	     "the job has stopped, and that cannot be recorded now: killing Flink, before it runs the job again");
	kill_flink(life);
}

/* Takes ownership of `reason`. */
static void end_with(struct lifecycle *life, bool after_write, bool counts, enum cause cause,
		     char *reason)
{
	enter_because(life, ending_phase(life), cause, "%s", reason ? reason : "ending Flink");
	if (!life->end_wanted) {
		free(life->end_reason);
		life->end_reason = reason;
		reason = NULL;
		life->end_counts = counts;
		life->end_wanted = true;
		if (life->launch_step == LAUNCH_LIVE)
			send_term(life, after_write);
	} else if (!after_write && (withdraw(life, EFFECT_SIGNAL) || life->clean_ms)) {
		send_term(life, false);
	}
	free(reason);
	life->ready_ms = 0;
}

void end_flink(struct lifecycle *life, bool after_write, bool counts, const char *fmt, ...)
{
	va_list ap;
	char *reason;

	va_start(ap, fmt);
	reason = xvasprintf(fmt, ap);
	va_end(ap);
	end_with(life, after_write, counts, CAUSE_NONE, reason);
}

void end_flink_because(struct lifecycle *life, enum cause cause, const char *fmt, ...)
{
	va_list ap;
	char *reason;

	va_start(ap, fmt);
	reason = xvasprintf(fmt, ap);
	va_end(ap);
	end_with(life, false, true, cause, reason);
}
