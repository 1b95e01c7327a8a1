/*
 * How the owner hears of the other pods: what a look at their ConfigMap means. The life cycle, the Deployment, the
 * locks and the watch are played by this file; the ConfigMap is on an API server that is.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "core/report/status_handover.h"
#include "kube/configmap_watch.h"
#include "kube/kube_lane.h"
#include "kube_stub.h"
#include "run/config/setup_side.h"
#include "run/driver_internal.h"
#include "run/handover/lock_read.h"
#include "run/handover/standing.h"
#include "run/handover/wanted.h"
#include "run/part.h"
#include "tap.h"

#define NAME     "orders-candidate"
#define LIMIT_MS 20000
/* The record of a pod, inside of JSON. */
#define RECORD_OF(key, uid, state, beat)                                                           \
	"\"" key ".json\":\"{\\\"schema\\\":1,\\\"application\\\":\\\"orders\\\","                 \
	"\\\"uid\\\":\\\"" uid "\\\",\\\"pod\\\":\\\"p\\\",\\\"template\\\":\\\"g2/c1/h2\\\","     \
	"\\\"side\\\":\\\"green\\\",\\\"state\\\":\\\"" state "\\\",\\\"beat\\\":" beat "}\""
#define CANDIDATE_OF(uid, state, beat) RECORD_OF("candidate", uid, state, beat)
#define RESERVE_OF(uid, beat)          RECORD_OF("reserve", uid, "HandedOver", beat)
#define HOLDS(version, data)                                                                       \
	{                                                                                          \
		.body = KUBE_MAP(NAME, version, data)                                              \
	}

struct rig {
	struct driver driver; /* first: what is played gets this one */
	struct setup setup;
	struct kube_stub stub;
	enum wanted wanted;
	enum side_lock lock;
	bool asks_for_lock;
	int wanteds, locks, stopped; /* stopped: the status, -1 = it was not */
	/* the watch */
	void (*changed)(void *ctx);
	void *ctx;
	const char *news; /* the data of the map; NULL = none */
	/* what was told */
	int events[PLACES];
	struct event last[PLACES];
	char uid[64];
};

static struct rig *the_rig; /* for what is played without a driver */

/* ---- what is played ---- */

bool lifecycle_asks_for_lock(const struct lifecycle *life)
{
	(void)life;
	return the_rig->asks_for_lock;
}

enum wanted handover_wanted(struct kube *kube, const struct setup *setup, const char *template,
			    int64_t timeout_ms)
{
	(void)kube, (void)setup, (void)timeout_ms;
	CHECK_STR(template, "g2/c1/h2");
	the_rig->wanteds++;
	return the_rig->wanted;
}

enum side_lock lock_read(struct kube *kube, const char *cluster_id, struct ha_unchanged *unchanged,
			 char **ret_why)
{
	(void)kube, (void)unchanged;
	CHECK_STR(cluster_id, "green-id"); /* that of the other side */
	the_rig->locks++;
	*ret_why = the_rig->lock == LOCK_FREE ? NULL : xstrdup("it is owned");
	return the_rig->lock;
}

void ha_unchanged_release(struct ha_unchanged *unchanged)
{
	(void)unchanged;
}

const char *setup_cluster_id(const struct setup *setup, enum side side)
{
	(void)setup;
	return side == SIDE_GREEN ? "green-id" : "blue-id";
}

struct kube_lane kube_lane_open(struct workers *workers, struct kube_client *client,
				const char *name)
{
	(void)client;
	return (struct kube_lane){.lane = lane_new(workers, name), .kube = the_rig->stub.kube};
}

bool kube_lane_close(struct kube_lane *lane, int64_t wait_ms)
{
	(void)wait_ms; /* a request that is tried again uses the stub */
	return lane_free(lane->lane, LIMIT_MS);
}

