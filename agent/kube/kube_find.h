/*
 * kube_find - the API server's address and our identity: from the pod, or from a kubeconfig.
 *
 * Order: the kubeconfig that is named (drey.yaml), else $KUBECONFIG (several files, separated by
 * ':'), else the pod's service account. ~/.kube/config is not read: an unattended program must not
 * pick whichever cluster a person used last.
 *
 * A program that logs in (`exec`), a user name with a password, and impersonation are for a person, and refused for the
 * agent. insecure-skip-tls-verify is for a caller that warns.
 *
 * Refused by name, never ignored: auth-provider, http:// to another host than this one, a missing CA in a
 * pod.
 *
 * Source: client-go rest/config.go (InClusterConfig), tools/clientcmd.
 */
#ifndef DREY_KUBE_KUBE_FIND_H
#define DREY_KUBE_KUBE_FIND_H

#include <stdbool.h>

#include "base/err.h"
#include "kube/kube_target.h"

#define KUBE_SERVICE_ACCOUNT_DIR "/var/run/secrets/kubernetes.io/serviceaccount"

/* Where to look; tests have another one. */
struct kube_world {
	char *(*get)(const char *name); /* getenv() */
	const char *service_account_dir;
	bool person; /* who runs this process: it may log in as people do */
	bool warns; /* the caller says that the certificate is not checked (kube_target.insecure) */
	const char *context; /* of the kubeconfig; NULL = the current one */
};

/*
 * kubeconfig: a file, or NULL for the rest of the order above. Errors:
 *   ERR_ABSENT  no sign of a Kubernetes; the message lists what was tried
 *   ERR_CONFIG  something is refused, incomplete, or refers to what does not exist
 *   ERR_DENIED and others: a file exists and cannot be read
 */
int kube_find(const struct kube_world *world, const char *kubeconfig, struct kube_target *ret,
	      struct err *err);

#endif
