#include "format/ha_map.h"

#include <string.h>

#include "base/mem.h"
#include "ha_writer.h"
#include "tap.h"

#define JOB  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa01"
#define NAME "orders-" JOB "-config-map"
#define KEY  "checkpointID-0000000000000000003"

static void value_of(struct buf *to)
{
	ha_value_write(to, "s3://flink/ha/completedCheckpoint8d0625247076", 12286, false);
}

/* 0 and `maps` filled, or the error in *err. */
static int parse(const char *text, struct ha_maps *maps, struct err *err)
{
	*maps = (struct ha_maps){0};
	return ha_maps_parse(maps, text, strlen(text), err);
}

static void check_the_map(const struct ha_maps *maps)
{
	const struct ha_map *map = maps->maps;

	if (!CHECK_INT(maps->count, ==, 1) || !CHECK_INT(map->entry_count, ==, 1))
		return;
	CHECK_INT(map->kind, ==, HA_MAP_JOB);
	CHECK_STR(map->name, NAME);
	CHECK_STR(map->space, "prod");
	CHECK_STR(map->job_id, JOB);
	CHECK_INT(map->counter, ==, 4);
	CHECK_INT(map->entries[0].checkpoint_id, ==, 3);
	CHECK_STR(map->entries[0].value.uri, "s3://flink/ha/completedCheckpoint8d0625247076");
	CHECK(ha_map_entry_counts(map, &map->entries[0]));
}

TEST(reads_a_config_map_as_json)
{
	cleanup_buf struct buf value = BUF_INIT;
	cleanup_free char *text = NULL;
	struct ha_maps maps;
	struct err err = {0};

	value_of(&value);
	text = xasprintf(
		"\n{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"" NAME
		"\",\"namespace\":\"prod\"},\"data\":{\"counter\":\"4\",\"" KEY
		"\":\"%s\",\"something\":\"else\"},\"binaryData\":{\"x\":\"AA==\"}}",
		buf_str(&value));
	CHECK_INT(parse(text, &maps, &err), ==, 0);
	check_the_map(&maps);
	ha_maps_release(&maps);
}

TEST(reads_a_list_as_yaml)
{
	cleanup_buf struct buf value = BUF_INIT;
	cleanup_free char *text = NULL;
	struct ha_maps maps;
	struct err err = {0};

	value_of(&value);
	text = xasprintf(
		"apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Secret\n  data:\n    a: b\n"
		"- apiVersion: v1\n  data:\n    " KEY ": %s\n    counter: \"4\"\n"
		"  kind: ConfigMap\n  metadata:\n    name: " NAME
		"\n    namespace: prod\nkind: List\nmetadata:\n  resourceVersion: \"\"\n",
		buf_str(&value));
	if (!CHECK_INT(parse(text, &maps, &err), ==, 0))
		tap_note("%s", err.msg);
	check_the_map(&maps);
	ha_maps_release(&maps);
}

TEST(a_list_of_the_api_need_not_repeat_the_kind)
{
	struct ha_maps maps;

	CHECK_INT(parse("{\"kind\":\"ConfigMapList\",\"items\":[{\"metadata\":{\"name\":\"a-"
			"dispatcher-"
			"leader\"}},{\"metadata\":{\"name\":\"b\"}}]}",
			&maps, NULL),
		  ==, 0);
	CHECK_INT(maps.count, ==, 2);
	CHECK_INT(maps.maps[0].kind, ==, HA_MAP_CLUSTER);
	CHECK_INT(maps.maps[1].kind, ==, HA_MAP_OTHER);
	ha_maps_release(&maps);
}

TEST(names_say_what_a_map_is)
{
	static const struct {
		const char *name;
		enum ha_map_kind kind;
	} all[] = {
		{"a-" JOB "-config-map", HA_MAP_JOB},
		{"a-b-" JOB "-jobmanager-leader", HA_MAP_JOB},
		{"a-cluster-config-map", HA_MAP_CLUSTER},
		{"a-dispatcher-leader", HA_MAP_CLUSTER},
		{JOB "-config-map", HA_MAP_OTHER},
		{"-" JOB "-config-map", HA_MAP_OTHER},
		{"ax" JOB "-config-map", HA_MAP_OTHER},
		{"a-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAA01-config-map", HA_MAP_OTHER},
		{"-cluster-config-map-2", HA_MAP_OTHER},
		{"autoscaler-a", HA_MAP_OTHER},
		{"", HA_MAP_OTHER},
	};

	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		struct ha_maps maps = {0};

		if (!CHECK_INT(ha_maps_add(&maps, all[i].name)->kind, ==, all[i].kind))
			tap_note("%s", all[i].name);
		ha_maps_release(&maps);
	}
}

