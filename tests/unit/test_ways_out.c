#include "core/report/ways_out.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "core/report/cause.h"
#include "quoted_json.h"
#include "tap.h"

static const struct ways_out_facts plain = {0};
static const struct ways_out_facts in_pod = {
	.pod = "orders-1", .namespace = "shop", .deployment = "orders-jm"};

static struct json *ways_of(const char *quoted, const struct ways_out_facts *facts)
{
	struct json *doc = quoted_json(quoted);

	status_add_runbook(doc, facts);
	return doc;
}

static const struct json *way_of(const struct json *doc, size_t i)
{
	return json_at(json_get(json_get(doc, "runbook"), "ways"), i);
}

/* Is there a command that is exactly this, or one that has it in it? */
static bool offers(const struct json *doc, const char *command, bool exactly)
{
	const struct json *way, *each;

	json_each (way, json_get(json_get(doc, "runbook"), "ways"))
		json_each (each, json_get(way, "commands"))
			if (exactly ? !strcmp(json_text(each), command)
				    : strstr(json_text(each), command) != NULL)
				return true;
	return false;
}

#define MISSING                                                                                    \
	"{'application': 'orders', 'cause': 'NewestStateMissing', "                                \
	"'lastCheckpoint': {'id': 9, 'completedUnixMs': 1795663514000}, "                          \
	"'decision': {'candidates': [{'path': 's3://b/old'}, {'path': '%s', 'offered': true, "     \
	"'completedUnixMs': 1795663394000}]}}"

TEST(a_held_job_has_ways_out_with_what_they_lose)
{
	cleanup_free char *document = xasprintf(MISSING, "s3://b/sp");
	cleanup_json struct json *doc = ways_of(document, &in_pod);
	const struct json *runbook = json_get(doc, "runbook"), *accept = way_of(doc, 1);

	CHECK_STR(json_str(runbook, "page"), "NewestStateMissing");
	CHECK(json_str(runbook, "means") != NULL);
	CHECK(json_bool_or(way_of(doc, 0), "losesNothing", false));
	CHECK_INT(json_kind(json_get(way_of(doc, 0), "lostMs")), ==, JSON_NULL);
	CHECK(offers(doc, "kubectl exec -n shop orders-1 -- drey resume --from s3://b/sp", true));
	CHECK(!json_bool_or(accept, "losesNothing", true));
	CHECK_INT(json_i64_or(accept, "lostMs", 0), ==, 120000);
	CHECK_HAS(json_str(accept, "loses"), "what the job did between the two");
	CHECK(!json_bool_or(accept, "choosePath", true));
}

