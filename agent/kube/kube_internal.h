/*
 * kube_internal - what kube.c and kube_many.c share. Private to them.
 */
#ifndef DREY_KUBE_KUBE_INTERNAL_H
#define DREY_KUBE_KUBE_INTERNAL_H

#include "base/http.h"
#include "kube/kube.h"
#include "kube/kube_token.h"

struct kube {
	struct http *http;
	struct kube_token token;
	char *server, *namespace;
	int64_t bucket_milli, bucket_ms; /* thousandths of a request in it; as of when */
	uint64_t random;
};

/* How long until the bucket has a request, 0: now. With `take` the request is taken out in either
 * case. */
int64_t kube_bucket(struct kube *kube, bool take);

#endif
