/*
 * child_output - runs a program to its end, and keeps what it has printed. Blocks.
 *
 * The child is the leader of a process group of its own and reads nothing. Whatever is left of the group
 * is killed when the call returns, and when the caller's thread or process ends, however it does.
 */
#ifndef DREY_BASE_CHILD_OUTPUT_H
#define DREY_BASE_CHILD_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct child_call {
	const char *path;  /* without a slash it is searched in PATH */
	char *const *argv; /* NULL-terminated, as below; borrowed */
	char *const *env;  /* NULL: that of the caller */
	int64_t timeout_ms;
	size_t keep_bytes;  /* of each stream; what came before is dropped */
	size_t max_bytes;   /* of the output, which is kept whole; 0: no limit */
	struct buf *errors; /* standard error is appended here; NULL: it is part of the output */
	bool only_output;   /* standard error is that of the caller, who may be a person */
};

/*
 * *ret_status: its exit status, 128 + n for signal n, 127 if it could not be executed. `output` is
 * appended to, also on failure. ERR_RETRY: it had not ended after timeout_ms; its whole group has been
 * killed. ERR_FORMAT: it has printed more than max_bytes, idem. ERR_SYS: it could not be started.
 */
int child_output(const struct child_call *call, struct buf *output, int *ret_status,
		 struct err *err);

/* The beginning of the last line that is not empty; it ends at a newline or at the end of `text`. */
const char *child_last_line(const char *text);

#endif
