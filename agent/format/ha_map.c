#include "format/ha_map.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/words.h"
#include "base/yaml.h"

#define JOB_ID_DIGITS 32
#define MAX_ID_DIGITS 19
#define LEADER_PREFIX "org.apache.flink.k8s.leader."

/* ---- names ---- */

static const char *after(const char *text, const char *prefix)
{
	size_t len = strlen(prefix);

	return strncmp(text, prefix, len) ? NULL : text + len;
}

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), end_len = strlen(end);

	return len > end_len && !strcmp(text + len - end_len, end);
}

/* "<cluster id>-<32 hex><end>": the job id. */
static bool job_of_name(const char *name, const char *end, char job_id[JOB_ID_DIGITS + 1])
{
	size_t len = strlen(name), end_len = strlen(end);
	const char *id;

	if (!ends_with(name, end) || len < end_len + JOB_ID_DIGITS + 2)
		return false;
	id = name + len - end_len - JOB_ID_DIGITS;
	if (id[-1] != '-' || strspn(id, "0123456789abcdef") < JOB_ID_DIGITS)
		return false;
	memcpy(job_id, id, JOB_ID_DIGITS);
	job_id[JOB_ID_DIGITS] = '\0';
	return true;
}

static enum ha_map_kind kind_of_name(const char *name, char job_id[JOB_ID_DIGITS + 1])
{
	if (job_of_name(name, "-config-map", job_id) ||
	    job_of_name(name, "-jobmanager-leader", job_id))
		return HA_MAP_JOB;
	if (ends_with(name, "-cluster-config-map") || ends_with(name, "-dispatcher-leader"))
		return HA_MAP_CLUSTER;
	return HA_MAP_OTHER;
}

/* A whole number in decimal digits; false when it is not, or too large. */
static bool digits(const char *text, size_t len, int64_t *ret)
{
	int64_t value = 0;

	if (!len || len > MAX_ID_DIGITS)
		return false;
	for (size_t i = 0; i < len; i++)
		if (text[i] < '0' || text[i] > '9' || __builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, text[i] - '0', &value))
			return false;
	*ret = value;
	return true;
}

static bool kind_of_key(const char *key, struct ha_entry *entry)
{
	const char *rest;

	if ((rest = after(key, "checkpointID-"))) {
		entry->kind = HA_ENTRY_CHECKPOINT;
		return digits(rest, strlen(rest), &entry->checkpoint_id);
	}
	if (after(key, "jobGraph-") || after(key, "executionPlan-"))
		entry->kind = HA_ENTRY_JOB;
	else if (after(key, "application-"))
		entry->kind = HA_ENTRY_APPLICATION;
	else if (after(key, LEADER_PREFIX))
		entry->kind = HA_ENTRY_LEADER;
	else
		return false;
	return true;
}

/* ---- maps ---- */

struct ha_map *ha_maps_add(struct ha_maps *maps, const char *name)
{
	struct ha_map *map;

	maps->maps = xreallocarray(maps->maps, maps->count + 1, sizeof(*maps->maps));
	map = &maps->maps[maps->count++];
	*map = (struct ha_map){.name = xstrdup(name)};
	if (name)
		map->kind = kind_of_name(name, map->job_id);
	return map;
}

void ha_map_put(struct ha_map *map, const char *key, const char *value, size_t len_bytes)
{
	struct ha_entry entry = {0};
	struct err err = {0};

	if (!strcmp(key, "counter")) {
		map->counter_broken = !digits(value, len_bytes, &map->counter);
		if (map->counter_broken)
			map->counter = 0;
		return;
	}
	if (!kind_of_key(key, &entry))
		return;
	if (!map->name && !map->kind)
		map->kind = entry.kind == HA_ENTRY_CHECKPOINT ? HA_MAP_JOB : HA_MAP_OTHER;
	if (entry.kind != HA_ENTRY_LEADER &&
	    ha_value_decode(value, len_bytes, &entry.value, &err) < 0)
		entry.error = xstrdup(err.msg);
	entry.key = xstrdup(key);
	if ((map->entry_count & (map->entry_count - 1)) == 0)
		map->entries =
			xreallocarray(map->entries, map->entry_count ? 2 * map->entry_count : 1,
				      sizeof(*map->entries));
	map->entries[map->entry_count++] = entry;
}

