/* Flink's HA maps over the API: which requests are made, what counts as ours, what is written. */
#include "run/ha/ha_read.h"

#include <string.h>

#include "base/clock.h"
#include "core/ha_names.h"
#include "core/job_id.h"
#include "kube_stub.h"
#include "run/ha/ha_change.h"
#include "tap.h"

#define MAPS    "/api/v1/namespaces/team-a/configmaps"
#define CLUSTER "orders-cluster-config-map"
#define SPACE   "team-a/orders/"
#define JOB_A   "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define JOB_B   "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define LABELS  "{\"app\":\"orders\",\"type\":\"flink-native-kubernetes\"}"
#define NOT_FOUND(name)                                                                            \
	KUBE_STATUS(404, "NotFound", "not found", "\"name\":\"" name "\",\"kind\":\"configmaps\"")
#define NOT_THERE(name)                                                                            \
	{                                                                                          \
		.of = name, .status = 404, .body = NOT_FOUND(name)                                 \
	}
#define NO_CLUSTER NOT_THERE(CLUSTER)
#define NAME_A     "orders-" JOB_A "-config-map"
#define NAME_B     "orders-" JOB_B "-config-map"
#define NO_A       NOT_THERE(NAME_A)
#define NO_B       NOT_THERE(NAME_B)
#define HOLDER     "11111111-0000-4000-8000-000000000001"
#define FREE       "{\\\"holderIdentity\\\":\\\"\\\",\\\"leaseDuration\\\":1.000000000}"
#define HELD                                                                                       \
	"{\\\"holderIdentity\\\":\\\"" HOLDER "\\\",\\\"leaseDuration\\\":\\\"PT15S\\\","          \
	"\\\"acquireTime\\\":\\\"2026-03-01T12:00:00.000000Z\\\","                                 \
	"\\\"renewTime\\\":\\\"2026-03-01T12:00:07.000000Z\\\",\\\"leaderTransitions\\\":2}"
#define SESSION                                                                                    \
	"\"org.apache.flink.k8s.leader.dispatcher\":\"s1,pekko.tcp://flink@10.0.0.7:6123/d\""

#define MAP(name, labels, record, data)                                                            \
	"{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"" name             \
	"\",\"uid\":\"u-1\",\"resourceVersion\":\"7\",\"labels\":" labels                          \
	",\"annotations\":{\"control-plane.alpha.kubernetes.io/leader\":\"" record                 \
	"\"}},\"data\":{" data "}}"
#define CLUSTER_MAP(record, data) MAP(CLUSTER, LABELS, record, data)
#define JOB_MAP(job)              MAP("orders-" job "-config-map", LABELS, FREE, "\"counter\":\"4\"")

/* ---- what is looked for ---- */

static void is_wanted(const struct ha_query *query, size_t count, const char *const *names)
{
	if (!CHECK_INT(query->job_count, ==, count))
		return;
	for (size_t i = 0; i < count; i++)
		CHECK_STR(query->job_ids[i], names[i]);
}

static void add_launch(struct journal *journal, const char *job_id)
{
	snprintf(journal_add_launch(journal)->job_id, JOB_ID_BYTES, "%s", job_id);
}

TEST(looks_for_the_journals_jobs_and_a_few_that_it_may_not_know)
{
	char ids[8][JOB_ID_BYTES];
	struct ha_query query;
	struct journal journal;

	for (int i = 0; i < 8; i++)
		job_id_name(SPACE, i, ids[i]);
	journal_init(&journal, "orders");
	journal_add_former_job(&journal, ids[0]);
	add_launch(&journal, ids[2]);
	add_launch(&journal, ids[2]); /* went on */
	journal.id_space = xstrdup(SPACE);
	journal.id_next = 3;
	ha_query_init(&query, "orders", SPACE, 200, &journal);
	CHECK(!query.by_label);
	is_wanted(&query, 4, (const char *const[]){ids[0], ids[2], ids[3], ids[4]});
	ha_query_release(&query);
	journal.id_next = 7; /* at the end it begins again */
	ha_query_init(&query, "orders", SPACE, 8, &journal);
	is_wanted(&query, 4, (const char *const[]){ids[0], ids[1], ids[2], ids[7]});
	ha_query_release(&query);
	/* what a hand-over has reserved is drawn without a look at anything */
	memcpy(journal.handover.job_id, ids[5], JOB_ID_BYTES);
	ha_query_init(&query, "orders", SPACE, 8, &journal);
	is_wanted(&query, 5, (const char *const[]){ids[0], ids[1], ids[2], ids[5], ids[7]});
	ha_query_release(&query);
	journal_release(&journal);
}

