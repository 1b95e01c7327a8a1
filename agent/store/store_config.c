#include "store/store_config.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"
#include "store/flinkfs/flinkfs.h"

/* Every string of the struct, and the variables that may fill it, first one first. */
static const struct field {
	size_t offset;
	const char *names[4];
	size_t from; /* the member that says which one it was; 0: none */
} fields[] = {
#define ROW(member, from, ...)                                                                     \
	{                                                                                          \
		offsetof(struct store_config, member), {__VA_ARGS__}, from                         \
	}
#define FIELD(member, ...)    ROW(member, 0, __VA_ARGS__)
#define ENDPOINT(member, ...) ROW(member, offsetof(struct store_config, member##_from), __VA_ARGS__)
	ENDPOINT(s3.endpoint, "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"),
	FIELD(s3.endpoint_from, NULL),
	FIELD(s3.region, "AWS_REGION", "AWS_DEFAULT_REGION"),
	FIELD(s3.access_key, NULL),
	FIELD(s3.secret_key, NULL),
	FIELD(s3.session_token, NULL),
	FIELD(s3.profile, NULL),
	FIELD(s3.ca_file, "AWS_CA_BUNDLE"),
	ENDPOINT(swift.auth_url, "OS_AUTH_URL", "ST_AUTH"),
	FIELD(swift.auth_url_from, NULL),
	FIELD(swift.storage_url_from, NULL),
	FIELD(swift.user, "OS_USERNAME", "ST_USER"),
	FIELD(swift.password, "OS_PASSWORD", "ST_KEY"),
	FIELD(swift.user_domain, "OS_USER_DOMAIN_NAME"),
	FIELD(swift.project, "OS_PROJECT_NAME", "OS_TENANT_NAME"),
	FIELD(swift.project_domain, "OS_PROJECT_DOMAIN_NAME"),
	FIELD(swift.application_credential_id, "OS_APPLICATION_CREDENTIAL_ID"),
	FIELD(swift.application_credential_secret, "OS_APPLICATION_CREDENTIAL_SECRET"),
	FIELD(swift.region, "OS_REGION_NAME"),
	ENDPOINT(swift.storage_url, "OS_STORAGE_URL"),
	FIELD(swift.token, "OS_AUTH_TOKEN"),
	FIELD(swift.ca_file, "OS_CACERT"),
#undef FIELD
#undef ENDPOINT
#undef ROW
};

static char **member(const struct store_config *config, size_t offset)
{
	return (char **)((uintptr_t)config + offset);
}

static char **at(const struct store_config *config, size_t i)
{
	return member(config, fields[i].offset);
}

void store_config_endpoint(char **slot, char **from, const char *value, const char *key,
			   const char *place)
{
	if (*slot || !value || !*value)
		return;
	*slot = xstrdup(value);
	free(*from);
	*from = xasprintf("%s in %s", key, place);
}

char *store_config_shown(const char *url, const char *from)
{
	return from ? xasprintf("%s (%s)", url, from) : xstrdup(url);
}

static void set_from_variable(struct store_config *config, size_t i, const char *name,
			      const char *value)
{
	if (!value || !*value)
		return;
	if (fields[i].from)
		store_config_endpoint(at(config, i), member(config, fields[i].from), value, name,
				      "the environment");
	else
		*at(config, i) = xstrdup(value);
}

void store_config_environment(struct store_config *config, char *(*get)(const char *name))
{
	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		for (size_t j = 0; !*at(config, i) && fields[i].names[j]; j++)
			set_from_variable(config, i, fields[i].names[j], get(fields[i].names[j]));
}

void store_config_copy(struct store_config *to, const struct store_config *from)
{
	*to = *from;
	to->flinkfs = NULL;
	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		*at(to, i) = xstrdup(*at(from, i));
}

void store_config_release(struct store_config *config)
{
	if (!config)
		return;
	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		free(*at(config, i));
	flinkfs_free(config->flinkfs);
	*config = (struct store_config){0};
}
