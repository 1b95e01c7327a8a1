/*
 * buf - a growing byte buffer, always NUL-terminated after its length.
 *
 * Life cycle: struct buf b = BUF_INIT; buf_add...(); buf_release(&b). A zeroed struct is an empty
 * buffer. `data` is borrowed until the next call on the buffer; buf_steal() hands it over.
 */
#ifndef DREY_BASE_BUF_H
#define DREY_BASE_BUF_H

#include <stddef.h>
#include <stdint.h>

struct buf {
	char *data;       /* NULL only until something is added */
	size_t len_bytes; /* without the NUL */
	size_t cap_bytes;
};

#define BUF_INIT                                                                                   \
	{                                                                                          \
		NULL, 0, 0                                                                         \
	}

void buf_add(struct buf *buf, const void *bytes, size_t len_bytes);
void buf_addstr(struct buf *buf, const char *text);
void buf_addch(struct buf *buf, char ch);
void buf_addf(struct buf *buf, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Empty it, keep the memory. */
void buf_clear(struct buf *buf);

/* The text, never NULL ("" when empty); borrowed until the next call on the buffer. */
const char *buf_str(const struct buf *buf);

/* Hand the bytes over: the caller frees them with free(), the buffer is empty afterwards. */
char *buf_steal(struct buf *buf);

void buf_release(struct buf *buf);

#define cleanup_buf __attribute__((cleanup(buf_release)))

#endif
