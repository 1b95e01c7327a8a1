#include "store/uri.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"

/* The length of the scheme, without the colon; 0 if there is none. */
static size_t scheme_length(const char *text)
{
	size_t len = 0;

	if (!isalpha((unsigned char)text[0]))
		return 0;
	while (isalnum((unsigned char)text[len]) || (text[len] && strchr("+-.", text[len])))
		len++;
	return text[len] == ':' ? len : 0;
}

static void drop_last_name(struct buf *path)
{
	while (path->len_bytes && path->data[path->len_bytes - 1] != '/')
		path->len_bytes--;
	if (path->len_bytes)
		path->len_bytes--;
	if (path->data)
		path->data[path->len_bytes] = '\0';
}

/* Single slashes, none at the end, no "." and "..". The caller frees it. */
static char *normal_path(const char *path)
{
	struct buf to = BUF_INIT;

	while (*path) {
		size_t len;

		path += strspn(path, "/");
		len = strcspn(path, "/");
		if (len == 2 && !strncmp(path, "..", 2)) {
			drop_last_name(&to);
		} else if (len && !(len == 1 && path[0] == '.')) {
			buf_addch(&to, '/');
			buf_add(&to, path, len);
		}
		path += len;
	}
	if (!to.len_bytes)
		buf_addch(&to, '/');
	return buf_steal(&to);
}

int uri_parse(const char *text, struct uri *ret, struct err *err)
{
	size_t scheme = scheme_length(text), host;
	const char *rest = scheme ? text + scheme + 1 : text;

	if (rest[0] != '/')
		return err_set(
			err, ERR_CONFIG, 0,
			"'%s' is neither a URI such as file:///dir or s3://bucket/dir nor an absolute path",
			text);
	ret->scheme = scheme ? xstrndup(text, scheme) : xstrdup("file");
	for (char *p = ret->scheme; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	host = 0;
	if (scheme && rest[1] == '/') {
		rest += 2;
		host = strcspn(rest, "/");
	}
	ret->authority = xstrndup(rest, host);
	if (!strcmp(ret->scheme, "file") && !strcasecmp(ret->authority, "localhost"))
		ret->authority[0] = '\0';
	ret->path = normal_path(rest + host);
	return 0;
}

void uri_release(struct uri *uri)
{
	if (!uri)
		return;
	free(uri->scheme);
	free(uri->authority);
	free(uri->path);
	*uri = (struct uri){0};
}

char *uri_canonical(const char *text)
{
	cleanup_uri struct uri uri = {0};
	char *to;

	if (uri_parse(text, &uri, NULL))
		return NULL;
	to = uri.authority[0] ? xasprintf("%s://%s%s", uri.scheme, uri.authority, uri.path)
			      : xasprintf("%s:%s", uri.scheme, uri.path);
	if (uri.authority[0] && !strcmp(uri.path, "/"))
		to[strlen(to) - 1] = '\0'; /* "s3://bucket" */
	return to;
}

char *uri_join(const char *base, const char *name)
{
	size_t len = strlen(base);

	while (len && base[len - 1] == '/')
		len--;
	return xasprintf("%.*s/%s", (int)len, base, name + strspn(name, "/"));
}

char *uri_parent(const char *text)
{
	char *to = uri_canonical(text);
	cleanup_uri struct uri uri = {0};
	size_t path;

	if (!to || uri_parse(to, &uri, NULL))
		return to ? to : xstrdup(text);
	path = strlen(to) - (strcmp(uri.path, "/") ? strlen(uri.path) : 0);
	if (path < strlen(to)) {
		char *slash = strrchr(to, '/');

		if (slash == to + path && !uri.authority[0])
			slash++; /* "file:/" */
		*slash = '\0';
	}
	return to;
}

char *uri_of_argument(const char *argument)
{
	size_t scheme = scheme_length(argument);
	cleanup_free char *here = NULL;

	if (argument[0] == '/' || (scheme && argument[scheme + 1] == '/'))
		return xstrdup(argument);
	here = getcwd(NULL, 0);
	return here ? uri_join(here, argument) : xstrdup(argument);
}

const char *uri_name(const char *text)
{
	const char *slash = strrchr(text, '/');

	return slash ? slash + 1 : text;
}
