#include "format/metadata_handle.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Tags of MetadataV2V3SerializerBase; one number means the same kind of handle wherever it stands.
 */
enum handle_tag {
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

enum channel_tag {
	CHANNEL_INPUT = 1,
	CHANNEL_OUTPUT = 2,
	CHANNEL_MERGED_INPUT = 3,
	CHANNEL_MERGED_OUTPUT = 4,
};

#define SCOPE_SHARED          1
#define FIRST_WITH_CHANNELS   3
#define FIRST_WITH_MERGED     6
#define DISTRIBUTION_MODES    3
#define MIN_STRING_AND_HANDLE 3 /* empty string, null handle */
#define MIN_CHANNEL_BYTES     25
#define MIN_CHANGELOG_PART    9
#define MIN_OPERATOR_STATE    7
#define MIN_KEY_GROUP_BYTES   8

/* Where a handle stands, which decides what it means for the file. */
struct context {
	int depth;
	bool shared, lower_bound;
};

static int read_stream(struct metadata_reader *rd, struct context in, struct err *err);
static int read_keyed(struct metadata_reader *rd, struct context in, struct err *err);

static int deeper(struct metadata_reader *rd, struct context *in, struct err *err)
{
	if (++in->depth > METADATA_MAX_DEPTH)
		return source_fail(source_offset(rd->src), err,
				   "handles are nested more than %d deep", METADATA_MAX_DEPTH);
	return 0;
}

static int unknown_tag(struct metadata_reader *rd, const char *what, int tag, struct err *err)
{
	return source_fail(source_offset(rd->src) - 1, err, "expected %s, found unknown tag %d",
			   what, tag);
}

static int skip_utf(struct metadata_reader *rd, const char *what, struct err *err)
{
	uint16_t len;

	if (source_u16(rd->src, &len, what, err))
		return -1;
	return source_skip(rd->src, len, what, err);
}

static int skip_i64s(struct metadata_reader *rd, const char *what, struct err *err)
{
	int32_t count;

	if (source_count(rd->src, &count, MIN_KEY_GROUP_BYTES, what, err))
		return -1;
	return source_skip(rd->src, (int64_t)count * 8, what, err);
}

/* State bytes that stand in the file itself. */
static int skip_inline(struct metadata_reader *rd, struct err *err)
{
	int32_t len;

	if (source_count(rd->src, &len, 1, "the length of inline state", err) ||
	    source_skip(rd->src, len, "inline state", err))
		return -1;
	rd->tail.inline_bytes += len;
	return 0;
}

static int read_size(struct metadata_reader *rd, int64_t *ret_bytes, const char *what,
		     struct err *err)
{
	int64_t at = source_offset(rd->src);

