/*
 * resolve_world - a journal and facts in a short notation, for the tests of resolve().
 *
 *   WORLD_TEST(name) { ran(w, JOB_A, NULL, 0); found_checkpoint(w, JOB_A, 5); decide(w); }
 *
 * A candidate is complete unless the test says otherwise; when resolve() asks to verify an UNCHECKED
 * one, decide() answers with `truth`.
 */
#ifndef DREY_TESTS_RESOLVE_WORLD_H
#define DREY_TESTS_RESOLVE_WORLD_H

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "core/resolve/resolve.h"
#include "tap.h"

#define JOB_A       "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define JOB_B       "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define JOB_C       "cccccccccccccccccccccccccccccccc"
#define JOB_FOREIGN "ffffffffffffffffffffffffffffffff"

struct world {
	struct journal journal;
	struct facts facts;
	struct policy policy;
	struct decision decision;
	enum integrity truth; /* of every unchecked candidate */
	int rounds;           /* calls of resolve() that decide() needed */
};

static inline void begin(struct world *w)
{
	memset(w, 0, sizeof(*w));
	journal_init(&w->journal, "app");
	w->truth = INTEGRITY_COMPLETE;
	w->facts.max_metadata_version = 5;
	w->policy.max_loss.max_ms = LOSS_MAX_AUTO;
	facts_set_source(&w->facts, SOURCE_JOURNAL, SOURCE_PRESENT, "journal");
	facts_set_source(&w->facts, SOURCE_CHECKPOINTS, SOURCE_PRESENT, "checkpoints");
	facts_add_place(&w->facts, SOURCE_SAVEPOINTS, SNAPSHOT_SAVEPOINT, "file:/sp",
			SOURCE_PRESENT, "savepoints");
}

static inline void end(struct world *w)
{
	journal_release(&w->journal);
	facts_release(&w->facts);
}

static inline struct launch *intended(struct world *w, const char *job, const char *restore_path,
				      int64_t restore_id)
{
	struct launch *launch = journal_add_launch(&w->journal);

	snprintf(launch->job_id, sizeof(launch->job_id), "%s", job);
	launch->restore_path = xstrdup(restore_path);
	launch->restore_checkpoint_id = restore_id;
	launch->intended_unix_ms = 1000 * launch->number;
	return launch;
}

static inline struct launch *ran(struct world *w, const char *job, const char *restore_path,
				 int64_t restore_id)
{
	struct launch *launch = intended(w, job, restore_path, restore_id);

	launch->started_unix_ms = launch->intended_unix_ms + 1;
	return launch;
}

static inline struct launch *proved(struct world *w, const char *job, const char *restore_path,
				    int64_t restore_id, int64_t last_id)
{
	struct launch *launch = ran(w, job, restore_path, restore_id);

	launch->verified_unix_ms = launch->started_unix_ms + 1;
	launch->proven_unix_ms = launch->started_unix_ms + 2;
	launch->last_checkpoint_id = last_id;
	launch->last_checkpoint_path = xasprintf("file:/cp/%s/chk-%d", job, (int)last_id);
	w->journal.ever_proven = true;
	return launch;
}

static inline struct candidate *found(struct world *w, enum source_kind source, const char *path,
				      enum snapshot_kind kind, const char *job, int64_t id)
{
	struct snapshot snapshot = {.path = (char *)path,
				    .kind = kind,
				    .checkpoint_id = id,
				    .completed_unix_ms = 1000 * id,
				    .size_bytes = -1,
				    .file_count = -1};
	struct candidate *c;

	snprintf(snapshot.job_id, sizeof(snapshot.job_id), "%s", job);
	c = facts_add(&w->facts, source, &snapshot);
	c->integrity = INTEGRITY_COMPLETE;
	c->metadata_version = 4;
	return c;
}

static inline struct candidate *found_checkpoint(struct world *w, const char *job, int64_t id)
{
	cleanup_free char *path = xasprintf("file:/cp/%s/chk-%d", job, (int)id);

	return found(w, SOURCE_CHECKPOINTS, path, SNAPSHOT_CHECKPOINT, job, id);
}

/* Its name shows only the first six digits of its job id. */
static inline struct candidate *found_savepoint(struct world *w, const char *job, int64_t id)
{
	cleanup_free char *path = xasprintf("file:/sp/savepoint-%.6s-%012d", job, (int)id);
	cleanup_free char *digits = xstrndup(job, 6);

	return found(w, SOURCE_SAVEPOINTS, path, SNAPSHOT_SAVEPOINT, digits, id);
}

