#include "base/secret.h"

#include <stdlib.h>
#include <string.h>

void secret_free(char *text)
{
	if (text)
		explicit_bzero(text, strlen(text));
	free(text);
}

void secret_release(struct buf *buf)
{
	if (buf->data)
		explicit_bzero(buf->data, buf->cap_bytes);
	buf_release(buf);
}
