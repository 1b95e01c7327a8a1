/*
 * backoff - how long to wait after consecutive failures: twice as long each time. Pure.
 */
#ifndef DREY_BASE_BACKOFF_H
#define DREY_BASE_BACKOFF_H

#include <stdint.h>

/* first_ms after one failure (and after none), twice as long after each further one, at most
 * most_ms. No randomness: if many could fail at the same time, the caller spreads the result. */
int64_t backoff_ms(int64_t first_ms, int64_t most_ms, int failures);

#endif
