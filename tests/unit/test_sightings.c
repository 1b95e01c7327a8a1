#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/sightings.h"
#include "tap.h"

#define FILE_A "s3://b/ck/job/chk-5/_metadata"

struct rig {
	struct sightings *seen;
	struct err err;
};

static void rig_begin(struct rig *rig)
{
	*rig = (struct rig){.seen = sightings_new()};
}

static void rig_end(struct rig *rig)
{
	sightings_free(rig->seen);
}

#define RIG_TEST(name) TEST_WITH(name, struct rig, rig, rig_begin, rig_end)

static int absent(struct rig *rig, const char *uri)
{
	rig->err = (struct err){0};
	return sightings_check(rig->seen, uri, -1, "answered 404", &rig->err);
}

RIG_TEST(a_file_that_was_never_seen_may_be_absent)
{
	CHECK_INT(absent(rig, FILE_A), ==, 0);
	sightings_listed(rig->seen, "s3://b/ck/job/chk-5/_metadatas", 1,
			 sightings_begin(rig->seen));
	CHECK_INT(absent(rig, FILE_A), ==, 0);
	CHECK_INT(rig->err.kind, ==, ERR_NONE);
}

RIG_TEST(a_file_that_was_listed_is_not_absent_and_both_answers_are_told)
{
	sightings_listed(rig->seen, FILE_A, 5312, sightings_begin(rig->seen));
	CHECK_INT(absent(rig, FILE_A), ==, -1);
	CHECK_INT(rig->err.kind, ==, ERR_CONTRADICTED);
	CHECK_HAS(rig->err.msg, FILE_A ": listed at ");
	CHECK_HAS(rig->err.msg, " with 5312 bytes, but answered 404 at ");
	CHECK_HAS(rig->err.msg, " (UTC)");
	sightings_found(rig->seen, "file:/a", -1);
	CHECK_INT(absent(rig, "file:/a"), ==, -1);
	CHECK_HAS(rig->err.msg, "file:/a: found at ");
	CHECK(!strstr(rig->err.msg, "bytes"));
}

RIG_TEST(the_schemes_of_s3_are_names_of_one_store)
{
	sightings_found(rig->seen, "s3a://b/x", 1);
	CHECK_INT(absent(rig, "s3://b/x"), ==, -1);
	CHECK_INT(absent(rig, "s3p://b/x"), ==, -1);
	CHECK_INT(absent(rig, "swift://b/x"), ==, 0);
}

RIG_TEST(a_file_that_became_shorter_is_contradicted_and_a_longer_one_is_not)
{
	sightings_listed(rig->seen, FILE_A, 100, sightings_begin(rig->seen));
	CHECK_INT(sightings_check(rig->seen, FILE_A, 100, "x", &rig->err), ==, 0);
	CHECK_INT(sightings_check(rig->seen, FILE_A, 101, "x", &rig->err), ==, 0);
	CHECK_INT(sightings_check(rig->seen, FILE_A, 99, "answered with 99 bytes", &rig->err), ==,
		  -1);
	CHECK_INT(rig->err.kind, ==, ERR_CONTRADICTED);
	CHECK_HAS(rig->err.msg, "with 100 bytes, but answered with 99 bytes");
	/* an older answer after a newer one does not hide it */
	sightings_listed(rig->seen, FILE_A, 7, sightings_begin(rig->seen));
	CHECK_INT(sightings_check(rig->seen, FILE_A, 99, "x", &rig->err), ==, -1);
}

RIG_TEST(what_was_deleted_may_be_absent)
{
	sightings_found(rig->seen, FILE_A, 100);
	sightings_forget(rig->seen, FILE_A);
	CHECK_INT(absent(rig, FILE_A), ==, 0);
	CHECK_INT(sightings_check(rig->seen, FILE_A, 1, "x", &rig->err), ==, 0);
	sightings_found(rig->seen, FILE_A, 2);
	CHECK_INT(absent(rig, FILE_A), ==, -1);
}

RIG_TEST(only_a_listing_made_to_know_makes_an_absence_count_again)
{
	sightings_tick tick = sightings_begin(rig->seen);

	sightings_listed(rig->seen, FILE_A, 100, tick);
	sightings_listed(rig->seen, "s3://b/ck/job/chk-6/_metadata", 100, tick);
	tick = sightings_begin(rig->seen);
	sightings_complete(rig->seen, SIGHTINGS_LEVEL, "s3://b/ck/job/chk-5/", tick);
	CHECK_INT(absent(rig, FILE_A), ==, -1);
	sightings_gone(rig->seen, SIGHTINGS_LEVEL, "s3://b/ck/job/chk-5/", tick);
	CHECK_INT(absent(rig, FILE_A), ==, 0);
	CHECK_INT(absent(rig, "s3://b/ck/job/chk-6/_metadata"), ==, -1);
	/* seen after that */
	sightings_found(rig->seen, FILE_A, 100);
	CHECK_INT(absent(rig, FILE_A), ==, -1);
	sightings_gone(rig->seen, SIGHTINGS_TREE, "s3://b/ck/", sightings_begin(rig->seen));
	CHECK_INT(absent(rig, FILE_A), ==, 0);
	CHECK_INT(absent(rig, "s3://b/ck/job/chk-6/_metadata"), ==, 0);
}

