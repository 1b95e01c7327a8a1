#include "base/zone.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"

int zone_use(const char *name, struct err *err)
{
	const char *top = getenv("TZDIR");
	cleanup_free char *file = NULL;

	if (name && strcmp(name, "UTC") != 0) {
		if (*name == '/' || strstr(name, ".."))
			return err_set(err, ERR_CONFIG, 0, "'%s' is not the name of a time zone",
				       name);
		file = xasprintf("%s/%s", top ? top : "/usr/share/zoneinfo", name);
		if (access(file, R_OK) < 0)
			return err_set(err, ERR_CONFIG, 0,
				       "there is no time zone '%s' here (%s); install the package "
				       "tzdata, or correct the name",
				       name, file);
	}
	if (name && setenv("TZ", name, 1) < 0)
		return err_set(err, ERR_SYS, 0, "out of memory");
	tzset();
	return 0;
}

int64_t zone_offset_s(const void *ctx, int64_t unix_s)
{
	time_t when = (time_t)unix_s;
	struct tm local;

	(void)ctx;
	return localtime_r(&when, &local) ? local.tm_gmtoff : 0;
}
