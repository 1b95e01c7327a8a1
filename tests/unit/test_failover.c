/* Every line of the safety list of the fast release has a test of its own here. */
#include "core/lifecycle/failover.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "tap.h"

#define LAUNCH     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa01"
#define OTHER      "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb02"
#define OURS       "11111111-0000-4000-8000-000000000001"
#define THEIRS     "22222222-0000-4000-8000-000000000002"
#define PREFIX     "org.apache.flink.k8s.leader."
#define HOME       "10.0.0.7"
#define STARTED    1700000000000
#define LATER      (STARTED + 60000)
#define REST       PREFIX "restserver"
#define DISPATCHER PREFIX "dispatcher"

/* Whose lock, renewed when, with sessions of which round. */
static struct failover_lock lock_of(const char *holder, const char *renewed, const char *host,
				    const char *round)
{
	struct failover_lock lock = {.present = true,
				     .recorded = true,
				     .understood = true,
				     .duration_ms = 15000,
				     .transitions = 3};
	cleanup_free char *rest = xasprintf("%s,http://%s:8081", round, host);
	cleanup_free char *rpc =
		xasprintf("%s,pekko.tcp://flink@%s:6123/user/rpc/d_0", round, host);

	lock.resource_version = xstrdup("700");
	lock.holder = xstrdup(holder);
	lock.renew_time = xstrdup(renewed);
	lock.renew_unix_ms = lock.acquire_unix_ms = STARTED + 5000;
	failover_lock_add_session(&lock, REST, rest, host, 8081);
	failover_lock_add_session(&lock, DISPATCHER, rpc, host, 6123);
	return lock;
}

static struct failover_lock our_lock(const char *renewed)
{
	return lock_of(OURS, renewed, HOME, "s1");
}

static void see(struct failover_watch *watch, struct failover_lock lock)
{
	failover_watch_see(watch, &lock);
}

/* A watch that knows its holder. */
static void watch_ours(struct failover_watch *watch)
{
	struct failover_lock before = lock_of(THEIRS, "t0", HOME, "s0");

	*watch = (struct failover_watch){0};
	failover_watch_begin(watch, LAUNCH, HOME, 6123, &before, STARTED);
	failover_lock_release(&before);
	see(watch, our_lock("t1"));
	see(watch, our_lock("t2"));
}

/* What is decided when `lock` is found; releases all three. `patch`: what it has to be, or NULL. */
static void expect(struct failover_watch *watch, const char *launch_id, bool reaped,
		   struct failover_lock lock, enum failover_kind kind, const char *part)
{
	struct failover_verdict verdict;

	failover_decide(watch, launch_id, reaped, &lock, LATER, &verdict);
	if (!CHECK_INT(verdict.kind, ==, kind))
		tap_note("%s", verdict.reason);
	CHECK_HAS(verdict.reason, part);
	CHECK_INT(verdict.patch != NULL, ==, kind == FAILOVER_RELEASE);
	free(verdict.patch);
	failover_lock_release(&lock);
}

static void expect_not(struct failover_watch *watch, struct failover_lock lock, const char *part)
{
	expect(watch, LAUNCH, true, lock, FAILOVER_DO_NOT, part);
	failover_watch_release(watch);
}

static void check_patch(bool iso, const char *expected)
{
	struct failover_lock lock = our_lock("t9");
	struct failover_verdict verdict;
	struct failover_watch watch;

	watch_ours(&watch);
	lock.iso = iso;
	failover_decide(&watch, LAUNCH, true, &lock, LATER + 26, &verdict);
	CHECK_INT(verdict.kind, ==, FAILOVER_RELEASE);
	CHECK_STR(verdict.patch, expected);
	free(verdict.patch);
	failover_lock_release(&lock);
	failover_watch_release(&watch);
}

/* ---- what is written ---- */

#define PATCH(duration)                                                                            \
	"{\"metadata\":{\"resourceVersion\":\"700\",\"annotations\":{"                             \
	"\"control-plane.alpha.kubernetes.io/leader\":\"{\\\"holderIdentity\\\":\\\"\\\","         \
	"\\\"leaseDuration\\\":" duration ",\\\"acquireTime\\\":"                                  \
	"\\\"2023-11-14T22:14:20.026000Z\\\",\\\"renewTime\\\":"                                   \
	"\\\"2023-11-14T22:14:20.026000Z\\\",\\\"leaderTransitions\\\":3}\"}},"                    \
	"\"data\":{\"" REST "\":null,\"" DISPATCHER "\":null}}"

TEST(writes_the_record_that_flink_1_writes_when_it_gives_the_lock_back)
{
	check_patch(false, PATCH("1.000000000"));
}

TEST(writes_the_record_that_flink_2_writes_when_it_gives_the_lock_back)
{
	check_patch(true, PATCH("\\\"PT1S\\\""));
}

