/*
 * What Flink keeps about a job outside its process: the HA map (pointers to the retained checkpoints,
 * the counter of their ids, delete markers) and the result of a job that has ended. A process that
 * starts under the same job id continues from there, regardless of its command line.
 */
#include <stdio.h>
#include <string.h>

#include "tests/sim/ids_maps.h"
#include "tests/sim/sim.h"

static struct ha_map *map_of(struct world *w, int launch)
{
	return &w->truth.launches[launch].ha;
}

int ha_newest(const struct world *w, int launch)
{
	const struct ha_map *map = &w->truth.launches[launch].ha;
	int newest = -1;

	for (int i = 0; map->exists && i < map->count; i++)
		if (!map->entries[i].deleting &&
		    (newest < 0 ||
		     w->storage.snaps[map->entries[i].snap].id > w->storage.snaps[newest].id))
			newest = map->entries[i].snap;
	return newest;
}

bool ha_names(const struct world *w, int launch, int snap)
{
	const struct ha_map *map = &w->truth.launches[launch].ha;

	for (int i = 0; map->exists && i < map->count; i++)
		if (map->entries[i].snap == snap && !map->entries[i].deleting)
			return true;
	return false;
}

static void insert(struct ha_map *map, int snap)
{
	if (map->count == HA_MAX_ENTRIES) {
		map->count--;
		memmove(map->entries, map->entries + 1,
			sizeof(map->entries[0]) * (size_t)map->count);
	}
	map->entries[map->count++] = (struct ha_entry){.snap = snap};
}

void ha_begin(struct world *w, int launch, int base, int64_t next_id)
{
	struct ha_map *map = map_of(w, launch);

	if (!w->ha)
		return;
	if (!map->exists) {
		*map = (struct ha_map){.exists = true};
		if (base >= 0)
			insert(map, base);
	}
	map->counter = next_id;
}

/* The oldest one is marked, its files are deleted, then its entry: a death in between leaves some of it. */
static void subsume(struct world *w, struct ha_map *map)
{
	int live = 0;

	for (int i = map->count - 1; i >= 0; i--) {
		struct item *item;

		if (map->entries[i].deleting || live++ < w->flink->retained)
			continue;
		map->entries[i].deleting = true;
		item = plan(w, between(w, 1, 500), ITEM_HA_DISCARD, SCOPE_FLINK);
		item->launch = w->flink->launch;
		item->a = map->entries[i].snap;
	}
}

static void acknowledge(struct world *w, int snap)
{
	struct ha_map *map = map_of(w, w->flink->launch);

	if (!map->exists || w->flink->state != JOB_RUNNING) {
		/* Flink discards a checkpoint that it cannot record: it never counted */
		checkpoint_result(w, snap, false);
		if (!map->exists) {
			w->storage.snaps[snap].deleted = true;
			w->storage.snaps[snap].complete = false;
		}
		return;
	}
	insert(map, snap);
	w->storage.snaps[snap].acknowledged = true;
	flink_completed(w, snap);
	subsume(w, map);
}

void ha_goes_on_from(struct world *w, int launch, int snap)
{
	int64_t id = snap >= 0 ? w->storage.snaps[snap].id : 0;

	if (!w->lies.old_maps || launch < 0)
		return;
	for (int i = 0; i < w->storage.count; i++)
		if (w->storage.snaps[i].launch == launch && w->storage.snaps[i].id > id)
			w->storage.snaps[i].acknowledged = false;
}

static void discard(struct world *w, const struct item *item)
{
	struct ha_map *map = map_of(w, item->launch);
	struct snap *snap = &w->storage.snaps[item->a];

	/* the snapshot that it was started from is not its own */
	if (snap->launch == item->launch && snap->kind == SNAPSHOT_CHECKPOINT && !snap->deleted) {
		snap->deleted = true;
		if (odds(w, 100))
			plan(w, between(w, 1, 2000), ITEM_HA_DISCARD, SCOPE_FLINK)->a = item->a;
		return;
	}
	for (int i = 0; i < map->count; i++)
		if (map->entries[i].snap == item->a && map->entries[i].deleting) {
			map->count--;
			memmove(&map->entries[i], &map->entries[i + 1],
				sizeof(map->entries[0]) * (size_t)(map->count - i));
			return;
		}
}

