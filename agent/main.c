/* main - argv -> command. */
#include <signal.h>
#include <stdio.h>

#include "cmd/commands.h"
#include "cmd/plugin/plugin.h"

int main(int argc, char **argv)
{
	/* If the reader closes the pipe, the write fails; the process must not die silently. */
	signal(SIGPIPE, SIG_IGN);
	return cli_main(plugin_is_called(argv[0]) ? plugin_commands : commands_all, argc, argv,
			stdout, stderr);
}
