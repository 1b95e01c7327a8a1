#include "core/lifecycle/lifecycle_effects.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

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

bool lifecycle_awaits(const struct lifecycle *life, enum effect_type effect, const char *id)
{
	if (life->contradiction) /* also for what was emitted before it was found */
		return false;
	if (effect == EFFECT_OBSERVE)
		return life->observing;
	if (effect == EFFECT_LAUNCH)
		return life->launch_step == LAUNCH_STARTING;
	if (effect == EFFECT_SIGNS)
		return life->seen.signs.asking;
	if (effect == EFFECT_TRIGGER)
		return life->operation.asking && !strcmp(life->journal.operation.trigger_id, id);
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

bool lifecycle_is_durable(const struct lifecycle *life)
{
	return !life->want_write && life->requested == life->acknowledged;
}
