/* What an observation must not believe, and must not leave out. */
#include "observe_world.h"

/* ---- the journal ---- */

WORLD_TEST(what_launches_were_started_from_is_looked_at)
{
	const struct candidate *c;
	struct launch *launch;

	put(w, "elsewhere/chk-4", 4, DAY_S);
	launch = journal_launch(&w->journal);
	launch->restore_path = xasprintf("file:%s/elsewhere/chk-4", w->top);
	launch->restore_kind = SNAPSHOT_CHECKPOINT;
	launch->restore_checkpoint_id = 4;
	observe(w);
	c = find(w, "elsewhere/chk-4");
	if (CHECK(c != NULL)) {
		CHECK_INT(c->source, ==, SOURCE_JOURNAL);
		CHECK_INT(c->snapshot.checkpoint_id, ==, 4);
		CHECK_INT(c->integrity, ==, INTEGRITY_UNCHECKED);
	}
}

/* ---- HA ---- */

static void observe_ha_of(struct world *w, enum source_state first, enum source_state second)
{
	struct ha_maps none = {0};
	struct observe_plan plan;

	observe_plan_init(&plan, &w->places, &w->journal, NULL);
	observe_plan_add_ha(&plan, &w->ha, first, "the first");
	observe_plan_add_ha(&plan, &none, second, "the second");
	facts_release(&w->facts);
	observe_gather(&plan, &w->facts);
	observe_plan_release(&plan);
}

WORLD_TEST(maps_that_cannot_be_read_are_not_absent)
{
	observe_ha_of(w, SOURCE_UNREADABLE, SOURCE_PRESENT);
	CHECK_INT(w->facts.sources[SOURCE_HA].state, ==, SOURCE_UNREADABLE);
	CHECK_STR(w->facts.sources[SOURCE_HA].detail, "the first");
	observe_ha_of(w, SOURCE_PRESENT, SOURCE_UNREADABLE);
	CHECK_INT(w->facts.sources[SOURCE_HA].state, ==, SOURCE_UNREADABLE);
	CHECK_STR(w->facts.sources[SOURCE_HA].detail, "the second");
}

/* Else each value of them that cannot be decoded would keep a launch from getting a name. */
WORLD_TEST(whether_all_maps_of_flinks_cluster_id_were_read_is_a_fact_of_its_own)
{
	for (int unread = 0; unread < 2; unread++) {
		struct observe_plan plan;

		observe_plan_init(&plan, &w->places, &w->journal, NULL);
		observe_plan_add_ha(&plan, &w->ha, SOURCE_UNREADABLE, "403");
		plan.ha_unread = unread;
		facts_release(&w->facts);
		observe_gather(&plan, &w->facts);
		observe_plan_release(&plan);
		CHECK_INT(w->facts.ha_unread, ==, unread);
	}
}

/* What is there counts, also when more may be. */
WORLD_TEST(what_was_read_of_them_counts_all_the_same)
{
	put(w, "ck/" JOB "/chk-7", 7, DAY_S);
	ha_entry(w, 7, DAY_S * 1000, "ck/" JOB "/chk-7");
	observe_ha_of(w, SOURCE_PRESENT, SOURCE_UNREADABLE);
	CHECK_INT(w->facts.sources[SOURCE_HA].state, ==, SOURCE_UNREADABLE);
	CHECK(find(w, "chk-7") && find(w, "chk-7")->in_ha);
}

WORLD_TEST(more_entries_than_any_job_has_are_not_believed)
{
	ha_maps_add(&w->ha, "orders-" JOB "-config-map");
	for (int id = 1; id <= OBSERVE_KEEP + 1; id++) {
		cleanup_free char *key = xasprintf("checkpointID-%019d", id);
		cleanup_buf struct buf value = BUF_INIT;

		ha_value_write(&value, "file:/nowhere/completedCheckpoint", 5, false);
		ha_map_put(&w->ha.maps[0], key, buf_str(&value), value.len_bytes);
	}
	observe(w);
	CHECK_INT(w->facts.sources[SOURCE_HA].state, ==, SOURCE_UNREADABLE);
	CHECK_HAS(w->facts.sources[SOURCE_HA].detail, "1001 checkpoints");
	CHECK_INT(w->facts.candidate_count, ==, 0);
}

/* A second map that names the same directory: from which job's one Flink recovers it. */
static void ha_entry_of(struct world *w, size_t map, const char *file, int64_t id,
			const char *pointer)
{
	cleanup_free char *name = xasprintf("ha/%s", file);
	cleanup_free char *uri = xasprintf("file:%s/%s", w->top, name);
	cleanup_free char *path = xasprintf("file:%s/%s", w->top, pointer);
	cleanup_free char *key = xasprintf("checkpointID-%019" PRId64, id);
	cleanup_buf struct buf bytes = BUF_INIT, value = BUF_INIT;

	ha_checkpoint_write(&bytes, id, 0, path);
	dir_put(w->top, name, bytes.data, bytes.len_bytes);
	ha_value_write(&value, uri, (int64_t)bytes.len_bytes, false);
	ha_map_put(&w->ha.maps[map], key, buf_str(&value), value.len_bytes);
}

