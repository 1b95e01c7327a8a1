/* Any bytes as the head of a request to the probes' port: refused with a status of that server, or a path. */
#include <string.h>

#include "base/mem.h"
#include "must.h"
#include "run/outputs/http_server.h"

static bool is_refusal(int status)
{
	return status == 400 || status == 405 || status == 413 || status == 505;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	/* the server hands over no NUL inside */
	cleanup_free char *head = xstrndup((const char *)data, size_bytes);
	size_t len = strlen(head);
	const char *path = NULL;
	bool is_head = false;
	int status = http_request_parse(head, &path, &is_head);

	if (status) {
		must(is_refusal(status) && !path && !is_head);
		return 0;
	}
	must(path > head && path < head + len);
	must(path[0] == '/' && !strpbrk(path, " ?\r\n"));
	must(path + strlen(path) <= head + len);
	must(!strncmp(head, is_head ? "HEAD " : "GET ", is_head ? 5 : 4));
	return 0;
}
