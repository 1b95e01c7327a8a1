#include "kube/kube_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/yaml.h"

#define PEM_MAX_BYTES (1u << 20)

/* ---- text to tree ---- */

static struct json *from_yaml(const struct yaml_node *node);

static void add_scalar(struct json *to, const struct yaml_node *node)
{
	if (yaml_is_null(node))
		json_add_null(to, node->key);
	else if (!node->quoted && (!strcmp(node->text, "true") || !strcmp(node->text, "false")))
		json_add_bool(to, node->key, node->text[0] == 't');
	else
		json_add_str(to, node->key, node->text);
}

/* A mapping or a sequence; as deep as yaml_parse() allows. */
static struct json *from_yaml(const struct yaml_node *node)
{
	struct json *to = node->kind == YAML_MAPPING ? json_object() : json_array();
	const struct yaml_node *child;

	yaml_each(child, node)
	{
		if (child->kind == YAML_SCALAR)
			add_scalar(to, child);
		else
			json_add(to, child->key, from_yaml(child));
	}
	return to;
}

struct json *kube_file_parse(const char *text, size_t len_bytes, struct err *err)
{
	const char *end = text + len_bytes, *begin = text;
	cleanup_yaml struct yaml_node *root = NULL;
	struct json *doc;

	while (begin < end && strchr(" \t\r\n", *begin) && *begin)
		begin++;
	if (begin < end && *begin == '{') {
		doc = json_parse(text, len_bytes, KUBE_FILE_MAX_BYTES, err);
		if (!doc && err && err->kind == ERR_FORMAT)
			err->kind = ERR_CONFIG;
		return doc;
	}
	root = yaml_parse(text, len_bytes, KUBE_FILE_MAX_BYTES, err);
	if (!root || yaml_want(root, YAML_MAPPING, err))
		return NULL;
	return from_yaml(root);
}

/* ---- the parts of a context ---- */

/* The part `item` of the element with that name in the array `list`, of the first file that has
 * it. */
static int find(const struct kube_file *files, size_t count, const char *list, const char *item,
		const char *name, const struct json **ret_item, const struct kube_file **ret_file,
		struct err *err)
{
	for (size_t i = 0; i < count; i++) {
		const struct json *entry, *found = NULL;

		json_each (entry, json_get(files[i].doc, list)) {
			const char *its = json_str(entry, "name");

			if (!its || strcmp(its, name) != 0)
				continue;
			if (found)
				return err_set(err, ERR_CONFIG, 0, "%s: %s '%.100s' occurs twice",
					       files[i].path, item, name);
			found = entry;
		}
		if (!found)
			continue;
		if (json_kind(json_get(found, item)) != JSON_OBJECT)
			return err_set(err, ERR_CONFIG, 0, "%s: %s '%.100s' is empty",
				       files[i].path, item, name);
		*ret_item = json_get(found, item);
		*ret_file = &files[i];
		return 0;
	}
	return err_set(err, ERR_CONFIG, 0, "there is no %s '%.100s'", item, name);
}

/* A text, or nothing; an empty one counts as nothing, as in kubectl. */
static int take_str(const struct json *from, const char *key, char **ret, struct err *err)
{
	const char *text = NULL;

	if (json_opt_str(from, key, &text, err) < 0)
		return -1;
	if (text && *text)
		xstrset(ret, text);
	return 0;
}

/* The same for a path: relative to the directory of its file. */
static int take_path(const struct kube_file *file, const struct json *from, const char *key,
		     char **ret, struct err *err)
{
	const char *slash = strrchr(file->path, '/');
	cleanup_free char *path = NULL;

	if (take_str(from, key, &path, err))
		return -1;
	if (!path)
		return 0;
	free(*ret);
	*ret = NULL;
	if (*path == '/' || !slash)
		xstrset(ret, path);
	else
		*ret = xasprintf("%.*s/%s", (int)(slash - file->path), file->path, path);
	return 0;
}

/* KEY-data, which wins, or KEY. */
static int take_pem(const struct kube_file *file, const struct json *from, const char *key,
		    char **ret_file, char **ret_pem, struct err *err)
{
	cleanup_free char *data_key = xasprintf("%s-data", key), *data = NULL;
	cleanup_buf struct buf pem = BUF_INIT;
	size_t len = 0;

	if (take_str(from, data_key, &data, err))
		return -1;
	if (!data)
		return take_path(file, from, key, ret_file, err);
	for (const char *p = data; *p; p++) /* a block of YAML has line breaks */
		if (!strchr(" \t\r\n", *p))
			data[len++] = *p;
	if (base64_decode(data, len, PEM_MAX_BYTES, &pem, err)) {
		if (err)
			err->kind = ERR_CONFIG;
		return err_wrap(err, "%s", data_key);
	}
	if (!strstr(buf_str(&pem), "-----BEGIN "))
		return err_set(err, ERR_CONFIG, 0, "%s: not PEM", data_key);
	*ret_pem = buf_steal(&pem);
	return 0;
}

