#include "core/resolve/facts.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/words.h"
#include "core/journal/journal_copy.h"

static void trace_release(struct trace *trace)
{
	free(trace->name);
	free(trace->path);
	free(trace->says);
}

void facts_release(struct facts *facts)
{
	if (!facts)
		return;
	for (size_t i = 0; i < SOURCE_COUNT; i++)
		free(facts->sources[i].detail);
	free(facts->results_listed.detail);
	free(facts->job.detail);
	free(facts->job.operators);
	for (size_t i = 0; i < facts->candidate_count; i++) {
		struct candidate *candidate = &facts->candidates[i];

		snapshot_release(&candidate->snapshot);
		free(candidate->detail);
		free(candidate->recovery_detail);
		free(candidate->ha_file);
		free(candidate->reason);
		free(candidate->operators);
		free(candidate->ha_others);
	}
	for (size_t i = 0; i < facts->place_count; i++) {
		free(facts->places[i].dir);
		free(facts->places[i].detail);
	}
	free(facts->places);
	free(facts->candidates);
	free(facts->jobs);
	for (size_t i = 0; i < facts->stored_count; i++)
		free(facts->stored[i]);
	free(facts->stored);
	for (size_t i = 0; i < facts->trace_count; i++)
		trace_release(&facts->traces[i]);
	free(facts->traces);
	free(facts->lock_held);
	free(facts->ended_detail);
	journal_copy_free(facts->copy);
	*facts = (struct facts){0};
}

void facts_set_source(struct facts *facts, enum source_kind kind, enum source_state state,
		      const char *detail)
{
	facts->sources[kind].state = state;
	xstrset(&facts->sources[kind].detail, detail);
}

void facts_set_job(struct facts *facts, enum source_state state, const char *detail)
{
	facts->job.state = state;
	xstrset(&facts->job.detail, detail);
}

void facts_add_operator(struct facts *facts, const char *id)
{
	struct job_fact *job = &facts->job;

	job->operators =
		xreallocarray(job->operators, job->operator_count + 1, sizeof(*job->operators));
	snprintf(job->operators[job->operator_count++], JOB_ID_BYTES, "%s", id);
}

/* The worst of several; absent only when all are. */
static enum source_state join(enum source_state a, enum source_state b)
{
	if (a == SOURCE_UNREADABLE || b == SOURCE_UNREADABLE)
		return SOURCE_UNREADABLE;
	if (a == SOURCE_PRESENT || b == SOURCE_PRESENT)
		return SOURCE_PRESENT;
	return a == SOURCE_NOT_CONFIGURED ? b : a;
}

void facts_add_place(struct facts *facts, enum source_kind source, enum snapshot_kind kind,
		     const char *dir, enum source_state state, const char *detail)
{
	struct source_fact *fact = &facts->sources[source];
	struct place_fact *place;
	char *both;

	facts->places =
		xreallocarray(facts->places, facts->place_count + 1, sizeof(*facts->places));
	place = &facts->places[facts->place_count++];
	*place = (struct place_fact){.source = source,
				     .kind = kind,
				     .dir = xstrdup(dir),
				     .state = state,
				     .detail = xstrdup(detail)};
	if (source != SOURCE_LINEAGE) {
		facts_set_source(facts, source, state, detail);
		return;
	}
	both = xasprintf("%s%s%ss in %s: %s", fact->detail ? fact->detail : "",
			 fact->detail ? "; " : "", snapshot_kind_name(kind), dir,
			 detail ? detail : source_state_name(state));
	facts_set_source(facts, source, join(fact->state, state), both);
	free(both);
}

const struct place_fact *facts_place(const struct facts *facts, enum snapshot_kind kind,
				     const char *dir)
{
	for (size_t i = 0; i < facts->place_count; i++)
		if (facts->places[i].kind == kind && snapshot_same_path(facts->places[i].dir, dir))
			return &facts->places[i];
	return NULL;
}

bool facts_is_listed(enum source_kind source)
{
	return source == SOURCE_CHECKPOINTS || source == SOURCE_SAVEPOINTS ||
	       source == SOURCE_LINEAGE;
}

void facts_set_end(struct facts *facts, const char *job_id, enum job_end end, const char *detail)
{
	snprintf(facts->ended_job, sizeof(facts->ended_job), "%s", job_id);
	facts->ended = end;
	xstrset(&facts->ended_detail, detail);
}

