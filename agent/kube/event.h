/*
 * event - Events of events.k8s.io/v1: created, and extended to series. `kubectl describe` and
 * `kubectl events` show them with an object for about an hour; nothing may depend on one.
 *
 * All of it blocks: for lanes. Errors are those of kube_do(). Both are tried only once, because no
 * caller waits long for an event.
 *
 * Source: kubernetes/api events/v1, kubernetes pkg/apis/core/validation/events.go (limits).
 */
#ifndef DREY_KUBE_EVENT_H
#define DREY_KUBE_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "kube/kube.h"

#define KUBE_EVENT_CONTROLLER "drey.dev/drey"
#define KUBE_EVENT_NOTE_MAX   1000 /* bytes; longer ones are cut */

/* What an event is about; all strings are borrowed. */
struct kube_event_object {
	const char *api_version, *kind, *name, *uid;
};

struct kube_event {
	const char *name; /* of the event itself, unique in the namespace */
	struct kube_event_object regarding;
	bool warning;
	const char *reason;   /* one word: why it was reported */
	const char *action;   /* one word: what was done */
	const char *note;     /* a sentence */
	const char *instance; /* the reporting pod */
	int64_t unix_ms;
};

int kube_event_create(struct kube *kube, const struct kube_event *event, struct err *err);

/* ERR_ABSENT: it has expired. */
int kube_event_series(struct kube *kube, const char *name, int64_t count, int64_t last_unix_ms,
		      struct err *err);

#endif
