/*
 * config_value - one value of drey.yaml, from its YAML node into struct config, by type.
 *
 * Used by config.c only; separate from it so that the table and the types can each be read as a
 * whole.
 */
#ifndef DREY_RUN_CONFIG_VALUE_H
#define DREY_RUN_CONFIG_VALUE_H

#include "base/err.h"
#include "run/config/config.h"

struct yaml_node;

/* Check the node against the key's type and range and store it; the previous value is freed.
 * ERR_CONFIG with line, column and the key's name. */
int config_value_set(struct config *config, const struct config_key *key,
		     const struct yaml_node *node, struct err *err);

/* Free what is stored and zero it. */
void config_value_clear(struct config *config, const struct config_key *key);

#endif
