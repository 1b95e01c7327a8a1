/*
 * What holds of every migration; what becomes of each field is in tests/fixtures/migrate, and
 * tests/contract/test_migrate.sh compares it.
 */
#include "migrate/migrate.h"

#include <string.h>

#include "base/fs.h"
#include "base/mem.h"
#include "tap.h"
#include "tests/unit/migrate_cover.h"

#define FIXTURES "tests/fixtures/migrate/"

static struct json *load(const char *name)
{
	cleanup_free char *path = xasprintf(FIXTURES "%s.yaml", name);
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_yaml struct yaml_node *root = NULL;

	CHECK(!fs_read(path, 1 << 20, &text, NULL));
	root = yaml_parse_all(buf_str(&text), text.len_bytes, 1 << 20, NULL);
	CHECK(root);
	return yaml_json_read(root, NULL);
}

TEST(no_value_of_an_object_is_left_out_silently)
{
	static const char *const names[] = {"basic", "checkpoint-ha",   "claim",    "pod-template",
					    "tls",   "bluegreen-state", "every-key"};
	static const struct migrate_wish wish;

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		cleanup_json struct json *documents = load(names[i]);
		struct migration migration = {0};
		char missed[COVER_PATH_BYTES] = "";

		CHECK(!migrate(documents, &wish, &migration, NULL));
		cover_misses(&migration, json_at(documents, 0), "", missed);
		CHECK_STR(missed, "");
		CHECK(cover_reads_back(migration.values));
		migration_release(&migration);
	}
}

TEST(nor_is_one_of_an_item_of_a_list)
{
	cleanup_json struct json *documents = load("all-fields");
	static const struct migrate_wish wish = {"team-a/orders", "file:///flink/state"};
	struct migration migration = {0};
	char missed[COVER_PATH_BYTES] = "";

	CHECK(!migrate(documents, &wish, &migration, NULL));
	CHECK_STR(migration.kind, "FlinkDeployment");
	CHECK_STR(migration.namespace, "team-a");
	cover_misses(&migration, json_at(json_get(json_at(documents, 0), "items"), 0), "", missed);
	CHECK_STR(missed, "");
	CHECK_STR(json_str(json_get(migration.values, "state"), "uri"), "file:///flink/state");
	migration_release(&migration);
}

TEST(nothing_is_returned_on_failure)
{
	cleanup_json struct json *documents = load("session");
	static const struct migrate_wish wish;
	struct migration migration = {0};
	struct err err = {0};

	CHECK_INT(migrate(documents, &wish, &migration, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_CONFIG);
	CHECK(!migration.values && !migration.entries && !migration.name);
}

TEST(every_outcome_has_a_name)
{
	CHECK_STR(migrate_outcome_name(MIGRATE_DECIDE), "decide");
	CHECK_STR(migrate_outcome_name(MIGRATE_NOT_NEEDED), "not-needed");
	CHECK_STR(migrate_outcome_name(MIGRATE_OUTCOME_COUNT), "unknown");
}
