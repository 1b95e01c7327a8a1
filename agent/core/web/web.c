#include "core/web/web.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/embedded.h"
#include "base/json.h"
#include "base/mem.h"
#include "core/report/transitions.h"
#include "core/web/html.h"

#define NAME_BYTES 100  /* of the application; its real one is shorter */
#define TEXT_BYTES 1500 /* of one text; what is longer is in /status */

struct web {
	const struct json *status;
	const struct web_facts *facts;
	struct buf *out;
	const char *application, *phase;
};

static bool is_called(const char *name, const char *end)
{
	size_t length = strlen(name), of_end = strlen(end);

	return length >= of_end && !strcmp(name + length - of_end, end);
}

/* ---- what the browser may do ---- */

static void add_hashes(const char *end, struct buf *to)
{
	for (const struct embedded *each = embedded_web; each->name; each++)
		if (is_called(each->name, end))
			buf_addf(to, " 'sha256-%s'", each->sha256);
}

void web_policy(struct buf *to)
{
	buf_addstr(to, "default-src 'none'; connect-src 'self'; img-src data:; base-uri 'none'; "
		       "form-action 'none'; frame-ancestors 'none'; style-src");
	add_hashes(".css", to);
	buf_addstr(to, "; script-src");
	add_hashes(".js", to);
}

/* ---- texts ---- */

/* A text of the document: escaped, cut, and apart from the direction of the text around it. */
static void add_bdi(const struct web *page, const char *text)
{
	if (!text || !*text)
		return;
	buf_addstr(page->out, "<bdi>");
	html_cut(page->out, text, TEXT_BYTES);
	buf_addstr(page->out, "</bdi>");
}

/* The time, and how long ago that is. */
static void add_since(const struct web *page, int64_t unix_ms)
{
	char at[CLOCK_TEXT_BYTES], ago[CLOCK_TEXT_BYTES];

	if (unix_ms > 0)
		buf_addf(page->out, "%s (%s)", clock_minute(unix_ms, at),
			 clock_ago(unix_ms, page->facts->now_unix_ms, ago));
}

/* ---- the head ---- */

static void add_title(const struct web *page)
{
	html_cut(page->out, page->phase, NAME_BYTES);
	buf_addstr(page->out, " - ");
	html_cut(page->out, page->application, NAME_BYTES);
	buf_addstr(page->out, " - drey");
}

static void add_application(const struct web *page)
{
	html_cut(page->out, page->application, NAME_BYTES);
}

static void add_phase(const struct web *page)
{
	add_bdi(page, page->phase);
	if (transitions_unready(page->status))
		buf_addstr(page->out, ", not ready");
}

static void add_where(const struct web *page)
{
	buf_addstr(page->out, "drey ");
	add_bdi(page, page->facts->version);
	if (page->facts->pod) {
		buf_addstr(page->out, " &middot; Pod ");
		add_bdi(page, page->facts->pod);
	}
}

static void add_as_of(const struct web *page)
{
	char text[CLOCK_TEXT_BYTES];

	buf_addstr(page->out, clock_minute(page->facts->now_unix_ms, text));
}

/* ---- why ---- */

static void add_facts(const struct web *page)
{
	const struct json *desired = json_get(page->status, "desired");
	int64_t since = json_i64_or(page->status, "sinceUnixMs", 0);
	const char *state = json_str(desired, "state");

	buf_addstr(page->out, "<ul class=\"facts\">");
	if (since > 0) {
		buf_addstr(page->out, "<li>since ");
		add_since(page, since);
		buf_addstr(page->out, "</li>");
	}
	if (state) {
		buf_addstr(page->out, "<li>desired: <b>");
		add_bdi(page, state);
		buf_addstr(page->out, "</b></li>");
	}
	if (json_bool_or(desired, "doNotRestart", false))
		buf_addstr(page->out, "<li class=\"failed\">do-not-restart is on</li>");
	buf_addstr(page->out, "</ul>\n");
}

/* Nothing without a text. */
static void add_paragraph(const struct web *page, const char *kind, const char *title,
			  const char *text)
{
	if (!text || !*text)
		return;
	buf_addf(page->out, "<p class=\"%s\">%s", kind, title);
	add_bdi(page, text);
	buf_addstr(page->out, "</p>\n");
}

static void add_way(const struct web *page, const struct json *way)
{
	const struct json *each;
	bool nothing = json_bool_or(way, "losesNothing", false);
	int64_t lost_ms = json_i64_or(way, "lostMs", 0);
	char loses[CLOCK_TEXT_BYTES * 2] = "loses ", lost[CLOCK_TEXT_BYTES];

	buf_addstr(page->out, "<li><p>");
	add_bdi(page, json_str(way, "text"));
	buf_addstr(page->out, "</p>\n");
	json_each (each, json_get(way, "commands")) {
		buf_addstr(page->out, "<div class=\"cmd\"><code dir=\"ltr\">");
		html_text(page->out, json_text(each));
		buf_addstr(page->out, "</code></div>\n");
	}
	if (lost_ms > 0)
		snprintf(loses, sizeof(loses),
			 "loses <strong>%s</strong>: ", clock_human(lost_ms, lost));
	add_paragraph(page, nothing ? "loses none" : "loses", loses, json_str(way, "loses"));
	buf_addstr(page->out, "</li>\n");
}

