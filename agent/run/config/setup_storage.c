#include "run/config/setup_storage.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"
#include "run/config/setup_flinkfs.h"
#include "store/s3/s3_profile.h"

#define SECRET_MAX_BYTES ((size_t)64 * 1024)
#define BLANKS           " \t\r\n"

/* ---- drey.yaml ---- */

/* A file with one secret in it, without the white space around it. */
static int read_secret(const char *key, const char *path, char **ret_secret, struct err *err)
{
	struct buf text = BUF_INIT;
	struct err why = {0};
	const char *begin;
	size_t len;

	if (!path)
		return 0;
	if (fs_read(path, SECRET_MAX_BYTES, &text, &why) < 0) {
		buf_release(&text);
		return err_set(err, why.kind == ERR_ABSENT ? ERR_CONFIG : why.kind, 0, "%s: %s",
			       key, why.msg);
	}
	begin = buf_str(&text) + strspn(buf_str(&text), BLANKS);
	len = strlen(begin);
	while (len && strchr(BLANKS, begin[len - 1]))
		len--;
	if (len)
		*ret_secret = xstrndup(begin, len);
	if (text.data)
		explicit_bzero(text.data, text.cap_bytes);
	buf_release(&text);
	return len ? 0 : err_set(err, ERR_CONFIG, 0, "%s: %s is empty", key, path);
}

static int from_config_s3(const struct config *config, struct s3_config *s3, struct err *err)
{
	const char *access = config->storage.s3.access_key_file;
	const char *secret = config->storage.s3.secret_key_file;

	store_config_endpoint(&s3->endpoint, &s3->endpoint_from, config->storage.s3.endpoint,
			      "storage.s3.endpoint", "drey.yaml");
	s3->region = xstrdup(config->storage.s3.region);
	s3->addressing = (enum s3_addressing)config->storage.s3.addressing;
	s3->profile = xstrdup(config->storage.s3.profile);
	s3->ca_file = xstrdup(config->storage.s3.ca_file);
	if (s3->profile && (access || secret))
		return err_set(
			err, ERR_CONFIG, 0,
			"set storage.s3.profile, or storage.s3.accessKeyFile and storage.s3.secretKeyFile, not both");
	if (!access != !secret || (config->storage.s3.session_token_file && !access))
		return err_set(
			err, ERR_CONFIG, 0,
			"set storage.s3.accessKeyFile and storage.s3.secretKeyFile together; storage.s3.sessionTokenFile needs both");
	if (read_secret("storage.s3.accessKeyFile", access, &s3->access_key, err) < 0 ||
	    read_secret("storage.s3.secretKeyFile", secret, &s3->secret_key, err) < 0)
		return -1;
	return read_secret("storage.s3.sessionTokenFile", config->storage.s3.session_token_file,
			   &s3->session_token, err);
}

static int from_config_swift(const struct config *config, struct swift_config *swift,
			     struct err *err)
{
	store_config_endpoint(&swift->auth_url, &swift->auth_url_from,
			      config->storage.swift.auth_url, "storage.swift.authUrl", "drey.yaml");
	swift->user = xstrdup(config->storage.swift.user);
	swift->user_domain = xstrdup(config->storage.swift.user_domain);
	swift->project = xstrdup(config->storage.swift.project);
	swift->project_domain = xstrdup(config->storage.swift.project_domain);
	swift->region = xstrdup(config->storage.swift.region);
	swift->ca_file = xstrdup(config->storage.swift.ca_file);
	swift->application_credential_id = xstrdup(config->storage.swift.application_credential_id);
	if (read_secret("storage.swift.passwordFile", config->storage.swift.password_file,
			&swift->password, err) < 0)
		return -1;
	return read_secret("storage.swift.applicationCredentialSecretFile",
			   config->storage.swift.application_credential_secret_file,
			   &swift->application_credential_secret, err);
}

/* ---- Flink's configuration ---- */

