/*
 * Any JSON as an event of the life cycle (the first byte is 'e') and as what a trace begins with ('b'): refused in
 * words, or read, written and read again the same. A trace of the event stays within its bounds.
 */
#include <string.h>

#include "base/mem.h"
#include "core/trace/life_trace.h"
#include "must.h"

#define MAX_BYTES 65536

static void check_ring(const struct life_trace *trace)
{
	cleanup_json struct json *doc = json_object();
	const struct json *steps;
	size_t bytes = 0;

	for (size_t i = 0; i < trace->count; i++) {
		must(strlen(trace->steps[i]) <= TRACE_STEP_BYTES);
		bytes += strlen(trace->steps[i]);
	}
	must(trace->count <= TRACE_STEPS && bytes == trace->bytes && bytes <= TRACE_BYTES);
	must(!trace->begin || !trace->dropped);
	life_trace_write(trace, doc);
	steps = json_get(doc, "steps");
	must(json_len(steps) == trace->count && json_i64_or(doc, "dropped", -1) == trace->dropped);
	for (size_t i = 0; i < trace->count; i++)
		must(json_kind(json_at(steps, i)) == JSON_OBJECT);
}

/* One step as often as there is room, and more: the oldest ones go. */
static void check_steps(const struct event *event)
{
	struct life_trace trace = {.count = 0};
	struct effects effects = {.count = 0};
	struct lifecycle life = {.phase = PHASE_RUNNING};
	cleanup_json struct json *doc = life_trace_event(event);
	cleanup_buf struct buf text = BUF_INIT;
	int most;

	json_print(doc, &text);
	most = (int)(TRACE_BYTES / text.len_bytes) + 8;
	if (most > TRACE_STEPS + 3)
		most = TRACE_STEPS + 3;
	for (int i = 0; i < most; i++) {
		cleanup_json struct json *step =
			life_trace_step(life_trace_event(event), PHASE_RESOLVING, &life, &effects);

		life_trace_add(&trace, step);
		if (i > most - 5 || i < 2)
			check_ring(&trace);
	}
	must((size_t)trace.dropped + trace.count == (size_t)most && trace.count);
	life_trace_release(&trace);
	must(!trace.count && !trace.bytes && !trace.begin);
}

static void check_text(const struct json *event)
{
	cleanup_buf struct buf text = BUF_INIT;
	const char *type = json_str(event, "type");

	life_trace_event_text(event, &text);
	must(!strncmp(buf_str(&text), type ? type : "?", type ? strlen(type) : 1));
}

/* Written and read again it is the same: what is not in its table is not kept. */
static void check_event(const struct json *doc)
{
	struct event event, again;
	struct err err = {0};
	cleanup_json struct json *first = NULL, *second = NULL;
	cleanup_buf struct buf a = BUF_INIT, b = BUF_INIT;

	check_text(doc);
	if (life_trace_event_read(doc, &event, &err) < 0) {
		must(err.kind == ERR_FORMAT && err.msg[0]);
		life_trace_event_release(&event);
		return;
	}
	first = life_trace_event(&event);
	if (!json_bool_or(first, "omitted", false)) {
		must(life_trace_event_read(first, &again, NULL) == 0);
		second = life_trace_event(&again);
		life_trace_event_release(&again);
		json_print(first, &a);
		json_print(second, &b);
		must(!strcmp(buf_str(&a), buf_str(&b)));
	}
	check_steps(&event);
	life_trace_event_release(&event);
}

static void check_beginning(const struct json *doc)
{
	cleanup_json struct json *first = NULL, *second = NULL;
	cleanup_buf struct buf a = BUF_INIT, b = BUF_INIT;
	struct lifecycle_config config = {.id_count = 77};
	struct lifecycle life = {.config = &config};
	struct journal journal;
	struct err err = {0};

	if (life_trace_beginning_read(doc, &config, &life.journal, &life.rng, &err) < 0) {
		must(err.kind != ERR_NONE && err.msg[0] && config.id_count == 77);
		return;
	}
	must(config.id_count == json_i64_or(json_get(doc, "config"), "idCount", 0));
	must((int64_t)life.rng.state[3] == json_i64_or(json_get(doc, "rng"), "d", 0));
	first = life_trace_beginning(&life);
	journal_release(&life.journal);
	life_trace_config_release(&config);
	must(life_trace_beginning_read(first, &config, &journal, &life.rng, &err) == 0);
	life.journal = journal;
	second = life_trace_beginning(&life);
	journal_release(&life.journal);
	life_trace_config_release(&config);
	json_print(first, &a);
	json_print(second, &b);
	must(!strcmp(buf_str(&a), buf_str(&b)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	cleanup_json struct json *doc = NULL;

	if (!size_bytes)
		return 0;
	doc = json_parse((const char *)data + 1, size_bytes - 1, MAX_BYTES, NULL);
	if (doc && data[0] == 'e')
		check_event(doc);
	if (doc && data[0] == 'b')
		check_beginning(doc);
	return 0;
}