bool facts_stop(const struct facts *facts, struct snapshot *ret_savepoint)
{
	if (facts->ended != JOB_END_STOPPED || !facts->ended_detail)
		return false;
	*ret_savepoint = (struct snapshot){.path = facts->ended_detail,
					   .kind = SNAPSHOT_SAVEPOINT,
					   .size_bytes = -1,
					   .file_count = -1};
	memcpy(ret_savepoint->job_id, facts->ended_job, JOB_ID_BYTES);
	return true;
}

void facts_add_job(struct facts *facts, const char *job_id)
{
	for (size_t i = 0; i < facts->job_count; i++)
		if (!strcmp(facts->jobs[i], job_id))
			return;
	facts->jobs = xreallocarray(facts->jobs, facts->job_count + 1, sizeof(*facts->jobs));
	snprintf(facts->jobs[facts->job_count++], sizeof(*facts->jobs), "%s", job_id);
}

void facts_take_copy(struct facts *facts, struct journal_copy *copy, const char *last_launch_id)
{
	const struct journal *journal = &copy->journal;

	for (size_t i = 0; i < journal->launch_count; i++)
		if (!*last_launch_id || strcmp(journal->launches[i].launch_id, last_launch_id) != 0)
			facts_add_job(facts, journal->launches[i].job_id);
	for (size_t i = 0; i < journal->former_job_count; i++)
		facts_add_job(facts, journal->former_jobs[i]);
	facts->copy = copy;
}

static struct trace *place_of_trace(struct facts *facts, const struct trace *trace)
{
	struct trace *oldest = NULL;
	size_t count = 0;

	for (size_t i = 0; i < facts->trace_count; i++) {
		if (facts->traces[i].kind != trace->kind)
			continue;
		count++;
		if (!oldest || facts->traces[i].unix_ms < oldest->unix_ms)
			oldest = &facts->traces[i];
	}
	if (count == TRACES_OF_A_KIND) {
		if (oldest->unix_ms >= trace->unix_ms)
			return NULL;
		trace_release(oldest);
		return oldest;
	}
	facts->traces =
		xreallocarray(facts->traces, facts->trace_count + 1, sizeof(*facts->traces));
	return &facts->traces[facts->trace_count++];
}

void facts_add_trace(struct facts *facts, const struct trace *trace)
{
	struct trace *place = place_of_trace(facts, trace);

	if (!place)
		return;
	*place = *trace;
	place->name = xstrdup(trace->name ? trace->name : "");
	place->path = xstrdup(trace->path ? trace->path : "");
	place->says = xstrdup(trace->says);
}

bool facts_are_read(const struct facts *facts)
{
	static const enum source_kind kinds[] = {SOURCE_HA, SOURCE_CHECKPOINTS, SOURCE_SAVEPOINTS,
						 SOURCE_LINEAGE, SOURCE_RESULTS};

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (facts->sources[kinds[i]].state == SOURCE_UNREADABLE)
			return false;
	return facts->results_listed.state != SOURCE_UNREADABLE &&
	       facts->sources[SOURCE_CHECKPOINTS].state != SOURCE_NOT_CONFIGURED;
}

const struct trace *facts_newest_trace(const struct facts *facts, enum trace_kind kind)
{
	const struct trace *newest = NULL;

	for (size_t i = 0; i < facts->trace_count; i++)
		if (facts->traces[i].kind == kind &&
		    (!newest || facts->traces[i].unix_ms > newest->unix_ms))
			newest = &facts->traces[i];
	return newest;
}

bool facts_is_own_job(const struct facts *facts, const char *job_id)
{
	for (size_t i = 0; *job_id && i < facts->job_count; i++)
		if (!strncmp(facts->jobs[i], job_id, strlen(job_id)))
			return true;
	return false;
}

void facts_add_stored(struct facts *facts, const char *key)
{
	facts->stored =
		xreallocarray(facts->stored, facts->stored_count + 1, sizeof(*facts->stored));
	facts->stored[facts->stored_count++] = xstrdup(key);
}

const char *facts_ha_job(const struct candidate *candidate, size_t i)
{
	if (!candidate->in_ha || i > candidate->ha_other_count)
		return NULL;
	return i ? candidate->ha_others[i - 1] : candidate->ha_job_id;
}

bool facts_ha_has_job(const struct candidate *candidate, const char *job_id)
{
	const char *job;

	for (size_t i = 0; (job = facts_ha_job(candidate, i)); i++)
		if (!strcmp(job, job_id))
			return true;
	return false;
}

