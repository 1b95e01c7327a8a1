#include "core/report/status_lineage.h"

#include "base/json.h"
#include "base/mem.h"
#include "quoted_json.h"
#include "tap.h"

#define NOW INT64_C(1795663574000)

static struct json *lineage_of(const char *quoted)
{
	struct json *doc = quoted_json(quoted);

	status_add_lineage(doc, NOW);
	return doc;
}

/* The newest is the first. */
static const struct json *row_of(const struct json *doc, size_t i)
{
	return json_at(json_get(json_get(doc, "lineage"), "launches"), i);
}

static bool is_null(const struct json *object, const char *member)
{
	return json_get(object, member) && json_kind(json_get(object, member)) == JSON_NULL;
}

static const char two[] =
	"{'launches': ["
	"{'number': 1, 'startedUnixMs': 1795600000000, 'endedUnixMs': 1795610000000, 'end': 'killed by signal 9', 'pod': 'a', "
	"'lastCheckpoint': {'id': 9, 'completedUnixMs': 1795609000000}}, "
	"{'number': 2, 'startedUnixMs': 1795620000000, 'restoredFromLaunch': 1, 'pod': 'b', "
	"'restorePoint': {'kind': 'checkpoint', 'completedUnixMs': %s}}]}";

TEST(what_a_later_launch_has_gone_back_behind_is_abandoned)
{
	cleanup_free char *back = xasprintf(two, "1795605000000");
	cleanup_free char *straight = xasprintf(two, "1795609000000");
	cleanup_json struct json *first = lineage_of(back), *second = lineage_of(straight);

	CHECK_INT(json_i64_or(row_of(first, 1), "launch", 0), ==, 1);
	CHECK_INT(json_i64_or(row_of(first, 1), "abandonedUnixMs", 0), ==, INT64_C(1795605000000));
	CHECK(is_null(row_of(first, 0), "abandonedUnixMs"));
	CHECK(is_null(row_of(second, 1), "abandonedUnixMs"));
}

TEST(each_launch_says_what_it_came_from_and_how_it_ended)
{
	cleanup_free char *straight = xasprintf(two, "1795609000000");
	cleanup_json struct json *doc = lineage_of(straight);
	const struct json *newest = row_of(doc, 0), *first = row_of(doc, 1);

	CHECK(json_bool_or(first, "empty", false) && !json_bool_or(newest, "empty", true));
	CHECK_STR(json_str(first, "ended"), "failed");
	CHECK(is_null(newest, "ended"));
	CHECK_INT(json_i64_or(newest, "untilUnixMs", 0), ==, NOW);
	CHECK_INT(json_i64_or(newest, "restoredFromLaunch", 0), ==, 1);
	CHECK_INT(json_i64_or(newest, "restoredUnixMs", 0), ==, INT64_C(1795609000000));
	CHECK(json_bool_or(newest, "otherPod", false) && !json_bool_or(first, "otherPod", true));
}

/* Its file was complete a moment before drey had recorded it. */
TEST(the_savepoint_that_the_job_continues_from_is_not_abandoned)
{
	static const char of[] =
		"{'launches': ["
		"{'number': 1, 'startedUnixMs': 1795600000000, 'endedUnixMs': 1795610000000, "
		"'lastCheckpoint': {'id': 9, 'completedUnixMs': 1795608000000}}, "
		"{'number': 2, 'startedUnixMs': 1795620000000, 'restoredFromLaunch': 1, "
		"'restorePoint': {'kind': 'savepoint', 'checkpointId': %d, 'completedUnixMs': 1795609000164}}], "
		"'snapshots': [{'kind': 'savepoint', 'launch': 1, 'checkpointId': 10, 'origin': 'stop', "
		"'completedAt': '2026-11-25T12:16:49.409Z'}]}";
	cleanup_free char *same = xasprintf(of, 10), *older = xasprintf(of, 9);
	cleanup_json struct json *straight = lineage_of(same), *back = lineage_of(older);

	CHECK(is_null(row_of(straight, 1), "abandonedUnixMs"));
	CHECK_STR(json_str(row_of(straight, 1), "ended"), "stopped");
	CHECK_INT(json_i64_or(row_of(back, 1), "abandonedUnixMs", 0), ==, INT64_C(1795609000164));
}

