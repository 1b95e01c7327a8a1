/* drey: argv -> command. */
#include "cmd/commands.h"

int main(int argc, char **argv)
{
	static const struct cli_command *const commands[] = {
		&cmd_verify,
		&cmd_inspect,
		&cmd_version,
		NULL,
	};

	return cli_main(commands, argc, argv, stdout, stderr);
}
