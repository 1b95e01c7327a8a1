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

static bool url_tell(const char *url, bool path, struct buf *to)
{
	CURLU *parts = curl_url();
	char *told = NULL;
	bool ok;

	if (!parts)
		abort();
	ok = !curl_url_set(parts, CURLUPART_URL, url,
			   CURLU_PATH_AS_IS | CURLU_NON_SUPPORT_SCHEME) &&
	     !curl_url_set(parts, CURLUPART_USER, NULL, 0) &&
	     !curl_url_set(parts, CURLUPART_PASSWORD, NULL, 0) &&
	     !curl_url_set(parts, CURLUPART_OPTIONS, NULL, 0) &&
	     !curl_url_set(parts, CURLUPART_QUERY, NULL, 0) &&
	     !curl_url_set(parts, CURLUPART_FRAGMENT, NULL, 0) &&
	     (path || !curl_url_set(parts, CURLUPART_PATH, NULL, 0)) &&
	     !curl_url_get(parts, CURLUPART_URL, &told, 0);
	if (ok && !path && *told && told[strlen(told) - 1] == '/')
		told[strlen(told) - 1] = '\0';
	buf_addstr(to, ok ? told : "(not a URL)");
	curl_free(told);
	curl_url_cleanup(parts);
	return ok;
}

bool http_url_tell(const char *url, struct buf *to)
{
	return url_tell(url, true, to);
}

bool http_url_tell_server(const char *url, struct buf *to)
{
	return url_tell(url, false, to);
}

void http_url_hide_users(char *text)
{
	while ((text = strstr(text, "://"))) {
		char *host = text + strlen("://");
		char *user = memrchr(host, '@', strcspn(host, " \t\r\n'\"<>"));

		if (user)
			memmove(host, user + 1, strlen(user + 1) + 1);
		text = host;
	}
}
