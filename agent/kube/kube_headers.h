/*
 * kube_headers - the lines of a request that say who asks: a token, or a user and a password, and in whose name
 * (impersonation). All requests to the API server have them from here.
 *
 * Life cycle: kube_headers_begin() -> kube_headers_add()... -> the request -> kube_headers_release().
 *
 * Source: Kubernetes, "Authenticating": user impersonation; client-go transport/round_trippers.go.
 */
#ifndef DREY_KUBE_KUBE_HEADERS_H
#define DREY_KUBE_KUBE_HEADERS_H

#include <stddef.h>

#include "base/err.h"
#include "base/json.h"
#include "kube/kube_target.h"

#define KUBE_HEADERS_MAX 40

struct kube_headers {
	char *lines[KUBE_HEADERS_MAX]; /* owned */
	size_t count;
};

/* Of a target that kube_headers_check() has found good. The token may be NULL; it replaces user and password. */
void kube_headers_begin(struct kube_headers *headers, const struct kube_target *target,
			const char *token);
/* One more; at most two of them fit in any case. The line is taken over. */
void kube_headers_add(struct kube_headers *headers, char *line);
void kube_headers_release(struct kube_headers *headers); /* zeroed is allowed; zeroed afterwards */
/* As http.h wants them. */
const char *const *kube_headers_lines(const struct kube_headers *headers);

/* What kube_headers_begin() would send can be sent: not too many lines, none that would end early, none left out. ERR_CONFIG. */
int kube_headers_check(const struct kube_target *target, struct err *err);

/* --as and --as-group, member by member over what the kubeconfig says, as kubectl merges them: NULL, "" and none replace nothing.
 * kube_headers_check() judges the result. */
void kube_headers_as(struct kube_target *target, const char *user, const char *const *groups,
		     size_t count);

#endif