struct kube_watch *configmap_watch_keep(struct kube_watches *watches, const char *namespace,
					const char *name, void (*changed)(void *ctx), void *ctx,
					struct err *err)
{
	(void)watches, (void)namespace, (void)err;
	CHECK_STR(name, NAME);
	the_rig->changed = changed;
	the_rig->ctx = ctx;
	return (struct kube_watch *)the_rig;
}

void kube_watch_free(struct kube_watch *watch)
{
	(void)watch;
}

int configmap_watch_take(struct kube_watch *watch, const char *name, struct configmap *ret)
{
	struct rig *rig = (struct rig *)watch;
	cleanup_free char *text = NULL;

	if (!rig->news)
		return 0;
	text = xasprintf("{%s}", rig->news);
	ret->name = xstrdup(name);
	ret->resource_version = xstrdup("90");
	ret->data = json_parse(text, strlen(text), 1 << 20, NULL);
	CHECK(ret->data != NULL);
	return 1;
}

void standing_close(struct driver *driver)
{
	(void)driver;
}

const struct standby *standing_standby(const struct driver *driver)
{
	(void)driver;
	return NULL;
}

void status_add_handover(struct json *document, const struct lifecycle *life,
			 const struct candidate_record *candidate, const struct standby *standby)
{
	(void)life, (void)standby;
	json_add_str(document, "candidate", candidate ? candidate->uid : "none");
}

void driver_step(struct driver *driver, const struct event *event)
{
	struct rig *rig = (struct rig *)driver;
	enum candidate_place place = event->candidate.place;

	CHECK_INT(event->type, ==, EVENT_CANDIDATE);
	rig->events[place]++;
	rig->last[place] = *event;
	if (place == PLACE_CANDIDATE)
		snprintf(rig->uid, sizeof(rig->uid), "%s",
			 event->candidate.party.uid ? event->candidate.party.uid : "");
}

void driver_stop(struct driver *driver, int status)
{
	((struct rig *)driver)->stopped = status;
}

/* ---- the world ---- */

static void rig_begin(struct rig *rig)
{
	memset(rig, 0, sizeof(*rig));
	the_rig = rig;
	kube_stub_start(&rig->stub);
	rig->stopped = -1;
	rig->wanted = WANTED_YES;
	rig->setup.config.application = (char *)"orders";
	rig->setup.handover.on = true;
	rig->setup.handover.candidate = (char *)NAME;
	rig->setup.life.handover.me.uid = (char *)"u-old";
	rig->driver.setup = &rig->setup;
	rig->driver.loop = loop_new(NULL);
	rig->driver.workers = workers_new(rig->driver.loop, NULL);
	rig->driver.alive = true;
	CHECK_INT(part_handover.open(&rig->driver, NULL), ==, 0);
}

static void rig_end(struct rig *rig)
{
	rig->driver.closing = true;
	part_handover.close(&rig->driver);
	workers_free(rig->driver.workers);
	loop_free(rig->driver.loop);
	kube_stub_stop(&rig->stub);
}

#define RIG_TEST(name) TEST_WITH(name, struct rig, rig, rig_begin, rig_end)

/* Until each place was told of; `begin`: what brings the look about. */
static void runs_out(struct rig *rig)
{
	int64_t end_ms = clock_mono_ms() + LIMIT_MS;

	while (!rig->events[PLACES - 1] && clock_mono_ms() < end_ms)
		loop_step(rig->driver.loop, 20, NULL);
	for (int place = 0; place < PLACES; place++)
		CHECK_INT(rig->events[place], ==, 1);
}

static void looks(struct rig *rig)
{
	memset(rig->events, 0, sizeof(rig->events));
	if (!rig->changed)
		part_handover.alive(&rig->driver, &(struct part_start){0});
	else
		rig->changed(rig->ctx);
	runs_out(rig);
}

#define CANDIDATE(rig) (&(rig)->last[PLACE_CANDIDATE].candidate)
#define RESERVE(rig)   (&(rig)->last[PLACE_RESERVE].candidate)

