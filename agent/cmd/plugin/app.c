#include "cmd/plugin/app.h"

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/yaml.h"
#include "kube/workload.h"

#define NO_DIRECTORY "/dev/null" /* a journal on this machine is not that of the cluster */
#define HTTP_PORT    8085

static void take_text(const struct yaml_node *map, const char *key, char **slot)
{
	const struct yaml_node *node = yaml_get(map, key);

	if (node && node->kind == YAML_SCALAR && *node->text)
		xstrset(slot, node->text);
}

void app_default(const char *name, struct config *ret_config)
{
	*ret_config = (struct config){.application = xstrdup(name),
				      .state_directory = xstrdup(NO_DIRECTORY),
				      .http.port = HTTP_PORT,
				      .kubernetes.enabled = KUBERNETES_TRUE};
}

int app_read(const char *yaml, struct config *ret_config, struct err *err)
{
	cleanup_yaml struct yaml_node *root = yaml_parse(yaml, strlen(yaml), CONFIG_MAX_BYTES, err);
	const struct yaml_node *kubernetes = yaml_get(root, "kubernetes");
	const struct yaml_node *port = yaml_get(yaml_get(root, "http"), "port");
	struct config config;

	if (!root)
		return -1;
	app_default(NULL, &config);
	take_text(root, "application", &config.application);
	take_text(kubernetes, "journal", &config.kubernetes.journal);
	take_text(kubernetes, "control", &config.kubernetes.control);
	take_text(kubernetes, "resource", &config.kubernetes.resource);
	take_text(kubernetes, "owner", &config.kubernetes.owner);
	if (port)
		(void)yaml_to_i64(port, &config.http.port, NULL);
	if (!config.application) {
		config_release(&config);
		return err_set(err, ERR_CONFIG, 0, "it has no application");
	}
	*ret_config = config;
	return 0;
}

/* ---- which one ---- */

static bool is_meant(const struct configmap *map, const char *name)
{
	const char *yaml = configmap_value(map, APP_KEY);
	cleanup_config struct config config = {0};

	if (!yaml)
		return false;
	if (xstris(json_str(map->labels, "app.kubernetes.io/instance"), name))
		return true;
	if (app_read(yaml, &config, NULL) < 0)
		return false;
	return !strcmp(config.application, name);
}

int app_choose(const struct configmap *maps, size_t count, const char *name,
	       const struct configmap **ret_map, struct err *err)
{
	cleanup_buf struct buf names = BUF_INIT;
	size_t found = 0;

	for (size_t i = 0; i < count; i++) {
		size_t len = strlen(maps[i].name), cut = strlen(APP_SUFFIX);

		if (!is_meant(&maps[i], name))
			continue;
		if (!found++)
			*ret_map = &maps[i];
		if (len > cut && !strcmp(maps[i].name + len - cut, APP_SUFFIX))
			len -= cut;
		buf_addf(&names, "%s%.*s", found > 1 ? ", " : "", (int)len, maps[i].name);
	}
	if (found > 1)
		return err_set(err, ERR_CONFIG, 0,
			       "'%s' is the release of several applications: %s; name one of them",
			       name, buf_str(&names));
	return (int)found;
}

int app_workload(const struct config *config, char **ret_workload, struct err *err)
{
	const char *owner = config->kubernetes.owner, *name;
	cleanup_free char *usual = xasprintf("deployment/%s-jobmanager", config->application);
	enum workload_kind kind;

	if (owner && !strcmp(owner, "none"))
		return err_set(
			err, ERR_CONFIG, 0,
			"the Deployment or Job of the JobManager is not known: kubernetes.owner is none");
	owner = owner ? owner : usual;
	if (workload_owner(owner, &kind, &name, err) < 0)
		return -1;
	*ret_workload = xstrdup(owner);
	return 0;
}
