#include <inttypes.h>
#include <string.h>

#include "core/report/runbook.h"
#include "core/report/runbook_ways.h"
#include "core/web/web_internal.h"

/* ---- what a way out loses ---- */

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* The newest state that is known to have existed. */
static int64_t newest_unix_ms(const struct web *page)
{
	return later(json_i64_or(json_get(page->status, "lastCheckpoint"), "completedUnixMs", 0),
		     json_i64_or(json_get(page->status, "lastSavepoint"), "completedUnixMs", 0));
}

/* From the snapshot that is offered to the newest one that there was. */
static void add_lost_time(const struct web *page, const struct runbook_way *way)
{
	int64_t lost_ms = newest_unix_ms(page) - page->offered_unix_ms;

	if (!memmem(way->text, way->text_bytes, "--from PATH", 11) || !page->offered ||
	    page->offered_unix_ms <= 0 || lost_ms <= 0)
		return;
	buf_addstr(page->out, "<strong>");
	web_duration(page, lost_ms);
	buf_addstr(page->out, "</strong>: ");
}

/* "nothing", "nothing: why"; but not "nothing, but ..." and "nothing; if ...". */
static bool loses_nothing(const struct runbook_way *way)
{
	static const char word[] = "nothing";
	size_t length = sizeof(word) - 1;

	return way->loses_bytes >= length && !strncmp(way->loses, word, length) &&
	       (way->loses_bytes == length || way->loses[length] == ':');
}

static void add_loss(const struct web *page, const struct runbook_way *way)
{
	bool nothing = loses_nothing(way);

	if (!way->loses_bytes)
		return;
	buf_addf(page->out, "<p class=\"%s\">loses ", nothing ? "loses none" : "loses");
	if (!nothing)
		add_lost_time(page, way);
	web_markdown(page, way->loses, way->loses_bytes);
	buf_addstr(page->out, "</p>\n");
}

/* ---- the ways ---- */

static bool needs_path(const struct web *page, const struct runbook_way *way)
{
	return !page->offered && memmem(way->text, way->text_bytes, "--from PATH", 11);
}

static void add_ways(const struct web *page, const char *runbook)
{
	struct runbook_way way = {0};
	bool any = false, path = false;

	while (runbook_next_way(runbook, &way)) {
		buf_addstr(page->out,
			   any ? "<li><p>" : "<h3>Ways out</h3>\n<ol class=\"ways\"><li><p>");
		any = true;
		web_markdown(page, way.text, way.text_bytes);
		buf_addstr(page->out, "</p>\n");
		web_commands(page, way.text, way.text_bytes);
		path = path || needs_path(page, &way);
		add_loss(page, &way);
		buf_addstr(page->out, "</li>\n");
	}
	if (any)
		buf_addstr(page->out, "</ol>\n");
	if (path)
		buf_addstr(page->out, "<p class=\"note\"><code>PATH</code> is one of the "
				      "<a href=\"#snapshots-list\">snapshots</a>.</p>\n");
}

static void add_runbook(const struct web *page)
{
	const struct embedded *runbook = page->cause ? runbook_find(page->cause) : NULL;
	const char *sentence;
	size_t length = 0;

	if (!runbook)
		return;
	sentence = runbook_sentence(runbook, &length);
	buf_addstr(page->out, "<p class=\"means\">");
	web_markdown(page, sentence, length);
	buf_addf(page->out, " <a href=\"/runbook/%s\">What it means</a></p>\n", runbook->name);
	add_ways(page, runbook->text);
}

/* ---- since when, and what happens next ---- */

static bool is_of_phase(const char *text, const char *phase)
{
	size_t length = strlen(phase);

	return text && !strncmp(text, phase, length) && text[length] == ':';
}

/* When the last transition into this phase was; 0 = not known. What was only skipped in between does not end it. */
static int64_t phase_since(const struct web *page)
{
	const struct json *each;
	int64_t since = 0;

	json_each (each, json_get(page->status, "transitions")) {
		const char *text = json_str(each, "text");

		if (!is_of_phase(text, page->phase) && !is_of_phase(text, "skipped"))
			since = 0;
		else if (!since && is_of_phase(text, page->phase))
			since = json_i64_or(each, "unixMs", 0);
	}
	return since;
}

