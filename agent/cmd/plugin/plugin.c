#include "cmd/plugin/plugin.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cmd/plugin/app.h"
#include "kube/configmap.h"
#include "kube/flinkapp.h"
#include "kube/kube.h"
#include "kube/kube_find.h"
#include "kube/kube_headers.h"
#include "run/config/config.h"

#define JOURNAL_SUFFIX "-drey-journal"

bool plugin_is_called(const char *argv0)
{
	const char *slash = argv0 ? strrchr(argv0, '/') : NULL;

	return xstris(slash ? slash + 1 : argv0, PLUGIN_NAME);
}

/* ---- the API server ---- */

/* As kubectl: --kubeconfig, $KUBECONFIG, ~/.kube/config if it exists; NULL: the Pod's own account. The caller frees. */
static char *kubeconfig_of(const struct cli *cli)
{
	const char *given = cli_value(cli, "kubeconfig"), *list = getenv("KUBECONFIG");
	const char *home = getenv("HOME");
	char *path;

	if (given || (list && *list))
		return xstrdup(given ? given : list);
	path = home ? xasprintf("%s/.kube/config", home) : NULL;
	if (path && access(path, F_OK) == 0)
		return path;
	free(path);
	return NULL;
}

static bool has_option(const struct cli *cli, const char *name)
{
	const struct cli_option *option = cli->command->options;

	while (option->name && strcmp(option->name, name) != 0)
		option++;
	return option->name;
}

static void take_as(const struct cli *cli, struct kube_target *target)
{
	const char *groups[CLI_MAX_REPEATS];
	size_t count = cli_values(cli, "as-group", groups);

	kube_headers_as(target, cli_value(cli, "as"), groups, count);
}

int plugin_target(const struct cli *cli, struct kube_target *ret_target, struct err *err)
{
	struct kube_world world = {.get = getenv,
				   .service_account_dir = KUBE_SERVICE_ACCOUNT_DIR,
				   .person = true,
				   .warns = true,
				   .context = cli_value(cli, "context")};
	cleanup_free char *kubeconfig = kubeconfig_of(cli);
	const char *namespace = has_option(cli, "namespace") ? cli_value(cli, "namespace") : NULL;

	if (namespace && kube_check_name(namespace, NULL) < 0)
		return err_set(err, ERR_CONFIG, 0, "--namespace: '%.80s' is not a namespace",
			       namespace);
	if (kube_find(&world, kubeconfig, ret_target, err) < 0)
		return -1;
	if (ret_target->insecure)
		out_put(cli->err, "%s: warning: %s: the API server's certificate is not checked\n",
			PLUGIN_PROGRAM, ret_target->source);
	take_as(cli, ret_target);
	if (namespace)
		xstrset(&ret_target->namespace, namespace);
	else if (!ret_target->namespace)
		xstrset(&ret_target->namespace, "default");
	return 0;
}

/* ---- the application ---- */

static int read_map(const struct configmap *map, struct config *ret_config, struct err *err)
{
	const char *yaml = configmap_value(map, APP_KEY);

	if (!yaml)
		return err_set(err, ERR_CONFIG, 0,
			       "ConfigMap %s has no key " APP_KEY ": it is not one of the chart",
			       map->name);
	if (app_read(yaml, ret_config, err) < 0)
		return err_wrap(err, "ConfigMap %s, " APP_KEY, map->name);
	return 0;
}

struct maps {
	struct configmap *list;
	size_t count;
};

static int keep_map(void *ctx, const struct configmap *map, struct err *err)
{
	struct maps *maps = ctx;

	(void)err;
	if (!configmap_value(map, APP_KEY))
		return 0;
	maps->list = xreallocarray(maps->list, maps->count + 1, sizeof(*maps->list));
	maps->list[maps->count++] = (struct configmap){.name = xstrdup(map->name),
						       .data = json_copy(map->data),
						       .labels = json_copy(map->labels)};
	return 0;
}

/* The application has another name than its release. 1: found, 0: there is none. */
static int find_by_label(struct kube *kube, const char *name, struct config *ret_config,
			 struct err *err)
{
	const struct configmap *map = NULL;
	struct maps maps = {0};
	int found = configmap_list(kube, PLUGIN_CHART_MAPS, keep_map, &maps, err);

	if (found == 0)
		found = app_choose(maps.list, maps.count, name, &map, err);
	if (map && read_map(map, ret_config, err) < 0)
		found = -1;
	for (size_t i = 0; i < maps.count; i++)
		configmap_release(&maps.list[i]);
	free(maps.list);
	return found;
}

/* It was not deployed by the chart: 1: it has run, or has a custom resource; 0: neither. */
static int find_by_default(struct kube *kube, const char *name, struct config *ret_config,
			   struct err *err)
{
	cleanup_free char *journal = xasprintf("%s" JOURNAL_SUFFIX, name);
	cleanup_configmap struct configmap map = {0};
	cleanup_kube_answer struct kube_answer answer = {0};
	struct flinkapp app = {0};
	struct err why = {0};
	int found = 0;

	if (configmap_get(kube, journal, &map, NULL, &why) == 0) {
		found = 1;
	} else if (why.kind != ERR_ABSENT) {
		found = -1;
	} else if (flinkapp_get(kube, name, &app, &answer, &why) == 0) {
		flinkapp_release(&app);
		found = 1;
	} else if (why.kind != ERR_ABSENT && !answer.path_unknown) {
		found = -1;
	}
	if (found > 0)
		app_default(name, ret_config);
	else if (found < 0 && err)
		*err = why;
	return found;
}

static int find_app(struct kube *kube, const char *name, struct config *ret_config, struct err *err)
{
	cleanup_free char *map_name = xasprintf("%s" APP_SUFFIX, name);
	cleanup_configmap struct configmap map = {0};
	struct err why = {0}, denied = {0};
	int found;

	if (configmap_get(kube, map_name, &map, NULL, &why) == 0)
		return read_map(&map, ret_config, err);
	if (why.kind != ERR_ABSENT) {
		*err = why;
		return -1;
	}
	found = find_by_label(kube, name, ret_config, &denied);
	if (found < 0 && denied.kind != ERR_DENIED) {
		*err = denied;
		return -1;
	}
	if (found <= 0)
		found = find_by_default(kube, name, ret_config, err);
	if (found > 0)
		return 0;
	if (found < 0)
		return -1;
	if (denied.kind)
		return err_set(
			err, ERR_DENIED, 0,
			"there is no ConfigMap %s in namespace %s, and others could not be searched: %s",
			map_name, kube_namespace(kube), denied.msg);
	return err_set(
		err, ERR_ABSENT, 0,
		"there is no application '%s' in namespace %s; list them with `kubectl drey list -A`",
		name, kube_namespace(kube));
}

int plugin_config(const struct cli *cli, struct config *ret_config, struct err *err)
{
	const char *name = cli->args[0];
	struct kube_target *target;
	struct config config = {0};
	struct kube *kube;
	int rc;

	if (kube_check_name(name, err) < 0)
		return -1;
	target = xcalloc(1, sizeof(*target));
	if (plugin_target(cli, target, err) < 0) {
		free(target);
		return -1;
	}
	kube = kube_new(target, err);
	rc = kube ? find_app(kube, name, &config, err) : -1;
	kube_free(kube);
	if (rc == 0) {
		config.kubernetes.target = target;
		*ret_config = config;
		return 0;
	}
	kube_target_release(target);
	free(target);
	return -1;
}