/* ---- ---- */

RIG_TEST(each_place_is_told_of_with_what_the_deployment_wants_of_the_candidate)
{
	KUBE_SAY(&rig->stub,
		 HOLDS("7", CANDIDATE_OF("u-new", "Preparing", "5") "," RESERVE_OF("u-far", "9")));
	looks(rig);
	CHECK(CANDIDATE(rig)->present && !CANDIDATE(rig)->unreadable);
	CHECK_STR(rig->uid, "u-new");
	CHECK_INT(CANDIDATE(rig)->beat, ==, 5);
	CHECK_INT(CANDIDATE(rig)->state, ==, CANDIDATE_PREPARING);
	CHECK_INT(CANDIDATE(rig)->wanted, ==, WANTED_YES);
	CHECK(RESERVE(rig)->present);
	CHECK_INT(RESERVE(rig)->beat, ==, 9);
	CHECK_INT(RESERVE(rig)->wanted, ==, WANTED_UNKNOWN);
	CHECK(!rig->last[PLACE_STANDBY].candidate.present);
	CHECK_INT(rig->locks, ==, 0);
}

RIG_TEST(a_map_that_is_not_there_has_no_candidate)
{
	KUBE_SAY(&rig->stub, {.status = 404, .body = KUBE_NOT_FOUND("configmaps", NAME)});
	looks(rig);
	CHECK(!CANDIDATE(rig)->present && !CANDIDATE(rig)->unreadable);
	CHECK_INT(rig->wanteds, ==, 0);
}

/* An error is never absence. */
RIG_TEST(what_cannot_be_read_says_nothing)
{
	static const struct kube_stub_says cases[] = {
		{.status = 403, .body = KUBE_STATUS(403, "Forbidden", "you may not", "")},
		{.status = 404, .body = "404 page not found"},
		{.body = KUBE_MAP("another", "7", "")},
		{.reset = true},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct rig one;
		int64_t end_ms = clock_mono_ms() + LIMIT_MS;

		rig_begin(&one);
		kube_stub_say(&one.stub, &cases[i], 1);
		part_handover.alive(&one.driver, &(struct part_start){0});
		while (!kube_stub_asked(&one.stub) && clock_mono_ms() < end_ms)
			loop_step(one.driver.loop, 20, NULL);
		for (int j = 0; j < 10; j++)
			loop_step(one.driver.loop, 20, NULL);
		for (int place = 0; place < PLACES; place++)
			CHECK_INT(one.events[place], ==, 0);
		rig_end(&one);
	}
	the_rig = rig;
	CHECK_INT(rig->stopped, ==, -1);
}

RIG_TEST(a_record_that_is_damaged_is_there_and_not_known)
{
	cleanup_json struct json *document = json_object();

	KUBE_SAY(&rig->stub, HOLDS("7", CANDIDATE_OF("u-new", "Prepared", "5")),
		 HOLDS("8", "\"candidate.json\":\"{\""));
	looks(rig);
	looks(rig);
	CHECK(!CANDIDATE(rig)->present && CANDIDATE(rig)->unreadable);
	/* people still see what was read last */
	part_handover.status(&rig->driver, document);
	CHECK_STR(json_str(document, "candidate"), "u-new");
}

RIG_TEST(what_a_watch_has_seen_saves_a_request_but_a_beat_never_goes_back)
{
	KUBE_SAY(&rig->stub, HOLDS("7", CANDIDATE_OF("u-new", "Preparing", "5")),
		 HOLDS("8", CANDIDATE_OF("u-new", "Preparing", "8")));
	looks(rig);
	rig->news = CANDIDATE_OF("u-new", "Preparing", "7");
	looks(rig);
	CHECK_INT(CANDIDATE(rig)->beat, ==, 7);
	CHECK_INT(rig->stub.asked_count, ==, 1);
	rig->news = CANDIDATE_OF("u-new", "Preparing", "6"); /* it is behind */
	looks(rig);
	CHECK_INT(CANDIDATE(rig)->beat, ==, 8);
	CHECK_INT(rig->stub.asked_count, ==, 2);
	rig->news = CANDIDATE_OF("u-third", "Preparing", "1"); /* another pod */
	looks(rig);
	CHECK_INT(CANDIDATE(rig)->beat, ==, 1);
	CHECK_INT(rig->stub.asked_count, ==, 2);
}

