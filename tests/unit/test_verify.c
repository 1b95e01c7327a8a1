#include "store/verify.h"

#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "metadata_writer.h"
#include "store/store_ops.h"
#include "store/uri.h"
#include "store/verify_list.h"
#include "store_dir.h"

/* A snapshot in top/chk-1 with files of every kind, in top/chk-1, top/shared and top/dstl. */
static void make(const char *top)
{
	cleanup_buf struct buf keyed = BUF_INIT, bytes = BUF_INIT;
	cleanup_free char *sst = xasprintf("file:%s/shared/sst", top);
	cleanup_free char *segments = xasprintf("file://%s/shared/segments", top);
	cleanup_free char *log = xasprintf("file:%s/dstl/log", top);
	cleanup_free char *unknown = xasprintf("file:%s/shared/unknown", top);

	wr_u8(&keyed, 8);
	wr_i32(&keyed, 0);
	wr_i32(&keyed, 128);
	wr_i64(&keyed, 1);
	wr_i32(&keyed, 1);
	wr_u8(&keyed, 5);
	wr_i64(&keyed, 1);
	wr_utf(&keyed, "backend");
	wr_i64(&keyed, 0);
	wr_relative(&keyed, "own", 10);
	wr_i32(&keyed, 4);
	wr_utf(&keyed, "1");
	wr_file(&keyed, sst, 20);
	wr_utf(&keyed, "2");
	wr_segment(&keyed, segments, 5, 10, 1);
	wr_utf(&keyed, "3");
	wr_segment(&keyed, segments, 15, 15, 1);
	wr_utf(&keyed, "4");
	wr_file(&keyed, unknown, -1);
	wr_i32(&keyed, 0);
	wr_i32(&keyed, 1);
	wr_u8(&keyed, 10);
	wr_i64(&keyed, 0);
	wr_i32(&keyed, 1);
	wr_i64(&keyed, 0);
	wr_file(&keyed, log, 40);
	wr_i64(&keyed, 40);
	wr_i64(&keyed, 40);
	wr_utf(&keyed, "handle-id");
	wr_i64(&keyed, 1);
	wr_utf(&keyed, "handle-id");
	wr_snapshot(&bytes, 6, 1, &keyed);
	dir_put(top, "chk-1/_metadata", bytes.data, bytes.len_bytes);
	dir_hole(top, "chk-1/own", 10);
	dir_hole(top, "shared/sst", 20);
	dir_hole(top, "shared/segments", 30);
	dir_hole(top, "shared/unknown", 12345);
	dir_hole(top, "dstl/log", 41);
}

static void check(const char *top, const char *name, enum verify_verdict verdict, size_t problems,
		  struct verify_report *ret)
{
	cleanup_free char *path = uri_join(top, name);
	struct err err = {0};

	CHECK_INT(verify_snapshot(NULL, path, ret, &err), ==, 0);
	CHECK_STR(verify_verdict_name(ret->verdict), verify_verdict_name(verdict));
	if (!CHECK_INT(ret->problem_count, ==, problems))
		for (size_t i = 0; i < ret->problem_count; i++)
			tap_note("%s %s", ret->problems[i].path, ret->problems[i].detail);
}

static void a_whole_snapshot_is_complete(void)
{
	cleanup_dir char *top = dir_new();
	cleanup_free char *want = xasprintf("file:%s/chk-1", top);
	struct verify_report report;

	make(top);
	check(top, "chk-1", VERIFY_COMPLETE, 0, &report);
	CHECK_INT(report.file_count, ==, 5);
	CHECK_INT(report.files_ok, ==, 5);
	CHECK_INT(report.size_bytes, ==, 10 + 20 + 30 + 40);
	CHECK_INT(report.header.version, ==, 6);
	CHECK_INT(report.header.checkpoint_id, ==, 1);
	CHECK_INT(report.tail.flavour, ==, METADATA_FLAVOUR_CHECKPOINT);
	CHECK_STR(report.path, want);
	verify_release(&report);
	check(top, "chk-1/_metadata", VERIFY_COMPLETE, 0, &report);
	CHECK_STR(report.path, want);
	verify_release(&report);
}

static void a_metadata_file_may_have_another_name(void)
{
	cleanup_dir char *top = dir_new();
	cleanup_free char *from = uri_join(top, "chk-1/_metadata"),
			  *to = uri_join(top, "chk-1/renamed");
	struct verify_report report;

	make(top);
	CHECK_INT(rename(from, to), ==, 0);
	check(top, "chk-1/renamed", VERIFY_COMPLETE, 0, &report);
	verify_release(&report);
	check(top, "chk-1", VERIFY_DAMAGED, 1, &report);
	verify_release(&report);
}

static void every_missing_file_is_named(void)
{
	static const char *const names[] = {"chk-1/own", "shared/sst", "shared/segments",
					    "shared/unknown", "dstl/log"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		cleanup_dir char *top = dir_new();
		cleanup_free char *want = xasprintf("file:%s/%s", top, names[i]);
		struct verify_report report;

		make(top);
		dir_rm(top, names[i]);
		check(top, "chk-1", VERIFY_DAMAGED, 1, &report);
		CHECK_INT(report.problems[0].fault, ==, VERIFY_MISSING);
		CHECK_STR(report.problems[0].path, want);
		CHECK_INT(report.files_ok, ==, 4);
		verify_release(&report);
	}
}