TEST(looks_for_all_names_when_the_journal_is_lost)
{
	struct journal journal;
	struct ha_query query;

	journal_init(&journal, "orders");
	ha_query_init(&query, "orders", SPACE, 200, &journal);
	CHECK_INT(query.job_count, ==, 200);
	ha_query_release(&query);
	ha_query_init(&query, "orders", SPACE, 200, NULL);
	CHECK_INT(query.job_count, ==, 200);
	ha_query_release(&query);
	journal_release(&journal);
}

TEST(does_not_look_for_what_the_role_does_not_name)
{
	struct ha_query query;
	struct journal journal;

	journal_init(&journal, "orders");
	add_launch(&journal, JOB_A); /* a random one, or of another salt */
	journal.id_space = xstrdup(SPACE);
	ha_query_init(&query, "orders", SPACE, 200, &journal);
	CHECK_INT(query.job_count, ==, HA_READ_AHEAD);
	ha_query_release(&query);
	/* which of the names is the first one to be drawn is not known yet */
	xstrset(&journal.id_space, "shop/orders/2026");
	ha_query_init(&query, "orders", SPACE, 200, &journal);
	CHECK_INT(query.job_count, ==, 200);
	ha_query_release(&query);
	ha_query_init(&query, "orders", NULL, 0, &journal);
	CHECK(query.by_label);
	CHECK_INT(query.job_count, ==, 0);
	ha_query_release(&query);
	journal_release(&journal);
}

/* ---- reading ---- */

static void query_two(struct ha_query *query)
{
	*query = (struct ha_query){.cluster_id = xstrdup("orders"), .job_count = 2};
	query->job_ids = xcalloc(2, sizeof(*query->job_ids));
	memcpy(query->job_ids[0], JOB_A, JOB_ID_BYTES);
	memcpy(query->job_ids[1], JOB_B, JOB_ID_BYTES);
}

#define KUBE_TEST(name) TEST_WITH(name, struct kube_stub, stub, kube_stub_start, kube_stub_stop)

KUBE_TEST(reads_by_name_and_only_a_404_is_absence)
{
	struct ha_query query;
	struct ha_reading reading;

	query_two(&query);
	KUBE_SAY(
		stub,
		{.of = CLUSTER, .body = CLUSTER_MAP(HELD, SESSION ",\"jobGraph-" JOB_A "\":\"x\"")},
		{.of = NAME_A, .body = JOB_MAP(JOB_A)}, NO_B);
	ha_read(stub->kube, &query, &reading);
	CHECK_INT(kube_stub_asked(stub), ==, 3);
	CHECK_STR(stub->asked[0], "GET " MAPS "/" CLUSTER);
	CHECK_HAS(stub->asked[1], "GET " MAPS "/orders-");
	CHECK_HAS(stub->asked[2], "GET " MAPS "/orders-");
	CHECK_INT(reading.state, ==, SOURCE_PRESENT);
	CHECK_INT(reading.maps.count, ==, 2);
	CHECK_INT(reading.job_count, ==, 1);
	CHECK_STR(reading.jobs[0].job_id, JOB_A);
	CHECK_STR(reading.jobs[0].uid, "u-1");
	CHECK_STR(reading.cluster.lock.holder, HOLDER);
	CHECK_INT(reading.cluster.lock.duration_ms, ==, 15000);
	CHECK(reading.cluster.lock.iso);
	CHECK_INT(reading.cluster.lock.session_count, ==, 1);
	CHECK_STR(reading.cluster.lock.sessions[0].host, "10.0.0.7");
	CHECK_INT(reading.cluster.stored_count, ==, 1);
	ha_reading_release(&reading);
	ha_query_release(&query);
}

