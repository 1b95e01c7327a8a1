/* What a webhook is sent: docs/tasks/notifications.md. */
#include "core/report/notification.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "tap.h"

#define UNIX_MS INT64_C(1795262791903)

static char *body_of(enum notification_format format, const struct notice *notice,
		     const char *space)
{
	struct event_text text = {0};
	struct buf body = {0};

	if (!event_text(notice, &text))
		return NULL;
	notification_body(format,
			  &(struct notification){.id = "pod-1",
						 .name_space = space,
						 .application = "orders",
						 .notice = notice,
						 .text = &text,
						 .unix_ms = UNIX_MS},
			  &body);
	event_text_release(&text);
	return body.data;
}

#define CHECK_BODY(format, space, want, ...)                                                       \
	do {                                                                                       \
		cleanup_free char *got = body_of(format, &(struct notice){__VA_ARGS__}, space);    \
		CHECK_STR(got, want);                                                              \
	} while (0)

TEST(a_cloudevent)
{
	CHECK_BODY(
		NOTIFICATION_CLOUDEVENTS, "prod",
		"{\"specversion\":\"1.0\",\"id\":\"pod-1\","
		"\"source\":\"/namespaces/prod/flinkapplications/orders\","
		"\"type\":\"dev.drey.flinkapplication.StorageUnreadable\",\"subject\":\"orders\","
		"\"time\":\"2026-11-21T12:06:31.903Z\",\"datacontenttype\":\"application/json\","
		"\"data\":{\"application\":\"orders\",\"namespace\":\"prod\",\"severity\":\"warning\","
		"\"reason\":\"StorageUnreadable\",\"message\":\"no \\\"answer\\\"\\\\x1b[31m\","
		"\"phase\":\"Holding\",\"cause\":\"StorageUnreadable\",\"doNotRestart\":false,"
		"\"launch\":4,\"path\":null}}",
		.type = NOTICE_PHASE, .phase = PHASE_HOLDING, .cause = CAUSE_STORAGE_UNREADABLE,
		.launch = 4, .text = "no \"answer\"\033[31m");
}

TEST(a_cloudevent_outside_of_kubernetes_with_a_path)
{
	cleanup_free char *body = body_of(NOTIFICATION_CLOUDEVENTS,
					  &(struct notice){.type = NOTICE_OPERATION,
							   .phase = PHASE_RUNNING,
							   .kind = OPERATION_SAVEPOINT,
							   .ok = true,
							   .path = "s3://b/sp/1"},
					  NULL);
	struct err err;
	struct json *event = json_parse(body, strlen(body), 65536, &err);

	CHECK(event);
	CHECK_STR(json_str(event, "source"), "/flinkapplications/orders");
	CHECK_STR(json_str(event, "type"), "dev.drey.flinkapplication.SavepointCompleted");
	CHECK_STR(json_str(json_get(event, "data"), "path"), "s3://b/sp/1");
	CHECK_STR(json_str(json_get(event, "data"), "severity"), "normal");
	CHECK(json_kind(json_get(json_get(event, "data"), "namespace")) == JSON_NULL);
	CHECK(json_kind(json_get(json_get(event, "data"), "launch")) == JSON_NULL);
	json_free(event);
}

/* Nobody is mentioned and no link is made by what a store or a job has said. */
TEST(a_slack_message)
{
	CHECK_BODY(
		NOTIFICATION_SLACK, "prod",
		"{\"text\":\":warning: *prod/orders* StopFailed (Running): &lt;!channel&gt; a &amp; b\\n"
		"`drey explain StopFailed`\"}",
		.type = NOTICE_PHASE, .phase = PHASE_RUNNING, .cause = CAUSE_STOP_FAILED,
		.text = "<!channel> a & b");
	CHECK_BODY(NOTIFICATION_SLACK, NULL,
		   "{\"text\":\":large_green_circle: *orders* Running: job 1 runs\"}",
		   .type = NOTICE_PHASE, .phase = PHASE_RUNNING, .text = "job 1 runs");
	CHECK_BODY(NOTIFICATION_SLACK, NULL, "{\"text\":\":warning: *orders* Failed\"}",
		   .type = NOTICE_PHASE, .phase = PHASE_FAILED);
}

