#include "cmd/commands.h"

#include <stddef.h>

const struct cli_command *const commands_all[] = {
	&cmd_run,         &cmd_resolve,   &cmd_check,      &cmd_status,   &cmd_history,
	&cmd_explain,     &cmd_savepoint, &cmd_checkpoint, &cmd_suspend,  &cmd_resume,
	&cmd_acknowledge, &cmd_restart,   &cmd_rescale,    &cmd_cancel,   &cmd_do_not_restart,
	&cmd_snapshots,   &cmd_verify,    &cmd_inspect,    &cmd_handover, &cmd_promote,
	&cmd_abort,       &cmd_join,      &cmd_gc,         &cmd_migrate,  &cmd_completion,
	&cmd_version,     NULL,
};