static void sizes_are_exact_or_lower_bounds(void)
{
	static const struct {
		const char *name;
		off_t size;
		enum verify_verdict verdict;
	} cases[] = {
		{"chk-1/own", 9, VERIFY_DAMAGED},        {"chk-1/own", 11, VERIFY_DAMAGED},
		{"shared/sst", 19, VERIFY_DAMAGED},      {"shared/sst", 21, VERIFY_DAMAGED},
		{"shared/segments", 29, VERIFY_DAMAGED}, {"shared/segments", 99, VERIFY_COMPLETE},
		{"dstl/log", 39, VERIFY_DAMAGED},        {"dstl/log", 40, VERIFY_COMPLETE},
		{"shared/unknown", 0, VERIFY_COMPLETE},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		cleanup_dir char *top = dir_new();
		bool damaged = cases[i].verdict == VERIFY_DAMAGED;
		struct verify_report report;

		make(top);
		dir_hole(top, cases[i].name, cases[i].size);
		check(top, "chk-1", cases[i].verdict, damaged, &report);
		if (damaged)
			CHECK_INT(report.problems[0].fault, ==, VERIFY_WRONG_SIZE);
		verify_release(&report);
	}
}

static void says_both_sizes(void)
{
	cleanup_dir char *top = dir_new();
	struct verify_report report;

	make(top);
	dir_hole(top, "chk-1/own", 9);
	dir_hole(top, "shared/segments", 29);
	check(top, "chk-1", VERIFY_DAMAGED, 2, &report);
	CHECK_STR(report.problems[0].detail, "has 9 bytes, expected 10");
	CHECK_STR(report.problems[1].detail, "has 29 bytes, expected at least 30");
	verify_release(&report);
}

static void what_cannot_be_looked_at_is_neither_there_nor_missing(void)
{
	cleanup_dir char *top = dir_new();
	struct verify_report report;

	make(top);
	dir_rm(top, "shared/sst");
	dir_loop(top, "shared/sst");
	check(top, "chk-1", VERIFY_UNREADABLE, 1, &report);
	CHECK_INT(report.problems[0].fault, ==, VERIFY_NOT_READ);
	verify_release(&report);
	dir_rm(top, "dstl/log"); /* damage is proven, whatever the other file is */
	check(top, "chk-1", VERIFY_DAMAGED, 2, &report);
	verify_release(&report);
}

static void a_damaged_metadata_file_is_damage(void)
{
	cleanup_dir char *top = dir_new();
	struct verify_report report;

	dir_put(top, "cut/_metadata", "\x49\x60\x67\x2d\0\0", 6);
	dir_put(top, "newer/_metadata", "\x49\x60\x67\x2d\0\0\0\x7\0\0\0\0\0\0\0\x1", 16);
	dir_mkdir(top, "empty");
	dir_loop(top, "loop/_metadata");
	check(top, "cut", VERIFY_DAMAGED, 1, &report);
	CHECK_INT(report.problems[0].fault, ==, VERIFY_UNDECODABLE);
	CHECK_INT(report.decoded, ==, false);
	verify_release(&report);
	/* what a newer drey could read is not damaged: falling back to older state would be wrong */
	check(top, "newer", VERIFY_UNREADABLE, 1, &report);
	CHECK_HAS(report.problems[0].detail, "written by Flink 2.4 or newer");
	verify_release(&report);
	check(top, "empty", VERIFY_DAMAGED, 1, &report);
	CHECK_INT(report.problems[0].fault, ==, VERIFY_MISSING);
	verify_release(&report);
	check(top, "nowhere", VERIFY_DAMAGED, 1, &report);
	CHECK_INT(report.problems[0].fault, ==, VERIFY_MISSING);
	verify_release(&report);
	check(top, "loop", VERIFY_UNREADABLE, 1, &report);
	verify_release(&report);
}

