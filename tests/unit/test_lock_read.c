#include "run/handover/lock_read.h"

#include <string.h>

#include "base/mem.h"
#include "kube_stub.h"
#include "tap.h"

#define CLUSTER "orders-green-cluster-config-map"
#define LABELS  "{\"app\":\"orders-green\",\"type\":\"flink-native-kubernetes\"}"
#define HOLDER  "11111111-0000-4000-8000-000000000001"
#define FREE    "{\\\"holderIdentity\\\":\\\"\\\",\\\"leaseDuration\\\":1.000000000}"
#define HELD_AT(second)                                                                            \
	"{\\\"holderIdentity\\\":\\\"" HOLDER "\\\",\\\"leaseDuration\\\":\\\"PT15S\\\","          \
	"\\\"acquireTime\\\":\\\"2026-03-01T12:00:00.000000Z\\\","                                 \
	"\\\"renewTime\\\":\\\"2026-03-01T12:00:" second ".000000Z\\\","                           \
	"\\\"leaderTransitions\\\":2}"
#define MAP(labels, record)                                                                        \
	"{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"" CLUSTER          \
	"\",\"uid\":\"u-1\",\"resourceVersion\":\"7\",\"labels\":" labels                          \
	",\"annotations\":{\"control-plane.alpha.kubernetes.io/leader\":\"" record "\"}},"         \
	"\"data\":{}}"
#define DATE_SOON  "Date: Sun, 01 Mar 2026 12:00:10 GMT\r\n"
#define DATE_LATER "Date: Sun, 01 Mar 2026 12:01:00 GMT\r\n"

#define KUBE_TEST(name) TEST_WITH(name, struct kube_stub, stub, kube_stub_start, kube_stub_stop)

/* The word, and `says` is in the reason; NULL: there is none. */
static void is_read(struct kube_stub *stub, struct ha_unchanged *watch, enum side_lock want,
		    const char *says)
{
	char *why;

	CHECK_INT(lock_read(stub->kube, "orders-green", watch, &why), ==, want);
	if (says)
		CHECK_HAS(why ? why : "(none)", says);
	else
		CHECK(!why);
	free(why);
}

KUBE_TEST(no_map_is_a_free_lock)
{
	struct ha_unchanged watch = {0};

	KUBE_SAY(stub, {.status = 404, .body = KUBE_NOT_FOUND("configmaps", CLUSTER)});
	is_read(stub, &watch, LOCK_FREE, NULL);
	CHECK_STR(stub->asked[0], "GET /api/v1/namespaces/team-a/configmaps/" CLUSTER);
	ha_unchanged_release(&watch);
}

KUBE_TEST(a_lock_that_was_released_is_free)
{
	struct ha_unchanged watch = {0};

	KUBE_SAY(stub, {.body = MAP(LABELS, FREE), .header = DATE_SOON});
	is_read(stub, &watch, LOCK_FREE, NULL);
	ha_unchanged_release(&watch);
}

KUBE_TEST(a_lock_is_held_until_it_has_run_out_by_the_servers_clock)
{
	struct ha_unchanged watch = {0};

	KUBE_SAY(stub, {.body = MAP(LABELS, HELD_AT("07")), .header = DATE_SOON},
		 {.body = MAP(LABELS, HELD_AT("07")), .header = DATE_LATER});
	is_read(stub, &watch, LOCK_HELD, HOLDER " owns it for");
	is_read(stub, &watch, LOCK_FREE, NULL);
	ha_unchanged_release(&watch);
}

#define CHANGED(time)                                                                              \
	LABELS ",\"managedFields\":[{\"manager\":\"a\",\"time\":\"" time "\"},{\"manager\":\"b\"}]"