#define WATCH_TEST(name)                                                                           \
	TEST_WITH(name, struct failover_watch, watch, watch_ours, failover_watch_release)

WATCH_TEST(never_takes_the_record_away)
{
	/* without it no leader is ever elected again: the client would try to create the map */
	struct failover_lock lock = our_lock("t9");
	cleanup_json struct json *patch = NULL;
	struct failover_verdict verdict;
	const char *record;

	failover_decide(watch, LAUNCH, true, &lock, LATER, &verdict);
	patch = json_parse(verdict.patch, strlen(verdict.patch), 65536, NULL);
	record = json_str(json_get(json_get(patch, "metadata"), "annotations"),
			  "control-plane.alpha.kubernetes.io/leader");
	CHECK_HAS(record, "\"holderIdentity\":\"\"");
	free(verdict.patch);
	failover_lock_release(&lock);
}

TEST(the_patch_is_bound_to_the_version_that_was_judged)
{
	struct failover_lock lock = our_lock("t9");
	struct failover_watch watch;

	watch_ours(&watch);
	xstrset(&lock.resource_version, NULL);
	expect_not(&watch, lock, "has no resource version");
}

/* ---- only after a death that was seen ---- */

WATCH_TEST(never_while_nobody_has_seen_it_die)
{
	/* a time-out, or a JVM that does not answer, is no death */

	expect(watch, LAUNCH, false, our_lock("t9"), FAILOVER_DO_NOT, "its death was not observed");
}

WATCH_TEST(never_for_another_process_than_the_one_that_was_watched)
{
	expect(watch, OTHER, true, our_lock("t9"), FAILOVER_DO_NOT, "not the watched process");
}

TEST(never_when_nothing_was_watched)
{
	struct failover_watch watch = {0};

	expect_not(&watch, our_lock("t9"), "not the watched process");
}

/* ---- only its own lock ---- */

TEST(never_the_lock_of_another_holder)
{
	struct failover_watch watch;

	watch_ours(&watch);
	expect_not(&watch, lock_of(THEIRS, "t9", "10.0.0.8", "s2"), "is owned by " THEIRS);
}

TEST(never_when_a_session_has_changed)
{
	struct failover_watch watch;

	watch_ours(&watch);
	expect_not(&watch, lock_of(OURS, "t9", HOME, "s2"), "another session");
}

TEST(never_when_a_session_of_somewhere_else_has_come)
{
	struct failover_lock lock = our_lock("t9");
	struct failover_watch watch;

	watch_ours(&watch);
	failover_lock_add_session(&lock, PREFIX "job-x", "s7,pekko.tcp://flink@10.0.0.8:6123/j",
				  "10.0.0.8", 6123);
	expect_not(&watch, lock, "job-x");
}

TEST(never_when_a_session_has_come_that_cannot_be_read)
{
	struct failover_lock lock = our_lock("t9");
	struct failover_watch watch;

	watch_ours(&watch);
	failover_lock_add_session(&lock, PREFIX "job-x", "nonsense", NULL, 0);
	expect_not(&watch, lock, "job-x");
}

WATCH_TEST(takes_the_leader_of_a_job_away_that_came_after_the_last_look)
{
	struct failover_lock lock = our_lock("t9");

	failover_lock_add_session(&lock, PREFIX "job-x", "s7,pekko.tcp://flink@10.0.0.7:6123/j",
				  HOME, 6123);
	expect(watch, LAUNCH, true, lock, FAILOVER_RELEASE, "has died");
}

WATCH_TEST(takes_what_is_left_of_the_sessions_after_a_clean_end)
{
	struct failover_lock lock = lock_of("", "t9", HOME, "s1");

	expect(watch, LAUNCH, true, lock, FAILOVER_RELEASE, "has died");
}

WATCH_TEST(has_nothing_to_do_where_the_lock_was_given_back)
{
	struct failover_lock lock = {.present = true, .recorded = true, .understood = true};
	struct failover_lock none = {0};

	lock.resource_version = xstrdup("700");
	expect(watch, LAUNCH, true, lock, FAILOVER_NOTHING, "already released");
	expect(watch, LAUNCH, true, none, FAILOVER_NOTHING, "no lock");
}

TEST(never_on_a_map_that_is_being_deleted)
{
	struct failover_lock lock = our_lock("t9");
	struct failover_watch watch;

	watch_ours(&watch);
	lock.deleting = true;
	expect_not(&watch, lock, "deleted");
}

TEST(never_where_there_is_no_record)
{
	struct failover_lock lock = our_lock("t9");
	struct failover_watch watch;

	watch_ours(&watch);
	lock.recorded = false;
	expect_not(&watch, lock, "no leader record");
}

