#include "core/report/transitions.h"

#include "base/json.h"
#include "base/mem.h"
#include "quoted_json.h"
#include "tap.h"

#define NOW INT64_C(1795663574000) /* 2026-11-26T03:26:14Z */

static int64_t since_of(const char *quoted)
{
	cleanup_json struct json *doc = quoted_json(quoted);

	status_add_since(doc, NOW);
	CHECK_INT(json_i64_or(doc, "nowUnixMs", 0), ==, NOW);
	CHECK(json_get(doc, "sinceUnixMs") != NULL);
	return json_i64_or(doc, "sinceUnixMs", 0);
}

TEST(a_phase_lasts_since_it_began_whatever_was_said_in_it)
{
	CHECK_INT(since_of("{'phase': 'Holding', 'transitions': ["
			   "{'unixMs': 1000, 'text': 'Holding: before'}, "
			   "{'unixMs': 2000, 'text': 'Resolving: x'}, "
			   "{'unixMs': 3000, 'text': 'Holding: one'}, "
			   "{'unixMs': 4000, 'text': 'skipped: that'}, "
			   "{'unixMs': 5000, 'text': 'rule 6: a reason'}, "
			   "{'unixMs': 6000, 'text': 'Holding: another'}]}"),
		  ==, 3000);
}

TEST(a_running_job_is_not_ready_since_that_began)
{
	static const char running[] =
		"{'phase': '%s', 'conditions': [{'type': 'Stalled', 'status': 'False'}, "
		"{'type': 'Ready', 'status': '%s', 'lastTransitionTime': '2026-11-26T03:25:20.000Z'}], "
		"'transitions': [{'unixMs': 1795063500000, 'text': '%s: x'}]}";
	cleanup_free char *unready = xasprintf(running, "Running", "False", "Running");
	cleanup_free char *ready = xasprintf(running, "Running", "True", "Running");
	cleanup_free char *holding = xasprintf(running, "Holding", "False", "Holding");

	CHECK_INT(since_of(unready), ==, INT64_C(1795663520000));
	CHECK_INT(since_of(ready), ==, INT64_C(1795063500000));
	CHECK_INT(since_of(holding), ==, INT64_C(1795063500000));
}

TEST(what_the_transitions_do_not_say_is_not_known)
{
	static const char *const documents[] = {
		"{}",
		"{'phase': 'Holding'}",
		"{'phase': 'Holding', 'transitions': []}",
		"{'phase': 'Holding', 'transitions': [{'unixMs': 1, 'text': 'Running: x'}]}",
		"{'phase': 'Holding', 'transitions': [{'unixMs': 'x', 'text': 'Holding: x'}, 7, {}]}",
		"{'phase': 'Holding', 'transitions': [{'unixMs': 1, 'text': 'Holding'}, {'unixMs': 1, 'text': 'Holdings: x'}]}",
		"{'phase': 'Running', 'conditions': [{'type': 'Ready', 'status': 'False', 'lastTransitionTime': 'noon'}]}",
	};

	for (size_t i = 0; i < ARRAY_LEN(documents); i++)
		CHECK_INT(since_of(documents[i]), ==, 0);
}