RIG_TEST(what_a_listing_has_named_again_is_not_gone)
{
	sightings_tick tick;

	sightings_listed(rig->seen, FILE_A, 100, sightings_begin(rig->seen));
	tick = sightings_begin(rig->seen);
	sightings_listed(rig->seen, FILE_A, 100, tick);
	sightings_gone(rig->seen, SIGHTINGS_LEVEL, "s3://b/ck/job/chk-5/", tick);
	CHECK_INT(absent(rig, FILE_A), ==, -1);
}

static struct store_sighting of(struct rig *rig, const char *uri)
{
	struct store_sighting sighting = {.size_bytes = -2};

	if (!sightings_of(rig->seen, uri, &sighting))
		sighting.size_bytes = -3;
	return sighting;
}

RIG_TEST(tells_what_was_seen)
{
	sightings_tick tick;
	struct store_sighting is;

	CHECK_INT(of(rig, FILE_A).size_bytes, ==, -3);
	sightings_found(rig->seen, FILE_A, 100);
	is = of(rig, FILE_A);
	CHECK(is.found_unix_ms > 0 && !is.listed_unix_ms && !is.dir_unix_ms && !is.left_out);
	CHECK_INT(is.size_bytes, ==, 100);
	tick = sightings_begin(rig->seen);
	sightings_complete(rig->seen, SIGHTINGS_LEAF, "s3://b/ck/job/_metadata", tick);
	is = of(rig, "s3://b/ck//job/chk-5/_metadata");
	CHECK(is.dir_unix_ms > 0 && is.left_out);
	CHECK(!of(rig, "s3://b/ck/job/chk-5/x").dir_unix_ms);
	sightings_listed(rig->seen, FILE_A, 100, tick);
	is = of(rig, FILE_A);
	CHECK(is.listed_unix_ms == is.dir_unix_ms && !is.left_out);
	tick = sightings_begin(rig->seen);
	sightings_complete(rig->seen, SIGHTINGS_TREE, "s3://b/", tick);
	CHECK(of(rig, FILE_A).left_out);
	CHECK(of(rig, "s3://b/never").left_out);
	CHECK_INT(of(rig, "s3://c/never").size_bytes, ==, -3);
}

RIG_TEST(a_hundred_thousand_names_are_kept_apart)
{
	sightings_tick tick = sightings_begin(rig->seen);
	int wrong = 0;
	char uri[100];

	for (int i = 0; i < 100000; i++) {
		snprintf(uri, sizeof(uri), "s3://b/ck/shared/%08x-0000-4000-8000-000000000000",
			 i * 2);
		sightings_listed(rig->seen, uri, i, tick);
	}
	for (int i = 0; i < 200000; i++) {
		snprintf(uri, sizeof(uri), "s3://b/ck/shared/%08x-0000-4000-8000-000000000000", i);
		wrong += absent(rig, uri) != (i % 2 ? 0 : -1);
	}
	CHECK_INT(wrong, ==, 0);
}

RIG_TEST(beyond_the_limit_every_absence_is_doubted_until_a_listing_shows_it)
{
	sightings_tick tick = sightings_begin(rig->seen);
	char uri[100];

	for (size_t i = 0; i <= SIGHTINGS_MAX; i++) {
		snprintf(uri, sizeof(uri), "s3://b/x/%zx", i);
		sightings_listed(rig->seen, uri, 1, tick);
		if (i + 1 == SIGHTINGS_MAX)
			CHECK_INT(absent(rig, "s3://b/y/none"), ==, 0);
	}
	CHECK_INT(absent(rig, "s3://b/y/none"), ==, -1);
	CHECK_INT(rig->err.kind, ==, ERR_CONTRADICTED);
	CHECK_HAS(rig->err.msg, "more than 917504 files were seen");
	CHECK_INT(absent(rig, "s3://b/x/1"), ==, -1);
	sightings_gone(rig->seen, SIGHTINGS_LEVEL, "s3://b/y/", sightings_begin(rig->seen));
	CHECK_INT(absent(rig, "s3://b/y/none"), ==, 0);
}