TEST(a_command_is_quoted_for_a_shell)
{
	static const struct {
		const char *path, *command;
	} rows[] = {
		{"s3://b/a b", "drey resume --from 's3://b/a b'"},
		{"s3://b/$(reboot);`x`", "drey resume --from 's3://b/$(reboot);`x`'"},
		{"s3://b/it\\u0027s", "drey resume --from 's3://b/it'\\''s'"},
		/* what cannot be seen as it is cannot be pasted */
		{"s3://b/\\u202e", "drey resume --from PATH"},
		{"s3://b/a\\nreboot", "drey resume --from PATH"},
		{"s3://b/\\udb80\\udc01", "drey resume --from PATH"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		cleanup_free char *document = xasprintf(MISSING, rows[i].path);
		cleanup_json struct json *doc = ways_of(document, &plain);

		if (!CHECK(offers(doc, rows[i].command, true)))
			tap_note("%s", rows[i].path);
	}
}

TEST(a_command_outside_kubernetes_names_its_configuration)
{
	static const struct ways_out_facts here = {.config_file = "/tmp/a b/drey.yaml"};
	cleanup_free char *document = xasprintf(MISSING, "s3://b/sp");
	cleanup_json struct json *doc = ways_of(document, &here);

	CHECK(offers(doc, "drey resume --from s3://b/sp --config '/tmp/a b/drey.yaml'", true));
}

TEST(a_command_names_what_is_here)
{
	static const struct {
		const char *cause, *more, *command;
	} rows[] = {
		{"DoNotRestart", "'control': {'configMap': 'shop-control'}",
		 "kubectl -n shop patch configmap shop-control --type merge --patch "
		 "'{\"data\":{\"do-not-restart\":\"false\"}}'"},
		{"StorageUnreadable", "'x': 1",
		 "kubectl -n shop rollout restart deployment/orders-jm"},
		{"HandoverRefused", "'owner': {'pod': 'orders-0'}",
		 "kubectl exec -n shop orders-0 -- drey resume"},
		{"JournalTaken", "'x': 1", "kubectl -n shop delete pod orders-1"},
		{"RequestedSnapshotForeign", "'x': 1",
		 "kubectl exec -n shop orders-1 -- drey resume --from PATH --foreign"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		cleanup_free char *document =
			xasprintf("{'application': 'bills', 'phase': 'Holding', 'cause': '%s', %s}",
				  rows[i].cause, rows[i].more);
		cleanup_json struct json *doc = ways_of(document, &in_pod);

		if (!CHECK(offers(doc, rows[i].command, true)))
			tap_note("%s", rows[i].cause);
	}
}

/* Pasted in this Pod they would do something else, or nothing. */
TEST(a_command_for_another_place_or_without_a_name_is_not_offered)
{
	static const struct {
		const char *cause, *command;
	} rows[] = {
		{"LeaseElsewhere", "-- drey suspend"}, /* "there" */
		{"DoNotRestart", "patch configmap"},   /* no ConfigMap */
		{"UnknownFlinkRuns", "delete pod"},    /* not before the savepoint */
		{"HandoverRefused", "-- drey resume"}, /* which Pod is the owner's? */
		{"SpecRefused", "patch flapp"},        /* incomplete */
		{"Finished", "--from"},                /* likewise */
		{"AttemptsUsedUp", "helm"}, /* nobody here knows the name of the release */
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		cleanup_free char *document =
			xasprintf("{'phase': 'Holding', 'cause': '%s'}", rows[i].cause);
		cleanup_json struct json *doc = ways_of(document, &in_pod);

		CHECK(json_len(json_get(json_get(doc, "runbook"), "ways")) > 0);
		if (!CHECK(!offers(doc, rows[i].command, false)))
			tap_note("%s", rows[i].cause);
	}
}

static bool any_loses_nothing(const struct json *doc, const char *loses)
{
	const struct json *way;

	json_each (way, json_get(json_get(doc, "runbook"), "ways"))
		if (json_str(way, "loses") &&
		    !strncmp(json_str(way, "loses"), loses, strlen(loses)))
			return json_bool_or(way, "losesNothing", false);
	CHECK(false);
	return false;
}

TEST(only_what_loses_nothing_at_all_says_so)
{
	cleanup_json struct json *finished = ways_of("{'cause': 'Finished'}", &plain);
	cleanup_json struct json *failed = ways_of("{'cause': 'AttemptsUsedUp'}", &plain);

	CHECK(!any_loses_nothing(finished, "nothing, but its results may be written twice"));
	CHECK(any_loses_nothing(failed, "nothing: the old version resumes"));
}

TEST(every_cause_has_a_page_with_its_ways_out)
{
	for (int i = CAUSE_NONE + 1; i < CAUSE_COUNT; i++) {
		const char *name = cause_name((enum cause)i);
		cleanup_free char *document =
			xasprintf("{'application': 'orders', 'cause': '%s'}", name);
		cleanup_json struct json *doc = ways_of(document, &in_pod);

		CHECK_STR(json_str(json_get(doc, "runbook"), "page"), name);
		CHECK(json_str(way_of(doc, 0), "text") != NULL);
	}
}

TEST(any_cause_that_has_no_page_is_none)
{
	static const char *const documents[] = {"{}", "{'cause': null}", "{'cause': 7}",
						"{'cause': '../status'}", "{'cause': ''}"};

	for (size_t i = 0; i < ARRAY_LEN(documents); i++) {
		cleanup_json struct json *doc = ways_of(documents[i], &in_pod);

		CHECK(json_get(doc, "runbook") != NULL);
		CHECK_INT(json_kind(json_get(doc, "runbook")), ==, JSON_NULL);
	}
}