static void add_ha_other(struct candidate *candidate, const char *job_id)
{
	size_t count = candidate->ha_other_count++;

	candidate->ha_others =
		xreallocarray(candidate->ha_others, count + 1, sizeof(*candidate->ha_others));
	snprintf(candidate->ha_others[count], sizeof(*candidate->ha_others), "%s", job_id);
}

void facts_mark_ha(struct candidate *candidate, const char *job_id, const char *current)
{
	if (facts_ha_has_job(candidate, job_id))
		return;
	if (candidate->in_ha && (!current || strcmp(job_id, current) != 0)) {
		add_ha_other(candidate, job_id);
		return;
	}
	if (candidate->in_ha)
		add_ha_other(candidate, candidate->ha_job_id);
	candidate->in_ha = true;
	snprintf(candidate->ha_job_id, sizeof(candidate->ha_job_id), "%s", job_id);
}

bool facts_was_completed(const struct candidate *candidate)
{
	return candidate->integrity != INTEGRITY_INCOMPLETE || candidate->in_ha;
}

bool facts_was_seen(const struct candidate *candidate)
{
	return candidate->snapshot.metadata_bytes > 0 || candidate->snapshot.metadata_unix_ms > 0;
}

static struct candidate *find_path(const struct facts *facts, const char *path, uint64_t key)
{
	for (size_t i = 0; i < facts->candidate_count; i++)
		if (facts->candidates[i].path_key == key &&
		    snapshot_same_path(facts->candidates[i].snapshot.path, path))
			return &facts->candidates[i];
	return NULL;
}

struct candidate *facts_find(const struct facts *facts, const char *path)
{
	return find_path(facts, path, snapshot_path_key(path));
}

static bool is_power_of_two(size_t n)
{
	return !(n & (n - 1));
}

struct candidate *facts_add(struct facts *facts, enum source_kind source,
			    const struct snapshot *snapshot)
{
	uint64_t key = snapshot_path_key(snapshot->path);
	struct candidate *candidate = NULL;

	/* A listing names each path once and may be long: only other sources are compared. */
	if (source != SOURCE_CHECKPOINTS && source != SOURCE_SAVEPOINTS)
		candidate = find_path(facts, snapshot->path, key);
	if (candidate) {
		if (source == SOURCE_JOURNAL && snapshot->checkpoint_id)
			candidate->recorded_id = snapshot->checkpoint_id;
		if (snapshot->origin == ORIGIN_INITIAL)
			candidate->snapshot.origin = ORIGIN_INITIAL;
		return candidate;
	}
	if (is_power_of_two(facts->candidate_count)) /* the array is full */
		facts->candidates = xreallocarray(
			facts->candidates, facts->candidate_count ? 2 * facts->candidate_count : 1,
			sizeof(*facts->candidates));
	candidate = &facts->candidates[facts->candidate_count++];
	*candidate = (struct candidate){.path_key = key, .source = source};
	if (source == SOURCE_JOURNAL)
		candidate->recorded_id = snapshot->checkpoint_id;
	snapshot_copy(&candidate->snapshot, snapshot);
	return candidate;
}

char *facts_is_of_another(const struct candidate *candidate, int64_t checkpoint_id)
{
	return snapshot_is_of_another(candidate->recorded_id ? candidate->recorded_id
							     : candidate->snapshot.checkpoint_id,
				      checkpoint_id);
}

static const char *const source_kind_words[] = {
	[SOURCE_JOURNAL] = "journal",
	[SOURCE_HA] = "ha",
	[SOURCE_CHECKPOINTS] = "checkpoints",
	[SOURCE_SAVEPOINTS] = "savepoints",
	[SOURCE_LINEAGE] = "lineage",
	[SOURCE_INITIAL] = "initial",
	[SOURCE_REQUEST] = "request",
	[SOURCE_RESULTS] = "results",
	[SOURCE_COPY] = "copy",
};
WORDS_OF(source_kind_words, source_kind_name, enum source_kind, "unknown");

WORDS(source_state_name, enum source_state, "unknown", "notConfigured", "present", "absent",
      "unreadable");

WORDS(integrity_name, enum integrity, "unknown", "unchecked", "complete", "damaged", "incomplete",
      "unreadable");

WORDS(verdict_name, enum verdict, "unknown", "none", "chosen", "older", "rejected");

static const char *const trace_kind_words[] = {
	[TRACE_HA] = "ha",
	[TRACE_ID] = "id",
	[TRACE_RESULT] = "result",
};
WORDS_OF(trace_kind_words, trace_kind_name, enum trace_kind, "unknown");
