/*
 * kube_list - all objects of a collection, page by page: all of them, or none. It blocks: for lanes.
 */
#ifndef DREY_KUBE_KUBE_LIST_H
#define DREY_KUBE_KUBE_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/json.h"
#include "kube/kube.h"

struct kube_list {
	const char *
		collection; /* "/api/v1/namespaces/x/configmaps"; all namespaces: "/api/v1/configmaps" */
	const char *kind;            /* "ConfigMapList" */
	const char *label_selector;  /* "app=x,type=y"; NULL: all */
	int limit;                   /* objects of one page; fewer if a page is too large */
	size_t max_items, max_bytes; /* of all pages; more is ERR_FORMAT */
	bool *unknown; /* set if the API server does not know the resource (path_unknown); NULL: nobody asks */
};

/*
 * Read all pages, and then call each() for every object, borrowed for the call. A page that cannot be read
 * voids the whole list: each() is not called then. If the list expired between two pages (410), it starts
 * over, at most twice. Errors are those of kube_do(), and what each() returns (-1 with *err ends it).
 */
int kube_list(struct kube *kube, const struct kube_list *list,
	      int (*each)(void *ctx, const struct json *item, struct err *err), void *ctx,
	      struct err *err);

#endif
