#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "core/web/web_internal.h"

#define DATE_LENGTH 24 /* of one whose year has four digits */

void web_text(const struct web *page, const char *text)
{
	if (!text || !*text)
		return;
	buf_addstr(page->out, "<bdi>");
	html_cut(page->out, text, WEB_TEXT_BYTES);
	buf_addstr(page->out, "</bdi>");
}

void web_prose(const struct web *page, const char *text)
{
	size_t left = text ? utf8_cut(text, WEB_TEXT_BYTES) : 0;
	const char *open, *close;

	if (!left)
		return;
	buf_addstr(page->out, "<bdi>");
	while ((open = memchr(text, '`', left)) &&
	       (close = memchr(open + 1, '`', left - (size_t)(open + 1 - text)))) {
		html_part(page->out, text, (size_t)(open - text));
		buf_addstr(page->out, "<code>");
		html_part(page->out, open + 1, (size_t)(close - open - 1));
		buf_addstr(page->out, "</code>");
		left -= (size_t)(close + 1 - text);
		text = close + 1;
	}
	html_part(page->out, text, left);
	if (text[left])
		buf_addf(page->out, "... (%zu more characters)", strlen(text + left));
	buf_addstr(page->out, "</bdi>");
}

/* ---- times ---- */

void web_clock(const struct web *page, int64_t unix_ms)
{
	static const char months[][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
					 "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
	char date[CLOCK_TEXT_BYTES], today[CLOCK_TEXT_BYTES];
	unsigned month = 0;

	if (unix_ms <= 0 || strlen(clock_rfc3339(unix_ms, date)) != DATE_LENGTH)
		return;
	clock_rfc3339(page->facts->now_unix_ms, today);
	if (strncmp(date, today, 10) != 0 && sscanf(date + 5, "%2u", &month) == 1) {
		buf_addf(page->out, "%.2s %s ", date + 8, months[(month + 11) % 12]);
		if (strncmp(date, today, 4) != 0)
			buf_addf(page->out, "%.4s ", date);
	}
	buf_addf(page->out, "%.8s", date + 11);
}

void web_time(const struct web *page, int64_t unix_ms)
{
	char date[CLOCK_TEXT_BYTES];

	if (unix_ms <= 0 || strlen(clock_rfc3339(unix_ms, date)) != DATE_LENGTH)
		return;
	buf_addf(page->out, "<time datetime=\"%s\">", date);
	web_clock(page, unix_ms);
	buf_addstr(page->out, "</time>");
}

/* Two units, and one where the second says nothing: "14 min 3 s" is 14 minutes. */
void web_duration(const struct web *page, int64_t ms)
{
	char text[CLOCK_TEXT_BYTES];
	char *space;

	clock_human(ms, text);
	if (strlen(text) > 2 && text[1] != ' ') {
		space = strchr(text, ' ');
		space = space ? strchr(space + 1, ' ') : NULL;
		if (space)
			*space = '\0';
	}
	buf_addstr(page->out, text);
}

void web_since(const struct web *page, int64_t unix_ms)
{
	int64_t age_ms = page->facts->now_unix_ms - unix_ms;

	if (unix_ms <= 0)
		return;
	web_time(page, unix_ms);
	buf_addstr(page->out, " <span class=\"age\">(");
	if (age_ms < 0)
		buf_addstr(page->out, "in ");
	web_duration(page, age_ms < 0 ? -age_ms : age_ms);
	buf_addstr(page->out, age_ms < 0 ? ")</span>" : " ago)</span>");
}

int64_t web_date(const struct json *object, const char *key)
{
	const char *text = json_str(object, key);
	int64_t unix_ms = 0;
	struct err why = {0};

	return text && clock_parse_rfc3339(text, &unix_ms, &why) == 0 ? unix_ms : 0;
}

const struct json *web_unready(const struct web *page)
{
	const struct json *each;

	if (strcmp(page->phase, "Running") != 0)
		return NULL;
	json_each (each, json_get(page->status, "conditions")) {
		const char *type = json_str(each, "type"), *status = json_str(each, "status");

		if (type && status && !strcmp(type, "Ready"))
			return strcmp(status, "True") != 0 ? each : NULL;
	}
	return NULL;
}

void web_size(const struct web *page, int64_t bytes)
{
	static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
	double value = (double)bytes;
	size_t unit = 0;

	if (bytes < 0)
		return;
	for (; value >= 999.95 && unit + 1 < ARRAY_LEN(units); unit++)
		value /= 1000;
	buf_addf(page->out, unit && value < 99.95 ? "%.1f %s" : "%.0f %s", value, units[unit]);
}

/* ---- Markdown ---- */

/* The word of a cause, if the link leads to its page. */
static bool is_cause_link(const char *url, size_t len_bytes)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
	size_t word = strspn(url, letters);

	return word && word + 3 == len_bytes && !strncmp(url + word, ".md", 3);
}

/* [text](url) at `at`: its length, 0 = it is not one. */
static size_t add_link(const struct web *page, const char *at, const char *end)
{
	const char *close = memchr(at, ']', (size_t)(end - at)), *url, *url_end;
	bool is_cause;

	if (!close || close + 1 >= end || close[1] != '(')
		return 0;
	url = close + 2;
	url_end = memchr(url, ')', (size_t)(end - url));
	if (!url_end)
		return 0;
	is_cause = is_cause_link(url, (size_t)(url_end - url));
	if (is_cause)
		buf_addf(page->out, "<a href=\"/runbook/%.*s\">", (int)(url_end - url - 3), url);
	web_markdown(page, at + 1, (size_t)(close - at - 1));
	if (is_cause)
		buf_addstr(page->out, "</a>");
	return (size_t)(url_end - at) + 1;
}

/* `code` or *emphasis* at `at`: its length, 0 = it is not one. */
static size_t add_span(const struct web *page, const char *at, const char *end, const char *tag)
{
	const char *close = memchr(at + 1, *at, (size_t)(end - at - 1));

	if (!close)
		return 0;
	buf_addf(page->out, "<%s>", tag);
	html_part(page->out, at + 1, (size_t)(close - at - 1));
	buf_addf(page->out, "</%s>", tag);
	return (size_t)(close - at) + 1;
}

void web_markdown(const struct web *page, const char *text, size_t len_bytes)
{
	const char *end = text + len_bytes, *plain = text;

	while (text < end) {
		size_t used = 0;

		if (!strchr("`*[", *text)) {
			text++;
			continue;
		}
		html_part(page->out, plain, (size_t)(text - plain));
		plain = text;
		if (*text == '[')
			used = add_link(page, text, end);
		else
			used = add_span(page, text, end, *text == '`' ? "code" : "em");
		text += used ? used : 1;
		if (used)
			plain = text;
	}
	html_part(page->out, plain, (size_t)(end - plain));
}

/* ---- blocks ---- */

void web_path(const struct web *page, const char *path)
{
	if (!path || !*path)
		return;
	buf_addstr(page->out, "<code class=\"path\"><bdi>");
	html_cut(page->out, path, WEB_TEXT_BYTES);
	buf_addstr(page->out, "</bdi></code>");
}

void web_table(const struct web *page, const char *id, const char *label, const char *head)
{
	buf_addf(page->out,
		 "<div class=\"scroll\" id=\"%s-list\" tabindex=\"0\" role=\"region\" "
		 "aria-label=\"%s\"><table><thead><tr>%s</tr></thead><tbody>\n",
		 id, label, head);
}

void web_table_end(const struct web *page)
{
	buf_addstr(page->out, "</tbody></table></div>\n");
}
