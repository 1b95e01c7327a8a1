/*
 * Any bytes as the header lines of an answer: the value of a header is a piece of one line, the last one of that name,
 * and what is read of them is within its bounds. The first line of the input may also be a date.
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/http_headers.h"
#include "base/mem.h"
#include "must.h"

#define DAY_MS       INT64_C(86400000)
#define LAST_UNIX_MS INT64_C(253402300799000)

static bool is_blank(char ch)
{
	return ch == ' ' || ch == '\t';
}

/* The same by another way: from the last line backwards. */
static void check_value(const char *headers, const char *name, const char *value)
{
	size_t len = strlen(headers), name_len = strlen(name);

	while (len) {
		const char *line = memrchr(headers, '\n', len), *text;

		line = line ? line + 1 : headers;
		if (!strncasecmp(line, name, name_len) && line[name_len] == ':') {
			text = line + name_len + 1;
			while (is_blank(*text))
				text++;
			must(!strncmp(text, value, strlen(value)));
			text += strlen(value);
			while (is_blank(*text))
				text++;
			must(!*text || *text == '\r' || *text == '\n');
			return;
		}
		len = line == headers ? 0 : (size_t)(line - headers) - 1;
	}
	must(false);
}

static void check_header(const struct http_response *response, const char *name)
{
	const char *headers = buf_str(&response->headers);
	cleanup_free char *value = xcalloc(1, strlen(headers) + 1);
	char small[8] = "unknown";
	bool found = http_header(response, name, value, strlen(headers) + 1);

	must(http_header(response, name, NULL, 0) == found);
	must(http_header(response, name, small, sizeof(small)) == found);
	if (!found) {
		must(!*value && !strcmp(small, "unknown"));
		return;
	}
	must(!strpbrk(value, "\r\n"));
	must(!*value || (!is_blank(*value) && !is_blank(value[strlen(value) - 1])));
	must(strlen(small) < sizeof(small) && !strncmp(value, small, strlen(small)));
	must(strlen(small) == sizeof(small) - 1 || !strcmp(value, small));
	check_value(headers, name, value);
}

static void check_read(const struct http_response *response)
{
	char value[128];

	must(strlen(response->content_type) < sizeof(response->content_type));
	must(!strpbrk(response->content_type, "; \t\r\n"));
	for (const char *at = response->content_type; *at; at++)
		must(!isupper((unsigned char)*at));
	must(!*response->content_type || http_header(response, "content-TYPE", NULL, 0));
	must(response->date_unix_ms >= -1 && response->date_unix_ms <= LAST_UNIX_MS);
	must(response->retry_after_ms >= -1 && response->retry_after_ms <= DAY_MS);
	must(response->retry_after_ms < 0 || http_header(response, "RETRY-AFTER", NULL, 0));
	if (http_header(response, "retry-after", value, sizeof(value)) && *value &&
	    strspn(value, "0123456789") == strlen(value))
		must(response->retry_after_ms == (strlen(value) > 6 ? DAY_MS
						  : strtoll(value, NULL, 10) * 1000 > DAY_MS
							  ? DAY_MS
							  : strtoll(value, NULL, 10) * 1000));
}

static void check_date(const char *text)
{
	int64_t unix_ms = http_date_unix_ms(text);

	must(unix_ms == -1 || (unix_ms >= 0 && unix_ms <= LAST_UNIX_MS && unix_ms % 1000 == 0));
	must(unix_ms == http_date_unix_ms(text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	static const char *const names[] = {"Content-Type", "Date",          "Retry-After",
					    "ETag",         "Content-Range", "Content-Length",
					    "Last-Modified"};
	cleanup_free char *line = xstrndup((const char *)data, size_bytes);
	struct http_response response = {.retry_after_ms = -1, .date_unix_ms = -1};

	line[strcspn(line, "\r\n")] = '\0';
	check_date(line);
	buf_add(&response.headers, data, size_bytes);
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		check_header(&response, names[i]);
	http_headers_read(&response);
	check_read(&response);
	http_response_release(&response);
	return 0;
}
