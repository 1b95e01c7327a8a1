#include "core/trace/life_trace_facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/journal/journal_copy.h"
#include "core/journal/journal_fields.h"

static const char *const settlements[] = {"none", "made", "passed", "failed", "open", NULL};

/* ---- facts ---- */

#define CANDIDATE(name, kind, member, ...) FIELD(name, kind, struct candidate, member, __VA_ARGS__)

/* Jobs in the form in which facts.jobs and candidate.ha_others have them. */
static void write_ids(struct json *to, const char *name, char (*const ids)[JOB_ID_BYTES],
		      size_t count)
{
	struct json *array = json_add_array(to, name);

	for (size_t i = 0; i < count; i++)
		json_add_str(array, NULL, ids[i]);
}

static int read_ids(const struct json *from, const char *name, char (**ids)[JOB_ID_BYTES],
		    size_t *count, struct err *err)
{
	const struct json *array, *element;

	if (json_need_array(from, name, &array, err) < 0)
		return -1;
	json_each (element, array) {
		*ids = xreallocarray(*ids, *count + 1, sizeof(**ids));
		snprintf((*ids)[(*count)++], JOB_ID_BYTES, "%s",
			 json_text(element) ? json_text(element) : "");
	}
	return 0;
}

static void write_others(struct json *to, const void *from)
{
	const struct candidate *c = from;

	write_ids(to, "haOthers", c->ha_others, c->ha_other_count);
}

static int read_others(const struct json *from, void *to, struct err *err)
{
	struct candidate *c = to;

	c->path_key = snapshot_path_key(c->snapshot.path ? c->snapshot.path : "");
	return read_ids(from, "haOthers", &c->ha_others, &c->ha_other_count, err);
}

static const struct field candidate_fields[] = {
	CANDIDATE("snapshot", RECORD, snapshot, .record = &snapshot_table),
	CANDIDATE("source", SMALL, source, .unknown = -1),
	CANDIDATE("integrity", SMALL, integrity, .unknown = -1),
	CANDIDATE("inHa", BOOL, in_ha, .sparse = true),
	CANDIDATE("haJobId", ID, ha_job_id),
	{.name = "haOthers", .kind = FIELD_OWN, .write = write_others, .read = read_others},
	CANDIDATE("haFormer", BOOL, ha_former, .sparse = true),
	CANDIDATE("haCounter", KNOWN, ha_counter, .sparse = true),
	CANDIDATE("recovery", SMALL, recovery, .unknown = -1),
	CANDIDATE("listedUnixMs", KNOWN, listed_unix_ms, .sparse = true),
	CANDIDATE("readUnixMs", KNOWN, read_unix_ms, .sparse = true),
	CANDIDATE("contradicted", BOOL, contradicted, .sparse = true),
	CANDIDATE("gatesHold", BOOL, gates_hold, .sparse = true),
	CANDIDATE("metadataVersion", SMALL, metadata_version, .sparse = true),
	CANDIDATE("detail", TEXT, detail, .sparse = true),
	CANDIDATE("verdict", SMALL, verdict, .unknown = -1),
	CANDIDATE("reason", TEXT, reason, .sparse = true),
	CANDIDATE("passedOver", BOOL, passed_over, .sparse = true),
};
static const struct record candidate_table = RECORD(struct candidate, candidate_fields);

static void write_jobs(struct json *to, const void *from)
{
	const struct facts *facts = from;

	write_ids(to, "jobs", facts->jobs, facts->job_count);
}

static int read_jobs(const struct json *from, void *to, struct err *err)
{
	struct facts *facts = to;

	return read_ids(from, "jobs", &facts->jobs, &facts->job_count, err);
}

/* Only its journal: where it was and who wrote it decides nothing in the life cycle. */
static void write_copy(struct json *to, const void *from)
{
	const struct facts *facts = from;

	if (facts->copy)
		record_add(to, "copy", &journal_table, &facts->copy->journal, NULL);
}

static int read_copy(const struct json *from, void *to, struct err *err)
{
	struct facts *facts = to;
	const struct json *object;
	int found = json_opt_object(from, "copy", &object, err);

	if (found <= 0)
		return found;
	facts->copy = xcalloc(1, sizeof(*facts->copy));
	record_init(&journal_table, &facts->copy->journal);
	return record_read(&journal_table, object, &facts->copy->journal, err);
}

/* How the sources were read: a job id is drawn only where its traces would have been seen. */
static void write_sources(struct json *to, const void *from)
{
	const struct facts *facts = from;
	struct json *sources = json_add_object(to, "sources");

	for (int i = 0; i < SOURCE_COUNT; i++) {
		const struct source_fact *source = &facts->sources[i];
		struct json *object;

		if (source->state == SOURCE_NOT_CONFIGURED)
			continue;
		object = json_add_object(sources, source_kind_name((enum source_kind)i));
		json_add_i64(object, "state", source->state);
		if (source->state == SOURCE_UNREADABLE)
			json_add_str_opt(object, "detail", source->detail);
	}
}

