/*
 * store_config - where the object stores are and how drey signs in to them.
 *
 * Filled by run/ (drey.yaml, Flink's own configuration) and from the environment; every member that
 * is NULL is determined by the store itself (docs/reference/storage.md has the order). Secrets exist only
 * here and in the stores: they are never part of a message.
 *
 * Life cycle: a zeroed struct is valid -> fill -> store_config_environment() -> store_open()... ->
 * store_config_release(). The struct owns its strings; a store borrows it while it is open.
 */
#ifndef DREY_STORE_STORE_CONFIG_H
#define DREY_STORE_STORE_CONFIG_H

enum s3_addressing {
	S3_ADDRESSING_AUTO,    /* virtual host on AWS, path style elsewhere */
	S3_ADDRESSING_PATH,    /* https://host/bucket/key */
	S3_ADDRESSING_VIRTUAL, /* https://bucket.host/key */
};

struct s3_config {
	char *endpoint;      /* "http[s]://host[:port]"; NULL: AWS, in `region` */
	char *endpoint_from; /* for messages: "s3.endpoint in config.yaml"; NULL: not told */
	char *region;        /* NULL: us-east-1 */
	enum s3_addressing addressing;
	char *access_key, *secret_key,
		*session_token; /* NULL: the chain of store/s3/s3_credentials.h */
	char *profile;          /* of the AWS files, and no other source; NULL: the usual order */
	char *ca_file;          /* PEM; NULL: the system's CAs */
};

struct swift_config {
	char *auth_url; /* Keystone "https://host:5000/v3" or tempauth "https://host/auth/v1.0" */
	char *auth_url_from, *storage_url_from;       /* as endpoint_from above */
	char *user, *password;                        /* tempauth: "account:user" and key */
	char *user_domain, *project, *project_domain; /* Keystone; domains: NULL is Default */
	char *application_credential_id, *application_credential_secret; /* instead of user */
	char *region;                                                    /* NULL: the only one */
	char *storage_url, *token; /* both: no sign-in at all */
	char *ca_file;
};

struct flinkfs;

struct store_config {
	struct s3_config s3;
	struct swift_config swift;
	struct flinkfs *flinkfs; /* for all other schemes (store/flinkfs/); NULL: they have none */
};

/* Fill members that are still NULL from the usual environment variables: AWS_ENDPOINT_URL_S3,
 * AWS_ENDPOINT_URL, AWS_REGION, AWS_DEFAULT_REGION, AWS_CA_BUNDLE; OS_* and ST_AUTH, ST_USER,
 * ST_KEY. S3 keys are not read here: they belong to the credential chain. What sets an endpoint is
 * noted in its ..._from. `get` is getenv() or a test's own. */
void store_config_environment(struct store_config *config, char *(*get)(const char *name));

/* Set an endpoint that is still NULL, and what it is from, "KEY in PLACE". NULL value: nothing. */
void store_config_endpoint(char **slot, char **from, const char *value, const char *key,
			   const char *place);

/* "URL (FROM)", for messages; just the URL if from is NULL. Caller frees. */
char *store_config_shown(const char *url, const char *from);

/* Without `flinkfs`, which has one owner. */
void store_config_copy(struct store_config *to, const struct store_config *from);
void store_config_release(struct store_config *config); /* NULL and zeroed are allowed */

#endif