TEST(never_where_the_record_cannot_be_read)
{
	struct failover_lock lock = our_lock("t9");
	struct failover_watch watch;

	watch_ours(&watch);
	lock.understood = false;
	expect_not(&watch, lock, "record is invalid");
}

/* ---- who is it? ---- */

static void begin(struct failover_watch *watch, const char *host)
{
	struct failover_lock before = lock_of(THEIRS, "t0", HOME, "s0");

	*watch = (struct failover_watch){0};
	failover_watch_begin(watch, LAUNCH, host, 6123, &before, STARTED);
	failover_lock_release(&before);
}

TEST(a_holder_that_was_not_seen_at_all_is_not_known)
{
	struct failover_watch watch;

	begin(&watch, HOME);
	expect_not(&watch, our_lock("t9"), "not seen while it was alive");
}

TEST(one_look_is_not_enough)
{
	struct failover_watch watch;

	begin(&watch, HOME);
	see(&watch, our_lock("t1"));
	expect_not(&watch, our_lock("t9"), "only once");
}

TEST(two_looks_without_a_renewal_are_not_enough)
{
	struct failover_watch watch;

	begin(&watch, HOME);
	see(&watch, our_lock("t1"));
	see(&watch, our_lock("t1"));
	expect_not(&watch, our_lock("t9"), "only once");
}

TEST(two_looks_at_two_holders_are_not_enough)
{
	struct failover_watch watch;

	begin(&watch, HOME);
	see(&watch, lock_of(THEIRS, "t1", HOME, "s1"));
	see(&watch, our_lock("t2"));
	expect_not(&watch, our_lock("t9"), "only once");
}

TEST(a_leader_at_another_address_is_another)
{
	struct failover_watch watch;

	begin(&watch, HOME);
	see(&watch, lock_of(OURS, "t1", "10.0.0.8", "s1"));
	see(&watch, lock_of(OURS, "t2", "10.0.0.8", "s1"));
	expect_not(&watch, lock_of(OURS, "t9", "10.0.0.8", "s1"), "is at 10.0.0.8:6123");
}

TEST(a_leader_on_another_port_is_another)
{
	struct failover_watch watch;

	watch = (struct failover_watch){0};
	failover_watch_begin(&watch, LAUNCH, HOME, 6124, NULL, STARTED);
	see(&watch, our_lock("t1"));
	see(&watch, our_lock("t2"));
	expect_not(&watch, our_lock("t9"), "not at 10.0.0.7:6124");
}

TEST(sessions_of_before_the_start_are_of_another)
{
	struct failover_watch watch;

	begin(&watch, HOME);
	see(&watch, lock_of(OURS, "t1", HOME, "s0"));
	see(&watch, lock_of(OURS, "t2", HOME, "s0"));
	expect_not(&watch, lock_of(OURS, "t9", HOME, "s0"), "before its start");
}

TEST(without_an_address_of_its_own_nobody_is_known)
{
	struct failover_watch watch;

	begin(&watch, NULL);
	see(&watch, our_lock("t1"));
	see(&watch, our_lock("t2"));
	expect_not(&watch, our_lock("t9"), "no address");
}

TEST(without_a_dispatcher_nobody_is_known)
{
	struct failover_watch watch;

	begin(&watch, HOME);
	for (int i = 0; i < 2; i++) {
		struct failover_lock lock = our_lock(i ? "t2" : "t1");

		lock.sessions[1].key[0] = 'x';
		failover_watch_see(&watch, &lock);
	}
	expect_not(&watch, our_lock("t9"), "has not published its address");
}

/* An agent that was started again, beside a Flink that runs: what was there before is not known. */
TEST(an_agent_that_came_later_knows_a_lock_that_was_taken_since_the_start)
{
	struct failover_watch watch = {0};

	failover_watch_begin(&watch, LAUNCH, HOME, 6123, NULL, STARTED);
	see(&watch, our_lock("t1"));
	see(&watch, our_lock("t2"));
	expect(&watch, LAUNCH, true, our_lock("t9"), FAILOVER_RELEASE, OURS);
	failover_watch_release(&watch);
}

TEST(an_agent_that_came_later_does_not_know_a_lock_of_before_the_start)
{
	static const int64_t times[] = {STARTED - 1, -1};

	for (size_t i = 0; i < ARRAY_LEN(times); i++) {
		struct failover_watch watch = {0};

		failover_watch_begin(&watch, LAUNCH, HOME, 6123, NULL, STARTED);
		for (int look = 0; look < 2; look++) {
			struct failover_lock lock = our_lock(look ? "t2" : "t1");

			lock.acquire_unix_ms = times[i];
			failover_watch_see(&watch, &lock);
		}
		expect_not(&watch, our_lock("t9"), "before its start");
	}
}

