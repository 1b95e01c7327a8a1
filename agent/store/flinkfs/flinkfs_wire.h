/*
 * flinkfs_wire - the protocol between drey and the JVM that reads Flink's file systems (java/files):
 * bytes to structs and back. Pure.
 *
 * A frame is a length of 4 bytes and as many bytes: a type, and for all but the two hellos the number
 * of the request. Numbers are big-endian; a text is a length of 4 bytes and UTF-8.
 *
 *   to the JVM                                      what it answers before `done`
 *   H magic, version(2), directory of Flink's       h magic, version(2)
 *     configuration, n, n times key and value, n,
 *     n times name and jar of a plugin
 *   S path                                          done: size, mtime
 *   L path                                          items f, d
 *   D path, leaf                                    items f, a, u: one for each directory
 *   T path                                          items f, names relative to it
 *   M bytes of the head, n, n paths                 items f, a, u, by index
 *   X n, n paths                                    items a (it is gone), u, by index
 *   E path
 *   O path, offset(8)                               done: size, mtime; the stream has its number
 *   R stream, at most so many bytes                 content; done: how many
 *   C stream
 *
 *   from the JVM
 *   i number, n, n items: state, kind, index, size(8), mtime(8), name, extra
 *   b number, content
 *   d number, items(8) of this request, first(8), second(8)
 *   e number, kind, message: ends the request, and voids all that came before
 *
 * Rejected: every frame above FLINKFS_FRAME_MAX, bytes that are missing or left over, unknown types,
 * states and kinds, negative sizes, names that are empty, not UTF-8, or no single name.
 */
#ifndef DREY_STORE_FLINKFS_WIRE_H
#define DREY_STORE_FLINKFS_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

#define FLINKFS_MAGIC     0x44524653 /* "DRFS" */
#define FLINKFS_VERSION   1
#define FLINKFS_FRAME_MAX ((uint32_t)1 << 20) /* of the JVM; its pages are a quarter of it */
#define FLINKFS_HEAD      4                   /* bytes of the length */

/* ---- to the JVM ---- */

/* A request, without its length; flinkfs_put_end() adds it in front. */
void flinkfs_put_begin(struct buf *frame, char type, uint32_t number);
void flinkfs_put_u32(struct buf *frame, uint32_t value);
void flinkfs_put_i64(struct buf *frame, int64_t value);
void flinkfs_put_text(struct buf *frame, const char *text); /* NULL is "" */
void flinkfs_put_end(struct buf *frame);

/* ---- from the JVM ---- */

/* Which names an item may have. */
enum flinkfs_names {
	FLINKFS_NAMES_NONE, /* it has an index */
	FLINKFS_NAMES_ONE,  /* the name of a file or a directory, without a slash */
	FLINKFS_NAMES_PATH, /* several of those, with slashes between them */
};

struct flinkfs_item {
	char state;         /* 'f', 'd', 'a', 'u' */
	enum err_kind kind; /* of 'u' */
	uint32_t index;
	int64_t size_bytes, mtime_unix_ms;
	const char *name, *extra; /* not terminated; borrowed from the bytes */
	size_t name_len, extra_len;
};

struct flinkfs_frame {
	char type;           /* 'h', 'i', 'b', 'd', 'e' */
	uint32_t number;     /* 0: of 'h' */
	uint32_t item_count; /* 'i' */
	const char *bytes;   /* 'i': the items, 'b': content, 'e': the message; borrowed */
	size_t len_bytes;
	int64_t items, first, second; /* 'd' */
	enum err_kind kind;           /* 'e' */
};

/* The length of the frame whose first FLINKFS_HEAD bytes these are. ERR_FORMAT. */
int flinkfs_frame_length(const char *head, uint32_t *ret_len_bytes, struct err *err);

/* A frame without its length. Items are checked by flinkfs_item_next() only. ERR_FORMAT. */
int flinkfs_frame_parse(const char *bytes, size_t len_bytes, struct flinkfs_frame *ret_frame,
			struct err *err);

/* The next item of *bytes, which are advanced. 1: there is one, 0: that was all, -1: ERR_FORMAT. */
int flinkfs_item_next(const char **bytes, size_t *len_bytes, enum flinkfs_names names,
		      struct flinkfs_item *ret_item, struct err *err);

#endif
