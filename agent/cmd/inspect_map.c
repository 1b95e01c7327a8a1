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

static void print_entry(const struct ha_map *map, const struct ha_entry *entry, FILE *out)
{
	fprintf(out, "  %-11s ", ha_entry_kind_name(entry->kind));
	text_print(entry->key, out);
	if (entry->value.deleted)
		fputs(", marked for deletion (Flink treats it as absent)", out);
	else if (entry->kind == HA_ENTRY_CHECKPOINT && !ha_map_entry_counts(map, entry))
		fputs(", not the state of a job", out);
	if (entry->value.uri) {
		fputs("\n              ", out);
		text_print(entry->value.uri, out);
		fprintf(out, " (%" PRId64 " bytes)", entry->value.size_bytes);
	}
	if (entry->error) {
		fputs("\n              cannot be decoded: ", out);
		text_print(entry->error, out);
	}
	fputc('\n', out);
}

static void print_map(const struct ha_map *map, FILE *out)
{
	text_print(map->name ? map->name : "(no name)", out);
	if (map->space) {
		fputs(" in ", out);
		text_print(map->space, out);
	}
	switch (map->kind) {
	case HA_MAP_JOB:
		fprintf(out, ": job %s", *map->job_id ? map->job_id : "(unknown id)");
		break;
	case HA_MAP_CLUSTER:
		fputs(": the cluster", out);
		break;
	case HA_MAP_OTHER:
		fputs(": not a Flink high-availability map", out);
		break;
	}
	if (map->counter)
		fprintf(out, ", next checkpoint %" PRId64, map->counter);
	if (map->counter_broken)
		fputs(", the counter is not a number", out);
	if (map->deleting)
		fputs(", being deleted", out);
	fputc('\n', out);
}

void inspect_map_print(const struct ha_maps *maps, FILE *out)
{
	if (!maps->count)
		fputs("no ConfigMaps\n", out);
	for (size_t i = 0; i < maps->count; i++) {
		print_map(&maps->maps[i], out);
		for (size_t j = 0; j < maps->maps[i].entry_count; j++)
			print_entry(&maps->maps[i], &maps->maps[i].entries[j], out);
	}
}
