/*
 * Any text as the URI of a file: what is understood has one spelling, in which it means the same; and what is made of
 * it by joining and by going up leads back.
 */
#include <ctype.h>
#include <string.h>

#include "base/mem.h"
#include "must.h"
#include "store/uri.h"

static void check_path(const char *path)
{
	must(path[0] == '/' && !strstr(path, "//"));
	must(!path[1] || path[strlen(path) - 1] != '/');
	for (const char *at = path; (at = strchr(at, '/')); at++) {
		size_t len = strcspn(at + 1, "/");

		must(!(len == 1 && at[1] == '.') && !(len == 2 && at[1] == '.' && at[2] == '.'));
	}
}

static void check_parts(const struct uri *uri)
{
	must(uri->scheme[0] != '\0');
	for (const char *at = uri->scheme; *at; at++)
		must(!isupper((unsigned char)*at) &&
		     (isalnum((unsigned char)*at) || strchr("+-.", *at)));
	must(!strchr(uri->authority, '/'));
	must(strcmp(uri->scheme, "file") != 0 || strcasecmp(uri->authority, "localhost") != 0);
	check_path(uri->path);
}

static bool same(const struct uri *a, const struct uri *b)
{
	return !strcmp(a->scheme, b->scheme) && !strcmp(a->authority, b->authority) &&
	       !strcmp(a->path, b->path);
}

/* The canonical spelling means the same, and is the canonical one of itself. */
static void check_canonical(const char *text, const struct uri *uri)
{
	cleanup_free char *spelled = uri_canonical(text), *again = NULL;
	struct uri read = {0};

	must(spelled && uri_parse(spelled, &read, NULL) == 0);
	must(same(uri, &read));
	again = uri_canonical(spelled);
	must(again && !strcmp(spelled, again));
	uri_release(&read);
}

#define NAME "a:name of-one+file"

/* One slash before the name, whatever the text ends in. */
static void check_join(const char *text, const char *child)
{
	size_t len = strlen(text);

	while (len && text[len - 1] == '/')
		len--;
	must(!strncmp(child, text, len) && !strcmp(child + len, "/" NAME));
	must(!strcmp(uri_name(child), NAME));
}

/* A name below it has it as its parent, and the way down and up leads back. */
static void check_family(const char *text, const struct uri *uri)
{
	cleanup_free char *child = uri_join(text, "//" NAME), *back = uri_join(text, "x/.."),
			  *parent = uri_parent(child), *up = uri_parent(text),
			  *top = uri_parent(up);
	struct uri read = {0};

	check_join(text, child);
	must(uri_parse(back, &read, NULL) == 0 && same(uri, &read));
	uri_release(&read);
	must(uri_parse(parent, &read, NULL) == 0 && same(uri, &read));
	uri_release(&read);
	must(uri_parse(up, &read, NULL) == 0);
	must(strlen(read.path) <= strlen(uri->path) && !strcmp(read.authority, uri->authority));
	uri_release(&read);
	must(strlen(top) <= strlen(up));
}

static void check_name(const char *text)
{
	const char *name = uri_name(text);

	must(name >= text && name <= text + strlen(text));
	must(!strchr(name, '/') && (name == text || name[-1] == '/'));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	cleanup_free char *text = xstrndup((const char *)data, size_bytes);
	cleanup_free char *argument = uri_of_argument(text), *canonical = NULL;
	struct uri uri = {.scheme = (char *)data};
	struct err err = {0};

	check_name(text);
	if (uri_parse(text, &uri, &err) < 0) {
		must(err.kind == ERR_CONFIG && err.msg[0]);
		must(uri.scheme == (const char *)data && !uri.authority && !uri.path);
		must(!uri_canonical(text));
		/* relative to the working directory, it is one */
		canonical = uri_canonical(argument);
		must(canonical && !strncmp(canonical, "file:/", 6));
		return 0;
	}
	must(err.kind == ERR_NONE && !strcmp(argument, text));
	check_parts(&uri);
	check_canonical(text, &uri);
	check_family(text, &uri);
	uri_release(&uri);
	return 0;
}
