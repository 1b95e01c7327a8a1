#include "kube/map_mark.h"

#include <string.h>

#include "base/mem.h"

enum map_mark map_mark_of(const struct configmap *map)
{
	const char *uid = json_str(map->annotations, MAP_MARK_UID);

	if (!uid)
		return MAP_MARK_NONE;
	return strcmp(uid, map->uid) ? MAP_MARK_OTHER : MAP_MARK_OWN;
}

static bool is_made(const struct json *annotations)
{
	return xstris(json_str(annotations, MAP_MARK_MADE), MAP_MARK_MADE_BY);
}

bool map_mark_says_empty(const struct configmap *map)
{
	return is_made(map->annotations) || map_mark_of(map) == MAP_MARK_OWN;
}

bool map_mark_was_emptied(const struct configmap *map)
{
	/* MUT: a map that was replaced as a whole is none yet */
	return map->applied && map_mark_of(map) != MAP_MARK_OWN;
}

bool map_mark_is_fresh(const struct json *metadata)
{
	return is_made(json_get(metadata, "annotations")) && !configmap_was_applied(metadata);
}

struct json *map_mark_witness(const char *name, const char *uid, const char *resource_version,
			      bool used)
{
	struct json *metadata = json_object();

	json_add_str(metadata, "name", name);
	json_add_str(metadata, "uid", uid);
	json_add_str(metadata, "resourceVersion", resource_version);
	if (used)
		json_add_str(json_add_object(metadata, "annotations"), MAP_MARK_MADE,
			     MAP_MARK_MADE_BY);
	return metadata;
}

int map_mark_refuse_emptied(const struct configmap *map, const char *place, const char *why,
			    struct err *err)
{
	return err_set(
		err, ERR_RETRY, 0,
		"%s is empty, but drey has written to it: it %s. Restore a copy of it, or `kubectl annotate --overwrite configmap %s " MAP_MARK_UID
		"=%s`: drey then decides from the checkpoints and savepoints that it finds",
		place, why, map->name, map->uid);
}

void map_mark_add(struct json *metadata, const char *uid)
{
	json_add_str(json_add_object(metadata, "annotations"), MAP_MARK_UID, uid);
}

int map_mark_refuse_missing(const char *place, struct err *err)
{
	return err_set(
		err, ERR_RETRY, 0,
		"%s does not exist, and drey does not create it, because the chart makes it (kubernetes.createMaps: false); apply the chart again: `helm upgrade`, or `kubectl apply` of what it renders",
		place);
}

int map_mark_refuse_foreign(const struct configmap *map, const char *place, const char *why,
			    struct err *err)
{
	return err_set(
		err, ERR_CONFIG, 0,
		"%s %s; it is neither used nor changed. If it is yours: `kubectl annotate --overwrite configmap %s " MAP_MARK_UID
		"=%s`; if not, empty it",
		place, why, map->name, map->uid);
}
