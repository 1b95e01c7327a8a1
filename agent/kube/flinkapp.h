/*
 * flinkapp - our custom resource, FlinkApplication of drey.dev/v1 (chart/drey-crds): its spec is
 * read, its status is written.
 *
 * Life cycle: flinkapp_get(kube, name, &app, &answer, err) -> flinkapp_release(). All of it blocks:
 * for lanes. Errors are those of kube_do(). ERR_ABSENT: there is no such object. ERR_CONFIG with
 * answer->path_unknown: the definition is not installed.
 *
 * Source: Kubernetes API conventions, server-side apply; apiextensions (status subresource).
 */
#ifndef DREY_KUBE_FLINKAPP_H
#define DREY_KUBE_FLINKAPP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "kube/kube.h"

#define FLINKAPP_API_VERSION "drey.dev/v1"
#define FLINKAPP_KIND        "FlinkApplication"
#define FLINKAPP_MANAGER     "drey" /* owns the fields of the status */

struct flinkapp {
	char *name, *uid, *resource_version; /* never NULL in what was read */
	int64_t generation;                  /* rises with every change of the spec; never 0 */
	bool deleting;
	struct json *spec;        /* NULL: none */
	struct json *annotations; /* object; NULL: none */
	struct json *conditions;  /* of its status; NULL: none */
};

void flinkapp_release(struct flinkapp *app); /* zeroed is allowed; zeroed afterwards */
#define cleanup_flinkapp __attribute__((cleanup(flinkapp_release)))

/* Decode one object, of which it takes copies. ERR_FORMAT. */
int flinkapp_decode(const struct json *object, const char *name, struct flinkapp *ret,
		    struct err *err);

/* `answer` may be NULL; else zeroed before the first use: kube_answer_release(). */
int flinkapp_get(struct kube *kube, const char *name, struct flinkapp *ret,
		 struct kube_answer *answer, struct err *err);

/* Its status as drey wrote it: the document of `drey status --json`; NULL: none yet. The caller frees. */
int flinkapp_get_status(struct kube *kube, const char *name, struct json **ret_status,
			struct kube_answer *answer, struct err *err);

/* All of a namespace, or of all of them (NULL), as kube_list(). -1 with *ret_unknown: the definition is not installed. */
int flinkapp_list(struct kube *kube, const char *namespace, bool *ret_unknown,
		  int (*each)(void *ctx, const struct json *item, struct err *err), void *ctx,
		  struct err *err);

/* A merge patch (RFC 7386) of anything but the status; repeated when the outcome is unknown. */
int flinkapp_patch(struct kube *kube, const char *name, const struct json *merge_patch,
		   struct err *err);

/*
 * Server-side apply of the whole status, by force: members of the previous status that this one
 * lacks are removed. `uid`: only to this very object; another one of the same name is ERR_BUSY.
 * *ret_version is the resulting resourceVersion, unchanged if the status is; the caller frees.
 */
int flinkapp_apply_status(struct kube *kube, const char *name, const char *uid,
			  const struct json *status, char **ret_version, struct kube_answer *answer,
			  struct err *err);

/* The path of all of a namespace, or of all namespaces (NULL); the caller frees. */
char *flinkapp_collection(const char *namespace);

#endif