	if (source_i64(rd->src, ret_bytes, what, err))
		return -1;
	if (*ret_bytes < -1)
		return source_fail(at, err, "expected %s, found %" PRId64, what, *ret_bytes);
	return 0;
}

static int read_path(struct metadata_reader *rd, struct err *err)
{
	int64_t at = source_offset(rd->src);

	buf_clear(&rd->path);
	if (source_utf(rd->src, &rd->path, "the path of a state file", err))
		return -1;
	if (!rd->path.len_bytes)
		return source_fail(at, err, "expected the path of a state file, found none");
	return 0;
}

/* Tell the visitor of the file whose path was read last. */
static int tell_file(struct metadata_reader *rd, struct metadata_file file, struct err *err)
{
	file.path = buf_str(&rd->path);
	if (!rd->visitor->file)
		return 0;
	return rd->visitor->file(rd->visitor->ctx, &file, err);
}

static int read_bytes_handle(struct metadata_reader *rd, struct err *err)
{
	if (skip_utf(rd, "the name of inline state", err))
		return -1;
	return skip_inline(rd, err);
}

/* Does the file lie in the directory of this snapshot? Flink writes such files relative, unless the
 * paths of state files are spread over an object store by an entropy key. */
static bool in_own_directory(const struct metadata_reader *rd)
{
	const char *path = buf_str(&rd->path), *end = strrchr(path, '/'), *start = end;
	char own[32];

	if (!end)
		return false;
	while (start > path && start[-1] != '/')
		start--;
	snprintf(own, sizeof(own), "chk-%" PRId64 "/", rd->header.checkpoint_id);
	return !strncmp(start, own, strlen(own)) || !strncmp(start, "savepoint-", 10);
}

static int read_file(struct metadata_reader *rd, struct context in, struct err *err)
{
	struct metadata_file file = {.lower_bound = in.lower_bound};

	if (read_size(rd, &file.size_bytes, "the size of a state file", err) || read_path(rd, err))
		return -1;
	file.shared = in.shared || !in_own_directory(rd);
	return tell_file(rd, file, err);
}

/* Path before size here. The file lies beside the `_metadata`, so no other snapshot needs it. */
static int read_relative_file(struct metadata_reader *rd, struct context in, struct err *err)
{
	struct metadata_file file = {.relative = true, .lower_bound = in.lower_bound};

	if (read_path(rd, err) || read_size(rd, &file.size_bytes, "the size of a state file", err))
		return -1;
	return tell_file(rd, file, err);
}

/* Part of a file that holds the state of several handles. */
static int read_segment(struct metadata_reader *rd, struct err *err)
{
	struct metadata_file file = {.lower_bound = true};
	int64_t at = source_offset(rd->src), start, size;
	int32_t scope;

	if (source_i64(rd->src, &start, "the start of a file segment", err) ||
	    source_i64(rd->src, &size, "the size of a file segment", err) ||
	    source_i32(rd->src, &scope, "the scope of a file segment", err) || read_path(rd, err) ||
	    skip_utf(rd, "the logical file id of a file segment", err))
		return -1;
	if (start < 0 || size < 0 || start > INT64_MAX - size)
		return source_fail(
		    at, err, "expected a file segment, found start %" PRId64 " and size %" PRId64,
		    start, size);
	if (scope < 0 || scope > SCOPE_SHARED)
		return source_fail(at + 16, err, "expected scope 0 or 1, found %" PRId32, scope);
	file.size_bytes = start + size;
	file.shared = scope == SCOPE_SHARED;
	return tell_file(rd, file, err);
}

/* Start and number of key groups, one offset each. */
static int skip_key_groups(struct metadata_reader *rd, struct err *err)
{
	int32_t start;

	if (source_i32(rd->src, &start, "the first key group", err))
		return -1;
	return skip_i64s(rd, "the number of key groups", err);
}

static int read_stream(struct metadata_reader *rd, struct context in, struct err *err)
{
	uint8_t tag;

	if (deeper(rd, &in, err) || source_u8(rd->src, &tag, "the tag of a stream handle", err))
		return -1;
	switch (tag) {
	case TAG_NULL:
	case TAG_EMPTY_SEGMENT:
		return 0;
	case TAG_BYTES:
		return read_bytes_handle(rd, err);
	case TAG_FILE:
		return read_file(rd, in, err);
	case TAG_KEY_GROUPS:
		if (skip_key_groups(rd, err))
			return -1;
		return read_stream(rd, in, err);
	case TAG_RELATIVE_FILE:
		return read_relative_file(rd, in, err);
	case TAG_SEGMENT:
		return read_segment(rd, err);
	default:
		return unknown_tag(rd, "a stream handle", tag, err);
	}
}

int metadata_read_coordinator(struct metadata_reader *rd, struct err *err)
{
	uint8_t tag;

	if (source_u8(rd->src, &tag, "the tag of a coordinator's state", err))
		return -1;
	if (tag == TAG_NULL)
		return 0;
	if (tag != TAG_BYTES)
		return unknown_tag(rd, "a coordinator's state", tag, err);
	return read_bytes_handle(rd, err);
}

static int skip_operator_state(struct metadata_reader *rd, struct err *err)
{
	uint8_t mode;

	if (skip_utf(rd, "the name of an operator state", err) ||
	    source_u8(rd->src, &mode, "the mode of an operator state", err))
		return -1;
	if (mode >= DISTRIBUTION_MODES)
		return source_fail(source_offset(rd->src) - 1, err,
				   "expected the mode of an operator state, found %d", mode);
	return skip_i64s(rd, "the offsets of an operator state", err);
}

static int read_operator_handle(struct metadata_reader *rd, struct err *err)
{
	struct context in = {0};
	uint8_t tag, empty;
	int32_t states;

	if (source_u8(rd->src, &tag, "the tag of operator state", err))
		return -1;
	if (tag == TAG_NULL)
		return 0;
	if (tag != TAG_OPERATOR && tag != TAG_OPERATOR_MERGED)
		return unknown_tag(rd, "operator state", tag, err);
	if (source_count(rd->src, &states, MIN_OPERATOR_STATE, "the number of operator states",
			 err))
		return -1;
	while (states-- > 0)
		if (skip_operator_state(rd, err))
			return -1;
	if (tag == TAG_OPERATOR_MERGED &&
	    (skip_utf(rd, "the directory of merged files", err) ||
	     skip_utf(rd, "the shared directory of merged files", err) ||
	     source_u8(rd->src, &empty, "the mark of empty merged files", err)))
		return -1;
	return read_stream(rd, in, err);
}

/* Names and handles of the files of an incremental snapshot. */
static int read_named_handles(struct metadata_reader *rd, struct context in, struct err *err)
{
	int32_t count;

	if (source_count(rd->src, &count, MIN_STRING_AND_HANDLE, "the number of state files", err))
		return -1;
	while (count-- > 0)
		if (skip_utf(rd, "the local name of a state file", err) || read_stream(rd, in, err))
			return -1;
	return 0;
}

static int skip_range(struct metadata_reader *rd, struct err *err)
{
	return source_skip(rd->src, 8, "a range of key groups", err);
}

static int skip_i64(struct metadata_reader *rd, const char *what, struct err *err)
{
	return source_skip(rd->src, 8, what, err);
}

static int read_incremental(struct metadata_reader *rd, struct context in, bool second,
			    struct err *err)
{
	struct context in_shared = in;

