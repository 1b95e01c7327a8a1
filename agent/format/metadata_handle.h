/*
 * metadata_handle - the state handles inside a `_metadata` file; used by metadata*.c only.
 *
 * metadata.c reads down to the subtasks, metadata_subtask.c a subtask, metadata_keyed.c and
 * metadata_stream.c the handles in it. Layout: docs/reference/formats.md.
 */
#ifndef DREY_FORMAT_METADATA_HANDLE_H
#define DREY_FORMAT_METADATA_HANDLE_H

#include "base/buf.h"
#include "format/metadata.h"

/* Tags of MetadataV2V3SerializerBase; a number means the same kind of handle everywhere. */
enum metadata_tag {
	TAG_NULL = 0,
	TAG_BYTES = 1,
	TAG_FILE = 2,
	TAG_KEY_GROUPS = 3,
	TAG_OPERATOR = 4,
	TAG_INCREMENTAL = 5,
	TAG_RELATIVE_FILE = 6,
	TAG_SAVEPOINT_KEY_GROUPS = 7,
	TAG_CHANGELOG = 8,
	TAG_CHANGELOG_BYTES = 9,
	TAG_CHANGELOG_FILES = 10,
	TAG_INCREMENTAL_V2 = 11,
	TAG_KEY_GROUPS_V2 = 12,
	TAG_CHANGELOG_FILES_V2 = 13,
	TAG_CHANGELOG_V2 = 14,
	TAG_SEGMENT = 15,
	TAG_EMPTY_SEGMENT = 16,
	TAG_OPERATOR_MERGED = 17,
};

/* One parse under way. */
struct metadata_reader {
	struct source *src;
	const struct metadata_visitor *visitor;
	struct buf path;  /* scratch */
	char own_dir[32]; /* "chk-<id>/" */
	struct metadata_header header;
	struct metadata_tail tail;
	/* of the operator that is being read */
	bool has_state;
	int64_t state_bytes;
};

/* The position of a handle, which decides what it means for the file. Passed by value. */
struct metadata_context {
	int depth;
	bool shared, lower_bound;
};

/* The state of one subtask, after its index. */
int metadata_read_subtask(struct metadata_reader *rd, struct err *err);

/* A coordinator's state: nothing or inline bytes. */
int metadata_read_coordinator(struct metadata_reader *rd, struct err *err);

/* Handles, with their tags. */
int metadata_read_keyed(struct metadata_reader *rd, struct metadata_context in, struct err *err);
int metadata_read_stream(struct metadata_reader *rd, struct metadata_context in, struct err *err);

/* Inline state after its tag. */
int metadata_read_bytes(struct metadata_reader *rd, struct err *err);

/* One level down; ERR_FORMAT beyond METADATA_MAX_DEPTH. */
int metadata_deeper(struct metadata_reader *rd, struct metadata_context *in, struct err *err);

/* ERR_FORMAT for the tag read last. */
int metadata_unknown_tag(struct metadata_reader *rd, const char *what, int tag, struct err *err);

/* Skip data that is not about files. */
int metadata_skip_utf(struct metadata_reader *rd, const char *what, struct err *err);
int metadata_skip_i64(struct metadata_reader *rd, const char *what, struct err *err);
/* Counted; *ret_count may be NULL. */
int metadata_skip_i64s(struct metadata_reader *rd, int32_t *ret_count, const char *what,
		       struct err *err);
int metadata_skip_key_groups(struct metadata_reader *rd, struct err *err);

/* State bytes with their length, which are counted. */
int metadata_skip_inline(struct metadata_reader *rd, struct err *err);

#endif
