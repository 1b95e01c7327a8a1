#include "base/zone.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"

/* RFC 8536, 3.1. The C library silently takes an invalid file for UTC. */
static bool is_zone_file(const char *path)
{
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char magic[4];

	return fd >= 0 && read(fd, magic, sizeof(magic)) == (ssize_t)sizeof(magic) &&
	       memcmp(magic, "TZif", sizeof(magic)) == 0;
}

int zone_check(const char *name, struct err *err)
{
	const char *top = getenv("TZDIR");
	cleanup_free char *file = NULL;

	if (strcmp(name, "UTC") == 0)
		return 0;
	if (*name == '/' || strstr(name, ".."))
		return err_set(err, ERR_CONFIG, 0, "'%s' is not the name of a time zone", name);
	file = xasprintf("%s/%s", top ? top : "/usr/share/zoneinfo", name);
	if (!is_zone_file(file))
		return err_set(
			err, ERR_CONFIG, 0,
			"time zone '%s' not found here (%s); install the package tzdata, or correct the name",
			name, file);
	return 0;
}

int zone_use(const char *name, struct err *err)
{
	if (name && zone_check(name, err) < 0)
		return -1;
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
