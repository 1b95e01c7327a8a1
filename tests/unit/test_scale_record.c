#include "run/outputs/scale_record.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tap.h"

TEST(what_is_recorded_is_read_again)
{
	cleanup_free char *text = scale_record_text("tm", "u-1", 3);
	int64_t replicas = 7;

	CHECK_INT(scale_record_read(text, "u-1", &replicas, NULL), ==, 0);
	CHECK_INT(replicas, ==, 3);
}

TEST(that_of_another_deployment_is_none)
{
	cleanup_free char *text = scale_record_text("tm", "u-1", 3);
	int64_t replicas = 7;

	CHECK_INT(scale_record_read(text, "u-2", &replicas, NULL), ==, 0);
	CHECK_INT(replicas, ==, 0);
	replicas = 7;
	CHECK_INT(scale_record_read(NULL, "u-1", &replicas, NULL), ==, 0);
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

		CHECK_INT(scale_record_read(texts[i], "u-1", &replicas, &err), ==, -1);
		CHECK_INT(err.kind, ==, ERR_FORMAT);
		CHECK_HAS(err.msg, SCALE_RECORD_KEY);
		CHECK_INT(replicas, ==, 7);
	}
}
