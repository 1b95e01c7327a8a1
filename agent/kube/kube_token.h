/*
 * kube_token - the bearer token, which the kubelet renews long before it expires.
 *
 * Life cycle: kube_token_init() -> kube_token_get() before each request -> kube_token_release().
 *
 * The file is read again when the last reading is KUBE_TOKEN_MAX_AGE_MS old, or when the file was
 * replaced or written since (it is a symbolic link whose target is exchanged: stat, not lstat). If
 * the file cannot be read, is empty or not a token, the old token stays in use.
 *
 * Source: client-go transport/token_source.go.
 */
#ifndef DREY_KUBE_KUBE_TOKEN_H
#define DREY_KUBE_KUBE_TOKEN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/err.h"

#define KUBE_TOKEN_MAX_AGE_MS 50000
#define KUBE_TOKEN_MAX_BYTES  65536

struct kube_token {
	char *file; /* NULL: only `text`, which may be NULL */
	char *text;
	int64_t read_ms; /* last try; 0: never */
	struct stat seen;
};

/* Copies; both may be NULL. Reads nothing. */
void kube_token_init(struct kube_token *token, const char *text, const char *file);
void kube_token_release(struct kube_token *token);

/*
 * The token to use now, borrowed until the next call; *ret_text is NULL if none is configured. -1
 * (ERR_DENIED) if the file has never contained one.
 */
int kube_token_get(struct kube_token *token, int64_t now_ms, const char **ret_text,
		   struct err *err);

/* After a 401: read it immediately. True if the token has changed. */
bool kube_token_refresh(struct kube_token *token, int64_t now_ms);

#endif