/* What the cluster has for the program that logs in. */
static void take_login_config(const struct json *cluster, struct kube_target *config)
{
	cleanup_buf struct buf text = BUF_INIT;
	const struct json *each;

	json_each (each, json_get(cluster, "extensions")) {
		const char *name = json_str(each, "name");

		if (!name || strcmp(name, "client.authentication.k8s.io/exec") != 0 ||
		    !json_get(each, "extension") || config->login_config)
			continue;
		json_print(json_get(each, "extension"), &text);
		config->login_config = buf_steal(&text);
	}
}

static int take_cluster(const struct kube_file *file, const struct json *cluster,
			struct kube_target *config, struct err *err)
{
	size_t len;

	config->insecure = json_is_true(json_get(cluster, "insecure-skip-tls-verify"));
	if (take_str(cluster, "server", &config->server, err) ||
	    take_str(cluster, "tls-server-name", &config->tls_server_name, err) ||
	    take_str(cluster, "proxy-url", &config->proxy_url, err) ||
	    take_pem(file, cluster, "certificate-authority", &config->ca_file, &config->ca_pem,
		     err))
		return -1;
	if (!config->server)
		return err_set(err, ERR_CONFIG, 0, "no server");
	if (config->insecure && (config->ca_file || config->ca_pem))
		return err_set(
			err, ERR_CONFIG, 0,
			"certificate-authority and insecure-skip-tls-verify exclude each other");
	take_login_config(cluster, config);
	len = strlen(config->server);
	while (len && config->server[len - 1] == '/')
		config->server[--len] = '\0';
	return 0;
}

static int refuse_provider(const struct json *user, struct err *err)
{
	const struct json *provider = json_get(user, "auth-provider");
	const char *name = json_str(provider, "name");

	if (json_kind(provider) == JSON_NULL)
		return 0;
	return err_set(
		err, ERR_CONFIG, 0,
		"auth-provider '%.100s' is not accepted: kubectl has not known it since 1.26; use exec, a token, a tokenFile or a client certificate",
		name ? name : "");
}

/* Nothing, or a text, list or map without anything in it, which is nothing to kubectl. */
static bool is_empty(const struct json *value)
{
	return json_kind(value) == JSON_NULL || xstris(json_text(value), "") ||
	       (json_kind(value) >= JSON_ARRAY && !json_len(value));
}

/* In whose name; kube_headers_check() judges it. */
static void take_as(const struct json *user, struct kube_target *config)
{
	static const char *const keys[] = {"as", "as-uid", "as-groups", "as-user-extra"};
	cleanup_json struct json *as = json_object();
	cleanup_buf struct buf text = BUF_INIT;

	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (!is_empty(json_get(user, keys[i])))
			json_add(as, keys[i], json_copy(json_get(user, keys[i])));
	if (!json_len(as))
		return;
	json_print(as, &text);
	config->as = buf_steal(&text);
}

static int take_basic(const struct json *user, struct kube_target *config, struct err *err)
{
	if (take_str(user, "username", &config->username, err) ||
	    take_str(user, "password", &config->password, err))
		return -1;
	if (config->password && !config->username)
		return err_set(err, ERR_CONFIG, 0, "a password requires its username");
	if (config->username && (config->token || config->token_file))
		return err_set(err, ERR_CONFIG, 0, "a username and a token exclude each other");
	return 0;
}

/* One of a pair is in memory and the other in a file: load both into memory. */
static int read_half(char **file, char **pem, struct err *err)
{
	cleanup_buf struct buf text = BUF_INIT;

	if (!*file)
		return 0;
	if (fs_read(*file, PEM_MAX_BYTES, &text, err))
		return -1;
	xstrset(file, NULL);
	*pem = xstrdup(buf_str(&text));
	return 0;
}

/* As JSON; a command with a slash is relative to the file, as every path in it. */
static void take_login(const struct kube_file *file, const struct json *user,
		       struct kube_target *config)
{
	const char *slash = strrchr(file->path, '/');
	cleanup_json struct json *login = NULL;
	cleanup_buf struct buf text = BUF_INIT;
	const char *command;

	if (json_kind(json_get(user, "exec")) == JSON_NULL)
		return;
	login = json_copy(json_get(user, "exec"));
	command = json_str(login, "command");
	if (command && *command != '/' && strchr(command, '/') && slash) {
		cleanup_free char *path =
			xasprintf("%.*s/%s", (int)(slash - file->path), file->path, command);

		json_remove(login, "command");
		json_add_str(login, "command", path);
	}
	json_print(login, &text);
	config->login = buf_steal(&text);
}

static int take_user(const struct kube_file *file, const struct json *user,
		     struct kube_target *config, struct err *err)
{
	bool cert, key;

