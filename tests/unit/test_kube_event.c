#include "kube/event.h"

#include "kube_stub.h"
#include "tap.h"

static const struct kube_event event = {
	.name = "orders.18c1",
	.regarding = {"drey.dev/v1", "FlinkApplication", "orders", "u-1"},
	.reason = "Running",
	.action = "Supervise",
	.note = "the job runs",
	.instance = "orders-jobmanager-0",
	.unix_ms = 1700000000123,
};

#define KUBE_TEST(name) TEST_WITH(name, struct kube_stub, stub, kube_stub_start, kube_stub_stop)

KUBE_TEST(an_event_is_written_as_the_server_wants_it)
{
	struct err err = {0};

	KUBE_SAY(stub, {.status = 201, .body = "{\"kind\":\"Event\"}"});
	CHECK_INT(kube_event_create(stub->kube, &event, &err), ==, 0);
	CHECK_STR(stub->asked[0], "POST /apis/events.k8s.io/v1/namespaces/team-a/events");
	CHECK_STR(stub->bodies[0],
		  "{\"apiVersion\":\"events.k8s.io/v1\",\"kind\":\"Event\",\"metadata\":{\"name\":"
		  "\"orders.18c1\",\"namespace\":\"team-a\"},\"eventTime\":\"2023-11-14T22:13:20."
		  "123000Z\",\"reportingController\":\"drey.dev/drey\",\"reportingInstance\":"
		  "\"orders-jobmanager-0\",\"action\":\"Supervise\",\"reason\":\"Running\","
		  "\"type\":\"Normal\",\"note\":\"the job runs\",\"regarding\":{\"apiVersion\":"
		  "\"drey.dev/v1\",\"kind\":\"FlinkApplication\",\"namespace\":\"team-a\","
		  "\"name\":\"orders\",\"uid\":\"u-1\"}}");
}

TEST(a_long_note_is_cut_between_characters)
{
	struct kube_stub stub;
	struct kube_event longer = event;
	char note[3 * KUBE_EVENT_NOTE_MAX];
	struct err err = {0};
	cleanup_json struct json *body = NULL;

	note[0] = 'x';
	for (size_t i = 1; i + 2 < sizeof(note); i += 2)
		memcpy(note + i, "\xC3\xA4", 2);
	note[sizeof(note) - 1] = '\0';
	note[sizeof(note) - 2] = '\0';
	longer.note = note;
	longer.warning = true;
	kube_stub_start(&stub);
	KUBE_SAY(&stub, {.status = 201, .body = "{\"kind\":\"Event\"}"});
	CHECK_INT(kube_event_create(stub.kube, &longer, &err), ==, 0);
	body = json_parse(stub.bodies[0], strlen(stub.bodies[0]), 1 << 20, &err);
	CHECK(body != NULL);
	CHECK_INT(strlen(json_str(body, "note")), ==, KUBE_EVENT_NOTE_MAX - 1);
	CHECK_STR(json_str(body, "type"), "Warning");
	kube_stub_stop(&stub);
}

KUBE_TEST(a_series_is_patched)
{
	struct err err = {0};

	KUBE_SAY(stub, {.body = "{\"kind\":\"Event\"}"},
		 {.status = 404, .body = KUBE_NOT_FOUND("events", "orders.18c1")});
	CHECK_INT(kube_event_series(stub->kube, "orders.18c1", 2, event.unix_ms, &err), ==, 0);
	CHECK_STR(stub->asked[0],
		  "PATCH /apis/events.k8s.io/v1/namespaces/team-a/events/orders.18c1");
	CHECK_STR(stub->bodies[0], "{\"series\":{\"count\":2,\"lastObservedTime\":"
				   "\"2023-11-14T22:13:20.123000Z\"}}");
	CHECK_INT(kube_event_series(stub->kube, "orders.18c1", 2, event.unix_ms, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_ABSENT);
}
