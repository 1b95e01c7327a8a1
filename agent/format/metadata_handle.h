/*
 * metadata_handle - the state handles inside a `_metadata` file; used by metadata.c only.
 */
#ifndef DREY_FORMAT_METADATA_HANDLE_H
#define DREY_FORMAT_METADATA_HANDLE_H

#include "base/buf.h"
#include "format/metadata.h"

/* One parse that is under way. */
struct metadata_reader {
	struct source *src;
	const struct metadata_visitor *visitor;
	struct buf path; /* scratch */
	struct metadata_header header;
	struct metadata_tail tail;
};

/* The state of one subtask, behind its index. */
int metadata_read_subtask(struct metadata_reader *rd, struct err *err);

/* A coordinator's state: nothing or inline bytes. */
int metadata_read_coordinator(struct metadata_reader *rd, struct err *err);

#endif
