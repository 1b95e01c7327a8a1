#include "run/journal/journal_origin.h"

#include <stdlib.h>
#include <string.h>

#include "kube_stub.h"
#include "run/journal/journal_map.h"
#include "tests/unit/tap.h"

#define DEPLOYMENT(created, conditions)                                                            \
	"{\"kind\":\"Deployment\",\"apiVersion\":\"apps/v1\",\"metadata\":{\"name\":\"orders-"     \
	"jobmanager\",\"uid\":\"d-1\",\"creationTimestamp\":\"" created                            \
	"\"},\"spec\":{},\"status\":{\"conditions\":[" conditions "]}}"
#define READY "{\"type\":\"drey.dev/Ready\",\"status\":\"True\"}"
#define MARKED(status)                                                                             \
	READY ",{\"type\":\"drey.dev/JournalMarked\",\"status\":\"" status                         \
	      "\",\"reason\":\"Marked\"}"
#define MINUTES(n) (INT64_C(1772366400000) + (n)*INT64_C(60000)) /* since 2026-03-01T12:00:00Z */

struct rig {
	struct kube_stub stub;
	struct setup_kube kube;
	struct journal_origin origin;
	struct configmap map;
	struct err err;
};

static void begin(struct rig *rig)
{
	*rig = (struct rig){0};
	kube_stub_start(&rig->stub);
	rig->kube.client = kube_client_new(&rig->stub.config, NULL);
	rig->kube.owner = xstrdup("orders-jobmanager");
	rig->map = (struct configmap){.name = xstrdup("orders-drey-journal"),
				      .uid = xstrdup("u-1"),
				      .data = json_object(),
				      .created_unix_ms = MINUTES(1)};
	json_add_str(rig->map.data, JOURNAL_MAP_KEY, "{}");
	journal_origin_init(&rig->origin, &rig->kube, false);
}

static void end(struct rig *rig)
{
	journal_origin_release(&rig->origin);
	configmap_release(&rig->map);
	setup_kube_release(&rig->kube);
	kube_stub_stop(&rig->stub);
}

static int vouch(struct rig *rig)
{
	rig->err = (struct err){0};
	return journal_origin_vouch(&rig->origin, &rig->map, &rig->err);
}

#define RIG_TEST(name) TEST_WITH(name, struct rig, rig, begin, end)

RIG_TEST(one_that_came_after_the_deployment_is_of_an_earlier_drey)
{
	KUBE_SAY(&rig->stub, {.body = DEPLOYMENT("2026-03-01T12:00:00Z", READY)});
	CHECK_INT(vouch(rig), ==, 0);
	CHECK_STR(rig->stub.asked[0],
		  "GET /apis/apps/v1/namespaces/team-a/deployments/orders-jobmanager");
}

RIG_TEST(one_that_was_there_before_it_is_not)
{
	static const char *const created[] = {"2026-03-01T12:02:00Z", "2026-03-01T12:01:00Z"};

	for (int i = 0; i < 2; i++) {
		cleanup_free char *body =
			xasprintf("{\"kind\":\"Deployment\",\"metadata\":{\"name\":\"orders-"
				  "jobmanager\",\"uid\":\"d-1\",\"creationTimestamp\":\"%s\"},"
				  "\"spec\":{}}",
				  created[i]);

		KUBE_SAY(&rig->stub, {.body = body});
		CHECK_INT(vouch(rig), ==, -1);
		CHECK_INT(rig->err.kind, ==, ERR_CONFIG);
		CHECK_HAS(rig->err.msg, "ConfigMap team-a/orders-drey-journal has no mark");
		CHECK_HAS(rig->err.msg, "was there before the owner of the pod");
		CHECK_HAS(rig->err.msg, "configmap orders-drey-journal drey.dev/uid=u-1`");
	}
}

RIG_TEST(nor_is_any_once_there_were_marks)
{
	KUBE_SAY(&rig->stub, {.body = DEPLOYMENT("2026-03-01T12:00:00Z", MARKED("True"))});
	CHECK_INT(vouch(rig), ==, -1);
	CHECK_INT(rig->err.kind, ==, ERR_CONFIG);
	CHECK_HAS(rig->err.msg, "it was deleted and made anew");
	KUBE_SAY(&rig->stub, {.body = DEPLOYMENT("2026-03-01T12:00:00Z", MARKED("Unknown"))});
	CHECK_INT(vouch(rig), ==, 0);
}

static void begin_empty(struct rig *rig)
{
	begin(rig);
	json_free(rig->map.data);
	rig->map.data = json_object();
}

#define EMPTY_TEST(name) TEST_WITH(name, struct rig, rig, begin_empty, end)

