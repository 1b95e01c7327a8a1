#include "core/lifecycle/lifecycle_effects.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/backoff.h"
#include "base/mem.h"
#include "core/lifecycle/lifecycle_cleanup.h"
#include "core/lifecycle/lifecycle_end.h"
#include "core/lifecycle/lifecycle_fence.h"
#include "core/lifecycle/lifecycle_handover.h"
#include "core/lifecycle/lifecycle_handover_state.h"
#include "core/lifecycle/lifecycle_launch.h"
#include "core/lifecycle/lifecycle_operation.h"
#include "core/lifecycle/lifecycle_view.h"

#define JOURNAL_RETRY_FIRST_MS 1000
#define JOURNAL_RETRY_MAX_MS   30000

/* ---- effects ---- */

static struct effect *append(struct effects *effects, enum effect_type type)
{
	struct effect *effect;

	/* The longest step needs about a third of the room; running out is a bug, not a state. */
	if (effects->count == LIFECYCLE_MAX_EFFECTS)
		abort();
	effect = &effects->list[effects->count++];
	*effect = (struct effect){.type = type};
	return effect;
}

struct effect *emit(struct lifecycle *life, enum effect_type type)
{
	return append(life->out, type);
}

const struct effect *find_deferred(const struct lifecycle *life, enum effect_type type)
{
	for (size_t i = 0; i < life->deferred.count; i++)
		if (life->deferred.list[i].type == type)
			return &life->deferred.list[i];
	return NULL;
}

struct effect *emit_after_write(struct lifecycle *life, enum effect_type type)
{
	life->want_write = true;
	return append(&life->deferred, type);
}

void effects_remove(struct effects *effects, size_t index)
{
	free(effects->list[index].text);
	notice_release(&effects->list[index].notice);
	effects->count--;
	memmove(&effects->list[index], &effects->list[index + 1],
		(effects->count - index) * sizeof(effects->list[0]));
}

void effects_move(struct effects *from, size_t index, struct effects *to)
{
	struct effect *effect = &from->list[index];

	*append(to, effect->type) = *effect;
	effect->text = NULL;
	effect->notice = (struct notice){0};
	effects_remove(from, index);
}

bool withdraw(struct lifecycle *life, enum effect_type type)
{
	size_t before = life->deferred.count;

	for (size_t i = life->deferred.count; i-- > 0;)
		if (life->deferred.list[i].type == type)
			effects_remove(&life->deferred, i);
	return life->deferred.count != before;
}

void effects_clear(struct effects *effects)
{
	while (effects->count)
		effects_remove(effects, effects->count - 1);
}

/* Release, in order, the effects that waited for the journal write that was just acknowledged. */
static void release_deferred(struct lifecycle *life)
{
	for (size_t i = 0; i < life->deferred.count;) {
		struct effect *effect = &life->deferred.list[i];

		if (!effect->sequence || effect->sequence > life->acknowledged) {
			i++;
			continue;
		}
		if (effect->type == EFFECT_LAUNCH) {
			effects_remove(&life->deferred, i);
			launch_written(life);
			continue;
		}
		/* MUT: the end of Flink does not wait for its cleanup */
		if (effect->type == EFFECT_SIGNAL && cleanup_begin(life)) {
			effects_remove(&life->deferred, i);
			continue;
		}
		if (effect->type == EFFECT_TRIGGER)
			operation_sent(life);
		if (effect->type == EFFECT_SIGNAL)
			life->kill_ms = life->now_ms + life->config->kill_after_ms;
		if (effect->type == EFFECT_EXIT) {
			life->left = true;
			life->exit_ms = 0;
		}
		effects_move(&life->deferred, i, life->out);
	}
}

bool lifecycle_awaits(const struct lifecycle *life, enum effect_type effect, const char *id)
{
	if (life->contradiction) /* also for what was emitted before it was found */
		return false;
	if (effect == EFFECT_OBSERVE)
		return life->observing;
	if (effect == EFFECT_LAUNCH)
		return life->launch_step == LAUNCH_STARTING;
	if (effect == EFFECT_TRIGGER)
		return life->asking && !strcmp(life->journal.operation.trigger_id, id);
	return true;
}

