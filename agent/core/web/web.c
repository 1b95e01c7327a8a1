#include "core/web/web.h"

#include <string.h>

#include "base/embedded.h"
#include "base/mem.h"
#include "core/web/web_internal.h"

#define NAME_BYTES 100 /* of the application; its real one is shorter */

static const struct embedded *file_of(const char *name)
{
	const struct embedded *file = embedded_web;

	while (file->name && strcmp(file->name, name) != 0)
		file++;
	return file;
}

/* ---- what the browser may do ---- */

static void add_hash(struct buf *to, const struct embedded *file)
{
	buf_addf(to, " 'sha256-%s'", file->sha256);
}

void web_policy(struct buf *to)
{
	buf_addstr(to, "default-src 'none'; connect-src 'self'; img-src data:; base-uri 'none'; "
		       "form-action 'none'; frame-ancestors 'none'; style-src");
	add_hash(to, file_of("page.css"));
	buf_addstr(to, "; script-src");
	add_hash(to, file_of("page.js"));
}

/* ---- the frame ---- */

/* How the phase looks: its class, and its colour in the icon of the tab. */
struct tone {
	const char *name, *colour;
};

static const struct tone *tone_of(const struct web *page)
{
	static const struct tone good = {"good", "2e8b57"}, bad = {"bad", "c0392b"},
				 parked = {"parked", "6b7280"}, aside = {"aside", "7857c7"},
				 busy = {"busy", "2f6fc4"};
	static const struct {
		const char *phase;
		const struct tone *tone;
	} tones[] = {
		{"Running", &good},  {"Finished", &good},    {"Holding", &bad},
		{"Failed", &bad},    {"Suspended", &parked}, {"Cancelled", &parked},
		{"Standby", &aside}, {"Prepared", &aside},   {"HandedOver", &aside},
		{"Shadow", &aside},
	};

	for (size_t i = 0; i < ARRAY_LEN(tones); i++)
		if (!strcmp(tones[i].phase, page->phase))
			return tones[i].tone;
	return &busy;
}

static void add_head(const struct web *page, const struct tone *tone)
{
	buf_addstr(
		page->out,
		"<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>");
	html_cut(page->out, page->phase, 100);
	buf_addstr(page->out, " - ");
	html_cut(page->out, page->application, NAME_BYTES);
	buf_addf(
		page->out,
		" - drey</title>\n"
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		"<meta name=\"color-scheme\" content=\"light dark\">\n"
		"<link rel=\"icon\" href=\"data:image/svg+xml,%%3Csvg xmlns='http://www.w3.org/2000/svg' "
		"viewBox='0 0 16 16'%%3E%%3Ccircle cx='8' cy='8' r='7' fill='%%23%s'/%%3E%%3C/svg%%3E\">\n"
		"<style>",
		tone->colour);
	buf_addstr(page->out, file_of("page.css")->text);
	buf_addstr(page->out, "</style>\n</head>\n");
}

static void add_where(const struct web *page)
{
	const char *flink = json_str(json_get(page->status, "launch"), "flinkVersion");

	buf_addstr(page->out, "<p class=\"where\">drey ");
	web_text(page, page->facts->version);
	if (flink) {
		buf_addstr(page->out, " &middot; Flink ");
		web_text(page, flink);
	}
	if (page->facts->pod) {
		buf_addstr(page->out, " &middot; Pod ");
		web_text(page, page->facts->pod);
	}
	buf_addstr(page->out, "</p>\n");
}

static void add_header(const struct web *page, const struct tone *tone)
{
	/* a job that should run, but does not: amber */
	bool warn = web_unready(page);

	buf_addf(page->out,
		 "<body>\n<a class=\"skip\" href=\"#why\">Skip to the cause</a>\n"
		 "<div id=\"drey\" class=\"%s\">\n<header>\n<h1>",
		 warn ? "warn" : tone->name);
	buf_addstr(page->out, "<bdi>");
	html_cut(page->out, page->application, NAME_BYTES);
	buf_addstr(page->out, "</bdi></h1>\n<p class=\"phase\" role=\"status\">");
	web_text(page, page->phase);
	if (warn)
		buf_addstr(page->out, ", not ready");
	buf_addstr(page->out, "</p>\n");
	add_where(page);
	buf_addstr(page->out, "</header>\n<main>\n");
}

static void add_footer(const struct web *page)
{
	buf_addstr(page->out, "</main>\n<footer>\n<p>As of ");
	web_time(page, page->facts->now_unix_ms);
	buf_addstr(page->out, " UTC. <span id=\"refresh\">Reload the page for news.</span></p>\n"
			      "<nav aria-label=\"More\"><a href=\"/status\">status as JSON</a> "
			      "<a href=\"/metrics\">metrics</a>");
	buf_addstr(page->out, "</nav>\n</footer>\n</div>\n<script>");
	buf_addstr(page->out, file_of("page.js")->text);
	buf_addstr(page->out, "</script>\n</body>\n</html>\n");
}

/* What the last decision proposes to start from. */
static void find_offered(struct web *page)
{
	const struct json *each;

	json_each (each, json_get(json_get(page->status, "decision"), "candidates"))
		if (json_bool_or(each, "offered", false)) {
			page->offered = json_str(each, "path");
			page->offered_unix_ms = json_i64_or(each, "completedUnixMs", 0);
			return;
		}
}

/* A word of letters only: it is part of links. */
static const char *cause_of(const struct json *status)
{
	const char *cause = json_str(status, "cause");

	return cause && *cause &&
			       !cause[strspn(cause, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
						    "abcdefghijklmnopqrstuvwxyz")]
		       ? cause
		       : NULL;
}

void web_render(const struct json *status, const struct web_facts *facts, struct buf *to)
{
	const char *phase = json_str(status, "phase"), *name = json_str(status, "application");
	struct web page = {.status = status,
			   .facts = facts,
			   .out = to,
			   .application = name ? name : facts->application,
			   .phase = phase ? phase : "Starting",
			   .cause = cause_of(status)};
	const struct tone *tone = tone_of(&page);

	find_offered(&page);
	add_head(&page, tone);
	add_header(&page, tone);
	web_why(&page);
	if (status) {
		web_now(&page);
		web_lineage(&page);
		web_decision(&page);
		web_timeline(&page);
		web_snapshots(&page);
		web_launches(&page);
		web_conditions(&page);
	}
	add_footer(&page);
}
