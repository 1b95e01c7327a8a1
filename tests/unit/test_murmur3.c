#include "base/murmur3.h"

#include <string.h>

#include "tap.h"

/* The vertices of a job on Flink 1.20.0 and 2.3.0 whose operators have these uids. */
TEST(the_id_of_an_operator_follows_from_its_uid_as_in_flink)
{
	static const char *const cases[][2] = {
		{"numbers", "ca88eee0095684d687a1b6495617f957"},
		{"count", "b71731f1c0df9c3076c4a455334d0ad6"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char hex[MURMUR3_HEX_BYTES];

		murmur3_hex(cases[i][0], strlen(cases[i][0]), hex);
		CHECK_STR(hex, cases[i][1]);
	}
}

/* Every length of the last block; from Guava's tests of murmur3_128() and the reference in C++. */
TEST(the_hash_is_that_of_the_reference)
{
	static const char text[] = "The quick brown fox jumps over the lazy dog";
	char hex[MURMUR3_HEX_BYTES];

	murmur3_hex("", 0, hex);
	CHECK_STR(hex, "00000000000000000000000000000000");
	murmur3_hex(text, strlen(text), hex);
	CHECK_STR(hex, "6c1b07bc7bbc4be347939ac4a93c437a");
}
