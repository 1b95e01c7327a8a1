/*
 * story - one application as seen from outside: its storage, its containers, its users. The real core,
 * resolve() and the life cycle together, decides and acts.
 *
 *   STORY_TEST(name) { observe(s); start(s); checkpoint(s, 1); ... }
 *
 * Everything in storage is complete unless the test says otherwise.
 */
#ifndef DREY_TESTS_STORY_H
#define DREY_TESTS_STORY_H

#include <inttypes.h>

#include "life.h"

#define STORY_SNAPS 24

struct stored {
	char path[128];
	enum snapshot_kind kind;
	char job_id[JOB_ID_BYTES]; /* as its name shows it */
	int64_t id, completed_unix_ms;
	int64_t metadata_bytes; /* as it is listed; 0 = no listing has it */
	enum integrity integrity;
	int version;
	bool in_ha; /* the HA data of its job contain it */
};

struct story {
	struct life l;
	struct stored stored[STORY_SNAPS];
	int count;
	const char *unreadable; /* why storage cannot be read; NULL = it can */
	int max_version;        /* of the _metadata that this Flink reads */
	char path[128];         /* path of the snapshot made last */
};

static inline void story_begin(struct story *s)
{
	memset(s, 0, sizeof(*s));
	life_begin(&s->l);
	s->max_version = 5;
}

static inline void story_end(struct story *s)
{
	life_end(&s->l);
}

static inline int64_t story_now(const struct story *s)
{
	return UNIX_START + s->l.now_ms;
}

static inline struct stored *store(struct story *s, enum snapshot_kind kind, int64_t id)
{
	struct stored *stored = &s->stored[s->count++];

	CHECK(s->count <= STORY_SNAPS);
	stored->kind = kind;
	stored->id = id;
	stored->version = 4;
	stored->integrity = INTEGRITY_COMPLETE;
	stored->completed_unix_ms = story_now(s);
	/* the name of a savepoint has only six digits of the job id */
	memcpy(stored->job_id, job_of(&s->l), kind == SNAPSHOT_CHECKPOINT ? JOB_ID_BYTES - 1 : 6);
	if (kind == SNAPSHOT_CHECKPOINT)
		snprintf(s->path, sizeof(s->path), "file:/cp/%s/chk-%d", job_of(&s->l), (int)id);
	else
		snprintf(s->path, sizeof(s->path), "file:/sp/savepoint-%.6s-%012d", job_of(&s->l),
			 (int)id);
	memcpy(stored->path, s->path, sizeof(stored->path));
	return stored;
}

/* ---- drey reads the sources and decides ---- */

static inline void gather(const struct story *s, struct facts *facts)
{
	facts->max_metadata_version = s->max_version;
	facts->now_unix_ms = story_now(s);
	facts_set_source(facts, SOURCE_JOURNAL, SOURCE_PRESENT, "journal");
	facts_add_place(facts, SOURCE_CHECKPOINTS, SNAPSHOT_CHECKPOINT, "file:/cp",
			s->unreadable ? SOURCE_UNREADABLE : SOURCE_PRESENT, s->unreadable);
	facts_add_place(facts, SOURCE_SAVEPOINTS, SNAPSHOT_SAVEPOINT, "file:/sp",
			s->unreadable ? SOURCE_UNREADABLE : SOURCE_PRESENT, s->unreadable);
	for (int i = 0; i < s->count && !s->unreadable; i++) {
		struct snapshot snapshot = {.path = (char *)(uintptr_t)s->stored[i].path,
					    .kind = s->stored[i].kind,
					    .checkpoint_id = s->stored[i].id,
					    .completed_unix_ms = s->stored[i].completed_unix_ms,
					    .metadata_bytes = s->stored[i].metadata_bytes,
					    .size_bytes = -1,
					    .file_count = -1};
		struct candidate *c;

		memcpy(snapshot.job_id, s->stored[i].job_id, JOB_ID_BYTES);
		c = facts_add(facts,
			      snapshot.kind == SNAPSHOT_CHECKPOINT ? SOURCE_CHECKPOINTS
								   : SOURCE_SAVEPOINTS,
			      &snapshot);
		c->integrity = s->stored[i].integrity;
		c->metadata_version = s->stored[i].version;
		if (s->stored[i].in_ha)
			facts_mark_ha(c, snapshot.job_id, NULL);
		xstrset(&c->detail, "as stored");
	}
}

