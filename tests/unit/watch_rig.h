/*
 * watch_rig - watches of a kube_stub on a loop of their own, for the tests of the watches. Header-only.
 */
#ifndef DREY_TESTS_WATCH_RIG_H
#define DREY_TESTS_WATCH_RIG_H

#include <string.h>

#include "base/clock.h"
#include "kube/kube_watch.h"
#include "kube_stub.h"
#include "tap.h"

#define RIG_LIMIT_MS 20000

struct rig {
	struct kube_stub stub;
	struct loop *loop;
	struct kube_client *client;
	struct kube_watches *watches;
	struct kube_watch *watch;
	int woken;
};

static void on_change(void *ctx)
{
	struct rig *rig = ctx;

	rig->woken++;
}

static void rig_start(struct rig *rig)
{
	memset(rig, 0, sizeof(*rig));
	rig->loop = loop_new(NULL);
	kube_stub_start(&rig->stub);
}

/* After KUBE_SAY(), before the first watch. */
static void rig_connect(struct rig *rig)
{
	rig->client = kube_client_new(&rig->stub.config, NULL);
	rig->watches = kube_watches_new(rig->client, rig->loop);
}

static void rig_stop(struct rig *rig)
{
	int64_t begin_ms = clock_mono_ms();

	kube_watch_free(rig->watch);
	kube_watches_free(rig->watches);
	kube_client_free(rig->client);
	CHECK_INT(clock_mono_ms() - begin_ms, <, 10000);
	loop_free(rig->loop);
	kube_stub_stop(&rig->stub);
}

static bool until_woken(struct rig *rig, int count)
{
	int64_t end_ms = clock_mono_ms() + RIG_LIMIT_MS;

	while (rig->woken < count && clock_mono_ms() < end_ms)
		loop_step(rig->loop, 20, NULL);
	return rig->woken >= count;
}

#define RIG_TEST(name) TEST_WITH(name, struct rig, rig, rig_start, rig_stop)

#endif
