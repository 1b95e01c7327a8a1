#include "format/metadata.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "format/java_stream.h"
#include "format/metadata_handle.h"

#define MASTER_STATE_MAGIC     ((int32_t)0xC96B1696)
#define FIRST_WITH_TAIL        4
#define FIRST_WITH_NAMES       5
#define MIN_MASTER_STATE_BYTES 9
#define MIN_OPERATOR_BYTES     28
#define MIN_SUBTASK_BYTES      4

static int check_header(int64_t offset, uint32_t magic, int32_t version, int64_t checkpoint_id,
			struct metadata_header *ret, struct err *err)
{
	if (magic != METADATA_MAGIC)
		return source_fail(offset, err,
				   "not a Flink _metadata file: expected %08x, found %08" PRIx32,
				   METADATA_MAGIC, magic);
	if (version > METADATA_VERSION_MAX) {
		source_fail(
			offset + 4, err,
			"_metadata version %" PRId32
			", written by a Flink newer than 2.4; this drey reads versions %d to %d: use a newer drey",
			version, METADATA_VERSION_MIN, METADATA_VERSION_MAX);
		if (err) /* not damaged: newer software can read it */
			err->kind = ERR_CONFIG;
		return -1;
	}
	if (version < METADATA_VERSION_MIN)
		return source_fail(
			offset + 4, err,
			"_metadata version %" PRId32
			", written by Flink 1.2 or older; this drey reads versions %d to %d",
			version, METADATA_VERSION_MIN, METADATA_VERSION_MAX);
	if (checkpoint_id < 0)
		return source_fail(offset + 8, err, "expected a checkpoint id, found %" PRId64,
				   checkpoint_id);
	*ret = (struct metadata_header){version, checkpoint_id};
	return 0;
}

static int read_header(struct metadata_reader *rd, struct err *err)
{
	int64_t at = source_offset(rd->src), id = 0;
	int32_t magic, version;

	if (source_i32(rd->src, &magic, "the magic number of a _metadata file", err) ||
	    source_i32(rd->src, &version, "the version of a _metadata file", err))
		return -1;
	/* An unreadable version is reported even if nothing follows it. */
	if (check_header(at, (uint32_t)magic, version, 0, &rd->header, err) ||
	    source_i64(rd->src, &id, "the checkpoint id", err) ||
	    check_header(at, (uint32_t)magic, version, id, &rd->header, err))
		return -1;
	snprintf(rd->own_dir, sizeof(rd->own_dir), "chk-%" PRId64 "/", id);
	if (!rd->visitor->header)
		return 0;
	return rd->visitor->header(rd->visitor->ctx, &rd->header, err);
}

int metadata_peek(const void *head, size_t len_bytes, struct metadata_header *ret, struct err *err)
{
	static const struct metadata_visitor nobody;
	struct metadata_reader rd = {.visitor = &nobody};
	int rc;

	rd.src = source_new_bytes(head, len_bytes);
	rc = read_header(&rd, err);
	source_free(rd.src);
	if (!rc)
		*ret = rd.header;
	return rc;
}

/* State that hooks of the master stored. */
static int read_master_states(struct metadata_reader *rd, struct err *err)
{
	int32_t count, magic, len;

	if (source_count(rd->src, &count, MIN_MASTER_STATE_BYTES, "the number of master states",
			 err))
		return -1;
	while (count-- > 0) {
		int64_t at = source_offset(rd->src);

		if (source_i32(rd->src, &magic, "the magic number of a master state", err))
			return -1;
		if (magic != MASTER_STATE_MAGIC)
			return source_fail(at, err, "expected a master state, found %08" PRIx32,
					   (uint32_t)magic);
		if (source_count(rd->src, &len, 1, "the length of a master state", err) ||
		    source_skip(rd->src, len, "a master state", err))
			return -1;
		rd->tail.inline_bytes += len;
	}
	return 0;
}

static int read_operator_id(struct metadata_reader *rd, struct metadata_operator *op,
			    struct err *err)
{
	static const char digits[] = "0123456789abcdef";
	unsigned char raw[16];

	if (source_bytes(rd->src, raw, sizeof(raw), "an operator id", err))
		return -1;
	for (size_t i = 0; i < sizeof(raw); i++) {
		op->id[2 * i] = digits[raw[i] >> 4];
		op->id[2 * i + 1] = digits[raw[i] & 0xF];
	}
	op->id[2 * sizeof(raw)] = '\0';
	return 0;
}

/* Everything before the subtasks. */
static int read_operator_head(struct metadata_reader *rd, struct metadata_operator *op,
			      struct buf *name, struct buf *uid, struct err *err)
{
	int32_t chain;

	if (rd->header.version >= FIRST_WITH_NAMES &&
	    (source_utf(rd->src, name, "the name of an operator", err) ||
	     source_utf(rd->src, uid, "the uid of an operator", err)))
		return -1;
	if (read_operator_id(rd, op, err) ||
	    source_i32(rd->src, &op->parallelism, "the parallelism of an operator", err) ||
	    source_i32(rd->src, &op->max_parallelism, "the maximum parallelism of an operator",
		       err))
		return -1;
	if (rd->header.version < 3 ? source_i32(rd->src, &chain, "the length of a chain", err)
				   : metadata_read_coordinator(rd, err))
		return -1;
	op->name = name->len_bytes ? buf_str(name) : NULL;
	op->uid = uid->len_bytes ? buf_str(uid) : NULL;
	return 0;
}

