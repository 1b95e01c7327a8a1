/* Preloaded: the process dies before it deletes file number KILL_AT. For tests/contract/test_gc.sh and tests/e2e/test_gc.sh. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static void count(void)
{
	static int calls;

	if (++calls == atoi(getenv("KILL_AT")))
		kill(getpid(), SIGKILL);
}

int unlink(const char *path)
{
	int (*next)(const char *) = (int (*)(const char *))dlsym(RTLD_NEXT, "unlink");

	count();
	return next(path);
}

int unlinkat(int dir, const char *name, int flags)
{
	int (*next)(int, const char *, int) =
		(int (*)(int, const char *, int))dlsym(RTLD_NEXT, "unlinkat");

	if (!(flags & AT_REMOVEDIR))
		count();
	return next(dir, name, flags);
}
