#include "core/trace/life_trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* ---- one step ---- */

char *life_trace_effect(const struct effect *effect)
{
	const char *type = effect_type_name(effect->type);

	switch (effect->type) {
	case EFFECT_WRITE_JOURNAL:
		return xasprintf("%s %" PRId64, type, effect->sequence);
	case EFFECT_SIGNAL:
		return xasprintf("%s %d %s", type, effect->signo, effect->id);
	case EFFECT_EXIT:
		return xasprintf("%s %d", type, effect->status);
	case EFFECT_INSPECT:
	case EFFECT_DISPOSE:
		return xasprintf("%s %s", type, effect->text);
	case EFFECT_TELL:
		return xasprintf("%s %s", type, notice_type_name(effect->notice.type));
	default: /* a note is for people, and its wording may change */
		return xasprintf("%s%s%s", type, *effect->id ? " " : "", effect->id);
	}
}

static void add_frame(struct json *to, enum phase before, const struct lifecycle *life,
		      const struct effects *effects)
{
	struct json *array;

	json_add_i64(to, "ms", life->now_ms);
	json_add_i64(to, "unixMs", life->now_unix_ms);
	json_add_str(to, "from", phase_name(before));
	json_add_str(to, "to", phase_name(life->phase));
	array = json_add_array(to, "effects");
	for (size_t i = 0; i < effects->count; i++) {
		cleanup_free char *text = life_trace_effect(&effects->list[i]);

		json_add_str(array, NULL, text);
	}
}

struct json *life_trace_step(struct json *event, enum phase before, const struct lifecycle *life,
			     const struct effects *effects)
{
	struct json *to = json_object();

	add_frame(to, before, life, effects);
	json_add(to, "event", event);
	return to;
}

/* ---- the ring ---- */

static void forget_first(struct life_trace *trace)
{
	trace->bytes -= strlen(trace->steps[0]);
	free(trace->steps[0]);
	trace->count--;
	memmove(trace->steps, trace->steps + 1, trace->count * sizeof(trace->steps[0]));
	trace->dropped++;
	free(trace->begin); /* useless without the steps that follow it */
	trace->begin = NULL;
}

void life_trace_begin(struct life_trace *trace, struct lifecycle *life)
{
	cleanup_json struct json *begin = life_trace_beginning(life);
	struct buf text = BUF_INIT;

	life_trace_release(trace);
	json_print(begin, &text);
	trace->begin = xstrdup(buf_str(&text));
	buf_release(&text);
}

void life_trace_release(struct life_trace *trace)
{
	while (trace->count)
		forget_first(trace);
	free(trace->begin);
	*trace = (struct life_trace){.count = 0};
}

/* The same step without what its event showed. */
static void shorten(const struct json *step, struct buf *text)
{
	cleanup_json struct json *rest = json_object();
	const struct json *member;
	struct json *event;

	json_each (member, step)
		if (strcmp(json_name(member), "event") != 0)
			json_add(rest, json_name(member), json_copy(member));
	event = json_add_object(rest, "event");
	json_add_str(event, "type", json_str(json_get(step, "event"), "type"));
	json_add_bool(event, "omitted", true);
	buf_clear(text);
	json_print(rest, text);
}

void life_trace_add(struct life_trace *trace, const struct json *step)
{
	cleanup_buf struct buf text = BUF_INIT;

	json_print(step, &text);
	if (text.len_bytes > TRACE_STEP_BYTES)
		shorten(step, &text);
	while (trace->count &&
	       (trace->count == TRACE_STEPS || trace->bytes + text.len_bytes > TRACE_BYTES))
		forget_first(trace);
	trace->bytes += text.len_bytes;
	trace->steps[trace->count++] = xstrdup(buf_str(&text));
}

static void add_text(struct json *to, const char *key, const char *text)
{
	size_t len = text ? strlen(text) : 0;
	struct err err = {0};
	struct json *node = text ? json_parse(text, len, len, &err) : NULL;

	if (node)
		json_add(to, key, node);
	else
		json_add_null(to, key);
}

void life_trace_write(const struct life_trace *trace, struct json *to)
{
	struct json *array;

	json_add_i64(to, "format", TRACE_FORMAT);
	json_add_i64(to, "dropped", trace->dropped);
	add_text(to, "begin", trace->begin);
	array = json_add_array(to, "steps");
	for (size_t i = 0; i < trace->count; i++)
		add_text(array, NULL, trace->steps[i]);
}
