#include "core/report/notification.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/http_url.h"
#include "base/json.h"
#include "base/utf8.h"
#include "core/report/cause.h"

#define TYPE_PREFIX     "dev.drey.flinkapplication."
#define SLACK_MAX_BYTES 3000 /* Slack cuts at 40,000 characters; nobody reads that on a phone */

const char *const notification_format_words[] = {"cloudevents", "slack", NULL};
const char *const notification_events_words[] = {"problems", "all", NULL};

bool notification_wanted(struct notification_filter *filter, enum notification_events events,
			 const struct notice *notice, const struct event_text *text)
{
	bool again = filter->troubled && notice->type == NOTICE_PHASE &&
		     notice->phase == PHASE_RUNNING && !text->warning;

	if (text->warning)
		filter->troubled = true;
	else if (again)
		filter->troubled = false;
	return events == NOTIFICATION_ALL || text->warning || again;
}

/* ---- CloudEvents ---- */

static void add_data(struct json *event, const struct notification *n)
{
	const struct notice *notice = n->notice;
	const char *cause = cause_name(notice->cause);
	struct json *data = json_add_object(event, "data");

	json_add_str(data, "application", n->application);
	json_add_str(data, "namespace", n->name_space);
	json_add_str(data, "severity", n->text->warning ? "warning" : "normal");
	json_add_str(data, "reason", n->text->reason);
	json_add_str(data, "message", n->text->note);
	json_add_str(data, "phase", phase_name(notice->phase));
	json_add_str(data, "cause", cause);
	json_add_bool(data, "doNotRestart", notice->do_not_restart);
	json_add_known(data, "launch", notice->launch, 1);
	json_add_str(data, "path", notice->path);
}

static void cloudevent(const struct notification *n, struct buf *to)
{
	char time[CLOCK_TEXT_BYTES], type[sizeof(TYPE_PREFIX) + EVENT_REASON_BYTES];
	struct buf source = {0};
	struct json *event = json_object();

	if (n->name_space)
		buf_addf(&source, "/namespaces/%s", n->name_space);
	buf_addf(&source, "/flinkapplications/%s", n->application);
	snprintf(type, sizeof(type), TYPE_PREFIX "%s", n->text->reason);
	json_add_str(event, "specversion", "1.0");
	json_add_str(event, "id", n->id);
	json_add_str(event, "source", buf_str(&source));
	json_add_str(event, "type", type);
	json_add_str(event, "subject", n->application);
	json_add_str(event, "time", clock_rfc3339(n->unix_ms, time));
	json_add_str(event, "datacontenttype", "application/json");
	add_data(event, n);
	json_print(event, to);
	json_free(event);
	buf_release(&source);
}

/* ---- Slack ---- */

static void escaped(struct buf *to, const char *text)
{
	size_t left_bytes = utf8_cut(text, SLACK_MAX_BYTES);
	bool cut = text[left_bytes];

	for (; left_bytes; text++, left_bytes--) {
		if (*text == '&')
			buf_addstr(to, "&amp;");
		else if (*text == '<')
			buf_addstr(to, "&lt;");
		else if (*text == '>')
			buf_addstr(to, "&gt;");
		else
			buf_addch(to, *text);
	}
	if (cut)
		buf_addstr(to, " ...");
}

static void slack(const struct notification *n, struct buf *to)
{
	const char *cause = cause_name(n->notice->cause);
	struct buf text = {0};
	struct json *message = json_object();

	buf_addstr(&text, n->text->warning ? ":warning: *" : ":large_green_circle: *");
	if (n->name_space)
		buf_addf(&text, "%s/", n->name_space);
	buf_addf(&text, "%s* %s", n->application, n->text->reason);
	if (strcmp(phase_name(n->notice->phase), n->text->reason) != 0)
		buf_addf(&text, " (%s)", phase_name(n->notice->phase));
	if (n->text->note && *n->text->note) {
		buf_addstr(&text, ": ");
		escaped(&text, n->text->note);
	}
	if (cause && n->text->warning)
		buf_addf(&text, "\n`drey explain %s`", cause);
	json_add_str(message, "text", buf_str(&text));
	json_print(message, to);
	json_free(message);
	buf_release(&text);
}

void notification_body(enum notification_format format, const struct notification *notification,
		       struct buf *to)
{
	if (format == NOTIFICATION_SLACK)
		slack(notification, to);
	else
		cloudevent(notification, to);
}

const char *notification_content_type(enum notification_format format)
{
	return format == NOTIFICATION_SLACK ? "application/json; charset=utf-8"
					    : "application/cloudevents+json; charset=utf-8";
}

/* ---- the URL ---- */

static const char *after_scheme(const char *url)
{
	const char *end = strstr(url, "://");

	return end ? end + 3 : url;
}

/* Host and port: after the user, before the path. */
static const char *host_of(const char *url, size_t *ret_len)
{
	const char *host = after_scheme(url);
	const char *end = host + strcspn(host, "/?#");

	for (const char *at = host; at < end; at++)
		if (*at == '@')
			host = at + 1;
	*ret_len = (size_t)(end - host);
	return host;
}

const char *notification_url_refused(enum notification_format format, const char *url)
{
	size_t len;

	for (const char *at = url; *at; at++)
		if ((unsigned char)*at <= ' ' || *at == 0x7f)
			return "it contains spaces or control characters; it must be one URL";
	host_of(url, &len);
	if (!len)
		return "it names no host";
	if (!strncmp(url, "https://", 8))
		return NULL;
	if (strncmp(url, "http://", 7) != 0)
		return "it is not a URL with https://";
	if (format == NOTIFICATION_SLACK && !http_url_is_loopback(url))
		return "the URL of a Slack webhook is a secret; use https://";
	return NULL;
}