bool ha_map_entry_counts(const struct ha_map *map, const struct ha_entry *entry)
{
	return map->kind == HA_MAP_JOB && !map->deleting && entry->kind == HA_ENTRY_CHECKPOINT &&
	       !entry->value.deleted;
}

char *ha_map_miscounts(const struct ha_map *map)
{
	int64_t newest = 0;

	for (size_t i = 0; i < map->entry_count; i++)
		if (ha_map_entry_counts(map, &map->entries[i]) &&
		    map->entries[i].checkpoint_id > newest)
			newest = map->entries[i].checkpoint_id;
	if (!newest || map->counter > newest)
		return NULL;
	if (map->counter_broken)
		return xasprintf("the counter of %s is not a number", map->name);
	return xasprintf("the counter of %s is %" PRId64 ", but there is checkpoint id %" PRId64,
			 map->name, map->counter, newest);
}

static void map_release(struct ha_map *map)
{
	for (size_t i = 0; i < map->entry_count; i++) {
		free(map->entries[i].key);
		free(map->entries[i].error);
		ha_value_release(&map->entries[i].value);
	}
	free(map->entries);
	free(map->name);
	free(map->space);
}

void ha_maps_release(struct ha_maps *maps)
{
	if (!maps)
		return;
	for (size_t i = 0; i < maps->count; i++)
		map_release(&maps->maps[i]);
	free(maps->maps);
	*maps = (struct ha_maps){0};
}

void ha_maps_join(struct ha_maps *to, struct ha_maps *from)
{
	if (from->count) {
		to->maps = xreallocarray(to->maps, to->count + from->count, sizeof(*to->maps));
		memcpy(to->maps + to->count, from->maps, from->count * sizeof(*from->maps));
		to->count += from->count;
	}
	free(from->maps);
	*from = (struct ha_maps){0};
}

/* ---- documents ---- */

/* Of a whole document. */
struct reader {
	struct ha_maps maps;
	size_t entries;
};

static int too_much(const struct reader *rd, struct err *err)
{
	if (rd->maps.count > HA_MAPS_MAX_MAPS || rd->entries > HA_MAPS_MAX_ENTRIES)
		return err_set(err, ERR_FORMAT, 0,
			       "more than %d ConfigMaps or %d entries in one document",
			       HA_MAPS_MAX_MAPS, HA_MAPS_MAX_ENTRIES);
	return 0;
}

static int put(struct reader *rd, struct ha_map *map, const char *key, const char *value,
	       struct err *err)
{
	size_t before = map->entry_count;

	ha_map_put(map, key, value, strlen(value));
	rd->entries += map->entry_count - before;
	return too_much(rd, err);
}

static int begin_map(struct reader *rd, const char *name, const char *space, bool deleting,
		     struct ha_map **ret, struct err *err)
{
	struct ha_map *map;

	if (!name || !*name)
		return err_set(err, ERR_FORMAT, 0, "a ConfigMap has no metadata.name");
	map = ha_maps_add(&rd->maps, name);
	map->space = xstrdup(space);
	map->deleting = deleting;
	*ret = map;
	return too_much(rd, err);
}

static bool is_list(const char *kind)
{
	return !strcmp(kind, "List") || !strcmp(kind, "ConfigMapList");
}

/* The kind of an API object; the items of a ConfigMapList may omit it. */
static int check_kind(const char *kind, bool in_list, struct err *err)
{
	if (!kind && !in_list)
		return err_set(err, ERR_FORMAT, 0, "it has no kind: not a Kubernetes object");
	if (kind && in_list && is_list(kind))
		return err_set(err, ERR_FORMAT, 0, "a list inside a list");
	return 0;
}

