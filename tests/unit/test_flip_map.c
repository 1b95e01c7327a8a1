/* The ConfigMap of FLIP-504's gates, which write it, too. */
#include "run/handover/flip_map.h"

#include <string.h>

#include "base/mem.h"
#include "kube_stub.h"
#include "tap.h"

#define NAME "orders-bluegreen"
#define PATH "/api/v1/namespaces/team-a/configmaps"
#define REST                                                                                       \
	"\"active-deployment-type\":\"BLUE\",\"is-first-deployment\":\"true\","                    \
	"\"deployment-deletion-delay-ms\":\"30000\",\"stage\":\"RUNNING\""
#define HOLDS(version, data)                                                                       \
	{                                                                                          \
		.body = KUBE_MAP(NAME, version, data)                                              \
	}
#define SAYS(code, reason)                                                                         \
	{                                                                                          \
		.status = code,                                                                    \
		.body = KUBE_STATUS(code, reason, "no",                                            \
				    "\"name\":\"" NAME "\",\"kind\":\"configmaps\"")               \
	}

struct rig {
	struct kube_stub stub;
	struct flip_keys keys;
	struct flip_reading reading;
	struct err err;
};

static void begin(struct rig *rig)
{
	*rig = (struct rig){.keys = {.active = SIDE_BLUE,
				     .is_first = true,
				     .stage = FLIP_RUNNING,
				     .delay_ms = 30000}};
	kube_stub_start(&rig->stub);
}

static void end(struct rig *rig)
{
	flip_reading_release(&rig->reading);
	kube_stub_stop(&rig->stub);
}

static int write_map(struct rig *rig)
{
	return flip_map_write(rig->stub.kube, NAME, "orders", &rig->keys, &rig->reading, &rig->err);
}

#define RIG_TEST(name) TEST_WITH(name, struct rig, rig, begin, end)

RIG_TEST(it_is_made_with_the_four_keys)
{
	KUBE_SAY(&rig->stub, SAYS(404, "NotFound"), HOLDS("8", REST));
	CHECK_INT(write_map(rig), ==, 0);
	CHECK_STR(rig->stub.asked[1], "POST " PATH);
	CHECK_HAS(rig->stub.bodies[1], "\"data\":{" REST "}");
	CHECK_STR(rig->reading.values[FLIP_STAGE], "RUNNING");
	CHECK_INT(rig->err.kind, ==, ERR_NONE);
}

RIG_TEST(one_that_the_chart_makes_is_missed_and_not_made)
{
	KUBE_SAY(&rig->stub, SAYS(404, "NotFound"));
	CHECK_INT(flip_map_write(rig->stub.kube, NAME, NULL, &rig->keys, &rig->reading, &rig->err),
		  ==, -1);
	CHECK_INT(rig->err.kind, ==, ERR_RETRY);
	CHECK_HAS(rig->err.msg, "drey does not create it");
	CHECK_INT(kube_stub_asked(&rig->stub), ==, 1);
}

RIG_TEST(what_it_says_already_is_not_written)
{
	KUBE_SAY(&rig->stub, HOLDS("8", REST ",\"mine\":\"x\""));
	CHECK_INT(write_map(rig), ==, 0);
	CHECK_INT(rig->stub.asked_count, ==, 1);
}

RIG_TEST(a_write_is_compared_and_leaves_other_keys_alone)
{
	KUBE_SAY(&rig->stub, HOLDS("8", REST ",\"watermark-toggle-value\":\"5\",\"mine\":\"x\""),
		 HOLDS("9", REST ",\"mine\":\"x\""));
	CHECK_INT(write_map(rig), ==, 0);
	CHECK_STR(rig->stub.asked[1], "PATCH " PATH "/" NAME);
	CHECK_STR(
		rig->stub.bodies[1],
		"{\"metadata\":{\"resourceVersion\":\"8\"},\"data\":{\"watermark-toggle-value\":null}}");
	CHECK(!rig->reading.values[FLIP_WATERMARK_TOGGLE]);
}

RIG_TEST(a_gate_that_was_faster_is_read_again)
{
	KUBE_SAY(&rig->stub, HOLDS("8", REST ",\"watermark-stage\":\"x\""), SAYS(409, "Conflict"),
		 HOLDS("9", REST ",\"watermark-stage\":\"x\",\"watermark-toggle-value\":\"5\""),
		 HOLDS("10", REST));
	CHECK_INT(write_map(rig), ==, 0);
	CHECK_HAS(rig->stub.bodies[3], "\"resourceVersion\":\"9\"");
	CHECK_HAS(rig->stub.bodies[3], "\"watermark-toggle-value\":null");
	CHECK_INT(rig->err.kind, ==, ERR_NONE);
}

/* An error is never absence: what was read stays. */
RIG_TEST(what_cannot_be_read_is_not_made)
{
	static const struct {
		struct kube_stub_says says;
		enum err_kind kind;
	} cases[] = {
		{{.status = 403, .body = KUBE_STATUS(403, "Forbidden", "you may not", "")},
		 ERR_DENIED},
		{{.status = 404, .body = "404 page not found"}, ERR_CONFIG},
		{{.body = KUBE_MAP("another", "7", "")}, ERR_FORMAT},
	};

	KUBE_SAY(&rig->stub, HOLDS("8", REST));
	CHECK_INT(write_map(rig), ==, 0);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		int asked = rig->stub.asked_count;

		kube_stub_say(&rig->stub, &cases[i].says, 1);
		CHECK_INT(write_map(rig), ==, -1);
		CHECK_INT(rig->err.kind, ==, cases[i].kind);
		CHECK_INT(rig->stub.asked_count, ==, asked + 1);
		CHECK_STR(rig->reading.version, "8");
	}
}

RIG_TEST(a_write_that_is_denied_fails)
{
	KUBE_SAY(&rig->stub, SAYS(404, "NotFound"), SAYS(403, "Forbidden"));
	CHECK_INT(write_map(rig), ==, -1);
	CHECK_INT(rig->err.kind, ==, ERR_DENIED);
}
