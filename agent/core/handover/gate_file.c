#include "core/handover/gate_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"

#define SCHEMA     1
#define MAX_NUMBER GATE_FILE_MAX_NUMBER

/* ---- the order ---- */

static int check_order(const struct gate_file_job *job, const char *transition,
		       const struct gate_order *order, struct err *err)
{
	if (!job->launch || !job->launch[0])
		return err_set(err, ERR_FORMAT, 0, "'launch' is empty");
	if (order->number < 1 || order->number > MAX_NUMBER)
		return err_set(err, ERR_FORMAT, 0, "'number' is %" PRId64, order->number);
	if ((unsigned)order->word >= GATE_WORDS)
		return err_set(err, ERR_FORMAT, 0, "'word' is the %dth", (int)order->word);
	if (transition && !transition[0])
		return err_set(err, ERR_FORMAT, 0, "'transition' is empty");
	if (order->toggle_unix_ms < 0 || order->toggle_unix_ms > MAX_NUMBER - GATE_CEILING_MS)
		return err_set(err, ERR_FORMAT, 0, "'toggle' is %" PRId64, order->toggle_unix_ms);
	if (gate_needs_cut(order->word) && (!transition || !order->toggle_unix_ms))
		return err_set(err, ERR_FORMAT, 0, "'%s' needs 'toggle' and 'transition'",
			       gate_words[order->word]);
	return 0;
}

int gate_file_order(const struct gate_file_job *job, const char *transition,
		    const struct gate_order *order, struct buf *buf, struct err *err)
{
	cleanup_json struct json *doc = NULL;
	int64_t toggle = order->toggle_unix_ms;

	if (check_order(job, transition, order, err) < 0)
		return err_wrap(err, "the order to the gates");
	doc = json_object();
	json_add_i64(doc, "schema", SCHEMA);
	json_add_str(doc, "launch", job->launch);
	json_add_str(doc, "side", side_name(job->side));
	json_add_str(doc, "transition", transition);
	json_add_i64(doc, "number", order->number);
	json_add_str(doc, "word", gate_words[order->word]);
	json_add_known(doc, "toggle", toggle, 1);
	json_add_known(doc, "ceiling", toggle ? toggle + GATE_CEILING_MS : 0, 1);
	json_print(doc, buf);
	buf_addch(buf, '\n');
	return 0;
}

/* ---- members of the report: each is there, though it may be null ---- */

static int check_there(const struct json *obj, const char *key, struct err *err)
{
	if (json_get(obj, key))
		return 0;
	return err_set(err, ERR_FORMAT, 0, "'%s' is missing", key);
}

static int check_range(const char *key, int64_t value, int64_t least, int64_t most, struct err *err)
{
	if (value >= least && value <= most)
		return 0;
	return err_set(err, ERR_FORMAT, 0, "'%s' is %" PRId64 ", expected %" PRId64 " to %" PRId64,
		       key, value, least, most);
}

static int need_number(const struct json *obj, const char *key, int64_t most, int64_t *ret_value,
		       struct err *err)
{
	int64_t value;

	if (json_need_i64(obj, key, &value, err) || check_range(key, value, 0, most, err))
		return -1;
	*ret_value = value;
	return 0;
}

/* Null is `none`. */
static int need_time(const struct json *obj, const char *key, int64_t none, int64_t *ret_value,
		     struct err *err)
{
	int64_t value = none;
	int has = check_there(obj, key, err) ? -1 : json_opt_i64(obj, key, &value, err);

	if (has < 0 || (has && check_range(key, value, -MAX_NUMBER, MAX_NUMBER, err)))
		return -1;
	*ret_value = value;
	return 0;
}

/* Null is NULL. Borrowed. */
static int need_text(const struct json *obj, const char *key, const char **ret_text,
		     struct err *err)
{
	const char *text = NULL;

	if (check_there(obj, key, err) || json_opt_str(obj, key, &text, err) < 0)
		return -1;
	*ret_text = text;
	return 0;
}

/* ---- a gate ---- */

struct counts {
	int64_t parallelism, running, acked, refused, without_watermark, crossed, idle;
	int64_t passed_below, passed_above, withheld_below, withheld_above, inexact;
	int64_t min_watermark, max_seen;
};

