/* What the parts of the standby machine say, record and order. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/handover/standby_internal.h"
#include "core/handover/transition.h"

#define SILENT_SAID_MS 5000 /* an owner that lives answers in less */

struct standby_effect *standby_emit(struct standby *standby, enum standby_effect_type type)
{
	struct standby_effect *effect;

	/* the longest step needs half of the room; running out is a bug, not a state */
	if (standby->out->count == STANDBY_MAX_EFFECTS)
		abort();
	effect = &standby->out->list[standby->out->count++];
	*effect = (struct standby_effect){.type = type};
	return effect;
}

void standby_reads(struct standby *standby)
{
	if (standby->reading)
		return;
	standby->reading = true;
	standby_emit(standby, STANDBY_DO_READ);
}

void standby_note(struct standby *standby, bool warning, const char *text)
{
	struct standby_effect *effect = standby_emit(standby, STANDBY_DO_NOTE);

	effect->warning = warning;
	snprintf(effect->text, sizeof(effect->text), "%s", text);
}

bool standby_owner_is_silent(const struct standby *standby)
{
	return standby->asks && standby->silent_since_ms &&
	       standby->now_ms >= standby->silent_since_ms + SILENT_SAID_MS;
}

/* With a cut in force no other version follows: its newest state lacks what the owner has held back. */
static void say_silent(const struct standby *standby, char *text, size_t size)
{
	static const char gone[] = "the owner does not answer, and its Flink leads no more";

	/* MUT: with a cut in force a pod says that it may follow */
	if (transition_is_cut(transition_of(&standby->handover)))
		snprintf(
			text, size,
			"%s; the cut is in force, so only a pod of its template (%.120s) continues: `kubectl rollout undo` brings that back if there is none",
			gone, standby->owner.template ? standby->owner.template : "not known");
	else
		snprintf(text, size, "%s; it is followed if that lasts", gone);
}

void standby_say(struct standby *standby, enum cause cause, const char *why)
{
	bool silent = standby_owner_is_silent(standby);
	char text[sizeof(standby->reason)];

	if (silent && (cause == CAUSE_STANDING_BY || cause == CAUSE_PREPARING ||
		       cause == CAUSE_HANDOVER_RETURNED || cause == CAUSE_SHADOW)) {
		cause = CAUSE_OWNER_SILENT;
		say_silent(standby, text, sizeof(text));
	} else {
		snprintf(text, sizeof(text), "%s", why);
	}
	if (!strcmp(standby->reason, text) && standby->cause == cause)
		return;
	standby->cause = cause;
	snprintf(standby->reason, sizeof(standby->reason), "%s", text);
	standby_note(standby, cause == CAUSE_PREPARE_FAILED || cause == CAUSE_OWNER_SILENT, text);
}

void standby_state(struct standby *standby, enum candidate_state state, const char *why)
{
	struct candidate_record *record = &standby->record;

	if (record->state == state && xstrsame(record->why, why) &&
	    record->side == standby->verdict.side &&
	    xstrsame(record->handover, standby->handover.id))
		return;
	record->state = state;
	record->side = standby->verdict.side;
	xstrset(&record->why, why);
	xstrset(&record->handover, standby->handover.id);
	standby->record_dirty = true;
}

void standby_kill(struct standby *standby)
{
	struct standby_effect *effect;

	if (standby->flink == STANDBY_FLINK_NONE)
		return;
	if (standby->flink == STANDBY_FLINK_ENDING && standby->now_ms < standby->kill_again_ms)
		return;
	standby->flink = STANDBY_FLINK_ENDING;
	standby->kill_again_ms = standby->now_ms + standby->config->kill_after_ms;
	standby->start_end_ms = standby->warm_ms = 0;
	effect = standby_emit(standby, STANDBY_DO_KILL);
	memcpy(effect->id, standby->job_id, JOB_ID_BYTES);
}
