/* observe_ha: what Flink's own high availability would recover from. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "core/resolve/ha_keys.h"
#include "run/observe/observe_internal.h"
#include "store/content.h"
#include "store/uri.h"

#define RESTORED_PREFIX "savepoint-" /* name of a savepoint's directory */

/* One entry and the file that it points to. */
struct handle {
	const struct ha_map *map;
	const struct ha_entry *entry;
	struct completed_checkpoint file; /* external_pointer NULL: not read */
	enum integrity recovery;          /* why not; UNCHECKED when it was read */
	char why[ERR_MSG_BYTES];
};

static void fail(struct handle *handle, bool proven, const struct err *err)
{
	handle->recovery = proven ? INTEGRITY_DAMAGED : INTEGRITY_UNREADABLE;
	snprintf(handle->why, sizeof(handle->why), "%s", err->msg);
}

static int check_file(const struct handle *handle, int64_t size_bytes, struct err *err)
{
	int64_t expected_bytes = handle->entry->value.size_bytes;

	/* MUT: an HA entry points to the file of another checkpoint */
	if (handle->file.checkpoint_id != handle->entry->checkpoint_id)
		return err_set(err, ERR_FORMAT, 0, "it is of checkpoint %" PRId64,
			       handle->file.checkpoint_id);
	/* MUT: an HA file of another size is accepted */
	if (size_bytes >= 0 && expected_bytes >= 0 && size_bytes != expected_bytes)
		return err_set(err, ERR_FORMAT, 0, "it has %" PRId64 " bytes, expected %" PRId64,
			       size_bytes, expected_bytes);
	return 0;
}

/* 0 read, 1 proven to be lost or wrong, -1 not known; the last two with *err. */
static int read_file(struct look *look, struct handle *handle, struct err *err)
{
	const char *uri = handle->entry->value.uri;
	struct store *store = stores_get(&look->stores, uri, err);
	struct content content;
	int rc;

	if (!store)
		return -1;
	rc = content_open(&content, store, uri, err);
	if (!rc)
		rc = completed_checkpoint_parse(content.source, &handle->file, err);
	if (!rc)
		rc = check_file(handle, content.size_bytes, err);
	if (rc < 0 && (err->kind == ERR_ABSENT || content_is_damage(&content, store, err)))
		rc = 1;
	content_close(&content);
	return rc;
}

static void read_handle(struct look *look, struct handle *handle)
{
	const struct ha_entry *entry = handle->entry;
	struct err err = {0};
	int rc = 1;

	if (!entry->value.uri) {
		err_set(&err, ERR_FORMAT, 0, "%s cannot be decoded: %s", entry->key,
			entry->error ? entry->error : "no handle");
	} else {
		rc = read_file(look, handle, &err);
		if (!rc)
			return;
		err_wrap(&err, "%s of %s", entry->value.uri, entry->key);
	}
	fail(handle, rc > 0, &err);
}

/* A snapshot that the job was restored from has no times there, and another job may have made it. */
static bool is_restored(const struct handle *handle)
{
	return handle->file.external_pointer && !handle->file.timestamp_unix_ms &&
	       !handle->file.completed_unix_ms;
}

static void fill(const struct handle *handle, struct snapshot *snapshot)
{
	const char *job_id = *handle->map->job_id ? handle->map->job_id : handle->file.job_id;
	const char *name = uri_name(snapshot->path);

	snapshot->checkpoint_id = handle->entry->checkpoint_id;
	snapshot->completed_unix_ms = handle->file.completed_unix_ms;
	if (!strncmp(name, RESTORED_PREFIX, strlen(RESTORED_PREFIX)))
		snapshot->kind = SNAPSHOT_SAVEPOINT;
	if (!is_restored(handle))
		memcpy(snapshot->job_id, job_id, JOB_ID_BYTES);
}

static struct candidate *add(struct look *look, const struct handle *handle, char *path)
{
	struct snapshot snapshot = {
		.path = path, .kind = SNAPSHOT_CHECKPOINT, .size_bytes = -1, .file_count = -1};
	size_t before = look->facts->candidate_count;
	struct candidate *c;

	fill(handle, &snapshot);
	c = facts_add(look->facts, SOURCE_HA, &snapshot);
	if (look->facts->candidate_count == before && snapshot.completed_unix_ms > 0)
		c->snapshot.completed_unix_ms = snapshot.completed_unix_ms; /* it knows best */
	if (!c->snapshot.checkpoint_id)
		c->snapshot.checkpoint_id = snapshot.checkpoint_id;
	return c;
}

/* Only Flink itself finds it: its file cannot be read, or names no directory. It stands under the
 * name of that file then. */
static struct candidate *add_hidden(struct look *look, const struct handle *handle)
{
	cleanup_free char *key =
		xasprintf("%s/%s", handle->map->name ? handle->map->name : "", handle->entry->key);
	const char *uri = handle->entry->value.uri;
	cleanup_free char *path = uri ? uri_canonical(uri) : NULL;
	struct candidate *c = add(look, handle, path ? path : key);

	if (handle->recovery)
		observe_set(c, handle->recovery, handle->why);
	else
		observe_set(c, INTEGRITY_INCOMPLETE,
			    "it has no directory: only Flink can recover it");
	return c;
}

static void take_recovery(struct candidate *c, const struct handle *handle, const char *job_id,
			  const char *miscounts)
{
	if (!strcmp(c->ha_job_id, job_id))
		c->ha_counter = handle->map->counter;
	c->recovery = handle->recovery;
	if (!handle->recovery)
		xstrset(&c->ha_file, handle->entry->value.uri);
	/* MUT: entries that an HA map does not list count */
	if (!miscounts || c->recovery)
		return;
	c->recovery = INTEGRITY_DAMAGED;
	xstrset(&c->recovery_detail, miscounts);
}

