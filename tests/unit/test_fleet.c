#include "cmd/plugin/fleet.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "cmd/plugin/table.h"
#include "tap.h"

#define NOW INT64_C(1795662720000)
#define MIN INT64_C(60000)

static struct fleet fleet;

static struct json *parse(const char *text)
{
	return json_parse(text, strlen(text), 65536, NULL);
}

/* The status of "phase since `since` minutes". */
static char *status_text_of(const char *application, const char *phase, int since, const char *more)
{
	return xasprintf(
		"{\"application\":\"%s\",\"phase\":\"%s\",\"reason\":\"because\",\"desired\":{\"state\":\"running\"},"
		"\"transitions\":[{\"unixMs\":%lld,\"text\":\"%s: because\"}]%s}",
		application, phase, (long long)(NOW - since * MIN), phase, more);
}

static void resource(const char *namespace, const char *name, const char *status)
{
	cleanup_free char *text = xasprintf(
		"{\"kind\":\"FlinkApplication\",\"metadata\":{\"namespace\":\"%s\",\"name\":\"%s\"}%s%s}",
		namespace, name, status ? ",\"status\":" : "", status ? status : "");
	cleanup_json struct json *object = parse(text);

	CHECK(object != NULL);
	fleet_add_resource(&fleet, object);
}

static void journal(const char *namespace, const char *status)
{
	cleanup_json struct json *doc = parse(status);

	CHECK(doc != NULL);
	fleet_add_journal(&fleet, namespace, doc);
}

static void lines(const char *want, struct fleet_layout layout)
{
	cleanup_shown struct shown text = {0};

	layout.now_unix_ms = NOW;
	fleet_sort(&fleet);
	fleet_text(&fleet, &layout, &text);
	CHECK_STR(shown_str(&text), want);
	fleet_release(&fleet);
}

TEST(each_application_has_a_line)
{
	cleanup_free char *running = status_text_of(
		"orders", "Running", 3 * 60 + 5,
		",\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}],"
		"\"lastSavepoint\":{\"path\":\"s3://b/sp/1\",\"completedUnixMs\":1795661820000}");
	cleanup_free char *holding =
		status_text_of("clicks", "Holding", 14, ",\"cause\":\"NewestStateMissing\"");

	resource("shop", "orders", running);
	journal("ads", holding);
	lines("NAMESPACE   NAME     PHASE     AGE         SAVEPOINT   CAUSE\n"
	      "ads         clicks   Holding   14 min      -           NewestStateMissing\n"
	      "shop        orders   Running   3 h 5 min   15 min      -\n",
	      (struct fleet_layout){.namespaces = true});
}

TEST(wide_has_what_is_desired_and_the_path)
{
	cleanup_free char *status = status_text_of("orders", "Running", 1,
						   ",\"lastSavepoint\":{\"path\":\"s3://b/1\"}");

	resource("shop", "orders", status);
	lines("NAME     PHASE     AGE     SAVEPOINT   CAUSE   DESIRED   DO-NOT-RESTART   PATH\n"
	      "orders   Running   1 min   -           -       running   off              s3://b/1\n",
	      (struct fleet_layout){.wide = true});
}

TEST(an_empty_fleet_has_no_heads)
{
	lines("", (struct fleet_layout){0});
}

/* A drey that may not write the resource leaves an old status there */
TEST(of_two_of_one_application_the_later_one_counts)
{
	cleanup_free char *old = status_text_of("orders", "Running", 60, "");
	cleanup_free char *later = status_text_of("orders", "Suspended", 5, "");
	cleanup_free char *other = status_text_of("orders", "Failed", 5, "");

	for (int order = 0; order < 2; order++) {
		resource("shop", "orders", order ? later : old);
		journal("shop", order ? old : later);
		journal("ads", other);
		CHECK_INT(fleet.count, ==, 2);
		lines("NAME     PHASE       AGE     SAVEPOINT   CAUSE\n"
		      "orders   Failed      5 min   -           -\n"
		      "orders   Suspended   5 min   -           -\n",
		      (struct fleet_layout){0});
	}
	resource("shop", "orders", later);
	journal("shop", later);
	CHECK(fleet.rows[0].ready_known); /* it tells more */
	fleet_release(&fleet);
}

TEST(a_resource_without_a_status_gives_way)
{
	cleanup_free char *status = status_text_of("orders", "Running", 1, "");

	resource("shop", "orders", NULL);
	CHECK_STR(fleet.rows[0].phase, "");
	CHECK_STR(fleet.rows[0].application, "orders");
	journal("shop", status);
	CHECK_INT(fleet.count, ==, 1);
	CHECK_STR(fleet.rows[0].phase, "Running");
	fleet_release(&fleet);
	/* also to what has no date */
	resource("shop", "orders", NULL);
	journal("shop", "{\"application\":\"orders\",\"phase\":\"Launching\"}");
	CHECK_STR(fleet.rows[0].phase, "Launching");
	fleet_release(&fleet);
	resource("shop", "orders", NULL);
	lines("NAME     PHASE   AGE   SAVEPOINT   CAUSE\n"
	      "orders   -       -     -           -\n",
	      (struct fleet_layout){0});
}