/* Flink's options for one bucket: "s3.bucket.NAME.endpoint" comes before "s3.endpoint". */
struct options {
	const struct flink_conf *conf;
	const char *bucket; /* NULL: those for every bucket only */
};

/* The first of the names (NULL at the end) below the first of Flink's prefixes. */
static const struct flink_conf_entry *option_below(const struct options *options, const char *below,
						   const char *const *names)
{
	static const char *const prefixes[] = {"s3.", "s3a.", "fs.s3a.", "presto.s3."};

	for (size_t i = 0; i < ARRAY_LEN(prefixes); i++)
		for (size_t j = 0; names[j]; j++) {
			cleanup_free char *key = xasprintf("%s%s%s", prefixes[i], below, names[j]);
			const struct flink_conf_entry *entry = flink_conf_find(options->conf, key);

			if (entry && *entry->value)
				return entry;
		}
	return NULL;
}

static const struct flink_conf_entry *option_find(const struct options *options,
						  const char *const *names)
{
	const struct flink_conf_entry *entry = NULL;

	if (options->bucket) {
		cleanup_free char *below = xasprintf("bucket.%s.", options->bucket);

		entry = option_below(options, below, names);
	}
	return entry ? entry : option_below(options, "", names);
}

static const char *option_get(const struct options *options, const char *const *names)
{
	const struct flink_conf_entry *entry = option_find(options, names);

	return entry ? entry->value : NULL;
}

#define OPTION(options, ...) option_get(options, (const char *const[]){__VA_ARGS__, NULL})

static void fill(char **slot, const char *value)
{
	if (!*slot && value && *value)
		*slot = xstrdup(value);
}

static void from_flink_endpoint(const struct options *options, const char *ssl,
				struct s3_config *s3)
{
	const struct flink_conf_entry *entry =
		option_find(options, (const char *[]){"endpoint", NULL});
	const char *file = options->conf->file ? strrchr(options->conf->file, '/') : NULL;
	cleanup_free char *endpoint = NULL;

	if (!entry)
		return;
	endpoint = strstr(entry->value, "://") || !ssl || strcasecmp(ssl, "false") != 0
			   ? xstrdup(entry->value)
			   : xasprintf("http://%s", entry->value);
	store_config_endpoint(&s3->endpoint, &s3->endpoint_from, endpoint, entry->key,
			      entry->overlay ? entry->overlay
			      : file         ? file + 1
					     : "Flink's configuration");
}

static void from_flink(const struct options *options, struct s3_config *s3)
{
	const char *path_style = OPTION(options, "path-style-access", "path.style.access");
	const char *ssl = OPTION(options, "connection.ssl.enabled", "ssl.enabled");

	from_flink_endpoint(options, ssl, s3);
	fill(&s3->region, OPTION(options, "endpoint.region", "region"));
	if (path_style && s3->addressing == S3_ADDRESSING_AUTO)
		s3->addressing = strcasecmp(path_style, "true") == 0 ? S3_ADDRESSING_PATH
								     : S3_ADDRESSING_VIRTUAL;
	if (s3->access_key || s3->profile) /* never mix keys of two sources */
		return;
	fill(&s3->access_key, OPTION(options, "access-key", "access.key"));
	fill(&s3->secret_key, OPTION(options, "secret-key", "secret.key"));
	fill(&s3->session_token, OPTION(options, "session-token", "session.token"));
}

/* The bucket of an S3 URI; NULL for any other. Caller frees. */
static char *bucket_of(const char *uri)
{
	const char *name = uri ? strstr(uri, "://") : NULL;

	if (!name || (strncmp(uri, "s3:", 3) != 0 && strncmp(uri, "s3a:", 4) != 0 &&
		      strncmp(uri, "s3p:", 4) != 0))
		return NULL;
	return xstrndup(name + 3, strcspn(name + 3, "/"));
}

