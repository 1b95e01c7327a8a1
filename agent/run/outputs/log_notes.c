/* What the life cycle has to say to people goes into the log. */
#include "run/driver_internal.h"
#include "run/part.h"

static void log_notes_execute(struct driver *driver, const struct effect *effect)
{
	static const enum log_level levels[] = {LOG_INFO, LOG_WARN, LOG_ERROR};
	const char *text = effect->text ? effect->text : "";
	const char *phase = phase_name(driver->life.phase);

	if (effect->type != EFFECT_NOTE)
		return;
	if (effect->cause)
		log_any(driver->log, levels[effect->level], text, LOG_STR("phase", phase),
			LOG_STR("cause", cause_name(effect->cause)));
	else
		log_any(driver->log, levels[effect->level], text, LOG_STR("phase", phase));
}

const struct part part_log = {.name = "log", .execute = log_notes_execute};
