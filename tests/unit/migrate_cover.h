/*
 * What always holds of a migration, for unit tests and the fuzz target: every value of the object is
 * below the path of an entry, and the printed values are read back as the same.
 */
#ifndef DREY_TESTS_UNIT_MIGRATE_COVER_H
#define DREY_TESTS_UNIT_MIGRATE_COVER_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/yaml.h"
#include "base/yaml_json.h"
#include "migrate/migrate.h"

#define COVER_PATH_BYTES 240 /* longer ones are cut in entries */

static inline bool cover_has(const struct migration *migration, const char *path)
{
	for (size_t i = 0; i < migration->entry_count; i++) {
		const char *entry = migration->entries[i].path;
		size_t len = strlen(entry);

		if (!strncmp(path, entry, len) && (!path[len] || strchr(".[", path[len])))
			return true;
	}
	return false;
}

/* The first value without an entry, as its path; false: there is none. */
static inline bool cover_misses(const struct migration *migration, const struct json *node,
				const char *path, char ret_path[COVER_PATH_BYTES])
{
	const struct json *child;
	enum json_kind kind = json_kind(node);
	int number = 0;

	if (kind != JSON_OBJECT && kind != JSON_ARRAY) {
		if (kind == JSON_NULL || cover_has(migration, path))
			return false;
		snprintf(ret_path, COVER_PATH_BYTES, "%s", path);
		return true;
	}
	json_each (child, node) {
		char at[COVER_PATH_BYTES];
		int len = json_name(child) ? snprintf(at, sizeof(at), "%s%s%s", path,
						      *path ? "." : "", json_name(child))
					   : snprintf(at, sizeof(at), "%s[%d]", path, number++);

		if (len < (int)sizeof(at) && cover_misses(migration, child, at, ret_path))
			return true;
	}
	return false;
}

/* Printed as YAML and read again it is the same JSON. */
static inline bool cover_reads_back(const struct json *doc)
{
	cleanup_buf struct buf yaml = BUF_INIT, before = BUF_INIT, after = BUF_INIT;
	cleanup_yaml struct yaml_node *root = NULL;
	cleanup_json struct json *read = NULL;

	yaml_json_print(doc, &yaml);
	root = yaml_parse(buf_str(&yaml), yaml.len_bytes, 16 << 20, NULL);
	read = root ? yaml_json_read(root, NULL) : NULL;
	json_print(doc, &before);
	json_print(read, &after);
	return read && !strcmp(buf_str(&before), buf_str(&after));
}

#endif
