/*
 * kube_token - the bearer token, which the kubelet writes anew long before it ends.
 *
 * Life cycle: kube_token_init() -> kube_token_get() before each request -> kube_token_release().
 *
 * The file is read again when the last reading is KUBE_TOKEN_MAX_AGE_MS old, or when it is another
 * file or was written since (it is a symbolic link whose target is exchanged: stat, not lstat). A
 * file that cannot be read, is empty or no token at all leaves the old token in use.
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
	char *file; /* NULL: `text` is all there is, perhaps NULL */
	char *text;
	int64_t read_ms; /* last try; 0: never */
	struct stat seen;
};

/* Copies; both may be NULL. Reads nothing. */
void kube_token_init(struct kube_token *token, const char *text, const char *file);
void kube_token_release(struct kube_token *token);

/*
 * The token to use now, borrowed until the next call; *ret_text is NULL when there is to be none.
 * -1 (ERR_DENIED) when there is a file and it has never given one.
 */
int kube_token_get(struct kube_token *token, int64_t now_ms, const char **ret_text,
		   struct err *err);

/* After a 401: read at once. True when the token is another one now. */
bool kube_token_refresh(struct kube_token *token, int64_t now_ms);

#endif
