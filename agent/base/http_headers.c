#include "base/http_headers.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <curl/curl.h>

#include "base/clock.h"

#define DAY_MS      INT64_C(86400000)
#define LAST_UNIX_S INT64_C(253402300799) /* the end of the year 9999 */

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

	/* libcurl takes years of nine digits */
	return at < 0 || at > LAST_UNIX_S ? -1 : (int64_t)at * 1000;
}

/* Seconds, or a date that is compared with the server's own clock when it tells it. */
static int64_t parse_retry_after(const char *value, int64_t date_unix_ms)
{
	size_t digits = strspn(value, "0123456789");
	int64_t ms;

	if (digits && !value[digits]) {
		ms = digits > 6 ? DAY_MS : strtoll(value, NULL, 10) * 1000;
	} else {
		int64_t at_unix_ms = http_date_unix_ms(value);

		if (at_unix_ms < 0)
			return -1;
		ms = at_unix_ms - (date_unix_ms >= 0 ? date_unix_ms : clock_unix_ms());
	}
	return ms < 0 ? 0 : ms > DAY_MS ? DAY_MS : ms;
}

void http_headers_read(struct http_response *response)
{
	char value[128];

	if (http_header(response, "Content-Type", value, sizeof(value))) {
		size_t len = strcspn(value, "; \t");

		if (len >= sizeof(response->content_type))
			len = sizeof(response->content_type) - 1;
		for (size_t i = 0; i < len; i++)
			response->content_type[i] = (char)tolower((unsigned char)value[i]);
		response->content_type[len] = '\0';
	}
	if (http_header(response, "Date", value, sizeof(value)))
		response->date_unix_ms = http_date_unix_ms(value);
	if (http_header(response, "Retry-After", value, sizeof(value)))
		response->retry_after_ms = parse_retry_after(value, response->date_unix_ms);
}
