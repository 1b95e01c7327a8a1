#include "cmd/flink_ask.h"

int flink_ask_open(const struct cli *cli, struct flink_ask *ret, struct err *err)
{
	struct flink_ask *ask = ret;

	if (setup_load_without_flink(cli_config_path(cli), &ask->setup, err) < 0)
		return -1;
	if (!ask->setup.rest.http)
		ask->setup.rest.http = rest_tls_http(ask->setup.rest_tls, err);
	ask->rest = ask->setup.rest;
	if (ask->rest.http)
		return 0;
	setup_release(&ask->setup);
	return -1;
}

void flink_ask_close(struct flink_ask *ask)
{
	setup_release(&ask->setup);
}