static bool same_s3(const struct s3_config *a, const struct s3_config *b)
{
	return xstrsame(a->endpoint, b->endpoint) && xstrsame(a->region, b->region) &&
	       a->addressing == b->addressing && xstrsame(a->access_key, b->access_key) &&
	       xstrsame(a->secret_key, b->secret_key) &&
	       xstrsame(a->session_token, b->session_token);
}

/* Flink can have options for each bucket, drey has one set of them: so both directories
 * must have the same options. */
static int from_flink_buckets(const struct config *config, const struct flink_conf *conf,
			      struct store_config *storage, struct err *err)
{
	cleanup_free char *checkpoints = bucket_of(config->flink.checkpoint_directory);
	cleanup_free char *savepoints = bucket_of(config->flink.savepoint_directory);
	struct options first = {conf, checkpoints ? checkpoints : savepoints};
	struct options second = {conf, savepoints ? savepoints : checkpoints};
	struct store_config other;
	bool same;

	store_config_copy(&other, storage);
	from_flink(&first, &storage->s3);
	from_flink(&second, &other.s3);
	same = same_s3(&storage->s3, &other.s3);
	store_config_release(&other);
	if (same)
		return 0;
	return err_set(
		err, ERR_CONFIG, 0,
		"Flink's configuration has different options for the buckets '%s' and '%s' "
		"(s3.bucket...), but drey supports only one set: put checkpoints and savepoints "
		"into one bucket, or set storage.s3",
		first.bucket, second.bucket);
}

/* ---- the environment ---- */

static void from_profile(struct s3_config *s3)
{
	cleanup_free char *place = NULL;
	struct s3_profile profile;

	if (s3_profile_load(getenv, s3->profile, &profile, NULL) < 0)
		return;
	place = xasprintf("the AWS profile '%s'", profile.name);
	store_config_endpoint(&s3->endpoint, &s3->endpoint_from,
			      profile.values[S3_PROFILE_ENDPOINT_URL], "endpoint_url", place);
	fill(&s3->region, profile.values[S3_PROFILE_REGION]);
	fill(&s3->ca_file, profile.values[S3_PROFILE_CA_BUNDLE]);
	s3_profile_release(&profile);
}

static void from_environment(struct store_config *storage)
{
	store_config_environment(storage, getenv);
	from_profile(&storage->s3);
}

void setup_storage_environment(struct store_config *storage)
{
	from_environment(storage);
	if (!storage->flinkfs)
		storage->flinkfs = setup_flinkfs_environment();
}

/* ---- all of it ---- */

/* "host:port" is https, as Flink's file systems take it; "http[s]://host[:port]" without a path. */
static int check_endpoint(char **slot, const char *from, struct err *err)
{
	cleanup_free char *given = *slot;
	char *host;
	size_t len;

	if (!given)
		return 0;
	*slot = strstr(given, "://") ? xstrdup(given) : xasprintf("https://%s", given);
	host = strstr(*slot, "://") + 3;
	len = strlen(host);
	while (len && host[len - 1] == '/')
		host[--len] = '\0';
	if ((strncasecmp(*slot, "http://", 7) != 0 && strncasecmp(*slot, "https://", 8) != 0) ||
	    !*host || strpbrk(host, "/?#@ \t\r\n"))
		return err_set(
			err, ERR_CONFIG, 0,
			"%s: the S3 endpoint must be http[s]://host[:port], without a user or a path",
			from);
	return 0;
}

int setup_storage(const struct config *config, const struct flink_conf *conf,
		  struct store_config *ret_storage, struct err *err)
{
	struct store_config storage = {0};
	int result = 0;

	if (from_config_s3(config, &storage.s3, err) < 0 ||
	    from_config_swift(config, &storage.swift, err) < 0)
		result = -1;
	if (result == 0)
		result = from_flink_buckets(config, conf, &storage, err);
	if (result == 0) {
		from_environment(&storage);
		result = check_endpoint(&storage.s3.endpoint, storage.s3.endpoint_from, err);
	}
	if (result < 0) {
		store_config_release(&storage);
		return -1;
	}
	*ret_storage = storage;
	return 0;
}
