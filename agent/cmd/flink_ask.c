#include "cmd/flink_ask.h"

int flink_ask_open(const struct cli *cli, struct setup *ret_setup, struct err *err)
{
	if (setup_load_without_flink(cli_config_path(cli), ret_setup, err) < 0)
		return -1;
	ret_setup->rest.http = rest_tls_http(ret_setup->rest.tls, err);
	if (ret_setup->rest.http)
		return 0;
	setup_release(ret_setup);
	return -1;
}
