#include "base/http_url.h"

#include <arpa/inet.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <curl/curl.h>

/* As an address: "127.example.com" is any machine. */
static bool is_loopback_host(const char *host)
{
	struct in_addr address;

	if (inet_pton(AF_INET, host, &address) == 1)
		return ntohl(address.s_addr) >> 24 == 127;
	return !strcasecmp(host, "localhost") || !strcmp(host, "[::1]");
}

bool http_url_is_loopback(const char *url)
{
	CURLU *parts = curl_url();
	char *host = NULL;
	bool yes;

	if (!parts)
		abort();
	yes = !curl_url_set(parts, CURLUPART_URL, url, CURLU_NON_SUPPORT_SCHEME) &&
	      !curl_url_get(parts, CURLUPART_HOST, &host, 0) && is_loopback_host(host);
	curl_free(host);
	curl_url_cleanup(parts);
	return yes;
}
