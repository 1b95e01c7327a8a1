#include "base/http.h"

#include <pthread.h>
#include <string.h>
#include <strings.h>

#include "base/http_call.h"
#include "base/mem.h"

static void global_init(void)
{
	if (curl_global_init(CURL_GLOBAL_DEFAULT))
		abort();
}

struct http *http_new(const struct http_config *config, struct err *err)
{
	/* libcurl before 7.84 wants this before there are two users */
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct http *http;

	if (config && !config->cert_file != !config->key_file) {
		err_set(err, ERR_CONFIG, 0, "a client certificate and its key go together");
		return NULL;
	}
	pthread_once(&once, global_init);
	http = xcalloc(1, sizeof(*http));
	http->multi = curl_multi_init();
	if (!http->multi)
		abort();
	/* kept when idle; libcurl's own limit follows the number of calls under way */
	curl_multi_setopt(http->multi, CURLMOPT_MAXCONNECTS, (long)HTTP_MAX_IN_FLIGHT);
	if (config) {
		http->ca_file = xstrdup(config->ca_file);
		http->cert_file = xstrdup(config->cert_file);
		http->key_file = xstrdup(config->key_file);
		http->direct = config->direct;
	}
	return http;
}

void http_free(struct http *http)
{
	if (!http)
		return;
	for (size_t i = 0; i < http->idle_count; i++)
		curl_easy_cleanup(http->idle[i]);
	curl_multi_cleanup(http->multi);
	free(http->ca_file);
	free(http->cert_file);
	free(http->key_file);
	free(http);
}

void http_response_release(struct http_response *response)
{
	buf_release(&response->body);
	buf_release(&response->headers);
	*response = (struct http_response){0};
}

int http_do(struct http *http, const struct http_request *request, struct http_response *response,
	    struct err *err)
{
	struct http_call call;

	if (http_call_begin(http, &call, request, response, err))
		return -1;
	while (!call.ended)
		http_calls_wait(http, HTTP_TIMEOUT_MS);
	return http_call_end(http, &call, err);
}

bool http_header(const struct http_response *response, const char *name, char *ret_value,
		 size_t size_bytes)
{
	size_t name_len = strlen(name);
	const char *line = buf_str(&response->headers);
	const char *found = NULL, *end;

	for (; *line; line += strcspn(line, "\n"), line += *line == '\n')
		if (!strncasecmp(line, name, name_len) && line[name_len] == ':')
			found = line + name_len + 1;
	if (!found)
		return false;
	found += strspn(found, " \t");
	end = found + strcspn(found, "\r\n");
	while (end > found && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	if (size_bytes) {
		size_t len = (size_t)(end - found);

		if (len >= size_bytes)
			len = size_bytes - 1;
		memcpy(ret_value, found, len);
		ret_value[len] = '\0';
	}
	return true;
}

int64_t http_date_unix_ms(const char *text)
{
	time_t at = curl_getdate(text, NULL);

	return at == -1 ? -1 : (int64_t)at * 1000;
}

enum err_kind http_status_kind(int status)
{
	switch (status) {
	case 404:
		return ERR_ABSENT;
	case 401:
	case 403:
		return ERR_DENIED;
	case 409:
		return ERR_BUSY;
	case 408:
	case 425:
	case 429:
		return ERR_RETRY;
	default:
		if (status >= 200 && status < 300)
			return ERR_NONE;
		return status >= 500 ? ERR_RETRY : ERR_FORMAT;
	}
}

int http_status_err(const struct http_request *request, const struct http_response *response,
		    struct err *err)
{
	cleanup_free char *what = http_call_describe(request);
	char text[160];
	size_t len = 0;

	/* a page of HTML says nothing that fits a line */
	if (strcmp(response->content_type, "text/html") != 0)
		for (const char *p = buf_str(&response->body); *p && len < sizeof(text) - 1; p++)
			text[len++] = (unsigned char)*p < ' ' || *p == 0x7F ? ' ' : *p;
	text[len] = '\0';
	return err_set(err, http_status_kind(response->status), 0, "%s: HTTP %d%s%s", what,
		       response->status, len ? ": " : "", text);
}