/* How often the names of SPACE were asked for. */
static size_t asked_for(const struct kube_stub *stub, int64_t n)
{
	char job_id[JOB_ID_BYTES];
	size_t times = 0;

	job_id_name(SPACE, n, job_id);
	for (int i = 0; i < stub->asked_count && i < KUBE_STUB_MAX; i++)
		times += strstr(stub->asked[i], job_id) != NULL;
	return times;
}

TEST(many_maps_are_read_side_by_side_each_once)
{
	enum { MANY = 50 };
	struct kube_stub_says says[MANY + 1] = {NO_CLUSTER};
	char *names[MANY], *bodies[MANY], job_id[JOB_ID_BYTES];
	struct ha_query query;
	struct ha_reading reading;
	struct kube_stub stub;

	kube_stub_start(&stub);
	ha_query_init(&query, "orders", SPACE, MANY, NULL);
	for (int i = 0; i < MANY; i++) {
		job_id_name(SPACE, i, job_id);
		names[i] = ha_job_name("orders", job_id);
		bodies[i] = xasprintf(MAP("%s", LABELS, FREE, "\"counter\":\"4\""), names[i]);
		/* the first are the slowest: they come last */
		says[i + 1] = (struct kube_stub_says){
			.of = names[i], .body = bodies[i], .after_ms = i < 3 ? 300 - 100 * i : 0};
	}
	kube_stub_say(&stub, says, ARRAY_LEN(says));
	ha_read(stub.kube, &query, &reading);
	CHECK_INT(reading.state, ==, SOURCE_PRESENT);
	CHECK_INT(kube_stub_asked(&stub), ==, 1 + MANY);
	if (CHECK_INT(reading.job_count, ==, MANY))
		for (int i = 0; i < MANY; i++) {
			job_id_name(SPACE, i, job_id);
			CHECK_STR(reading.jobs[i].job_id, job_id);
			CHECK_INT(asked_for(&stub, i), ==, 1);
		}
	ha_reading_release(&reading);
	ha_query_release(&query);
	kube_stub_stop(&stub);
	for (int i = 0; i < MANY; i++) {
		free(names[i]);
		free(bodies[i]);
	}
}

KUBE_TEST(the_first_failure_ends_the_reading)
{
	struct ha_query query;
	struct ha_reading reading;

	ha_query_init(&query, "orders", SPACE, 60, NULL);
	KUBE_SAY(stub, NO_CLUSTER,
		 {.status = 403, .body = KUBE_STATUS(403, "Forbidden", "no", "")});
	ha_read(stub->kube, &query, &reading);
	CHECK_INT(reading.state, ==, SOURCE_UNREADABLE);
	CHECK_HAS(reading.detail, "403");
	CHECK_INT(kube_stub_asked(stub), <=, 1 + 2 * KUBE_IN_FLIGHT);
	ha_reading_release(&reading);
	ha_query_release(&query);
}

KUBE_TEST(nothing_at_all_is_absence_too)
{
	struct ha_query query;
	struct ha_reading reading;

	query_two(&query);
	KUBE_SAY(stub, NO_CLUSTER, NO_A, NO_B);
	ha_read(stub->kube, &query, &reading);
	CHECK_INT(reading.state, ==, SOURCE_PRESENT);
	CHECK_INT(reading.maps.count, ==, 0);
	CHECK(!reading.cluster.lock.present);
	ha_reading_release(&reading);
	ha_query_release(&query);
}

TEST(an_error_is_never_absence)
{
	static const struct kube_stub_says errors[] = {
		{.status = 403,
		 .body = KUBE_STATUS(403, "Forbidden", "configmaps is forbidden", "")},
		{.status = 404, .body = "404 page not found\n"},
		{.body = "<html>"},
		{.body = CLUSTER_MAP(FREE, ""), .cut_at_bytes = 60},
	};

	for (size_t i = 0; i < ARRAY_LEN(errors); i++)
		for (int at = 0; at < 3; at++) {
			struct kube_stub_says says[3] = {
				{.of = CLUSTER, .body = CLUSTER_MAP(FREE, "")},
				{.of = NAME_A, .body = JOB_MAP(JOB_A)},
				NO_B};
			const char *of = says[at].of;
			struct kube_stub stub;
			struct ha_query query;
			struct ha_reading reading;

			kube_stub_start(&stub);
			query_two(&query);
			says[at] = errors[i];
			says[at].of = of;
			kube_stub_say(&stub, says, ARRAY_LEN(says));
			ha_read(stub.kube, &query, &reading);
			if (!CHECK_INT(reading.state, ==, SOURCE_UNREADABLE))
				tap_note("error %zu at %d", i, at);
			CHECK(reading.detail && *reading.detail);
			ha_reading_release(&reading);
			ha_query_release(&query);
			kube_stub_stop(&stub);
		}
}

