#include <inttypes.h>
#include <string.h>

#include "core/web/web_internal.h"

#define TRANSITIONS 8  /* that are seen at first sight */
#define PHASE_BYTES 24 /* a longer word is not one */

static void cell(const struct web *page)
{
	buf_addstr(page->out, "<td>");
}

static void text_cell(const struct web *page, const char *text)
{
	cell(page);
	web_text(page, text);
}

static void number_cell(const struct web *page, int64_t number)
{
	cell(page);
	if (number > 0)
		buf_addf(page->out, "%" PRId64, number);
}

static void begin_row(const struct web *page)
{
	buf_addstr(page->out, "<tr>");
}

static void begin_section(const struct web *page, const char *id, const char *title)
{
	buf_addf(page->out, "<section id=\"%s\" aria-labelledby=\"%s-h\"><h2 id=\"%s-h\">%s</h2>\n",
		 id, id, id, title);
}

/* What is not needed at first sight. */
static void begin_details(const struct web *page, const char *id, const char *title, size_t count)
{
	buf_addf(page->out, "<details id=\"%s\"><summary><h2>%s</h2> <span>%zu</span></summary>\n",
		 id, title, count);
}

/* ---- the decision ---- */

static void add_candidate(const struct web *page, const struct json *candidate)
{
	const char *verdict = json_str(candidate, "verdict");
	bool chosen = verdict && !strcmp(verdict, "chosen");

	buf_addf(page->out, "<tr%s><td>", chosen ? " class=\"chosen\"" : "");
	web_text(page, verdict);
	if (json_bool_or(candidate, "offered", false))
		buf_addstr(page->out, " <b>offered</b>");
	text_cell(page, json_str(candidate, "kind"));
	number_cell(page, json_i64_or(candidate, "checkpointId", 0));
	cell(page);
	web_since(page, json_i64_or(candidate, "completedUnixMs", 0));
	cell(page);
	web_size(page, json_i64_or(candidate, "sizeBytes", -1));
	text_cell(page, json_str(candidate, "integrity"));
	text_cell(page, json_str(candidate, "reason"));
	cell(page);
	web_path(page, json_str(candidate, "path"));
	buf_addstr(page->out, "</tr>\n");
}

static void add_candidates(const struct web *page, const struct json *decision)
{
	const struct json *list = json_get(decision, "candidates"), *each;
	int64_t left_out = json_i64_or(decision, "candidatesLeftOut", 0);
	size_t rows = 0;

	if (!json_len(list))
		return;
	web_table(page, "candidates", "Candidates",
		  "<th>Verdict<th>Kind<th>Id<th>Completed<th>Size<th>Files<th>Why<th>Path");
	json_each (each, list)
		if (rows++ < WEB_ROWS)
			add_candidate(page, each);
	web_table_end(page);
	if (left_out > 0)
		buf_addf(page->out,
			 "<p class=\"note\">%" PRId64
			 " more: <code>drey resolve --explain</code></p>\n",
			 left_out);
}

static void add_sources(const struct web *page, const struct json *decision)
{
	const struct json *each;

	if (!json_len(json_get(decision, "sources")))
		return;
	buf_addstr(page->out, "<ul class=\"sources\">");
	json_each (each, json_get(decision, "sources")) {
		const char *state = json_str(each, "state");

		buf_addstr(page->out, state && !strcmp(state, "unreadable")
					      ? "<li class=\"unread\"><b>"
					      : "<li><b>");
		web_text(page, json_str(each, "name"));
		buf_addstr(page->out, "</b> ");
		web_text(page, state);
		if (json_str(each, "detail") && *json_str(each, "detail")) {
			buf_addstr(page->out, ": ");
			web_text(page, json_str(each, "detail"));
		}
		buf_addstr(page->out, "</li>\n");
	}
	buf_addstr(page->out, "</ul>\n");
}

void web_decision(const struct web *page)
{
	const struct json *decision = json_get(page->status, "decision");

	if (json_kind(decision) != JSON_OBJECT)
		return;
	begin_section(page, "decision", "Last decision");
	buf_addstr(page->out, "<p><b>");
	web_text(page, json_str(decision, "decision"));
	buf_addstr(page->out, "</b> ");
	if (json_i64_or(decision, "rule", 0) > 0)
		buf_addf(page->out, "by rule %" PRId64 ", ", json_i64_or(decision, "rule", 0));
	web_since(page, json_i64_or(decision, "unixMs", 0));
	buf_addstr(page->out, "</p>\n");
	add_sources(page, decision);
	add_candidates(page, decision);
	buf_addstr(page->out, "</section>\n");
}

/* ---- the rest ---- */

