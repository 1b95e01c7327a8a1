/* plugin_status - the status document of an application, from its custom resource and its journal. */
#ifndef DREY_CMD_PLUGIN_STATUS_H
#define DREY_CMD_PLUGIN_STATUS_H

#include <stdbool.h>

#include "cmd/cli.h"

struct json;

struct plugin_status {
	struct json *doc; /* owned */
	char *place; /* "ConfigMap shop/orders-drey-journal", "FlinkApplication shop/orders"; owned */
	char *writer;  /* of the journal; NULL = not known; owned */
	bool resource; /* it is from the custom resource */
};

/*
 * That of the two which has the later transition. What cannot be read is a line on cli->err. CLI_OK: the caller
 * releases. Else the exit status: CLI_ABSENT if there is neither, or none can be read.
 */
int plugin_status_read(const struct cli *cli, struct plugin_status *ret);
void plugin_status_release(struct plugin_status *status);

#endif
