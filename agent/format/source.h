/*
 * source - big-endian numbers and strings from a byte stream, without keeping the stream.
 *
 * It reads what Java's DataOutputStream writes. The bytes come from a read callback, so
 * a file, a pipe and the body of an HTTP answer look the same; memory use is one fixed buffer.
 *
 * Life cycle: source_new() -> source_...() -> source_free(). Not thread-safe. After a failed call
 * only source_offset() and source_free() are useful.
 *
 * Errors: ERR_FORMAT "byte 812: expected the number of operators (4 bytes), found the end after 2";
 * an error of the callback is passed on unchanged. `what` names the value for the message.
 */
#ifndef DREY_FORMAT_SOURCE_H
#define DREY_FORMAT_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/* Fill up to len_bytes (> 0) of buf; *ret_len_bytes = 0 means the end. Returns 0 or -1. */
typedef int (*source_read_fn)(void *ctx, void *buf, size_t len_bytes, size_t *ret_len_bytes,
			      struct err *err);

struct source;

/* total_bytes: the length of the whole input if known, else -1; it makes absurd counts
 * fail immediately instead of at the end of the input. `ctx` is borrowed. */
struct source *source_new(source_read_fn read, void *ctx, int64_t total_bytes);

/* From bytes in memory, borrowed for the life of the source. */
struct source *source_new_bytes(const void *bytes, size_t len_bytes);

/* NULL is allowed. */
void source_free(struct source *src);

/* How many bytes were consumed. */
int64_t source_offset(const struct source *src);

int source_bytes(struct source *src, void *buf, size_t len_bytes, const char *what,
		 struct err *err);
int source_u8(struct source *src, uint8_t *ret, const char *what, struct err *err);
int source_u16(struct source *src, uint16_t *ret, const char *what, struct err *err);
int source_i32(struct source *src, int32_t *ret, const char *what, struct err *err);
int source_i64(struct source *src, int64_t *ret, const char *what, struct err *err);

/* Skip len_bytes. */
int source_skip(struct source *src, int64_t len_bytes, const char *what, struct err *err);

/* A number of elements, each at least min_bytes long: refused if negative or more than can
 * follow. */
int source_count(struct source *src, int32_t *ret, int64_t min_bytes, const char *what,
		 struct err *err);

/* A string with a 16-bit length in Java's modified UTF-8, appended to *text as real UTF-8. What has
 * no UTF-8 form (a lone surrogate) and NUL become U+FFFD. */
int source_utf(struct source *src, struct buf *text, const char *what, struct err *err);

/* The same with the length already read. */
int source_utf_of(struct source *src, size_t len_bytes, struct buf *text, const char *what,
		  struct err *err);

/* 1 at the end, 0 if more follows, -1 on a read error. */
int source_at_end(struct source *src, struct err *err);

/* ERR_FORMAT "byte <offset>: <message>"; returns -1. */
int source_fail(int64_t offset, struct err *err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#ifdef __clang_analyzer__ /* as in base/err.h */
#define source_fail(...) ((source_fail)(__VA_ARGS__), -1)
#endif

#endif
