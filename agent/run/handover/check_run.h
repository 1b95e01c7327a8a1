/*
 * check_run - `drey check` of this pod's own configuration, as a process of its own: what it reads, and
 * what it says, is the same as before a `helm upgrade`. Blocks: for a lane.
 */
#ifndef DREY_RUN_CHECK_RUN_H
#define DREY_RUN_CHECK_RUN_H

#include <stdbool.h>
#include <stdint.h>

struct check_result {
	bool ok;
	char *why; /* in its own words; NULL: ok, or it said nothing */
};

void check_run(const char *config_file, int64_t timeout_ms, struct check_result *ret_result);
/* Of what it has printed: the line in which the command says why it fails, else the last one. NULL: there is none. The caller
 * frees. */
char *check_reason(const char *output);
void check_result_release(struct check_result *result);

#endif
