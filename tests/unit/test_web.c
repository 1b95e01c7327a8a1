#include "core/web/web.h"

#include <stdlib.h>
#include <string.h>

#include "base/embedded.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/mem.h"
#include "core/report/cause.h"
#include "html_check.h"
#include "tap.h"

#define NOW INT64_C(1795663574000) /* 2026-11-26T03:26:14Z */

static const struct web_facts plain = {
	.now_unix_ms = NOW, .version = "1.2.3", .application = "orders"};
static const struct web_facts in_pod = {.now_unix_ms = NOW,
					.version = "1.2.3",
					.pod = "orders-1",
					.namespace = "shop",
					.deployment = "orders-jm"};

/* The page of a document with ' for ". It must be one that drey makes. The caller frees. */
static char *page_of(const char *quoted, const struct web_facts *facts)
{
	cleanup_free char *text = xstrdup(quoted);
	cleanup_json struct json *status = NULL;
	struct buf to = BUF_INIT;
	struct err err = {0};

	for (char *at = text; (at = strchr(at, '\''));)
		*at = '"';
	status = json_parse(text, strlen(text), 1 << 20, &err);
	if (!CHECK(status != NULL))
		tap_note("%s", err.msg);
	web_render(status, facts, &to);
	CHECK_STR(html_check(buf_str(&to)), NULL);
	return buf_steal(&to);
}

#define MISSING                                                                                    \
	"{'application': 'orders', 'phase': 'Holding', 'cause': 'NewestStateMissing', "            \
	"'reason': 'take `drey resume --from s3://b/sp`', 'retryInMs': 12345, "                    \
	"'desired': {'state': 'running'}, "                                                        \
	"'lastCheckpoint': {'id': 9, 'completedUnixMs': 1795663514000}, "                          \
	"'transitions': [{'unixMs': 1795663000000, 'text': 'Holding: before'}, "                   \
	"{'unixMs': 1795663500000, 'text': 'Resolving: x'}, "                                      \
	"{'unixMs': 1795663520000, 'text': 'Holding: one'}, "                                      \
	"{'unixMs': 1795663521000, 'text': 'skipped: that'}, "                                     \
	"{'unixMs': 1795663530000, 'text': 'Holding: another'}], "                                 \
	"'decision': {'candidates': [{'path': 's3://b/old'}, {'path': '%s', 'offered': true, "     \
	"'completedUnixMs': 1795663394000}]}}"

TEST(a_held_job_says_why_since_when_and_what_to_paste)
{
	cleanup_free char *document = xasprintf(MISSING, "s3://b/sp");
	cleanup_free char *page = page_of(document, &in_pod);

	CHECK_HAS(page, "<title>Holding - orders - drey</title>");
	CHECK_HAS(page, "<div id=\"drey\" class=\"bad\">");
	CHECK_HAS(page, "<bdi>NewestStateMissing</bdi></h2>");
	CHECK_HAS(page, "since <time datetime=\"2026-11-26T03:25:20.000Z\">03:25:20</time> (54 s)");
	CHECK_HAS(page, "drey looks again in 12 s");
	CHECK_HAS(page, "take <code>drey resume --from s3://b/sp</code>");
	CHECK_HAS(page, "<a href=\"/runbook/NewestStateMissing\">");
	CHECK_HAS(
		page,
		"<code dir=\"ltr\">kubectl exec -n shop orders-1 -- drey resume --from s3://b/sp</code>");
	CHECK_HAS(page, "loses none\">loses nothing</p>");
	CHECK_HAS(page, "loses <strong>2 min</strong>: what the job did between the two");
}