EMPTY_TEST(an_empty_one_is_none_yet_until_there_were_marks)
{
	KUBE_SAY(&rig->stub, {.body = DEPLOYMENT("2026-03-01T12:02:00Z", READY)});
	CHECK_INT(vouch(rig), ==, 0);
	KUBE_SAY(&rig->stub, {.body = DEPLOYMENT("2026-03-01T12:00:00Z", MARKED("True"))});
	CHECK_INT(vouch(rig), ==, -1);
	CHECK_INT(rig->err.kind, ==, ERR_RETRY);
	CHECK_HAS(rig->err.msg,
		  "ConfigMap team-a/orders-drey-journal is empty, but drey has written to it");
	CHECK_HAS(rig->err.msg, "it was deleted and made anew");
	CHECK_HAS(rig->err.msg, "configmap orders-drey-journal drey.dev/uid=u-1`");
	rig->origin.shadow = true;
	CHECK_INT(vouch(rig), ==, 0);
}

EMPTY_TEST(an_owner_that_cannot_be_read_does_not_say_that_an_empty_one_is_none_yet)
{
	KUBE_SAY(&rig->stub, {.status = 403, .body = KUBE_STATUS(403, "Forbidden", "no", "")});
	CHECK_INT(vouch(rig), ==, -1);
	CHECK_INT(rig->err.kind, ==, ERR_DENIED);
	KUBE_SAY(&rig->stub,
		 {.status = 404, .body = KUBE_NOT_FOUND("deployments", "orders-jobmanager")});
	CHECK_INT(vouch(rig), ==, -1);
	CHECK_INT(rig->err.kind, ==, ERR_RETRY);
	CHECK_HAS(rig->err.msg, "the ConfigMap of the journal is empty");
	free(rig->kube.owner);
	rig->kube.owner = NULL;
	CHECK_INT(vouch(rig), ==, 0);
}

RIG_TEST(a_deployment_that_cannot_be_read_permits_nothing)
{
	KUBE_SAY(&rig->stub, {.status = 403, .body = KUBE_STATUS(403, "Forbidden", "no", "")});
	CHECK_INT(vouch(rig), ==, -1);
	CHECK_INT(rig->err.kind, ==, ERR_DENIED);
	KUBE_SAY(&rig->stub,
		 {.status = 404, .body = KUBE_NOT_FOUND("deployments", "orders-jobmanager")});
	CHECK_INT(vouch(rig), ==, -1);
	CHECK_INT(rig->err.kind, ==, ERR_RETRY);
	CHECK_HAS(rig->err.msg, "the ConfigMap of the journal has no mark");
	KUBE_SAY(&rig->stub, {.body = "{\"kind\":\"Deployment\",\"metadata\":{\"name\":\"orders-"
				      "jobmanager\",\"uid\":\"d-1\"},\"spec\":{}}"});
	CHECK_INT(vouch(rig), ==, -1);
	free(rig->kube.owner);
	rig->kube.owner = NULL;
	CHECK_INT(vouch(rig), ==, -1);
	CHECK_HAS(rig->err.msg, "kubernetes.owner is none");
}

RIG_TEST(that_there_are_marks_is_noted_once)
{
	KUBE_SAY(&rig->stub, {.body = DEPLOYMENT("2026-03-01T12:00:00Z", READY)},
		 {.body = DEPLOYMENT("2026-03-01T12:00:00Z", MARKED("True"))});
	journal_origin_note(&rig->origin);
	CHECK(rig->origin.noted);
	CHECK_INT(kube_stub_asked(&rig->stub), ==, 2);
	CHECK_HAS(rig->stub.asked[1], "PATCH /apis/apps/v1/namespaces/team-a/deployments/"
				      "orders-jobmanager/status");
	CHECK_HAS(rig->stub.bodies[1], "\"type\":\"drey.dev/JournalMarked\",\"status\":\"True\"");
	CHECK_HAS(rig->stub.bodies[1], "\"uid\":\"d-1\"");
	journal_origin_note(&rig->origin);
	CHECK_INT(kube_stub_asked(&rig->stub), ==, 2);
}

RIG_TEST(a_note_that_is_there_is_not_written_again)
{
	KUBE_SAY(&rig->stub, {.body = DEPLOYMENT("2026-03-01T12:00:00Z", MARKED("True"))});
	journal_origin_note(&rig->origin);
	journal_origin_note(&rig->origin);
	CHECK_INT(kube_stub_asked(&rig->stub), ==, 1);
}

RIG_TEST(a_note_that_fails_is_tried_again_later)
{
	KUBE_SAY(&rig->stub, {.status = 403, .body = KUBE_STATUS(403, "Forbidden", "no", "")});
	journal_origin_note(&rig->origin);
	journal_origin_note(&rig->origin);
	CHECK_INT(kube_stub_asked(&rig->stub), ==, 1);
	rig->origin.again_ms = 0;
	KUBE_SAY(&rig->stub, {.body = DEPLOYMENT("2026-03-01T12:00:00Z", READY)},
		 {.status = 403, .body = KUBE_STATUS(403, "Forbidden", "no", "")});
	rig->stub.turn = 0;
	journal_origin_note(&rig->origin);
	CHECK(!rig->origin.noted);
	CHECK_INT(kube_stub_asked(&rig->stub), ==, 3);
}
