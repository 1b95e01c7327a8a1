#include "kube/flinkapp.h"

#include "base/fs.h"
#include "core/lifecycle/phase.h"
#include "kube_stub.h"
#include "tap.h"

#define APP(name, uid, rest)                                                                       \
	"{\"apiVersion\":\"drey.dev/"                                                              \
	"v1\",\"kind\":\"FlinkApplication\",\"metadata\":{\"name\":\"" name                        \
	"\",\"namespace\":\"team-a\",\"uid\":\"" uid                                               \
	"\",\"resourceVersion\":\"5\",\"generation\":3},\"spec\":{\"state\":\"suspended\"}" rest   \
	"}"
#define GONE                                                                                       \
	KUBE_STATUS(404, "NotFound", "flinkapplications.drey.dev \\\"orders\\\" not found",        \
		    "\"name\":\"orders\",\"group\":\"drey.dev\",\"kind\":\"flinkapplications\"")

#define KUBE_TEST(name) TEST_WITH(name, struct kube_stub, stub, kube_stub_start, kube_stub_stop)

KUBE_TEST(a_resource_is_read)
{
	struct flinkapp app = {0};
	struct err err = {0};

	KUBE_SAY(stub, {.body = APP("orders", "u-1",
				    ",\"status\":{\"conditions\":[{\"type\":\"Ready\"}]}")});
	CHECK_INT(flinkapp_get(stub->kube, "orders", &app, NULL, &err), ==, 0);
	CHECK_STR(stub->asked[0],
		  "GET /apis/drey.dev/v1/namespaces/team-a/flinkapplications/orders");
	CHECK_STR(app.name, "orders");
	CHECK_STR(app.uid, "u-1");
	CHECK_STR(app.resource_version, "5");
	CHECK_INT(app.generation, ==, 3);
	CHECK(!app.deleting);
	CHECK_STR(json_str(app.spec, "state"), "suspended");
	CHECK_INT(json_len(app.conditions), ==, 1);
	flinkapp_release(&app);
}

KUBE_TEST(no_object_and_no_definition_are_two_things)
{
	struct flinkapp app = {0};

	KUBE_SAY(stub, {.status = 404, .body = GONE},
		 {.status = 404, .body = "404 page not found\n"});
	for (int i = 0; i < 2; i++) {
		struct kube_answer answer = {0};
		struct err err = {0};

		CHECK_INT(flinkapp_get(stub->kube, "orders", &app, &answer, &err), ==, -1);
		CHECK_INT(err.kind, ==, i ? ERR_CONFIG : ERR_ABSENT);
		CHECK_INT(answer.path_unknown, ==, i);
		kube_answer_release(&answer);
	}
}

static int count_items(void *ctx, const struct json *item, struct err *err)
{
	(void)item;
	(void)err;
	++*(int *)ctx;
	return 0;
}

/* An error of the server is no missing definition. */
KUBE_TEST(a_list_without_the_definition_says_so)
{
	static const bool unknown_of[] = {true, false, false};

	KUBE_SAY(stub, {.status = 404, .body = "404 page not found\n"},
		 {.status = 403, .body = "{\"kind\":\"Status\",\"code\":403}"},
		 {.status = 404, .body = "<html>no route</html>"});
	for (int i = 0; i < 3; i++) {
		bool unknown = false;
		int count = 0;

		CHECK_INT(flinkapp_list(stub->kube, NULL, &unknown, count_items, &count, NULL), ==,
			  -1);
		CHECK_INT(unknown, ==, unknown_of[i]);
		CHECK_INT(count, ==, 0);
	}
}

TEST(nonsense_is_no_resource)
{
	static const char *const bodies[] = {
		APP("another", "u-1", ""),
		"{\"kind\":\"ConfigMap\",\"metadata\":{}}",
		"{\"kind\":\"FlinkApplication\"}",
		"{\"kind\":\"FlinkApplication\",\"metadata\":{\"name\":\"orders\",\"uid\":\"u\","
		"\"resourceVersion\":\"1\"}}",
		"{\"kind\":\"FlinkApplication\",\"metadata\":{\"name\":\"orders\",\"uid\":\"u\","
		"\"resourceVersion\":\"1\",\"generation\":0}}",
		"{\"kind\":\"FlinkApplication\",\"metadata\":{\"name\":\"orders\",\"uid\":\"u\","
		"\"resourceVersion\":\"1\",\"generation\":1},\"spec\":[]}",
	};

	for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
		struct kube_stub stub;
		struct flinkapp app = {0};
		struct err err = {0};

		kube_stub_start(&stub);
		KUBE_SAY(&stub, {.body = bodies[i]});
		CHECK_INT(flinkapp_get(stub.kube, "orders", &app, NULL, &err), ==, -1);
		CHECK_INT(err.kind, ==, ERR_FORMAT);
		CHECK(!app.name && !app.spec);
		kube_stub_stop(&stub);
	}
}

KUBE_TEST(the_status_is_applied_whole_to_this_very_object)
{
	struct json *status = json_object();
	char *version = NULL;
	struct err err = {0};

	json_add_str(status, "phase", "Running");
	KUBE_SAY(stub, {.body = APP("orders", "u-1", "")});
	CHECK_INT(flinkapp_apply_status(stub->kube, "orders", "u-1", status, &version, NULL, &err),
		  ==, 0);
	CHECK_STR(version, "5");
	CHECK_STR(stub->asked[0], "PATCH /apis/drey.dev/v1/namespaces/team-a/flinkapplications/"
				  "orders/status?fieldManager=drey&force=true");
	CHECK_HAS(stub->heads[0], "application/apply-patch+yaml");
	CHECK_STR(stub->bodies[0],
		  "{\"apiVersion\":\"drey.dev/v1\",\"kind\":\"FlinkApplication\",\"metadata\":"
		  "{\"name\":\"orders\",\"uid\":\"u-1\"},\"status\":{\"phase\":\"Running\"}}");
	KUBE_SAY(stub, {.status = 409, .body = KUBE_STATUS(409, "Conflict", "uid mismatch", "")});
	CHECK_INT(flinkapp_apply_status(stub->kube, "orders", "u-1", status, &version, NULL, &err),
		  ==, -1);
	CHECK_INT(err.kind, ==, ERR_BUSY);
	KUBE_SAY(stub, {.body = "{\"kind\":\"FlinkApplication\"}"});
	CHECK_INT(flinkapp_apply_status(stub->kube, "orders", "u-1", status, &version, NULL, &err),
		  ==, -1);
	CHECK_HAS(err.msg, "the answer");
	CHECK_STR(version, "5");
	free(version);
	json_free(status);
}

KUBE_TEST(a_name_that_is_none_is_not_asked_for)
{
	struct flinkapp app = {0};
	struct err err = {0};

	CHECK_INT(flinkapp_get(stub->kube, "../x", &app, NULL, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_CONFIG);
	CHECK_INT(kube_stub_asked(stub), ==, 0);
}

/* What another account writes there is no word of drey's, and is printed by others, too. */
TEST(the_definition_of_the_resource_has_each_phase_and_no_other)
{
	cleanup_buf struct buf crd = BUF_INIT, phases = BUF_INIT;
	struct err err = {0};

	for (int i = 0; i < PHASE_COUNT; i++)
		buf_addf(&phases, "%s%s", i ? ", " : "                enum: [",
			 phase_name((enum phase)i));
	buf_addstr(&phases, "]\n");
	CHECK_INT(fs_read("chart/drey-crds/templates/flinkapplications.yaml", 1 << 20, &crd, &err),
		  ==, 0);
	CHECK_HAS(buf_str(&crd), buf_str(&phases));
}