KUBE_TEST(a_map_without_flinks_labels_is_not_ours)
{
	struct ha_query query;
	struct ha_reading reading;

	query_two(&query);
	KUBE_SAY(stub, NO_CLUSTER,
		 {.of = NAME_A, .body = MAP(NAME_A, "{\"app\":\"orders\"}", FREE, "")},
		 {.of = NAME_B,
		  .body = MAP(NAME_B, "{\"app\":\"orders-b\",\"type\":\"flink-native-kubernetes\"}",
			      FREE, "")});
	ha_read(stub->kube, &query, &reading);
	CHECK_INT(reading.state, ==, SOURCE_PRESENT);
	CHECK_INT(reading.maps.count, ==, 0);
	CHECK_INT(reading.job_count, ==, 0);
	ha_reading_release(&reading);
	ha_query_release(&query);
}

KUBE_TEST(a_cluster_map_without_flinks_labels_is_a_doubt)
{
	struct ha_query query;
	struct ha_reading reading;

	query_two(&query);
	KUBE_SAY(stub, {.body = MAP(CLUSTER, "{}", HELD, "")});
	ha_read(stub->kube, &query, &reading);
	CHECK_INT(reading.state, ==, SOURCE_UNREADABLE);
	CHECK_HAS(reading.detail, "does not have the labels app=orders");
	ha_reading_release(&reading);
	ha_query_release(&query);
}

KUBE_TEST(a_list_is_searched_for_exactly_our_names)
{
	struct ha_query query = {.cluster_id = xstrdup("orders"), .by_label = true};
	struct ha_reading reading;

	KUBE_SAY(
		stub, {.body = CLUSTER_MAP(FREE, "")},
		{.body = "{\"kind\":\"ConfigMapList\",\"apiVersion\":\"v1\",\"metadata\":{"
			 "\"resourceVersion\":\"9\"},\"items\":[" CLUSTER_MAP(FREE, "") "," JOB_MAP(
				 JOB_A) "," MAP("orders-eu-" JOB_B "-config-map", LABELS, FREE,
						"") "," MAP("orders-" JOB_B "-config-map",
							    "{\"app\":\"orders\"}", FREE,
							    "") "," MAP("orders-" JOB_B
									"x-config-map",
									LABELS, FREE,
									"") "," MAP("orders-"
										    "autoscaler",
										    LABELS, FREE,
										    "") "]}"});
	ha_read(stub->kube, &query, &reading);
	if (!CHECK_INT(reading.state, ==, SOURCE_PRESENT))
		tap_note("%s", reading.detail);
	CHECK_HAS(stub->asked[1], "labelSelector=app");
	CHECK_HAS(stub->asked[1], "orders");
	CHECK_INT(reading.job_count, ==, 1);
	CHECK_STR(reading.jobs[0].job_id, JOB_A);
	CHECK_INT(reading.maps.count, ==, 2);
	ha_reading_release(&reading);
	ha_query_release(&query);
}

/* ---- giving the lock back ---- */

/* A process that is known to hold what HELD says. */
static void watch_holder(struct failover_watch *watch)
{
	*watch = (struct failover_watch){.proven = true};
	memcpy(watch->launch_id, JOB_A, JOB_ID_BYTES);
	watch->seen.holder = xstrdup(HOLDER);
	failover_lock_add_session(&watch->seen, "org.apache.flink.k8s.leader.dispatcher",
				  "s1,pekko.tcp://flink@10.0.0.7:6123/d", "10.0.0.7", 6123);
}