static inline struct candidate *given_initial(struct world *w, int64_t id)
{
	facts_set_source(&w->facts, SOURCE_INITIAL, SOURCE_PRESENT, "file:/initial");
	return found(w, SOURCE_INITIAL, "file:/initial", SNAPSHOT_SAVEPOINT, "", id);
}

/* Flink's HA has it under this job id and could recover it. */
static inline struct candidate *in_ha(struct world *w, struct candidate *c, const char *job)
{
	if (w->facts.sources[SOURCE_HA].state == SOURCE_NOT_CONFIGURED)
		facts_set_source(&w->facts, SOURCE_HA, SOURCE_PRESENT, "1 map");
	facts_mark_ha(c, job, job);
	c->recovery = INTEGRITY_COMPLETE;
	return c;
}

/* The next launch has the same generation and Flink version as all the others, so one can continue. */
static inline void same_as_ever(struct world *w)
{
	w->policy.generation = "g1";
	w->policy.flink_version = "2.3.0";
	for (size_t i = 0; i < w->journal.launch_count; i++) {
		xstrset(&w->journal.launches[i].generation, "g1");
		xstrset(&w->journal.launches[i].flink_version, "2.3.0");
	}
}

/* One operator for each letter. */
static inline struct candidate *with_operators(struct candidate *c, const char *letters)
{
	size_t count = strlen(letters);

	free(c->operators);
	c->operators = xcalloc(count + 1, sizeof(*c->operators));
	c->operator_count = count;
	for (size_t i = 0; i < count; i++)
		memset(c->operators[i], letters[i], JOB_ID_BYTES - 1);
	return c;
}

static inline void broken(struct candidate *c, enum integrity integrity, const char *detail)
{
	c->integrity = integrity;
	xstrset(&c->detail, detail);
}

#define ASKED_NOW_MS INT64_C(1000000000) /* later than everything found */

/* A person's request, made now. */
static inline void request(struct world *w, enum restore_request_kind kind, const char *path,
			   const char *token)
{
	w->journal.intent.restore.kind = kind;
	xstrset(&w->journal.intent.restore.path, path);
	xstrset(&w->journal.intent.restore.token, token);
	w->journal.intent.restore.asked_unix_ms = ASKED_NOW_MS;
}

/* The last launch was made to carry out the request. */
static inline void carried_out(struct world *w)
{
	const char *token = w->journal.intent.restore.token;

	journal_consume(&w->journal, token);
	xstrset(&journal_launch(&w->journal)->request_token, token);
}

/* Call resolve() until it decides, and answer its requests to verify. */
static inline enum decision_kind decide(struct world *w)
{
	for (w->rounds = 1; w->rounds < 1000; w->rounds++) {
		struct candidate *asked;

		resolve(&w->journal, &w->facts, &w->policy, &w->decision);
		if (w->decision.kind != DECISION_VERIFY)
			break;
		asked = &w->facts.candidates[w->decision.candidate];
		if (asked->in_ha && asked->recovery == INTEGRITY_UNCHECKED)
			asked->recovery = w->truth;
		if (asked->integrity == INTEGRITY_UNCHECKED)
			asked->integrity = w->truth;
		xstrset(&asked->detail, "verified");
	}
	return w->decision.kind;
}

/* The path to start from or to continue with; NULL if the decision is another one. */
static inline const char *chosen(const struct world *w)
{
	if (w->decision.kind != DECISION_START_FROM && w->decision.kind != DECISION_CONTINUE)
		return NULL;
	return w->facts.candidates[w->decision.candidate].snapshot.path;
}

#define CHECK_DECIDES(w, what)                                                                     \
	do {                                                                                       \
		CHECK_STR(decision_kind_name(decide(w)), #what);                                   \
		CHECK((w)->decision.reason[0]);                                                    \
	} while (0)
#define CHECK_CONTINUES(w, path)                                                                   \
	do {                                                                                       \
		CHECK_DECIDES(w, CONTINUE);                                                        \
		CHECK_STR(chosen(w), path);                                                        \
	} while (0)
#define CHECK_STARTS_FROM(w, path)                                                                 \
	do {                                                                                       \
		decide(w);                                                                         \
		CHECK_STR((w)->decision.kind == DECISION_START_FROM ? chosen(w) : NULL, path);     \
		if (!chosen(w))                                                                    \
			tap_note("%s: %s", decision_kind_name((w)->decision.kind),                 \
				 (w)->decision.reason);                                            \
	} while (0)

/* A test that has begun in this way, and in the usual one. */
#define WORLD_TEST_FROM(begin, name) TEST_WITH(name, struct world, w, begin, end)
#define WORLD_TEST(name)             WORLD_TEST_FROM(begin, name)

#endif
