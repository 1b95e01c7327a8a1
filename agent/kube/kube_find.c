#include "kube/kube_find.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/mem.h"
#include "kube/kube_file.h"
#include "kube/kube_login.h"

#define NAMESPACE_MAX_BYTES 4096

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

static int read_namespace(const struct kube_world *world, char **ret_name, struct err *err)
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
		return err_pass(err, &why);
	}
	name = buf_str(&text) + strspn(buf_str(&text), " \t\r\n");
	*ret_name = xstrndup(name, strcspn(name, " \t\r\n"));
	return 0;
}

static int load_pod(const struct kube_world *world, struct kube_target *config, struct err *err)
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

static int refuse_program(const struct kube_target *config, struct err *err)
{
	cleanup_json struct json *login =
		json_parse(config->login, strlen(config->login), KUBE_LOGIN_MAX_BYTES, NULL);
	const char *name = json_str(login, "command");

	return err_set(
		err, ERR_CONFIG, 0,
		"%s: exec plugin '%.100s' is not accepted: the agent runs no programs to log in; use a token, a tokenFile or a client certificate",
		config->source, name ? name : "");
}

/* What only a person may use, and what only a caller that warns. */
static int refuse_some(const struct kube_world *world, const struct kube_target *config,
		       struct err *err)
{
	if (config->insecure && !world->warns)
		return err_set(
			err, ERR_CONFIG, 0,
			"%s: insecure-skip-tls-verify is not accepted: set the cluster's CA in certificate-authority",
			config->source);
	if (world->person)
		return 0;
	if (config->login)
		return refuse_program(config, err);
	if (config->username || config->as)
		return err_set(
			err, ERR_CONFIG, 0,
			"%s: '%s' is not accepted: the agent has an account of its own; use a token, a tokenFile or a client certificate",
			config->source, config->as ? "as" : "username");
	return 0;
}

int kube_find(const struct kube_world *world, const char *kubeconfig, struct kube_target *ret,
	      struct err *err)
{
	struct kube_target config = {0};
	const char *list = kubeconfig ? kubeconfig : world->get("KUBECONFIG");
	int rc;

	if (list && *list)
		rc = kube_file_load(list, world->context, &config, err);
	else
		rc = load_pod(world, &config, err);
	if (!rc)
		rc = refuse_some(world, &config, err);
	if (!rc && config.login)
		rc = kube_login(&config, err);
	if (!rc && config.server)
		rc = kube_target_check_server(config.server, err);
	if (rc) {
		kube_target_release(&config);
		return err_wrap(err, "Kubernetes");
	}
	*ret = config;
	return 0;
}
