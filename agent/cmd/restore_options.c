#include "cmd/restore_options.h"

#include "base/mem.h"
#include "cmd/client.h"

int restore_options(const struct cli *cli, struct restore_request *ret)
{
	const char *from = cli_value(cli, "from");
	bool empty = cli_has(cli, "empty"), allow = cli_has(cli, "allow-non-restored-state");
	bool foreign = cli_has(cli, "foreign");

	if (from && empty)
		return cli_fail(cli, CLI_USAGE, "--from and --empty exclude each other");
	if (allow && empty)
		return cli_fail(cli, CLI_USAGE,
				"--allow-non-restored-state and --empty exclude each other");
	if (foreign && !from)
		return cli_fail(cli, CLI_USAGE, "--foreign needs --from");
	if (!from && !empty && !allow)
		return CLI_OK;
	ret->kind = from ? RESTORE_PATH : empty ? RESTORE_EMPTY : RESTORE_NEWEST;
	ret->allow_non_restored = allow;
	ret->foreign = foreign;
	ret->path = xstrdup(from);
	return client_nonce(cli, &ret->token);
}
