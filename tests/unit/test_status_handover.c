/* What the status document has of a hand-over: of the owner, and of another pod. */
#include "core/report/status_handover.h"

#include "handover_life.h"

static const struct json *handover_in(const struct json *doc)
{
	return json_get(doc, "handover");
}

LIFE_TEST_FROM(offered_begin, the_owner_tells_of_the_hand_over_and_of_the_candidate)
{
	struct candidate_record record = {.pod = (char *)(uintptr_t) "new",
					  .state = CANDIDATE_PREPARING,
					  .side = SIDE_GREEN,
					  .warm = {.main_held = true, .task_managers = 2},
					  .why = (char *)(uintptr_t) "it waits"};
	cleanup_json struct json *doc = json_object();
	const struct json *to;

	xstrset(&handover_of(l)->returned, "main() threw");
	handover_of(l)->returned_unix_ms = 7;
	status_add_handover(doc, &l->life, &record, NULL);
	CHECK_STR(json_str(doc, "role"), "owner");
	CHECK_STR(json_str(json_get(doc, "owner"), "pod"), "old");
	CHECK_STR(json_str(handover_in(doc), "state"), "offered");
	CHECK_STR(json_str(handover_in(doc), "mode"), "surge");
	CHECK_STR(json_str(json_get(handover_in(doc), "to"), "pod"), "new");
	CHECK_STR(json_str(handover_in(doc), "returned"), "main() threw");
	CHECK_INT(json_i64_or(handover_in(doc), "returnedUnixMs", 0), ==, 7);
	CHECK_INT(json_kind(json_get(handover_in(doc), "doneUnixMs")), ==, JSON_NULL);
	CHECK(!json_get(handover_in(doc), "jobId"));
	to = json_get(doc, "candidate");
	CHECK_STR(json_str(to, "pod"), "new");
	CHECK_STR(json_str(to, "state"), "Preparing");
	CHECK_STR(json_str(to, "side"), "green");
	CHECK(json_bool_or(to, "mainHeld", false));
	CHECK_INT(json_i64_or(to, "taskManagers", 0), ==, 2);
	CHECK_STR(json_str(to, "why"), "it waits");
}

LIFE_TEST_FROM(owner_begin, without_a_candidate_there_is_none)
{
	cleanup_json struct json *doc = json_object();

	status_add_handover(doc, &l->life, NULL, NULL);
	CHECK_STR(json_str(doc, "role"), "owner");
	CHECK_INT(json_kind(json_get(doc, "candidate")), ==, JSON_NULL);
	CHECK_INT(json_kind(handover_in(doc)), ==, JSON_NULL);
}

LIFE_TEST_FROM(granted_begin, who_has_given_the_job_away_is_the_reserve)
{
	cleanup_json struct json *doc = json_object();

	status_add_handover(doc, &l->life, NULL, NULL);
	CHECK_STR(json_str(doc, "role"), "reserve");
	CHECK_STR(json_str(json_get(doc, "owner"), "pod"), "new");
}

TEST(before_anything_is_read_nothing_is_known)
{
	cleanup_json struct json *doc = json_object();

	status_add_handover(doc, NULL, NULL, NULL);
	CHECK_STR(json_str(doc, "role"), "unknown");
	CHECK_INT(json_kind(json_get(doc, "owner")), ==, JSON_NULL);
	CHECK_INT(json_kind(json_get(doc, "candidate")), ==, JSON_NULL);
}

TEST(another_pod_tells_what_it_has_read_and_of_itself)
{
	struct standby standby = {.verdict = {.role = ROLE_CANDIDATE, .side = SIDE_GREEN}};
	cleanup_json struct json *doc = json_object();

	standby.record.pod = (char *)(uintptr_t) "new";
	standby.record.state = CANDIDATE_PREPARED;
	standby.owner = old_pod;
	status_add_handover(doc, NULL, NULL, &standby);
	CHECK_STR(json_str(doc, "role"), "candidate");
	CHECK_STR(json_str(json_get(doc, "owner"), "pod"), "old");
	CHECK_STR(json_str(json_get(doc, "candidate"), "state"), "Prepared");
	CHECK_STR(json_str(json_get(doc, "candidate"), "side"), "green");
}
