#include "cmd/consent.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cmd/text.h"

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
	cleanup_free char *text = NULL;
	va_list args;

	va_start(args, fmt);
	text = xvasprintf(fmt, args);
	va_end(args);
	fputs("dry run: would ", cli->out);
	text_print(text, cli->out);
	fputs("; nothing was changed\n", cli->out);
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
	int fd = fileno(cli->err);
	cleanup_free char *text = NULL;
	char answer[16] = "";
	va_list args;

	if (cli_has(cli, "yes") || fd < 0 || !isatty(fd) || !isatty(STDIN_FILENO))
		return CLI_OK;
	va_start(args, fmt);
	text = xvasprintf(fmt, args);
	va_end(args);
	text_print(text, cli->err);
	fputs(" [y/N] ", cli->err);
	fflush(cli->err);
	if (fgets(answer, sizeof(answer), stdin) && consent_is_yes(answer))
		return CLI_OK;
	return cli_fail(cli, CLI_FAILED, "not confirmed; nothing was changed");
}