KUBE_TEST(gives_the_lock_back_with_one_patch_of_what_it_has_read)
{
	struct failover_watch watch;
	struct ha_release release;

	watch_holder(&watch);
	KUBE_SAY(stub, {.body = CLUSTER_MAP(HELD, SESSION)}, {.body = CLUSTER_MAP(FREE, "")});
	ha_release_lock(stub->kube, "orders", &watch, JOB_A, true, &release);
	if (!CHECK_INT(release.kind, ==, FAILOVER_RELEASE))
		tap_note("%s", release.reason);
	CHECK_INT(kube_stub_asked(stub), ==, 2);
	CHECK_STR(stub->asked[1], "PATCH " MAPS "/" CLUSTER);
	CHECK_HAS(stub->heads[1], "application/merge-patch+json");
	CHECK_HAS(stub->bodies[1], "\"resourceVersion\":\"7\"");
	CHECK_HAS(stub->bodies[1], "\\\"holderIdentity\\\":\\\"\\\"");
	CHECK_HAS(stub->bodies[1], "\\\"leaseDuration\\\":\\\"PT1S\\\"");
	CHECK_HAS(stub->bodies[1], "\"org.apache.flink.k8s.leader.dispatcher\":null");
	failover_watch_release(&watch);
}

#define CONFLICT                                                                                   \
	{                                                                                          \
		.status = 409, .body = KUBE_STATUS(409, "Conflict", "it was modified", "")         \
	}

KUBE_TEST(looks_again_when_somebody_was_faster)
{
	struct failover_watch watch;
	struct ha_release release;

	watch_holder(&watch);
	KUBE_SAY(stub, {.body = CLUSTER_MAP(HELD, SESSION)}, CONFLICT,
		 {.body = CLUSTER_MAP(HELD, SESSION)}, {.body = CLUSTER_MAP(FREE, "")});
	ha_release_lock(stub->kube, "orders", &watch, JOB_A, true, &release);
	CHECK_INT(release.kind, ==, FAILOVER_RELEASE);
	CHECK_INT(kube_stub_asked(stub), ==, 4);
	failover_watch_release(&watch);
}

KUBE_TEST(leaves_the_lock_alone_when_somebody_else_was_faster_and_holds_it)
{
	struct failover_watch watch;
	struct ha_release release;

	watch_holder(&watch);
	KUBE_SAY(stub, {.body = CLUSTER_MAP(HELD, SESSION)}, CONFLICT,
		 {.body = CLUSTER_MAP("{\\\"holderIdentity\\\":\\\"another\\\"}", "")});
	ha_release_lock(stub->kube, "orders", &watch, JOB_A, true, &release);
	CHECK_INT(release.kind, ==, FAILOVER_DO_NOT);
	CHECK_HAS(release.reason, "owned by another");
	CHECK_INT(kube_stub_asked(stub), ==, 3);
	failover_watch_release(&watch);
}

KUBE_TEST(does_not_try_for_ever)
{
	struct kube_stub_says says[2 * HA_CHANGE_ROUNDS + 2];
	struct failover_watch watch;
	struct ha_release release;

	watch_holder(&watch);
	for (size_t i = 0; i < ARRAY_LEN(says); i += 2) {
		says[i] = (struct kube_stub_says){.body = CLUSTER_MAP(HELD, SESSION)};
		says[i + 1] = (struct kube_stub_says)CONFLICT;
	}
	kube_stub_say(stub, says, ARRAY_LEN(says));
	ha_release_lock(stub->kube, "orders", &watch, JOB_A, true, &release);
	CHECK_INT(release.kind, ==, FAILOVER_DO_NOT);
	CHECK_INT(kube_stub_asked(stub), ==, 2 * HA_CHANGE_ROUNDS);
	failover_watch_release(&watch);
}

KUBE_TEST(changes_nothing_for_a_process_that_nobody_has_seen_die)
{
	struct failover_watch watch;
	struct ha_release release;

	watch_holder(&watch);
	KUBE_SAY(stub, {.body = CLUSTER_MAP(HELD, SESSION)});
	ha_release_lock(stub->kube, "orders", &watch, JOB_A, false, &release);
	CHECK_INT(release.kind, ==, FAILOVER_DO_NOT);
	CHECK_INT(kube_stub_asked(stub), ==, 1);
	failover_watch_release(&watch);
}