RIG_TEST(for_whom_the_deployment_is_asked)
{
	static const struct {
		const char *news;
		int asked;
	} cases[] = {
		{CANDIDATE_OF("u-new", "Prepared", "5"), 1},
		{CANDIDATE_OF("u-new", "Withdrawn", "6"), 0},
		{CANDIDATE_OF("u-old", "Standby", "7"), 0}, /* this pod, before it was the owner */
		{"", 0},
	};

	KUBE_SAY(&rig->stub, {.status = 404, .body = KUBE_NOT_FOUND("configmaps", NAME)});
	looks(rig);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		rig->wanteds = 0;
		rig->news = cases[i].news;
		looks(rig);
		CHECK_INT(rig->wanteds, ==, cases[i].asked);
	}
}

/* A job is stopped for it, so the answer is not older than the moment. */
RIG_TEST(of_a_candidate_that_is_prepared_the_deployment_is_asked_again)
{
	KUBE_SAY(&rig->stub, {.status = 404, .body = KUBE_NOT_FOUND("configmaps", NAME)});
	looks(rig);
	rig->news = CANDIDATE_OF("u-new", "Preparing", "5");
	looks(rig);
	usleep(600000);
	rig->news = CANDIDATE_OF("u-new", "Preparing", "6");
	looks(rig);
	CHECK_INT(rig->wanteds, ==, 1);
	rig->wanted = WANTED_NO;
	rig->news = CANDIDATE_OF("u-new", "Prepared", "7");
	looks(rig);
	CHECK_INT(rig->wanteds, ==, 2);
	CHECK_INT(CANDIDATE(rig)->wanted, ==, WANTED_NO);
	/* only a yes is kept */
	rig->news = CANDIDATE_OF("u-new", "Prepared", "8");
	looks(rig);
	CHECK_INT(rig->wanteds, ==, 3);
}

RIG_TEST(a_lock_is_free_only_if_that_was_read)
{
	static const enum side_lock locks[] = {LOCK_UNKNOWN, LOCK_HELD, LOCK_FREE};

	rig->driver.side = SIDE_BLUE;
	rig->asks_for_lock = true;
	KUBE_SAY(&rig->stub, HOLDS("7", CANDIDATE_OF("u-new", "Preparing", "5")));
	for (size_t i = 0; i < ARRAY_LEN(locks); i++) {
		rig->lock = locks[i];
		looks(rig);
		CHECK_INT(CANDIDATE(rig)->lock_is_free, ==, locks[i] == LOCK_FREE);
	}
	CHECK_INT(rig->locks, ==, 3);
}

RIG_TEST(a_pod_that_is_not_the_owner_any_more_ends_and_the_next_agent_stands_by)
{
	part_handover.execute(&rig->driver, &(struct effect){.type = EFFECT_LAUNCH});
	CHECK_INT(rig->stopped, ==, -1);
	part_handover.execute(&rig->driver, &(struct effect){.type = EFFECT_STAND_DOWN});
	CHECK_INT(rig->stopped, ==, DRIVER_AGAIN);
}

RIG_TEST(a_job_in_the_shadow_hears_of_no_candidate)
{
	rig->driver.life_config.handover.shadow = true;
	part_handover.alive(&rig->driver, &(struct part_start){0});
	for (int i = 0; i < 5; i++)
		loop_step(rig->driver.loop, 20, NULL);
	CHECK_INT(kube_stub_asked(&rig->stub), ==, 0);
	CHECK(!rig->changed);
}
