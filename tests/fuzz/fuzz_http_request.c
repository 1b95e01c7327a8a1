/* Any bytes as the head of a request to the probes' port: refused with a status of that server, or a path and a query, of
 * which a parameter is read. */
#include <string.h>

#include "base/mem.h"
#include "base/query.h"
#include "must.h"
#include "run/outputs/http_host.h"
#include "run/outputs/http_server.h"

static bool is_refusal(int status)
{
	return status == 400 || status == 405 || status == 413 || status == 505;
}

static void read_query(const char *query)
{
	cleanup_free char *value = NULL;
	struct err err = {0};
	int found = query_get(query, "generation", &value, &err);

	must(found == 1 ? value != NULL : value == NULL);
	must((found < 0) == (err.kind == ERR_FORMAT));
	if (!value)
		return;
	must(strlen(value) < QUERY_VALUE_BYTES);
	for (const char *at = value; *at; at++)
		must((unsigned char)*at >= ' ' && *at != 0x7f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	/* the server hands over no NUL inside */
	cleanup_free char *head = xstrndup((const char *)data, size_bytes);
	size_t len = strlen(head);
	struct http_asked asked = {0};
	int status = http_request_parse(head, &asked);
	const char *path = asked.path, *query = asked.query, *host = asked.host;
	const struct http_hosts hosts = {.name_space = "shop"};
	bool is_head = asked.is_head;

	if (status) {
		must(is_refusal(status) && !path && !is_head);
		return 0;
	}
	must(path > head && path < head + len);
	must(path[0] == '/' && !strpbrk(path, " ?\r\n"));
	must(path + strlen(path) <= head + len);
	must(query >= path + strlen(path) && query + strlen(query) <= head + len);
	must(!strpbrk(query, " \r\n"));
	must(!*host || (host > head && host + strlen(host) <= head + len));
	must(!strpbrk(host, " \t\r\n"));
	must(!http_host_known(host, &hosts) || !strstr(host, ".example"));
	read_query(query);
	must(!strncmp(head, is_head ? "HEAD " : "GET ", is_head ? 5 : 4));
	return 0;
}