/* By a clock that is behind that of the API server. */
KUBE_TEST(a_lock_that_was_just_written_is_held_whatever_its_dates_say)
{
	struct ha_unchanged watch = {0};

	KUBE_SAY(
		stub,
		{.body = MAP(CHANGED("2026-03-01T12:00:58Z"), HELD_AT("07")), .header = DATE_LATER},
		{.body = MAP(CHANGED("2026-03-01T12:00:42Z"), HELD_AT("07")),
		 .header = DATE_LATER});
	is_read(stub, &watch, LOCK_HELD, HOLDER " owns it for 15000 ms");
	is_read(stub, &watch, LOCK_FREE, NULL);
	ha_unchanged_release(&watch);
}

/* Whatever the clocks say: nothing was renewed for its whole length while we watched. */
KUBE_TEST(a_lock_that_was_seen_unrenewed_for_its_length_is_free)
{
	struct ha_unchanged watch = {0};

	KUBE_SAY(stub, {.body = MAP(LABELS, HELD_AT("07")), .header = DATE_SOON});
	is_read(stub, &watch, LOCK_HELD, "owns it");
	watch.since_ms -= 15000;
	is_read(stub, &watch, LOCK_HELD, "owns it");
	watch.since_ms -= 5000;
	is_read(stub, &watch, LOCK_FREE, NULL);
	ha_unchanged_release(&watch);
}

KUBE_TEST(a_renewal_begins_the_time_anew)
{
	struct ha_unchanged watch = {0};

	KUBE_SAY(stub, {.body = MAP(LABELS, HELD_AT("07")), .header = DATE_SOON},
		 {.body = MAP(LABELS, HELD_AT("09")), .header = DATE_SOON});
	is_read(stub, &watch, LOCK_HELD, "owns it");
	watch.since_ms -= 60000;
	is_read(stub, &watch, LOCK_HELD, "owns it");
	ha_unchanged_release(&watch);
}

/* An error is never absence, nor does it make what was seen before untrue. */
KUBE_TEST(what_cannot_be_read_is_unknown)
{
	struct ha_unchanged watch = {0};
	struct ha_unchanged before;

	KUBE_SAY(stub, {.body = MAP(LABELS, HELD_AT("07")), .header = DATE_SOON},
		 {.status = 403, .body = KUBE_STATUS(403, "Forbidden", "you may not", "")},
		 {.body = MAP("{\"app\":\"orders\"}", HELD_AT("07"))}, {.body = "nonsense"});
	is_read(stub, &watch, LOCK_HELD, "owns it");
	before = watch;
	is_read(stub, &watch, LOCK_UNKNOWN, "you may not");
	is_read(stub, &watch, LOCK_UNKNOWN, "does not have the labels app=orders-green");
	is_read(stub, &watch, LOCK_UNKNOWN, "");
	CHECK_INT(watch.since_ms, ==, before.since_ms);
	ha_unchanged_release(&watch);
}

KUBE_TEST(a_lock_that_is_not_understood_is_held)
{
	struct ha_unchanged watch = {0};

	KUBE_SAY(stub, {.body = MAP(LABELS, "nonsense"), .header = DATE_LATER});
	is_read(stub, &watch, LOCK_HELD, "the leader record is invalid");
	ha_unchanged_release(&watch);
}

/* What an answer shows may be as old as its request. */
TEST(a_slow_answer_does_not_make_a_lock_older)
{
	struct failover_lock lock = {.holder = (char *)"h", .renew_time = (char *)"t1"};
	struct ha_unchanged watch = {0};

	CHECK_INT(ha_unchanged_between(&watch, &lock, 1000, 9000), ==, 0);
	CHECK_INT(ha_unchanged_between(&watch, &lock, 8000, 8500), ==, 0);
	CHECK_INT(ha_unchanged_between(&watch, &lock, 10000, 60000), ==, 1000);
	lock.renew_time = (char *)"t2";
	CHECK_INT(ha_unchanged_between(&watch, &lock, 61000, 62000), ==, 0);
	lock.holder = (char *)"i";
	CHECK_INT(ha_unchanged_between(&watch, &lock, 70000, 71000), ==, 0);
	CHECK_INT(ha_unchanged_between(&watch, &lock, 90000, 90001), ==, 19000);
	ha_unchanged_release(&watch);
	CHECK(!watch.holder && !watch.since_ms);
}