/* The savepoint that two launches were started from: only the map of the last one is gone on from. */
TEST(the_map_of_the_last_launch_comes_first)
{
	const struct candidate *c;
	struct world w;

	for (size_t ours = 0; ours < 2; ours++) {
		world_begin(&w);
		put_savepoint(&w, FOREIGN, 1, 5, DAY_S);
		ha_maps_add(&w.ha, ours == 0 ? "orders-" JOB "-config-map"
					     : "orders-" FOREIGN "-config-map");
		ha_maps_add(&w.ha, ours == 1 ? "orders-" JOB "-config-map"
					     : "orders-" FOREIGN "-config-map");
		ha_entry_of(&w, 0, "a", 5, "sp/savepoint-bbbbbb-000000000001");
		ha_entry_of(&w, 1, "b", 5, "sp/savepoint-bbbbbb-000000000001");
		observe(&w);
		c = find(&w, "savepoint-bbbbbb");
		if (CHECK(c != NULL)) {
			CHECK_STR(c->ha_job_id, JOB);
			CHECK(facts_ha_has_job(c, FOREIGN));
		}
		world_end(&w);
	}
}

/* ---- closely ---- */

WORLD_TEST(a_checkpoint_with_the_metadata_of_another_is_damaged)
{
	const struct candidate *c;

	put(w, "ck/" JOB "/chk-7", 6, DAY_S); /* copied into the wrong place */
	dir_hole(w->top, "ck/" JOB "/chk-7/state", 20);
	observe(w);
	verify(w, "chk-7");
	c = find(w, "chk-7");
	if (CHECK(c != NULL)) {
		CHECK_INT(c->integrity, ==, INTEGRITY_DAMAGED);
		CHECK_STR(c->detail, "its _metadata is of checkpoint 6, not 7");
		CHECK(!c->snapshot.verified);
	}
}

/* ---- storage that contradicts itself ---- */

/* The newest of two checkpoints is listed; `change` happens before it is verified. */
static const struct candidate *verify_after(struct world *w, void (*change)(const struct world *w))
{
	struct observe_plan plan;
	size_t index;

	put(w, "ck/" JOB "/chk-7", 7, DAY_S);
	put(w, "ck/" JOB "/chk-8", 8, DAY_S + 60);
	dir_hole(w->top, "ck/" JOB "/chk-8/state", 20);
	observe_plan_init(&plan, &w->places, &w->journal, NULL);
	facts_release(&w->facts);
	observe_gather(&plan, &w->facts);
	change(w);
	index = (size_t)(find(w, "chk-8") - w->facts.candidates);
	observe_check(&plan, &w->facts, index);
	observe_plan_release(&plan);
	return &w->facts.candidates[index];
}

static void lose_metadata(const struct world *w)
{
	cleanup_free char *path = xasprintf("%s/ck/" JOB "/chk-8/_metadata", w->top);

	CHECK_INT(unlink(path), ==, 0);
}

/* Else an older one would be started from, because the newest one is "missing". */
WORLD_TEST(a_checkpoint_that_was_listed_and_is_then_absent_is_unreadable_and_not_damaged)
{
	const struct candidate *c = verify_after(w, lose_metadata);

	CHECK_INT(c->integrity, ==, INTEGRITY_UNREADABLE);
	CHECK_HAS(c->detail, "/chk-8/_metadata: listed at ");
	CHECK_HAS(c->detail, "but no such file at ");
}

static void cut_metadata(const struct world *w)
{
	cleanup_free char *path = xasprintf("%s/ck/" JOB "/chk-8/_metadata", w->top);

	CHECK_INT(truncate(path, 10), ==, 0);
}

WORLD_TEST(a_checkpoint_that_is_shorter_than_it_was_listed_is_unreadable_and_not_damaged)
{
	const struct candidate *c = verify_after(w, cut_metadata);

	CHECK_INT(c->integrity, ==, INTEGRITY_UNREADABLE);
	CHECK_HAS(c->detail, "but answered with 10 bytes at ");
}

static void change_nothing(const struct world *w)
{
	(void)w;
}

WORLD_TEST(a_checkpoint_that_stays_as_it_was_listed_is_complete)
{
	CHECK_INT(verify_after(w, change_nothing)->integrity, ==, INTEGRITY_COMPLETE);
}
