#include "kube/workload.h"

#include "kube_stub.h"
#include "tap.h"

#define OBJECT(kind, name, more, spec)                                                             \
	"{\"kind\":\"" kind "\",\"metadata\":{\"name\":\"" name "\",\"uid\":\"u-1\"" more          \
	"},\"spec\":{" spec "}}"
#define POD_OF(generation)                                                                         \
	"\"template\":{\"metadata\":{\"annotations\":{\"drey.dev/generation\":\"" generation "\"}" \
	"}}"

#define KUBE_TEST(name) TEST_WITH(name, struct kube_stub, stub, kube_stub_start, kube_stub_stop)

KUBE_TEST(a_deployment_is_read)
{
	struct workload workload = {0};
	struct err err = {0};

	KUBE_SAY(stub, {.body = OBJECT("Deployment", "jm",
				       ",\"annotations\":{\"drey.dev/generation\":\"own\"}",
				       "\"replicas\":0," POD_OF("g2"))});
	CHECK_INT(workload_get(stub->kube, WORKLOAD_DEPLOYMENT, "jm", 1000, &workload, NULL, &err),
		  ==, 0);
	CHECK_STR(stub->asked[0], "GET /apis/apps/v1/namespaces/team-a/deployments/jm");
	CHECK_STR(workload.uid, "u-1");
	CHECK_INT(workload.replicas, ==, 0);
	CHECK_STR(workload.generation, "g2");
	CHECK(!workload.deleting && !workload.suspended);
	workload_release(&workload);
}

#define POD_WITH(annotations)                                                                      \
	"\"replicas\":1,\"template\":{\"metadata\":{\"annotations\":{" annotations "}}}"

KUBE_TEST(what_its_pods_are_made_of_is_read_from_their_template)
{
	struct workload workload = {0};
	struct workload_wants wants;

	KUBE_SAY(stub,
		 {.body = OBJECT("Deployment", "jm", ",\"annotations\":{\"checksum/drey\":\"own\"}",
				 POD_WITH("\"drey.dev/generation\":\"g2\","
					  "\"checksum/drey\":\"c0ffee\""))});
	CHECK_INT(workload_get(stub->kube, WORKLOAD_DEPLOYMENT, "jm", 1000, &workload, NULL, NULL),
		  ==, 0);
	CHECK_STR(workload.checksum, "c0ffee");
	wants = workload_wants(&workload);
	CHECK(wants.known && !wants.none);
	CHECK_STR(wants.generation, "g2");
	CHECK_STR(wants.checksum, "c0ffee");
	workload_release(&workload);
	CHECK(!workload.checksum);
}

KUBE_TEST(the_checksum_of_the_deployment_is_not_that_of_its_pods)
{
	struct workload workload = {0};
	struct workload_wants wants;

	KUBE_SAY(stub,
		 {.body = OBJECT("Deployment", "jm", ",\"annotations\":{\"checksum/drey\":\"own\"}",
				 POD_WITH("\"drey.dev/generation\":\"g2\""))});
	CHECK_INT(workload_get(stub->kube, WORKLOAD_DEPLOYMENT, "jm", 1000, &workload, NULL, NULL),
		  ==, 0);
	CHECK(!workload.checksum);
	wants = workload_wants(&workload);
	CHECK(wants.known && !wants.checksum);
	workload_release(&workload);
}

TEST(what_is_wanted_is_known_only_from_what_was_read)
{
	struct workload workload = {
		.replicas = 1, .generation = (char *)"g2", .checksum = (char *)"c"};
	struct workload_wants wants = workload_wants(NULL);

	CHECK(!wants.known && !wants.none && !wants.generation);
	wants = workload_wants(&workload);
	CHECK(wants.known && !wants.none);
	workload.generation = NULL;
	wants = workload_wants(&workload);
	CHECK(!wants.known && !wants.none && !wants.generation && !wants.checksum);
}

TEST(a_deployment_that_ends_wants_no_pods)
{
	struct workload workload[] = {
		{.replicas = 0, .generation = (char *)"g2"},
		{.replicas = 1, .deleting = true, .generation = (char *)"g2"},
		{.replicas = 1, .suspended = true},
		{.deleting = true},
	};

	for (size_t i = 0; i < ARRAY_LEN(workload); i++) {
		struct workload_wants wants = workload_wants(&workload[i]);

		CHECK(wants.known && wants.none && !wants.generation);
	}
}