TEST(an_end_that_nobody_saw_was_before_the_next_launch)
{
	cleanup_json struct json *doc = lineage_of(
		"{'launches': [{'number': 1, 'pod': 'a', 'intendedUnixMs': 1000, 'mismatched': true}, "
		"{'number': 2, 'pod': 'a', 'startedUnixMs': 9000, 'endedUnixMs': 9500, 'end': 'exited with 0'}]}");

	CHECK_INT(json_i64_or(row_of(doc, 1), "fromUnixMs", 0), ==, 1000);
	CHECK_INT(json_i64_or(row_of(doc, 1), "untilUnixMs", 0), ==, 9000);
	CHECK_STR(json_str(row_of(doc, 1), "ended"), "failed");
	/* all of it: it had restored something else */
	CHECK_INT(json_i64_or(row_of(doc, 1), "abandonedUnixMs", 0), ==, 1000);
	CHECK_STR(json_str(row_of(doc, 0), "ended"), "exited");
	CHECK(!json_bool_or(row_of(doc, 0), "otherPod", true));
}

TEST(pauses_are_what_was_held_and_what_was_parked)
{
	cleanup_json struct json *doc = lineage_of(
		"{'transitions': [{'unixMs': 1000, 'text': 'Holding: a'}, {'unixMs': 1500, 'text': 'Holding: b'}, "
		"{'unixMs': 1600, 'text': 'skipped: c'}, {'unixMs': 2000, 'text': 'Suspended: d'}, "
		"{'unixMs': 3000, 'text': 'Resolving: e'}, {'unixMs': 4000, 'text': 'Failed: f'}]}");
	const struct json *list = json_get(json_get(doc, "lineage"), "pauses");
	static const struct {
		bool parked;
		int64_t from, until;
	} want[] = {{false, 1000, 2000}, {true, 2000, 3000}, {false, 4000, NOW}};

	CHECK_INT(json_len(list), ==, ARRAY_LEN(want));
	for (size_t i = 0; i < ARRAY_LEN(want); i++) {
		const struct json *each = json_at(list, i);

		CHECK(json_bool_or(each, "parked", !want[i].parked) == want[i].parked);
		CHECK_INT(json_i64_or(each, "fromUnixMs", 0), ==, want[i].from);
		CHECK_INT(json_i64_or(each, "untilUnixMs", 0), ==, want[i].until);
	}
}

/* Members that are missing, null, or of another type are left out. */
TEST(any_launches_are_a_lineage)
{
	static const char *const documents[] = {
		"{}",
		"{'launches': [1, {}, null], 'snapshots': [[], {'launch': 1}], 'transitions': [{}, 'x', 7]}",
		"{'launches': {'a': 1}, 'snapshots': 1, 'transitions': {'text': 'Holding: x'}}",
		"{'launches': [{'number': 1, 'startedUnixMs': 9000000000000000000, "
		"'endedUnixMs': -9000000000000000000, 'lastCheckpoint': {'id': 1, 'completedUnixMs': "
		"9000000000000000000}}, {'number': 1, 'startedUnixMs': 5, 'restoredFromLaunch': 1, "
		"'restorePoint': {'completedUnixMs': -9000000000000000000}}]}",
	};

	for (size_t i = 0; i < ARRAY_LEN(documents); i++) {
		cleanup_json struct json *doc = lineage_of(documents[i]);

		CHECK(json_get(json_get(doc, "lineage"), "pauses") != NULL);
	}
}

TEST(only_the_newest_launches_are_drawn)
{
	cleanup_json struct json *doc = quoted_json("{}");
	struct json *list = json_add_array(doc, "launches");

	for (int i = 1; i <= 64; i++)
		json_add_i64(json_add_object(list, NULL), "number", i);
	status_add_lineage(doc, NOW);
	CHECK_INT(json_len(json_get(json_get(doc, "lineage"), "launches")), ==, LINEAGE_LAUNCHES);
	CHECK_INT(json_i64_or(row_of(doc, 0), "launch", 0), ==, 64);
}