/* One entry with this key on a map of this name; does it count? */
static bool counts(const char *name, const char *key, bool deleting, bool deleted)
{
	cleanup_buf struct buf value = BUF_INIT;
	struct ha_maps maps = {0};
	struct ha_map *map = ha_maps_add(&maps, name);
	bool yes;

	ha_value_write(&value, "file:/ha/c1", 100, deleted);
	map->deleting = deleting;
	ha_map_put(map, key, buf_str(&value), value.len_bytes);
	yes = map->entry_count && ha_map_entry_counts(map, &map->entries[0]);
	ha_maps_release(&maps);
	return yes;
}

TEST(look_alikes_hold_no_state)
{
	CHECK(counts(NAME, KEY, false, false));
	CHECK(counts(NULL, KEY, false, false)); /* mounted under another name */
	CHECK(!counts("orders-backup", KEY, false, false));
	CHECK(!counts("orders-cluster-config-map", KEY, false, false));
	CHECK(!counts(NAME, KEY, true, false));
	CHECK(!counts(NAME, KEY, false, true));
	CHECK(!counts(NAME, "jobGraph-" JOB, false, false));
	CHECK(!counts(NAME, "checkpointID-", false, false));
	CHECK(!counts(NAME, "checkpointID-3x", false, false));
	CHECK(!counts(NAME, "checkpointID-99999999999999999999", false, false));
	CHECK(!counts(NAME, "checkpointID-9999999999999999999", false, false));
	CHECK(!counts(NAME, "checkpointID--1", false, false));
}

TEST(an_entry_that_cannot_be_decoded_is_kept_with_its_error)
{
	struct ha_maps maps = {0};
	struct ha_map *map = ha_maps_add(&maps, NAME);

	ha_map_put(map, KEY, "bm9uc2Vuc2U=", 12);
	if (CHECK_INT(map->entry_count, ==, 1)) {
		CHECK(map->entries[0].error != NULL && map->entries[0].value.uri == NULL);
		CHECK(ha_map_entry_counts(map, &map->entries[0]));
	}
	ha_maps_release(&maps);
}

TEST(a_counter_that_is_none_is_unknown)
{
	struct ha_maps maps = {0};
	struct ha_map *map = ha_maps_add(&maps, NAME);

	ha_map_put(map, "counter", "12", 2);
	CHECK_INT(map->counter, ==, 12);
	CHECK(!map->counter_broken);
	ha_map_put(map, "counter", "1 2", 3);
	CHECK_INT(map->counter, ==, 0);
	CHECK(map->counter_broken);
	ha_maps_release(&maps);
}

TEST(refuses_what_is_no_object_of_kubernetes_and_leaves_the_maps_alone)
{
	static const char *const bad[] = {
		"",
		"[]",
		"{}",
		"{\"kind\":",
		"a: [",
		"just text",
		"{\"kind\":\"ConfigMap\"}",
		"{\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"\"}}",
		"{\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\"},\"data\":{\"b\":1}}",
		"kind: ConfigMap\nmetadata: {name: a}\ndata: {b: [1]}\n",
		"{\"kind\":\"List\",\"items\":[{\"kind\":\"List\",\"items\":[]}]}",
	};
	struct ha_maps maps = {0};

	ha_maps_add(&maps, NAME);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct err err = {0};

		if (!CHECK_INT(ha_maps_parse(&maps, bad[i], strlen(bad[i]), &err), ==, -1) ||
		    !CHECK_INT(err.kind, ==, ERR_FORMAT))
			tap_note("%s", bad[i]);
	}
	CHECK_INT(maps.count, ==, 1);
	ha_maps_release(&maps);
}

TEST(another_kind_of_object_holds_nothing)
{
	struct ha_maps maps;

	CHECK_INT(parse("{\"kind\":\"Deployment\",\"metadata\":{\"name\":\"a\"}}", &maps, NULL), ==,
		  0);
	CHECK_INT(maps.count, ==, 0);
	ha_maps_release(&maps);
}
