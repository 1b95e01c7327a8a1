#include "core/report/status_history.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "core/report/status.h"
#include "core/report/status_snapshots.h"
#include "core/resolve/resolve.h"
#include "tap.h"

#define JOB_A "0123456789abcdef0123456789abcdef"
#define JOB_B "0123450000000000000000000000000b" /* numbered ids begin alike */
#define NOW   INT64_C(1700000000000)

static const struct lifecycle_config config = {.max_attempts = 5, .attempts_window_ms = 60000};

static void history_make(struct lifecycle *life)
{
	struct journal journal;
	struct rng rng;

	rng_seed(&rng, 1);
	journal_init(&journal, "orders");
	lifecycle_init(life, &config, &journal, &rng);
	life->now_unix_ms = NOW;
	life->now_ms = 5000;
}

#define HISTORY_TEST(name) TEST_WITH(name, struct lifecycle, life, history_make, lifecycle_release)

static struct launch *launched(struct lifecycle *life, const char *job_id, int64_t started_unix_ms)
{
	struct launch *launch = journal_add_launch(&life->journal);

	snprintf(launch->job_id, sizeof(launch->job_id), "%s", job_id);
	launch->started_unix_ms = started_unix_ms;
	launch->wait_status = -1;
	return launch;
}

static struct json *document_of(const struct lifecycle *life, const struct json *decision)
{
	struct json *doc = status_document(life, NULL, NOW);

	status_add_history(doc, life, decision, NOW);
	return doc;
}

HISTORY_TEST(every_launch_says_what_it_came_from_and_how_it_ended)
{
	struct launch *launch = launched(life, JOB_A, NOW - 9000);
	const struct json *first, *second, *third;
	cleanup_json struct json *doc = NULL;

	launch->ended_unix_ms = NOW - 5000;
	launch->wait_status = SIGKILL;
	launch->writer = xstrdup("orders-1/uid/x");
	launch = launched(life, JOB_B, NOW - 4000);
	launch->restore_path = xstrdup("s3://b/ck/" JOB_A "/chk-7");
	launch->ended_unix_ms = NOW - 3000;
	launch->wait_status = 2 << 8;
	launch->writer = xstrdup("8f1c-boot-id");
	launched(life, JOB_B, NOW - 2000)->restore_path = xstrdup("s3://elsewhere/chk-1");
	doc = document_of(life, NULL);
	CHECK_INT(json_len(json_get(doc, "launches")), ==, 3);
	first = json_at(json_get(doc, "launches"), 0);
	second = json_at(json_get(doc, "launches"), 1);
	third = json_at(json_get(doc, "launches"), 2);
	CHECK_STR(json_str(first, "end"), "killed by signal 9");
	CHECK_STR(json_str(first, "pod"), "orders-1");
	CHECK_INT(json_kind(json_get(first, "restoredFromLaunch")), ==, JSON_NULL);
	CHECK_STR(json_str(second, "end"), "exited with 2");
	CHECK(json_str(second, "pod") == NULL);
	CHECK_INT(json_i64_or(second, "restoredFromLaunch", 0), ==, 1);
	CHECK_INT(json_kind(json_get(third, "end")), ==, JSON_NULL);
	CHECK_INT(json_kind(json_get(third, "restoredFromLaunch")), ==, JSON_NULL);
	CHECK_INT(json_kind(json_get(doc, "decision")), ==, JSON_NULL);
}

HISTORY_TEST(a_savepoint_is_of_the_launch_that_ran_then)
{
	struct snapshot recorded = {.path = (char *)"s3://b/sp/mine", .size_bytes = -1};

	launched(life, JOB_A, NOW - 9000);
	launched(life, JOB_B, NOW - 4000);
	/* the first six digits are the same: the date decides */
	CHECK_INT(status_launch_of(&life->journal, "s3://b/sp/savepoint-012345-77", NOW - 5000), ==,
		  1);
	CHECK_INT(status_launch_of(&life->journal, "s3://b/sp/savepoint-012345-77", NOW - 3000), ==,
		  2);
	CHECK_INT(status_launch_of(&life->journal, "s3://b/sp/savepoint-999999-77", NOW), ==, 0);
	snprintf(recorded.job_id, sizeof(recorded.job_id), "%s", JOB_A);
	journal_add_snapshot(&life->journal, &recorded);
	CHECK_INT(status_launch_of(&life->journal, "s3://b/sp/mine", NOW), ==, 1);
}