static int read_sources(const struct json *from, void *to, struct err *err)
{
	struct facts *facts = to;
	const struct json *sources, *object;
	int64_t state = SOURCE_NOT_CONFIGURED;
	int found = json_opt_object(from, "sources", &sources, err);

	for (int i = 0; found > 0 && i < SOURCE_COUNT; i++) {
		const char *name = source_kind_name((enum source_kind)i);
		int there = json_opt_object(sources, name, &object, err);

		if (there < 0 || (there > 0 && json_opt_i64(object, "state", &state, err) < 0))
			return err_wrap(err, "sources");
		if (there > 0 && state > SOURCE_NOT_CONFIGURED && state <= SOURCE_UNREADABLE)
			facts_set_source(facts, (enum source_kind)i, (enum source_state)state,
					 json_str(object, "detail"));
	}
	return found < 0 ? -1 : 0;
}

static const struct field facts_fields[] = {
	FIELDS("candidates", LIST, struct facts, candidates, candidate_count,
	       .record = &candidate_table),
	{.name = "jobs", .kind = FIELD_OWN, .write = write_jobs, .read = read_jobs},
	{.name = "copy", .kind = FIELD_OWN, .write = write_copy, .read = read_copy},
	{.name = "sources", .kind = FIELD_OWN, .write = write_sources, .read = read_sources},
	FIELD("namesRead", BOOL, struct facts, names_read, .sparse = true),
	FIELD("haUnread", BOOL, struct facts, ha_unread, .sparse = true),
	FIELD("endedJob", ID, struct facts, ended_job),
	FIELD("ended", SMALL, struct facts, ended, .unknown = -1),
	FIELD("endedDetail", TEXT, struct facts, ended_detail, .sparse = true),
};
static const struct record facts_table = RECORD(struct facts, facts_fields);

/* ---- the decision ---- */

#define DECISION(name, kind, member, ...) FIELD(name, kind, struct decision, member, __VA_ARGS__)
static const struct field decision_fields[] = {
	DECISION("kind", WORD, kind, .words = decision_words),
	DECISION("rule", SMALL, rule),
	DECISION("candidate", NUMBER, candidate),
	DECISION("settlement", WORD, settlement, .words = settlements),
	DECISION("settled", NUMBER, settled),
	DECISION("lossIsOne", BOOL, loss.is_one, .sparse = true),
	DECISION("lossCandidate", NUMBER, loss.candidate, .sparse = true),
	DECISION("lossUnixMs", KNOWN, loss.unix_ms, .sparse = true),
	DECISION("lossMs", NUMBER, loss.ms, .sparse = true),
	DECISION("allowNonRestored", BOOL, allow_non_restored, .sparse = true),
	DECISION("token", TEXT, token, .sparse = true),
	DECISION("permit", TEXT, permit, .sparse = true),
	DECISION("adopted", BOOL, adopted, .sparse = true),
	DECISION("outcome", SMALL, outcome),
	DECISION("cause", SMALL, cause),
	DECISION("reason", CHARS, reason),
	DECISION("outcomeReason", CHARS, outcome_reason, .sparse = true),
};
static const struct record decision_table = RECORD(struct decision, decision_fields);

_Static_assert(sizeof(size_t) == sizeof(int64_t), "candidate and settled are read as int64_t");

/* ---- both ---- */

static void write_both(struct json *to, const struct facts *facts, const struct decision *decision)
{
	if (facts)
		record_add(to, "facts", &facts_table, facts, NULL);
	if (decision)
		record_add(to, "decision", &decision_table, decision, NULL);
}

static int read_both(const struct json *from, struct facts **ret_facts,
		     const struct decision **ret_decision, struct err *err)
{
	const struct json *object;
	struct decision *decision;
	int found = json_opt_object(from, "facts", &object, err);

	if (found > 0) {
		*ret_facts = xcalloc(1, sizeof(**ret_facts));
		record_init(&facts_table, *ret_facts);
		found = record_read(&facts_table, object, *ret_facts, err);
	}
	if (found < 0)
		return -1;
	found = json_opt_object(from, "decision", &object, err);
	if (found <= 0)
		return found;
	decision = xcalloc(1, sizeof(*decision));
	record_init(&decision_table, decision);
	*ret_decision = decision;
	return record_read(&decision_table, object, decision, err);
}

void life_trace_observed_write(struct json *to, const void *event)
{
	const struct event *e = event;

	write_both(to, e->observed.facts, e->observed.decision);
}

int life_trace_observed_read(const struct json *from, void *event, struct err *err)
{
	struct event *e = event;

	return read_both(from, &e->observed.facts, &e->observed.decision, err);
}

void life_trace_refused_write(struct json *to, const void *event)
{
	const struct event *e = event;

	write_both(to, e->refused.facts, e->refused.decision);
}

int life_trace_refused_read(const struct json *from, void *event, struct err *err)
{
	struct event *e = event;

	return read_both(from, &e->refused.facts, &e->refused.decision, err);
}

void life_trace_facts_release(struct facts *facts, const struct decision *decision)
{
	struct decision *owned = (struct decision *)(uintptr_t)decision;

	if (facts)
		facts_release(facts);
	free(facts);
	if (owned)
		record_release(&decision_table, owned);
	free(owned);
}