TEST(a_command_is_quoted_for_a_shell)
{
	static const struct {
		const char *path, *command;
	} rows[] = {
		{"s3://b/a b", "dir=\"ltr\">drey resume --from &#39;s3://b/a b&#39;</code>"},
		{"s3://b/$(reboot);`x`",
		 "dir=\"ltr\">drey resume --from &#39;s3://b/$(reboot);`x`&#39;</code>"},
		{"s3://b/it\\u0027s",
		 "dir=\"ltr\">drey resume --from &#39;s3://b/it&#39;\\&#39;&#39;s&#39;</code>"},
		/* what cannot be seen as it is cannot be pasted */
		{"s3://b/\\u202e", "dir=\"ltr\">drey resume --from PATH</code>"},
		{"s3://b/a\\nreboot", "dir=\"ltr\">drey resume --from PATH</code>"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		cleanup_free char *document = xasprintf(MISSING, rows[i].path);
		cleanup_free char *page = page_of(document, &plain);

		CHECK_HAS(page, rows[i].command);
	}
}

TEST(a_command_names_what_is_here)
{
	static const struct {
		const char *cause, *more, *command;
	} rows[] = {
		{"DoNotRestart", "'control': {'configMap': 'shop-control'}",
		 ">kubectl -n shop patch configmap shop-control --type merge --patch "
		 "&#39;{&quot;data&quot;:{&quot;do-not-restart&quot;:&quot;false&quot;}}&#39;</code>"},
		/* nobody here knows the name of the release: it is said, and nothing is to be copied */
		{"AttemptsUsedUp", "'x': 1", "<code>helm rollback RELEASE</code></p>\n<p"},
		{"StorageUnreadable", "'x': 1",
		 ">kubectl -n shop rollout restart deployment/orders-jm</code>"},
		{"HandoverRefused", "'owner': {'pod': 'orders-0'}",
		 ">kubectl exec -n shop orders-0 -- drey resume</code>"},
		{"JournalTaken", "'x': 1", ">kubectl -n shop delete pod orders-1</code>"},
		{"RequestedSnapshotForeign", "'x': 1",
		 ">kubectl exec -n shop orders-1 -- drey resume --from PATH --foreign</code>"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		cleanup_free char *document =
			xasprintf("{'application': 'bills', 'phase': 'Holding', 'cause': '%s', %s}",
				  rows[i].cause, rows[i].more);
		cleanup_free char *page = page_of(document, &in_pod);

		CHECK_HAS(page, rows[i].command);
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
		{"Finished", "--from</code>"},         /* likewise */
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		cleanup_free char *document =
			xasprintf("{'phase': 'Holding', 'cause': '%s'}", rows[i].cause);
		cleanup_free char *page = page_of(document, &in_pod), *boxed = NULL;
		bool found = false;

		for (char *at = page; (at = strstr(at, "class=\"cmd\">")); at++) {
			boxed = xstrndup(at, strcspn(at, "\n"));
			found = found || strstr(boxed, rows[i].command);
			free(boxed);
			boxed = NULL;
		}
		if (!CHECK(!found))
			tap_note("%s", rows[i].cause);
	}
}

TEST(only_what_loses_nothing_at_all_is_green)
{
	cleanup_free char *finished = page_of("{'phase': 'Finished', 'cause': 'Finished'}", &plain);
	cleanup_free char *failed =
		page_of("{'phase': 'Failed', 'cause': 'AttemptsUsedUp'}", &plain);

	CHECK_HAS(finished,
		  "<p class=\"loses\">loses nothing, but its results may be written twice");
	CHECK_HAS(failed, "<p class=\"loses none\">loses nothing: the old version resumes");
}

TEST(every_cause_has_a_page_with_its_ways_out)
{
	for (int i = CAUSE_NONE + 1; i < CAUSE_COUNT; i++) {
		const char *name = cause_name((enum cause)i);
		cleanup_free char *document = xasprintf(
			"{'application': 'orders', 'phase': 'Holding', 'cause': '%s'}", name);
		cleanup_free char *page = page_of(document, &in_pod);
		cleanup_free char *link = xasprintf("<a href=\"/runbook/%s\">", name);

		CHECK_HAS(page, link);
		CHECK_HAS(page, "<ol class=\"ways\"><li>");
	}
}

#define PHASE(name, tone)                                                                          \
	{                                                                                          \
		"{'phase': '" name "'}", "class=\"" tone "\">", name                               \
	}

TEST(every_phase_has_its_colour)
{
	static const struct {
		const char *document, *tone, *name;
	} rows[] = {
		PHASE("Running", "good"),
		PHASE("Finished", "good"),
		PHASE("Holding", "bad"),
		PHASE("Failed", "bad"),
		PHASE("Suspended", "parked"),
		PHASE("Cancelled", "parked"),
		PHASE("Standby", "aside"),
		PHASE("Prepared", "aside"),
		PHASE("HandedOver", "aside"),
		PHASE("Resolving", "busy"),
		PHASE("Launching", "busy"),
		PHASE("Stopping", "busy"),
		PHASE("Terminating", "busy"),
		PHASE("", "busy"),
		PHASE("Hold", "busy"),
		PHASE(" ", "busy"),
		{"{'phase': 'Running', 'conditions': [{'type': 'Ready', 'status': 'False'}]}",
		 "class=\"warn\">", "Running</bdi>, not ready"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		cleanup_free char *page = page_of(rows[i].document, &plain);

		CHECK_HAS(page, rows[i].tone);
		CHECK_HAS(page, rows[i].name);
	}
}

TEST(a_drey_that_starts_says_so)
{
	cleanup_buf struct buf to = BUF_INIT;

	web_render(NULL, &plain, &to);
	CHECK_STR(html_check(buf_str(&to)), NULL);
	CHECK_HAS(buf_str(&to), "<title>Starting - orders - drey</title>");
	CHECK_HAS(buf_str(&to), "the journal is being read");
}

TEST(a_name_that_is_markup_is_text)
{
	static const char evil[] = "</b><script>x</script>&lt;\\u001b[2J";
	cleanup_free char *document = xasprintf(
		"{'application': '%s', 'phase': '%s', 'reason': '`%s`', 'lastError': '%s', "
		"'job': {'state': '%s'}, 'transitions': [{'text': '%s: x'}], "
		"'snapshots': [{'path': '%s'}]}",
		evil, evil, evil, evil, evil, evil, evil);
	cleanup_free char *page = page_of(document, &in_pod);

	CHECK_HAS(page,
		  "<h1><bdi>&lt;/b&gt;&lt;script&gt;x&lt;/script&gt;&amp;lt;\\x1b[2J</bdi></h1>");
	CHECK(!strstr(page, evil) && !strchr(page, '\033'));
}

TEST(a_transition_shows_both_sides)
{
	cleanup_free char *page = page_of(
		"{'phase': 'Running', 'role': 'owner', 'handover': {'state': 'offered', 'transition': {"
		"'state': 'crossing', 'waitsFor': 'the gates', 'cutUnixMs': 1795663570000, "
		"'watermarkUnixMs': 1795663573000, 'candidateWatermarkUnixMs': 1795663572000, "
		"'behindMs': 1000, 'withheld': 7, 'above': 2, 'below': 1, 'replay': 's3://b/chk-9'}}}",
		&in_pod);

	CHECK_HAS(page, "<dt>Transition</dt><dd><bdi>crossing</bdi>, waits for: <bdi>the gates");
	CHECK_HAS(page, "<dt>Cut in event time</dt><dd><bdi>2026-11-26T03:26:10.000Z");
	CHECK_HAS(page, "<dt>Watermark here</dt><dd><bdi>2026-11-26T03:26:13.000Z");
	CHECK_HAS(page, "<dt>Of the next version</dt><dd><bdi>2026-11-26T03:26:12.000Z");
	CHECK_HAS(page, "<dd>1000 ms of event time<");
	CHECK_HAS(page, "7 held back here; written twice: 2 at or above the cut, 1 below it");
	CHECK_HAS(page, "<dt>Starts again from</dt><dd><bdi>s3://b/chk-9");
}

/* Members that are missing, null, or of another type are left out. */
TEST(any_document_gives_a_page)
{
	static const char *const documents[] = {
		"{}",
		"[]",
		"'x'",
		"{'launches': [1, {}, null], 'snapshots': [[], {'launch': 1}], 'transitions': [{}, 'x'], "
		"'conditions': 7, 'decision': {'candidates': {'a': 1}, 'sources': [0]}, 'tasks': {}, "
		"'slots': {}, 'handover': 1, 'role': 'owner', 'waiting': [1], 'lastError': ''}",
		"{'role': 'owner', 'handover': {'transition': 5}}",
		"{'role': 'owner', 'handover': {'transition': {'state': 1, 'above': 9000000000000000000, "
		"'below': 9000000000000000000, 'behindMs': 'x', 'cutUnixMs': 9000000000000000000}}}",
		"{'launches': [{'number': 1, 'startedUnixMs': 9000000000000000000, "
		"'endedUnixMs': -9000000000000000000, 'lastCheckpoint': {'id': 1, 'completedUnixMs': "
		"9000000000000000000}}, {'number': 1, 'startedUnixMs': 5, 'restoredFromLaunch': 1, "
		"'restorePoint': {'completedUnixMs': -9000000000000000000}}], "
		"'nextSavepointInMs': 9000000000000000000, 'retryInMs': -1, "
		"'attempts': {'windowMs': -9000000000000000000}}",
	};

	for (size_t i = 0; i < ARRAY_LEN(documents); i++)
		free(page_of(documents[i], &in_pod));
}

TEST(a_cause_that_is_no_word_is_no_link)
{
	cleanup_free char *page = page_of("{'phase': 'Holding', 'cause': '../status'}", &plain);

	CHECK(!strstr(page, "/runbook/"));
}

TEST(long_texts_are_cut)
{
	cleanup_free char *text = xcalloc(10001, 1), *document = NULL, *page = NULL;

	memset(text, 'y', 10000);
	document =
		xasprintf("{'application': '%s', 'phase': '%s', 'reason': '%s', 'lastError': '%s'}",
			  text, text, text, text);
	page = page_of(document, &plain);
	CHECK_HAS(page, "yyy... (8500 more characters)");
	CHECK_INT(strlen(page), <, 30000);
}

/* Where the newest state of a launch was left behind, its row ends in dashes. */
TEST(the_lineage_shows_what_was_abandoned)
{
	static const char two[] =
		"{'phase': 'Running', 'launches': ["
		"{'number': 1, 'startedUnixMs': 1795600000000, 'endedUnixMs': 1795610000000, "
		"'lastCheckpoint': {'id': 9, 'completedUnixMs': 1795609000000}}, "
		"{'number': 2, 'startedUnixMs': 1795620000000, 'restoredFromLaunch': 1, "
		"'restorePoint': {'kind': 'checkpoint', 'completedUnixMs': %s}}]}";
	cleanup_free char *back = xasprintf(two, "1795605000000");
	cleanup_free char *straight = xasprintf(two, "1795609000000");
	cleanup_free char *first = page_of(back, &plain), *second = page_of(straight, &plain);

	CHECK_HAS(first, "<path class=\"life abandoned\" d=");
	CHECK_HAS(first, "<path class=\"branch\" d=");
	CHECK_HAS(first, "killed or failed, 25 Nov");
	CHECK_HAS(first, "started empty, 25 Nov");
	CHECK_HAS(second, "<path class=\"branch\" d=");
	CHECK(!strstr(second, "<path class=\"life abandoned\" d="));
}

/* Its file was complete a moment before drey had recorded it. */
TEST(the_savepoint_that_the_job_continues_from_is_not_abandoned)
{
	static const char of[] =
		"{'phase': 'Running', 'launches': ["
		"{'number': 1, 'startedUnixMs': 1795600000000, 'endedUnixMs': 1795610000000, "
		"'lastCheckpoint': {'id': 9, 'completedUnixMs': 1795608000000}}, "
		"{'number': 2, 'startedUnixMs': 1795620000000, 'restoredFromLaunch': 1, "
		"'restorePoint': {'kind': 'savepoint', 'checkpointId': %d, 'completedUnixMs': 1795609000164}}], "
		"'snapshots': [{'kind': 'savepoint', 'launch': 1, 'checkpointId': 10, 'origin': 'stop', "
		"'completedAt': '2026-11-25T12:16:49.409Z'}]}";
	cleanup_free char *same = xasprintf(of, 10), *older = xasprintf(of, 9);
	cleanup_free char *straight = page_of(same, &plain), *back = page_of(older, &plain);

	CHECK_HAS(straight, "<g class=\"mark savepoint\"");
	CHECK(!strstr(straight, "<path class=\"life abandoned\" d="));
	CHECK_HAS(back, "<path class=\"life abandoned\" d=");
}

TEST(a_running_job_is_not_ready_since_that_began)
{
	cleanup_free char *page = page_of(
		"{'phase': 'Running', 'cause': 'JobNotRunning', 'reason': '0 of 2 tasks run', "
		"'conditions': [{'type': 'Ready', 'status': 'False', 'lastTransitionTime': '2026-11-26T03:25:20.000Z'}], "
		"'transitions': [{'unixMs': 1795063500000, 'text': 'Running: x'}]}",
		&plain);

	CHECK_HAS(page, "since <time datetime=\"2026-11-26T03:25:20.000Z\">03:25:20</time> (54 s)");
}

TEST(the_policy_allows_only_what_is_in_the_page)
{
	cleanup_buf struct buf policy = BUF_INIT;

	web_policy(&policy);
	CHECK(!strncmp(buf_str(&policy), "default-src 'none'; ", 20));
	CHECK_HAS(buf_str(&policy), "; script-src 'sha256-");
	CHECK_HAS(buf_str(&policy), "; style-src 'sha256-");
	CHECK(!strstr(buf_str(&policy), "unsafe"));
	/* what a hash does not cover */
	for (const struct embedded *each = embedded_web; each->name; each++) {
		CHECK_INT(strlen(each->text), ==, each->len_bytes);
		CHECK(!strstr(each->text, "</") && !strstr(each->text, "innerHTML"));
	}
}

/* ---- golden files: tests/fixtures/web/NAME.json gives NAME.html, but for style and script ---- */

static void drop(char *page, const char *open, const char *close)
{
	char *from = strstr(page, open), *to = from ? strstr(from, close) : NULL;

	if (from && to)
		memmove(from + strlen(open), to, strlen(to) + 1);
}

static void check_golden(const char *name)
{
	cleanup_free char *json = xasprintf("tests/fixtures/web/%s.json", name);
	cleanup_free char *html = xasprintf("tests/fixtures/web/%s.html", name);
	cleanup_buf struct buf document = BUF_INIT, want = BUF_INIT, page = BUF_INIT;
	cleanup_json struct json *status = NULL;
	struct err err = {0};

	if (!CHECK(fs_read(json, 1 << 20, &document, &err) == 0))
		return;
	status = json_parse(document.data, document.len_bytes, 1 << 20, &err);
	web_render(status, &in_pod, &page);
	CHECK_STR(html_check(buf_str(&page)), NULL);
	drop(page.data, "<style>", "</style>");
	drop(page.data, "<script>", "</script>");
	if (getenv("DREY_RENEW_PAGES")) {
		cleanup_fclose FILE *file = fopen(html, "w");

		CHECK(file && fputs(page.data, file) >= 0);
		return;
	}
	CHECK(fs_read(html, 1 << 20, &want, &err) == 0);
	if (!CHECK(!strcmp(buf_str(&want), page.data)))
		tap_note("%s: DREY_RENEW_PAGES=1 writes it again; look at the difference", html);
}

TEST(the_pages_are_as_they_were)
{
	check_golden("holding");
	check_golden("running");
	check_golden("standby");
}

TEST(lost_state_is_on_the_page)
{
	cleanup_free char *page = page_of(
		"{'application': 'orders', 'phase': 'Running', 'cause': 'StateLost', 'reason': 'r', "
		"'stateLoss': {'lost': {'path': 's3://b/chk-8'}, 'reason': 'shared/1 is missing', "
		"'totalMs': 182000, 'unixMs': 1795663500000, 'launch': 7}}",
		&in_pod);

	CHECK_HAS(page, "<dt>State lost</dt>");
	CHECK_HAS(page, "3 min 2 s");
	CHECK_HAS(page, "s3://b/chk-8");
	CHECK_HAS(page, "shared/1 is missing");
}
