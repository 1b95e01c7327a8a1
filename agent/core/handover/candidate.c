#include "core/handover/candidate.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "core/handover/gate_record.h"
#include "core/record.h"

const char *const candidate_keys[PLACES] = {"candidate.json", "reserve.json", "standby.json"};

static const char *const state_words[] = {"Standby",   "Preparing",  "Prepared", "Failed",
					  "Withdrawn", "HandedOver", NULL};
_Static_assert(sizeof(state_words) / sizeof(state_words[0]) == CANDIDATE_STATES + 1,
	       "a word for each state");

#define PROSE .max_bytes = CANDIDATE_MAX_PROSE

#define WARM(name, kind, ...)    FIELD(name, kind, struct candidate_warm, __VA_ARGS__)
#define CHECKED(name, kind, ...) FIELD(name, kind, struct candidate_check, __VA_ARGS__)
#define SHADOW(name, kind, ...)  FIELD(name, kind, struct candidate_shadow, __VA_ARGS__)
#define MEMBER(name, kind, ...)  FIELD(name, kind, struct candidate_record, __VA_ARGS__)

static const struct field warm_fields[] = {
	WARM("taskManagers", NUMBER, task_managers, .key = true),
	WARM("slotsFree", NUMBER, slots_free, .key = true),
	WARM("mainHeld", BOOL, main_held, .key = true),
	WARM("sinceUnixMs", KNOWN, since_unix_ms, .key = true),
};
static const struct record warm_table = RECORD(struct candidate_warm, warm_fields);

static const struct field checked_fields[] = {
	CHECKED("decision", TEXT, decision, .key = true),
	CHECKED("why", TEXT, why, .key = true, PROSE),
};
static const struct record checked_table = RECORD(struct candidate_check, checked_fields);

static const struct field shadow_fields[] = {
	SHADOW("transition", TEXT, transition, .key = true),
	SHADOW("state", WORD, state, .words = shadow_state_words),
	SHADOW("ended", BOOL, ended),
	SHADOW("gate", RECORD, gate, .record = &gate_report_table),
};
const struct record candidate_shadow_table = RECORD(struct candidate_shadow, shadow_fields);

static const struct field candidate_fields[] = {
	MEMBER("application", TEXT, application, .needed = true),
	MEMBER("uid", TEXT, uid, .needed = true),
	MEMBER("pod", TEXT, pod, .needed = true),
	MEMBER("template", TEXT, template, .needed = true),
	MEMBER("generation", TEXT, generation),
	MEMBER("flinkVersion", TEXT, flink_version),
	MEMBER("side", WORD, side, .words = side_words),
	MEMBER("handover", TEXT, handover),
	MEMBER("state", WORD, state, .words = state_words),
	MEMBER("beat", NUMBER, beat, .needed = true),
	MEMBER("ask", NUMBER, ask),
	MEMBER("answer", NUMBER, answer),
	MEMBER("warm", RECORD, warm, .record = &warm_table),
	MEMBER("checked", RECORD, checked, .record = &checked_table),
	MEMBER("shadow", RECORD, shadow, .record = &candidate_shadow_table, .sparse = true),
	MEMBER("why", TEXT, why, PROSE),
};
static const struct record candidate_table = RECORD(struct candidate_record, candidate_fields);

const char *candidate_state_name(enum candidate_state state)
{
	return state < CANDIDATE_STATES ? state_words[state] : "unknown";
}

enum candidate_place candidate_place_of(enum candidate_state state)
{
	return state == CANDIDATE_HANDED_OVER ? PLACE_RESERVE
	       : state == CANDIDATE_STANDBY   ? PLACE_STANDBY
					      : PLACE_CANDIDATE;
}

void candidate_release(struct candidate_record *record)
{
	record_release(&candidate_table, record);
}

void candidate_shadow_release(struct candidate_shadow *shadow)
{
	record_release(&candidate_shadow_table, shadow);
}

bool candidate_shadow_runs(const struct candidate_shadow *shadow)
{
	return shadow->state == SHADOW_RUNNING || shadow->state == SHADOW_CAUGHT_UP;
}

bool candidate_shadow_begun(const struct candidate_shadow *shadow, const char *transition)
{
	return transition && xstris(shadow->transition, transition) &&
	       shadow->state != SHADOW_PREPARED && shadow->state < SHADOW_STATES;
}

