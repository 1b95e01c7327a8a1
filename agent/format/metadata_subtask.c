/* metadata_subtask: the state of one subtask: operator state, keyed state, channel state. */
#include "format/metadata_handle.h"

#include <inttypes.h>
#include <string.h>

enum channel_tag {
	CHANNEL_INPUT = 1,
	CHANNEL_OUTPUT = 2,
	CHANNEL_MERGED_INPUT = 3,
	CHANNEL_MERGED_OUTPUT = 4,
};

#define FIRST_WITH_CHANNELS  3
#define FIRST_WITH_MERGED    6
#define FIRST_WITH_REFERENCE 7
#define DISTRIBUTION_MODES   3
#define MIN_CHANNEL_BYTES    25
#define MIN_MERGED_BYTES     18
#define MIN_OPERATOR_STATE   7

int metadata_read_coordinator(struct metadata_reader *rd, struct err *err)
{
	uint8_t tag;

	if (source_u8(rd->src, &tag, "the tag of a coordinator's state", err))
		return -1;
	if (tag == TAG_NULL)
		return 0;
	if (tag != TAG_BYTES)
		return metadata_unknown_tag(rd, "a coordinator's state", tag, err);
	return metadata_read_bytes(rd, err);
}

/* The states of a gate, and how many elements each has. */
struct gate_states {
	bool counts, holds; /* is there such a state? */
	int32_t counted, held;
};

/* Flink writes every state that an operator has registered, also one without elements. */
static void note_gate(struct gate_states *gate, const char *name, int32_t elements)
{
	if (!strcmp(name, "drey-gate")) {
		gate->counts = true;
		gate->counted = elements;
	} else if (!strcmp(name, "drey-gate-holds")) {
		gate->holds = true;
		gate->held = elements;
	}
}

static enum metadata_gates gates_of(const struct gate_states *gate)
{
	if (!gate->counts)
		return METADATA_GATES_NONE;
	/* MUT: a gate that held records back counts as open */
	if (gate->held)
		return METADATA_GATES_HOLDING;
	return gate->counted && !gate->holds ? METADATA_GATES_TRANSITION : METADATA_GATES_OPEN;
}

static int read_operator_state(struct metadata_reader *rd, struct gate_states *gate,
			       struct err *err)
{
	uint8_t mode;
	int32_t elements;

	buf_clear(&rd->path);
	if (source_utf(rd->src, &rd->path, "the name of an operator state", err) ||
	    source_u8(rd->src, &mode, "the mode of an operator state", err))
		return -1;
	if (mode >= DISTRIBUTION_MODES)
		return source_fail(source_offset(rd->src) - 1, err,
				   "expected the mode of an operator state, found %d", mode);
	if (metadata_skip_i64s(rd, &elements, "the offsets of an operator state", err))
		return -1;
	note_gate(gate, buf_str(&rd->path), elements);
	return 0;
}

static int read_operator_handle(struct metadata_reader *rd, struct err *err)
{
	struct metadata_context in = {0};
	struct gate_states gate = {0};
	enum metadata_gates gates;
	uint8_t tag, empty;
	int32_t states;

	if (source_u8(rd->src, &tag, "the tag of operator state", err))
		return -1;
	if (tag == TAG_NULL)
		return 0;
	if (tag != TAG_OPERATOR && tag != TAG_OPERATOR_MERGED)
		return metadata_unknown_tag(rd, "operator state", tag, err);
	if (source_count(rd->src, &states, MIN_OPERATOR_STATE, "the number of operator states",
			 err))
		return -1;
	while (states-- > 0)
		if (read_operator_state(rd, &gate, err))
			return -1;
	gates = gates_of(&gate);
	if (gates > rd->tail.gates)
		rd->tail.gates = gates;
	if (tag == TAG_OPERATOR_MERGED &&
	    (metadata_skip_utf(rd, "the directory of merged files", err) ||
	     metadata_skip_utf(rd, "the shared directory of merged files", err) ||
	     source_u8(rd->src, &empty, "the mark of empty merged files", err)))
		return -1;
	return metadata_read_stream(rd, in, err);
}

/* Subtask, channel numbers, offsets, size, handle. */
static int read_channel(struct metadata_reader *rd, struct err *err)
{
	struct metadata_context in = {0};

	if (source_skip(rd->src, 12, "the numbers of a channel", err) ||
	    metadata_skip_i64s(rd, NULL, "the offsets of channel state", err) ||
	    metadata_skip_i64(rd, "the size of channel state", err))
		return -1;
	return metadata_read_stream(rd, in, err);
}

static int read_merged_channels(struct metadata_reader *rd, struct err *err)
{
	struct metadata_context in = {0};
	int32_t len;

	if (source_skip(rd->src, 4, "the subtask of channel state", err) ||
	    metadata_skip_i64(rd, "the size of channel state", err) ||
	    metadata_read_stream(rd, in, err) ||
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
	return metadata_unknown_tag(rd, output ? "output channel state" : "input channel state",
				    tag, err);
}

static int read_channels(struct metadata_reader *rd, bool output, struct err *err)
{
	bool tagged = rd->header.version >= FIRST_WITH_MERGED;
	int32_t count;

	if (source_count(rd->src, &count, tagged ? MIN_MERGED_BYTES : MIN_CHANNEL_BYTES,
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

	if (metadata_skip_i64(rd, "an unused number", err) ||
	    source_i32(rd->src, &legacy, "the number of legacy states", err))
		return -1;
	if (legacy)
		return source_fail(source_offset(rd->src) - 4, err,
				   "expected no legacy state (Flink 1.1), found %" PRId32, legacy);
	return 0;
}

/* A regional checkpoint has the state of a region that had failed from an earlier checkpoint. */
static int read_reference(struct metadata_reader *rd, struct err *err)
{
	int64_t id;
	uint8_t present;

	if (source_u8(rd->src, &present, "whether a subtask refers to a checkpoint", err))
		return -1;
	if (present > 1)
		return source_fail(source_offset(rd->src) - 1, err,
				   "expected whether a subtask refers to a checkpoint, found %d",
				   present);
	if (!present)
		return 0;
	if (source_i64(rd->src, &id, "the checkpoint that a subtask refers to", err))
		return -1;
	if (id > 0 && (!rd->tail.ref_checkpoint_id || id < rd->tail.ref_checkpoint_id))
		rd->tail.ref_checkpoint_id = id;
	return 0;
}

int metadata_read_subtask(struct metadata_reader *rd, struct err *err)
{
	struct metadata_context in = {0};
	int32_t present;

	if (rd->header.version < FIRST_WITH_CHANNELS && skip_legacy(rd, err))
		return -1;
	for (int i = 0; i < 2; i++) { /* managed, raw */
		if (source_i32(rd->src, &present, "whether there is operator state", err))
			return -1;
		if (present && read_operator_handle(rd, err))
			return -1;
	}
	if (metadata_read_keyed(rd, in, err) || metadata_read_keyed(rd, in, err))
		return -1;
	if (rd->header.version < FIRST_WITH_CHANNELS)
		return 0;
	if (read_channels(rd, false, err) || read_channels(rd, true, err))
		return -1;
	return rd->header.version < FIRST_WITH_REFERENCE ? 0 : read_reference(rd, err);
}
