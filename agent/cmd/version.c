#include "base/buf.h"
#include "base/json.h"
#include "cmd/commands.h"
#include "cmd/output.h"

static const struct cli_option options[] = {CLI_JSON, CLI_END};

static int version_run(const struct cli *cli)
{
	cleanup_json struct json *doc = json_object();
	cleanup_buf struct buf text = BUF_INIT;

	if (!cli_has(cli, "json")) {
		out_put(cli->out, "drey " DREY_VERSION "\n");
		return CLI_OK;
	}
	json_add_str(doc, "version", DREY_VERSION);
	if (cli_value(cli, "output")) {
		output_document(cli, doc);
		return CLI_OK;
	}
	json_print(doc, &text);
	out_lines(cli->out, buf_str(&text));
	out_put(cli->out, "\n");
	return CLI_OK;
}

const struct cli_command cmd_version = {
	.name = "version",
	.summary = "print the version of drey",
	.description = "Prints the version of this program.\n",
	.options = options,
	.statuses = "0  always\n",
	.run = version_run,
};
