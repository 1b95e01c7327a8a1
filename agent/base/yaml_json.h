/*
 * yaml_json - YAML as JSON, and JSON as YAML.
 *
 * yaml_json_read() types plain scalars as kubectl does: null, true and false, decimal numbers, else
 * text. What YAML 1.1 and 1.2 read differently (`yes`, `0123`, `0x1f`, `1_000`, `.5`, `.inf`) is
 * rejected, because the writer may have meant the other one. So is a key of more than 320 bytes or with
 * a control character.
 *
 * yaml_json_print() writes block style that every reader of YAML reads back as the same JSON: a text
 * that could be anything else is in quotes.
 */
#ifndef DREY_BASE_YAML_JSON_H
#define DREY_BASE_YAML_JSON_H

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/yaml.h"

/* NULL on failure: ERR_CONFIG with the line. The caller frees with json_free(). */
struct json *yaml_json_read(const struct yaml_node *node, struct err *err);

/* Append the document, ended by a newline. */
void yaml_json_print(const struct json *node, struct buf *buf);

#endif
