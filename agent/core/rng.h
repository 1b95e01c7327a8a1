/*
 * rng - random ids for the pure core: seeded once with kernel entropy by the driver, with a number
 * by the simulator, so that one seed gives one history. xoshiro256** (Blackman and Vigna, 2018).
 */
#ifndef DREY_CORE_RNG_H
#define DREY_CORE_RNG_H

#include <stdint.h>

struct rng {
	uint64_t state[4]; /* not all zero */
};

void rng_seed(struct rng *rng, uint64_t seed); /* for tests and the simulator */
uint64_t rng_next(struct rng *rng);

/* 32 hex digits and NUL: 128 random bits. */
void rng_hex_id(struct rng *rng, char ret_id[33]);

/* 0 <= result < bound; bound > 0. */
int64_t rng_below(struct rng *rng, int64_t bound);

#endif
