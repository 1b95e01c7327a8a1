/*
 * app - the objects of one application, by its name: from the drey.yaml that the chart puts into a ConfigMap, or the
 * default names. Pure.
 *
 * Only what names these objects is read, and nothing is checked: the drey of the application may be of another version
 * than this program.
 */
#ifndef DREY_CMD_APP_H
#define DREY_CMD_APP_H

#include <stddef.h>

#include "base/err.h"
#include "kube/configmap.h"
#include "run/config/config.h"

#define APP_SUFFIX "-drey"     /* of the ConfigMap of the chart */
#define APP_KEY    "drey.yaml" /* in it */

/*
 * A configuration with the names of the objects, and the port of HTTP (0: none); every other member is empty, and there
 * is no state directory. The caller releases it. ERR_CONFIG: it is no YAML, or has no application.
 */
int app_read(const char *yaml, struct config *ret_config, struct err *err);

/* The same with the default names. */
void app_default(const char *name, struct config *ret_config);

/*
 * Of ConfigMaps with the labels of the chart, which of them is meant: that of the release or application `name`. 1: it
 * is *ret_map, borrowed. 0: none. -1, ERR_CONFIG: several, which the message names.
 */
int app_choose(const struct configmap *maps, size_t count, const char *name,
	       const struct configmap **ret_map, struct err *err);

/*
 * "deployment/orders-jobmanager": whose Pods have drey in them. The caller frees. ERR_CONFIG: not known, or not the
 * name of one: whoever may write the ConfigMap would choose a word of a person's kubectl.
 */
int app_workload(const struct config *config, char **ret_workload, struct err *err);

#endif
