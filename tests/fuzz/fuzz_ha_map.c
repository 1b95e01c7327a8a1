/* Any bytes as HA ConfigMaps (JSON, YAML), and as the key and value of one entry. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "cmd/inspect_map.h"
#include "format/ha_map.h"
#include "must.h"

static void check(const struct ha_maps *maps)
{
	cleanup_json struct json *doc = inspect_map_document(maps);

	must(json_len(json_get(doc, "maps")) == maps->count);
	for (size_t i = 0; i < maps->count; i++) {
		const struct ha_map *map = &maps->maps[i];

		must(map->counter >= 0);
		must(!map->job_id[0] || strlen(map->job_id) == 32);
		for (size_t j = 0; j < map->entry_count; j++) {
			const struct ha_entry *entry = &map->entries[j];

			must(entry->key != NULL && entry->checkpoint_id >= 0);
			must(entry->kind == HA_ENTRY_LEADER || !entry->error == !!entry->value.uri);
			if (ha_map_entry_counts(map, entry))
				must(entry->kind == HA_ENTRY_CHECKPOINT && !map->deleting);
		}
	}
}

/* The first line is the key, the rest the value. */
static void put(struct ha_maps *maps, const char *text, size_t len)
{
	size_t end = 0;
	char *key;

	while (end < len && text[end] != '\n')
		end++;
	key = xstrndup(text, end);
	ha_map_put(ha_maps_add(maps, NULL), key, text + end + (end < len), len - end - (end < len));
	free(key);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct ha_maps maps = {0};
	struct err err = {0};

	if (ha_maps_parse(&maps, (const char *)data, size_bytes, &err) < 0)
		must(err.kind == ERR_FORMAT && !maps.count);
	put(&maps, (const char *)data, size_bytes);
	check(&maps);
	ha_maps_release(&maps);
	return 0;
}
