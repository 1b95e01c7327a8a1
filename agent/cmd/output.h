/*
 * output - documents as the options --json and -o ask for them: JSON, or YAML with the same members.
 */
#ifndef DREY_CMD_OUTPUT_H
#define DREY_CMD_OUTPUT_H

#include <stdbool.h>

#include "base/buf.h"
#include "cmd/cli.h"

struct json;

/* -o wide was given. The command has CLI_JSON, and says in its table that it knows it. */
bool output_wide(const struct cli *cli);

/* Print a document on cli->out, if cli_has(cli, "json"), in the format that was asked for. */
void output_document(const struct cli *cli, const struct json *doc);

/* Append a document as YAML 1.2: blocks; texts in double quotes wherever a reader could take them for
 * something else. Pure. */
void output_yaml(const struct json *doc, struct buf *ret_text);

#endif
