/* Any bytes as drey.yaml: refused as a mistake of the user's, in one line that says where; or taken whole. */
#include <stdlib.h>
#include <string.h>

#include "must.h"
#include "run/config/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct config config = {0};
	struct err err = {0};

	if (config_parse((const char *)data, size_bytes, &config, &err)) {
		must(err.kind == ERR_CONFIG && err.msg[0]);
		must(!strchr(err.msg, '\n'));
		return 0;
	}
	config_release(&config);
	return 0;
}