KUBE_TEST(a_refusal_is_told_and_nothing_else_happens)
{
	struct failover_watch watch;
	struct ha_release release;

	watch_holder(&watch);
	KUBE_SAY(stub, {.body = CLUSTER_MAP(HELD, SESSION)},
		 {.status = 403, .body = KUBE_STATUS(403, "Forbidden", "you may not", "")});
	ha_release_lock(stub->kube, "orders", &watch, JOB_A, true, &release);
	CHECK_INT(release.kind, ==, FAILOVER_DO_NOT);
	CHECK_HAS(release.reason, "you may not");
	CHECK_INT(kube_stub_asked(stub), ==, 2);
	failover_watch_release(&watch);
}

/* ---- before a start ---- */

#define DATE_LATER "Date: Sun, 01 Mar 2026 12:01:00 GMT\r\n"
#define DATE_SOON  "Date: Sun, 01 Mar 2026 12:00:10 GMT\r\n"
#define LEFTOVER   "\"executionPlan-" JOB_A "\":\"x\""

/* What ha_clean() says for a launch of job B; how many requests that took. */
static int clean(struct kube_stub *stub, struct err *err, int *ret_asked)
{
	struct launch launch = {.job_id = JOB_B};
	struct ha_unchanged unchanged = {0};
	struct ha_cluster cluster = {0};
	int rc = ha_clean(stub->kube, "orders", &launch, &unchanged, &cluster, err);

	*ret_asked = kube_stub_asked(stub);
	ha_cluster_release(&cluster);
	ha_unchanged_release(&unchanged);
	return rc;
}

KUBE_TEST(takes_out_what_would_start_twice_once_the_lease_has_run_out)
{
	struct err err = {0};
	int asked;

	KUBE_SAY(stub, {.body = CLUSTER_MAP(HELD, LEFTOVER), .header = DATE_LATER},
		 {.body = CLUSTER_MAP(HELD, "")}, {.body = CLUSTER_MAP(HELD, "")});
	if (!CHECK_INT(clean(stub, &err, &asked), ==, 0))
		tap_note("%s", err.msg);
	CHECK_INT(asked, ==, 3);
	CHECK_STR(stub->bodies[1], "{\"metadata\":{\"resourceVersion\":\"7\"},\"data\":{"
				   "\"executionPlan-" JOB_A "\":null}}");
}

KUBE_TEST(does_not_touch_the_map_of_a_leader_that_may_live)
{
	struct err err = {0};
	int asked;

	KUBE_SAY(stub, {.body = CLUSTER_MAP(HELD, LEFTOVER), .header = DATE_SOON});
	CHECK_INT(clean(stub, &err, &asked), ==, -1);
	CHECK_INT(err.kind, ==, ERR_BUSY);
	CHECK_HAS(err.msg, HOLDER " owns it");
	CHECK_INT(asked, ==, 1);
}

TEST(a_map_without_leftovers_is_only_read_whoever_leads)
{
	struct kube_stub stub;
	struct err err = {0};
	int asked;

	kube_stub_start(&stub);
	KUBE_SAY(&stub, {.body = CLUSTER_MAP(HELD, "\"executionPlan-" JOB_B "\":\"x\""),
			 .header = DATE_SOON});
	CHECK_INT(clean(&stub, &err, &asked), ==, 0);
	CHECK_INT(asked, ==, 1);
	kube_stub_stop(&stub);
	kube_stub_start(&stub);
	KUBE_SAY(&stub, NO_CLUSTER);
	CHECK_INT(clean(&stub, &err, &asked), ==, 0);
	CHECK_INT(asked, ==, 1);
	kube_stub_stop(&stub);
}

#define AHEAD                                                                                      \
	"{\\\"holderIdentity\\\":\\\"" HOLDER "\\\",\\\"leaseDuration\\\":\\\"PT15S\\\","          \
	"\\\"acquireTime\\\":\\\"2099-03-01T12:00:00.000000Z\\\","                                 \
	"\\\"renewTime\\\":\\\"2099-03-01T12:00:07.000000Z\\\",\\\"leaderTransitions\\\":2}"

