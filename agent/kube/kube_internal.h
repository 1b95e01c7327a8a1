/*
 * kube_internal - what kube.c and kube_many.c share. Private to them.
 */
#ifndef DREY_KUBE_KUBE_INTERNAL_H
#define DREY_KUBE_KUBE_INTERNAL_H

#include <pthread.h>

#include "kube/kube.h"

struct kube {
	struct kube_client *client;
	pthread_mutex_t lock; /* the rest */
	struct http *http;    /* the connection of the call under way; NULL: there is none */
	bool stopped;
};

/* Begin a call: *ret_http is its connection until kube_end(). -1 (ERR_RETRY): stopped. */
int kube_begin(struct kube *kube, struct http **ret_http, struct err *err);
void kube_end(struct kube *kube);

#endif
