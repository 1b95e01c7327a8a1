#include "base/buf.h"
#include "cmd/commands.h"
#include "cmd/completion.h"

static const struct cli_option options[] = {CLI_END};

static int completion_run(const struct cli *cli)
{
	cleanup_buf struct buf script = BUF_INIT;

	if (completion_script(commands_all, cli->args[0], &script) == 0) {
		out_lines(cli->out, buf_str(&script));
		return CLI_OK;
	}
	return cli_fail(cli, CLI_USAGE, "expected bash, zsh or fish, not '%s'", cli->args[0]);
}

const struct cli_command cmd_completion = {
	.name = "completion",
	.arguments = "bash|zsh|fish",
	.min_args = 1,
	.max_args = 1,
	.summary = "print the completion of this program for a shell",
	.description =
		"Prints a script that lets the shell complete the commands, their options, the causes of\n"
		"`drey explain` and files. It is made from the same tables as --help. `make install` installs\n"
		"all three where the shells look for them.\n",
	.options = options,
	.statuses = "0  the script was printed\n"
		    "2  wrong usage\n",
	.example = "source <(drey completion bash)\n"
		   "drey completion zsh >\"${fpath[1]}/_drey\"\n"
		   "drey completion fish >~/.config/fish/completions/drey.fish\n",
	.run = completion_run,
};