	if (refuse_provider(user, err) || take_str(user, "token", &config->token, err) ||
	    take_path(file, user, "tokenFile", &config->token_file, err) ||
	    take_basic(user, config, err) ||
	    take_pem(file, user, "client-certificate", &config->cert_file, &config->cert_pem,
		     err) ||
	    take_pem(file, user, "client-key", &config->key_file, &config->key_pem, err))
		return -1;
	take_as(user, config);
	take_login(file, user, config);
	if (config->login) /* it replaces what else is there */
		return 0;
	cert = config->cert_file || config->cert_pem;
	key = config->key_file || config->key_pem;
	if (cert != key)
		return err_set(
			err, ERR_CONFIG, 0,
			"a client certificate requires its key, and the key its certificate");
	if (cert && !config->cert_file != !config->key_file &&
	    (read_half(&config->cert_file, &config->cert_pem, err) ||
	     read_half(&config->key_file, &config->key_pem, err)))
		return -1;
	if (!cert && !config->token && !config->token_file && !config->username &&
	    !strncmp(config->server, "https:", 6))
		return err_set(err, ERR_CONFIG, 0, "neither a token nor a client certificate");
	return 0;
}

/* ---- all ---- */

static int select_into(const struct kube_file *files, size_t count, const char *current,
		       struct kube_target *config, struct err *err)
{
	const struct kube_file *file;
	const struct json *context, *item = NULL;
	cleanup_free char *name = NULL;

	for (size_t i = 0; i < count && (!current || !*current); i++)
		if (json_opt_str(files[i].doc, "current-context", &current, err) < 0)
			return err_wrap(err, "%s", files[i].path);
	if (!current || !*current)
		return err_set(err, ERR_CONFIG, 0, "no current-context");
	if (find(files, count, "contexts", "context", current, &context, &file, err))
		return -1;
	config->source = xasprintf("context '%.100s' of %s", current, file->path);
	if (take_str(context, "namespace", &config->namespace, err) ||
	    take_str(context, "cluster", &name, err))
		return err_wrap(err, "%s", config->source);
	if (!name)
		return err_set(err, ERR_CONFIG, 0, "%s: no cluster", config->source);
	if (find(files, count, "clusters", "cluster", name, &item, &file, err))
		return -1;
	if (take_cluster(file, item, config, err))
		return err_wrap(err, "%s: cluster '%.100s'", file->path, name);
	xstrset(&name, NULL);
	if (take_str(context, "user", &name, err))
		return err_wrap(err, "%s", config->source);
	item = NULL;
	if (name && find(files, count, "users", "user", name, &item, &file, err))
		return -1;
	if (take_user(file, item, config, err))
		return err_wrap(err, "%s: user '%.100s'", file->path, name ? name : "");
	return 0;
}

int kube_file_select(const struct kube_file *files, size_t count, const char *context,
		     struct kube_target *ret, struct err *err)
{
	struct kube_target config = {0};

	if (select_into(files, count, context, &config, err)) {
		if (err && err->kind == ERR_FORMAT)
			err->kind = ERR_CONFIG;
		kube_target_release(&config);
		return -1;
	}
	*ret = config;
	return 0;
}

static int load_file(struct kube_file *file, struct err *err)
{
	cleanup_buf struct buf text = BUF_INIT;

	if (fs_read(file->path, KUBE_FILE_MAX_BYTES, &text, err))
		return -1;
	file->doc = kube_file_parse(buf_str(&text), text.len_bytes, err);
	return file->doc ? 0 : err_wrap(err, "%s", file->path);
}

static int load_files(const char *list, struct kube_file *files, size_t *count, struct err *err)
{
	bool several = strchr(list, ':');

	for (const char *at = list; *at; at += strcspn(at, ":"), at += *at == ':') {
		struct err why = {0};

		if (*at == ':')
			continue;
		if (*count == KUBE_FILE_MAX)
			return err_set(err, ERR_CONFIG, 0, "more than %d files", KUBE_FILE_MAX);
		files[*count].path = xstrndup(at, strcspn(at, ":"));
		if (load_file(&files[*count], &why) == 0) {
			++*count;
			continue;
		}
		xstrset(&files[*count].path, NULL);
		if (several && why.kind == ERR_ABSENT)
			continue;
		if (why.kind == ERR_ABSENT) /* configured: this is not "no Kubernetes" */
			why.kind = ERR_CONFIG;
		return err_pass(err, &why);
	}
	return *count ? 0 : err_set(err, ERR_CONFIG, 0, "none of the files exists: %.300s", list);
}

int kube_file_load(const char *list, const char *context, struct kube_target *ret, struct err *err)
{
	struct kube_file files[KUBE_FILE_MAX] = {0};
	size_t count = 0;
	int rc = load_files(list, files, &count, err);

	if (!rc)
		rc = kube_file_select(files, count, context, ret, err);
	for (size_t i = 0; i < count; i++) {
		free(files[i].path);
		json_free(files[i].doc);
	}
	return rc ? err_wrap(err, "kubeconfig") : 0;
}
