/*
 * control_map - the desired state as keys of a ConfigMap that is read through the API server:
 * immediately, while a mounted one shows a change only a minute later, and also if none is mounted.
 *
 * Life cycle: control_map_new() -> control_map_read() ... -> control_map_free(). For the loop's
 * thread; the requests are made on a lane of its own.
 */
#ifndef DREY_RUN_CONTROL_MAP_H
#define DREY_RUN_CONTROL_MAP_H

#include <stdbool.h>

#include "base/err.h"
#include "base/lane.h"
#include "core/desired.h"
#include "kube/configmap.h"

struct control_map; /* opaque */

/* `name` of the ConfigMap is copied. */
struct control_map *control_map_new(struct workers *workers, struct kube_client *client,
				    const char *name);
/* Aborts requests under way; their callbacks come before it returns. NULL is allowed. */
void control_map_free(struct control_map *map);

/* One reading. desired: borrowed for the call; NULL: it failed, see *why. absent: the API server
 * has no such ConfigMap; `desired` is then empty. */
typedef void control_map_fn(void *arg, const struct desired *desired, bool absent,
			    const struct err *why);

/* fn() is called exactly once, on the loop. */
void control_map_read(struct control_map *map, control_map_fn *fn, void *arg);

/* Interpret the data of a ConfigMap. Release *ret_desired. */
void control_map_desired(const struct configmap *from, struct desired *ret_desired);

#endif
