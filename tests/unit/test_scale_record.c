#include "run/outputs/scale_record.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tap.h"

TEST(each_object_has_a_key)
{
	static const struct kube_scale_target targets[] = {{KUBE_SCALE_DEPLOYMENT, (char *)"tm"},
							   {KUBE_SCALE_STATEFUL_SET, (char *)"tm"}};
	cleanup_free char *deployment = scale_record_key(&targets[0]);
	cleanup_free char *set = scale_record_key(&targets[1]);

	CHECK_STR(deployment, "task-managers.deployment.tm.json");
	CHECK_STR(set, "task-managers.statefulset.tm.json");
}

TEST(what_is_recorded_is_read_again)
{
	cleanup_free char *text = scale_record_text("u-1", 3);
	int64_t replicas = 7;

	CHECK_INT(scale_record_read("k", text, "u-1", &replicas, NULL), ==, 0);
	CHECK_INT(replicas, ==, 3);
}

TEST(that_of_another_object_is_none)
{
	cleanup_free char *text = scale_record_text("u-1", 3);
	int64_t replicas = 7;

	CHECK_INT(scale_record_read("k", text, "u-2", &replicas, NULL), ==, 0);
	CHECK_INT(replicas, ==, 0);
	replicas = 7;
	CHECK_INT(scale_record_read("k", NULL, "u-1", &replicas, NULL), ==, 0);
	CHECK_INT(replicas, ==, 0);
}

TEST(what_cannot_be_read_is_an_error_and_not_none)
{
	static const char *const texts[] = {
		"",
		"3",
		"{\"replicas\":3}",
		"{\"uid\":\"u-1\"}",
		"{\"uid\":\"u-1\",\"replicas\":0}",
		"{\"uid\":\"u-1\",\"replicas\":100001}",
		"{\"uid\":\"u-1\",\"replicas\":\"3\"}",
		"{\"uid\":\"u-1\",\"replicas\":3",
	};

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct err err = {0};
		int64_t replicas = 7;

		CHECK_INT(scale_record_read("k", texts[i], "u-1", &replicas, &err), ==, -1);
		CHECK_INT(err.kind, ==, ERR_FORMAT);
		CHECK_HAS(err.msg, "k: ");
		CHECK_INT(replicas, ==, 7);
	}
}
