#include "core/web/web.h"

#include <stdlib.h>
#include <string.h>

#include "base/embedded.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/mem.h"
#include "core/report/transitions.h"
#include "core/report/ways_out.h"
#include "html_check.h"
#include "quoted_json.h"
#include "tap.h"

#define NOW INT64_C(1795663574000) /* 2026-11-26T03:26:14Z */

static const struct web_facts plain = {
	.now_unix_ms = NOW, .version = "1.2.3", .application = "orders"};
static const struct web_facts in_pod = {.now_unix_ms = NOW, .version = "1.2.3", .pod = "orders-1"};

/* With what drey adds to it. */
static void complete(struct json *status)
{
	const struct ways_out_facts facts = {.pod = "orders-1", .namespace = "shop"};

	json_remove(status, "nowUnixMs");
	status_add_since(status, NOW);
	status_add_runbook(status, &facts);
}

/* The page of a document. It must be one that drey makes. The caller frees. */
static char *page_of(const char *quoted, const struct web_facts *facts)
{
	cleanup_json struct json *status = quoted_json(quoted);
	struct buf to = BUF_INIT;

	if (json_kind(status) == JSON_OBJECT)
		complete(status);
	web_render(status, facts, &to);
	CHECK_STR(html_check(buf_str(&to)), NULL);
	return buf_steal(&to);
}

#define MISSING                                                                                         \
	"{'application': 'orders', 'phase': 'Holding', 'cause': 'NewestStateMissing', "                 \
	"'reason': 'take `drey resume --from s3://b/sp`', "                                             \
	"'desired': {'state': 'running', 'doNotRestart': true}, "                                       \
	"'lastCheckpoint': {'id': 9, 'path': 's3://b/chk-9', 'completedUnixMs': 1795663514000}, "       \
	"'lastSavepoint': {'checkpointId': 7, 'path': 's3://b/sp', 'completedUnixMs': 1795663394000}, " \
	"'launch': {'number': 5, 'startedUnixMs': 1795660000000, 'restorePoint': "                      \
	"{'path': 's3://b/chk-3', 'checkpointId': 3, 'completedUnixMs': 1795650000000}}, "              \
	"'transitions': [{'unixMs': 1795663520000, 'text': 'Holding: one'}], "                          \
	"'decision': {'candidates': [{'path': 's3://b/sp', 'offered': true, "                           \
	"'completedUnixMs': 1795663394000}]}}"

/* What a person acts on who has no scripts. */
TEST(the_summary_says_why_since_when_and_what_to_paste)
{
	cleanup_free char *page = page_of(MISSING, &in_pod);

	CHECK_HAS(page, "<title>Holding - orders - drey</title>");
	CHECK_HAS(page, "<p class=\"phase\" role=\"status\"><bdi>Holding</bdi></p>");
	CHECK_HAS(page, "drey <bdi>1.2.3</bdi> &middot; Pod <bdi>orders-1</bdi>");
	CHECK_HAS(page, "<bdi>NewestStateMissing</bdi></h2>");
	CHECK_HAS(page, "<li>since 2026-11-26 03:25 UTC (54 s ago)</li>");
	CHECK_HAS(page, "desired: <b><bdi>running</bdi></b>");
	CHECK_HAS(page, "do-not-restart is on");
	CHECK_HAS(page, "take `drey resume --from s3://b/sp`");
	CHECK_HAS(page, "<a href=\"runbook/NewestStateMissing\">");
	CHECK_HAS(
		page,
		"<code dir=\"ltr\">kubectl exec -n shop orders-1 -- drey resume --from s3://b/sp</code>");
	CHECK_HAS(page, "loses none\">loses <bdi>nothing</bdi></p>");
	CHECK_HAS(
		page,
		"<p class=\"loses\">loses <strong>2 min</strong>: <bdi>what the job did between the two");
}

TEST(the_summary_names_the_newest_state_and_the_last_launch)
{
	cleanup_free char *page = page_of(MISSING, &in_pod);

	CHECK_HAS(page, "<dt>Checkpoint</dt><dd>9, 2026-11-26 03:25 UTC (1 min ago) "
			"<code class=\"path\"><bdi>s3://b/chk-9</bdi></code></dd>");
	CHECK_HAS(page, "<dt>Savepoint</dt><dd>7, 2026-11-26 03:23 UTC (3 min ago) "
			"<code class=\"path\"><bdi>s3://b/sp</bdi></code></dd>");
	CHECK_HAS(page, "<dt>Last launch</dt><dd>5, 2026-11-26 02:26 UTC");
	CHECK_HAS(
		page,
		"<dt>Started from</dt><dd>3, 2026-11-25 23:40 UTC (3 h 46 min ago) <code class=\"path\"><bdi>s3://b/chk-3");
}

TEST(errors_are_in_the_summary)
{
	cleanup_free char *page = page_of(
		"{'phase': 'Running', 'journal': {'error': 'no <right>'}, 'control': {'error': 'too big'}, 'lastError': 'it threw'}",
		&in_pod);

	CHECK_HAS(page, "<p class=\"error\"><b>Journal</b> <bdi>no &lt;right&gt;</bdi></p>");
	CHECK_HAS(page, "<p class=\"error\"><b>Control inputs</b> <bdi>too big</bdi></p>");
	CHECK_HAS(page, "<p class=\"error\"><b>Last error</b> <bdi>it threw</bdi></p>");
}

TEST(a_running_job_that_is_not_ready_says_so)
{
	cleanup_free char *page = page_of(
		"{'phase': 'Running', 'conditions': [{'type': 'Ready', 'status': 'False'}]}",
		&plain);

	CHECK_HAS(page, "<bdi>Running</bdi>, not ready</p>");
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

TEST(long_texts_are_cut)
{
	cleanup_free char *text = xcalloc(10001, 1), *document = NULL, *page = NULL;

	memset(text, 'y', 10000);
	document =
		xasprintf("{'application': '%s', 'phase': '%s', 'reason': '%s', 'lastError': '%s'}",
			  text, text, text, text);
	page = page_of(document, &plain);
	CHECK_HAS(page, "yyy... (8500 more characters)");
	CHECK_INT(strlen(page), <, 60000);
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
		CHECK(strstr(each->name, ".html") || strstr(buf_str(&policy), each->sha256));
		if (!strstr(each->name, ".html"))
			CHECK(!strstr(each->text, "</") && !strstr(each->text, "innerHTML") &&
			      !strstr(each->text, "insertAdjacentHTML"));
	}
}

/* ---- golden files: tests/fixtures/web/NAME.json gives NAME.html, but for style and scripts ---- */

static void drop(char *page, const char *open, const char *close)
{
	for (char *from = page, *to; (from = strstr(from, open)); from++) {
		to = strstr(from, close);
		if (to)
			memmove(from + strlen(open), to, strlen(to) + 1);
	}
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
	complete(status);
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
