/* metadata_stream: stream handles, which name files or contain bytes, and what all handles
 * share. */
#include "format/metadata_handle.h"

#include <inttypes.h>
#include <string.h>

#define SCOPE_SHARED        1
#define MIN_KEY_GROUP_BYTES 8

int metadata_deeper(struct metadata_reader *rd, struct metadata_context *in, struct err *err)
{
	if (++in->depth > METADATA_MAX_DEPTH)
		return source_fail(source_offset(rd->src), err,
				   "handles are nested more than %d deep", METADATA_MAX_DEPTH);
	return 0;
}

int metadata_unknown_tag(struct metadata_reader *rd, const char *what, int tag, struct err *err)
{
	return source_fail(source_offset(rd->src) - 1, err, "expected %s, found unknown tag %d",
			   what, tag);
}

int metadata_skip_utf(struct metadata_reader *rd, const char *what, struct err *err)
{
	uint16_t len;

	if (source_u16(rd->src, &len, what, err))
		return -1;
	return source_skip(rd->src, len, what, err);
}

int metadata_skip_i64s(struct metadata_reader *rd, int32_t *ret_count, const char *what,
		       struct err *err)
{
	int32_t count;

	if (source_count(rd->src, &count, MIN_KEY_GROUP_BYTES, what, err))
		return -1;
	if (ret_count)
		*ret_count = count;
	return source_skip(rd->src, (int64_t)count * 8, what, err);
}

int metadata_skip_i64(struct metadata_reader *rd, const char *what, struct err *err)
{
	return source_skip(rd->src, 8, what, err);
}

/* State bytes in the file itself. */
int metadata_skip_inline(struct metadata_reader *rd, struct err *err)
{
	int32_t len;

	if (source_count(rd->src, &len, 1, "the length of inline state", err) ||
	    source_skip(rd->src, len, "inline state", err))
		return -1;
	rd->tail.inline_bytes += len;
	rd->state_bytes += len;
	rd->has_state = true;
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

/* Report the file whose path was read last to the visitor. */
static int tell_file(struct metadata_reader *rd, struct metadata_file file, struct err *err)
{
	file.path = buf_str(&rd->path);
	rd->has_state = true;
	if (file.size_bytes > 0 && file.size_bytes <= INT64_MAX - rd->state_bytes)
		rd->state_bytes += file.size_bytes;
	if (!rd->visitor->file)
		return 0;
	return rd->visitor->file(rd->visitor->ctx, &file, err);
}

int metadata_read_bytes(struct metadata_reader *rd, struct err *err)
{
	if (metadata_skip_utf(rd, "the name of inline state", err))
		return -1;
	return metadata_skip_inline(rd, err);
}

/* Is the file in the directory of this snapshot? Flink writes such files relative, unless an
 * entropy key spreads the paths of state files over an object store. */
static bool in_own_directory(const struct metadata_reader *rd)
{
	const char *path = buf_str(&rd->path), *end = strrchr(path, '/'), *start = end;

	if (!end)
		return false;
	while (start > path && start[-1] != '/')
		start--;
	return !strncmp(start, rd->own_dir, strlen(rd->own_dir)) ||
	       !strncmp(start, "savepoint-", 10);
}

static int read_file_state(struct metadata_reader *rd, struct metadata_context in, struct err *err)
{
	struct metadata_file file = {.lower_bound = in.lower_bound};

	if (read_size(rd, &file.size_bytes, "the size of a state file", err) || read_path(rd, err))
		return -1;
	file.shared = in.shared || !in_own_directory(rd);
	return tell_file(rd, file, err);
}

/* Path before size here. The file is beside the `_metadata`, so no other snapshot needs it. */
static int read_relative_file(struct metadata_reader *rd, struct metadata_context in,
			      struct err *err)
{
	struct metadata_file file = {.relative = true, .lower_bound = in.lower_bound};

	if (read_path(rd, err) || read_size(rd, &file.size_bytes, "the size of a state file", err))
		return -1;
	return tell_file(rd, file, err);
}

/* Part of a file that contains the state of several handles. */
static int read_segment(struct metadata_reader *rd, struct err *err)
{
	struct metadata_file file = {.lower_bound = true};
	int64_t at = source_offset(rd->src), start, size;
	int32_t scope;

	if (source_i64(rd->src, &start, "the start of a file segment", err) ||
	    source_i64(rd->src, &size, "the size of a file segment", err) ||
	    source_i32(rd->src, &scope, "the scope of a file segment", err) || read_path(rd, err) ||
	    metadata_skip_utf(rd, "the logical file id of a file segment", err))
		return -1;
	if (start < 0 || size < 0 || start > INT64_MAX - size)
		return source_fail(at, err,
				   "expected a file segment, found start %" PRId64
				   " and size %" PRId64,
				   start, size);
	if (scope < 0 || scope > SCOPE_SHARED)
		return source_fail(at + 16, err, "expected scope 0 or 1, found %" PRId32, scope);
	file.size_bytes = start + size;
	file.shared = scope == SCOPE_SHARED;
	return tell_file(rd, file, err);
}

/* Start and number of key groups, one offset each. */
int metadata_skip_key_groups(struct metadata_reader *rd, struct err *err)
{
	int32_t start;

	if (source_i32(rd->src, &start, "the first key group", err))
		return -1;
	return metadata_skip_i64s(rd, NULL, "the number of key groups", err);
}

int metadata_read_stream(struct metadata_reader *rd, struct metadata_context in, struct err *err)
{
	uint8_t tag;

	if (metadata_deeper(rd, &in, err) ||
	    source_u8(rd->src, &tag, "the tag of a stream handle", err))
		return -1;
	switch (tag) {
	case TAG_NULL:
	case TAG_EMPTY_SEGMENT:
		return 0;
	case TAG_BYTES:
		return metadata_read_bytes(rd, err);
	case TAG_FILE:
		return read_file_state(rd, in, err);
	case TAG_KEY_GROUPS:
		if (metadata_skip_key_groups(rd, err))
			return -1;
		return metadata_read_stream(rd, in, err);
	case TAG_RELATIVE_FILE:
		return read_relative_file(rd, in, err);
	case TAG_SEGMENT:
		return read_segment(rd, err);
	default:
		return metadata_unknown_tag(rd, "a stream handle", tag, err);
	}
}
