/*
 * ha_file - Flink's HA ConfigMaps from files, without an API server: what `kubectl get
 * configmap` printed, or a directory into which a ConfigMap is mounted (one file for each key).
 */
#ifndef DREY_RUN_HA_FILE_H
#define DREY_RUN_HA_FILE_H

#include "base/err.h"
#include "format/ha_map.h"

#define HA_FILE_KEY_MAX_BYTES (1024 * 1024) /* of one key in a directory */
#define HA_FILE_MAX_KEYS      5000

/*
 * Append the maps of a file ("-": standard input) or of a directory, whose name is taken as that of
 * the map; if the name differs, its keys identify the map. On failure `maps` is as it was:
 * ERR_FORMAT when it holds no objects of Kubernetes, else what fs_read() says.
 */
int ha_file_load(const char *path, struct ha_maps *maps, struct err *err);

#endif
