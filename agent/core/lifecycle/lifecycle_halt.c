/*
 * The machine contradicts itself (lifecycle_check()): that is a bug, and its next decision could be
 * any. It decides nothing more: Flink stays as it is, and drey-init stops it as if the agent had died.
 * The journal keeps what was written before, so the next agent starts from a state without the
 * contradiction.
 */
#include "core/lifecycle/lifecycle_halt.h"

#include "core/lifecycle/lifecycle_effects.h"
#include "core/lifecycle/lifecycle_fence.h"
#include "core/lifecycle/lifecycle_notice.h"

/* No action may result from the step that went wrong; its messages remain. */
static void keep_notes(struct effects *effects)
{
	for (size_t i = effects->count; i-- > 0;)
		if (effects->list[i].type != EFFECT_NOTE)
			effects_remove(effects, i);
}

void halt(struct lifecycle *life, const struct event *event, const struct standing *before)
{
	keep_notes(life->out);
	effects_clear(&life->deferred);
	effects_clear(&life->postponed);
	enter_because(
		life, PHASE_HOLDING, CAUSE_INTERNAL_ERROR,
		"drey contradicts itself after the event '%s' in phase %s: %s; it decides nothing more until it is restarted, and Flink stays as it is",
		event_type_name(event->type), phase_name(before->phase), life->contradiction);
	life->out->list[life->out->count - 1].level = NOTE_ERROR;
	tell_changes(life, event, before);
}

void halted_step(struct lifecycle *life, const struct event *event, const struct standing *before)
{
	switch (event->type) {
	case EVENT_TICK:
		if (life->check_ms && life->now_ms >= life->check_ms) {
			life->check_ms = 0;
			check_journal(life);
		}
		break;
	case EVENT_JOURNAL_SEEN:
		life->checking = false;
		if (!event->journal.unknown && !event->journal.lost)
			journal_is_ours(life, life->check_sent_ms);
		break;
	case EVENT_JOURNAL_FAILED:
		if (event->journal.conflict)
			fence(life, event->journal.error);
		break;
	case EVENT_EXITED:
		life->launch_step = LAUNCH_NONE;
		break;
	case EVENT_STOPPING:
		life->terminating = true;
		break;
	default:
		break;
	}
	tell_changes(life, event, before);
	watch_journal(life);
}

bool lifecycle_is_inert(const struct lifecycle *life)
{
	return life->fenced || life->contradiction;
}
