#include "kube/event.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "kube/kube_call.h"

#define API        "/apis/events.k8s.io/v1"
#define KINDS      "events"
#define TIMEOUT_MS 5000
#define WORD_MAX   128 /* bytes of what is no sentence */

/* At most max_bytes, not in the middle of a character. */
static void add_cut(struct json *to, const char *key, const char *text, size_t max_bytes)
{
	cleanup_free char *cut = xstrndup(text, utf8_cut(text, max_bytes));

	json_add_str(to, key, cut);
}

/* MicroTime has exactly six digits. */
static void add_micro_time(struct json *to, const char *key, int64_t unix_ms)
{
	char text[CLOCK_TEXT_BYTES];
	cleanup_free char *micro = NULL;

	clock_rfc3339(unix_ms, text);
	micro = xasprintf("%.*s000Z", (int)strlen("2026-03-01T12:00:00.123"), text);
	json_add_str(to, key, micro);
}

int kube_event_create(struct kube *kube, const struct kube_event *event, struct err *err)
{
	cleanup_free char *path = kube_call_collection(API, kube_namespace(kube), KINDS);
	cleanup_json struct json *body = json_object();
	struct kube_request request = {
		.method = "POST", .path = path, .body = body, .timeout_ms = TIMEOUT_MS};
	struct json *part;

	if (kube_check_name(event->name, err) < 0)
		return -1;
	json_add_str(body, "apiVersion", "events.k8s.io/v1");
	json_add_str(body, "kind", "Event");
	part = json_add_object(body, "metadata");
	json_add_str(part, "name", event->name);
	json_add_str(part, "namespace", kube_namespace(kube));
	add_micro_time(body, "eventTime", event->unix_ms);
	json_add_str(body, "reportingController", KUBE_EVENT_CONTROLLER);
	add_cut(body, "reportingInstance", event->instance, WORD_MAX);
	add_cut(body, "action", event->action, WORD_MAX);
	add_cut(body, "reason", event->reason, WORD_MAX);
	json_add_str(body, "type", event->warning ? "Warning" : "Normal");
	add_cut(body, "note", event->note, KUBE_EVENT_NOTE_MAX);
	part = json_add_object(body, "regarding");
	json_add_str(part, "apiVersion", event->regarding.api_version);
	json_add_str(part, "kind", event->regarding.kind);
	json_add_str(part, "namespace", kube_namespace(kube));
	json_add_str(part, "name", event->regarding.name);
	json_add_str_opt(part, "uid", event->regarding.uid);
	return kube_call_send(kube, &request, NULL, err);
}

int kube_event_series(struct kube *kube, const char *name, int64_t count, int64_t last_unix_ms,
		      struct err *err)
{
	cleanup_free char *path = kube_call_path(kube, API, KINDS, name, "", err);
	cleanup_json struct json *body = json_object();
	struct kube_request request = {.method = "PATCH",
				       .path = path,
				       .content_type = KUBE_MERGE_PATCH,
				       .body = body,
				       .timeout_ms = TIMEOUT_MS,
				       .repeatable = true};
	struct json *series = json_add_object(body, "series");

	json_add_i64(series, "count", count);
	add_micro_time(series, "lastObservedTime", last_unix_ms);
	return kube_call_send(kube, &request, NULL, err);
}
