/*
 * configmap - ConfigMaps of the client's namespace: read, listed, created, patched, deleted.
 *
 * Life cycle: configmap_get(kube, name, &map, err) -> configmap_release(). All of it blocks: for
 * lanes. Errors are those of kube_do(), and ERR_FORMAT for an answer that is not the requested
 * ConfigMap. In every function `answer` may be NULL; else it must be zeroed before the first use,
 * and it has more details than the error (reason, Retry-After, maybe_done, the server's clock); the
 * caller owns it, without its object: kube_answer_release().
 */
#ifndef DREY_KUBE_CONFIGMAP_H
#define DREY_KUBE_CONFIGMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "kube/kube.h"

#define CONFIGMAP_API   "/api/v1"
#define CONFIGMAP_KINDS "configmaps"

#define CONFIGMAP_MANAGER "drey" /* owns the fields that are applied */

#define CONFIGMAP_LIST_LIMIT     100         /* of one page */
#define CONFIGMAP_LIST_MAX       20000       /* of all pages */
#define CONFIGMAP_LIST_MAX_BYTES (64u << 20) /* idem */

struct configmap {
	char *name, *uid, *resource_version; /* never NULL in what was read */
	struct json *data;                   /* object of strings; never NULL in what was read */
	struct json *annotations, *labels;   /* objects of strings; NULL: none */
	struct json *owners;                 /* metadata.ownerReferences; NULL: none */
	bool deleting;                       /* metadata.deletionTimestamp is set */
	bool immutable;                      /* data can no longer be changed */
	int64_t created_unix_ms;             /* -1: not known */
	/* the last change of anything, by the API server's clock (metadata.managedFields); -1: not known */
	int64_t changed_unix_ms;
	bool applied; /* drey has applied something to it (configmap_apply()) */
};

void configmap_release(struct configmap *map); /* zeroed is allowed; zeroed afterwards */
#define cleanup_configmap __attribute__((cleanup(configmap_release)))

/* A value of data; NULL if absent; borrowed. */
const char *configmap_value(const struct configmap *map, const char *key);

/* The path of all of a namespace, or of all namespaces (NULL); the caller frees. */
char *configmap_collection(const char *namespace);

/* Decode one object, of which it takes a copy. `name` NULL: any. ERR_FORMAT. */
int configmap_decode(const struct json *object, const char *name, struct configmap *ret,
		     struct err *err);

/* Only ERR_ABSENT means that it does not exist. */
int configmap_get(struct kube *kube, const char *name, struct configmap *ret,
		  struct kube_answer *answer, struct err *err);

/* The same, where its absence is no error. 1: *ret is it; 0: it does not exist; -1: neither is known. */
int configmap_find(struct kube *kube, const char *name, struct configmap *ret,
		   struct kube_answer *answer, struct err *err);

/*
 * Those of the given names, KUBE_IN_FLIGHT at a time. each() is called once for every index, in any
 * order, with the map (it may take over the contents, and zero it), or with the error that
 * configmap_get() would give: ERR_ABSENT for one that does not exist. -1 with *err ends the whole
 * call.
 */
int configmap_get_many(struct kube *kube, const char *const *names, size_t count,
		       int (*each)(void *ctx, size_t index, struct configmap *map,
				   const struct err *why, struct err *err),
		       void *ctx, struct err *err);

/*
 * All of a label selector ("app=x,type=y"; NULL: all), page by page, and then each(). A page that
 * cannot be read voids the whole list: each() is not called then. If the list expired between two
 * pages (410), it starts over, at most twice. each() gets a map that is borrowed for the call; -1
 * with *err ends the whole call.
 */
int configmap_list(struct kube *kube, const char *label_selector,
		   int (*each)(void *ctx, const struct configmap *map, struct err *err), void *ctx,
		   struct err *err);

/* Labels of one that drey makes for an application; component: "journal", ... The caller owns it. */
struct json *configmap_labels(const char *application, const char *component);

/* Name, data, labels, annotations and owners are taken from `map`. If it exists: ERR_BUSY with the
 * reason "AlreadyExists". *ret (may be NULL) is the resulting object. */
int configmap_create(struct kube *kube, const struct configmap *map, struct configmap *ret,
		     struct kube_answer *answer, struct err *err);

/* A merge patch (RFC 7386; null deletes). metadata.resourceVersion in it makes it compare-and-swap:
 * "Conflict" then. Without it, the request is repeated when the outcome is unknown. */
int configmap_patch(struct kube *kube, const char *name, const struct json *merge_patch,
		    struct configmap *ret, struct kube_answer *answer, struct err *err);

/*
 * Server-side apply as CONFIGMAP_MANAGER: metadata of it, with name, uid and resourceVersion. The API server
 * records in metadata.managedFields who has applied which field, and a PUT of the whole map that leaves these fields as they are
 * leaves the record, although it takes all else away. Takes `metadata`. "Conflict" as for a patch.
 */
int configmap_apply(struct kube *kube, const char *name, struct json *metadata,
		    struct configmap *ret, struct kube_answer *answer, struct err *err);

/* The same of the metadata of one that was listed. */
bool configmap_was_applied(const struct json *metadata);

/* Only if it is this one: uid and resource_version are preconditions (ERR_BUSY "Conflict"); NULL:
 * any. */
int configmap_delete(struct kube *kube, const char *name, const char *uid,
		     const char *resource_version, struct kube_answer *answer, struct err *err);

#endif
