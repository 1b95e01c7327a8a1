#include "base/sha256.h"

#include "tests/unit/tap.h"

TEST(hashes_the_vectors_of_the_standard)
{
	char hex[SHA256_HEX_BYTES];

	sha256_hex("", 0, hex);
	CHECK_STR(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	sha256_hex("abc", 3, hex);
	CHECK_STR(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}
