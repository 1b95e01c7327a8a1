/*
 * kube_target - which API server to speak to, and as whom.
 *
 * Life cycle: kube_find() -> kube_client_new() copies it -> kube_target_release().
 *
 * Refused by name, never ignored: http:// to another host than this one. More is refused where the
 * target is read (kube_find.h, kube_file.h).
 */
#ifndef DREY_KUBE_KUBE_TARGET_H
#define DREY_KUBE_KUBE_TARGET_H

#include <stdbool.h>

#include "base/err.h"

#define KUBE_AS_MAX_BYTES (64u << 10)

/* All strings are owned; NULL: not given. */
struct kube_target {
	char *server;           /* "https://host:port", perhaps with a path; no '/' at the end */
	char *ca_file, *ca_pem; /* at most one; none: the system's CAs */
	char *token;            /* used until the file has been read, or without a file */
	char *token_file;       /* read again and again */
	char *cert_file, *key_file; /* of the client; both files or both texts */
	char *cert_pem, *key_pem;
	char *username, *password; /* instead of a token */
	/* in whose name: JSON with `as`, `as-uid`, `as-groups` and `as-user-extra` of a kubeconfig; kube_headers.h */
	char *as;
	/* the program that gives a token or a certificate, and what the cluster has for it, as JSON (`exec` and the extension
	 * client.authentication.k8s.io/exec of a kubeconfig): kube_login.h */
	char *login, *login_config;
	bool insecure; /* the server's certificate is not checked; kube_find() says for whom */
	char *tls_server_name;
	char *proxy_url; /* NULL: no proxy, whatever the environment says */
	char *namespace; /* NULL: not known; set it before kube_client_new() */
	char *source;    /* for people: "the pod's service account", "context 'x' of FILE" */
};

/* What must be true of every target, whatever its origin: kube_client_new() checks it. ERR_CONFIG. */
int kube_target_check(const struct kube_target *target, struct err *err);

/* The same of its server alone. */
int kube_target_check_server(const char *server, struct err *err);

/* *to is overwritten. */
void kube_target_copy(struct kube_target *to, const struct kube_target *from);

void kube_target_release(struct kube_target *target); /* zeroed is allowed; zeroed afterwards */
#define cleanup_kube_target __attribute__((cleanup(kube_target_release)))

#endif