KUBE_TEST(a_job_is_read)
{
	struct workload workload = {0};
	struct err err = {0};

	KUBE_SAY(stub, {.body = OBJECT("Job", "jm",
				       ",\"deletionTimestamp\":\"2026-11-21T12:00:00Z\","
				       "\"annotations\":{\"drey.dev/generation\":\"own\"}",
				       "\"suspend\":true")});
	CHECK_INT(workload_get(stub->kube, WORKLOAD_JOB, "jm", 1000, &workload, NULL, &err), ==, 0);
	CHECK_STR(stub->asked[0], "GET /apis/batch/v1/namespaces/team-a/jobs/jm");
	CHECK(workload.deleting && workload.suspended);
	CHECK_INT(workload.replicas, ==, 1);
	CHECK_STR(workload.generation, "own");
	workload_release(&workload);
}

TEST(another_object_is_refused)
{
	static const char *const bodies[] = {
		OBJECT("Job", "jm", "", ""),
		OBJECT("Deployment", "other", "", ""),
		OBJECT("Deployment", "jm", "", "\"replicas\":\"1\""),
		"{\"kind\":\"Deployment\",\"metadata\":{\"name\":\"jm\",\"uid\":\"u\"}}",
	};

	for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
		struct kube_stub stub;
		struct workload workload = {0};
		struct err err = {0};

		kube_stub_start(&stub);
		KUBE_SAY(&stub, {.body = bodies[i]});
		CHECK_INT(workload_get(stub.kube, WORKLOAD_DEPLOYMENT, "jm", 1000, &workload, NULL,
				       &err),
			  ==, -1);
		CHECK_INT(err.kind, ==, ERR_FORMAT);
		kube_stub_stop(&stub);
	}
}

KUBE_TEST(denied_is_not_absent)
{
	struct workload workload = {0};

	KUBE_SAY(stub,
		 {.status = 403, .body = KUBE_STATUS(403, "Forbidden", "no", "\"name\":\"jm\"")},
		 {.status = 404, .body = KUBE_NOT_FOUND("deployments", "jm")});
	for (int i = 0; i < 2; i++) {
		struct err err = {0};

		CHECK_INT(workload_get(stub->kube, WORKLOAD_DEPLOYMENT, "jm", 1000, &workload, NULL,
				       &err),
			  ==, -1);
		CHECK_INT(err.kind, ==, i ? ERR_ABSENT : ERR_DENIED);
	}
}

#define READY                                                                                      \
	"{\"type\":\"drey.dev/Ready\",\"status\":\"False\",\"reason\":\"NoUsableState\","          \
	"\"message\":\"why\",\"lastTransitionTime\":\"2026-03-01T12:00:00Z\"}"
#define STATUS(conditions) "},\"status\":{\"conditions\":[" conditions "]"

KUBE_TEST(our_condition_is_read_among_those_of_others)
{
	struct workload workload = {0};
	struct err err = {0};

	KUBE_SAY(stub,
		 {.body = OBJECT("Deployment", "jm", "",
				 STATUS("1,{\"type\":\"Available\",\"status\":\"True\"}," READY))});
	CHECK_INT(workload_get(stub->kube, WORKLOAD_DEPLOYMENT, "jm", 1000, &workload, NULL, &err),
		  ==, 0);
	CHECK_STR(workload.ready.status, "False");
	CHECK_STR(workload.ready.reason, "NoUsableState");
	CHECK_STR(workload.ready.message, "why");
	CHECK_INT(workload.ready.since_unix_ms, ==, 1772366400000);
	workload_release(&workload);
	CHECK(!workload.ready.status);
}

