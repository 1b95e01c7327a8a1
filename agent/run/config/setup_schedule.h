/*
 * setup_schedule - the schedule of periodic savepoints from drey.yaml.
 */
#ifndef DREY_RUN_SETUP_SCHEDULE_H
#define DREY_RUN_SETUP_SCHEDULE_H

#include "base/err.h"
#include "core/lifecycle/schedule.h"
#include "run/config/config.h"

/*
 * interval, cron, jitter, blackouts. ERR_CONFIG names the key and, for a cron line, its field. Sets
 * the time zone of the process (base/zone.h) if savepoints.timeZone names one: call it before the
 * first thread. *ret_zone_before: the original variable TZ, NULL if it was not set; caller frees.
 */
int setup_schedule(const struct config *config, struct schedule *ret_schedule,
		   char **ret_zone_before, struct err *err);

#endif