void candidate_shadow_set(struct candidate_shadow *to, const struct candidate_shadow *from)
{
	struct candidate_shadow old = *to;

	record_copy(&candidate_shadow_table, from, to);
	candidate_shadow_release(&old);
}

void candidate_seen_release(struct candidate_seen *seen)
{
	party_release(&seen->party);
	free(seen->why);
	seen->why = NULL;
	candidate_shadow_release(&seen->shadow);
}

int candidate_encode(const struct candidate_record *record, struct buf *ret_text, struct err *err)
{
	cleanup_json struct json *doc = json_object();
	cleanup_buf struct buf text = BUF_INIT;

	json_add_i64(doc, "schema", CANDIDATE_SCHEMA);
	record_write(&candidate_table, record, NULL, doc);
	json_print(doc, &text);
	if (text.len_bytes > CANDIDATE_MAX_BYTES)
		return err_set(err, ERR_FORMAT, 0, "the record has %zu bytes, more than %zu",
			       text.len_bytes, CANDIDATE_MAX_BYTES);
	buf_add(ret_text, text.data, text.len_bytes);
	return 0;
}

static int check_schema(const struct json *doc, struct err *err)
{
	int64_t schema;

	if (json_kind(doc) != JSON_OBJECT)
		return err_set(err, ERR_FORMAT, 0, "not a JSON object");
	if (json_need_i64(doc, "schema", &schema, err) < 0)
		return -1;
	if (schema != CANDIDATE_SCHEMA)
		return err_set(err, ERR_FORMAT, 0, "'schema': %lld; this drey knows %d",
			       (long long)schema, CANDIDATE_SCHEMA);
	return 0;
}

/* What has taken an order runs, and is there. */
static int check_shadow(const struct gate_report *gate, struct err *err)
{
	const struct {
		const char *name;
		int64_t value, most;
	} counts[] = {
		{"'subtasks'", gate->subtasks, INT32_MAX},
		{"'running'", gate->running, gate->subtasks},
		{"'acked'", gate->acked, gate->running},
		{"'refused'", gate->refused, gate->running},
		{"'idle'", gate->idle, gate->running},
		{"'passedAbove'", gate->passed_above, INT64_MAX},
		{"'withheldAbove'", gate->withheld_above, INT64_MAX},
		{"'passedBelow'", gate->passed_below, INT64_MAX},
	};

	for (size_t i = 0; i < ARRAY_LEN(counts); i++)
		if (counts[i].value < 0 || counts[i].value > counts[i].most)
			return err_set(err, ERR_FORMAT, 0, "shadow: gate: %s: %lld is out of range",
				       counts[i].name, (long long)counts[i].value);
	return 0;
}

static int check_values(const struct candidate_record *record, const char *application,
			struct err *err)
{
	const struct {
		const char *name;
		int64_t value;
	} numbers[] = {
		{"'beat'", record->beat},
		{"'ask'", record->ask},
		{"'answer'", record->answer},
		{"warm: 'taskManagers'", record->warm.task_managers},
		{"warm: 'slotsFree'", record->warm.slots_free},
	};

	if (strcmp(record->application, application) != 0)
		return err_set(err, ERR_FORMAT, 0,
			       "'application': it is of application %.64s, not of %s",
			       record->application, application);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (numbers[i].value < 0)
			return err_set(err, ERR_FORMAT, 0, "%s: %lld is out of range",
				       numbers[i].name, (long long)numbers[i].value);
	return record->shadow.transition ? check_shadow(&record->shadow.gate, err) : 0;
}

int candidate_decode(const char *text, size_t len_bytes, const char *application,
		     struct candidate_record *ret_record, struct err *err)
{
	cleanup_json struct json *doc = json_parse(text, len_bytes, CANDIDATE_MAX_BYTES, err);
	struct candidate_record record;

	if (!doc || check_schema(doc, err) < 0)
		return -1;
	record_init(&candidate_table, &record);
	if (record_read(&candidate_table, doc, &record, err) < 0 ||
	    check_values(&record, application, err) < 0) {
		candidate_release(&record);
		return -1;
	}
	*ret_record = record;
	return 0;
}
