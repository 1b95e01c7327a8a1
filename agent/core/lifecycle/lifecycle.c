#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/lifecycle/lifecycle.h"
#include "core/lifecycle/lifecycle_adopt.h"
#include "core/lifecycle/lifecycle_asks.h"
#include "core/lifecycle/lifecycle_control.h"
#include "core/lifecycle/lifecycle_exited.h"
#include "core/lifecycle/lifecycle_fence.h"
#include "core/lifecycle/lifecycle_halt.h"
#include "core/lifecycle/lifecycle_handover.h"
#include "core/lifecycle/lifecycle_handover_events.h"
#include "core/lifecycle/lifecycle_lease.h"
#include "core/lifecycle/lifecycle_notice.h"
#include "core/lifecycle/lifecycle_observed.h"
#include "core/lifecycle/lifecycle_outside.h"
#include "core/lifecycle/lifecycle_pace.h"
#include "core/lifecycle/lifecycle_pursue.h"
#include "core/lifecycle/lifecycle_recorded.h"
#include "core/lifecycle/lifecycle_rescale.h"
#include "core/lifecycle/lifecycle_review.h"
#include "core/lifecycle/lifecycle_settle.h"
#include "core/lifecycle/lifecycle_signs.h"
#include "core/lifecycle/lifecycle_started.h"
#include "core/lifecycle/lifecycle_state.h"
#include "core/lifecycle/lifecycle_stop_failed.h"
#include "core/lifecycle/lifecycle_stopping.h"
#include "core/lifecycle/lifecycle_timers.h"
#include "core/lifecycle/lifecycle_transition_gates.h"
#include "core/lifecycle/lifecycle_view.h"

/* ---- one step ---- */

static void dispatch(struct lifecycle *life, const struct event *event)
{
	switch (event->type) {
	case EVENT_HELLO:
		handover_begin(life, event);
		adopt(life, event);
		if (event->hello.stopping)
			on_stopping(life, event->hello.grace_left_ms, event->hello.upgrade);
		break;
	case EVENT_TICK:
		on_tick(life);
		break;
	case EVENT_OBSERVED:
		on_observed(life, event);
		break;
	case EVENT_JOURNAL_WRITTEN:
		on_journal_written(life, event);
		break;
	case EVENT_JOURNAL_FAILED:
		on_journal_failed(life, event);
		break;
	case EVENT_JOURNAL_SEEN:
		on_journal_seen(life, event);
		break;
	case EVENT_STARTED:
		on_started(life, event);
		break;
	case EVENT_LAUNCH_FAILED:
		on_launch_failed(life, event);
		break;
	case EVENT_REFUSED:
		on_refused(life, event);
		break;
	case EVENT_EXITED:
		on_exited(life, event);
		break;
	case EVENT_VIEW:
		on_view(life, event);
		break;
	case EVENT_OPERATION:
		operation_told(life, event);
		on_answer(life, event);
		break;
	case EVENT_DISPOSED:
	case EVENT_INSPECTED:
	case EVENT_CHECKPOINT:
	case EVENT_RESCALED:
		on_answer(life, event);
		break;
	case EVENT_CONTROL:
		/* MUT: a job in the shadow follows what people request of the owner */
		if (!life->config->handover.shadow)
			on_control(life, event);
		break;
	case EVENT_STOPPING:
		on_stopping(life, event->stopping.grace_left_ms, event->stopping.upgrade);
		break;
	case EVENT_CANDIDATE:
		on_candidate(life, event);
		break;
	case EVENT_LEASE:
		on_lease(life, event);
		break;
	case EVENT_GATE:
		on_gate(life, event);
		break;
	case EVENT_GATE_KEYS:
		on_gate_keys(life, event);
		break;
	case EVENT_SIGNS:
		on_signs(life, event);
		break;
	case EVENT_COUNT:
		break;
	}
}

static void decide(struct lifecycle *life, const struct event *event, const struct standing *before)
{
	dispatch(life, event);
	if (life->terminating && !life->foreign)
		stopping_pursue(life);
	if (!handover_stepped(life))
		pursue_desired(life);
	review_give_way(life);
	watch_do_not_restart(life);
	tell_changes(life, event, before);
	flush_journal(life);
	transition_tell_gates(life);
	watch_journal(life);
	pace_effects(life);
	asks_plan(life);
	life->contradiction = lifecycle_check(life);
	if (life->contradiction)
		halt(life, event, before);
}

void lifecycle_step(struct lifecycle *life, const struct event *event, int64_t now_ms,
		    int64_t now_unix_ms, struct effects *ret_effects)
{
	struct standing before;

	life->now_ms = now_ms;
	life->now_unix_ms = now_unix_ms;
	life->out = ret_effects;
	before = standing(life, event);
	if (life->contradiction)
		halted_step(life, event, &before);
	else
		decide(life, event, &before);
	life->out = NULL;
}

void lifecycle_init(struct lifecycle *life, const struct lifecycle_config *config,
		    struct journal *journal, const struct rng *rng)
{
	memset(life, 0, sizeof(*life));
	life->own = xcalloc(1, sizeof(*life->own));
	life->config = config;
	life->journal = *journal;
	memset(journal, 0, sizeof(*journal));
	life->rng = *rng;
	life->phase = PHASE_RESOLVING;
	snprintf(life->reason, sizeof(life->reason), "drey starts");
	life->own->ended = end_on_record(&life->journal);
	life->requested = life->acknowledged = life->journal.sequence;
	/* drey 0.1.0 did not record where to find the savepoint of an operation */
	if (!life->journal.operation.directory && life->journal.operation.path &&
	    xstrsame(life->journal.operation.path, config->savepoint_dir) &&
	    !xstrsame(config->savepoint_dir, config->listed_savepoint_dir))
		life->journal.operation.directory = xstrdup(config->listed_savepoint_dir);
	if (journal_launch(&life->journal))
		life->noted_checkpoint_id = journal_launch(&life->journal)->last_checkpoint_id;
}

void lifecycle_init_unread(struct lifecycle *life, const struct lifecycle_config *config,
			   const char *application, const char *why)
{
	struct journal journal;
	struct rng rng = {0};

	journal_init(&journal, application);
	lifecycle_init(life, config, &journal, &rng);
	life->phase = PHASE_HOLDING;
	life->cause = CAUSE_JOURNAL_UNREADABLE;
	life->journal_broken = true;
	xstrset(&life->journal_error, why);
	snprintf(life->reason, sizeof(life->reason),
		 "the journal cannot be read, nothing is started until it can: %.440s", why);
}

void lifecycle_init_standing(struct lifecycle *life, const struct lifecycle_config *config,
			     const char *application, enum phase phase, enum cause cause,
			     const char *why)
{
	struct journal journal;
	struct rng rng = {0};

	journal_init(&journal, application);
	lifecycle_init(life, config, &journal, &rng);
	life->phase = phase;
	life->cause = cause;
	snprintf(life->reason, sizeof(life->reason), "%s", why);
}

void lifecycle_release(struct lifecycle *life)
{
	if (!life || !life->own)
		return;
	journal_release(&life->journal);
	handover_release_seen(life);
	rescale_forget(life);
	effects_clear(&life->deferred);
	effects_clear(&life->postponed);
	free(life->end_reason);
	free(life->keeper_unread);
	asks_forget(life);
	free(life->stop_location);
	free(life->own->stop_error);
	free(life->operation_error);
	free(life->ended_restart);
	last_resort_forget(life);
	review_forget(life);
	free(life->journal_error);
	free(life->own);
	memset(life, 0, sizeof(*life));
}