TEST(what_cannot_be_read_is_a_line_of_its_own)
{
	cleanup_free char *status = status_text_of("clicks", "Running", 1, "");
	cleanup_json struct json *doc = NULL, *unreadable = parse("[\"ConfigMap x\"]");

	fleet_add_broken(&fleet, "shop", "orders", "byte 1: no JSON");
	doc = fleet_document(&fleet, unreadable);
	CHECK(json_kind(json_get(json_at(json_get(doc, "applications"), 0), "phase")) == JSON_NULL);
	CHECK_STR(json_str(json_at(json_get(doc, "applications"), 0), "error"), "byte 1: no JSON");
	CHECK_STR(json_text(json_at(json_get(doc, "unreadable"), 0)), "ConfigMap x");
	/* but a status that can be read says more */
	resource("shop", "clicks", status);
	fleet_add_broken(&fleet, "shop", "clicks", "byte 1: no JSON");
	lines("NAME     PHASE        AGE     SAVEPOINT   CAUSE\n"
	      "clicks   Running      1 min   -           -\n"
	      "orders   Unreadable   -       -           -\n",
	      (struct fleet_layout){0});
}

TEST(what_has_not_started_gives_way_to_what_has)
{
	cleanup_free char *status = status_text_of("clicks", "Running", 1, "");
	cleanup_json struct json *doc = NULL;

	fleet_add_unstarted(&fleet, "shop", "orders", "ImagePullBackOff", "Pod p: ...");
	fleet_add_unstarted(&fleet, "shop", "clicks", "NoPod", "x");
	CHECK(!fleet_knows(&fleet, "shop", "orders") && !fleet_knows(&fleet, "shop", "clicks"));
	journal("shop", status);
	CHECK(fleet_knows(&fleet, "shop", "clicks") && !fleet_knows(&fleet, "ads", "clicks"));
	fleet_add_unstarted(&fleet, "shop", "clicks", "NoPod", "x");
	doc = fleet_document(&fleet, NULL);
	CHECK(json_kind(json_get(json_at(json_get(doc, "applications"), 0), "phase")) == JSON_NULL);
	CHECK_STR(json_str(json_at(json_get(doc, "applications"), 0), "reason"), "Pod p: ...");
	lines("NAME     PHASE     AGE     SAVEPOINT   CAUSE\n"
	      "clicks   Running   1 min   -           -\n"
	      "orders   -         -       -           ImagePullBackOff\n",
	      (struct fleet_layout){0});
}

TEST(the_document_tells_what_is_known)
{
	cleanup_free char *status =
		status_text_of("orders", "Running", 1,
			       ",\"lastSavepoint\":{\"path\":\"s3://b/1\",\"completedUnixMs\":7}");
	cleanup_json struct json *doc = NULL;
	const struct json *row;

	journal("shop", status);
	doc = fleet_document(&fleet, NULL);
	row = json_at(json_get(doc, "applications"), 0);
	CHECK_STR(json_str(row, "namespace"), "shop");
	CHECK_STR(json_str(row, "phase"), "Running");
	CHECK_INT(json_i64_or(row, "phaseUnixMs", 0), ==, NOW - MIN);
	CHECK(json_kind(json_get(row, "ready")) == JSON_NULL); /* a journal does not know */
	CHECK_INT(json_i64_or(json_get(row, "lastSavepoint"), "completedUnixMs", 0), ==, 7);
	CHECK_INT(json_len(json_get(doc, "unreadable")), ==, 0);
	fleet_release(&fleet);
}

TEST(names_from_outside_cannot_forge_a_line)
{
	cleanup_free char *status =
		status_text_of("orders", "Running", 1, ",\"cause\":\"a\\nshop evil \\u001b[2J\"");

	resource("shop", "orders", status);
	lines("NAME     PHASE     AGE     SAVEPOINT   CAUSE\n"
	      "orders   Running   1 min   -           a\\x0ashop evil \\x1b[2J\n",
	      (struct fleet_layout){0});
}

TEST(the_phase_has_its_colour)
{
	cleanup_free char *failed = status_text_of("a", "Failed", 1, "");
	cleanup_shown struct shown text = {0};
	struct fleet_layout layout = {.term = {.colour = true}, .now_unix_ms = NOW};

	resource("shop", "a", failed);
	fleet_text(&fleet, &layout, &text);
	CHECK_HAS(shown_str(&text), "a      \x1b[31mFailed");
	fleet_release(&fleet);
}