TEST(a_condition_that_is_nonsense_is_no_obstacle)
{
	static const char *const bodies[] = {
		OBJECT("Deployment", "jm", "",
		       STATUS("{\"type\":\"drey.dev/Ready\",\"status\":1,"
			      "\"lastTransitionTime\":\"soon\"}")),
		OBJECT("Deployment", "jm", "", STATUS("{\"type\":\"drey.dev/ready\"}")),
		OBJECT("Deployment", "jm", "", "},\"status\":{\"conditions\":{}"),
		OBJECT("Deployment", "jm", "", "},\"status\":{"),
	};

	for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
		struct kube_stub stub;
		struct workload workload = {0};
		struct err err = {0};

		kube_stub_start(&stub);
		KUBE_SAY(&stub, {.body = bodies[i]});
		CHECK_INT(workload_get(stub.kube, WORKLOAD_DEPLOYMENT, "jm", 1000, &workload, NULL,
				       &err),
			  ==, 0);
		CHECK(!workload.ready.status && !workload.ready.since_unix_ms);
		workload_release(&workload);
		kube_stub_stop(&stub);
	}
}

TEST(only_our_condition_of_this_very_object_is_patched)
{
	static const struct {
		const char *path, *time;
	} kinds[] = {
		{"apps/v1/namespaces/team-a/deployments", "lastUpdateTime"},
		{"batch/v1/namespaces/team-a/jobs", "lastProbeTime"},
	};
	struct workload_condition condition = {
		.status = (char[]){"False"},
		.reason = (char[]){"NoUsableState"},
		.message = (char[]){"a \"why\""},
		.since_unix_ms = 1772366400999,
		.updated_unix_ms = 1772366405000,
	};
	char want[400];

	for (int kind = WORKLOAD_DEPLOYMENT; kind <= WORKLOAD_JOB; kind++) {
		struct kube_stub stub;
		struct err err = {0};

		kube_stub_start(&stub);
		KUBE_SAY(&stub, {.body = OBJECT("Any", "jm", "", "")});
		CHECK_INT(workload_apply_condition(stub.kube, (enum workload_kind)kind, "jm", "u-1",
						   &condition, NULL, &err),
			  ==, 0);
		snprintf(want, sizeof(want), "PATCH /apis/%s/jm/status?fieldManager=drey",
			 kinds[kind].path);
		CHECK_STR(stub.asked[0], want);
		CHECK_HAS(stub.heads[0], "application/strategic-merge-patch+json");
		snprintf(want, sizeof(want),
			 "{\"metadata\":{\"uid\":\"u-1\"},\"status\":{\"conditions\":[{"
			 "\"type\":\"drey.dev/Ready\",\"status\":\"False\","
			 "\"reason\":\"NoUsableState\",\"message\":\"a \\\"why\\\"\","
			 "\"lastTransitionTime\":\"2026-03-01T12:00:00Z\","
			 "\"%s\":\"2026-03-01T12:00:05Z\"}]}}",
			 kinds[kind].time);
		CHECK_STR(stub.bodies[0], want);
		kube_stub_stop(&stub);
	}
}

KUBE_TEST(a_refused_patch_says_how)
{
	struct workload_condition condition = {
		.status = (char[]){"True"}, .reason = (char[]){"R"}, .message = (char[]){""}};
	struct kube_answer answer = {0};
	struct err err = {0};

	KUBE_SAY(stub, {.status = 422,
			.body = KUBE_STATUS(422, "Invalid", "metadata.uid: field is immutable",
					    "\"name\":\"jm\"")});
	CHECK_INT(workload_apply_condition(stub->kube, WORKLOAD_JOB, "jm", "u-1", &condition,
					   &answer, &err),
		  ==, -1);
	CHECK_INT(err.kind, ==, ERR_CONFIG);
	KUBE_SAY(stub, {.status = 429, .header = "Retry-After: 30\r\n", .body = "slow"});
	CHECK_INT(workload_apply_condition(stub->kube, WORKLOAD_JOB, "jm", "u-1", &condition,
					   &answer, &err),
		  ==, -1);
	CHECK_INT(answer.retry_after_ms, ==, 30000);
	CHECK_INT(kube_stub_asked(stub), ==, 2);
	CHECK_INT(workload_apply_condition(stub->kube, WORKLOAD_JOB, "a/b", "u-1", &condition,
					   &answer, &err),
		  ==, -1);
	CHECK_INT(kube_stub_asked(stub), ==, 2);
	kube_answer_release(&answer);
}
