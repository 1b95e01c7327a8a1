/* The tree of an accepted document is whole: places from 1, names where they belong, no twins. */
#include <stdlib.h>

#include "base/yaml.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t len_bytes);

static void check_node(const struct yaml_node *node, unsigned depth)
{
	const struct yaml_node *child;
	int64_t number;
	bool flag;

	if (!node->line || !node->column || depth > YAML_MAX_DEPTH)
		abort();
	if ((node->kind == YAML_SCALAR) != (node->text != NULL))
		abort();
	if (node->kind == YAML_SCALAR && node->first)
		abort();
	yaml_to_i64(node, &number, NULL);
	yaml_to_bool(node, &flag, NULL);
	yaml_to_duration(node, &number, NULL);
	yaml_each(child, node)
	{
		if ((node->kind == YAML_MAPPING) != (child->key != NULL))
			abort();
		if (child->key && yaml_get(node, child->key) != child)
			abort();
		check_node(child, depth + 1);
	}
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t len_bytes)
{
	struct err err = {0};
	cleanup_yaml struct yaml_node *root =
		yaml_parse((const char *)data, len_bytes, 1 << 16, &err);

	if (root)
		check_node(root, 1);
	else if (err.kind != ERR_CONFIG || !err.msg[0])
		abort();
	return 0;
}
