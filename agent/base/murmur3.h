/*
 * murmur3 - MurmurHash3, the 128-bit variant for x64 with seed 0, as Guava's Hashing.murmur3_128() has it:
 * Flink derives the id of an operator from its uid with it.
 *
 * Source: MurmurHash3 by Austin Appleby (public domain); Flink's StreamGraphHasherV2 (1.18 to 2.3).
 */
#ifndef DREY_BASE_MURMUR3_H
#define DREY_BASE_MURMUR3_H

#include <stddef.h>

#define MURMUR3_HEX_BYTES 33 /* 32 hex digits and the end */

void murmur3_hex(const void *data, size_t len_bytes, char ret_hex[MURMUR3_HEX_BYTES]);

#endif
