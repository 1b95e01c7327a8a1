#include "kube/kube_login.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/child_output.h"
#include "base/fs.h"
#include "base/mem.h"

#define INFO "KUBERNETES_EXEC_INFO"

/* Strings are owned; `list` is NULL or NULL-terminated. As many as there are: the kernel has a limit, and says so. */
struct words {
	char **list;
	size_t count;
};

static void words_release(struct words *words)
{
	for (size_t i = 0; i < words->count; i++)
		free(words->list[i]);
	free(words->list);
}

static void words_take(struct words *words, char *word)
{
	words->list = xreallocarray(words->list, words->count + 2, sizeof(*words->list));
	words->list[words->count++] = word;
	words->list[words->count] = NULL;
}

/* Is there a variable of the name that this one has? */
static bool words_name(const struct words *words, const char *variable)
{
	size_t len = strcspn(variable, "=");

	for (size_t i = 0; i < words->count; i++)
		if (!strncmp(words->list[i], variable, len) && words->list[i][len] == '=')
			return true;
	return false;
}

static int check_version(const struct json *login, struct err *err)
{
	const char *version = json_str(login, "apiVersion");

	if (!version || (strcmp(version, "client.authentication.k8s.io/v1") != 0 &&
			 strcmp(version, "client.authentication.k8s.io/v1beta1") != 0))
		return err_set(err, ERR_CONFIG, 0, "apiVersion '%.80s' is not supported",
			       version ? version : "");
	return 0;
}

static int take_arguments(const struct json *login, const char *command, struct words *argv,
			  struct err *err)
{
	const struct json *each;

	words_take(argv, xstrdup(command));
	json_each (each, json_get(login, "args")) {
		if (!json_text(each))
			return err_set(err, ERR_CONFIG, 0, "args: not a list of strings");
		words_take(argv, xstrdup(json_text(each)));
	}
	return 0;
}

/* Of one cluster: what a kubeconfig says of it, and the CA itself. */
static int add_cluster(const struct kube_target *target, struct json *spec, struct err *err)
{
	cleanup_json struct json *config = NULL;
	cleanup_buf struct buf file = BUF_INIT, ca = BUF_INIT;
	struct json *cluster;

	if (target->ca_file && fs_read(target->ca_file, KUBE_LOGIN_MAX_BYTES, &file, err) < 0)
		return -1;
	cluster = json_add_object(spec, "cluster");
	json_add_str(cluster, "server", target->server);
	json_add_str_opt(cluster, "tls-server-name", target->tls_server_name);
	if (target->insecure)
		json_add_bool(cluster, "insecure-skip-tls-verify", true);
	if (target->ca_pem)
		buf_addstr(&file, target->ca_pem);
	if (file.len_bytes) {
		base64_encode(buf_str(&file), file.len_bytes, &ca);
		json_add_str(cluster, "certificate-authority-data", buf_str(&ca));
	}
	json_add_str_opt(cluster, "proxy-url", target->proxy_url);
	if (target->login_config)
		config = json_parse(target->login_config, strlen(target->login_config),
				    KUBE_LOGIN_MAX_BYTES, NULL);
	if (config)
		json_add(cluster, "config", json_copy(config));
	return 0;
}

int kube_login_info(const struct kube_target *target, const struct json *login,
		    struct buf *ret_info, struct err *err)
{
	cleanup_json struct json *info = json_object();
	struct json *spec;

	json_add_str(info, "apiVersion", json_str(login, "apiVersion"));
	json_add_str(info, "kind", "ExecCredential");
	spec = json_add_object(info, "spec");
	json_add_bool(spec, "interactive", false);
	if (json_bool_or(login, "provideClusterInfo", false) && add_cluster(target, spec, err) < 0)
		return -1;
	json_print(info, ret_info);
	return 0;
}

/* That of this process, without what is set here. */
static int take_environment(const struct kube_target *target, const struct json *login,
			    struct words *env, struct err *err)
{
	cleanup_buf struct buf info = BUF_INIT;
	const struct json *each;

