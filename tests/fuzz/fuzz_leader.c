/* Any bytes as the leader record of a cluster, and as the value of a leader key. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "format/leader.h"
#include "must.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	char *text = xcalloc(size_bytes + 1, 1);
	char host[LEADER_HOST_BYTES];
	struct leader leader;
	int port = 0;

	if (size_bytes)
		memcpy(text, data, size_bytes);
	if (!leader_parse(text, size_bytes, &leader, NULL)) {
		must(leader.holder && leader.renew_time);
		must(leader.duration_ms >= -1);
		leader_release(&leader);
	}
	if (!leader_session_parse(text, host, &port, NULL))
		must(*host && strlen(host) < size_bytes && port > 0 && port <= 65535);
	free(text);
	return 0;
}
