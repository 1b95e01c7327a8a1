/*
 * kube_config - the API server's address and our identity: from the pod, or from a kubeconfig.
 *
 * Life cycle: kube_config_load() -> kube_new() copies it -> kube_config_release().
 *
 * Order: the kubeconfig that is named (drey.yaml), else $KUBECONFIG (several files, separated by
 * ':'), else the pod's service account. ~/.kube/config is not read: an unattended program must not
 * pick whichever cluster a person used last.
 *
 * Refused by name, never ignored: exec plugins, auth-provider, user name and password,
 * impersonation, insecure-skip-tls-verify, http:// to another host than this one, a missing CA in a
 * pod.
 *
 * Source: client-go rest/config.go (InClusterConfig), tools/clientcmd.
 */
#ifndef DREY_KUBE_KUBE_CONFIG_H
#define DREY_KUBE_KUBE_CONFIG_H

#include <stdbool.h>

#include "base/err.h"

#define KUBE_SERVICE_ACCOUNT_DIR "/var/run/secrets/kubernetes.io/serviceaccount"

/* All strings are owned; NULL: not given. */
struct kube_config {
	char *server;           /* "https://host:port", perhaps with a path; no '/' at the end */
	char *ca_file, *ca_pem; /* at most one; none: the system's CAs */
	char *token;            /* used until the file has been read, or without a file */
	char *token_file;       /* read again and again */
	char *cert_file, *key_file; /* of the client; both files or both texts */
	char *cert_pem, *key_pem;
	char *tls_server_name;
	char *proxy_url; /* NULL: no proxy, whatever the environment says */
	char *namespace; /* NULL: not known; set it before kube_new() */
	char *source;    /* for people: "the pod's service account", "context 'x' of FILE" */
};

/*
 * kubeconfig: a file, or NULL for the rest of the order above. Errors:
 *   ERR_ABSENT  no sign of a Kubernetes; the message lists what was tried
 *   ERR_CONFIG  something is refused, incomplete, or refers to what does not exist
 *   ERR_DENIED and others: a file exists and cannot be read
 */
int kube_config_load(const char *kubeconfig, struct kube_config *ret, struct err *err);

/* The same with another environment and service account directory, for tests. */
struct kube_config_world {
	char *(*get)(const char *name); /* getenv() */
	const char *service_account_dir;
};
int kube_config_load_in(const struct kube_config_world *world, const char *kubeconfig,
			struct kube_config *ret, struct err *err);

/* What must be true of every configuration, whatever its origin: kube_new() checks it.
 * ERR_CONFIG. */
int kube_config_check(const struct kube_config *config, struct err *err);

/* *to is overwritten. */
void kube_config_copy(struct kube_config *to, const struct kube_config *from);

void kube_config_release(struct kube_config *config); /* zeroed is allowed; zeroed afterwards */
#define cleanup_kube_config __attribute__((cleanup(kube_config_release)))

#endif