	json_each (each, json_get(login, "env")) {
		const char *name = json_str(each, "name"), *value = json_str(each, "value");

		if (!name || !*name || !value || strchr(name, '='))
			return err_set(err, ERR_CONFIG, 0, "env: not a list of names and values");
		words_take(env, xasprintf("%s=%s", name, value));
	}
	if (kube_login_info(target, login, &info, err) < 0)
		return -1;
	words_take(env, xasprintf(INFO "=%s", buf_str(&info)));
	/* of two variables with one name, some programs take the first one, others the last */
	for (size_t i = 0; environ[i]; i++)
		if (!words_name(env, environ[i]))
			words_take(env, xstrdup(environ[i]));
	return 0;
}

static int run_login(const struct json *login, struct words *argv, struct words *env,
		     struct buf *output, struct err *err)
{
	const char *hint = json_str(login, "installHint");
	struct child_call call = {.path = argv->list[0],
				  .argv = argv->list,
				  .env = env->list,
				  .timeout_ms = KUBE_LOGIN_MS,
				  .keep_bytes = KUBE_LOGIN_MAX_BYTES,
				  .only_output = true};
	int status;

	if (child_output(&call, output, &status, err) < 0)
		return -1;
	if (status == 127)
		return err_set(err, ERR_CONFIG, 0, "the program was not found%s%.200s",
			       hint ? ": " : "", hint ? hint : "");
	if (status)
		return err_set(err, ERR_DENIED, 0, "it ended with status %d", status);
	return 0;
}

int kube_login_read(const char *text, size_t len_bytes, struct kube_target *ret, struct err *err)
{
	cleanup_json struct json *doc = json_parse(text, len_bytes, KUBE_LOGIN_MAX_BYTES, err);
	const struct json *status = json_get(doc, "status");
	const char *token = json_str(status, "token");
	const char *cert = json_str(status, "clientCertificateData");
	const char *key = json_str(status, "clientKeyData");

	if (!doc)
		return err_wrap(err, "its answer");
	if (!json_str(doc, "kind") || strcmp(json_str(doc, "kind"), "ExecCredential") != 0)
		return err_set(err, ERR_FORMAT, 0, "its answer is not an ExecCredential");
	if (!cert != !key)
		return err_set(err, ERR_FORMAT, 0,
			       "its answer has a certificate without its key, or a key alone");
	if (!cert && (!token || !*token))
		return err_set(err, ERR_FORMAT, 0,
			       "its answer has neither a token nor a certificate");
	for (const char *at = token; at && *at; at++)
		if (*at <= ' ' || *at >= 0x7f)
			return err_set(err, ERR_FORMAT, 0,
				       "its answer has something else than a token");
	xstrset(&ret->token, token);
	xstrset(&ret->cert_pem, cert);
	xstrset(&ret->key_pem, key);
	return 0;
}

int kube_login(struct kube_target *target, struct err *err)
{
	cleanup_json struct json *login =
		json_parse(target->login, strlen(target->login), KUBE_LOGIN_MAX_BYTES, err);
	const char *command = json_str(login, "command");
	struct words argv = {0}, env = {0};
	cleanup_buf struct buf output = BUF_INIT;
	int result = -1;

	if (!login || !command || !*command)
		return err_set(err, ERR_CONFIG, 0, "exec: no command");
	if (check_version(login, err) == 0 && take_arguments(login, command, &argv, err) == 0 &&
	    take_environment(target, login, &env, err) == 0 &&
	    run_login(login, &argv, &env, &output, err) == 0)
		result = kube_login_read(buf_str(&output), output.len_bytes, target, err);
	words_release(&argv);
	words_release(&env);
	if (result < 0)
		return err_wrap(err, "exec plugin '%.100s'", command);
	xstrset(&target->login, NULL);
	return 0;
}
