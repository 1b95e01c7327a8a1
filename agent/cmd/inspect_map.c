#include "cmd/inspect_map.h"

#include <inttypes.h>

#include "base/json.h"
#include "cmd/text.h"

static void add_entry(struct json *list, const struct ha_map *map, const struct ha_entry *entry)
{
	struct json *to = json_add_object(list, NULL);

	json_add_str(to, "key", entry->key);
	json_add_str(to, "type", ha_entry_kind_name(entry->kind));
	if (entry->kind == HA_ENTRY_CHECKPOINT)
		json_add_i64(to, "checkpointId", entry->checkpoint_id);
	else
		json_add_null(to, "checkpointId");
	json_add_bool(to, "counts", ha_map_entry_counts(map, entry));
	json_add_bool(to, "deleted", entry->value.deleted);
	json_add_str(to, "uri", entry->value.uri);
	if (entry->value.uri)
		json_add_i64(to, "sizeBytes", entry->value.size_bytes);
	else
		json_add_null(to, "sizeBytes");
	json_add_str(to, "error", entry->error);
}

struct json *inspect_map_document(const struct ha_maps *maps)
{
	struct json *doc = json_object(), *list;

	json_add_str(doc, "kind", "ha-map");
	list = json_add_array(doc, "maps");
	for (size_t i = 0; i < maps->count; i++) {
		const struct ha_map *map = &maps->maps[i];
		struct json *to = json_add_object(list, NULL), *entries;

		json_add_str(to, "name", map->name);
		json_add_str(to, "namespace", map->space);
		json_add_str(to, "type", ha_map_kind_name(map->kind));
		json_add_str(to, "jobId", *map->job_id ? map->job_id : NULL);
		json_add_bool(to, "deleting", map->deleting);
		if (map->counter)
			json_add_i64(to, "counter", map->counter);
		else
			json_add_null(to, "counter");
		entries = json_add_array(to, "entries");
		for (size_t j = 0; j < map->entry_count; j++)
			add_entry(entries, map, &map->entries[j]);
	}
	return doc;
}

static void print_entry(const struct ha_map *map, const struct ha_entry *entry, struct out out)
{
	out_put(out, "  %-11s %s", ha_entry_kind_name(entry->kind), entry->key);
	if (entry->value.deleted)
		out_put(out, ", marked for deletion (Flink treats it as absent)");
	else if (entry->kind == HA_ENTRY_CHECKPOINT && !ha_map_entry_counts(map, entry))
		out_put(out, ", not the state of a job");
	if (entry->value.uri) {
		out_put(out, "\n              %s", entry->value.uri);
		out_put(out, " (%" PRId64 " bytes)", entry->value.size_bytes);
	}
	if (entry->error) {
		out_put(out, "\n              cannot be decoded: %s", entry->error);
	}
	out_put(out, "\n");
}

static void print_map(const struct ha_map *map, struct out out)
{
	out_put(out, "%s", map->name ? map->name : "(no name)");
	if (map->space) {
		out_put(out, " in %s", map->space);
	}
	switch (map->kind) {
	case HA_MAP_JOB:
		out_put(out, ": job %s", *map->job_id ? map->job_id : "(unknown id)");
		break;
	case HA_MAP_CLUSTER:
		out_put(out, ": the cluster");
		break;
	case HA_MAP_OTHER:
		out_put(out, ": not a Flink high-availability map");
		break;
	}
	if (map->counter)
		out_put(out, ", next checkpoint %" PRId64, map->counter);
	if (map->counter_broken)
		out_put(out, ", the counter is not a number");
	if (map->deleting)
		out_put(out, ", being deleted");
	out_put(out, "\n");
}

void inspect_map_print(const struct ha_maps *maps, struct out out)
{
	if (!maps->count)
		out_put(out, "no ConfigMaps\n");
	for (size_t i = 0; i < maps->count; i++) {
		print_map(&maps->maps[i], out);
		for (size_t j = 0; j < maps->maps[i].entry_count; j++)
			print_entry(&maps->maps[i], &maps->maps[i].entries[j], out);
	}
}
