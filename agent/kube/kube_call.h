/*
 * kube_call - what the requests for each kind of object share: the path, and what of an answer is
 * handed out.
 */
#ifndef DREY_KUBE_KUBE_CALL_H
#define DREY_KUBE_KUBE_CALL_H

#include "kube/kube.h"

/* "API/namespaces/NAMESPACE/KINDS", or "API/KINDS" for NULL: of all namespaces; the caller frees. */
char *kube_call_collection(const char *api, const char *namespace, const char *kinds);

/* The path of one of them, with `rest` at its end; the caller frees. NULL: ERR_CONFIG, not a name. */
char *kube_call_path(const struct kube *kube, const char *api, const char *kinds, const char *name,
		     const char *rest, struct err *err);

/* Do it, when only what was learned counts and not the object. -1 for a NULL path, with what kube_call_path() has said. */
int kube_call_send(struct kube *kube, const struct kube_request *request,
		   struct kube_answer *answer, struct err *err);

/* Is this object of that kind and name? *ret_metadata and *ret_uid: of it, borrowed. */
int kube_call_identify(const struct json *object, const char *kind, const char *name,
		       const struct json **ret_metadata, const char **ret_uid, struct err *err);

/* Hand out what was learned, without the object; to NULL: forget it. *from is empty afterwards. */
void kube_call_tell(struct kube_answer *from, struct kube_answer *to);

#endif