/* Read the sources as requested, and let the core decide. */
static inline void observe(struct story *s)
{
	struct facts facts = {0};
	struct decision decision;
	struct event e = {.type = EVENT_OBSERVED, .observed = {&facts, &decision}};

	CHECK(s->l.life.observing);
	gather(s, &facts);
	resolve(&s->l.life.journal, &facts, &s->l.config.policy, &decision);
	CHECK(decision.kind != DECISION_VERIFY);
	step(&s->l, &e);
	facts_release(&facts);
}

/* A new container of this generation. */
static inline void container(struct story *s, const char *generation)
{
	s->l.now_ms += 1000;
	restart_as(&s->l, generation);
	hello(&s->l, NULL);
}

/* ---- Flink ---- */

static inline struct view restored_view(const struct story *s, enum job_state state)
{
	const struct launch *launch = journal_launch_const(&s->l.life.journal);
	struct view view = job_in(state);

	view.restored = launch->restore_path != NULL;
	view.restored_id = launch->restore_checkpoint_id;
	view.restored_path = launch->restore_path;
	view.completed_id = launch->last_checkpoint_id;
	view.completed_path = launch->last_checkpoint_path;
	return view;
}

/* Flink starts, and the job runs from what was decided. */
static inline void start(struct story *s)
{
	CHECK_INT(took(&s->l, EFFECT_LAUNCH), ==, 1);
	started(&s->l);
	viewed(&s->l, restored_view(s, JOB_RUNNING));
	CHECK_PHASE(&s->l, PHASE_RUNNING);
	forget(&s->l);
}

/* A checkpoint that is in storage and that REST shows. */
static inline void checkpoint(struct story *s, int64_t id)
{
	struct view view = restored_view(s, JOB_RUNNING);

	store(s, SNAPSHOT_CHECKPOINT, id);
	view.completed_id = id;
	view.completed_path = s->path;
	view.completed_unix_ms = story_now(s);
	viewed(&s->l, view);
	s->l.now_ms += 1000;
}

/* The operation in flight has made its savepoint: it is in storage, but drey does not know yet. */
static inline void savepoint(struct story *s, int64_t id)
{
	s->l.now_ms += 1000;
	store(s, SNAPSHOT_SAVEPOINT, id);
}

/* ... and Flink has reported it, and drey has verified it. */
static inline void reported(struct story *s, int64_t id)
{
	struct event e = {.type = EVENT_INSPECTED,
			  .inspected = {.path = s->path,
					.readable = true,
					.complete = true,
					.checkpoint_id = id,
					.size_bytes = 1000,
					.file_count = 3}};

	operation(&s->l, STATUS_COMPLETED, s->path, NULL);
	step(&s->l, &e);
}

/* The job of generation g1, running and proven by checkpoint 1. */
static inline void story_runs(struct story *s)
{
	story_begin(s);
	hello(&s->l, NULL);
	observe(s);
	start(s);
	checkpoint(s, 1);
	forget(&s->l);
}

/* Suspended with savepoint `id`. */
static inline void suspend(struct story *s, int64_t id)
{
	desire(&s->l, DESIRED_SUSPENDED);
	operation(&s->l, STATUS_ACCEPTED, NULL, NULL);
	savepoint(s, id);
	reported(s, id);
	viewed(&s->l, job_in(JOB_FINISHED));
	exited(&s->l, EXITED(0));
	CHECK_PHASE(&s->l, PHASE_SUSPENDED);
	forget(&s->l);
}

static inline void resume(struct story *s)
{
	control(&s->l, CONTROL_STATE | CONTROL_NEW_START,
		(struct intent){.state = DESIRED_RUNNING});
}

#define CHECK_STARTS(s, path)                                                                      \
	do {                                                                                       \
		CHECK_INT(took(&(s)->l, EFFECT_LAUNCH), ==, 1);                                    \
		CHECK_STR(journal_launch_const(&(s)->l.life.journal)->restore_path, path);         \
	} while (0)

/* A test that has begun in this way, and in the usual one. */
#define STORY_TEST_FROM(begin, name) TEST_WITH(name, struct story, s, begin, story_end)
#define STORY_TEST(name)             STORY_TEST_FROM(story_begin, name)

#endif
