#include "store/store_identity.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "store/uri.h"

/* Names of one thing; the first one stands for all. Flink's S3 file systems, and Azure's with and without TLS. */
static const char *const aliases[][4] = {
	{"s3", "s3a", "s3p", "s3n"},
	{"abfs", "abfss"},
	{"wasb", "wasbs"},
};

static const char *first_name(const char *scheme)
{
	for (size_t i = 0; i < ARRAY_LEN(aliases); i++)
		for (size_t k = 0; k < ARRAY_LEN(aliases[i]) && aliases[i][k]; k++)
			/* MUT: s3a is another store than s3 */
			if (!strcmp(aliases[i][k], scheme))
				return aliases[i][0];
	return scheme;
}

static void add_place(struct store_identity *identity, const struct stat *st)
{
	identity->places = xreallocarray(identity->places, identity->place_count + 1,
					 sizeof(*identity->places));
	identity->places[identity->place_count++] =
		(struct store_place){(uint64_t)st->st_dev, (uint64_t)st->st_ino};
}

/* The directory and all above it, without links in between: `path` is a real one. */
static int add_places(struct store_identity *identity, const char *path, struct err *err)
{
	cleanup_free char *at = xstrdup(path);

	for (;;) {
		char *slash = strrchr(at, '/');
		struct stat st;

		if (stat(*at ? at : "/", &st))
			return err_set(err, err_kind_of_errno(errno), errno, "stat %s", at);
		add_place(identity, &st);
		if (!slash || !strcmp(at, "/"))
			return 0;
		*slash = '\0';
	}
}

static int identify_file(struct store_identity *identity, const char *path, struct err *err)
{
	cleanup_free char *there = xstrdup(path);

	for (;;) {
		cleanup_free char *real = realpath(*there ? there : "/", NULL);
		char *slash;

		if (real) {
			identity->rest = xstrdup(strcmp(path, "/") ? path + strlen(there) : "");
			return add_places(identity, real, err);
		}
		if (errno != ENOENT || !*there)
			return err_set(err, err_kind_of_errno(errno), errno, "find %s", there);
		slash = strrchr(there, '/');
		*slash = '\0';
	}
}

int store_identity(const char *uri, struct store_identity *ret, struct err *err)
{
	struct store_identity identity = {0};
	cleanup_uri struct uri parsed = {0};
	int rc = 0;

	if (uri_parse(uri, &parsed, err) < 0)
		return -1;
	identity.uri = xasprintf("%s://%s%s", first_name(parsed.scheme), parsed.authority,
				 strcmp(parsed.path, "/") ? parsed.path : "");
	if (!strcmp(parsed.scheme, "file"))
		rc = identify_file(&identity, parsed.path, err);
	if (rc < 0)
		store_identity_release(&identity);
	else
		*ret = identity;
	return rc;
}

void store_identity_release(struct store_identity *identity)
{
	free(identity->uri);
	free(identity->places);
	free(identity->rest);
	*identity = (struct store_identity){0};
}

/* ---- how they lie ---- */

/* Is `inner` below `outer`, or the same? By whole names. */
static enum store_relation relate_names(const char *inner, const char *outer)
{
	size_t len = strlen(outer);

	if (strncmp(inner, outer, len) != 0)
		return STORE_APART;
	return !inner[len] ? STORE_SAME : inner[len] == '/' ? STORE_INSIDE : STORE_APART;
}

/* The first one inside the second one? */
static enum store_relation relate_places(const struct store_identity *a,
					 const struct store_identity *b)
{
	for (size_t i = 0; i < a->place_count; i++)
		/* MUT: a directory is known by its path */
		if (a->places[i].device == b->places[0].device &&
		    a->places[i].inode == b->places[0].inode) {
			if (!i)
				return relate_names(a->rest, b->rest);
			return *b->rest ? STORE_APART : STORE_INSIDE;
		}
	return STORE_APART;
}

static enum store_relation relate_one_way(const struct store_identity *a,
					  const struct store_identity *b)
{
	if (!a->rest != !b->rest)
		return STORE_APART;
	return a->rest ? relate_places(a, b) : relate_names(a->uri, b->uri);
}

enum store_relation store_relate(const struct store_identity *a, const struct store_identity *b)
{
	enum store_relation forth = relate_one_way(a, b);

	if (forth != STORE_APART)
		return forth;
	return relate_one_way(b, a) == STORE_INSIDE ? STORE_AROUND : STORE_APART;
}
