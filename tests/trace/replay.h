/*
 * replay - a trace (`drey status --trace --json`) once more: a life cycle that begins like the one of
 * the trace takes the same events, and has to come to the same phases and effects.
 */
#ifndef DREY_TESTS_REPLAY_H
#define DREY_TESTS_REPLAY_H

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "core/trace/life_trace.h"

/* Phases and effects, as text that can be compared. */
static inline void replay_outcome(const struct json *step, struct buf *text)
{
	const struct json *effect;

	buf_addf(text, "%s and", json_str(step, "to"));
	json_each (effect, json_get(step, "effects"))
		buf_addf(text, " [%s]", json_text(effect));
}

static inline int replay_step(struct lifecycle *life, const struct json *step, struct err *err)
{
	cleanup_buf struct buf then = BUF_INIT, now = BUF_INIT;
	cleanup_json struct json *again = NULL;
	struct effects effects = {.count = 0};
	enum phase before = life->phase;
	struct event event;

	if (json_bool_or(json_get(step, "event"), "omitted", false))
		return err_set(err, ERR_FORMAT, 0,
			       "its event was too large for the trace and is not in it");
	if (life_trace_event_read(json_get(step, "event"), &event, err) < 0) {
		life_trace_event_release(&event);
		return -1;
	}
	lifecycle_step(life, &event, json_i64_or(step, "ms", 0), json_i64_or(step, "unixMs", 0),
		       &effects);
	again = life_trace_step(json_object(), before, life, &effects);
	effects_clear(&effects);
	replay_outcome(step, &then);
	replay_outcome(again, &now);
	if (strcmp(buf_str(&then), buf_str(&now)) != 0)
		err_set(err, ERR_FORMAT, 0, "%s: the trace has %s, this code does %s",
			event_type_name(event.type), buf_str(&then), buf_str(&now));
	life_trace_event_release(&event);
	return err->msg[0] ? -1 : 0;
}

/* *ret_count: the steps that were the same. -1: what the first one after them does instead, or why
 * the trace cannot be repeated (ERR_FORMAT). */
static inline int replay(const struct json *trace, size_t *ret_count, struct err *err)
{
	int64_t dropped = json_i64_or(trace, "dropped", 0);
	struct lifecycle_config config;
	struct journal journal;
	struct lifecycle life;
	const struct json *step;
	struct rng rng;

	*ret_count = 0;
	if (json_i64_or(trace, "format", 0) != TRACE_FORMAT)
		return err_set(err, ERR_FORMAT, 0, "this is no trace of format %d", TRACE_FORMAT);
	if (dropped || !json_len(json_get(trace, "begin")))
		return err_set(
			err, ERR_FORMAT, 0,
			"the first %" PRId64
			" steps are not in the trace any more, and with them what it began with: it can be read, but not repeated",
			dropped);
	if (life_trace_beginning_read(json_get(trace, "begin"), &config, &journal, &rng, err) < 0)
		return -1;
	lifecycle_init(&life, &config, &journal, &rng);
	json_each (step, json_get(trace, "steps")) {
		if (replay_step(&life, step, err) < 0)
			break;
		(*ret_count)++;
	}
	lifecycle_release(&life);
	life_trace_config_release(&config);
	return err->msg[0] ? -1 : 0;
}

#endif