KUBE_TEST(a_lock_for_which_flink_would_wait_for_years_is_not_touched_while_it_may_be_held)
{
	struct err err = {0};
	int asked;

	KUBE_SAY(stub, {.body = CLUSTER_MAP(AHEAD, SESSION), .header = DATE_LATER});
	CHECK_INT(clean(stub, &err, &asked), ==, -1);
	CHECK_INT(err.kind, ==, ERR_BUSY);
	CHECK_HAS(err.msg, "a clock that is ahead of this Pod's");
	CHECK_INT(asked, ==, 1);
}

KUBE_TEST(and_is_released_when_nobody_has_renewed_it_for_its_length)
{
	struct launch launch = {.job_id = JOB_B};
	struct ha_unchanged unchanged = {.holder = xstrdup(HOLDER),
					 .renew_time = xstrdup("2099-03-01T12:00:07.000000Z"),
					 .since_ms = clock_mono_ms() - 17100};
	struct ha_cluster cluster = {0};
	struct err err = {0};

	KUBE_SAY(stub, {.body = CLUSTER_MAP(AHEAD, SESSION), .header = DATE_LATER},
		 {.body = CLUSTER_MAP(FREE, "")}, {.body = CLUSTER_MAP(FREE, "")});
	CHECK_INT(ha_clean(stub->kube, "orders", &launch, &unchanged, &cluster, &err), ==, 0);
	CHECK_INT(kube_stub_asked(stub), ==, 3);
	CHECK_HAS(stub->bodies[1], "\\\"holderIdentity\\\":\\\"\\\"");
	CHECK_HAS(stub->bodies[1], "\"org.apache.flink.k8s.leader.dispatcher\":null");
	ha_cluster_release(&cluster);
	ha_unchanged_release(&unchanged);
}

KUBE_TEST(a_map_that_changes_under_the_hands_is_judged_anew)
{
	struct err err = {0};
	int asked;

	KUBE_SAY(stub, {.body = CLUSTER_MAP(FREE, LEFTOVER)}, CONFLICT,
		 {.body = CLUSTER_MAP(HELD, LEFTOVER), .header = DATE_SOON});
	CHECK_INT(clean(stub, &err, &asked), ==, -1);
	CHECK_INT(err.kind, ==, ERR_BUSY);
	CHECK_INT(asked, ==, 3);
}

TEST(a_lock_is_watched_over_several_readings)
{
	struct ha_unchanged unchanged = {0};
	struct failover_lock lock = {.holder = (char *)"a", .renew_time = (char *)"1"};

	CHECK_INT(ha_unchanged_ms(&unchanged, &lock), ==, 0);
	unchanged.since_ms -= 5000;
	CHECK_INT(ha_unchanged_ms(&unchanged, &lock), >=, 5000);
	lock.renew_time = (char *)"2";
	CHECK_INT(ha_unchanged_ms(&unchanged, &lock), <, 5000);
	unchanged.since_ms -= 5000;
	lock.holder = (char *)"b";
	CHECK_INT(ha_unchanged_ms(&unchanged, &lock), <, 5000);
	/* of the last renewal, seen again */
	CHECK_INT(ha_unchanged_ms(&unchanged, &lock), <, 5000);
	ha_unchanged_release(&unchanged);
}

/* ---- spent maps ---- */

KUBE_TEST(deletes_only_the_map_that_was_read)
{
	struct ha_job job = {
		.job_id = JOB_A, .uid = (char *)"u-1", .resource_version = (char *)"7"};
	struct err err = {0};

	KUBE_SAY(stub, {.body = JOB_MAP(JOB_A)}, {.status = 404, .body = NOT_FOUND(NAME_A)},
		 CONFLICT);
	CHECK_INT(ha_job_delete(stub->kube, "orders", &job, &err), ==, 0);
	CHECK_STR(stub->asked[0], "DELETE " MAPS "/orders-" JOB_A "-config-map");
	CHECK_HAS(stub->bodies[0], "\"uid\":\"u-1\"");
	CHECK_HAS(stub->bodies[0], "\"resourceVersion\":\"7\"");
	CHECK_INT(ha_job_delete(stub->kube, "orders", &job, &err), ==, 0);
	CHECK_INT(ha_job_delete(stub->kube, "orders", &job, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_BUSY);
}
