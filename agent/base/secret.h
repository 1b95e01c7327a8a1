/*
 * secret - memory that has a key, a password or a token, and must not have it after use.
 *
 * What grows leaves copies behind: make a buffer large enough before a secret comes in.
 */
#ifndef DREY_BASE_SECRET_H
#define DREY_BASE_SECRET_H

#include "base/buf.h"

void secret_free(char *text); /* overwrites it first; NULL is allowed */
void secret_release(struct buf *buf);

static inline void cleanup_secret_freep(char **text)
{
	secret_free(*text);
}

#define cleanup_secret     __attribute__((cleanup(cleanup_secret_freep)))
#define cleanup_secret_buf __attribute__((cleanup(secret_release)))

#endif