static void add_runbook(const struct web *page)
{
	const struct json *runbook = json_get(page->status, "runbook");
	const struct json *ways = json_get(runbook, "ways"), *each;

	if (json_str(runbook, "page")) {
		buf_addstr(page->out, "<p class=\"means\"><a href=\"runbook/");
		html_text(page->out, json_str(runbook, "page"));
		buf_addstr(page->out, "\">What it means</a></p>\n");
	}
	if (!json_len(ways))
		return;
	buf_addstr(page->out, "<h3>Ways out</h3>\n<ol class=\"ways\">");
	json_each (each, ways)
		add_way(page, each);
	buf_addstr(page->out, "</ol>\n");
}

static void add_why(const struct web *page)
{
	const struct json *status = page->status;
	const char *cause = json_str(status, "cause");

	buf_addstr(page->out, "<section id=\"why\" aria-labelledby=\"why-h\"><h2 id=\"why-h\">");
	add_bdi(page, cause && *cause ? cause : status ? "Now" : "Starting");
	buf_addstr(page->out, "</h2>\n");
	add_facts(page);
	add_paragraph(page, "reason", "",
		      status ? json_str(status, "reason") : "the journal is being read");
	add_runbook(page);
	add_paragraph(page, "error", "<b>Journal</b> ",
		      json_str(json_get(status, "journal"), "error"));
	add_paragraph(page, "error", "<b>Control inputs</b> ",
		      json_str(json_get(status, "control"), "error"));
	add_paragraph(page, "error", "<b>Last error</b> ", json_str(status, "lastError"));
	buf_addstr(page->out, "</section>\n");
}

/* ---- the newest state ---- */

static void add_newest(const struct web *page, const char *name, const struct json *object,
		       const char *number, const char *time)
{
	if (json_kind(object) != JSON_OBJECT)
		return;
	buf_addf(page->out, "<div><dt>%s</dt><dd>", name);
	if (json_i64_or(object, number, 0) > 0)
		buf_addf(page->out, "%" PRId64 ", ", json_i64_or(object, number, 0));
	add_since(page, json_i64_or(object, time, 0));
	if (json_str(object, "path")) {
		buf_addstr(page->out, " <code class=\"path\">");
		add_bdi(page, json_str(object, "path"));
		buf_addstr(page->out, "</code>");
	}
	buf_addstr(page->out, "</dd></div>\n");
}

static void add_state(const struct web *page)
{
	const struct json *launch = json_get(page->status, "launch");

	buf_addstr(
		page->out,
		"<section id=\"state\" aria-labelledby=\"state-h\"><h2 id=\"state-h\">Newest state</h2>\n<dl>");
	add_newest(page, "Checkpoint", json_get(page->status, "lastCheckpoint"), "id",
		   "completedUnixMs");
	add_newest(page, "Savepoint", json_get(page->status, "lastSavepoint"), "checkpointId",
		   "completedUnixMs");
	add_newest(page, "Last launch", launch, "number", "startedUnixMs");
	add_newest(page, "Started from", json_get(launch, "restorePoint"), "checkpointId",
		   "completedUnixMs");
	buf_addstr(
		page->out,
		"</dl>\n<p class=\"note\">This is a summary; the rest needs JavaScript, or is in "
		"<a href=\"status\">the status</a>.</p></section>\n");
}

static void add_summary(const struct web *page)
{
	add_why(page);
	if (page->status)
		add_state(page);
}

/* ---- the page ---- */

/* What stands for {{word}}. */
static void add_part(const struct web *page, const char *word, size_t length)
{
	static const struct {
		const char *word;
		void (*add)(const struct web *page);
	} parts[] = {{"title", add_title}, {"application", add_application},
		     {"phase", add_phase}, {"where", add_where},
		     {"as-of", add_as_of}, {"summary", add_summary}};

	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		if (strlen(parts[i].word) == length && !strncmp(parts[i].word, word, length))
			parts[i].add(page);
	for (const struct embedded *each = embedded_web; each->name; each++)
		if (strlen(each->name) == length && !strncmp(each->name, word, length))
			buf_add(page->out, each->text, each->len_bytes);
}

static const char *frame(void)
{
	const struct embedded *file = embedded_web;

	while (!is_called(file->name, ".html"))
		file++;
	return file->text;
}

void web_render(const struct json *status, const struct web_facts *facts, struct buf *to)
{
	const char *phase = json_str(status, "phase"), *name = json_str(status, "application");
	const struct web page = {.status = status,
				 .facts = facts,
				 .out = to,
				 .application = name ? name : facts->application,
				 .phase = phase ? phase : "Starting"};
	const char *at = frame(), *open;

	while ((open = strstr(at, "{{"))) {
		const char *word = open + 2;
		size_t length = strcspn(word, "}");

		buf_add(to, at, (size_t)(open - at));
		add_part(&page, word, length);
		at = word + length + 2;
	}
	buf_addstr(to, at);
}
