/*
 * inspect_map - Flink's HA ConfigMaps as a document and as text, for `drey inspect`. Pure.
 *
 * The document:
 *   {kind: "ha-map",
 *    maps [{name, namespace, type: job|cluster|other, jobId, deleting, counter,
 *           entries [{key, type: checkpoint|job|application|leader, checkpointId, counts, deleted,
 *                     uri, sizeBytes, error}]}]}
 * and with --ha lockHeld, why a live Flink may own the leader lock. `counts`: Flink would recover
 * from it. What is unknown or absent is null.
 */
#ifndef DREY_CMD_INSPECT_MAP_H
#define DREY_CMD_INSPECT_MAP_H

#include "cmd/out.h"

#include "format/ha_map.h"

struct json;

/* The caller frees with json_free(). */
struct json *inspect_map_document(const struct ha_maps *maps);

void inspect_map_print(const struct ha_maps *maps, struct out out);

#endif
