#include "kube/configmap_watch.h"

#include "watch_rig.h"

#define NAME "orders-drey-candidate"
#define ITEM(version)                                                                              \
	"{\"metadata\":{\"name\":\"" NAME "\",\"uid\":\"u\",\"resourceVersion\":\"" version        \
	"\"},\"data\":{\"key\":\"" version "\"}}"
#define EVENT(type, version) "{\"type\":\"" type "\",\"object\":" ITEM(version) "}\n"

static void rig_say_and_connect(struct rig *rig)
{
	rig_start(rig);
	/* each watch ends with its event, and goes on from there */
	KUBE_SAY(&rig->stub,
		 {.body = "{\"kind\":\"ConfigMapList\",\"metadata\":{\"resourceVersion\":\"10\"},"
			  "\"items\":[" ITEM("7") "]}"},
		 {.body = EVENT("MODIFIED", "11"), .after_ms = 300},
		 {.body = EVENT("DELETED", "12"), .length_bytes = 1000000, .after_ms = 300});
	rig_connect(rig);
}

#define MAP_TEST(name) TEST_WITH(name, struct rig, rig, rig_say_and_connect, rig_stop)

/* A ConfigMap has no generation: every change of it counts. */
MAP_TEST(every_change_of_this_map_wakes)
{
	struct configmap news = {0};

	rig->watch = configmap_watch_new(rig->watches, "team-a", NAME, on_change, rig, NULL);
	CHECK(until_woken(rig, 2));
	CHECK_INT(rig->woken, ==, 2);
	CHECK_STR(rig->stub.asked[0], "GET /api/v1/namespaces/team-a/configmaps"
				      "?fieldSelector=metadata.name%3D" NAME);
	CHECK_INT(configmap_watch_take(rig->watch, NAME, &news), ==, 0);
}

MAP_TEST(what_was_seen_can_be_taken_once)
{
	struct configmap news = {0};

	rig->watch = configmap_watch_keep(rig->watches, "team-a", NAME, on_change, rig, NULL);
	CHECK(until_woken(rig, 1));
	CHECK_INT(rig->woken, ==, 1);
	CHECK_INT(configmap_watch_take(rig->watch, NAME, &news), ==, 1);
	CHECK_STR(news.resource_version, "7");
	CHECK_STR(configmap_value(&news, "key"), "7");
	configmap_release(&news);
	CHECK_INT(configmap_watch_take(rig->watch, NAME, &news), ==, 0);
	CHECK(until_woken(rig, 2));
	CHECK_INT(rig->woken, ==, 2);
	CHECK_INT(configmap_watch_take(rig->watch, "another", &news), ==, 0);
	CHECK(!news.name);
	CHECK_INT(configmap_watch_take(NULL, NAME, &news), ==, 0);
}

MAP_TEST(the_newest_counts_and_a_deletion_is_no_news)
{
	struct configmap news = {0};

	rig->watch = configmap_watch_keep(rig->watches, "team-a", NAME, on_change, rig, NULL);
	CHECK(until_woken(rig, 2));
	CHECK_INT(rig->woken, ==, 2);
	CHECK_INT(configmap_watch_take(rig->watch, NAME, &news), ==, 1);
	CHECK_STR(configmap_value(&news, "key"), "11");
	configmap_release(&news);
	CHECK(until_woken(rig, 3));
	CHECK_INT(rig->woken, ==, 3);
	CHECK_INT(configmap_watch_take(rig->watch, NAME, &news), ==, 0);
}
