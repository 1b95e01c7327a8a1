/*
 * backoff - how long to wait after consecutive failures: twice as long each time.
 */
#ifndef DREY_BASE_BACKOFF_H
#define DREY_BASE_BACKOFF_H

#include <stdint.h>

/* first_ms after one failure (and after none), twice as long after each further one, at most
 * most_ms. Pure. */
int64_t backoff_ms(int64_t first_ms, int64_t most_ms, int failures);

/* 50 to 100 % of that, at random: for what many could do at the same time. */
int64_t backoff_spread_ms(int64_t first_ms, int64_t most_ms, int failures);

#endif
