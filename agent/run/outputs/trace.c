/* What the life cycle does: one line for each event and effect at log.level debug, and a trace. */
#include "core/trace/life_trace.h"
#include "run/driver_internal.h"

static void log_step(struct log *log, const struct json *step)
{
	cleanup_buf struct buf text = BUF_INIT;
	const struct json *effect;

	life_trace_event_text(json_get(step, "event"), &text);
	log_debug(log, "event", LOG_STR("event", buf_str(&text)),
		  LOG_STR("from", json_str(step, "from")), LOG_STR("phase", json_str(step, "to")));
	json_each (effect, json_get(step, "effects"))
		log_debug(log, "effect", LOG_STR("effect", json_text(effect)));
}

void driver_trace(struct driver *driver, struct json *event, enum phase before,
		  const struct effects *effects)
{
	cleanup_json struct json *step = life_trace_step(event, before, &driver->life, effects);

	life_trace_add(&driver->trace, step);
	if (driver->setup->config.log.level == LOG_DEBUG)
		log_step(driver->log, step);
}
