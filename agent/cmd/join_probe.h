/*
 * join_probe - `drey join --ready`: has the job of this generation run since `drey join` was started?
 *
 * Once it has, a file says so, and no drey is asked any more: a TaskManager that was ready stays
 * ready when its job stops, for example while its generation hands over.
 */
#ifndef DREY_CMD_JOIN_PROBE_H
#define DREY_CMD_JOIN_PROBE_H

#include "cmd/cli.h"
#include "cmd/join_wanted.h"

/* The exit status; the reason for any other than CLI_OK is on cli->err. */
int join_probe_run(const struct cli *cli, const struct join_wanted *wanted);

#endif
