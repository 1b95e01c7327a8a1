/*
 * flinkfs_process - the JVM that reads Flink's file systems, as a process: frames in, frames out, and
 * the end of what it prints on standard error.
 *
 * Life cycle: a zeroed struct with in_fd, out_fd and err_fd -1 -> start -> send, receive ... -> end.
 * It is the leader of a process group of its own, and is killed when the thread that has started it
 * ends. The process must ignore SIGPIPE. Every failure but that of start leaves the conversation in
 * doubt: end it then.
 */
#ifndef DREY_STORE_FLINKFS_PROCESS_H
#define DREY_STORE_FLINKFS_PROCESS_H

#include <stdatomic.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"
#include "store/flinkfs/flinkfs_wire.h"

#define FLINKFS_LOG_BYTES ((size_t)8 * 1024) /* of standard error, its end */

struct flinkfs_process {
	pid_t pid; /* 0: there is none */
	int in_fd, out_fd, err_fd;
	struct buf log;
	struct buf bytes; /* received; the frame that was returned last is at its beginning */
	size_t used_bytes;
	const atomic_bool *stop; /* end all waiting; NULL: never */
};

/* argv, env: NULL-terminated. ERR_SYS. */
int flinkfs_process_start(struct flinkfs_process *process, char *const *argv, char *const *env,
			  struct err *err);

/* end_ms: monotonic. ERR_RETRY: too late, or it has ended; with the last line that it has printed. */
int flinkfs_process_send(struct flinkfs_process *process, const struct buf *frame, int64_t end_ms,
			 struct err *err);

/* The next frame; borrowed until the next call. ERR_FORMAT: it sent something else. */
int flinkfs_process_receive(struct flinkfs_process *process, int64_t end_ms,
			    struct flinkfs_frame *ret_frame, struct err *err);

/* Kill it, with all that it has started, and wait for its end. Allowed without one. */
void flinkfs_process_end(struct flinkfs_process *process);

#endif
