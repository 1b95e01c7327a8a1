/* must - what holds for every input of a fuzz target; abort() is what a fuzzer calls a crash. */
#ifndef DREY_TESTS_FUZZ_MUST_H
#define DREY_TESTS_FUZZ_MUST_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static inline void must(bool condition)
{
	if (!condition)
		abort();
}

#endif
