#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/store_identity.h"
#include "store_dir.h"

static const char *const relations[] = {"apart", "same", "inside", "around"};

static const char *relate(const char *a, const char *b)
{
	struct store_identity left = {0}, right = {0};
	struct err err = {0};
	const char *word = "unknown";

	if (store_identity(a, &left, &err) == 0 && store_identity(b, &right, &err) == 0)
		word = relations[store_relate(&left, &right)];
	store_identity_release(&left);
	store_identity_release(&right);
	return word;
}

TEST(an_object_store_is_known_by_bucket_and_key_under_every_name_of_its_scheme)
{
	static const struct {
		const char *a, *b, *word;
	} rows[] = {
		{"s3://b/ck", "s3://b/ck", "same"},
		{"s3://b/ck", "s3a://b/ck/", "same"},
		{"s3p://b//ck/x/..", "S3A://b/ck", "same"},
		{"abfs://c@a/ck", "abfss://c@a/ck", "same"},
		{"s3://b/ck/x", "s3a://b/ck", "inside"},
		{"s3://b", "s3a://b/ck", "around"},
		{"s3://b/ck", "s3://b/ck2", "apart"},
		{"s3://b/ck", "s3://c/ck", "apart"},
		{"s3://b/ck", "gs://b/ck", "apart"},
		{"s3://b/ck", "file:/b/ck", "apart"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (!CHECK_STR(relate(rows[i].a, rows[i].b), rows[i].word))
			tap_note("%s %s", rows[i].a, rows[i].b);
}

TEST(a_directory_is_known_by_what_it_is_and_not_by_its_path)
{
	cleanup_dir char *top = dir_new();
	static const struct {
		const char *a, *b, *word;
	} rows[] = {
		{"ck", "ck", "same"},
		{"ck", "link", "same"},
		{"link/x", "ck", "inside"},
		{"ck", "link/x", "around"},
		{"ck/new/a", "link/new", "inside"}, /* neither of them exists */
		{"ck/new", "link/new", "same"},
		{"ck/new", "link/new2", "apart"},
		{"ck/new", "link", "inside"},
		{"sp", "ck", "apart"},
		{"sp", "sp/../ck", "apart"},
		{"ck/x/../../link", "ck", "same"},
		{"link/inner", "sp", "inside"},
		{"", "ck", "around"},
	};
	cleanup_free char *ck = xasprintf("%s/ck", top), *link = xasprintf("%s/link", top),
			  *sp = xasprintf("%s/sp/deep", top),
			  *inner = xasprintf("%s/ck/inner", top);

	dir_mkdir(top, "ck");
	dir_mkdir(top, "ck/x");
	dir_mkdir(top, "sp");
	dir_mkdir(top, "sp/deep");
	CHECK_INT(symlink(ck, link), ==, 0);
	CHECK_INT(symlink(sp, inner), ==, 0);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		cleanup_free char *a = xasprintf("file:%s/%s", top, rows[i].a),
				  *b = xasprintf("%s/%s", top, rows[i].b);

		if (!CHECK_STR(relate(a, b), rows[i].word))
			tap_note("%s %s", rows[i].a, rows[i].b);
	}
}

TEST(what_is_not_a_uri_or_cannot_be_found_is_an_error)
{
	cleanup_dir char *top = dir_new();
	cleanup_free char *loop = xasprintf("%s/loop", top);
	struct store_identity identity;
	struct err err = {0};

	CHECK_INT(store_identity("relative", &identity, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_CONFIG);
	dir_loop(top, "loop");
	CHECK_INT(store_identity(loop, &identity, &err), ==, -1);
	CHECK_HAS(err.msg, "loop");
}

int main(int argc, char **argv)
{
	return tap_main(argc, argv);
}
