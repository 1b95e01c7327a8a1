#include "run/gc/gc_ha.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "format/ha_value.h"
#include "kube/kube.h"
#include "run/ha/ha_observe.h"
#include "store/content.h"
#include "store/stores.h"
#include "store/uri.h"

#define RANDOM_DIGITS 12 /* FileUtils.getRandomFilename() */

/* ---- where ---- */

static size_t add_place(struct gc_ha_place *places, size_t count, const char *storage,
			const char *dir_id, const char *cluster_id)
{
	char *dir;

	if (!storage || !dir_id)
		return count;
	dir = xasprintf("%s/%s", storage, dir_id + (*dir_id == '/'));
	for (size_t i = 0; i < count; i++)
		if (snapshot_same_path(places[i].dir, dir)) {
			free(dir);
			return count;
		}
	places[count] = (struct gc_ha_place){dir, cluster_id};
	return count + 1;
}

size_t gc_ha_places(const struct setup *setup, struct gc_ha_place ret[GC_HA_PLACES])
{
	const struct flink_settings *settings = &setup->settings;
	size_t count = add_place(ret, 0, settings->ha_storage_dir, settings->ha_cluster_id,
				 settings->kubernetes_cluster_id);

	for (int side = 0; setup->handover.two_sides && side < SIDES; side++) {
		const char *id = setup->handover.cluster_ids[side];

		count = add_place(ret, count, settings->ha_storage_dir, id, id);
	}
	return count;
}

/* ---- files ---- */

struct gc_ha_file {
	char *name;
	int64_t size_bytes, mtime_unix_ms;
	char job_id[JOB_ID_BYTES];
};

struct gc_ha_look {
	const struct gc_ha_ask *ask;
	struct gc *gc;
	const struct gc_ha_place *place;
	struct stores stores;
	struct gc_ha_file *files;
	size_t count;
};

typedef int gc_ha_parse_fn(struct source *src, char *ret_job_id, struct err *err);

static int parse_checkpoint(struct source *src, char *ret_job_id, struct err *err)
{
	struct completed_checkpoint checkpoint;

	if (completed_checkpoint_parse(src, &checkpoint, err) < 0)
		return -1;
	memcpy(ret_job_id, checkpoint.job_id, JOB_ID_BYTES);
	completed_checkpoint_release(&checkpoint);
	return 0;
}

static int parse_job(struct source *src, char *ret_job_id, struct err *err)
{
	return stored_job_parse(src, ret_job_id, err);
}

static const struct {
	const char *prefix;
	gc_ha_parse_fn *parse; /* NULL: has no job id that is known here */
} file_kinds[] = {
	{"completedCheckpoint", parse_checkpoint},
	{"submittedJobGraph", parse_job},
	{"submittedExecutionPlan", parse_job},
	{"submittedApplication", NULL},
};

/* The kind of file by its name; -1 = not one that Flink's HA stores. */
static int file_kind(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(file_kinds); i++) {
		size_t len = strlen(file_kinds[i].prefix);

		if (!strncmp(name, file_kinds[i].prefix, len) &&
		    strspn(name + len, "0123456789abcdef") == RANDOM_DIGITS &&
		    !name[len + RANDOM_DIGITS])
			return (int)i;
	}
	return -1;
}

static int note_ha_file(void *ctx, const struct store_entry *entry, struct err *err)
{
	struct gc_ha_look *look = ctx;

	(void)err;
	if (entry->is_prefix || file_kind(entry->name) < 0)
		return 0;
	if ((look->count & (look->count - 1)) == 0)
		look->files = xreallocarray(look->files, look->count ? 2 * look->count : 1,
					    sizeof(*look->files));
	look->files[look->count++] = (struct gc_ha_file){
		.name = xstrdup(entry->name),
		.size_bytes = entry->stat.size_bytes,
		.mtime_unix_ms = entry->stat.mtime_unix_ms,
	};
	return 0;
}

static void list_files(struct gc_ha_look *look)
{
	const char *dir = look->place->dir;
	struct err err = {0};
	struct store *store = stores_get(&look->stores, dir, &err);

	if (!store ||
	    (store_list(store, dir, note_ha_file, look, &err) < 0 && err.kind != ERR_ABSENT)) {
		cleanup_free char *why = xasprintf("%s cannot be read: %s", dir, err.msg);

		gc_set_unreadable(look->gc, why);
	}
}

/* ---- maps ---- */