HISTORY_TEST(there_are_more_snapshots_than_for_the_custom_resource)
{
	cleanup_json struct json *few = NULL, *many = NULL;
	struct snapshot snapshot = {.kind = SNAPSHOT_SAVEPOINT, .size_bytes = -1};

	for (int i = 0; i < 60; i++) {
		cleanup_free char *path = xasprintf("file:/sp/%d", i);

		snapshot.path = path;
		snapshot.completed_unix_ms = NOW - i;
		journal_add_snapshot(&life->journal, &snapshot);
	}
	few = status_document(life, NULL, NOW);
	many = document_of(life, NULL);
	CHECK_INT(json_len(json_get(few, "snapshots")), ==, STATUS_SNAPSHOTS);
	CHECK_INT(json_len(json_get(many, "snapshots")), ==, HISTORY_SNAPSHOTS);
	CHECK(json_get(few, "launches") == NULL);
	CHECK_STR(json_str(json_at(json_get(many, "snapshots"), 0), "path"), "file:/sp/0");
	CHECK_STR(json_str(json_at(json_get(many, "snapshots"), 0), "origin"), "found");
}

HISTORY_TEST(when_drey_looks_again_is_counted_down)
{
	cleanup_json struct json *none = document_of(life, NULL), *some = NULL, *due = NULL;

	CHECK_INT(json_kind(json_get(none, "retryInMs")), ==, JSON_NULL);
	life->retry_ms = 5000 + 12000;
	life->now_unix_ms = NOW - 2000; /* the last step was two seconds ago */
	some = document_of(life, NULL);
	CHECK_INT(json_i64_or(some, "retryInMs", -1), ==, 10000);
	life->now_unix_ms = NOW - 60000;
	due = document_of(life, NULL);
	CHECK_INT(json_i64_or(due, "retryInMs", -1), ==, 0);
}

TEST(a_decision_has_its_sources_and_its_best_candidates)
{
	struct facts facts = {.candidate_count = 60};
	struct decision decision = {
		.kind = DECISION_HOLD, .rule = RULE_NEWEST, .cause = CAUSE_NEWEST_STATE_MISSING};
	cleanup_json struct json *doc = NULL;
	const struct json *list, *best;

	snprintf(decision.reason, sizeof(decision.reason),
		 "it is missing; accept the loss with `drey resume --from file:/sp/7`");
	facts.candidates = xcalloc(60, sizeof(*facts.candidates));
	for (int i = 0; i < 60; i++) {
		struct candidate *c = &facts.candidates[i];

		c->snapshot.path = xasprintf("file:/sp/%d", i);
		c->snapshot.size_bytes = c->snapshot.file_count = -1;
		c->snapshot.completed_unix_ms = NOW + i;
		c->verdict = i == 7 ? VERDICT_OLDER : VERDICT_NONE;
	}
	facts_set_source(&facts, SOURCE_JOURNAL, SOURCE_PRESENT, "sequence 4");
	facts_set_source(&facts, SOURCE_CHECKPOINTS, SOURCE_UNREADABLE, "denied");
	doc = decision_document(&facts, &decision, NOW);
	CHECK_STR(json_str(doc, "decision"), "HOLD");
	CHECK_STR(json_str(doc, "cause"), "NewestStateMissing");
	CHECK_INT(json_i64_or(doc, "rule", 0), ==, RULE_NEWEST);
	CHECK_INT(json_len(json_get(doc, "sources")), ==, 2);
	CHECK_STR(json_str(json_at(json_get(doc, "sources"), 1), "state"), "unreadable");
	list = json_get(doc, "candidates");
	CHECK_INT(json_len(list), ==, HISTORY_CANDIDATES);
	CHECK_INT(json_i64_or(doc, "candidatesLeftOut", 0), ==, 10);
	best = json_at(list, 0);
	CHECK_STR(json_str(best, "path"), "file:/sp/7");
	CHECK_STR(json_str(best, "verdict"), "older");
	CHECK(json_bool_or(best, "offered", false));
	/* then the newest of those that were not judged */
	CHECK_STR(json_str(json_at(list, 1), "path"), "file:/sp/59");
	CHECK_STR(json_str(json_at(list, 1), "verdict"), "not checked");
	CHECK(!json_bool_or(json_at(list, 1), "offered", true));
	facts_release(&facts);
}
