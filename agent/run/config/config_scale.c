#include "run/config/config_scale.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kube/kube.h"

#define NONE "none"

void config_scale_free(struct kube_scale_target *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(list[i].name);
	free(list);
}

static int parse_object_name(const struct yaml_node *node, const char *key, const char **ret_name,
			     struct err *err)
{
	const char *name;

	if (node->kind != YAML_SCALAR || yaml_is_null(node) || yaml_to_str(node, &name, err) < 0)
		return yaml_err(node, err, "'%s': a name must be a string", key);
	if (kube_check_name(name, NULL) < 0 || strlen(name) > CONFIG_SCALE_NAME_MAX)
		return yaml_err(
			node, err,
			"'%s' must name a Kubernetes object: 1 to %d characters a-z, 0-9, '-' or '.', not '%s'",
			key, CONFIG_SCALE_NAME_MAX, name);
	*ret_name = name;
	return 0;
}

static int parse_kind(const struct yaml_node *node, const char *key, enum kube_scale_kind *ret_kind,
		      struct err *err)
{
	for (int i = 0; kube_scale_kinds[i]; i++)
		if (node->kind == YAML_SCALAR && node->text &&
		    strcmp(node->text, kube_scale_kinds[i]) == 0) {
			*ret_kind = (enum kube_scale_kind)i;
			return 0;
		}
	return yaml_err(node, err, "'%s': kind must be Deployment or StatefulSet", key);
}

/* The name is borrowed from the node. */
static int parse_target(const struct yaml_node *node, const char *key,
			enum kube_scale_kind *ret_kind, const char **ret_name, struct err *err)
{
	const struct yaml_node *member;
	bool has_kind = false, has_name = false;

	if (node->kind != YAML_MAPPING)
		return yaml_err(
			node, err,
			"each element of '%s' must be a map, such as {kind: StatefulSet, name: taskmanager}",
			key);
	yaml_each(member, node)
	{
		if (strcmp(member->key, "kind") == 0) {
			has_kind = true;
			if (parse_kind(member, key, ret_kind, err) < 0)
				return -1;
		} else if (strcmp(member->key, "name") == 0) {
			has_name = true;
			if (parse_object_name(member, key, ret_name, err) < 0)
				return -1;
		} else {
			return yaml_err_key(member, err,
					    "'%s': unknown member '%s'; known members: kind, name",
					    key, member->key);
		}
	}
	if (!has_kind || !has_name)
		return yaml_err(node, err, "'%s': an element has no %s", key,
				has_kind ? "name" : "kind");
	return 0;
}

static int parse_targets(const struct yaml_node *node, const char *key,
			 struct kube_scale_target *list, size_t *count, struct err *err)
{
	const struct yaml_node *element;

	yaml_each(element, node)
	{
		enum kube_scale_kind kind = KUBE_SCALE_DEPLOYMENT;
		const char *name = NULL;

		if (parse_target(element, key, &kind, &name, err) < 0)
			return -1;
		if (*count == CONFIG_SCALE_MAX)
			return yaml_err(element, err, "'%s' has more than %d objects", key,
					CONFIG_SCALE_MAX);
		for (size_t i = 0; i < *count; i++)
			if (list[i].kind == kind && strcmp(list[i].name, name) == 0)
				return yaml_err(element, err, "'%s' names the %s '%s' twice", key,
						kube_scale_kinds[kind], name);
		list[(*count)++] = (struct kube_scale_target){.kind = kind, .name = xstrdup(name)};
	}
	return 0;
}

int config_scale_parse(const struct yaml_node *node, const char *key,
		       struct kube_scale_target **ret_list, size_t *ret_count, struct err *err)
{
	struct kube_scale_target *list = xcalloc(CONFIG_SCALE_MAX, sizeof(*list));
	const char *name = NULL;
	size_t count = 0;
	int rc;

	if (node->kind == YAML_SEQUENCE) {
		rc = parse_targets(node, key, list, &count, err);
	} else if (node->kind == YAML_MAPPING) {
		rc = yaml_err(node, err,
			      "'%s' must be the name of a Deployment, or a list of {kind, name}",
			      key);
	} else {
		rc = parse_object_name(node, key, &name, err);
		if (rc == 0 && strcmp(name, NONE) != 0)
			list[count++] = (struct kube_scale_target){.name = xstrdup(name)};
	}
	if (rc < 0) {
		config_scale_free(list, count);
		return -1;
	}
	*ret_list = list;
	*ret_count = count;
	return 0;
}
