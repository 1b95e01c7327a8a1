/*
 * kube_file - kubeconfig, the files that kubectl uses, in YAML or JSON; the part of them that
 * describes a server. Used by kube_find.c.
 *
 * Of several files, the first one that defines something wins (a context, a cluster, a user as a
 * whole, and the current context). A relative path in a file is relative to that file's directory.
 * Unknown members are ignored, except for those that say how to authenticate.
 *
 * Source: client-go tools/clientcmd/api/v1/types.go and its loader.
 */
#ifndef DREY_KUBE_KUBE_FILE_H
#define DREY_KUBE_KUBE_FILE_H

#include "base/json.h"
#include "kube/kube_target.h"

#define KUBE_FILE_MAX_BYTES (4u << 20)
#define KUBE_FILE_MAX       16

struct kube_file {
	char *path; /* for messages, and for relative paths */
	struct json *doc;
};

/* One file's text as JSON; scalars of YAML are strings, except true, false and null. ERR_CONFIG;
 * the caller frees with json_free(). */
struct json *kube_file_parse(const char *text, size_t len_bytes, struct err *err);

/* Evaluate a context, NULL: the current one. Reads a file only for a client certificate that is partly in the
 * kubeconfig and partly in a file. ERR_CONFIG. */
int kube_file_select(const struct kube_file *files, size_t count, const char *context,
		     struct kube_target *ret, struct err *err);

/* Read and select. `list` are paths separated by ':'; of several, those that do not exist are
 * ignored; it is ERR_CONFIG if none exists. */
int kube_file_load(const char *list, const char *context, struct kube_target *ret, struct err *err);

#endif
