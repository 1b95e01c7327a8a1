/*
 * workload - the owner of our pod, read by name: a Deployment of apps/v1 or a Job of batch/v1. And
 * one condition of its status that is ours; the controllers of Kubernetes preserve conditions that
 * they do not know.
 *
 * Life cycle: workload_get() -> workload_release(). It blocks: for lanes.
 *
 * Source: k8s.io/api apps/v1 DeploymentCondition, batch/v1 JobCondition (lists that are merged by type).
 */
#ifndef DREY_KUBE_WORKLOAD_H
#define DREY_KUBE_WORKLOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "kube/kube.h"

/* Annotation of the pod template, or of the object itself, that names the generation. */
#define WORKLOAD_GENERATION "drey.dev/generation"

/* Annotation of the pod template alone: changes with everything that a new pod would read. */
#define WORKLOAD_CHECKSUM "checksum/drey"

/* Type of the condition. */
#define WORKLOAD_CONDITION "drey.dev/Ready"

/* Another one: the journal of the application has the mark of its ConfigMap (map_mark.h). Only an account that may change
 * this object's status can say that, and nobody can who may only create objects. */
#define WORKLOAD_JOURNAL_MARKED "drey.dev/JournalMarked"

enum workload_kind {
	WORKLOAD_DEPLOYMENT,
	WORKLOAD_JOB,
};

/*
 * Take apart "deployment/NAME" or "job/NAME"; *ret_name is borrowed from `owner`. ERR_CONFIG: it is neither, or NAME
 * is not that of an object, so it must not become a word of a command line or of a path.
 */
int workload_owner(const char *owner, enum workload_kind *ret_kind, const char **ret_name,
		   struct err *err);

struct workload_condition {
	const char *type;                /* for writing; NULL: WORKLOAD_CONDITION */
	char *status, *reason, *message; /* NULL: none, or not given */
	int64_t since_unix_ms;           /* its last transition; 0 = not given */
	int64_t updated_unix_ms;         /* for writing */
};

void workload_condition_release(struct workload_condition *condition); /* zeroed is allowed */

struct workload {
	char *uid;                       /* never NULL in what was read */
	struct workload_condition ready; /* ours, as written before */
	bool journal_marked;             /* the condition is there, and True */
	bool deleting, suspended;
	int64_t created_unix_ms; /* by the API server's clock; -1 = not known */
	int64_t replicas;        /* desired; 1 for a Job */
	char *generation;        /* NULL: not given */
	char *checksum;          /* of its pods now; NULL: not given */
};

void workload_release(struct workload *workload); /* zeroed is allowed */
#define cleanup_workload __attribute__((cleanup(workload_release)))

/* ERR_FORMAT: not an object of that kind and name. */
int workload_decode(const struct json *object, enum workload_kind kind, const char *name,
		    struct workload *ret, struct err *err);

/* Errors are those of kube_do(); ERR_ABSENT: there is none of that name. `answer` may be NULL; else
 * zeroed before the first use: kube_answer_release(). */
int workload_get(struct kube *kube, enum workload_kind kind, const char *name, int64_t timeout_ms,
		 struct workload *ret, struct kube_answer *answer, struct err *err);

/* As the API server gives it; the caller frees. */
int workload_get_object(struct kube *kube, enum workload_kind kind, const char *name,
			struct json **ret_object, struct err *err);

/* The pods that a workload creates now. The strings are borrowed from it. */
struct workload_wants {
	bool known;             /* false: neither is, or it does not name a generation */
	bool none;              /* it is being deleted, suspended or scaled to zero */
	const char *generation; /* NULL: `none`, or not known */
	const char *checksum;   /* NULL: the same, or not given */
};

/* workload NULL: it could not be read. What does not exist wants none: an empty one with `deleting`. */
struct workload_wants workload_wants(const struct workload *workload);

/*
 * Add our condition of this type, or replace its previous value; all others stay as they are. Only on the object
 * with this uid: another one of the same name refuses it (ERR_BUSY or ERR_CONFIG, so read it
 * again). Other errors as for workload_get().
 */
int workload_apply_condition(struct kube *kube, enum workload_kind kind, const char *name,
			     const char *uid, const struct workload_condition *condition,
			     struct kube_answer *answer, struct err *err);

#endif
