/* process_gone - waits until a process that others started has ended. */
#ifndef DREY_TEST_PROCESS_GONE_H
#define DREY_TEST_PROCESS_GONE_H

#include <stdbool.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"

/* Its process has ended; who reaps it is not our business. */
static inline bool is_gone(long pid)
{
	cleanup_free char *path = xasprintf("/proc/%ld/cmdline", pid);

	for (int i = 0; i < 1000; i++) {
		cleanup_buf struct buf line = BUF_INIT;

		if (fs_read(path, 1000, &line, NULL) < 0 || !line.len_bytes)
			return true;
		usleep(10000);
	}
	return false;
}

#endif
