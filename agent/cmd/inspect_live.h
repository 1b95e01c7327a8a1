/*
 * inspect_live - Flink's HA ConfigMaps of the application that drey.yaml describes, as the API
 * server has them now, for `drey inspect --ha`. Reads only.
 */
#ifndef DREY_CMD_INSPECT_LIVE_H
#define DREY_CMD_INSPECT_LIVE_H

#include "cmd/cli.h"
#include "format/ha_map.h"

/*
 * The maps are those that a start would read (run/ha/ha_read.h). *ret_held, which the caller
 * frees, is why a live Flink may own the leader lock; NULL: none does. -1:
 *   ERR_CONFIG  drey.yaml, or a Flink without high availability on Kubernetes
 *   ERR_RETRY   they could not be read, or not all of them
 */
int inspect_live_read(const struct cli *cli, struct ha_maps *ret_maps, char **ret_held,
		      struct err *err);

#endif
