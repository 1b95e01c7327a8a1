/*
 * sha256 - the hash as lower-case hex digits, by libcrypto.
 */
#ifndef DREY_BASE_SHA256_H
#define DREY_BASE_SHA256_H

#include <stddef.h>

#define SHA256_HEX_BYTES 65 /* with the NUL */

/* Aborts if libcrypto cannot: out of memory, or built without SHA-256. */
void sha256_hex(const void *data, size_t len_bytes, char ret_hex[SHA256_HEX_BYTES]);

#endif