void note(struct lifecycle *life, enum note_level level, const char *fmt, ...)
{
	struct effect *effect = emit(life, EFFECT_NOTE);
	va_list ap;

	effect->level = level;
	va_start(ap, fmt);
	effect->text = xvasprintf(fmt, ap);
	va_end(ap);
}

static void become(struct lifecycle *life, enum phase phase, enum cause cause, const char *fmt,
		   va_list ap)
{
	enum note_level level = NOTE_INFO;
	char reason[sizeof(life->reason)];
	char line[sizeof(reason) + 64];

	vsnprintf(reason, sizeof(reason), fmt, ap);
	life->cause = cause;
	if (life->phase == phase && !strcmp(life->reason, reason))
		return;
	memcpy(life->reason, reason, sizeof(reason));
	life->phase = phase;
	xstrset(&life->journal.phase, phase_name(phase));
	snprintf(line, sizeof(line), "%s: %s", phase_name(phase), reason);
	journal_add_log(&life->journal, life->now_unix_ms, line);
	if (phase == PHASE_HOLDING)
		level = NOTE_WARNING;
	if (phase == PHASE_FAILED)
		level = NOTE_ERROR;
	note(life, level, "%s", line);
	life->out->list[life->out->count - 1].cause = cause;
	life->want_write = true;
}

void enter(struct lifecycle *life, enum phase phase, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	become(life, phase, CAUSE_NONE, fmt, ap);
	va_end(ap);
}

void enter_because(struct lifecycle *life, enum phase phase, enum cause cause, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	become(life, phase, cause, fmt, ap);
	va_end(ap);
}

/* ---- the journal ---- */

bool lifecycle_is_durable(const struct lifecycle *life)
{
	return !life->want_write && life->requested == life->acknowledged;
}

/* One write at a time; changes made meanwhile go into the next one. */
void flush_journal(struct lifecycle *life)
{
	if (!life->want_write || life->fenced || life->requested != life->acknowledged ||
	    life->journal_retry_ms || !handover_may_write(life))
		return;
	life->want_write = false;
	life->requested = ++life->journal.sequence;
	life->write_sent_ms = life->now_ms;
	checkpoint_noted(life);
	for (size_t i = 0; i < life->deferred.count; i++)
		if (!life->deferred.list[i].sequence)
			life->deferred.list[i].sequence = life->requested;
	emit(life, EFFECT_WRITE_JOURNAL)->sequence = life->requested;
}

void on_journal_written(struct lifecycle *life, const struct event *event)
{
	if (event->journal.sequence != life->requested)
		return; /* a late answer to an abandoned write */
	life->acknowledged = life->requested;
	life->has_written = true;
	if (life->journal_broken)
		note(life, NOTE_INFO, "the journal is writable again");
	life->journal_broken = false;
	xstrset(&life->journal_error, NULL);
	life->journal_failures = 0;
	journal_is_ours(life, life->write_sent_ms); /* it proves that no other drey has written */
	if (life->takeover_pending)
		life->takeover_ms = life->now_ms + handover_takeover_ms(life);
	life->takeover_pending = false;
	life->check_ms = 0;
	handover_written(life);
	release_deferred(life);
}

void on_journal_failed(struct lifecycle *life, const struct event *event)
{
	if (event->journal.sequence != life->requested)
		return;
	life->acknowledged = life->requested;
	/* MUT: a conflict of the journal counts as a failed write */
	if (event->journal.conflict) {
		fence(life, event->journal.error);
		return;
	}
	/* Effects that wait for this write must not be released: attach them to the next one. */
	for (size_t i = 0; i < life->deferred.count; i++)
		life->deferred.list[i].sequence = 0;
	life->want_write = true;
	life->journal_failures++;
	life->journal_retry_ms =
		life->now_ms +
		backoff_ms(JOURNAL_RETRY_FIRST_MS, JOURNAL_RETRY_MAX_MS, life->journal_failures);
	if (!life->journal_broken)
		note(life, NOTE_ERROR,
		     "the journal cannot be written; no new launch until it can: %s",
		     event->journal.error);
	life->journal_broken = true;
	xstrset(&life->journal_error, event->journal.error);
	end_flink_unrecorded(life);
}
