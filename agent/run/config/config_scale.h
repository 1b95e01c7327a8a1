/*
 * config_scale - the value of kubernetes.scale: the objects of the TaskManagers. A list of {kind, name}; or, for one
 * Deployment, its name alone; or `none`.
 */
#ifndef DREY_RUN_CONFIG_SCALE_H
#define DREY_RUN_CONFIG_SCALE_H

#include <stddef.h>

#include "base/err.h"
#include "base/yaml.h"
#include "kube/kube_scale.h"

#define CONFIG_SCALE_MAX      200 /* objects: one request for each, once a minute while parked */
#define CONFIG_SCALE_NAME_MAX 200 /* characters: the key of its record has more */

/* ERR_CONFIG with the place in the file. The caller owns the list, also an empty one: config_scale_free(). */
int config_scale_parse(const struct yaml_node *node, const char *key,
		       struct kube_scale_target **ret_list, size_t *ret_count, struct err *err);

void config_scale_free(struct kube_scale_target *list, size_t count); /* NULL is allowed */

#endif
