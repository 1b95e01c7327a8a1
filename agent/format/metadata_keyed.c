/* metadata_keyed: handles of keyed state. */
#include "format/metadata_handle.h"

#define MIN_STRING_AND_HANDLE 3 /* empty string, null handle */
#define MIN_CHANGELOG_PART    9
#define MIN_CHANGE            8

/* Names and handles of the files of an incremental snapshot. */
static int read_named_handles(struct metadata_reader *rd, struct metadata_context in,
			      struct err *err)
{
	int32_t count;

	if (source_count(rd->src, &count, MIN_STRING_AND_HANDLE, "the number of state files", err))
		return -1;
	while (count-- > 0)
		if (metadata_skip_utf(rd, "the local name of a state file", err) ||
		    metadata_read_stream(rd, in, err))
			return -1;
	return 0;
}

static int skip_range(struct metadata_reader *rd, struct err *err)
{
	return source_skip(rd->src, 8, "a range of key groups", err);
}

static int read_incremental(struct metadata_reader *rd, struct metadata_context in, bool second,
			    struct err *err)
{
	struct metadata_context in_shared = in;

	in_shared.shared = true;
	if (metadata_skip_i64(rd, "the checkpoint id of incremental state", err) ||
	    metadata_skip_utf(rd, "the backend id of incremental state", err) ||
	    skip_range(rd, err))
		return -1;
	if (second && metadata_skip_i64(rd, "the checkpointed size", err))
		return -1;
	if (metadata_read_stream(rd, in, err) || read_named_handles(rd, in_shared, err) ||
	    read_named_handles(rd, in, err))
		return -1;
	return second ? metadata_skip_utf(rd, "the id of a state handle", err) : 0;
}

static int read_keyed_list(struct metadata_reader *rd, struct metadata_context in, struct err *err)
{
	int32_t count;

	if (source_count(rd->src, &count, 1, "the number of changelog handles", err))
		return -1;
	while (count-- > 0)
		if (metadata_read_keyed(rd, in, err))
			return -1;
	return 0;
}

/* Materialised state and the changes since; both outlive one checkpoint. */
static int read_changelog(struct metadata_reader *rd, struct metadata_context in, bool second,
			  struct err *err)
{
	in.shared = true;
	if (skip_range(rd, err) || metadata_skip_i64(rd, "the checkpointed size", err) ||
	    read_keyed_list(rd, in, err) || read_keyed_list(rd, in, err) ||
	    metadata_skip_i64(rd, "the materialization id", err))
		return -1;
	if (second && metadata_skip_i64(rd, "the checkpoint id of a changelog", err))
		return -1;
	return metadata_skip_utf(rd, "the id of a state handle", err);
}

static int read_changelog_bytes(struct metadata_reader *rd, struct err *err)
{
	int32_t changes;

	if (skip_range(rd, err) || metadata_skip_i64(rd, "the first change", err) ||
	    metadata_skip_i64(rd, "the last change", err) ||
	    source_count(rd->src, &changes, MIN_CHANGE, "the number of changes", err))
		return -1;
	while (changes-- > 0)
		if (source_skip(rd->src, 4, "the key group of a change", err) ||
		    metadata_skip_inline(rd, err))
			return -1;
	return metadata_skip_utf(rd, "the id of a state handle", err);
}

/* The files have a header that the sizes exclude, and changes of others: sizes are lower bounds. */
static int read_changelog_files(struct metadata_reader *rd, struct metadata_context in, bool second,
				struct err *err)
{
	int32_t handles;

	in.shared = in.lower_bound = true;
	if (skip_range(rd, err) || source_count(rd->src, &handles, MIN_CHANGELOG_PART,
						"the number of changelog files", err))
		return -1;
	while (handles-- > 0)
		if (metadata_skip_i64(rd, "the offset in a changelog file", err) ||
		    metadata_read_stream(rd, in, err))
			return -1;
	if (metadata_skip_i64(rd, "the size of a changelog", err) ||
	    metadata_skip_i64(rd, "the checkpointed size", err) ||
	    metadata_skip_utf(rd, "the id of a state handle", err))
		return -1;
	return second ? metadata_skip_utf(rd, "the storage identifier of a changelog", err) : 0;
}

int metadata_read_keyed(struct metadata_reader *rd, struct metadata_context in, struct err *err)
{
	uint8_t tag;

	if (metadata_deeper(rd, &in, err) ||
	    source_u8(rd->src, &tag, "the tag of keyed state", err))
		return -1;
	switch (tag) {
	case TAG_NULL:
		return 0;
	case TAG_KEY_GROUPS:
	case TAG_SAVEPOINT_KEY_GROUPS:
	case TAG_KEY_GROUPS_V2:
		if (metadata_skip_key_groups(rd, err) || metadata_read_stream(rd, in, err))
			return -1;
		if (tag == TAG_KEY_GROUPS_V2)
			return metadata_skip_utf(rd, "the id of a state handle", err);
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
		return metadata_unknown_tag(rd, "keyed state", tag, err);
	}
}
