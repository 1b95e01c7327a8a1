/*
 * completion - what a shell needs to complete `drey`, from the tables of the commands. Pure.
 */
#ifndef DREY_CMD_COMPLETION_H
#define DREY_CMD_COMPLETION_H

#include "base/buf.h"
#include "cmd/cli.h"

/* Append the script for "bash", "zsh" or "fish". -1: another shell. */
int completion_script(const struct cli_command *const *commands, const char *shell,
		      struct buf *ret_script);

#endif
