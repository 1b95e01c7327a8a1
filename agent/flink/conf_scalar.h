/*
 * conf_scalar - a scalar of config.yaml as the text that Flink turns it into. Pure.
 *
 * Flink reads config.yaml by YAML's core schema, into numbers and booleans of Java, and if an
 * option is a text (a cluster id, a namespace), it gets what Java prints for them: 007 is 7, 1.10
 * is 1.1, 0x1F is 31, 1e3 is 1000.0, True is true. In quotes everything is text. Not handled but
 * left as written: infinity, NaN, hexadecimal numbers of more than 64 bits.
 */
#ifndef DREY_FLINK_CONF_SCALAR_H
#define DREY_FLINK_CONF_SCALAR_H

#include "base/yaml.h"

/* `node` is a YAML_SCALAR. Caller frees. */
char *conf_scalar_text(const struct yaml_node *node);

#endif
