/*
 * SHA-256 in place of base/sha256.c, which computes each digest once: in all histories with numbered job ids the
 * ids are the same thousand, and each observation asks for all of them. A twelfth of the time was OpenSSL.
 */
#include "base/sha256.h"

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"

#define KNOWN_COUNT 4096 /* a power of two */
#define KNOWN_BYTES 63   /* longer texts are not ids */

struct digest {
	size_t len_bytes; /* 0 = none */
	char text[KNOWN_BYTES];
	char hex[SHA256_HEX_BYTES];
};

static void compute(const void *data, size_t len_bytes, char ret_hex[SHA256_HEX_BYTES])
{
	unsigned char digest[(SHA256_HEX_BYTES - 1) / 2];

	if (!EVP_Digest(data, len_bytes, digest, NULL, EVP_sha256(), NULL))
		abort();
	fs_hex(digest, sizeof(digest), ret_hex);
}

static uint32_t place_of(const char *text, size_t len_bytes)
{
	uint32_t hash = 2166136261;

	for (size_t i = 0; i < len_bytes; i++)
		hash = (hash ^ (unsigned char)text[i]) * 16777619;
	return (hash ^ hash >> 16) % KNOWN_COUNT;
}

void sha256_hex(const void *data, size_t len_bytes, char ret_hex[SHA256_HEX_BYTES])
{
	static struct digest all[KNOWN_COUNT];
	struct digest *known;

	if (!len_bytes || len_bytes > KNOWN_BYTES) {
		compute(data, len_bytes, ret_hex);
		return;
	}
	known = &all[place_of(data, len_bytes)];
	if (known->len_bytes != len_bytes || memcmp(known->text, data, len_bytes) != 0) {
		compute(data, len_bytes, known->hex);
		memcpy(known->text, data, len_bytes);
		known->len_bytes = len_bytes;
	}
	memcpy(ret_hex, known->hex, sizeof(known->hex));
}
