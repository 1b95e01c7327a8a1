/* Signs of life: what storage and HA show of a launch of which REST says nothing. */
#include "core/resolve/signs.h"

#include "resolve_world.h"

#define JOB  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define ELSE "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

/* One candidate, and how the sources were read. */
struct row {
	const char *what;
	const char *job; /* NULL = no candidate */
	int64_t id;
	enum integrity integrity;
	bool in_ha;
	int64_t counter;
	enum source_kind source; /* that is not `present` */
	enum source_state state;
	enum job_end ended;
	enum signs_verdict verdict;
	const char *says;
};

static const struct row rows[] = {
	{"nothing at all", .verdict = SIGNS_NONE, .says = ""},
	{"a completed checkpoint", JOB, 13, INTEGRITY_UNCHECKED, .verdict = SIGNS_ALIVE,
	 .says = "checkpoint 13 of job " JOB " was completed"},
	{"one that was read", JOB, 13, INTEGRITY_COMPLETE, .verdict = SIGNS_ALIVE, .says = "13"},
	{"a damaged one was completed, too", JOB, 13, INTEGRITY_DAMAGED, .verdict = SIGNS_ALIVE,
	 .says = "13"},
	{"one that was begun", JOB, 13, INTEGRITY_INCOMPLETE, .verdict = SIGNS_ALIVE,
	 .says = "checkpoint 13 of job " JOB " was begun"},
	{"one that cannot be read", JOB, 13, INTEGRITY_UNREADABLE, .verdict = SIGNS_UNREADABLE,
	 .says = "no detail"},
	{"one that cannot be read, but HA has it", JOB, 13, INTEGRITY_UNREADABLE, .in_ha = true,
	 .verdict = SIGNS_ALIVE, .says = "was completed"},
	{"the restore point", JOB, 12, INTEGRITY_UNCHECKED, .verdict = SIGNS_NONE, .says = ""},
	{"not newer than the restore point", JOB, 1, INTEGRITY_UNCHECKED, .verdict = SIGNS_NONE,
	 .says = ""},
	{"another job's", ELSE, 13, INTEGRITY_UNCHECKED, .verdict = SIGNS_NONE, .says = ""},
	{"the counter as it was restored", JOB, 12, INTEGRITY_UNCHECKED, true, 13,
	 .verdict = SIGNS_NONE, .says = ""},
	{"the counter has moved", JOB, 12, INTEGRITY_UNCHECKED, true, 14, .verdict = SIGNS_ALIVE,
	 .says = "checkpoint 13 of job " JOB " was begun"},
	{"the checkpoints cannot be listed", .source = SOURCE_CHECKPOINTS,
	 .state = SOURCE_UNREADABLE, .verdict = SIGNS_UNREADABLE, .says = "it broke off"},
	{"HA cannot be read", .source = SOURCE_HA, .state = SOURCE_UNREADABLE,
	 .verdict = SIGNS_UNREADABLE, .says = "it broke off"},
	{"nor a directory of the lineage", .source = SOURCE_LINEAGE, .state = SOURCE_UNREADABLE,
	 .verdict = SIGNS_UNREADABLE, .says = "it broke off"},
	{"nor the results", .source = SOURCE_RESULTS, .state = SOURCE_UNREADABLE,
	 .verdict = SIGNS_UNREADABLE, .says = "it broke off"},
	{"savepoints are no sign", .source = SOURCE_SAVEPOINTS, .state = SOURCE_UNREADABLE,
	 .verdict = SIGNS_NONE, .says = ""},
	{"unreadable, but a checkpoint was seen", JOB, 13, INTEGRITY_UNCHECKED, .source = SOURCE_HA,
	 .state = SOURCE_UNREADABLE, .verdict = SIGNS_ALIVE, .says = "13"},
	{"the job has finished", JOB, 13, INTEGRITY_UNCHECKED, .ended = JOB_END_FINISHED,
	 .verdict = SIGNS_ENDED, .says = "has finished"},
	{"the job has failed", .ended = JOB_END_FAILED, .verdict = SIGNS_ENDED,
	 .says = "has failed"},
};

static void see(const struct row *row, struct facts *facts)
{
	struct snapshot seen = {.kind = SNAPSHOT_CHECKPOINT,
				.checkpoint_id = row->id,
				.completed_unix_ms = 1700000000000};
	cleanup_free char *path = xasprintf("file:/cp/%s/chk-%d", row->job, (int)row->id);
	struct candidate *c;

	for (int i = 0; i < SOURCE_COUNT; i++)
		facts_set_source(facts, (enum source_kind)i, SOURCE_PRESENT, NULL);
	if (row->state)
		facts_set_source(facts, row->source, row->state, "it broke off");
	if (row->ended)
		facts_set_end(facts, JOB, row->ended, NULL);
	if (!row->job)
		return;
	seen.path = path;
	memcpy(seen.job_id, row->job, JOB_ID_BYTES);
	c = facts_add(facts, SOURCE_CHECKPOINTS, &seen);
	c->integrity = row->integrity;
	c->ha_counter = row->counter;
	if (row->in_ha)
		facts_mark_ha(c, JOB, JOB);
}

TEST(what_counts_as_a_sign)
{
	struct launch launch = {.job_id = JOB, .restore_checkpoint_id = 12};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct facts facts = {0};
		struct signs signs;

		see(&rows[i], &facts);
		signs_read(&launch, &facts, &signs);
		if (!CHECK_STR(signs_words[signs.verdict], signs_words[rows[i].verdict]) ||
		    !CHECK_HAS(signs.text, rows[i].says))
			tap_note("%s", rows[i].what);
		CHECK(signs.failed == (rows[i].ended == JOB_END_FAILED));
		CHECK(*rows[i].says || !*signs.text);
		facts_release(&facts);
	}
}

TEST(what_an_earlier_process_of_the_job_has_left_is_no_sign)
{
	const struct row left = {.job = JOB, .id = 17, .says = ""};
	struct launch launch = {.job_id = JOB, .restore_checkpoint_id = 12};
	struct facts facts = {0};
	struct signs signs;

	see(&left, &facts);
	CHECK_INT(signs_before(&facts, JOB), ==, 17);
	CHECK_INT(signs_before(&facts, ELSE), ==, 0);
	launch.checkpoints_before = 17;
	signs_read(&launch, &facts, &signs);
	CHECK_INT(signs.verdict, ==, SIGNS_NONE);
	launch.checkpoints_before = 16;
	signs_read(&launch, &facts, &signs);
	CHECK_INT(signs.verdict, ==, SIGNS_ALIVE);
	/* nor what was seen of it before it fell silent */
	launch.last_checkpoint_id = 17;
	signs_read(&launch, &facts, &signs);
	CHECK_INT(signs.verdict, ==, SIGNS_NONE);
	facts_release(&facts);
}

TEST(the_counter_of_the_ha_map_counts_for_what_was_before)
{
	const struct row left = {.job = JOB, .id = 12, .in_ha = true, .counter = 20, .says = ""};
	struct facts facts = {0};

	see(&left, &facts);
	CHECK_INT(signs_before(&facts, JOB), ==, 19);
	facts_release(&facts);
}
