/*
 * observe_world - a storage with checkpoints and savepoints, maps of Flink's HA, the journal of one
 * launch, and what an observation makes of them. Header-only.
 *
 *   WORLD_TEST(name) { put(w, "ck/" JOB "/chk-7", 7, DAY_S); observe(w); ... }
 */
#ifndef DREY_TESTS_OBSERVE_WORLD_H
#define DREY_TESTS_OBSERVE_WORLD_H

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "ha_writer.h"
#include "metadata_writer.h"
#include "run/observe/observe.h"
#include "store_dir.h"

#define WORLD_FN static inline __attribute__((unused))

#define JOB     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa01"
#define FOREIGN "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb02"
#define DAY_S   INT64_C(1790000000)

/* A storage with checkpoints in ck/ and savepoints in sp/, the journal of one launch, and what an
 * observation makes of it. */
struct world {
	char *top, *checkpoints, *savepoints;
	struct journal journal;
	struct observe_places places;
	struct ha_maps ha;
	struct facts facts;
};

WORLD_FN void world_begin(struct world *w)
{
	*w = (struct world){.top = dir_new()};
	dir_mkdir(w->top, "ck");
	dir_mkdir(w->top, "sp");
	dir_mkdir(w->top, "ha");
	w->checkpoints = xasprintf("%s/ck", w->top);
	w->savepoints = xasprintf("%s/sp", w->top);
	w->places = (struct observe_places){.checkpoint_dir = w->checkpoints,
					    .savepoint_dir = w->savepoints};
	journal_init(&w->journal, "orders");
	strcpy(journal_add_launch(&w->journal)->job_id, JOB);
}

WORLD_FN void world_end(struct world *w)
{
	facts_release(&w->facts);
	journal_release(&w->journal);
	ha_maps_release(&w->ha);
	free(w->checkpoints);
	free(w->savepoints);
	dir_removep(&w->top);
}

WORLD_FN void observe(struct world *w)
{
	struct observe_plan plan;

	observe_plan_init(&plan, &w->places, &w->journal, NULL);
	if (w->ha.count)
		observe_plan_add_ha(&plan, &w->ha, SOURCE_PRESENT, NULL);
	facts_release(&w->facts);
	observe_gather(&plan, &w->facts);
	observe_plan_release(&plan);
}

WORLD_FN void set_date(const char *top, const char *name, int64_t unix_s)
{
	cleanup_free char *path = xasprintf("%s/%s", top, name);
	struct timespec times[2] = {{.tv_sec = unix_s}, {.tv_sec = unix_s}};

	CHECK(!utimensat(AT_FDCWD, path, times, 0));
}

/* A snapshot of one operator, whose state is in the file `state`. */
WORLD_FN void put(const struct world *w, const char *dir, int64_t id, int64_t unix_s)
{
	cleanup_free char *name = xasprintf("%s/_metadata", dir);
	cleanup_buf struct buf keyed = BUF_INIT, bytes = BUF_INIT;

	wr_u8(&keyed, 3);
	wr_groups(&keyed);
	wr_relative(&keyed, "state", 20);
	wr_snapshot(&bytes, 4, id, &keyed);
	dir_put(w->top, name, bytes.data, bytes.len_bytes);
	set_date(w->top, name, unix_s);
}

WORLD_FN void put_savepoint(const struct world *w, const char *job, int number, int64_t id,
			    int64_t unix_s)
{
	cleanup_free char *dir = xasprintf("sp/savepoint-%.6s-%012x", job, (unsigned)number);

	put(w, dir, id, unix_s);
}

WORLD_FN struct candidate *find(const struct world *w, const char *part)
{
	for (size_t i = 0; i < w->facts.candidate_count; i++)
		if (strstr(w->facts.candidates[i].snapshot.path, part))
			return &w->facts.candidates[i];
	return NULL;
}

/* An entry for checkpoint `id` whose file is in ha/ and names `pointer` (from w->top). */
WORLD_FN void ha_entry(struct world *w, int64_t id, int64_t unix_ms, const char *pointer)
{
	cleanup_free char *name = xasprintf("ha/completedCheckpoint%" PRId64, id);
	cleanup_free char *uri = xasprintf("file:%s/%s", w->top, name);
	cleanup_free char *path =
		pointer[0] == '<' ? xstrdup(pointer) : xasprintf("file:%s/%s", w->top, pointer);
	cleanup_free char *key = xasprintf("checkpointID-%019" PRId64, id);
	cleanup_buf struct buf file = BUF_INIT, value = BUF_INIT;

	if (!w->ha.count)
		ha_maps_add(&w->ha, "orders-" JOB "-config-map");
	ha_checkpoint_write(&file, id, unix_ms, path);
	dir_put(w->top, name, file.data, file.len_bytes);
	ha_value_write(&value, uri, (int64_t)file.len_bytes, false);
	ha_map_put(&w->ha.maps[0], key, buf_str(&value), value.len_bytes);
	if (w->ha.maps[0].counter <= id)
		w->ha.maps[0].counter = id + 1;
}

WORLD_FN void verify(const struct world *w, const char *part)
{
	struct candidate *c = find(w, part);

	if (CHECK(c != NULL))
		observe_verify(NULL, c);
}

/* A test that has begun in this way, and in the usual one. */
#define WORLD_TEST_FROM(begin, name) TEST_WITH(name, struct world, w, begin, world_end)
#define WORLD_TEST(name)             WORLD_TEST_FROM(world_begin, name)

#endif