	in_shared.shared = true;
	if (skip_i64(rd, "the checkpoint id of incremental state", err) ||
	    skip_utf(rd, "the backend id of incremental state", err) || skip_range(rd, err))
		return -1;
	if (second && skip_i64(rd, "the checkpointed size", err))
		return -1;
	if (read_stream(rd, in, err) || read_named_handles(rd, in_shared, err) ||
	    read_named_handles(rd, in, err))
		return -1;
	return second ? skip_utf(rd, "the id of a state handle", err) : 0;
}

static int read_keyed_list(struct metadata_reader *rd, struct context in, struct err *err)
{
	int32_t count;

	if (source_count(rd->src, &count, 1, "the number of changelog handles", err))
		return -1;
	while (count-- > 0)
		if (read_keyed(rd, in, err))
			return -1;
	return 0;
}

/* Materialised state and the changes since; both outlive one checkpoint. */
static int read_changelog(struct metadata_reader *rd, struct context in, bool second,
			  struct err *err)
{
	in.shared = true;
	if (skip_range(rd, err) || skip_i64(rd, "the checkpointed size", err) ||
	    read_keyed_list(rd, in, err) || read_keyed_list(rd, in, err) ||
	    skip_i64(rd, "the materialization id", err))
		return -1;
	if (second && skip_i64(rd, "the checkpoint id of a changelog", err))
		return -1;
	return skip_utf(rd, "the id of a state handle", err);
}

static int read_changelog_bytes(struct metadata_reader *rd, struct err *err)
{
	int32_t changes;

	if (skip_range(rd, err) || skip_i64(rd, "the first change", err) ||
	    skip_i64(rd, "the last change", err) ||
	    source_count(rd->src, &changes, MIN_KEY_GROUP_BYTES, "the number of changes", err))
		return -1;
	while (changes-- > 0)
		if (source_skip(rd->src, 4, "the key group of a change", err) ||
		    skip_inline(rd, err))
			return -1;
	return skip_utf(rd, "the id of a state handle", err);
}

/* The files hold a header that the sizes leave out, and changes of others: sizes are lower bounds.
 */
static int read_changelog_files(struct metadata_reader *rd, struct context in, bool second,
				struct err *err)
{
	int32_t handles;

