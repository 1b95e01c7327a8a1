#include "kube/configmap_watch.h"

#include <string.h>

#include "base/clock.h"
#include "kube_stub.h"
#include "tap.h"

#define LIMIT_MS 20000
#define NAME     "orders-drey-candidate"
#define ITEM(version)                                                                              \
	"{\"metadata\":{\"name\":\"" NAME "\",\"uid\":\"u\",\"resourceVersion\":\"" version        \
	"\"},\"data\":{\"key\":\"" version "\"}}"
#define EVENT(type, version) "{\"type\":\"" type "\",\"object\":" ITEM(version) "}\n"

static void on_change(void *ctx)
{
	++*(int *)ctx;
}

struct rig {
	struct kube_stub stub;
	struct loop *loop;
	struct kube_client *client;
	struct kube_watches *watches;
	int woken;
};

static void rig_start(struct rig *rig)
{
	memset(rig, 0, sizeof(*rig));
	rig->loop = loop_new(NULL);
	kube_stub_start(&rig->stub);
	/* each watch ends with its event, and goes on from there */
	KUBE_SAY(&rig->stub,
		 {.body = "{\"kind\":\"ConfigMapList\",\"metadata\":{\"resourceVersion\":\"10\"},"
			  "\"items\":[" ITEM("7") "]}"},
		 {.body = EVENT("MODIFIED", "11"), .after_ms = 300},
		 {.body = EVENT("DELETED", "12"), .length_bytes = 1000000, .after_ms = 300});
	rig->client = kube_client_new(&rig->stub.config, NULL);
	rig->watches = kube_watches_new(rig->client, rig->loop);
}

static void rig_stop(struct rig *rig)
{
	kube_watches_free(rig->watches);
	kube_client_free(rig->client);
	loop_free(rig->loop);
	kube_stub_stop(&rig->stub);
}

#define RIG_TEST(name) TEST_WITH(name, struct rig, rig, rig_start, rig_stop)

static void until_woken(struct rig *rig, int count)
{
	int64_t end_ms = clock_mono_ms() + LIMIT_MS;

	while (rig->woken < count && clock_mono_ms() < end_ms)
		loop_step(rig->loop, 20, NULL);
	CHECK_INT(rig->woken, ==, count);
}

/* A ConfigMap has no generation: every change of it counts. */
RIG_TEST(every_change_of_this_map_wakes)
{
	struct configmap news = {0};
	struct kube_watch *watch =
		configmap_watch_new(rig->watches, "team-a", NAME, on_change, &rig->woken, NULL);

	until_woken(rig, 2);
	CHECK_STR(rig->stub.asked[0], "GET /api/v1/namespaces/team-a/configmaps"
				      "?fieldSelector=metadata.name%3D" NAME);
	CHECK_INT(configmap_watch_take(watch, NAME, &news), ==, 0);
	kube_watch_free(watch);
}

RIG_TEST(what_was_seen_can_be_taken_once)
{
	struct configmap news = {0};
	struct kube_watch *watch =
		configmap_watch_keep(rig->watches, "team-a", NAME, on_change, &rig->woken, NULL);

	until_woken(rig, 1);
	CHECK_INT(configmap_watch_take(watch, NAME, &news), ==, 1);
	CHECK_STR(news.resource_version, "7");
	CHECK_STR(configmap_value(&news, "key"), "7");
	configmap_release(&news);
	CHECK_INT(configmap_watch_take(watch, NAME, &news), ==, 0);
	until_woken(rig, 2);
	CHECK_INT(configmap_watch_take(watch, "another", &news), ==, 0);
	CHECK(!news.name);
	CHECK_INT(configmap_watch_take(NULL, NAME, &news), ==, 0);
	kube_watch_free(watch);
}

RIG_TEST(the_newest_counts_and_a_deletion_is_no_news)
{
	struct configmap news = {0};
	struct kube_watch *watch =
		configmap_watch_keep(rig->watches, "team-a", NAME, on_change, &rig->woken, NULL);

	until_woken(rig, 2);
	CHECK_INT(configmap_watch_take(watch, NAME, &news), ==, 1);
	CHECK_STR(configmap_value(&news, "key"), "11");
	configmap_release(&news);
	until_woken(rig, 3);
	CHECK_INT(configmap_watch_take(watch, NAME, &news), ==, 0);
	kube_watch_free(watch);
}
