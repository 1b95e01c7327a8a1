#include "run/config/setup_schedule.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/zone.h"

static int read_blackouts(const struct config *config, struct schedule *schedule, struct err *err)
{
	char **texts = config->savepoints.blackouts;

	for (; texts && *texts; texts++) {
		if (schedule->blackout_count == SCHEDULE_MAX_BLACKOUTS)
			return err_set(err, ERR_CONFIG, 0,
				       "savepoints.blackouts may have at most %d windows",
				       SCHEDULE_MAX_BLACKOUTS);
		if (blackout_parse(*texts, &schedule->blackouts[schedule->blackout_count], err))
			return err_wrap(err, "savepoints.blackouts");
		schedule->blackout_count++;
	}
	return 0;
}

int setup_schedule(const struct config *config, struct schedule *ret_schedule,
		   char **ret_zone_before, struct err *err)
{
	cleanup_free char *before = xstrdup(getenv("TZ"));
	struct schedule schedule = {
		.interval_ms = config->savepoints.interval_ms,
		.jitter_ms = config->savepoints.jitter_ms,
		.has_cron = config->savepoints.cron != NULL,
		.zone = {.offset_s = zone_offset_s},
	};

	if (schedule.has_cron && schedule.interval_ms)
		return err_set(
			err, ERR_CONFIG, 0,
			"savepoints.interval and savepoints.cron exclude each other; remove one");
	if (schedule.has_cron && cron_parse(config->savepoints.cron, &schedule.cron, err))
		return err_wrap(err, "savepoints.cron");
	if (read_blackouts(config, &schedule, err))
		return -1;
	if (zone_use(config->savepoints.time_zone, err))
		return err_wrap(err, "savepoints.timeZone");
	*ret_schedule = schedule;
	*ret_zone_before = before;
	before = NULL;
	return 0;
}
