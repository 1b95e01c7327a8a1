#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static void reserve(struct buf *buf, size_t more_bytes)
{
	size_t need = buf->len_bytes + more_bytes + 1;
	size_t cap = buf->cap_bytes ? buf->cap_bytes : 64;

	if (need <= buf->cap_bytes)
		return;
	while (cap < need)
		cap *= 2;
	buf->data = xreallocarray(buf->data, cap, 1);
	buf->cap_bytes = cap;
}

void buf_add(struct buf *buf, const void *bytes, size_t len_bytes)
{
	reserve(buf, len_bytes);
	if (len_bytes)
		memcpy(buf->data + buf->len_bytes, bytes, len_bytes);
	buf->len_bytes += len_bytes;
	buf->data[buf->len_bytes] = '\0';
}

void buf_addstr(struct buf *buf, const char *text)
{
	buf_add(buf, text, strlen(text));
}

void buf_addch(struct buf *buf, char ch)
{
	reserve(buf, 1);
	buf->data[buf->len_bytes++] = ch;
	buf->data[buf->len_bytes] = '\0';
}

void buf_addf(struct buf *buf, const char *fmt, ...)
{
	va_list ap, again;
	int len;

	va_start(ap, fmt);
	va_copy(again, ap);
	len = vsnprintf(NULL, 0, fmt, ap);
	if (len > 0) {
		reserve(buf, (size_t)len);
		vsnprintf(buf->data + buf->len_bytes, (size_t)len + 1, fmt, again);
		buf->len_bytes += (size_t)len;
	}
	va_end(again);
	va_end(ap);
}

void buf_clear(struct buf *buf)
{
	buf->len_bytes = 0;
	if (buf->data)
		buf->data[0] = '\0';
}

const char *buf_str(const struct buf *buf)
{
	return buf->data ? buf->data : "";
}

char *buf_steal(struct buf *buf)
{
	char *data = buf->data ? buf->data : xstrdup("");

	*buf = (struct buf)BUF_INIT;
	return data;
}

void buf_release(struct buf *buf)
{
	if (!buf)
		return;
	free(buf->data);
	*buf = (struct buf)BUF_INIT;
}
