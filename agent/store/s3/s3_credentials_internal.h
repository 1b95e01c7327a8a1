/*
 * s3_credentials_internal - what the sources of keys share; used by s3_credentials*.c only.
 */
#ifndef DREY_STORE_S3_CREDENTIALS_INTERNAL_H
#define DREY_STORE_S3_CREDENTIALS_INTERNAL_H

#include "base/buf.h"
#include "store/s3/s3_credentials.h"
#include "store/s3/s3_profile.h"

/* The environment, and notes of the sources before this one. */
struct s3_source_context {
	const struct s3_config *config;
	char *(*get)(const char *name);
	char *passed_over; /* why a source that might have keys was skipped; may be NULL */
};

/*
 * One source: 1 and keys; 0: not configured; -1: configured, but it does not work. *ret_keys is the
 * caller's (s3_keys_release()).
 */
typedef int (*s3_source_fn)(struct s3_source_context *context, struct s3_keys *ret_keys,
			    struct err *err);

int s3_source_web_identity(struct s3_source_context *context, struct s3_keys *ret_keys,
			   struct err *err);
int s3_source_files(struct s3_source_context *context, struct s3_keys *ret_keys, struct err *err);
int s3_source_container(struct s3_source_context *context, struct s3_keys *ret_keys,
			struct err *err);
int s3_source_metadata(struct s3_source_context *context, struct s3_keys *ret_keys,
		       struct err *err);

/* Trade a web identity token for keys at STS. region NULL: from the environment and the
 * configuration; session_name NULL: "drey". 0, or -1. */
struct s3_web_identity {
	const char *token_file, *role_arn, *session_name, *region;
};
int s3_web_identity_keys(struct s3_source_context *context, const struct s3_web_identity *identity,
			 struct s3_keys *ret_keys, struct err *err);

/* The variable without surrounding white space; NULL if unset or empty. Caller frees. */
char *s3_variable(const struct s3_source_context *context, const char *name);

/* A token from a file, without surrounding white space. ERR_CONFIG if it is empty. Caller wipes and
 * frees. */
int s3_token_read(const char *path, char **ret_token, struct err *err);

/* http_do(), up to `attempts` times while the server is busy or unavailable, with pauses. */
int s3_fetch(struct http *http, const struct http_request *request, int attempts,
	     struct http_response *response, struct err *err);

/* http_status_err(), except that a 404 is not absence: ERR_CONFIG. Returns -1. */
int s3_status_err(const struct http_request *request, const struct http_response *response,
		  struct err *err);

/* Keys from an answer, copied; session_token and expiration (RFC 3339) may be NULL. ERR_FORMAT. */
int s3_keys_take(const char *access_key, const char *secret_key, const char *session_token,
		 const char *expiration, struct s3_keys *ret_keys, struct err *err);

/* {"AccessKeyId", "SecretAccessKey", "Token", "Expiration"}, as instance metadata and the container
 * endpoint answer. ERR_FORMAT, ERR_DENIED; messages contain no part of the answer except "Code". */
int s3_keys_from_json(const char *text, size_t len_bytes, struct s3_keys *ret_keys,
		      struct err *err);

/* Cut the message where the secret begins: the server may have echoed the request. NULL is allowed.
 * Returns -1. */
int s3_hide(struct err *err, const char *secret);

/* Replace control characters by spaces; NULL is allowed. */
void s3_printable(char *text);

/* Wipe, then free. */
void s3_wipe(char **slot);
void s3_wipe_buf(struct buf *buf);
void s3_response_wipe(struct http_response *response);
void s3_keys_release(struct s3_keys *keys);

static inline void s3_wipep(char **slot)
{
	s3_wipe(slot);
}
#define cleanup_wipe     __attribute__((cleanup(s3_wipep)))
#define cleanup_wipe_buf __attribute__((cleanup(s3_wipe_buf)))

#endif
