/*
 * s3_credentials - keys for S3, found as by the AWS SDKs, renewed before they expire.
 *
 * Order, first one that is configured wins (and must then work: a broken one is an error, not a
 * reason to try the next): the keys of struct s3_config, or the profile that it names and then no
 * other source; AWS_ACCESS_KEY_ID and
 * AWS_SECRET_ACCESS_KEY (AWS_SESSION_TOKEN); web identity (AWS_WEB_IDENTITY_TOKEN_FILE and
 * AWS_ROLE_ARN, through STS); the shared files (AWS_SHARED_CREDENTIALS_FILE, ~/.aws/credentials,
 * ~/.aws/config, AWS_PROFILE); the container endpoint (AWS_CONTAINER_CREDENTIALS_FULL_URI with its
 * token file: EKS pod identity; AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: ECS); instance metadata
 * (IMDSv2 only). None: ERR_CONFIG, naming all of them.
 *
 * A profile has keys, or a program that prints them (credential_process), or a role: by a web
 * identity, or by the keys of another profile (source_profile, at most S3_MAX_ROLES roles in a row)
 * or of one of the other sources (credential_source).
 *
 * Life cycle: s3_credentials_new() -> s3_credentials_get() before each request ->
 * s3_credentials_free(). One thread at a time. No secret is ever part of a message.
 */
#ifndef DREY_STORE_S3_CREDENTIALS_H
#define DREY_STORE_S3_CREDENTIALS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/http.h"
#include "store/store_config.h"

struct s3_keys {
	char *access_key, *secret_key;
	char *session_token;     /* NULL: none */
	int64_t expires_unix_ms; /* 0: never */
};

struct s3_credentials;

/* Its environment; tests supply their own. `get` is getenv(), now_unix_ms the clock, base
 * URLs override the well-known addresses (NULL: the real ones; AWS_ENDPOINT_URL_STS and
 * AWS_EC2_METADATA_SERVICE_ENDPOINT are honoured as by the SDKs). */
struct s3_credentials_env {
	char *(*get)(const char *name);
	int64_t (*now_unix_ms)(void);
	int64_t process_timeout_ms; /* of a credential_process; 0: S3_PROCESS_TIMEOUT_MS */
};
#define S3_PROCESS_TIMEOUT_MS 30000 /* 10 s while the keys before it are valid */
#define S3_MAX_ROLES          5

/* NULL env: the real one. Nothing is read yet. config is borrowed. */
struct s3_credentials *s3_credentials_new(const struct s3_config *config,
					  const struct s3_credentials_env *env);
void s3_credentials_free(struct s3_credentials *credentials); /* NULL is allowed */

/* The keys, fetched or renewed when needed; borrowed until the next call. *ret_keys NULL members
 * never happen. ERR_CONFIG, ERR_DENIED, ERR_RETRY say which source and what is wrong with it. */
int s3_credentials_get(struct s3_credentials *credentials, const struct s3_keys **ret_keys,
		       struct err *err);

/* The store has refused them as expired or unknown: fetch new ones at the next get. True if that
 * can give other keys. */
bool s3_credentials_refused(struct s3_credentials *credentials);

/* "environment", "web identity", ...; "" before the first get. */
const char *s3_credentials_source(const struct s3_credentials *credentials);

#endif
