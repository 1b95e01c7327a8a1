/* main - argv -> command. */
#include <signal.h>
#include <stdio.h>

#include "cmd/commands.h"

static const struct cli_command *const commands[] = {
	&cmd_run,        &cmd_resolve,        &cmd_check,     &cmd_status,  &cmd_savepoint,
	&cmd_checkpoint, &cmd_suspend,        &cmd_resume,    &cmd_restart, &cmd_rescale,
	&cmd_cancel,     &cmd_do_not_restart, &cmd_snapshots, &cmd_verify,  &cmd_inspect,
	&cmd_handover,   &cmd_join,           &cmd_gc,        &cmd_version, NULL,
};

int main(int argc, char **argv)
{
	/* If the reader closes the pipe, the write fails; the process must not die silently. */
	signal(SIGPIPE, SIG_IGN);
	return cli_main(commands, argc, argv, stdout, stderr);
}
