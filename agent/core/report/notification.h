/*
 * notification - what a webhook is sent, and which events are worth it: docs/tasks/notifications.md.
 *
 * Pure. A notification is the Kubernetes Event of the same notice (event_text.h) as the body of a POST: a CloudEvent
 * in structured mode, or a message of a Slack incoming webhook.
 *
 * Life cycle: a zeroed struct notification_filter for the time of the agent. The other functions keep nothing.
 *
 * Sources: CloudEvents 1.0.2, sections 3 and "JSON Event Format" 3; docs.slack.dev, "Formatting message text"
 * (the three characters that are escaped).
 */
#ifndef DREY_CORE_NOTIFICATION_H
#define DREY_CORE_NOTIFICATION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "core/lifecycle/notice.h"
#include "core/report/event_text.h"

enum notification_format { NOTIFICATION_CLOUDEVENTS, NOTIFICATION_SLACK };
extern const char *const notification_format_words[]; /* in this order; ends with NULL */

enum notification_events {
	NOTIFICATION_PROBLEMS, /* warnings, and that the job runs again after one */
	NOTIFICATION_ALL,
};
extern const char *const notification_events_words[];

struct notification_filter {
	bool troubled; /* a warning was sent, and the job has not run since */
};

/* Is it sent? Must be asked for each event, in their order. */
bool notification_wanted(struct notification_filter *filter, enum notification_events events,
			 const struct notice *notice, const struct event_text *text);

struct notification {
	const char *id;         /* unique within the source */
	const char *name_space; /* NULL outside of Kubernetes */
	const char *application;
	const struct notice *notice;
	const struct event_text *text;
	int64_t unix_ms;
};

/* Append the body. */
void notification_body(enum notification_format format, const struct notification *notification,
		       struct buf *to);
const char *notification_content_type(enum notification_format format);

/* May the URL be used with this format? NULL: yes; else why not, without the URL. A Slack webhook's URL is a secret,
 * so only https keeps it; an event broker in the cluster has none. */
const char *notification_url_refused(enum notification_format format, const char *url);

#endif
