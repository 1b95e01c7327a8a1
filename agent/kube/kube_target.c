#include "kube/kube_target.h"

#include <stdlib.h>
#include <string.h>

#include "base/http_url.h"
#include "base/mem.h"

#define LABEL_MAX_CHARS 63

void kube_target_release(struct kube_target *config)
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
	free(config->username);
	free(config->password);
	free(config->as);
	free(config->login);
	free(config->login_config);
	free(config->tls_server_name);
	free(config->proxy_url);
	free(config->namespace);
	free(config->source);
	*config = (struct kube_target){0};
}

void kube_target_copy(struct kube_target *to, const struct kube_target *from)
{
	*to = (struct kube_target){
		.server = xstrdup(from->server),
		.ca_file = xstrdup(from->ca_file),
		.ca_pem = xstrdup(from->ca_pem),
		.token = xstrdup(from->token),
		.token_file = xstrdup(from->token_file),
		.cert_file = xstrdup(from->cert_file),
		.key_file = xstrdup(from->key_file),
		.cert_pem = xstrdup(from->cert_pem),
		.key_pem = xstrdup(from->key_pem),
		.username = xstrdup(from->username),
		.password = xstrdup(from->password),
		.as = xstrdup(from->as),
		.login = xstrdup(from->login),
		.login_config = xstrdup(from->login_config),
		.insecure = from->insecure,
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

int kube_target_check_server(const char *server, struct err *err)
{
	bool secure = !strncmp(server, "https://", 8);
	cleanup_buf struct buf told = BUF_INIT;

	http_url_tell(server, &told);
	if (!secure && strncmp(server, "http://", 7) != 0)
		return err_set(err, ERR_CONFIG, 0, "server '%.200s' is not an https:// URL",
			       buf_str(&told));
	if (!secure && !http_url_is_loopback(server))
		return err_set(err, ERR_CONFIG, 0,
			       "server '%.200s': http:// would reveal the token to the network",
			       buf_str(&told));
	if (strpbrk(server, "?#@ \t\r\n") || server[strlen(server) - 1] == '/')
		return err_set(
			err, ERR_CONFIG, 0,
			"server '%.200s' is not a server's URL: user, query, fragment and a last slash do not belong there",
			buf_str(&told));
	return 0;
}

int kube_target_check(const struct kube_target *config, struct err *err)
{
	if (!config->server)
		return err_set(err, ERR_CONFIG, 0, "no server");
	if (kube_target_check_server(config->server, err))
		return -1;
	if (!config->namespace)
		return err_set(err, ERR_CONFIG, 0,
			       "no namespace: set kubernetes.namespace or POD_NAMESPACE");
	if (!is_label(config->namespace))
		return err_set(err, ERR_CONFIG, 0, "'%.80s' is not the name of a namespace",
			       config->namespace);
	return 0;
}
