#include "core/rng.h"

#include <stdio.h>

static uint64_t rotl(uint64_t x, int k)
{
	return (x << k) | (x >> (64 - k));
}

void rng_seed(struct rng *rng, uint64_t seed)
{
	/* splitmix64 spreads a small number over the whole state */
	for (int i = 0; i < 4; i++) {
		uint64_t z = (seed += 0x9e3779b97f4a7c15u);

		z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
		z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
		rng->state[i] = z ^ (z >> 31);
	}
}

uint64_t rng_next(struct rng *rng)
{
	uint64_t *s = rng->state;
	uint64_t result = rotl(s[1] * 5, 7) * 9;
	uint64_t t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotl(s[3], 45);
	return result;
}

void rng_hex_id(struct rng *rng, char ret_id[33])
{
	uint64_t high = rng_next(rng);
	uint64_t low = rng_next(rng);

	snprintf(ret_id, 33, "%016llx%016llx", (unsigned long long)high, (unsigned long long)low);
}

int64_t rng_below(struct rng *rng, int64_t bound)
{
	return (int64_t)(rng_next(rng) % (uint64_t)bound);
}
