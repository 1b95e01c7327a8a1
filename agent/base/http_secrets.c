#include "base/http_secrets.h"

#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/percent.h"

#define LEAST_BYTES 6
#define HIDDEN      "***"

static void remove_word(const char *word, size_t len, struct buf *text)
{
	cleanup_buf struct buf rest = BUF_INIT;
	const char *at = text->data, *end = at + text->len_bytes, *found;

	if (len < LEAST_BYTES || !text->len_bytes || !memmem(at, text->len_bytes, word, len))
		return;
	while ((found = memmem(at, (size_t)(end - at), word, len))) {
		buf_add(&rest, at, (size_t)(found - at));
		buf_addstr(&rest, HIDDEN);
		at = found + len;
	}
	buf_add(&rest, at, (size_t)(end - at));
	buf_clear(text);
	buf_add(text, rest.data, rest.len_bytes);
}

/* As it is, and decoded. */
static void remove_both(const char *word, size_t len, struct buf *text)
{
	cleanup_free char *decoded = xstrndup(word, len);

	remove_word(word, len, text);
	if (percent_decode(decoded) == 0)
		remove_word(decoded, strlen(decoded), text);
}

/* Path and query: what stands between these marks. */
static void remove_parts(const char *from, struct buf *text)
{
	while (*from) {
		size_t len = strcspn(from, "/?#&=");

		remove_both(from, len, text);
		from += len;
		from += *from != '\0';
	}
}

/* "Bearer TOKEN", "AWS4-HMAC-SHA256 Credential=..., Signature=...", "a=SECRET; b=...", "TOKEN". */
static void remove_value(const char *value, struct buf *text)
{
	value += strspn(value, " ");
	if (strchr(value, ' ') && value[strcspn(value, " =")] == ' ')
		value += strcspn(value, " "); /* the scheme is no secret */
	while (*value) {
		size_t len, name;

		value += strspn(value, " ,;");
		len = strcspn(value, " ,");
		name = strcspn(value, "=");
		/* a last = is one of base64 */
		if (name + 1 < len && value[name + 1] != '=')
			remove_both(value + name + 1, len - name - 1 - (value[len - 1] == ';'),
				    text);
		else
			remove_both(value, len, text);
		value += len;
	}
}

/* "Authorization: Bearer ..." */
static bool signs_in(const char *header, size_t name_bytes)
{
	static const char *const words[] = {"auth", "cookie", "token", "key", "secret"};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		for (size_t at = 0; at + strlen(words[i]) <= name_bytes; at++)
			if (!strncasecmp(header + at, words[i], strlen(words[i])))
				return true;
	return false;
}

void http_secrets_remove(const struct http_request *request, struct buf *text)
{
	const char *host = strstr(request->url, "://");

	for (size_t i = 0; i < request->header_count; i++) {
		size_t name = strcspn(request->headers[i], ":");

		if (signs_in(request->headers[i], name))
			remove_value(request->headers[i] + name +
					     (request->headers[i][name] == ':'),
				     text);
	}
	if (!request->secret_url || !host)
		return;
	host += strlen("://");
	remove_parts(host + strcspn(host, "/?#"), text);
}
