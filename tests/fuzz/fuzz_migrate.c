/*
 * Whatever a file of the operator contains: no value of the object is left out silently, the printed
 * values are read back as the same, and an error says something.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "tests/unit/migrate_cover.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t len_bytes);

static const struct json *find_object(const struct json *documents,
				      const struct migration *migration)
{
	const struct json *document, *item;

	json_each (document, documents) {
		const struct json *name = json_get(json_get(document, "metadata"), "name");

		if (xstris(json_str(document, "kind"), migration->kind) &&
		    xstris(json_text(name), migration->name) && json_get(document, "spec"))
			return document;
		json_each (item, json_get(document, "items"))
			if (xstris(json_str(item, "kind"), migration->kind))
				return NULL;
	}
	return NULL;
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t len_bytes)
{
	struct migrate_wish wish = {NULL, len_bytes % 7 ? NULL : "file:///flink/state"};
	struct migration migration = {0};
	struct err err = {0};
	cleanup_yaml struct yaml_node *root =
		yaml_parse_all((const char *)data, len_bytes, 1 << 16, &err);
	cleanup_json struct json *documents = root ? yaml_json_read(root, &err) : NULL;
	char missed[COVER_PATH_BYTES];

	if (documents && !cover_reads_back(documents))
		abort();
	if (!documents || migrate(documents, &wish, &migration, &err)) {
		if (err.kind != ERR_CONFIG || !err.msg[0])
			abort();
		return 0;
	}
	if (!json_str(json_get(migration.values, "state"), "uri") ||
	    !cover_reads_back(migration.values))
		abort();
	if (find_object(documents, &migration) &&
	    cover_misses(&migration, find_object(documents, &migration), "", missed))
		abort();
	for (size_t i = 0; i < migration.entry_count; i++)
		if (!migration.entries[i].path || !migration.entries[i].text)
			abort();
	migration_release(&migration);
	return 0;
}