/* miscounts: of the map, see ha_map_miscounts(). */
static void look_at_entry(struct look *look, const struct ha_map *map, const struct ha_entry *entry,
			  const char *miscounts)
{
	const struct observe_plan *plan = look->plan;
	struct handle handle = {.map = map, .entry = entry};
	const char *job_id;
	struct candidate *c;
	bool live;

	read_handle(look, &handle);
	job_id = *map->job_id ? map->job_id : handle.file.job_id;
	if (!handle.recovery && handle.file.external_pointer[0] != '<') {
		cleanup_free char *path = uri_canonical(handle.file.external_pointer);

		c = add(look, &handle, path ? path : handle.file.external_pointer);
		if (c->source == SOURCE_HA && c->integrity == INTEGRITY_UNCHECKED)
			observe_note_peek(look, c);
	} else {
		c = add_hidden(look, &handle);
	}
	live = c->in_ha && !c->ha_former;
	facts_mark_ha(c, job_id, plan->job_id_count ? plan->job_ids[plan->job_id_count - 1] : NULL);
	if (!map->former || !live) {
		c->ha_former = map->former;
		take_recovery(c, &handle, job_id, miscounts);
	}
	completed_checkpoint_release(&handle.file);
}

static void look_at_map(struct look *look, const struct ha_map *map)
{
	cleanup_free char *miscounts = ha_map_miscounts(map);

	for (size_t i = 0; i < map->entry_count; i++)
		if (ha_map_entry_counts(map, &map->entries[i]))
			look_at_entry(look, map, &map->entries[i], miscounts);
}

/* What there is, counted. */
struct census {
	size_t jobs, checkpoints, deleting, graphs, others;
};

static struct census count(const struct ha_maps *maps)
{
	struct census census = {0};

	for (size_t i = 0; i < maps->count; i++) {
		const struct ha_map *map = &maps->maps[i];

		census.jobs += map->kind == HA_MAP_JOB;
		census.others += map->kind == HA_MAP_OTHER;
		for (size_t j = 0; j < map->entry_count; j++) {
			const struct ha_entry *entry = &map->entries[j];

			census.graphs += map->kind == HA_MAP_CLUSTER &&
					 entry->kind == HA_ENTRY_JOB && !entry->value.deleted;
			if (ha_map_entry_counts(map, entry))
				census.checkpoints++;
			else if (map->kind == HA_MAP_JOB && entry->kind == HA_ENTRY_CHECKPOINT)
				census.deleting++;
		}
	}
	return census;
}

static void describe(const struct census *census, struct buf *text)
{
	buf_addf(text, "%zu checkpoint%s in the map%s of %zu job%s", census->checkpoints,
		 census->checkpoints == 1 ? "" : "s", census->jobs == 1 ? "" : "s", census->jobs,
		 census->jobs == 1 ? "" : "s");
	if (census->deleting)
		buf_addf(text, ", %zu more being deleted", census->deleting);
	if (census->graphs)
		buf_addf(text, ", %zu stored job graph%s", census->graphs,
			 census->graphs == 1 ? "" : "s");
	if (census->others)
		buf_addf(text, ", %zu map%s of something else", census->others,
			 census->others == 1 ? "" : "s");
}

/* Each map is a trace of its job, also an empty one; and what Flink would start again. */
static void note_maps(struct look *look)
{
	const struct ha_maps *maps = &look->plan->ha;

	for (size_t i = 0; i < maps->count; i++) {
		const struct ha_map *map = &maps->maps[i];

		/* MUT: an HA map without entries is no trace of its job */
		if (*map->job_id)
			facts_add_job(look->facts, map->job_id);
		for (size_t j = 0; j < map->entry_count; j++)
			if (map->kind == HA_MAP_CLUSTER && !map->former &&
			    ha_key_is_stored(map->entries[j].key))
				facts_add_stored(look->facts, map->entries[j].key);
	}
	xstrset(&look->facts->lock_held, look->plan->lock_held);
	/* MUT: that HA maps were not read is forgotten */
	look->facts->ha_unread = look->plan->ha_unread;
}

void observe_ha(struct look *look)
{
	const struct observe_plan *plan = look->plan;
	struct census census = count(&plan->ha);
	cleanup_buf struct buf text = BUF_INIT;

	note_maps(look);
	if (plan->ha_state == SOURCE_NOT_CONFIGURED || plan->ha_state == SOURCE_UNREADABLE) {
		facts_set_source(look->facts, SOURCE_HA, plan->ha_state, plan->ha_detail);
		if (plan->ha_state == SOURCE_NOT_CONFIGURED)
			return;
	}
	describe(&census, &text);
	if (plan->ha_former)
		buf_addf(&text, "; %s", plan->ha_former);
	/* MUT: more than 1000 HA entries are accepted */
	if (census.checkpoints > OBSERVE_KEEP) {
		buf_addf(&text, ": more than %d, which no job of Flink has", OBSERVE_KEEP);
		facts_set_source(look->facts, SOURCE_HA, SOURCE_UNREADABLE, buf_str(&text));
		return;
	}
	for (size_t i = 0; i < plan->ha.count; i++)
		look_at_map(look, &plan->ha.maps[i]);
	/* MUT: HA maps that cannot be read are absent */
	if (plan->ha_state != SOURCE_UNREADABLE)
		facts_set_source(look->facts, SOURCE_HA,
				 census.checkpoints ? SOURCE_PRESENT : SOURCE_ABSENT,
				 buf_str(&text));
}
