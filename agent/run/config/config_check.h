/* config_check - conflicts between keys of drey.yaml, each of which is valid by itself. */
#ifndef DREY_RUN_CONFIG_CHECK_H
#define DREY_RUN_CONFIG_CHECK_H

#include "base/err.h"
#include "base/yaml.h"
#include "run/config/config.h"

/* The node of a key such as "savepoints.cron"; NULL: it is not set. Borrowed. */
const struct yaml_node *config_node_of(const struct yaml_node *root, const char *name);

/* -1 with ERR_CONFIG: what contradicts what, with the place in the file. */
int config_check(const struct config *config, const struct yaml_node *root, struct err *err);

/* What takes savepoints that no launch will ever use, for a warning; NULL: nothing does. The caller
 * frees it. */
char *config_unused_savepoints(const struct config *config);

#endif