/* "Holding: why": the phase stands out. */
static void add_transition(const struct web *page, const struct json *transition)
{
	const char *text = json_str(transition, "text");
	size_t word = text ? strcspn(text, ":") : 0;

	buf_addstr(page->out, "<li>");
	web_time(page, json_i64_or(transition, "unixMs", 0));
	if (text && text[word] && word < PHASE_BYTES) {
		buf_addstr(page->out, " <b>");
		html_part(page->out, text, word);
		buf_addstr(page->out, "</b> ");
		text += word + 1 + (text[word + 1] == ' ');
	}
	web_prose(page, text);
	buf_addstr(page->out, "</li>\n");
}

/* The last ones, the newest first; earlier ones on request. */
void web_timeline(const struct web *page)
{
	const struct json *list = json_get(page->status, "transitions");
	size_t count = json_len(list), shown = 0;

	if (!count)
		return;
	begin_section(page, "timeline", "Timeline");
	buf_addstr(page->out, "<ol class=\"timeline\">");
	for (; shown < count && shown < WEB_ROWS; shown++) {
		if (shown == TRANSITIONS)
			buf_addstr(page->out,
				   "</ol><details id=\"earlier\"><summary>Earlier</summary>"
				   "<ol class=\"timeline\">");
		add_transition(page, json_at(list, count - 1 - shown));
	}
	buf_addstr(page->out,
		   shown > TRANSITIONS ? "</ol></details></section>\n" : "</ol></section>\n");
}

void web_conditions(const struct web *page)
{
	const struct json *list = json_get(page->status, "conditions"), *each;

	if (!json_len(list))
		return;
	begin_details(page, "conditions", "Conditions", json_len(list));
	web_table(page, "conditions", "Conditions",
		  "<th>Condition<th>Status<th>Reason<th>Since<th>Message");
	json_each (each, list) {
		begin_row(page);
		text_cell(page, json_str(each, "type"));
		text_cell(page, json_str(each, "status"));
		text_cell(page, json_str(each, "reason"));
		cell(page);
		web_time(page, web_date(each, "lastTransitionTime"));
		text_cell(page, json_str(each, "message"));
		buf_addstr(page->out, "</tr>\n");
	}
	web_table_end(page);
	buf_addstr(page->out, "</details>\n");
}

void web_snapshots(const struct web *page)
{
	const struct json *list = json_get(page->status, "snapshots"), *each;
	size_t rows = 0;

	begin_details(page, "snapshots", "Snapshots", json_len(list));
	web_table(page, "snapshots", "Snapshots",
		  "<th>Kind<th>Id<th>Completed<th>Size<th>Origin<th>Launch<th>Path");
	json_each (each, list) {
		if (rows++ >= WEB_ROWS)
			break;
		begin_row(page);
		text_cell(page, json_str(each, "kind"));
		number_cell(page, json_i64_or(each, "checkpointId", 0));
		cell(page);
		web_since(page, web_date(each, "completedAt"));
		cell(page);
		web_size(page, json_i64_or(each, "sizeBytes", -1));
		text_cell(page, json_str(each, "origin"));
		number_cell(page, json_i64_or(each, "launch", 0));
		cell(page);
		web_path(page, json_str(each, "path"));
		buf_addstr(page->out, "</tr>\n");
	}
	web_table_end(page);
	buf_addstr(page->out, "</details>\n");
}

static void add_launch_row(const struct web *page, const struct json *launch)
{
	const struct json *restore = json_get(launch, "restorePoint");
	int64_t from = json_i64_or(launch, "restoredFromLaunch", 0);

	begin_row(page);
	number_cell(page, json_i64_or(launch, "number", 0));
	cell(page);
	web_time(page, json_i64_or(launch, "startedUnixMs", 0));
	cell(page);
	web_time(page, json_i64_or(launch, "endedUnixMs", 0));
	text_cell(page, json_str(launch, "end"));
	cell(page);
	if (json_kind(restore) != JSON_OBJECT)
		buf_addstr(page->out, "empty");
	web_text(page, json_str(restore, "kind"));
	if (json_i64_or(restore, "checkpointId", 0) > 0)
		buf_addf(page->out, " %" PRId64, json_i64_or(restore, "checkpointId", 0));
	if (from > 0)
		buf_addf(page->out, " of launch %" PRId64, from);
	number_cell(page, json_i64_or(json_get(launch, "lastCheckpoint"), "id", 0));
	text_cell(page, json_str(launch, "generation"));
	text_cell(page, json_str(launch, "flinkVersion"));
	text_cell(page, json_str(launch, "pod"));
	buf_addstr(page->out, "</tr>\n");
}

void web_launches(const struct web *page)
{
	const struct json *list = json_get(page->status, "launches");
	size_t count = json_len(list);

	if (!count)
		return;
	begin_details(page, "launches", "Launches", count);
	web_table(page, "launches", "Launches",
		  "<th>Launch<th>Started<th>Ended<th>End<th>From<th>Last checkpoint"
		  "<th>Generation<th>Flink<th>Pod");
	for (size_t i = count; i-- > 0 && count - i <= WEB_ROWS;)
		add_launch_row(page, json_at(list, i));
	web_table_end(page);
	buf_addstr(page->out, "</details>\n");
}