static void an_unsupported_store_is_refused_or_not_read(void)
{
	cleanup_dir char *top = dir_new();
	cleanup_buf struct buf keyed = BUF_INIT, bytes = BUF_INIT;
	struct verify_report report;
	struct err err = {0};

	CHECK_INT(verify_snapshot(NULL, "hdfs://nn/chk-1", &report, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_CONFIG);
	wr_u8(&keyed, 3);
	wr_groups(&keyed);
	wr_file(&keyed, "hdfs://nn/ck/f", 1);
	wr_snapshot(&bytes, 6, 1, &keyed);
	dir_put(top, "chk-1/_metadata", bytes.data, bytes.len_bytes);
	check(top, "chk-1", VERIFY_UNREADABLE, 1, &report);
	CHECK_HAS(report.problems[0].detail, "scheme 'hdfs' is not supported");
	verify_release(&report);
}

static void many_problems_are_counted_but_not_all_kept(void)
{
	cleanup_dir char *top = dir_new();
	cleanup_buf struct buf keyed = BUF_INIT, bytes = BUF_INIT;
	struct verify_report report;
	struct timespec start, end;
	char name[32];

	wr_u8(&keyed, 5);
	wr_i64(&keyed, 1);
	wr_utf(&keyed, "backend");
	wr_i64(&keyed, 0);
	wr_u8(&keyed, 0);
	wr_i32(&keyed, 0);
	wr_i32(&keyed, 10000);
	for (int i = 0; i < 10000; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		wr_utf(&keyed, name);
		wr_relative(&keyed, name, 1);
	}
	wr_snapshot(&bytes, 6, 1, &keyed);
	dir_put(top, "chk-1/_metadata", bytes.data, bytes.len_bytes);
	clock_gettime(CLOCK_MONOTONIC, &start);
	check(top, "chk-1", VERIFY_DAMAGED, VERIFY_MAX_PROBLEMS, &report);
	clock_gettime(CLOCK_MONOTONIC, &end);
	CHECK_INT(report.problems_left_out, ==, 9000);
	tap_note("10000 files in %.1f ms", (double)(end.tv_sec - start.tv_sec) * 1e3 +
						   (double)(end.tv_nsec - start.tv_nsec) / 1e6);
	verify_release(&report);
}

/* ---- sizes from a listing ---- */

static void sizes_come_from_one_listing_where_that_is_cheaper(void)
{
	cleanup_dir char *top = dir_new();
	struct metadata_file file = {.size_bytes = 1};
	struct verify_item items[6] = {0};
	struct store_ops ops = store_file_ops;
	struct store *store;

	for (int i = 0; i < 6; i++) {
		items[i].file = &file;
		items[i].size_bytes = -1;
		items[i].uri = xasprintf("file:%s/%s/%c", top, i == 5 ? "b" : "a", 'e' - i % 5);
	}
	dir_hole(top, "a/a", 1);
	dir_hole(top, "a/c", 3);
	dir_hole(top, "a/e", 5);
	dir_mkdir(top, "a/d"); /* a directory is not the file */
	verify_list_sort(items, 6);
	CHECK_INT(verify_list_group(items, 0, 6), ==, 5);
	CHECK_INT(verify_list_group(items, 5, 6), ==, 6);
	CHECK_INT(store_open(NULL, top, &store, NULL), ==, 0);
	verify_list_sizes(store, items, 5);
	CHECK_INT(items[0].size_bytes, ==, 1);
	CHECK_INT(items[1].size_bytes, ==, -1);
	CHECK_INT(items[2].size_bytes, ==, 3);
	CHECK_INT(items[3].size_bytes, ==, -1);
	CHECK_INT(items[4].size_bytes, ==, 5);
	dir_loop(top, "a/loop"); /* the listing fails: nothing of it is used */
	for (int i = 0; i < 6; i++)
		items[i].size_bytes = -1;
	ops.list_page = 1000;
	store->ops = &ops;
	verify_list_sizes(store, items, 5);
	for (int i = 0; i < 6; i++) {
		CHECK_INT(items[i].size_bytes, ==, -1);
		free(items[i].uri);
	}
	store_close(store);
}

/* A directory without end. */
static int list_for_ever(struct store *store, const struct uri *uri, store_entry_fn fn, void *ctx,
			 struct err *err)
{
	struct store_entry entry = {.name = "other"};
	size_t entries = 1;

	(void)store;
	(void)uri;
	while (entries < 1000000 && !fn(ctx, &entry, err))
		entries++;
	CHECK_INT(entries, ==, 2 * 1000 + 1); /* one page for each file, and no more */
	return 0;
}

static void a_listing_that_costs_more_than_it_saves_is_given_up(void)
{
	struct store_ops ops = store_file_ops;
	struct metadata_file file = {.size_bytes = 1};
	struct verify_item items[2] = {{&file, xstrdup("file:/d/a"), -1},
				       {&file, xstrdup("file:/d/b"), -1}};
	struct store *store;

	CHECK_INT(store_open(NULL, "/", &store, NULL), ==, 0);
	ops.list_page = 1000;
	ops.list = list_for_ever;
	store->ops = &ops;
	verify_list_sizes(store, items, 2);
	CHECK_INT(items[0].size_bytes, ==, -1);
	free(items[0].uri);
	free(items[1].uri);
	store_close(store);
}

int main(void)
{
	TEST(a_whole_snapshot_is_complete);
	TEST(a_metadata_file_may_have_another_name);
	TEST(every_missing_file_is_named);
	TEST(sizes_are_exact_or_lower_bounds);
	TEST(says_both_sizes);
	TEST(what_cannot_be_looked_at_is_neither_there_nor_missing);
	TEST(a_damaged_metadata_file_is_damage);
	TEST(an_unsupported_store_is_refused_or_not_read);
	TEST(many_problems_are_counted_but_not_all_kept);
	TEST(sizes_come_from_one_listing_where_that_is_cheaper);
	TEST(a_listing_that_costs_more_than_it_saves_is_given_up);
	return tap_done();
}