static int read_json(struct reader *rd, const struct json *doc, bool in_list, struct err *err)
{
	const struct json *meta = json_get(doc, "metadata"), *item;
	const char *kind = json_str(doc, "kind");
	struct ha_map *map;

	if (check_kind(kind, in_list, err) < 0)
		return -1;
	if (kind && is_list(kind)) {
		json_each (item, json_get(doc, "items"))
			if (read_json(rd, item, true, err) < 0)
				return -1;
		return 0;
	}
	if (kind && strcmp(kind, "ConfigMap") != 0)
		return 0;
	if (begin_map(rd, json_str(meta, "name"), json_str(meta, "namespace"),
		      json_kind(json_get(meta, "deletionTimestamp")) != JSON_NULL, &map, err) < 0)
		return -1;
	json_each (item, json_get(doc, "data")) {
		if (json_kind(item) != JSON_STRING || !json_name(item))
			return err_set(err, ERR_FORMAT, 0, "data of %s is not only text",
				       map->name);
		if (put(rd, map, json_name(item), json_text(item), err) < 0)
			return -1;
	}
	return 0;
}

static const char *yaml_text(const struct yaml_node *map, const char *key)
{
	const struct yaml_node *node = yaml_get(map, key);

	return node && node->kind == YAML_SCALAR && !yaml_is_null(node) ? node->text : NULL;
}

static int read_yaml(struct reader *rd, const struct yaml_node *doc, bool in_list, struct err *err)
{
	const struct yaml_node *meta = yaml_get(doc, "metadata"), *item;
	const char *kind = yaml_text(doc, "kind");
	struct ha_map *map;

	if (check_kind(kind, in_list, err) < 0)
		return -1;
	if (kind && is_list(kind)) {
		yaml_each(item,
			  yaml_get(doc, "items")) if (read_yaml(rd, item, true, err) < 0) return -1;
		return 0;
	}
	if (kind && strcmp(kind, "ConfigMap") != 0)
		return 0;
	if (begin_map(rd, yaml_text(meta, "name"), yaml_text(meta, "namespace"),
		      yaml_text(meta, "deletionTimestamp") != NULL, &map, err) < 0)
		return -1;
	yaml_each(item, yaml_get(doc, "data"))
	{
		if (item->kind != YAML_SCALAR || !item->key)
			return err_set(err, ERR_FORMAT, 0, "data of %s is not only text",
				       map->name);
		if (put(rd, map, item->key, item->text, err) < 0)
			return -1;
	}
	return 0;
}

int ha_maps_parse(struct ha_maps *maps, const char *text, size_t len_bytes, struct err *err)
{
	struct reader rd = {0};
	size_t blank = 0;
	int rc = -1;

	while (blank < len_bytes && strchr(" \t\r\n", text[blank]) && text[blank])
		blank++;
	if (blank < len_bytes && text[blank] == '{') {
		cleanup_json struct json *doc = json_parse(text, len_bytes, HA_MAPS_MAX_BYTES, err);

		if (doc)
			rc = read_json(&rd, doc, false, err);
	} else {
		cleanup_yaml struct yaml_node *doc =
			yaml_parse(text, len_bytes, HA_MAPS_MAX_BYTES, err);

		if (doc)
			rc = read_yaml(&rd, doc, false, err);
		else if (err)
			err->kind = ERR_FORMAT; /* Flink names this file itself */
	}
	if (!rc)
		ha_maps_join(maps, &rd.maps);
	ha_maps_release(&rd.maps);
	return rc;
}

WORDS(ha_map_kind_name, enum ha_map_kind, "unknown", "other", "job", "cluster");
WORDS(ha_entry_kind_name, enum ha_entry_kind, "unknown", "checkpoint", "job", "application",
      "leader");
