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
	int64_t (*now_unix_ms)(void);
	int64_t process_timeout_ms; /* 0: the usual one */
	bool have_keys;    /* there are keys that are still valid: give up soon rather than late */
	char *passed_over; /* why a source that might have keys was skipped; may be NULL */
};

/*
 * One source: 1 and keys; 0: not configured; -1: configured, but it does not work. *ret_keys is the
 * caller's (s3_keys_release()).
 */
typedef int (*s3_source_fn)(struct s3_source_context *context, struct s3_keys *ret_keys,
			    struct err *err);

int s3_source_environment(struct s3_source_context *context, struct s3_keys *ret_keys,
			  struct err *err);
int s3_source_web_identity(struct s3_source_context *context, struct s3_keys *ret_keys,
			   struct err *err);
int s3_source_files(struct s3_source_context *context, struct s3_keys *ret_keys, struct err *err);
int s3_source_container(struct s3_source_context *context, struct s3_keys *ret_keys,
			struct err *err);
int s3_source_metadata(struct s3_source_context *context, struct s3_keys *ret_keys,
		       struct err *err);

/* A role, and what proves to STS that it may be assumed: a token, or keys. */
struct s3_role {
	const char *arn, *session_name; /* NULL: "drey" */
	const char *region;             /* NULL: from the environment and the configuration */
	const char *token_file;         /* a web identity; NULL: keys */
	const struct s3_keys *keys;
	const char *external_id, *duration_seconds; /* with keys; NULL: none */
};

/* The keys of the role. 0, or -1. */
int s3_role_keys(struct s3_source_context *context, const struct s3_role *role,
		 struct s3_keys *ret_keys, struct err *err);

/* One call of STS. */
struct s3_sts_call {
	const struct buf *form;
	const char *region, *role_arn; /* as above; the latter for messages */
	const struct s3_keys *keys;    /* to sign it with; NULL: it is not signed */
};

/* 0, or -1: the message has the role and STS's own words, which may contain what was sent. */
int s3_sts_keys(struct s3_source_context *context, const struct s3_sts_call *call,
		struct s3_keys *ret_keys, struct err *err);

/* Run `command` by a shell, and read the keys that it prints. 0, or -1. */
int s3_process_keys(struct s3_source_context *context, const char *command,
		    struct s3_keys *ret_keys, struct err *err);

/* What such a command prints: {"Version": 1, "AccessKeyId", "SecretAccessKey", "SessionToken",
 * "Expiration"}; the last two are optional. ERR_FORMAT; messages contain no part of it. */
int s3_keys_from_process(const char *text, size_t len_bytes, struct s3_keys *ret_keys,
			 struct err *err);

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
