/*
 * metadata_writer - writes `_metadata` files for tests, from the layout in docs/reference/formats.md,
 * independently of the reader under test. Header-only: every test program that needs it includes it.
 */
#ifndef DREY_TESTS_METADATA_WRITER_H
#define DREY_TESTS_METADATA_WRITER_H

#include <stdint.h>
#include <string.h>

#include "base/buf.h"

#define WR static inline __attribute__((unused))

WR void wr_be(struct buf *to, uint64_t value, int bytes)
{
	while (bytes-- > 0)
		buf_addch(to, (char)(value >> 8 * bytes));
}

WR void wr_u8(struct buf *to, int value)
{
	wr_be(to, (uint64_t)value, 1);
}

WR void wr_i32(struct buf *to, int64_t value)
{
	wr_be(to, (uint64_t)value, 4);
}

WR void wr_i64(struct buf *to, int64_t value)
{
	wr_be(to, (uint64_t)value, 8);
}

WR void wr_utf(struct buf *to, const char *text)
{
	wr_be(to, strlen(text), 2);
	buf_addstr(to, text);
}

/* ---- stream handles ---- */

WR void wr_bytes(struct buf *to, int len) /* tag 1 */
{
	wr_u8(to, 1);
	wr_utf(to, "inline");
	wr_i32(to, len);
	while (len-- > 0)
		wr_u8(to, len);
}

WR void wr_file(struct buf *to, const char *path, int64_t size) /* tag 2 */
{
	wr_u8(to, 2);
	wr_i64(to, size);
	wr_utf(to, path);
}

WR void wr_relative(struct buf *to, const char *path, int64_t size) /* tag 6 */
{
	wr_u8(to, 6);
	wr_utf(to, path);
	wr_i64(to, size);
}

WR void wr_segment(struct buf *to, const char *path, int64_t start, int64_t size, int scope)
{
	wr_u8(to, 15);
	wr_i64(to, start);
	wr_i64(to, size);
	wr_i32(to, scope);
	wr_utf(to, path);
	wr_utf(to, "logical-id");
}

WR void wr_groups(struct buf *to)
{
	wr_i32(to, 0);
	wr_i32(to, 2);
	wr_i64(to, 11);
	wr_i64(to, 12);
}

/* ---- around them ---- */

WR void wr_head(struct buf *to, int version, int64_t checkpoint_id)
{
	wr_i32(to, 0x4960672D);
	wr_i32(to, version);
	wr_i64(to, checkpoint_id);
}

/* Up to the number of subtasks, which the caller writes. */
WR void wr_operator(struct buf *to, int version, const char *name, const char *uid, int id)
{
	if (version >= 5) {
		wr_utf(to, name);
		wr_utf(to, uid);
	}
	wr_i64(to, id);
	wr_i64(to, -id);
	wr_i32(to, 3);
	wr_i32(to, 128);
	if (version == 2)
		wr_i32(to, 1); /* chain length */
	else
		wr_u8(to, 0); /* coordinator */
}

/* From the index of a subtask to the keyed state, which the caller writes (two handles). */
WR void wr_subtask(struct buf *to, int version, int index)
{
	wr_i32(to, index);
	if (version == 2) {
		wr_i64(to, -1);
		wr_i32(to, 0);
	}
	wr_i32(to, 0);
	wr_i32(to, 0);
}

/* No channel state. */
WR void wr_subtask_end(struct buf *to, int version)
{
	if (version >= 3) {
		wr_i32(to, 0);
		wr_i32(to, 0);
	}
	if (version >= 7)
		wr_u8(to, 0);
}

/* CheckpointProperties as Flink writes them, reduced to the one field that matters. */
WR void wr_tail(struct buf *to, int version, const char *type_class)
{
	if (version < 4)
		return;
	wr_be(to, 0xACED0005, 4);
	if (!type_class) {
		wr_u8(to, 0x70);
		return;
	}
	wr_be(to, 0x7372, 2);
	wr_utf(to, "org.apache.flink.runtime.checkpoint.CheckpointProperties");
	wr_i64(to, 2);
	wr_u8(to, 2);
	wr_be(to, 2, 2);
	wr_u8(to, 'Z');
	wr_utf(to, "forced");
	wr_u8(to, 'L');
	wr_utf(to, "checkpointType");
	wr_u8(to, 0x74);
	wr_utf(to, "Lorg/apache/flink/runtime/checkpoint/SnapshotType;");
	wr_be(to, 0x7870, 2);
	wr_u8(to, 0);
	wr_be(to, 0x7372, 2);
	wr_utf(to, type_class);
	wr_i64(to, 1);
	wr_u8(to, 2);
	wr_be(to, 0, 2);
	wr_be(to, 0x7870, 2);
}

/* A whole file with one operator, one subtask and this managed keyed state. */
WR void wr_snapshot(struct buf *to, int version, int64_t checkpoint_id, const struct buf *keyed)
{
	wr_head(to, version, checkpoint_id);
	wr_i32(to, 0);
	wr_i32(to, 1);
	wr_operator(to, version, "Map", "map-uid", 7);
	wr_i32(to, 1);
	wr_subtask(to, version, 0);
	buf_add(to, keyed->data, keyed->len_bytes);
	wr_u8(to, 0);
	wr_subtask_end(to, version);
	wr_tail(to, version, "org.apache.flink.runtime.checkpoint.CheckpointType");
}

#endif
