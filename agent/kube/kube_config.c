#include "kube/kube_config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/mem.h"
#include "kube/kubeconfig.h"

#define NAMESPACE_MAX_BYTES 4096
#define LABEL_MAX_CHARS     63

void kube_config_release(struct kube_config *config)
{
	free(config->server);
	free(config->ca_file);
	free(config->ca_pem);
	free(config->token);
	free(config->token_file);
	free(config->cert_file);
	free(config->key_file);
	free(config->cert_pem);
	free(config->key_pem);
	free(config->tls_server_name);
	free(config->proxy_url);
	free(config->namespace);
	free(config->source);
	*config = (struct kube_config){0};
}

void kube_config_copy(struct kube_config *to, const struct kube_config *from)
{
	*to = (struct kube_config){
		.server = xstrdup(from->server),
		.ca_file = xstrdup(from->ca_file),
		.ca_pem = xstrdup(from->ca_pem),
		.token = xstrdup(from->token),
		.token_file = xstrdup(from->token_file),
		.cert_file = xstrdup(from->cert_file),
		.key_file = xstrdup(from->key_file),
		.cert_pem = xstrdup(from->cert_pem),
		.key_pem = xstrdup(from->key_pem),
		.tls_server_name = xstrdup(from->tls_server_name),
		.proxy_url = xstrdup(from->proxy_url),
		.namespace = xstrdup(from->namespace),
		.source = xstrdup(from->source),
	};
}

/* ---- what must be true ---- */

/* RFC 1123 label: valid as a namespace. */
static bool is_label(const char *text)
{
	static const char alnum[] = "abcdefghijklmnopqrstuvwxyz0123456789";
	size_t len = strlen(text);

	return len && len <= LABEL_MAX_CHARS &&
	       strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-") == len &&
	       strchr(alnum, text[0]) && strchr(alnum, text[len - 1]);
}

static bool is_loopback(const char *host)
{
	static const char *const names[] = {"localhost", "127.0.0.1", "[::1]"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		size_t len = strlen(names[i]);

		if (!strncasecmp(host, names[i], len) &&
		    (!host[len] || host[len] == ':' || host[len] == '/'))
			return true;
	}
	return false;
}

static int check_server(const char *server, struct err *err)
{
	bool secure = !strncmp(server, "https://", 8);

	if (!secure && strncmp(server, "http://", 7) != 0)
		return err_set(err, ERR_CONFIG, 0, "server '%.200s' is not an https:// URL",
			       server);
	if (!secure && !is_loopback(server + 7))
		return err_set(err, ERR_CONFIG, 0,
			       "server '%.200s': http:// would reveal the token to the network",
			       server);
	if (strpbrk(server, "?#@ \t\r\n") || server[strlen(server) - 1] == '/')
		return err_set(err, ERR_CONFIG, 0, "server '%.200s' is not a server's URL", server);
	return 0;
}

int kube_config_check(const struct kube_config *config, struct err *err)
{
	if (!config->server)
		return err_set(err, ERR_CONFIG, 0, "no server");
	if (check_server(config->server, err))
		return -1;
	if (!config->namespace)
		return err_set(err, ERR_CONFIG, 0,
			       "no namespace: set kubernetes.namespace or POD_NAMESPACE");
	if (!is_label(config->namespace))
		return err_set(err, ERR_CONFIG, 0, "'%.80s' is not the name of a namespace",
			       config->namespace);
	return 0;
}

/* ---- in a pod ---- */

/* Fail with the error of stat(), or because a directory is in place of a file. */
static int need_file(const char *path, struct err *err)
{
	struct stat st;

	if (stat(path, &st))
		return err_set(err, err_kind_of_errno(errno), errno, "%s", path);
	if (S_ISDIR(st.st_mode))
		return err_set(err, ERR_CONFIG, 0, "%s is a directory", path);
	return 0;
}

static int read_namespace(const struct kube_config_world *world, char **ret_name, struct err *err)
{
	cleanup_free char *path = xasprintf("%s/namespace", world->service_account_dir);
	cleanup_buf struct buf text = BUF_INIT;
	const char *name = world->get("POD_NAMESPACE");
	struct err why = {0};

	if (name && *name) {
		*ret_name = xstrdup(name);
		return 0;
	}
	if (fs_read(path, NAMESPACE_MAX_BYTES, &text, &why)) {
		if (why.kind == ERR_ABSENT)
			return 0;
		if (err)
			*err = why;
		return -1;
	}
	name = buf_str(&text) + strspn(buf_str(&text), " \t\r\n");
	*ret_name = xstrndup(name, strcspn(name, " \t\r\n"));
	return 0;
}

static int load_pod(const struct kube_config_world *world, struct kube_config *config,
		    struct err *err)
{
	const char *host = world->get("KUBERNETES_SERVICE_HOST");
	const char *port = world->get("KUBERNETES_SERVICE_PORT");

	if (!host || !*host || !port || !*port)
		return err_set(
			err, ERR_ABSENT, 0,
			"not in a cluster (no KUBERNETES_SERVICE_HOST and _PORT), and no kubeconfig given");
	config->token_file = xasprintf("%s/token", world->service_account_dir);
	if (need_file(config->token_file, err))
		return err_wrap(
			err,
			"in a cluster, but without the service account's token (check automountServiceAccountToken)");
	config->ca_file = xasprintf("%s/ca.crt", world->service_account_dir);
	if (need_file(config->ca_file, err)) {
		if (err && err->kind == ERR_ABSENT)
			err->kind = ERR_CONFIG;
		return err_wrap(err, "the cluster's CA is required to trust its API server");
	}
	config->server =
		xasprintf(strchr(host, ':') ? "https://[%s]:%s" : "https://%s:%s", host, port);
	config->source = xstrdup("the pod's service account");
	return read_namespace(world, &config->namespace, err);
}

/* ---- all ---- */

int kube_config_load_in(const struct kube_config_world *world, const char *kubeconfig,
			struct kube_config *ret, struct err *err)
{
	struct kube_config config = {0};
	const char *list = kubeconfig ? kubeconfig : world->get("KUBECONFIG");
	int rc;

	if (list && *list)
		rc = kubeconfig_load(list, &config, err);
	else
		rc = load_pod(world, &config, err);
	if (!rc && config.server)
		rc = check_server(config.server, err);
	if (rc) {
		kube_config_release(&config);
		return err_wrap(err, "Kubernetes");
	}
	*ret = config;
	return 0;
}

int kube_config_load(const char *kubeconfig, struct kube_config *ret, struct err *err)
{
	static const struct kube_config_world world = {getenv, KUBE_SERVICE_ACCOUNT_DIR};

	return kube_config_load_in(&world, kubeconfig, ret, err);
}
