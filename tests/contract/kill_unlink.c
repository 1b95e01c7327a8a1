/* Preloaded: the process dies before it deletes file number KILL_AT. For tests/contract/test_gc.sh and tests/e2e/test_gc.sh. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

int unlink(const char *path)
{
	static int calls;
	int (*next)(const char *) = (int (*)(const char *))dlsym(RTLD_NEXT, "unlink");

	if (++calls == atoi(getenv("KILL_AT")))
		kill(getpid(), SIGKILL);
	return next(path);
}
