/* commands - every command of drey; one file each. */
#ifndef DREY_CMD_COMMANDS_H
#define DREY_CMD_COMMANDS_H

#include "cmd/cli.h"

extern const struct cli_command cmd_run;
extern const struct cli_command cmd_resolve;
extern const struct cli_command cmd_check;
extern const struct cli_command cmd_status;
extern const struct cli_command cmd_savepoint;
extern const struct cli_command cmd_checkpoint;
extern const struct cli_command cmd_suspend;
extern const struct cli_command cmd_resume;
extern const struct cli_command cmd_cancel;
extern const struct cli_command cmd_restart;
extern const struct cli_command cmd_rescale;
extern const struct cli_command cmd_do_not_restart;
extern const struct cli_command cmd_snapshots;
extern const struct cli_command cmd_verify;
extern const struct cli_command cmd_inspect;
extern const struct cli_command cmd_handover;
extern const struct cli_command cmd_promote;
extern const struct cli_command cmd_abort;
extern const struct cli_command cmd_acknowledge;
extern const struct cli_command cmd_join;
extern const struct cli_command cmd_gc;
extern const struct cli_command cmd_history;
extern const struct cli_command cmd_explain;
extern const struct cli_command cmd_completion;
extern const struct cli_command cmd_migrate;
extern const struct cli_command cmd_version;

/* All of them, in the order of `drey --help`; NULL-terminated. */
extern const struct cli_command *const commands_all[];

#endif
