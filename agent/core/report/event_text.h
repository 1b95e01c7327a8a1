/*
 * event_text - the reason and text of the Kubernetes Event for a notice: docs/reference/kubernetes.md,
 * Events.
 *
 * Pure: a table. Reasons never change, because alerts use them.
 */
#ifndef DREY_CORE_EVENT_TEXT_H
#define DREY_CORE_EVENT_TEXT_H

#include <stdbool.h>

#include "core/lifecycle/notice.h"

#define EVENT_REASON_BYTES 64

struct event_text {
	bool warning; /* else Normal */
	char reason[EVENT_REASON_BYTES];
	const char *action;
	char *note; /* or NULL; owned */
};

/* False: there is no Event for it. Release *ret with event_text_release(). */
bool event_text(const struct notice *notice, struct event_text *ret);
void event_text_release(struct event_text *text);

#endif
