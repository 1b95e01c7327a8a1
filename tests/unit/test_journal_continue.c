/*
 * drey continues with the journals that 0.1.0 has left (tests/fixtures/journal). In storage is what each of them names, nothing
 * runs, and the next version of drey is started: what it decides, launches and writes.
 */
#include "base/fs.h"
#include "core/resolve/resolve.h"
#include "life.h"

#define OLD "tests/fixtures/journal/0.1.0-"

static const struct {
	const char *name, *generation;
	enum phase phase; /* what follows from the decision */
	enum cause cause;
	const char
		*from; /* the last part of the path that the launch starts from; NULL = nothing */
} rows[] = {
	{"fresh", "g1", PHASE_LAUNCHING, CAUSE_NONE, NULL},
	{"launching", "g1", PHASE_LAUNCHING, CAUSE_NONE, NULL},
	{"running", "g1", PHASE_LAUNCHING, CAUSE_NONE, "chk-1"},
	{"savepoint", "g1", PHASE_LAUNCHING, CAUSE_NONE, "savepoint-94136d-1241037c7e05"},
	{"operation", "g1", PHASE_LAUNCHING, CAUSE_NONE, "savepoint-94136d-1241037c7e05"},
	{"operation-unsettled", "g1", PHASE_LAUNCHING, CAUSE_NONE, "chk-1"},
	{"restored", "g1", PHASE_LAUNCHING, CAUSE_NONE, "chk-5"},
	{"many-launches", "g1", PHASE_LAUNCHING, CAUSE_NONE, "chk-79"},
	{"upgraded", "g2", PHASE_LAUNCHING, CAUSE_NONE, "savepoint-37f5ba-5abb64890640"},
	{"empty-by-order", "g1", PHASE_LAUNCHING, CAUSE_NONE, NULL},
	{"request", "g1", PHASE_HOLDING, CAUSE_REQUESTED_SNAPSHOT_UNUSABLE, NULL},
	{"restore-mismatch", "g1", PHASE_HOLDING, CAUSE_RESTORE_MISMATCH, NULL},
	{"suspended", "g1", PHASE_SUSPENDED, CAUSE_SUSPENDED, NULL},
	{"cancelled", "g1", PHASE_CANCELLED, CAUSE_CANCELLED, NULL},
	{"finished", "g1", PHASE_FINISHED, CAUSE_FINISHED, NULL},
	{"failed", "g2", PHASE_FAILED, CAUSE_ATTEMPTS_USED_UP, NULL},
	/* another version may try */
	{"failed", "g3", PHASE_LAUNCHING, CAUSE_NONE, "savepoint-37f5ba-5abb64890640"},
};

/* Every snapshot that the journal names is where it says, and complete. */
static void find_all(const struct journal *journal, struct facts *facts)
{
	facts->max_metadata_version = 6;
	facts_set_source(facts, SOURCE_JOURNAL, SOURCE_PRESENT, "journal");
	facts_add_place(facts, SOURCE_CHECKPOINTS, SNAPSHOT_CHECKPOINT, "file:///data/ck",
			SOURCE_PRESENT, "read");
	facts_add_place(facts, SOURCE_SAVEPOINTS, SNAPSHOT_SAVEPOINT, "file:///data/sp",
			SOURCE_PRESENT, "read");
	if (journal->operation.path)
		facts_add_place(facts, SOURCE_SAVEPOINTS, SNAPSHOT_SAVEPOINT,
				journal->operation.path, SOURCE_PRESENT, "read");
	for (size_t i = 0; i < journal->launch_count; i++) {
		const struct launch *launch = &journal->launches[i];
		struct snapshot snapshot = {.path = launch->last_checkpoint_path,
					    .kind = SNAPSHOT_CHECKPOINT,
					    .checkpoint_id = launch->last_checkpoint_id};

		memcpy(snapshot.job_id, launch->job_id, JOB_ID_BYTES);
		if (snapshot.path)
			facts_add(facts, SOURCE_CHECKPOINTS, &snapshot);
	}
	for (size_t i = 0; i < journal->snapshot_count; i++)
		facts_add(facts,
			  journal->snapshots[i].kind == SNAPSHOT_SAVEPOINT ? SOURCE_SAVEPOINTS
									   : SOURCE_CHECKPOINTS,
			  &journal->snapshots[i]);
	for (size_t i = 0; i < facts->candidate_count; i++) {
		facts->candidates[i].integrity = INTEGRITY_COMPLETE;
		facts->candidates[i].metadata_version = 4;
	}
}

static void decide_on(struct life *l)
{
	struct facts facts = {0};
	struct decision decision;
	struct event e = {.type = EVENT_OBSERVED, .observed = {&facts, &decision}};

	find_all(&l->life.journal, &facts);
	resolve(&l->life.journal, &facts, &l->config.policy, &decision);
	CHECK(decision.kind != DECISION_VERIFY);
	step(l, &e);
	facts_release(&facts);
}

static const char *last_part(const char *path)
{
	return path ? strrchr(path, '/') + 1 : NULL;
}

/* The launches of then are in what was written, in their order, and the new one comes after them. */
static void check_written(const struct life *l, const struct journal *old, bool launched)
{
	struct journal now;
	struct err err = {0};
	size_t dropped;

	if (!CHECK_INT(journal_decode(l->durable_text.data, l->durable_text.len_bytes, &now, &err),
		       ==, 0))
		return;
	CHECK_INT(now.sequence, >, old->sequence);
	CHECK_STR(now.application, old->application);
	CHECK_INT(now.launch_count + (old->launch_count == JOURNAL_MAX_LAUNCHES && launched), ==,
		  old->launch_count + launched);
	dropped = old->launch_count + launched - now.launch_count;
	for (size_t i = dropped; i < old->launch_count; i++)
		CHECK_STR(now.launches[i - dropped].job_id, old->launches[i].job_id);
	CHECK_INT(now.ever_proven, ==, old->ever_proven);
	journal_release(&now);
}

static void go_on(struct life *l, size_t row)
{
	cleanup_free char *path = xasprintf(OLD "%s.json", rows[row].name);
	const bool launched = rows[row].phase == PHASE_LAUNCHING;
	struct journal old;
	struct err err = {0};

	tap_note("%s, %s", rows[row].name, rows[row].generation);
	buf_clear(&l->durable_text);
	if (!CHECK_INT(fs_read(path, JOURNAL_MAX_BYTES, &l->durable_text, &err), ==, 0) ||
	    !CHECK_INT(journal_decode(l->durable_text.data, l->durable_text.len_bytes, &old, &err),
		       ==, 0))
		return;
	l->config.policy.flink_version = "2.3.0";
	restart_as(l, rows[row].generation);
	hello(l, NULL);
	if (launched)
		await_observe(l); /* where its end counts as a failed attempt, after a pause */
	if (l->life.observing)
		decide_on(l);
	CHECK_PHASE(l, rows[row].phase);
	CHECK_STR(cause_name(l->life.cause), cause_name(rows[row].cause));
	CHECK_INT(took(l, EFFECT_LAUNCH), ==, launched);
	if (launched)
		CHECK_STR(last_part(journal_launch(&l->life.journal)->restore_path),
			  rows[row].from);
	check_written(l, &old, launched);
	journal_release(&old);
}

LIFE_TEST(every_journal_of_0_1_0_is_continued)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		go_on(l, i);
}
