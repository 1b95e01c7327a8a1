/*
 * html_check - is this a page that drey makes, and nothing that its data could have made? Only the elements and
 * attributes that the page has, each attribute in double quotes, elements closed in order, links that stay here, style
 * and scripts exactly as they are embedded, entities for all that is special, UTF-8 without control characters.
 */
#ifndef DREY_TESTS_HTML_CHECK_H
#define DREY_TESTS_HTML_CHECK_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/embedded.h"
#include "base/utf8.h"

#define HC_DEPTH 40

struct hc {
	const char *html, *at;
	char open[HC_DEPTH][16];
	int depth;
	const char *wrong;
};

static inline bool hc_fail(struct hc *check, const char *why)
{
	if (!check->wrong)
		check->wrong = why;
	return false;
}

static inline bool hc_in_list(const char *list, const char *word, size_t len)
{
	for (const char *at = list; (at = strstr(at, " ")); at++)
		if (!strncmp(at + 1, word, len) && at[1 + len] == ' ')
			return true;
	return false;
}

static const char hc_elements[] =
	" html head meta title link style body a div header h1 h2 h3 p b strong main section ul ol li code bdi "
	"dl dt dd span footer nav script ";
static const char hc_without_end[] = " meta link ";
static const char hc_attributes[] =
	" lang charset name content rel href class id role aria-label aria-labelledby dir ";

static inline bool hc_is_here(const char *url, size_t len)
{
	static const char runbook[] = "runbook/";
	size_t prefix = sizeof(runbook) - 1;

	if (len > prefix && !strncmp(url, runbook, prefix))
		return strspn(url + prefix,
			      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") ==
		       len - prefix;
	return hc_in_list(" status metrics #why ", url, len) ||
	       (len > 19 && !strncmp(url, "data:image/svg+xml,", 19));
}

/* One character of text. */
static inline bool hc_text(struct hc *check)
{
	static const char *const entities[] = {"&amp;",  "&lt;",  "&gt;",
					       "&quot;", "&#39;", "&middot;"};
	size_t bytes = utf8_char_bytes(check->at, strlen(check->at));
	unsigned char ch = (unsigned char)*check->at;

	if (!bytes || ch == 0x7f || (ch < ' ' && ch != '\n' && ch != '\t') || ch == '>')
		return hc_fail(check, "a byte that is not text");
	if (ch == '&') {
		for (size_t i = 0; i < sizeof(entities) / sizeof(entities[0]); i++)
			if (!strncmp(check->at, entities[i], strlen(entities[i]))) {
				check->at += strlen(entities[i]);
				return true;
			}
		return hc_fail(check, "an entity of another kind");
	}
	/* bidi controls */
	if (!strncmp(check->at, "\xe2\x80", 2) && (unsigned char)check->at[2] >= 0xa8 &&
	    (unsigned char)check->at[2] <= 0xae)
		return hc_fail(check, "a character that turns the text around it");
	check->at += bytes;
	return true;
}

static inline bool hc_attribute(struct hc *check, bool *ret_more)
{
	const char *name = ++check->at, *value, *end;
	size_t len = strcspn(name, "= >");

	*ret_more = true;
	if (!hc_in_list(hc_attributes, name, len))
		return hc_fail(check, "an attribute that the page does not have");
	check->at = name + len;
	if (*check->at != '=')
		return hc_fail(check, "an attribute without a value");
	if (check->at[1] != '"')
		return hc_fail(check, "an attribute without quotes");
	value = check->at + 2;
	end = strchr(value, '"');
	if (!end)
		return hc_fail(check, "an attribute without an end");
	if (len == 4 && !strncmp(name, "href", 4) && !hc_is_here(value, (size_t)(end - value)))
		return hc_fail(check, "a link that leads away");
	for (const char *at = value; at < end; at++)
		if (*at == '<' || (*at == '>' && strncmp(value, "data:", 5) != 0))
			return hc_fail(check, "an element inside an attribute");
	check->at = end + 1;
	return true;
}

static inline bool hc_raw(struct hc *check, const char *kind, const char *close)
{
	for (const struct embedded *each = embedded_web; each->name; each++)
		if (strstr(each->name, kind) && !strncmp(check->at, each->text, each->len_bytes) &&
		    !strncmp(check->at + each->len_bytes, close, strlen(close))) {
			check->at += each->len_bytes;
			return true;
		}
	return hc_fail(check, "another style or script");
}

static inline bool hc_close_tag(struct hc *check)
{
	const char *name = check->at + 2;
	size_t len = strcspn(name, ">");

	if (!check->depth || strlen(check->open[check->depth - 1]) != len ||
	    strncmp(check->open[check->depth - 1], name, len) != 0)
		return hc_fail(check, "an end of something else");
	check->depth--;
	check->at = name + len + 1;
	return true;
}

static inline bool hc_open_tag(struct hc *check)
{
	const char *name = check->at + 1;
	size_t len = strcspn(name, " />");
	bool more = true;

	if (!hc_in_list(hc_elements, name, len))
		return hc_fail(check, "an element that the page does not have");
	check->at = name + len;
	while (*check->at == ' ')
		if (!hc_attribute(check, &more))
			return false;
	if (!strncmp(check->at, "/>", 2)) {
		check->at += 2;
		return true;
	}
	if (*check->at != '>')
		return hc_fail(check, "an element without an end");
	check->at++;
	if (hc_in_list(hc_without_end, name, len))
		return true;
	if (check->depth == HC_DEPTH)
		return hc_fail(check, "too deep");
	snprintf(check->open[check->depth++], sizeof(check->open[0]), "%.*s", (int)len, name);
	if (len == 5 && !strncmp(name, "style", 5))
		return hc_raw(check, ".css", "</style>");
	if (len == 6 && !strncmp(name, "script", 6))
		return hc_raw(check, ".js", "</script>");
	return true;
}

/* NULL: it is. Else what is wrong, with the byte; borrowed until the next call. */
static inline const char *html_check(const char *html)
{
	static const char doctype[] = "<!doctype html>\n";
	static char said[160];
	struct hc check = {.html = html, .at = html};

	if (strncmp(html, doctype, sizeof(doctype) - 1) != 0)
		return "no doctype";
	check.at += sizeof(doctype) - 1;
	while (*check.at) {
		bool ok = *check.at != '<'     ? hc_text(&check)
			  : check.at[1] == '/' ? hc_close_tag(&check)
					       : hc_open_tag(&check);

		if (!ok)
			break;
	}
	if (!check.wrong && check.depth)
		check.wrong = "an element without an end";
	if (!check.wrong)
		return NULL;
	snprintf(said, sizeof(said), "%s: byte %zu: %.40s", check.wrong, (size_t)(check.at - html),
		 check.at);
	return said;
}

#endif
