/*
 * ha_map - the ConfigMaps of Flink's high availability on Kubernetes, from what `kubectl get
 * configmap -o json|yaml` prints (one ConfigMap or a List) or from single keys and values.
 *
 * A job has one map of its own, <cluster-id>-<job id>-config-map (1.14 and older:
 * <cluster-id>-<job id>-jobmanager-leader), with a key checkpointID-<19 digits> for each checkpoint
 * that Flink would recover from, and `counter`. The cluster has <cluster-id>-cluster-config-map
 * (<cluster-id>-dispatcher-leader), with what Flink would start again: jobGraph-, executionPlan-,
 * application-. Source: org.apache.flink.kubernetes.utils.Constants and
 * KubernetesCheckpointStoreUtil, Flink 1.13 to 2.3.
 *
 * Only a checkpoint key on a live map of a job is state. A map with another name, one that is being
 * deleted, one without such a key, or an entry that is marked for deletion is not, however similar
 * it looks (ha_map_entry_counts()).
 *
 * Life cycle: a zeroed struct ha_maps is empty -> ha_maps_parse() or ha_maps_add() and
 * ha_map_put() -> ha_maps_release(). The structs own their strings.
 */
#ifndef DREY_FORMAT_HA_MAP_H
#define DREY_FORMAT_HA_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "format/ha_value.h"

#define HA_MAPS_MAX_BYTES   (32 * 1024 * 1024) /* of one document */
#define HA_MAPS_MAX_MAPS    10000
#define HA_MAPS_MAX_ENTRIES 20000 /* of all maps of a document */

enum ha_entry_kind {
	HA_ENTRY_CHECKPOINT,  /* checkpointID-<n> */
	HA_ENTRY_JOB,         /* jobGraph-<job id>, executionPlan-<job id> */
	HA_ENTRY_APPLICATION, /* application-<id> */
	HA_ENTRY_LEADER,      /* who leads: no handle, `value` is empty */
};

struct ha_entry {
	enum ha_entry_kind kind;
	char *key;
	int64_t checkpoint_id; /* from the key; CHECKPOINT only */
	struct ha_value value; /* uri NULL: not decodable */
	char *error;           /* why, else NULL */
};

enum ha_map_kind {
	HA_MAP_OTHER, /* by its name not Flink's: a look-alike at best */
	HA_MAP_JOB,
	HA_MAP_CLUSTER,
};

struct ha_map {
	enum ha_map_kind kind;
	char *name, *space;       /* `space`: the namespace; NULL = not known */
	char job_id[33];          /* HA_MAP_JOB; "" = not in the name */
	bool deleting;            /* it has a deletion timestamp */
	bool former;              /* for the caller: of a cluster id that Flink does not use now */
	int64_t counter;          /* id of the next checkpoint; 0 = no such key, or not a number */
	bool counter_broken;      /* not a number */
	struct ha_entry *entries; /* in order; keys without meaning here are left out */
	size_t entry_count;
};

struct ha_maps {
	struct ha_map *maps;
	size_t count;
};

/*
 * Append the ConfigMaps of a document: JSON when it begins with '{', else YAML. Objects of other
 * kinds are ignored, an entry that cannot be decoded is kept with its error. -1: ERR_FORMAT, and
 * `maps` is as it was.
 */
int ha_maps_parse(struct ha_maps *maps, const char *text, size_t len_bytes, struct err *err);

/* Append an empty map; name NULL: not known, its keys will tell. Borrowed until the next add. */
struct ha_map *ha_maps_add(struct ha_maps *maps, const char *name);

/* Add one key of the map with its value as in the ConfigMap. */
void ha_map_put(struct ha_map *map, const char *key, const char *value, size_t len_bytes);

/* Is this state that Flink would recover from? */
bool ha_map_entry_counts(const struct ha_map *map, const struct ha_entry *entry);

/* Could Flink continue to count after the checkpoints of this map? NULL = yes, else why not; the
 * caller frees. It takes no checkpoint if `counter` is not a number, and numbers the next ones
 * below the existing ones if it is too small (KubernetesCheckpointIDCounter): the older ones would
 * then count as newer. */
char *ha_map_miscounts(const struct ha_map *map);

/* Append the maps of `from` to those of `to`; `from` is empty afterwards. */
void ha_maps_join(struct ha_maps *to, struct ha_maps *from);

void ha_maps_release(struct ha_maps *maps); /* NULL and zeroed are allowed */
#define cleanup_ha_maps __attribute__((cleanup(ha_maps_release)))

const char *ha_map_kind_name(enum ha_map_kind kind);     /* "job", "cluster", "other" */
const char *ha_entry_kind_name(enum ha_entry_kind kind); /* "checkpoint", "job", ... */

#endif