	in.shared = in.lower_bound = true;
	if (skip_range(rd, err) || source_count(rd->src, &handles, MIN_CHANGELOG_PART,
						"the number of changelog files", err))
		return -1;
	while (handles-- > 0)
		if (skip_i64(rd, "the offset in a changelog file", err) || read_stream(rd, in, err))
			return -1;
	if (skip_i64(rd, "the size of a changelog", err) ||
	    skip_i64(rd, "the checkpointed size", err) ||
	    skip_utf(rd, "the id of a state handle", err))
		return -1;
	return second ? skip_utf(rd, "the storage identifier of a changelog", err) : 0;
}

static int read_keyed(struct metadata_reader *rd, struct context in, struct err *err)
{
	uint8_t tag;

	if (deeper(rd, &in, err) || source_u8(rd->src, &tag, "the tag of keyed state", err))
		return -1;
	switch (tag) {
	case TAG_NULL:
		return 0;
	case TAG_KEY_GROUPS:
	case TAG_SAVEPOINT_KEY_GROUPS:
	case TAG_KEY_GROUPS_V2:
		if (skip_key_groups(rd, err) || read_stream(rd, in, err))
			return -1;
		if (tag == TAG_KEY_GROUPS_V2)
			return skip_utf(rd, "the id of a state handle", err);
		return 0;
	case TAG_INCREMENTAL:
	case TAG_INCREMENTAL_V2:
		return read_incremental(rd, in, tag == TAG_INCREMENTAL_V2, err);
	case TAG_CHANGELOG:
	case TAG_CHANGELOG_V2:
		return read_changelog(rd, in, tag == TAG_CHANGELOG_V2, err);
	case TAG_CHANGELOG_BYTES:
		return read_changelog_bytes(rd, err);
	case TAG_CHANGELOG_FILES:
	case TAG_CHANGELOG_FILES_V2:
		return read_changelog_files(rd, in, tag == TAG_CHANGELOG_FILES_V2, err);
	default:
		return unknown_tag(rd, "keyed state", tag, err);
	}
}

/* Subtask, channel numbers, offsets, size, handle. */
static int read_channel(struct metadata_reader *rd, struct err *err)
{
	struct context in = {0};

	if (source_skip(rd->src, 12, "the numbers of a channel", err) ||
	    skip_i64s(rd, "the offsets of channel state", err) ||
	    skip_i64(rd, "the size of channel state", err))
		return -1;
	return read_stream(rd, in, err);
}

static int read_merged_channels(struct metadata_reader *rd, struct err *err)
{
	struct context in = {0};
	int32_t len;

	if (source_skip(rd->src, 4, "the subtask of channel state", err) ||
	    skip_i64(rd, "the size of channel state", err) || read_stream(rd, in, err) ||
	    source_count(rd->src, &len, 1, "the length of channel offsets", err))
		return -1;
	return source_skip(rd->src, len, "channel offsets", err);
}

static int read_tagged_channel(struct metadata_reader *rd, bool output, struct err *err)
{
	uint8_t tag;

	if (source_u8(rd->src, &tag, "the tag of channel state", err))
		return -1;
	if (tag == (output ? CHANNEL_OUTPUT : CHANNEL_INPUT))
		return read_channel(rd, err);
	if (tag == (output ? CHANNEL_MERGED_OUTPUT : CHANNEL_MERGED_INPUT))
		return read_merged_channels(rd, err);
	return unknown_tag(rd, output ? "output channel state" : "input channel state", tag, err);
}

static int read_channels(struct metadata_reader *rd, bool output, struct err *err)
{
	bool tagged = rd->header.version >= FIRST_WITH_MERGED;
	int32_t count;

	if (source_count(rd->src, &count, tagged ? MIN_CHANNEL_BYTES - 8 : MIN_CHANNEL_BYTES,
			 "the number of channel states", err))
		return -1;
	while (count-- > 0)
		if (tagged ? read_tagged_channel(rd, output, err) : read_channel(rd, err))
			return -1;
	return 0;
}

/* Two fields that only versions before 1.4 used. */
static int skip_legacy(struct metadata_reader *rd, struct err *err)
{
	int32_t legacy;

	if (skip_i64(rd, "an unused number", err) ||
	    source_i32(rd->src, &legacy, "the number of legacy states", err))
		return -1;
	if (legacy)
		return source_fail(source_offset(rd->src) - 4, err,
				   "expected no legacy state (Flink 1.1), found %" PRId32, legacy);
	return 0;
}

int metadata_read_subtask(struct metadata_reader *rd, struct err *err)
{
	struct context in = {0};
	int32_t present;

	if (rd->header.version < FIRST_WITH_CHANNELS && skip_legacy(rd, err))
		return -1;
	for (int i = 0; i < 2; i++) { /* managed, raw */
		if (source_i32(rd->src, &present, "whether there is operator state", err))
			return -1;
		if (present && read_operator_handle(rd, err))
			return -1;
	}
	if (read_keyed(rd, in, err) || read_keyed(rd, in, err))
		return -1;
	if (rd->header.version < FIRST_WITH_CHANNELS)
		return 0;
	return read_channels(rd, false, err) || read_channels(rd, true, err) ? -1 : 0;
}