TEST(a_long_message_is_cut_between_characters)
{
	char long_text[10001];
	cleanup_free char *body = NULL;

	for (size_t i = 0; i + 1 < sizeof(long_text); i += 2)
		memcpy(long_text + i, "\xc3\xa4", 2);
	long_text[sizeof(long_text) - 1] = '\0';
	body = body_of(
		NOTIFICATION_SLACK,
		&(struct notice){.type = NOTICE_PHASE, .phase = PHASE_RUNNING, .text = long_text},
		NULL);
	CHECK(strlen(body) < 3200);
	CHECK_HAS(body, "\xc3\xa4 ...");
}

static bool wanted(struct notification_filter *filter, enum notification_events events,
		   enum phase phase, enum cause cause, enum notice_type type)
{
	struct notice notice = {.type = type, .phase = phase, .cause = cause};
	struct event_text text;
	bool is = event_text(&notice, &text) && notification_wanted(filter, events, &notice, &text);

	event_text_release(&text);
	return is;
}

TEST(problems_and_that_they_are_over)
{
	struct notification_filter f = {0};

	CHECK(!wanted(&f, NOTIFICATION_PROBLEMS, PHASE_RUNNING, CAUSE_NONE, NOTICE_PHASE));
	CHECK(wanted(&f, NOTIFICATION_PROBLEMS, PHASE_HOLDING, CAUSE_STORAGE_UNREADABLE,
		     NOTICE_PHASE));
	CHECK(!wanted(&f, NOTIFICATION_PROBLEMS, PHASE_LAUNCHING, CAUSE_NONE, NOTICE_PHASE));
	CHECK(!wanted(&f, NOTIFICATION_PROBLEMS, PHASE_RUNNING, CAUSE_NONE, NOTICE_PROVEN));
	CHECK(wanted(&f, NOTIFICATION_PROBLEMS, PHASE_RUNNING, CAUSE_NONE, NOTICE_PHASE));
	CHECK(!wanted(&f, NOTIFICATION_PROBLEMS, PHASE_RUNNING, CAUSE_NONE, NOTICE_PHASE));
}

TEST(all_events)
{
	struct notification_filter f = {0};

	CHECK(wanted(&f, NOTIFICATION_ALL, PHASE_RUNNING, CAUSE_NONE, NOTICE_PHASE));
	CHECK(wanted(&f, NOTIFICATION_ALL, PHASE_RUNNING, CAUSE_NONE, NOTICE_PROVEN));
	CHECK(!wanted(&f, NOTIFICATION_ALL, PHASE_RUNNING, CAUSE_NONE, NOTICE_ATTEMPT_FAILED));
}

TEST(a_secret_is_sent_over_https_only)
{
	static const struct {
		enum notification_format format;
		const char *url, *why;
	} urls[] = {
		{NOTIFICATION_SLACK, "https://hooks.slack.com/services/T/B/x", NULL},
		{NOTIFICATION_SLACK, "http://hooks.slack.com/services/T/B/x", "use https://"},
		{NOTIFICATION_SLACK, "http://127.0.0.1:8080/x", NULL},
		{NOTIFICATION_SLACK, "http://[::1]/x", NULL},
		{NOTIFICATION_SLACK, "http://localhost:1", NULL},
		{NOTIFICATION_SLACK, "http://localhost.example.com/x", "use https://"},
		{NOTIFICATION_SLACK, "http://127.0.0.1@example.com/x", "use https://"},
		{NOTIFICATION_CLOUDEVENTS, "http://broker.knative/x", NULL},
		{NOTIFICATION_CLOUDEVENTS, "ftp://broker/x", "not a URL with https://"},
		{NOTIFICATION_CLOUDEVENTS, "broker/x", "not a URL with https://"},
		{NOTIFICATION_CLOUDEVENTS, "https://", "no host"},
		{NOTIFICATION_CLOUDEVENTS, "https:///x", "no host"},
		{NOTIFICATION_CLOUDEVENTS, "https://a/x\nhttps://b/y", "one URL"},
	};

	for (size_t i = 0; i < sizeof(urls) / sizeof(*urls); i++) {
		const char *why = notification_url_refused(urls[i].format, urls[i].url);

		if (!urls[i].why)
			CHECK_STR(why, NULL);
		else
			CHECK_HAS(why, urls[i].why);
	}
}
