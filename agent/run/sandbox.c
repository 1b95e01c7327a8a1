#include "run/sandbox.h"

#include <errno.h>
#include <sys/prctl.h>

/* The leak checker of the sanitizers is a process that attaches to this one. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MUST_STAY_DUMPABLE 1
#else
#define MUST_STAY_DUMPABLE 0
#endif

int sandbox_enter(struct err *err)
{
	int rc = 0;

	if (!MUST_STAY_DUMPABLE && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		rc = err_set(err, ERR_SYS, errno, "the agent stays dumpable");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		rc = err_set(err, ERR_SYS, errno, "the agent can gain privileges");
	return rc;
}
