/*
 * credentials_world - an environment, a clock and files for the tests of S3's credentials.
 */
#ifndef DREY_TESTS_CREDENTIALS_WORLD_H
#define DREY_TESTS_CREDENTIALS_WORLD_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/mem.h"
#include "store/s3/s3_credentials.h"
#include "tap.h"

#define WORLD_VARIABLES 16

static struct world {
	struct {
		const char *name;
		char value[512];
	} variables[WORLD_VARIABLES];
	char dir[64]; /* $HOME */
	int64_t now_unix_ms;
	struct s3_config config;
	struct s3_credentials *credentials;
	const struct s3_keys *keys;
	struct err err;
} world;

static char *world_get(const char *name)
{
	for (size_t i = 0; i < WORLD_VARIABLES; i++)
		if (world.variables[i].name && strcmp(world.variables[i].name, name) == 0)
			return world.variables[i].value;
	return NULL;
}

static int64_t world_now(void)
{
	return world.now_unix_ms;
}

__attribute__((format(printf, 2, 3))) static void world_set(const char *name, const char *fmt, ...)
{
	va_list ap;
	size_t i = 0;

	while (i < WORLD_VARIABLES && world.variables[i].name &&
	       strcmp(world.variables[i].name, name) != 0)
		i++;
	if (i == WORLD_VARIABLES)
		abort();
	world.variables[i].name = name;
	va_start(ap, fmt);
	vsnprintf(world.variables[i].value, sizeof(world.variables[i].value), fmt, ap);
	va_end(ap);
}

/* A file below $HOME; "~/" is not part of the name. */
static void world_file(const char *name, const char *text)
{
	cleanup_free char *path = xasprintf("%s/%s", world.dir, name);
	cleanup_free char *dir = xstrdup(path);

	*strrchr(dir, '/') = '\0';
	if (fs_mkdirs(dir, 0755, NULL) < 0 ||
	    fs_write_atomic(path, text, strlen(text), 0600, NULL) < 0)
		abort();
}

/* Nothing is configured; instance metadata is off. */
static void world_begin(void)
{
	const char *tmp = getenv("TMPDIR");
	static const struct s3_credentials_env env = {world_get, world_now, 2500};

	memset(&world, 0, sizeof(world));
	snprintf(world.dir, sizeof(world.dir), "%.40s/drey-keys-XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(world.dir))
		abort();
	world.now_unix_ms = 1772366400000; /* 2026-03-01T12:00:00Z */
	world_set("HOME", "%s", world.dir);
	world_set("AWS_EC2_METADATA_DISABLED", "true");
	world.credentials = s3_credentials_new(&world.config, &env);
}

static void world_end(void)
{
	cleanup_free char *rm = xasprintf("rm -rf '%s'", world.dir);

	s3_credentials_free(world.credentials);
	if (system(rm) != 0)
		abort();
}

static int world_keys(void)
{
	world.err = (struct err){0};
	world.keys = NULL;
	return s3_credentials_get(world.credentials, &world.keys, &world.err);
}

#define CHECK_KEYS(access, secret, token)                                                          \
	do {                                                                                       \
		CHECK_INT(world_keys(), ==, 0);                                                    \
		CHECK_STR(world.err.msg, "");                                                      \
		CHECK_STR(world.keys ? world.keys->access_key : NULL, access);                     \
		CHECK_STR(world.keys ? world.keys->secret_key : NULL, secret);                     \
		CHECK_STR(world.keys ? world.keys->session_token : NULL, token);                   \
	} while (0)

/* It fails with this error, and the message contains no secret. */
#define CHECK_NO_KEYS(of_kind, part)                                                               \
	do {                                                                                       \
		CHECK_INT(world_keys(), ==, -1);                                                   \
		CHECK_INT(world.err.kind, ==, of_kind);                                            \
		CHECK_HAS(world.err.msg, part);                                                    \
		CHECK(!strstr(world.err.msg, "s3cret"));                                           \
	} while (0)

#endif