static int read_counts(const struct json *gate, struct counts *counts, struct err *err)
{
	const struct {
		const char *key;
		int64_t most, *to;
	} rows[] = {
		{"parallelism", GATE_FILE_MAX_WIDTH, &counts->parallelism},
		{"running", GATE_FILE_MAX_WIDTH, &counts->running},
		{"acked", GATE_FILE_MAX_WIDTH, &counts->acked},
		{"refused", GATE_FILE_MAX_WIDTH, &counts->refused},
		{"withoutWatermark", GATE_FILE_MAX_WIDTH, &counts->without_watermark},
		{"crossed", GATE_FILE_MAX_WIDTH, &counts->crossed},
		{"idle", GATE_FILE_MAX_WIDTH, &counts->idle},
		{"passedBelow", MAX_NUMBER, &counts->passed_below},
		{"passedAbove", MAX_NUMBER, &counts->passed_above},
		{"withheldBelow", MAX_NUMBER, &counts->withheld_below},
		{"withheldAbove", MAX_NUMBER, &counts->withheld_above},
		{"inexact", MAX_NUMBER, &counts->inexact},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (need_number(gate, rows[i].key, rows[i].most, rows[i].to, err))
			return -1;
	if (need_time(gate, "minWatermark", GATE_NO_TIME, &counts->min_watermark, err))
		return -1;
	return need_time(gate, "maxSeen", GATE_NO_TIME, &counts->max_seen, err);
}

/* What no gate can say. */
static int check_counts(const struct json *gate, const struct counts *counts, int64_t toggle,
			struct err *err)
{
	const struct json *subtasks;
	int64_t listed = counts->running < GATE_FILE_LISTED ? counts->running : GATE_FILE_LISTED;

	if (json_need_array(gate, "subtasks", &subtasks, err))
		return -1;
	if ((int64_t)json_len(subtasks) != listed)
		return err_set(err, ERR_FORMAT, 0, "'subtasks' has %zu of them, expected %" PRId64,
			       json_len(subtasks), listed);
	if (check_range("running", counts->running, 0, counts->parallelism, err) ||
	    check_range("refused", counts->refused, 0, counts->running, err) ||
	    check_range("acked", counts->acked, 0, counts->running - counts->refused, err) ||
	    check_range("idle", counts->idle, 0, counts->running, err) ||
	    check_range("crossed", counts->crossed, 0, counts->running - counts->idle, err) ||
	    check_range("withoutWatermark", counts->without_watermark, 0,
			counts->running - counts->crossed, err))
		return -1;
	if (!counts->crossed)
		return 0;
	if (!toggle)
		return err_set(err, ERR_FORMAT, 0, "'crossed' is %" PRId64 ", and 'toggle' null",
			       counts->crossed);
	if (counts->crossed == counts->parallelism)
		return check_range("minWatermark", counts->min_watermark, toggle, MAX_NUMBER, err);
	return 0;
}

/*
 * The lowest watermark of the subtasks that are not idle, or something lower. The one in the report
 * is of those that have said one, which may be above the cut while others have not come to it.
 */
static int64_t lowest_watermark(const struct counts *counts, int64_t toggle)
{
	bool all_spoke = counts->acked + counts->refused == counts->parallelism;

	if (toggle && counts->crossed == counts->parallelism)
		return counts->min_watermark;
	if (toggle && counts->crossed + counts->idle == counts->parallelism)
		return toggle;
	/* MUT: a subtask whose watermark is not known counts as behind the cut */
	if (!all_spoke || counts->without_watermark > counts->idle)
		return GATE_NO_TIME;
	return toggle && counts->min_watermark >= toggle ? toggle - 1 : counts->min_watermark;
}

/* ---- checkpoints: those of all gates together ---- */

struct merged {
	struct gate_snapshot list[GATE_FILE_SNAPSHOTS]; /* of the first gate, oldest first */
	size_t gates[GATE_FILE_SNAPSHOTS];              /* how many of them have it */
	size_t count;
};

static struct gate_snapshot *find_merged(struct merged *merged, int64_t id, bool first)
{
	for (size_t i = 0; i < merged->count; i++)
		if (merged->list[i].checkpoint_id == id) {
			merged->gates[i]++;
			return &merged->list[i];
		}
	if (!first)
		return NULL;
	merged->gates[merged->count] = 1;
	merged->list[merged->count] = (struct gate_snapshot){.checkpoint_id = id,
							     .confirmed = true,
							     .min_watermark_unix_ms = INT64_MAX,
							     .active_watermark_unix_ms = INT64_MAX};
	return &merged->list[merged->count++];
}

/* Newer than *last, which becomes it. */
static int read_snapshot(const struct json *node, struct merged *merged, bool first, int64_t *last,
			 struct err *err)
{
	struct gate_snapshot *into;
	int64_t id, withheld, watermark, active;
	bool completed;

	if (need_number(node, "checkpoint", MAX_NUMBER, &id, err) ||
	    json_need_bool(node, "completed", &completed, err) ||
	    need_number(node, "withheld", MAX_NUMBER, &withheld, err) ||
	    need_time(node, "minWatermark", GATE_NO_TIME, &watermark, err))
		return -1;
	active = watermark; /* older gates do not say it */
	if (json_get(node, "activeWatermark") &&
	    (need_time(node, "activeWatermark", GATE_NO_TIME, &active, err) ||
	     check_range("activeWatermark", active, watermark, MAX_NUMBER, err)))
		return -1;
	if (id <= *last)
		return err_set(err, ERR_FORMAT, 0,
			       "'checkpoint' is %" PRId64 " and not above the one before", id);
	*last = id;
	/* MUT: a checkpoint that is not completed can be restored */
	if (!completed)
		return 0;
	into = find_merged(merged, id, first);
	if (!into)
		return 0;
	into->withheld_above += withheld;
	if (watermark < into->min_watermark_unix_ms)
		into->min_watermark_unix_ms = watermark;
	if (active < into->active_watermark_unix_ms)
		into->active_watermark_unix_ms = active;
	return 0;
}

static int read_snapshots(const struct json *gate, struct merged *merged, bool first,
			  struct err *err)
{
	const struct json *list, *node;
	int64_t last = -1;

	if (json_need_array(gate, "snapshots", &list, err))
		return -1;
	if (json_len(list) > GATE_FILE_SNAPSHOTS)
		return err_set(err, ERR_FORMAT, 0, "'snapshots' has %zu of them, at most %d",
			       json_len(list), GATE_FILE_SNAPSHOTS);
	json_each (node, list)
		if (read_snapshot(node, merged, first, &last, err))
			return err_wrap(err, "one of 'snapshots'");
	return 0;
}

static void take_snapshots(const struct merged *merged, size_t gates, struct gate_report *report)
{
	for (size_t i = merged->count; i-- > 0 && report->snapshot_count < GATE_SNAPSHOTS;) {
		/* MUT: a checkpoint of one gate stands for all gates */
		if (merged->gates[i] != gates)
			continue;
		report->snapshots[report->snapshot_count++] = merged->list[i];
	}
}

/* ---- all gates ---- */

static void add_counts(const struct counts *counts, struct gate_report *report)
{
	int64_t watermark = lowest_watermark(counts, report->order.toggle_unix_ms);

	report->known = report->known && counts->parallelism > 0;
	report->subtasks += (int)counts->parallelism;
	report->running += (int)counts->running;
	report->acked += (int)counts->acked;
	report->refused += (int)counts->refused;
	report->idle += (int)counts->idle;
	report->passed_above += counts->passed_above;
	report->passed_below += counts->passed_below;
	report->inexact |= counts->inexact > 0;
	report->withheld_above += counts->withheld_below + counts->withheld_above;
	if (watermark < report->min_watermark_unix_ms)
		report->min_watermark_unix_ms = watermark;
	if (counts->max_seen > report->max_seen_unix_ms)
		report->max_seen_unix_ms = counts->max_seen;
}

static int read_gate(const struct json *node, struct merged *merged, bool first,
		     struct gate_report *report, const char **why_refused, struct err *err)
{
	struct counts counts;
	const char *uid, *why;

	if (json_need_str(node, "uid", &uid, err))
		return -1;
	if (read_counts(node, &counts, err) ||
	    check_counts(node, &counts, report->order.toggle_unix_ms, err) ||
	    need_text(node, "whyRefused", &why, err) || read_snapshots(node, merged, first, err))
		return err_wrap(err, "'%.60s'", uid);
	if (why && !*why_refused)
		*why_refused = why;
	add_counts(&counts, report);
	return 0;
}

static int read_gates(const struct json *doc, struct gate_report *report, const char **why_refused,
		      struct err *err)
{
	struct merged merged = {.count = 0};
	const struct json *list, *node;
	size_t gates = 0;

	if (json_need_array(doc, "gates", &list, err))
		return -1;
	if (json_len(list) > GATE_FILE_MAX_GATES)
		return err_set(err, ERR_FORMAT, 0, "'gates' has %zu of them, at most %d",
			       json_len(list), GATE_FILE_MAX_GATES);
	json_each (node, list) {
		if (read_gate(node, &merged, !gates, report, why_refused, err))
			return err_wrap(err, "gate %zu", gates);
		gates++;
	}
	report->known = report->known && gates;
	if (!gates)
		report->min_watermark_unix_ms = GATE_NO_TIME;
	take_snapshots(&merged, gates, report);
	return 0;
}

/* ---- the report ---- */

static int check_schema(const struct json *doc, struct err *err)
{
	int64_t schema;

	if (json_need_i64(doc, "schema", &schema, err))
		return -1;
	if (schema > SCHEMA)
		return err_set(err, ERR_CONFIG, 0,
			       "'schema' is %" PRId64 ", and this drey reads %d: use a "
			       "drey-gate.jar of this drey",
			       schema, SCHEMA);
	return check_range("schema", schema, SCHEMA, SCHEMA, err);
}

static int check_job(const struct json *doc, const struct gate_file_job *job, struct err *err)
{
	const char *launch, *side;

	if (json_need_str(doc, "launch", &launch, err) || json_need_str(doc, "side", &side, err))
		return -1;
	/* MUT: the report of an earlier launch counts */
	if (strcmp(launch, job->launch) != 0)
		return err_set(err, ERR_BUSY, 0, "it is of launch %.60s, and the job is %.60s",
			       launch, job->launch);
	if (strcmp(side, side_name(job->side)) != 0)
		return err_set(err, ERR_BUSY, 0, "it is of the side %.60s, and this is %s", side,
			       side_name(job->side));
	return 0;
}

static int parse_word(const char *text, enum gate_word *ret_word, struct err *err)
{
	for (int i = 0; i < GATE_WORDS; i++)
		if (!strcmp(gate_words[i], text)) {
			*ret_word = (enum gate_word)i;
			return 0;
		}
	return err_set(err, ERR_FORMAT, 0, "'word' is %.60s", text);
}

static int read_order(const struct json *doc, struct gate_order *order, const char **ret_transition,
		      struct err *err)
{
	const char *word;

	if (need_number(doc, "number", MAX_NUMBER, &order->number, err) ||
	    need_text(doc, "word", &word, err) ||
	    need_text(doc, "transition", ret_transition, err) ||
	    need_time(doc, "toggle", 0, &order->toggle_unix_ms, err))
		return -1;
	if (!order->number != !word)
		return err_set(err, ERR_FORMAT, 0, "'number' is %" PRId64 ", and 'word' %.60s",
			       order->number, word ? word : "null");
	if (json_kind(json_get(doc, "toggle")) != JSON_NULL && order->toggle_unix_ms < 1)
		return err_set(err, ERR_FORMAT, 0, "'toggle' is %" PRId64 ", as drey orders none",
			       order->toggle_unix_ms);
	order->word = GATE_CLOSED;
	if (word && parse_word(word, &order->word, err))
		return -1;
	if ((gate_needs_cut(order->word) && (!order->toggle_unix_ms || !*ret_transition)) ||
	    (!word && (order->toggle_unix_ms || *ret_transition)))
		return err_set(err, ERR_FORMAT, 0, "'toggle' and 'transition' do not go with '%s'",
			       word ? word : "null");
	return 0;
}

static int read_instance(const struct json *doc, char *instance, struct err *err)
{
	const char *text;

	if (json_need_str(doc, "instance", &text, err))
		return -1;
	if (strlen(text) != GATE_FILE_INSTANCE_SZ - 1 ||
	    strspn(text, "0123456789abcdef") != GATE_FILE_INSTANCE_SZ - 1)
		return err_set(err, ERR_FORMAT, 0, "'instance' is %.60s", text);
	memcpy(instance, text, GATE_FILE_INSTANCE_SZ);
	return 0;
}

static int read_report(const struct gate_file_job *job, const struct json *doc,
		       struct gate_file_report *ret_report, struct err *err)
{
	struct gate_file_report found = {
		.report = {.known = true,
			   .min_watermark_unix_ms = INT64_MAX,
			   .max_seen_unix_ms = GATE_NO_TIME},
	};
	const char *transition, *ignored, *why_refused = NULL;

	if (check_schema(doc, err) || check_job(doc, job, err) ||
	    read_instance(doc, found.instance, err) ||
	    need_number(doc, "writtenUnixMs", MAX_NUMBER, &found.written_unix_ms, err) ||
	    need_text(doc, "ignored", &ignored, err) ||
	    json_need_bool(doc, "ended", &found.ended, err) ||
	    read_order(doc, &found.report.order, &transition, err) ||
	    read_gates(doc, &found.report, &why_refused, err))
		return -1;
	found.report.known = found.report.known && !found.ended;
	found.transition = xstrdup(transition);
	found.ignored = xstrdup(ignored);
	found.why_refused = xstrdup(why_refused);
	*ret_report = found;
	return 0;
}

int gate_file_parse(const struct gate_file_job *job, const char *text, size_t len_bytes,
		    struct gate_file_report *ret_report, struct err *err)
{
	cleanup_json struct json *doc = json_parse(text, len_bytes, GATE_FILE_MAX_BYTES, err);

	if (!doc || read_report(job, doc, ret_report, err))
		return err_wrap(err, "the report of the gates");
	return 0;
}

void gate_file_release(struct gate_file_report *report)
{
	free(report->transition);
	free(report->ignored);
	free(report->why_refused);
	*report = (struct gate_file_report){0};
}
