/*
 * kube_internal - what kube.c and kube_many.c share; for nobody else.
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

/* How long until a request is in the bucket, 0: now. With `take` it is taken out all the same. */
int64_t kube_bucket(struct kube *kube, bool take);

#endif
