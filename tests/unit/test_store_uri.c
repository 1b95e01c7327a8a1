#include "store/uri.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "tap.h"

static void check_canonical(const char *text, const char *want)
{
	cleanup_free char *got = uri_canonical(text);

	CHECK_STR(got, want);
}

TEST(spells_a_name_as_flink_does)
{
	check_canonical("/a/b", "file:/a/b");
	check_canonical("file:/a/b", "file:/a/b");
	check_canonical("file:///a//b/", "file:/a/b");
	check_canonical("FILE://localhost/a", "file:/a");
	check_canonical("file:///", "file:/");
	check_canonical("/", "file:/");
	check_canonical("s3://bucket/a/b/", "s3://bucket/a/b");
	check_canonical("s3://bucket", "s3://bucket");
	check_canonical("s3://bucket/", "s3://bucket");
	check_canonical("S3A://Bucket/Key", "s3a://Bucket/Key");
	check_canonical("swift://c.service/a", "swift://c.service/a");
	check_canonical("file:/a/./b/../c", "file:/a/c");
	check_canonical("file:/../..", "file:/");
	check_canonical("file:/a/b c/100%25", "file:/a/b c/100%25");
	check_canonical("file:/a/...", "file:/a/...");
}

TEST(refuses_what_is_no_uri)
{
	static const char *const bad[] = {"",      "a",           "a/b",   "./a", "file:a",
					  "file:", "s3:bucket/a", "1a:/b", ":/a", "C:\\a"};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct err err = {0};
		struct uri uri = {0};

		CHECK_INT(uri_parse(bad[i], &uri, &err), ==, -1);
		CHECK_INT(err.kind, ==, ERR_CONFIG);
		CHECK(uri.scheme == NULL);
		check_canonical(bad[i], NULL);
	}
}

static void check_join(const char *base, const char *name, const char *want)
{
	cleanup_free char *got = uri_join(base, name);

	CHECK_STR(got, want);
}

TEST(joins_with_one_slash)
{
	check_join("file:/a", "b", "file:/a/b");
	check_join("file:/a/", "b", "file:/a/b");
	check_join("file:/", "b", "file:/b");
	check_join("file:///", "b", "file:/b");
	check_join("/", "b", "/b");
	check_join("s3://bucket", "b", "s3://bucket/b");
}

static void check_parent(const char *text, const char *want)
{
	cleanup_free char *got = uri_parent(text);

	CHECK_STR(got, want);
}

TEST(finds_the_parent)
{
	check_parent("file:/a/b", "file:/a");
	check_parent("file:///a/b/", "file:/a");
	check_parent("file:/a", "file:/");
	check_parent("file:/", "file:/");
	check_parent("s3://bucket/a", "s3://bucket");
	check_parent("s3://bucket/a/b", "s3://bucket/a");
	check_parent("s3://bucket", "s3://bucket");
	CHECK_STR(uri_name("file:/a/b"), "b");
	CHECK_STR(uri_name("file:/a/"), "");
}

TEST(takes_a_word_of_a_person_from_the_working_directory)
{
	cleanup_free char *here = getcwd(NULL, 0);
	cleanup_free char *want = xasprintf("%s/a:b", here);
	cleanup_free char *relative = uri_of_argument("a:b"), *uri = uri_of_argument("s3://b/c"),
			  *absolute = uri_of_argument("/x");

	CHECK_STR(relative, want);
	CHECK_STR(uri, "s3://b/c");
	CHECK_STR(absolute, "/x");
}
