/*
 * kube_login - the program that a kubeconfig names to log in (`exec`), for commands that a person runs:
 * cloud providers give people no other credential. The agent never runs one (kube_find.h).
 *
 * The program gets KUBERNETES_EXEC_INFO, with what the kubeconfig says of the cluster if it asks for that
 * (provideClusterInfo, which every kubeconfig of GKE has), standard error of the caller (it may print a link), and no input;
 * it answers with an ExecCredential on standard output: a token, or a certificate with its key.
 *
 * Source: client.authentication.k8s.io/v1 and v1beta1, client-go plugin/pkg/client/auth/exec.
 */
#ifndef DREY_KUBE_KUBE_LOGIN_H
#define DREY_KUBE_KUBE_LOGIN_H

#include "base/buf.h"
#include "base/json.h"
#include "kube/kube_target.h"

#define KUBE_LOGIN_MS        60000
#define KUBE_LOGIN_MAX_BYTES (1u << 20)

/* Run target->login and put what it answers into the target; blocks for at most KUBE_LOGIN_MS. ERR_CONFIG:
 * the description is wrong, or the program cannot be run; ERR_DENIED: it failed, or gave no credential. */
int kube_login(struct kube_target *target, struct err *err);

/* KUBERNETES_EXEC_INFO, appended; `login` is target->login. Reads the file of the CA: its errors. */
int kube_login_info(const struct kube_target *target, const struct json *login,
		    struct buf *ret_info, struct err *err);

/* What it answered: an ExecCredential. Pure. ERR_FORMAT. */
int kube_login_read(const char *text, size_t len_bytes, struct kube_target *ret, struct err *err);

#endif
