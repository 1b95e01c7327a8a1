#include "base/murmur3.h"

#include <stdint.h>
#include <stdio.h>

#define C1 UINT64_C(0x87c37b91114253d5)
#define C2 UINT64_C(0x4cf5ad432745937f)

static uint64_t rotate(uint64_t x, int bits)
{
	return x << bits | x >> (64 - bits);
}

static uint64_t mix_1(uint64_t k)
{
	return rotate(k * C1, 31) * C2;
}

static uint64_t mix_2(uint64_t k)
{
	return rotate(k * C2, 33) * C1;
}

static uint64_t avalanche(uint64_t k)
{
	k ^= k >> 33;
	k *= UINT64_C(0xff51afd7ed558ccd);
	k ^= k >> 33;
	k *= UINT64_C(0xc4ceb9fe1a85ec53);
	return k ^ k >> 33;
}

/* Up to 8 bytes, the lowest first. */
static uint64_t word(const unsigned char *at, size_t len)
{
	uint64_t value = 0;

	for (size_t i = 0; i < len && i < 8; i++)
		value |= (uint64_t)at[i] << (8 * i);
	return value;
}

void murmur3_hex(const void *data, size_t len_bytes, char ret_hex[MURMUR3_HEX_BYTES])
{
	const unsigned char *at = data;
	size_t left = len_bytes;
	uint64_t h1 = 0, h2 = 0;

	for (; left >= 16; at += 16, left -= 16) {
		h1 ^= mix_1(word(at, 8));
		h1 = (rotate(h1, 27) + h2) * 5 + 0x52dce729;
		h2 ^= mix_2(word(at + 8, 8));
		h2 = (rotate(h2, 31) + h1) * 5 + 0x38495ab5;
	}
	if (left > 8)
		h2 ^= mix_2(word(at + 8, left - 8));
	h1 ^= mix_1(word(at, left));
	h1 ^= len_bytes;
	h2 ^= len_bytes;
	h1 += h2;
	h2 += h1;
	h1 = avalanche(h1);
	h2 = avalanche(h2);
	h1 += h2;
	h2 += h1;
	for (int i = 0; i < 16; i++)
		snprintf(ret_hex + 2 * i, 3, "%02x",
			 (unsigned)((i < 8 ? h1 : h2) >> (8 * (i % 8))) & 0xff);
}