/* -1: something could not be read or decoded, so anything might be referred to. */
static int refer_to_maps(struct gc *gc, const struct ha_reading *reading)
{
	int rc = reading->state == SOURCE_UNREADABLE ? -1 : 0;

	for (size_t i = 0; i < reading->maps.count; i++) {
		const struct ha_map *map = &reading->maps.maps[i];

		for (size_t k = 0; k < map->entry_count; k++) {
			const struct ha_entry *entry = &map->entries[k];

			if (entry->value.uri) /* also of one that is marked for deletion */
				gc_refer(gc, entry->value.uri);
			else if (entry->kind != HA_ENTRY_LEADER)
				rc = -1;
		}
	}
	return rc;
}

static int read_maps(struct gc_ha_look *look, struct ha_query *ret_query)
{
	const struct setup *setup = look->ask->setup;
	cleanup_ha_reading struct ha_reading reading = {0};
	struct kube *kube;
	int rc;

	if (!setup->kube.on || !look->place->cluster_id)
		return -1;
	ha_query_for(setup, look->place->cluster_id, look->ask->journal, ret_query);
	kube = kube_open(setup->kube.client);
	ha_read(kube, ret_query, &reading);
	rc = refer_to_maps(look->gc, &reading);
	kube_free(kube);
	return rc;
}

/* Was the map looked for that the Flink of this job would have written? */
static bool map_was_read(const struct gc_ha_look *look, const struct ha_query *query,
			 const char *job_id)
{
	const struct journal *journal = look->ask->journal;
	bool found = query->by_label;

	for (size_t i = 0; !found && i < query->job_count; i++)
		found = !strcmp(query->job_ids[i], job_id);
	for (size_t i = 0; found && i < journal->launch_count; i++)
		if (!strcmp(journal->launches[i].job_id, job_id))
			found = xstrsame(journal->launches[i].ha_cluster_id, query->cluster_id);
	return found;
}

/* ---- content ---- */

static void read_job_id(struct gc_ha_look *look, const struct ha_query *query,
			struct gc_ha_file *file)
{
	gc_ha_parse_fn *parse = file_kinds[file_kind(file->name)].parse;
	cleanup_free char *uri = uri_join(look->place->dir, file->name);
	struct store *store = stores_get(&look->stores, uri, NULL);
	struct content content;
	char job_id[JOB_ID_BYTES] = "";

	/* whatever goes wrong, it is not known whose it is */
	if (!parse || !store)
		return;
	if (content_open(&content, store, uri, NULL) == 0 &&
	    parse(content.source, job_id, NULL) == 0 && map_was_read(look, query, job_id))
		memcpy(file->job_id, job_id, JOB_ID_BYTES);
	content_close(&content);
}

static void read_contents(struct gc_ha_look *look, const struct ha_query *query)
{
	const struct gc_ha_ask *ask = look->ask;

	for (size_t i = 0; i < look->count; i++) {
		if (ask->progress &&
		    ask->progress(ask->progress_ctx, "files of Flink's HA", i) < 0) {
			gc_set_unreadable(look->gc, "it was interrupted");
			return;
		}
		if (!gc_is_referred(look->gc, look->files[i].name))
			read_job_id(look, query, &look->files[i]);
	}
}

/* ---- one place ---- */

static int by_job(const void *left, const void *right)
{
	const struct gc_ha_file *a = left, *b = right;
	int order = strcmp(a->job_id, b->job_id);

	return order ? order : strcmp(a->name, b->name);
}

static void add_trees(struct gc_ha_look *look)
{
	if (!look->files)
		return;
	qsort(look->files, look->count, sizeof(*look->files), by_job);
	for (size_t i = 0; i < look->count; i++) {
		const struct gc_ha_file *file = &look->files[i];

		if (!i || strcmp(file->job_id, file[-1].job_id) != 0)
			gc_add_tree(look->gc, GC_TREE_HA, look->place->dir, file->job_id);
		if (!gc_add_file(look->gc, file->name, file->size_bytes, file->mtime_unix_ms,
				 false))
			gc_set_unreadable(look->gc, "there are too many files");
	}
}

static void read_place(struct gc_ha_look *look)
{
	struct ha_query query = {0};

	list_files(look);
	if (look->count && read_maps(look, &query) == 0)
		read_contents(look, &query);
	add_trees(look);
	ha_query_release(&query);
}

void gc_ha_read(const struct gc_ha_ask *ask, struct gc *gc)
{
	struct gc_ha_place places[GC_HA_PLACES];
	size_t count = gc_ha_places(ask->setup, places);

	for (size_t i = 0; i < count; i++) {
		struct gc_ha_look look = {
			.ask = ask,
			.gc = gc,
			.place = &places[i],
			.stores = {.config = &ask->setup->storage},
		};

		read_place(&look);
		stores_release(&look.stores);
		for (size_t k = 0; k < look.count; k++)
			free(look.files[k].name);
		free(look.files);
		free(places[i].dir);
	}
}
