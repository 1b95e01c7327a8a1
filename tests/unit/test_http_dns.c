/* A resolver that does not answer: whoever waits for a name waits no longer than he wants to, and nobody else waits. */
#include <curl/curlver.h>
#include <dlfcn.h>
#include <netdb.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/lane.h"
#include "base/loop.h"
#include "base/mem.h"
#include "http_stub.h"
#include "kube/kube.h"
#include "tap.h"

#define NAME "kubernetes.test"

/* ---- the resolver: this one is found before that of the C library ---- */

typedef int resolve_fn(const char *name, const char *service, const struct addrinfo *hints,
		       struct addrinfo **ret);

#ifdef DREY_STATIC /* the linker has put this one in between (tests/rules.mk) */
resolve_fn __wrap_getaddrinfo, __real_getaddrinfo;
#define getaddrinfo __wrap_getaddrinfo
#define REAL        __real_getaddrinfo
#else
#define REAL ((resolve_fn *)dlsym(RTLD_NEXT, "getaddrinfo"))
#endif

static atomic_bool hangs;
static atomic_int waiting; /* for the name */

__attribute__((visibility("default"))) int getaddrinfo(const char *name, const char *service,
						       const struct addrinfo *hints,
						       struct addrinfo **ret)
{
	resolve_fn *real = REAL;

	if (!name || strcmp(name, NAME) != 0)
		return real(name, service, hints, ret);
	atomic_fetch_add(&waiting, 1);
	while (atomic_load(&hangs))
		usleep(2000);
	atomic_fetch_sub(&waiting, 1);
	return real("127.0.0.1", service, hints, ret);
}

/* ---- an API server behind a proxy of that name (the server's own would have to have a certificate) ---- */

struct rig {
	struct http_stub *http;
	struct kube_target config;
	struct kube *kube;
	int result;
	struct err err;
	int64_t took_ms;
};

static void say(void *ctx, const struct http_stub_request *request, struct http_stub_answer *answer)
{
	(void)ctx;
	(void)request;
	buf_addstr(&answer->body, "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\"}");
}

/* An old libcurl waits for the thread that looks the name up. */
static bool waits_for_names(void)
{
	if (LIBCURL_VERSION_NUM >= 0x075700)
		return false;
	tap_skip("libcurl " LIBCURL_VERSION " waits for a name lookup; 7.87 does not");
	return true;
}

static void rig_start(struct rig *rig)
{
	*rig = (struct rig){.http = http_stub_new(say, NULL)};
	rig->config.server = xstrdup("http://127.0.0.1:1");
	rig->config.proxy_url = xasprintf("http://" NAME ":%d", http_stub_port(rig->http));
	rig->config.namespace = xstrdup("team-a");
	rig->kube = kube_new(&rig->config, NULL);
}

static void rig_stop(struct rig *rig)
{
	atomic_store(&hangs, false);
	kube_free(rig->kube);
	kube_target_release(&rig->config);
	http_stub_free(rig->http);
	while (atomic_load(&waiting)) /* threads that were left behind */
		usleep(2000);
}

static void get_within(struct rig *rig, int64_t timeout_ms)
{
	struct kube_request request = {.path = "/api/v1/namespaces/team-a/configmaps/m",
				       .timeout_ms = timeout_ms};
	cleanup_kube_answer struct kube_answer answer = {0};
	int64_t begin_ms = clock_mono_ms();

	rig->err = (struct err){0};
	rig->result = kube_do(rig->kube, &request, &answer, &rig->err);
	rig->took_ms = clock_mono_ms() - begin_ms;
}

static void get(void *arg)
{
	get_within(arg, 60000);
}

TEST(a_request_ends_in_time_and_the_next_one_works)
{
	struct rig rig;

	if (waits_for_names())
		return;
	rig_start(&rig);
	atomic_store(&hangs, true);
	get_within(&rig, 300);
	CHECK_INT(rig.result, ==, -1);
	CHECK_INT(rig.err.kind, ==, ERR_RETRY);
	CHECK_INT(rig.took_ms, >=, 250);
	CHECK_INT(rig.took_ms, <, 5000);
	CHECK_INT(http_stub_counts(rig.http).requests, ==, 0);
	atomic_store(&hangs, false);
	get_within(&rig, 60000);
	if (!CHECK_INT(rig.result, ==, 0))
		tap_note("%s", rig.err.msg);
	CHECK_INT(http_stub_counts(rig.http).requests, ==, 1);
	rig_stop(&rig);
}

static void *stop_when_it_waits(void *arg)
{
	struct rig *rig = arg;

	while (!atomic_load(&waiting))
		usleep(2000);
	kube_stop(rig->kube);
	return NULL;
}

TEST(stopping_does_not_wait_for_the_name)
{
	struct rig rig;
	pthread_t thread;

	if (waits_for_names())
		return;
	rig_start(&rig);
	atomic_store(&hangs, true);
	pthread_create(&thread, NULL, stop_when_it_waits, &rig);
	get_within(&rig, 60000);
	pthread_join(thread, NULL);
	CHECK_INT(rig.result, ==, -1);
	CHECK_HAS(rig.err.msg, "stopped");
	CHECK_INT(rig.took_ms, <, 5000);
	/* from 8.20 on libcurl asks for each kind of address */
	CHECK_INT(atomic_load(&waiting), >=, 1);
	rig_stop(&rig); /* kube_free() has not waited either, or this would never end */
}

/* ---- the loop ---- */

struct ticks {
	struct loop *loop;
	struct loop_timer *timer;
	int count;
};

static void tick(void *arg)
{
	struct ticks *ticks = arg;

	if (++ticks->count == 20)
		loop_stop(ticks->loop);
	else
		loop_timer_set(ticks->timer, 10);
}

static void ended(void *arg, bool ran)
{
	(void)arg;
	(void)ran;
}

TEST(the_loop_goes_on_and_a_lane_that_waits_can_be_left)
{
	struct ticks ticks = {0};
	struct workers *workers;
	struct lane *lane;
	struct rig rig;

	if (waits_for_names())
		return;
	ticks.loop = loop_new(NULL);
	workers = workers_new(ticks.loop, NULL);
	lane = lane_new(workers, "dns");
	rig_start(&rig);
	atomic_store(&hangs, true);
	lane_submit(lane, get, ended, &rig);
	while (!atomic_load(&waiting))
		usleep(2000);
	ticks.timer = loop_timer_new(ticks.loop, tick, &ticks);
	loop_timer_set(ticks.timer, 0);
	CHECK_INT(loop_run(ticks.loop, NULL), ==, 0);
	CHECK_INT(ticks.count, ==, 20);
	CHECK_INT(atomic_load(&waiting), >=, 1); /* all the time */
	kube_stop(rig.kube);
	CHECK(lane_free(lane, 60000));
	CHECK_HAS(rig.err.msg, "stopped");
	loop_timer_free(ticks.timer);
	workers_free(workers);
	loop_free(ticks.loop);
	rig_stop(&rig);
}
