#include "cmd/consent.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool takes(const struct cli *cli, const char *name)
{
	for (const struct cli_option *option = cli->command->options; option->name; option++)
		if (!strcmp(option->name, name))
			return true;
	return false;
}

bool consent_dry_run(const struct cli *cli)
{
	return takes(cli, "dry-run") && cli_has(cli, "dry-run");
}

int consent_would(const struct cli *cli, const char *fmt, ...)
{
	va_list args;

	out_put(cli->out, "dry run: would ");
	va_start(args, fmt);
	out_vput(cli->out, fmt, args);
	va_end(args);
	out_put(cli->out, "; nothing was changed\n");
	return CLI_OK;
}

bool consent_is_yes(const char *answer)
{
	size_t len = strcspn(answer, "\r\n");

	return (len == 1 && !strncasecmp(answer, "y", 1)) ||
	       (len == 3 && !strncasecmp(answer, "yes", 3));
}

int consent_ask(const struct cli *cli, const char *fmt, ...)
{
	char answer[16] = "";
	va_list args;

	if (cli_has(cli, "yes") || !out_is_terminal(cli->err) || !isatty(STDIN_FILENO))
		return CLI_OK;
	va_start(args, fmt);
	out_vput(cli->err, fmt, args);
	va_end(args);
	out_put(cli->err, " [y/N] ");
	out_flush(cli->err);
	if (fgets(answer, sizeof(answer), stdin) && consent_is_yes(answer))
		return CLI_OK;
	return cli_fail(cli, CLI_FAILED, "not confirmed; nothing was changed");
}