/* A Running job that is not ready: since when. What the heading names is often much younger than the phase. */
static int64_t unready_since(const struct web *page)
{
	const struct json *unready = web_unready(page);

	return unready ? web_date(unready, "lastTransitionTime") : 0;
}

static void add_facts(const struct web *page)
{
	const struct json *desired = json_get(page->status, "desired");
	const char *state = json_str(desired, "state");
	int64_t retry_ms = json_i64_or(page->status, "retryInMs", -1);
	int64_t since = later(phase_since(page), unready_since(page));

	buf_addstr(page->out, "<ul class=\"facts\">");
	if (since) {
		buf_addstr(page->out, "<li>since ");
		web_time(page, since);
		buf_addstr(page->out, " (");
		web_duration(page, page->facts->now_unix_ms - since);
		buf_addstr(page->out, ")</li>");
	}
	if (retry_ms >= 0) {
		buf_addstr(page->out, "<li>drey looks again ");
		buf_addstr(page->out, retry_ms < 1000 ? "now" : "in ");
		if (retry_ms >= 1000)
			web_duration(page, retry_ms);
		buf_addstr(page->out, "</li>");
	}
	if (state) {
		buf_addstr(page->out, "<li>desired: <b>");
		web_text(page, state);
		buf_addstr(page->out, "</b></li>");
	}
	if (json_bool_or(desired, "doNotRestart", false))
		buf_addstr(page->out, "<li class=\"failed\">do-not-restart is on</li>");
	buf_addstr(page->out, "</ul>\n");
}

/* Errors that have a place of their own in the document. */
static void add_errors(const struct web *page)
{
	const char *journal = json_str(json_get(page->status, "journal"), "error");
	const char *control = json_str(json_get(page->status, "control"), "error");
	const char *last = json_str(page->status, "lastError");

	if (journal) {
		buf_addstr(page->out, "<p class=\"error\"><b>Journal</b> ");
		web_text(page, journal);
		buf_addstr(page->out, "</p>\n");
	}
	if (control) {
		buf_addstr(page->out, "<p class=\"error\"><b>Control inputs</b> ");
		web_text(page, control);
		buf_addstr(page->out, "</p>\n");
	}
	if (!last)
		return;
	buf_addstr(page->out,
		   "<details id=\"last-error\" class=\"error\" open><summary>Last error");
	if (json_i64_or(page->status, "lastErrorLaunch", 0) > 0)
		buf_addf(page->out, " of launch %" PRId64,
			 json_i64_or(page->status, "lastErrorLaunch", 0));
	buf_addstr(page->out, ", ");
	web_since(page, json_i64_or(page->status, "lastErrorUnixMs", 0));
	buf_addstr(page->out, "</summary><pre>");
	web_text(page, last);
	buf_addstr(page->out, "</pre></details>\n");
}

static void add_waiting(const struct web *page)
{
	const struct json *each;

	json_each (each, json_get(page->status, "waiting")) {
		buf_addstr(page->out, "<p class=\"note\">Waits for ");
		web_text(page, json_str(each, "for"));
		buf_addstr(page->out, " (");
		web_text(page, json_str(each, "gate"));
		buf_addstr(page->out, ")</p>\n");
	}
}

void web_why(const struct web *page)
{
	const char *reason =
		page->status ? json_str(page->status, "reason") : "the journal is being read";

	buf_addstr(page->out, "<section id=\"why\" aria-labelledby=\"why-h\"><h2 id=\"why-h\">");
	web_text(page, page->cause ? page->cause : page->status ? "Now" : "Starting");
	buf_addstr(page->out, "</h2>\n");
	add_facts(page);
	if (reason && *reason) {
		buf_addstr(page->out, "<p class=\"reason\">");
		web_prose(page, reason);
		buf_addstr(page->out, "</p>\n");
	}
	add_waiting(page);
	add_runbook(page);
	add_errors(page);
	buf_addstr(page->out, "</section>\n");
}