void ha_job_over(struct world *w, int launch)
{
	if (!w->ha)
		return;
	map_of(w, launch)->result = true;
	plan(w, below(w, 2 * SECOND_MS), ITEM_HA_CLEAN, SCOPE_FLINK)->launch = launch;
}

void ha_item(struct world *w, const struct item *item)
{
	struct ha_map *map = map_of(w, item->launch);

	switch (item->kind) {
	case ITEM_HA_ADD:
		acknowledge(w, (int)item->a);
		break;
	case ITEM_HA_DISCARD:
		discard(w, item);
		break;
	case ITEM_HA_CLEAN:
		say(w, "HA data of job %s are gone", w->truth.launches[item->launch].job_id);
		map->exists = false;
		map->count = 0;
		break;
	default:
		break;
	}
}

void ha_vanish(struct world *w)
{
	int launch = w->truth.count ? (int)below(w, w->truth.count) : -1;

	if (odds(w, 700))
		launch = w->truth.count - 1;
	if (launch < 0 || !map_of(w, launch)->exists)
		return;
	say(w, "accident: the HA map of job %s is deleted", w->truth.launches[launch].job_id);
	map_of(w, launch)->exists = false;
	map_of(w, launch)->count = 0;
}

/* ---- what an observation sees, as in agent/run/ha ---- */

static void observe_entry(struct world *w, struct facts *facts, int launch, int index,
			  const char *current)
{
	const struct truth_launch *truth = &w->truth.launches[launch];
	const struct snap *snap = &w->storage.snaps[index];
	char path[PATH_BYTES + 16];
	struct snapshot found = {.path = path,
				 .kind = snap->kind,
				 .checkpoint_id = snap->id,
				 .size_bytes = -1,
				 .file_count = -1};
	size_t before = facts->candidate_count;
	struct candidate *c;

	rest_path(w, index, path, sizeof(path));
	if (snap->launch == launch) { /* the snapshot that it was started from has no times there */
		found.completed_unix_ms = snap->completed_unix_ms;
		memcpy(found.job_id, truth->job_id, JOB_ID_BYTES);
	}
	c = facts_add(facts, SOURCE_HA, &found);
	if (facts->candidate_count > before)
		storage_peek(w, c);
	if (!c->snapshot.checkpoint_id)
		c->snapshot.checkpoint_id = snap->id;
	facts_mark_ha(c, truth->job_id, current);
	if (!strcmp(c->ha_job_id, truth->job_id))
		c->ha_counter =
			has(w, FEATURE_LIES) ? lie_ha(w, launch)->counter : truth->ha.counter;
	c->recovery = INTEGRITY_UNCHECKED;
	if (c->integrity != INTEGRITY_UNREADABLE)
		oracle_tell(w, index);
}

void ha_observe(struct world *w, struct facts *facts)
{
	const struct launch *last = journal_launch_const(&w->agent->life.journal);
	bool breaks_off = chance(w, w->chaos.list_fails);
	int end = breaks_off ? (int)below(w, w->truth.count + 1) : w->truth.count;
	struct ids_maps *read;
	bool found = false;

	if (!w->ha) {
		facts_set_source(facts, SOURCE_HA, SOURCE_NOT_CONFIGURED, NULL);
		return;
	}
	read = ids_maps_new(w->config->id_space, w->config->id_count, &w->agent->life.journal);
	for (int i = 0; i < end; i++) {
		const struct ha_map *map = has(w, FEATURE_LIES) ? lie_ha(w, i) : map_of(w, i);

		if (!map->exists || !ids_maps_have(read, w->truth.launches[i].job_id))
			continue;
		ids_observe_map(w, facts, i);

		for (int k = 0; k < map->count; k++) {
			if (map->entries[k].deleting)
				continue;
			found = true;
			observe_entry(w, facts, i, map->entries[k].snap,
				      last ? last->job_id : NULL);
		}
	}
	ids_maps_free(read);
	facts->ha_unread = breaks_off;
	facts_set_source(facts, SOURCE_HA,
			 breaks_off ? SOURCE_UNREADABLE
			 : found    ? SOURCE_PRESENT
				    : SOURCE_ABSENT,
			 breaks_off ? "the API server does not answer" : "listed");
}