static int read_subtasks(struct metadata_reader *rd, int32_t count, struct err *err)
{
	int32_t index;

	while (count-- > 0) {
		int64_t at = source_offset(rd->src);

		if (source_i32(rd->src, &index, "the index of a subtask", err))
			return -1;
		if (index < 0 && rd->header.version < 3)
			return source_fail(
				at, err, "expected the index of a subtask, found %" PRId32, index);
		if (index >= 0 && metadata_read_subtask(rd, err))
			return -1; /* < 0: finished, nothing follows */
	}
	return 0;
}

static int read_operator(struct metadata_reader *rd, struct err *err)
{
	cleanup_buf struct buf name = BUF_INIT, uid = BUF_INIT;
	struct metadata_operator op = {0};
	int64_t at;

	rd->has_state = false;
	rd->state_bytes = 0;
	if (read_operator_head(rd, &op, &name, &uid, err))
		return -1;
	at = source_offset(rd->src);
	if (source_i32(rd->src, &op.subtasks, "the number of subtasks", err))
		return -1;
	if (op.subtasks < 0 && rd->header.version < 3)
		return source_fail(at, err, "expected the number of subtasks, found %" PRId32,
				   op.subtasks);
	if (op.subtasks < 0) {
		op.finished = true;
		op.subtasks = 0;
	}
	if (read_subtasks(rd, op.subtasks, err))
		return -1;
	op.has_state = rd->has_state;
	op.state_bytes = rd->state_bytes;
	if (!rd->visitor->operator_state)
		return 0;
	return rd->visitor->operator_state(rd->visitor->ctx, &op, err);
}

static int visit_properties(void *ctx, const struct java_value *value, struct err *err)
{
	struct metadata_tail *tail = ctx;
	const char *last;

	(void)err;
	if (value->depth == 1 && value->field && !strcmp(value->field, "checkpointType") &&
	    value->class_name) {
		last = strrchr(value->class_name, '.');
		last = last ? last + 1 : value->class_name;
		if (!strcmp(last, "SavepointType"))
			tail->flavour = METADATA_FLAVOUR_SAVEPOINT;
		else if (!strcmp(last, "CheckpointType"))
			tail->flavour = METADATA_FLAVOUR_CHECKPOINT;
	}
	if (value->depth == 2 && value->field && !strcmp(value->field, "formatType") &&
	    value->text) {
		if (!strcmp(value->text, "CANONICAL"))
			tail->format = METADATA_FORMAT_CANONICAL;
		else if (!strcmp(value->text, "NATIVE"))
			tail->format = METADATA_FORMAT_NATIVE;
	}
	return 0;
}

/* Serialized CheckpointProperties, then the end. */
static int read_tail(struct metadata_reader *rd, struct err *err)
{
	int end;

	if (rd->header.version >= FIRST_WITH_TAIL &&
	    java_stream_parse(rd->src, visit_properties, &rd->tail, err) < 0)
		return err_wrap(err, "checkpoint properties");
	end = source_at_end(rd->src, err);
	if (end < 0)
		return -1;
	if (!end)
		return source_fail(source_offset(rd->src), err, "expected the end, more follows");
	if (!rd->visitor->tail)
		return 0;
	return rd->visitor->tail(rd->visitor->ctx, &rd->tail, err);
}

static int read_all(struct metadata_reader *rd, struct err *err)
{
	int32_t count;

	if (read_header(rd, err) || read_master_states(rd, err) ||
	    source_count(rd->src, &count, MIN_OPERATOR_BYTES, "the number of operators", err))
		return -1;
	for (int32_t i = 0; i < count; i++)
		if (read_operator(rd, err))
			return err_wrap(err, "operator %" PRId32 " of %" PRId32, i + 1, count);
	return read_tail(rd, err);
}

int metadata_parse(struct source *src, const struct metadata_visitor *visitor, struct err *err)
{
	struct metadata_reader rd = {.src = src, .visitor = visitor};
	int rc = read_all(&rd, err);

	buf_release(&rd.path);
	return rc;
}

const char *metadata_flavour_name(enum metadata_flavour flavour)
{
	switch (flavour) {
	case METADATA_FLAVOUR_CHECKPOINT:
		return "checkpoint";
	case METADATA_FLAVOUR_SAVEPOINT:
		return "savepoint";
	case METADATA_FLAVOUR_UNKNOWN:
		break;
	}
	return NULL;
}

const char *metadata_gates_name(enum metadata_gates gates)
{
	switch (gates) {
	case METADATA_GATES_OPEN:
		return "open";
	case METADATA_GATES_TRANSITION:
		return "transition";
	case METADATA_GATES_HOLDING:
		return "holding";
	case METADATA_GATES_NONE:
		break;
	}
	return NULL;
}

bool metadata_gates_hold(enum metadata_gates gates)
{
	return gates == METADATA_GATES_TRANSITION || gates == METADATA_GATES_HOLDING;
}

const char *metadata_format_name(enum metadata_format format)
{
	switch (format) {
	case METADATA_FORMAT_CANONICAL:
		return "canonical";
	case METADATA_FORMAT_NATIVE:
		return "native";
	case METADATA_FORMAT_UNKNOWN:
		break;
	}
	return NULL;
}
