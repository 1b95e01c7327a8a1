#include "kube/kube_scale.h"

#include "kube_stub.h"
#include "tap.h"

#define SCALE(name, spec)                                                                          \
	"{\"kind\":\"Scale\",\"apiVersion\":\"autoscaling/v1\",\"metadata\":{\"name\":\"" name     \
	"\",\"uid\":\"u-1\",\"resourceVersion\":\"17\"},\"spec\":{" spec "}}"

static const struct kube_scale_target tm = {KUBE_SCALE_DEPLOYMENT, (char *)"tm"};

#define KUBE_TEST(name) TEST_WITH(name, struct kube_stub, stub, kube_stub_start, kube_stub_stop)

KUBE_TEST(the_number_of_pods_is_read)
{
	struct kube_scale scale = {0};

	KUBE_SAY(stub, {.body = SCALE("tm", "\"replicas\":3")});
	CHECK_INT(kube_scale_get(stub->kube, &tm, &scale, NULL, NULL), ==, 0);
	CHECK_STR(stub->asked[0], "GET /apis/apps/v1/namespaces/team-a/deployments/tm/scale");
	CHECK_INT(scale.replicas, ==, 3);
	CHECK_STR(scale.uid, "u-1");
	CHECK_STR(scale.resource_version, "17");
	kube_scale_release(&scale);
	CHECK(!scale.uid);
}

KUBE_TEST(zero_is_what_is_left_out)
{
	struct kube_scale scale = {.replicas = 7};

	KUBE_SAY(stub, {.body = SCALE("tm", "")});
	CHECK_INT(kube_scale_get(stub->kube, &tm, &scale, NULL, NULL), ==, 0);
	CHECK_INT(scale.replicas, ==, 0);
	kube_scale_release(&scale);
}

TEST(what_is_not_a_scale_of_it_is_refused)
{
	static const char *const bodies[] = {
		"{\"kind\":\"Deployment\",\"metadata\":{\"name\":\"tm\",\"uid\":\"u\",\"resourceVersion\":\"1\"},\"spec\":{}}",
		SCALE("other", ""),
		SCALE("tm", "\"replicas\":\"3\""),
		SCALE("tm", "\"replicas\":-1"),
		"{\"kind\":\"Scale\",\"metadata\":{\"name\":\"tm\",\"uid\":\"u\",\"resourceVersion\":\"1\"}}",
		"{\"kind\":\"Scale\",\"metadata\":{\"name\":\"tm\",\"uid\":\"u\"},\"spec\":{}}",
	};

	for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
		struct kube_stub stub;
		struct kube_scale scale = {0};
		struct err err = {0};

		kube_stub_start(&stub);
		KUBE_SAY(&stub, {.body = bodies[i]});
		CHECK_INT(kube_scale_get(stub.kube, &tm, &scale, NULL, &err), ==, -1);
		CHECK_INT(err.kind, ==, ERR_FORMAT);
		kube_stub_stop(&stub);
	}
}

KUBE_TEST(it_is_set_only_as_it_was_read)
{
	struct kube_scale scale = {.uid = (char[]){"u-1"}, .resource_version = (char[]){"17"}};
	struct kube_answer answer = {0};
	struct err err = {0};

	KUBE_SAY(stub, {.body = SCALE("tm", "")},
		 {.status = 409,
		  .body = KUBE_STATUS(409, "Conflict", "it has changed", "\"name\":\"tm\"")});
	CHECK_INT(kube_scale_set(stub->kube, &tm, &scale, 3, NULL, NULL), ==, 0);
	CHECK_STR(stub->asked[0],
		  "PATCH /apis/apps/v1/namespaces/team-a/deployments/tm/scale?fieldManager=drey");
	CHECK_STR(
		stub->bodies[0],
		"{\"metadata\":{\"resourceVersion\":\"17\",\"uid\":\"u-1\"},\"spec\":{\"replicas\":3}}");
	CHECK_HAS(stub->heads[0], KUBE_MERGE_PATCH);
	CHECK_INT(kube_scale_set(stub->kube, &tm, &scale, 0, &answer, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_BUSY);
	CHECK_INT(answer.status, ==, 409);
	CHECK_INT(stub->asked_count, ==, 2);
	kube_answer_release(&answer);
}

KUBE_TEST(a_stateful_set_is_another_resource)
{
	static const struct kube_scale_target set = {KUBE_SCALE_STATEFUL_SET, (char *)"tm-0"};
	struct kube_scale scale = {0};

	KUBE_SAY(stub, {.body = SCALE("tm-0", "\"replicas\":1")}, {.body = SCALE("tm-0", "")});
	CHECK_INT(kube_scale_get(stub->kube, &set, &scale, NULL, NULL), ==, 0);
	CHECK_STR(stub->asked[0], "GET /apis/apps/v1/namespaces/team-a/statefulsets/tm-0/scale");
	CHECK_INT(kube_scale_set(stub->kube, &set, &scale, 0, NULL, NULL), ==, 0);
	CHECK_STR(
		stub->asked[1],
		"PATCH /apis/apps/v1/namespaces/team-a/statefulsets/tm-0/scale?fieldManager=drey");
	kube_scale_release(&scale);
}

KUBE_TEST(denied_is_not_absent)
{
	struct kube_scale scale = {0};

	KUBE_SAY(stub,
		 {.status = 403, .body = KUBE_STATUS(403, "Forbidden", "no", "\"name\":\"tm\"")},
		 {.status = 404, .body = KUBE_NOT_FOUND("deployments/scale", "tm")});
	for (int i = 0; i < 2; i++) {
		struct err err = {0};

		CHECK_INT(kube_scale_get(stub->kube, &tm, &scale, NULL, &err), ==, -1);
		CHECK_INT(err.kind, ==, i ? ERR_ABSENT : ERR_DENIED);
	}
}
