#include "kube/workload.h"

#include "kube_stub.h"
#include "tap.h"

#define OBJECT(kind, name, more, spec)                                                             \
	"{\"kind\":\"" kind "\",\"metadata\":{\"name\":\"" name "\",\"uid\":\"u-1\"" more          \
	"},\"spec\":{" spec "}}"
#define POD_OF(generation)                                                                         \
	"\"template\":{\"metadata\":{\"annotations\":{\"drey.dev/generation\":\"" generation "\"}" \
	"}}"

static void a_deployment_is_read(void)
{
	struct kube_stub stub;
	struct workload workload = {0};
	struct err err = {0};

	kube_stub_start(&stub);
	KUBE_SAY(&stub, {.body = OBJECT("Deployment", "jm",
					",\"annotations\":{\"drey.dev/generation\":\"own\"}",
					"\"replicas\":0," POD_OF("g2"))});
	CHECK_INT(workload_get(stub.kube, WORKLOAD_DEPLOYMENT, "jm", 1000, &workload, &err), ==, 0);
	CHECK_STR(stub.asked[0], "GET /apis/apps/v1/namespaces/team-a/deployments/jm");
	CHECK_STR(workload.uid, "u-1");
	CHECK_INT(workload.replicas, ==, 0);
	CHECK_STR(workload.generation, "g2");
	CHECK(!workload.deleting && !workload.suspended);
	workload_release(&workload);
	kube_stub_stop(&stub);
}

static void a_job_is_read(void)
{
	struct kube_stub stub;
	struct workload workload = {0};
	struct err err = {0};

	kube_stub_start(&stub);
	KUBE_SAY(&stub, {.body = OBJECT("Job", "jm",
					",\"deletionTimestamp\":\"2026-11-21T12:00:00Z\","
					"\"annotations\":{\"drey.dev/generation\":\"own\"}",
					"\"suspend\":true")});
	CHECK_INT(workload_get(stub.kube, WORKLOAD_JOB, "jm", 1000, &workload, &err), ==, 0);
	CHECK_STR(stub.asked[0], "GET /apis/batch/v1/namespaces/team-a/jobs/jm");
	CHECK(workload.deleting && workload.suspended);
	CHECK_INT(workload.replicas, ==, 1);
	CHECK_STR(workload.generation, "own");
	workload_release(&workload);
	kube_stub_stop(&stub);
}

static void another_object_is_refused(void)
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
		CHECK_INT(workload_get(stub.kube, WORKLOAD_DEPLOYMENT, "jm", 1000, &workload, &err),
			  ==, -1);
		CHECK_INT(err.kind, ==, ERR_FORMAT);
		kube_stub_stop(&stub);
	}
}

static void denied_is_not_absent(void)
{
	struct kube_stub stub;
	struct workload workload = {0};

	kube_stub_start(&stub);
	KUBE_SAY(&stub,
		 {.status = 403, .body = KUBE_STATUS(403, "Forbidden", "no", "\"name\":\"jm\"")},
		 {.status = 404, .body = KUBE_STATUS(404, "NotFound", "no", "\"name\":\"jm\"")});
	for (int i = 0; i < 2; i++) {
		struct err err = {0};

		CHECK_INT(workload_get(stub.kube, WORKLOAD_DEPLOYMENT, "jm", 1000, &workload, &err),
			  ==, -1);
		CHECK_INT(err.kind, ==, i ? ERR_ABSENT : ERR_DENIED);
	}
	kube_stub_stop(&stub);
}

int main(void)
{
	TEST(a_deployment_is_read);
	TEST(a_job_is_read);
	TEST(another_object_is_refused);
	TEST(denied_is_not_absent);
	return tap_done();
}
