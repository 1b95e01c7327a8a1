/* observe_verify: one candidate closely. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "run/observe/observe_internal.h"
#include "store/verify.h"

static void take_operators(struct candidate *candidate, const struct verify_report *report)
{
	size_t count = report->operator_count;

	free(candidate->operators);
	candidate->operators = count ? xcalloc(count, sizeof(*candidate->operators)) : NULL;
	candidate->operator_count = count;
	for (size_t i = 0; i < count; i++)
		memcpy(candidate->operators[i], report->operators[i], JOB_ID_BYTES);
}

static void take_content(struct candidate *candidate, const struct verify_report *report)
{
	struct snapshot *snapshot = &candidate->snapshot;

	candidate->metadata_version = report->header.version;
	snapshot->size_bytes = report->size_bytes;
	snapshot->file_count = (int64_t)report->file_count;
	/* Flink writes no date into it. */
	if (snapshot->completed_unix_ms <= 0 && report->metadata_unix_ms > 0)
		snapshot->completed_unix_ms = report->metadata_unix_ms;
	candidate->gates_hold = metadata_gates_hold(report->tail.gates);
	take_operators(candidate, report);
}

/* Its _metadata does not exist: no damage, unless another witness knows that it did (core/resolve/evidence.h). */
static bool is_gone(const struct verify_report *report)
{
	return report->verdict == VERIFY_DAMAGED && !report->decoded && report->problem_count &&
	       report->problems[0].fault == VERIFY_MISSING;
}

/* The caller frees it. */
static char *why_broken(const struct verify_report *report)
{
	const struct verify_problem *problem = report->problems;

	return report->problem_count ? xasprintf("%s %s", problem->path, problem->detail)
				     : xstrdup(verify_verdict_name(report->verdict));
}

static enum integrity broken(const struct verify_report *report)
{
	return report->verdict == VERIFY_DAMAGED ? INTEGRITY_DAMAGED : INTEGRITY_UNREADABLE;
}

static void set_broken(struct candidate *candidate, const struct verify_report *report)
{
	cleanup_free char *why = why_broken(report);

	observe_set(candidate, is_gone(report) ? INTEGRITY_INCOMPLETE : broken(report), why);
}

static void judge(struct candidate *candidate, const struct verify_report *report)
{
	struct snapshot *snapshot = &candidate->snapshot;
	cleanup_free char *text = facts_is_of_another(candidate, report->header.checkpoint_id);

	if (report->verdict != VERIFY_COMPLETE) {
		set_broken(candidate, report);
		return;
	}
	/* MUT: a wrong checkpoint id in _metadata is accepted */
	if (text) {
		observe_set(candidate, INTEGRITY_DAMAGED, text);
		return;
	}
	snapshot->checkpoint_id = report->header.checkpoint_id;
	snapshot->verified = true;
	snapshot->verified_unix_ms = clock_unix_ms();
	candidate->integrity = INTEGRITY_COMPLETE;
}

/* ---- what Flink would recover from ---- */

/* The object that Flink will deserialize names whole paths, and Flink reads nothing else. UNCHECKED: it could not
 * be read as far as that. */
static enum integrity judge_object(struct stores *stores, struct candidate *candidate)
{
	struct verify_report report = {0};
	enum integrity verdict = INTEGRITY_COMPLETE;

	if (verify_object_in(stores, candidate->ha_file, &report, NULL))
		return INTEGRITY_UNCHECKED;
	if (report.verdict != VERIFY_COMPLETE) {
		verdict = broken(&report);
		free(candidate->recovery_detail);
		candidate->recovery_detail = why_broken(&report);
	}
	verify_release(&report);
	return verdict;
}

/* Its completedCheckpoint file is good (else this was settled when the facts were gathered). What is left are the
 * state files: those that the _metadata names, if all of them are there, else those that the file itself names. */
static enum integrity recovery_of(struct stores *stores, struct candidate *candidate,
				  const struct verify_report *report)
{
	enum integrity object = INTEGRITY_UNCHECKED;

	if (candidate->integrity == INTEGRITY_COMPLETE)
		return INTEGRITY_COMPLETE;
	/* MUT: an HA entry is judged by the _metadata beside it */
	if (candidate->ha_file)
		object = judge_object(stores, candidate);
	if (object != INTEGRITY_UNCHECKED)
		return object;
	if (report->decoded && report->verdict != VERIFY_COMPLETE)
		return candidate->integrity;
	return candidate->integrity == INTEGRITY_UNREADABLE ? INTEGRITY_UNREADABLE
							    : INTEGRITY_COMPLETE;
}

static void verify_in(struct stores *stores, struct candidate *candidate)
{
	struct verify_report report = {0};
	struct err err = {0};

	candidate->read_unix_ms = clock_unix_ms();
	candidate->contradicted = false;
	if (verify_snapshot_in(stores, candidate->snapshot.path, &report, &err) < 0) {
		observe_set(candidate, INTEGRITY_UNREADABLE, err.msg);
		if (candidate->in_ha && !candidate->recovery)
			candidate->recovery = INTEGRITY_UNREADABLE;
		return;
	}
	if (report.decoded)
		take_content(candidate, &report);
	judge(candidate, &report);
	if (candidate->in_ha && !candidate->recovery)
		candidate->recovery = recovery_of(stores, candidate, &report);
	verify_release(&report);
}

void observe_verify(const struct store_config *storage, struct candidate *candidate)
{
	cleanup_stores struct stores stores = {.config = storage};

	verify_in(&stores, candidate);
}

void observe_check(const struct observe_plan *plan, struct facts *facts, size_t index)
{
	struct look look = {.facts = facts,
			    .stores = {.config = plan->storage, .seen = plan->seen}};

	if (facts->candidates[index].wanted) {
		for (size_t i = 0; i < facts->candidate_count; i++)
			if (facts->candidates[i].wanted)
				observe_note_peek(&look, &facts->candidates[i]);
		observe_peek(&look);
	} else {
		facts->candidates[index].unread = false;
		verify_in(&look.stores, &facts->candidates[index]);
	}
	stores_release(&look.stores);
}
