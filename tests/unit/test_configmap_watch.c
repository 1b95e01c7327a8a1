#include "kube/configmap_watch.h"

#include "base/clock.h"
#include "kube_stub.h"
#include "tap.h"

#define LIMIT_MS 20000
#define ITEM(version)                                                                              \
	"{\"metadata\":{\"name\":\"orders-drey-candidate\",\"resourceVersion\":\"" version "\"}}"

static void on_change(void *ctx)
{
	++*(int *)ctx;
}

/* A ConfigMap has no generation: every change of it counts. */
TEST(every_change_of_this_map_wakes)
{
	int64_t end_ms = clock_mono_ms() + LIMIT_MS;
	struct kube_watch *watch;
	struct kube_watches *watches;
	struct kube_client *client;
	struct kube_stub stub;
	struct loop *loop = loop_new(NULL);
	int woken = 0;

	kube_stub_start(&stub);
	KUBE_SAY(&stub,
		 {.body = "{\"kind\":\"ConfigMapList\",\"metadata\":{\"resourceVersion\":\"10\"},"
			  "\"items\":[" ITEM("7") "]}"},
		 {.body = "{\"type\":\"MODIFIED\",\"object\":" ITEM("11") "}\n",
		  .length_bytes = 1000000,
		  .after_ms = 300});
	client = kube_client_new(&stub.config, NULL);
	watches = kube_watches_new(client, loop);
	watch = configmap_watch_new(watches, "team-a", "orders-drey-candidate", on_change, &woken,
				    NULL);
	while (woken < 2 && clock_mono_ms() < end_ms)
		loop_step(loop, 20, NULL);
	CHECK_INT(woken, ==, 2);
	CHECK_STR(stub.asked[0], "GET /api/v1/namespaces/team-a/configmaps"
				 "?fieldSelector=metadata.name%3Dorders-drey-candidate");
	kube_watch_free(watch);
	kube_watches_free(watches);
	kube_client_free(client);
	loop_free(loop);
	kube_stub_stop(&stub);
}
