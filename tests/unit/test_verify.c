#include "store/verify.h"

#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "metadata_writer.h"
#include "store/sightings.h"
#include "store/store_ops.h"
#include "store/uri.h"
#include "store/verify_files.h"
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

TEST(a_whole_snapshot_is_complete)
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

TEST(a_metadata_file_may_have_another_name)
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

TEST(every_missing_file_is_named)
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

TEST(sizes_are_exact_or_lower_bounds)
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

TEST(says_both_sizes)
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

TEST(what_cannot_be_looked_at_is_neither_there_nor_missing)
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

TEST(a_damaged_metadata_file_is_damage)
{
	cleanup_dir char *top = dir_new();
	struct verify_report report;

	dir_put(top, "cut/_metadata", "\x49\x60\x67\x2d\0\0", 6);
	dir_put(top, "newer/_metadata", "\x49\x60\x67\x2d\0\0\0\x8\0\0\0\0\0\0\0\x1", 16);
	dir_mkdir(top, "empty");
	dir_loop(top, "loop/_metadata");
	check(top, "cut", VERIFY_DAMAGED, 1, &report);
	CHECK_INT(report.problems[0].fault, ==, VERIFY_UNDECODABLE);
	CHECK_INT(report.decoded, ==, false);
	verify_release(&report);
	/* what a newer drey could read is not damaged: falling back to older state would be wrong */
	check(top, "newer", VERIFY_UNREADABLE, 1, &report);
	CHECK_HAS(report.problems[0].detail, "written by a Flink newer than 2.4");
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

TEST(an_unsupported_store_is_refused_or_not_read)
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

TEST(many_problems_are_counted_but_not_all_kept)
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

/* ---- a store that counts ---- */

/* An object store of so many files "file:/d/f<n>" and "file:/e/f<n>", n bytes each, and what it was
 * asked. */
struct counted {
	struct store store;
	struct store_ops ops;
	int files, hidden; /* f<hidden> is missing; -1 none */
	int stale;         /* the listing shows f<stale> one byte short; 0 none */
	bool void_listing, dead;
	int lists, pages, looks;
};

static int counted_size(const struct counted *counted, const char *name)
{
	int number = atoi(name + 1);

	return *name == 'f' && number < counted->files && number != counted->hidden ? number : -1;
}

static int counted_list(struct store *store, const struct uri *uri, store_entry_fn fn, void *ctx,
			struct err *err)
{
	struct counted *counted = (struct counted *)store;
	struct store_entry entry;
	char name[16];

	(void)uri;
	counted->lists++;
	entry = (struct store_entry){.name = "f1", .is_prefix = true};
	fn(ctx, &entry, err);
	for (int i = 0; i < counted->files; i++) {
		counted->pages += i % 1000 == 0;
		snprintf(name, sizeof(name), "f%d", i);
		entry = (struct store_entry){.name = name,
					     .stat.size_bytes = i - (i && i == counted->stale)};
		if (i != counted->hidden && fn(ctx, &entry, err))
			return 0;
	}
	return counted->void_listing ? err_set(err, ERR_RETRY, 0, "the last page is lost") : 0;
}

static int counted_look_many(struct store *store, store_uri_fn uri, size_t count, size_t head_bytes,
			     store_look_fn fn, void *ctx, struct err *err)
{
	struct counted *counted = (struct counted *)store;
	struct err why = {.kind = ERR_RETRY, .msg = "no answer"};

	CHECK_INT(head_bytes, ==, 0);
	/* from the end: they come in no order */
	for (size_t i = count; i-- > 0;) {
		int size = counted_size(counted, uri_name(uri(ctx, i)));
		struct store_look look = {.index = i, .stat.size_bytes = size};

		counted->looks++;
		if (size < 0)
			look.state = STORE_LOOK_ABSENT;
		if (counted->dead) {
			look.state = STORE_LOOK_UNREADABLE;
			look.why = &why;
		}
		if (fn(ctx, &look, err))
			return -1;
	}
	return 0;
}

static void counted_close(struct store *store)
{
	(void)store;
}

static void counted_init(struct counted *counted, int files)
{
	*counted = (struct counted){.files = files, .hidden = -1, .ops = store_file_ops};
	counted->ops.list_page = 1000;
	counted->ops.list = counted_list;
	counted->ops.look_many = counted_look_many;
	counted->ops.close = counted_close;
	counted->store.ops = &counted->ops;
}

/* Verify the references to f0 .. f<count - 1> of the directory /d, and others of /e. */
static void check_counted(struct counted *counted, size_t count, size_t others,
			  struct verify_report *report)
{
	struct metadata metadata = {.file_count = count + others};
	struct stores stores = {0};

	counted->store.scheme = xstrdup("file");
	counted->store.authority = xstrdup("");
	counted->store.seen = counted->store.own_seen = sightings_new();
	stores.store = xcalloc(1, sizeof(*stores.store));
	stores.store[stores.count++] = &counted->store;
	metadata.files = xcalloc(count + others, sizeof(*metadata.files));
	for (size_t i = 0; i < count + others; i++) {
		size_t number = i < count ? i : i - count;
		cleanup_free char *path = xasprintf("file:/%c/f%zu", i < count ? 'd' : 'e', number);

		metadata.files[i].path = packed_add(&metadata.paths, path);
		metadata.files[i].size_bytes = (int64_t)number;
	}
	*report = (struct verify_report){.path = xstrdup("file:/d")};
	verify_files(report, &stores, &metadata);
	stores_release(&stores);
	metadata_release(&metadata);
}

TEST(sizes_come_from_a_listing_where_that_is_cheaper)
{
	static const struct {
		int files, referenced, others; /* in the directory, of them referenced; and of /e */
		int pages, looks;
	} cases[] = {
		{10000, 10000, 0, 10, 0}, {20, 20, 0, 1, 0},
		{20, 11, 11, 0, 22}, /* each is worth more than eleven looks */
		{20, 12, 11, 1, 11},      {1000, 12, 0, 1, 0},
		{50000, 48, 0, 1, 0}, /* seen early */
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		size_t count = (size_t)cases[i].referenced, others = (size_t)cases[i].others;
		struct verify_report report;
		struct counted counted;

		counted_init(&counted, cases[i].files);
		check_counted(&counted, count, others, &report);
		CHECK_INT(counted.pages, ==, cases[i].pages);
		CHECK_INT(counted.looks, ==, cases[i].looks);
		CHECK_INT(report.files_ok, ==, count + others);
		CHECK_INT(report.verdict, ==, VERIFY_COMPLETE);
		verify_release(&report);
	}
}

TEST(a_listing_that_costs_more_than_it_saves_is_given_up)
{
	struct verify_report report;
	struct counted counted;

	counted_init(&counted, 100000);
	counted.hidden = 7;
	check_counted(&counted, 36, 0, &report);
	/* for the cost of 36 looks; and all of them, because one file was not found */
	CHECK_INT(counted.lists, ==, 2);
	CHECK_INT(counted.pages, ==, 3 + 100);
	CHECK_INT(counted.looks, ==, 1);
	CHECK_INT(report.files_ok, ==, 35);
	CHECK_INT(report.problem_count, ==, 1);
	CHECK_STR(report.problems[0].path, "file:/d/f7");
	verify_release(&report);
}

TEST(of_a_listing_that_failed_nothing_is_used)
{
	struct verify_report report;
	struct counted counted;

	counted_init(&counted, 20);
	counted.hidden = 3;
	counted.void_listing = true;
	check_counted(&counted, 20, 0, &report);
	/* nor is the file that is not found missing, as long as its directory cannot be listed */
	CHECK_INT(counted.lists, ==, 2);
	CHECK_INT(counted.looks, ==, 20);
	CHECK_INT(report.files_ok, ==, 19);
	CHECK_INT(report.problems[0].fault, ==, VERIFY_NOT_READ);
	verify_release(&report);
}

TEST(a_wrong_size_in_a_listing_is_asked_for_again)
{
	struct verify_report report;
	struct counted counted;

	counted_init(&counted, 20);
	counted.stale = 7;
	check_counted(&counted, 20, 0, &report);
	CHECK_INT(counted.lists, ==, 1);
	CHECK_INT(counted.looks, ==, 1);
	CHECK_INT(report.verdict, ==, VERIFY_COMPLETE);
	CHECK_INT(report.files_ok, ==, 20);
	verify_release(&report);
}

TEST(a_store_that_gives_no_answer_is_given_up)
{
	struct verify_report report;
	struct counted counted;

	counted_init(&counted, 0); /* of the listing nothing is known */
	counted.dead = true;
	check_counted(&counted, 5000, 0, &report);
	CHECK_INT(counted.looks, ==, VERIFY_NO_ANSWERS);
	CHECK_INT(report.verdict, ==, VERIFY_UNREADABLE);
	CHECK_INT(report.problem_count, ==, VERIFY_NO_ANSWERS);
	CHECK_INT(report.problems_left_out, ==, 5000 - VERIFY_NO_ANSWERS);
	verify_release(&report);
}

TEST(damage_comes_first_and_the_rest_by_name)
{
	struct verify_report report;
	struct counted counted;
	size_t wrong = 0;

	counted_init(&counted, 6);
	check_counted(&counted, 9, 0, &report);
	CHECK_INT(report.problem_count, ==, 3);
	CHECK_STR(report.problems[0].path, "file:/d/f6");
	CHECK_STR(report.problems[2].path, "file:/d/f8");
	verify_release(&report);

	cleanup_dir char *top = dir_new();

	make(top);
	dir_rm(top, "chk-1/own");
	dir_loop(top, "chk-1/own");
	dir_rm(top, "dstl/log");
	dir_rm(top, "shared/sst");
	dir_loop(top, "shared/sst");
	dir_hole(top, "shared/segments", 1);
	check(top, "chk-1", VERIFY_DAMAGED, 4, &report);
	for (size_t i = 1; i < report.problem_count; i++)
		wrong += report.problems[i - 1].fault > report.problems[i].fault;
	CHECK_INT(report.problems[0].fault, ==, VERIFY_MISSING);
	CHECK_INT(wrong, ==, 0);
	verify_release(&report);
}

TEST(files_of_several_stores_are_asked_for_where_they_are)
{
	cleanup_dir char *top = dir_new();
	cleanup_buf struct buf keyed = BUF_INIT, bytes = BUF_INIT;
	cleanup_free char *here = xasprintf("file:%s/here", top);
	struct verify_report report;

	wr_u8(&keyed, 5);
	wr_i64(&keyed, 1);
	wr_utf(&keyed, "backend");
	wr_i64(&keyed, 0);
	wr_u8(&keyed, 0);
	wr_i32(&keyed, 0);
	wr_i32(&keyed, 4);
	wr_utf(&keyed, "1");
	wr_file(&keyed, "hdfs://nn/ck/f", 1);
	wr_utf(&keyed, "2");
	wr_file(&keyed, here, 3);
	wr_utf(&keyed, "3");
	wr_file(&keyed, "gs://bucket/f", 1);
	wr_utf(&keyed, "4");
	wr_relative(&keyed, "own", 5);
	wr_snapshot(&bytes, 6, 1, &keyed);
	dir_put(top, "chk-1/_metadata", bytes.data, bytes.len_bytes);
	dir_hole(top, "here", 3);
	dir_hole(top, "chk-1/own", 5);
	check(top, "chk-1", VERIFY_UNREADABLE, 2, &report);
	CHECK_INT(report.files_ok, ==, 2);
	CHECK_STR(report.problems[0].path, "gs://bucket/f");
	CHECK_HAS(report.problems[0].detail, "scheme 'gs' is not supported");
	CHECK_STR(report.problems[1].path, "hdfs://nn/ck/f");
	verify_release(&report);
}
