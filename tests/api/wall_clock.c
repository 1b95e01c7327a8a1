/*
 * wall_clock - a wall clock that is wrong, for a program that is started with this library: CLOCK_REALTIME is off by
 * the milliseconds in the file $WALL_CLOCK, which is read anew each time. The monotonic clock is right.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static long long off_ms(void)
{
	const char *path = getenv("WALL_CLOCK");
	char text[32] = "";
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;

	if (fd < 0)
		return 0;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	close(fd);
	return strtoll(text, NULL, 10);
}

int clock_gettime(clockid_t id, struct timespec *now)
{
	static int (*real)(clockid_t, struct timespec *);
	long long ns;
	int rc;

	if (!real)
		real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
	rc = real(id, now);
	if (rc < 0 || id != CLOCK_REALTIME)
		return rc;
	ns = (long long)now->tv_nsec + off_ms() % 1000 * 1000000;
	now->tv_sec += off_ms() / 1000 + (ns < 0 ? -1 : ns / 1000000000);
	now->tv_nsec = (ns + 1000000000) % 1000000000;
	return 0;
}

time_t time(time_t *ret)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (ret)
		*ret = now.tv_sec;
	return now.tv_sec;
}
