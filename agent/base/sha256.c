#include "base/sha256.h"

#include <openssl/evp.h>
#include <stdlib.h>

#include "base/fs.h"

void sha256_hex(const void *data, size_t len_bytes, char ret_hex[SHA256_HEX_BYTES])
{
	unsigned char digest[(SHA256_HEX_BYTES - 1) / 2];

	if (!EVP_Digest(data, len_bytes, digest, NULL, EVP_sha256(), NULL))
		abort();
	fs_hex(digest, sizeof(digest), ret_hex);
}
