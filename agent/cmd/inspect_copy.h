/*
 * inspect_copy - a copy of the journal (core/journal/journal_copy.h) as a document and as text, for `drey
 * inspect`.
 *
 * The document: {kind: "journal-copy", and the members of the file}.
 */
#ifndef DREY_CMD_INSPECT_COPY_H
#define DREY_CMD_INSPECT_COPY_H

#include "cmd/out.h"

#include "core/journal/journal_copy.h"

struct json;

/* The caller frees with json_free(). */
struct json *inspect_copy_document(const struct journal_copy *copy);

void inspect_copy_print(const struct journal_copy *copy, struct out out);

#endif
