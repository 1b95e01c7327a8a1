/*
 * kube_client - what all parts of a process share of the API server: its address, our identity (the
 * token is read once for all), the rate, and the connections.
 *
 * Life cycle: kube_client_new() -> kube_open() for each part (kube.h) -> kube_client_free(); what it
 * holds is freed with the last of its parts. All functions may be called from any thread.
 *
 * A call of a part takes a connection for itself and gives it back at its end. So calls are
 * concurrent, a part that hangs holds one connection and delays no other part, and at rest one
 * connection serves all parts, one after another. Parts are few; each has one call at a time.
 */
#ifndef DREY_KUBE_KUBE_CLIENT_H
#define DREY_KUBE_KUBE_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/http.h"
#include "kube/kube_headers.h"
#include "kube/kube_target.h"

#define KUBE_CLIENT_IDLE_MAX 4      /* connections that are kept for later */
#define KUBE_CLIENT_IDLE_MS  100000 /* and for how long, while others are used */

struct kube_client;

/* Copies what it needs; does not connect. NULL: ERR_CONFIG (kube_target_check(), kube_headers_check()). */
struct kube_client *kube_client_new(const struct kube_target *config, struct err *err);
void kube_client_free(struct kube_client *client); /* NULL is allowed */

/* ---- for kube.c ---- */

struct kube_client *kube_client_share(struct kube_client *client); /* one more kube_client_free() */

const char *kube_client_namespace(const struct kube_client *client); /* borrowed */
const char *kube_client_server(const struct kube_client *client);    /* borrowed */

/* A connection that was used before, the last one first, or a new one. ERR_CONFIG. */
struct http *kube_client_take(struct kube_client *client, struct err *err);
void kube_client_give(struct kube_client *client, struct http *http); /* one that is not stopped */

/* The token as kube_token_get(); the caller frees. -1: ERR_DENIED. */
int kube_client_token(struct kube_client *client, char **ret_text, struct err *err);

/* Of a request with this token. The caller releases. */
void kube_client_headers(const struct kube_client *client, const char *token,
			 struct kube_headers *ret_headers);

/* After a 401: read it immediately. True if it is another one than the one that was used. */
bool kube_client_renew(struct kube_client *client, const char *used);

/* How long until the rate allows one more request, 0: now. With `take` it is counted in either case. */
int64_t kube_client_rate(struct kube_client *client, bool take);

#endif
