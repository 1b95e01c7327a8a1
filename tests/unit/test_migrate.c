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

/* The values of a deployment with this Pod template, and this line in Flink's configuration. */
static struct json *values_of(const char *spec, const char *line)
{
	static const struct migrate_wish wish;
	cleanup_free char *text =
		xasprintf("apiVersion: flink.apache.org/v1beta1\nkind: FlinkDeployment\n"
			  "metadata: {name: orders}\nspec:\n  image: r.example/orders:1\n"
			  "  flinkVersion: v2_2\n  flinkConfiguration: {a: b%s}\n"
			  "  podTemplate: {spec: %s}\n"
			  "  job: {jarURI: 'local:///opt/flink/usrlib/o.jar', parallelism: 1}\n",
			  line, spec);
	cleanup_yaml struct yaml_node *root = yaml_parse_all(text, strlen(text), 1 << 20, NULL);
	cleanup_json struct json *documents = yaml_json_read(root, NULL);
	struct migration migration = {0};
	struct err err = {0};
	struct json *values;

	if (!CHECK_INT(migrate(documents, &wish, &migration, &err), ==, 0))
		tap_note("%s", err.msg);
	values = json_copy(migration.values);
	migration_release(&migration);
	return values;
}

TEST(every_pull_secret_is_in_the_values)
{
	static const struct {
		const char *spec, *line, *all, *own;
	} rows[] = {
		{"{imagePullSecrets: [{name: c}]}", "", "[\"c\"]", NULL},
		/* Flink adds those of its configuration to those of the Pod template */
		{"{imagePullSecrets: [{name: c}, {name: a}]}",
		 ", kubernetes.container.image.pull-secrets: 'a;b'", "[\"a\",\"b\",\"c\"]", NULL},
		{"{imagePullSecrets: [{}, {name: c}, d]}", "", "[\"c\"]", "[{},\"d\"]"},
		{"{imagePullSecrets: c}", "", NULL, "\"c\""},
		{"{imagePullSecrets: {name: c}}", "", NULL, "{\"name\":\"c\"}"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		cleanup_json struct json *values = values_of(rows[i].spec, rows[i].line);
		const struct json *spec =
			json_get(json_get(json_get(values, "jobManager"), "podTemplate"), "spec");
		const struct json *all = json_get(json_get(values, "image"), "pullSecrets");
		const struct json *own = json_get(spec, "imagePullSecrets");
		cleanup_buf struct buf all_text = BUF_INIT, own_text = BUF_INIT;

		if (all)
			json_print(all, &all_text);
		if (own)
			json_print(own, &own_text);
		CHECK_STR(buf_str(&all_text), rows[i].all ? rows[i].all : "");
		CHECK_STR(buf_str(&own_text), rows[i].own ? rows[i].own : "");
	}
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