TEST(a_process_that_has_lost_the_lock_is_not_known_any_more)
{
	/* stopped by SIGSTOP, replaced, continued: it lives on without the lock */
	struct failover_watch watch;

	watch_ours(&watch);
	see(&watch, lock_of(THEIRS, "t3", "10.0.0.8", "s3"));
	expect_not(&watch, our_lock("t9"), "is at 10.0.0.8");
}

TEST(a_lock_that_nobody_held_at_the_last_look_is_not_known)
{
	struct failover_watch watch;

	watch_ours(&watch);
	see(&watch, (struct failover_lock){0});
	expect_not(&watch, our_lock("t9"), "the lock had no owner");
}

WATCH_TEST(a_session_that_was_renewed_counts_as_it_was_seen_last)
{
	see(watch, lock_of(OURS, "t3", HOME, "s5"));
	expect(watch, LAUNCH, true, lock_of(OURS, "t4", HOME, "s5"), FAILOVER_RELEASE, OURS);
}

/* ---- is it free? ---- */

static void check_free(struct failover_lock lock, int64_t server_ms, int64_t unchanged_ms,
		       const char *held)
{
	cleanup_free char *why = NULL;

	CHECK_INT(failover_lock_is_free(&lock, server_ms, unchanged_ms, &why), ==, !held);
	if (held)
		CHECK_HAS(why ? why : "", held);
	failover_lock_release(&lock);
}

TEST(a_lock_is_held_until_its_lease_has_run_out_by_the_servers_clock)
{
	int64_t end = STARTED + 5000 + 15000 + 2000;

	check_free(our_lock("t1"), end - 1, 0, "for 1 ms more");
	check_free(our_lock("t1"), end, 0, "for 0 ms more");
	check_free(our_lock("t1"), end + 1, 0, NULL);
}

/* Its dates are those of another clock; the API server dates each write by its own. */
TEST(a_lock_that_is_renewed_by_a_clock_that_is_behind_is_held)
{
	int64_t an_hour = 3600000, server = STARTED + 5000 + an_hour;
	struct failover_lock lock = our_lock("t1");

	lock.changed_unix_ms = server - 4000;
	check_free(lock, server, 0, "for 13000 ms more");
	lock = our_lock("t1");
	lock.changed_unix_ms = server - 17001;
	check_free(lock, server, 0, NULL);
}

TEST(a_lock_that_nobody_renews_while_we_watch_is_free_whatever_the_clocks_say)
{
	check_free(our_lock("t1"), STARTED, 17000, "ms more");
	check_free(our_lock("t1"), STARTED, 17001, NULL);
	check_free(our_lock("t1"), 0, 17001, NULL);
}

static void check_ahead(struct failover_lock lock, int64_t now_unix_ms, bool expected)
{
	CHECK_INT(failover_lock_is_ahead(&lock, now_unix_ms), ==, expected);
	failover_lock_release(&lock);
}

/* It renewed at STARTED + 5000, by its clock. */
TEST(a_lock_is_ahead_when_flink_would_wait_longer_than_its_lease)
{
	struct failover_lock lock = our_lock("t1");
	cleanup_free char *text = failover_lock_patch(&lock, STARTED - 3600000);

	check_ahead(our_lock("t1"), STARTED - 3600000, true);
	check_ahead(our_lock("t1"), STARTED - 1, true);
	check_ahead(our_lock("t1"), STARTED, false);
	check_ahead(our_lock("t1"), STARTED + 3600000, false);
	check_ahead(lock_of("", "t1", HOME, "s1"), STARTED - 3600000, false);
	check_ahead((struct failover_lock){0}, STARTED - 3600000, false);
	CHECK_HAS(text, "\\\"holderIdentity\\\":\\\"\\\"");
	CHECK_HAS(text, "\"resourceVersion\":\"700\"");
	failover_lock_release(&lock);
}

TEST(a_lock_that_was_given_back_or_never_taken_is_free)
{
	struct failover_lock fresh = {.present = true};

	check_free(lock_of("", "t1", HOME, "s1"), 0, 0, NULL);
	check_free((struct failover_lock){0}, 0, 0, NULL);
	check_free(fresh, 0, 0, NULL);
}

TEST(every_doubt_about_a_lock_means_that_it_is_held)
{
	struct failover_lock lock = our_lock("t1");

	lock.understood = false;
	check_free(lock, LATER, 99999, "record is invalid");
	lock = our_lock("t1");
	lock.duration_ms = -1;
	check_free(lock, LATER, 99999, "without an end time");
	lock = our_lock("t1");
	lock.renew_unix_ms = -1;
	check_free(lock, LATER, 99999, "without an end time");
	check_free(our_lock("t1"), 0, 0, "sends no time");
	check_free(our_lock("t1"), STARTED - 1, 0, "future");
}
