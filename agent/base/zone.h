/*
 * zone - the time zone of this process, as set in the C library.
 *
 * There is one per process. zone_use() is called once, before the first thread. Everything that
 * drey writes is in UTC; only the savepoint schedule uses local time.
 */
#ifndef DREY_BASE_ZONE_H
#define DREY_BASE_ZONE_H

#include <stdint.h>

#include "base/err.h"

/* Does this zone exist here? ERR_CONFIG. Changes nothing. */
int zone_check(const char *name, struct err *err);

/* "Europe/Berlin", "UTC". NULL: according to TZ, else UTC. ERR_CONFIG: the zone does not exist
 * here. */
int zone_use(const char *name, struct err *err);

/* Seconds east of UTC. The context is not used: this is a cron_zone's function. */
int64_t zone_offset_s(const void *ctx, int64_t unix_s);

#endif
