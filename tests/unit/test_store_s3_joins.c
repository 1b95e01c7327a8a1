/* Listings of stores whose pages are short, that ignore where a page is to begin or how long it is, or leave names out where
 * pages meet. */
#include "s3_world.h"

#define WORLD_TEST(name) TEST_WITH(name, struct world, world, begin, end)

enum { NAMES = 40 };

/* Files and directories in turn. */
static void put_names(struct s3_stub *stub, int count)
{
	for (int i = 0; i < count; i++)
		stub->objects[stub->object_count++] = (struct s3_object){
			xasprintf(i % 3 ? "ck/x%05d." : "ck/x%05d./f", i), 5, "\"e\""};
}

static int count_entry(void *ctx, const struct store_entry *entry, struct err *err)
{
	(void)entry;
	(void)err;
	++*(int *)ctx;
	return 0;
}

static int count_leaf(void *ctx, const struct store_leaf *leaf, struct err *err)
{
	(void)leaf;
	(void)err;
	++*(int *)ctx;
	return 0;
}

static int list(struct world *world, bool deep, int *ret_count)
{
	*ret_count = 0;
	world->err = (struct err){0};
	s3_stub_requests(world->stub);
	return deep ? store_list_tree(world->store, "s3://b/ck", count_leaf, ret_count, &world->err)
		    : store_list(world->store, "s3://b/ck", count_entry, ret_count, &world->err);
}

/* What a store does. */
struct habits {
	int page;
	bool any_start, any_length;
	int gap, gap_token;
	bool gap_nowhere, aligned;
};

static void live_with(struct world *world, const struct habits *habits)
{
	world->stub->page = habits->page;
	world->stub->any_start = habits->any_start;
	world->stub->any_length = habits->any_length;
	world->stub->gap = habits->gap;
	world->stub->gap_token = habits->gap_token;
	world->stub->gap_nowhere = habits->gap_nowhere;
	world->stub->aligned = habits->aligned;
}

WORLD_TEST(all_names_are_found_whatever_the_pages_are)
{
	static const struct habits rows[] = {
		{.page = 1},
		{.page = 2},
		{.page = 3},
		{.page = 7},
		{.page = 39},
		{.page = 40},
		{.page = 7, .any_length = true},
		{.page = 7, .gap_token = 1}, /* no token is used */
		{.page = 2, .any_start = true},
		{.page = 3, .any_start = true},
		{.page = 7, .any_start = true},
		{.page = 39, .any_start = true},
		{.page = 40, .any_start = true, .any_length = true}, /* one page */
	};

	put_names(world->stub, NAMES);
	for (size_t i = 0; i < 2 * ARRAY_LEN(rows); i++) {
		int count;

		live_with(world, &rows[i / 2]);
		if (!CHECK_INT(list(world, i % 2, &count), ==, 0))
			tap_note("%zu: %s", i, world->err.msg);
		CHECK_INT(count, ==, NAMES);
	}
}

WORLD_TEST(a_name_that_is_left_out_between_two_pages_is_missed)
{
	static const struct {
		struct habits habits;
		const char *why;
	} rows[] = {
		{{.page = 1, .gap = 1}, "is left out of what comes after"},
		{{.page = 1, .gap_token = 1}, "out of order"},
		{{.page = 2, .gap = 1}, "is left out of what comes after"},
		{{.page = 7, .gap = 1}, "is left out of what comes after"},
		{{.page = 7, .gap = 2}, "is left out of what comes after"},
		{{.page = 39, .gap = 1}, "is left out of what comes after"},
		{{.page = 7, .any_start = true, .gap_token = 1}, "it has other names"},
		{{.page = 20, .any_start = true, .gap_token = 1}, "it has other names"},
		{{.page = 39, .any_start = true, .gap_token = 1}, "it has other names"},
		{{.page = 7, .any_start = true, .any_length = true}, "how long it is"},
		{{.page = 7, .any_start = true, .aligned = true}, "how long it is"},
		{{.page = 1, .any_start = true}, "out of order"},
		{{.page = 1, .any_length = true, .gap = 1}, "is left out of what comes after"},
	};

	put_names(world->stub, NAMES);
	for (size_t i = 0; i < 2 * ARRAY_LEN(rows); i++) {
		int count;

		live_with(world, &rows[i / 2].habits);
		CHECK_INT(list(world, i % 2, &count), ==, -1);
		if (!CHECK_HAS(world->err.msg, rows[i / 2].why))
			tap_note("%zu", i / 2);
		CHECK(world->err.kind == ERR_CONTRADICTED || world->err.kind == ERR_FORMAT);
	}
}

/* Of the folded directories alone: a page then begins after a name that does not exist. */
WORLD_TEST(so_is_one_that_is_left_out_after_a_name_that_does_not_exist)
{
	int count;

	for (int i = 0; i < NAMES; i++)
		world->stub->objects[world->stub->object_count++] =
			(struct s3_object){xasprintf("ck/x%05d./f", i), 5, "\"e\""};
	live_with(world, &(struct habits){.page = 7, .gap_nowhere = true});
	CHECK_INT(list(world, false, &count), ==, 0);
	CHECK_INT(count, ==, NAMES);
	world->stub->gap = 1;
	CHECK_INT(list(world, false, &count), ==, -1);
	CHECK_INT(world->err.kind, ==, ERR_CONTRADICTED);
	CHECK_HAS(world->err.msg, "is left out of what comes after");
	CHECK_INT(list(world, true, &count), ==, 0);
}

WORLD_TEST(a_join_is_proven_only_where_there_is_one)
{
	static const struct {
		struct habits habits;
		int requests;
	} rows[] = {
		{{.page = 40}, 1},
		{{.page = 39}, 2},
		{{.page = 20}, 3},
		{{.page = 14}, 3},
		{{.page = 40, .any_start = true, .any_length = true}, 1},
		/* two pages, the first one again, and the second reading: 10 and 20 and 10 names */
		{{.page = 20, .any_start = true}, 3 + 3},
	};

	put_names(world->stub, NAMES);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int count;

		live_with(world, &rows[i].habits);
		CHECK_INT(list(world, true, &count), ==, 0);
		if (!CHECK_INT(s3_stub_requests(world->stub), ==, rows[i].requests))
			tap_note("%zu", i);
	}
}

/* ---- a caller that has enough, and one that pauses ---- */

static int end_at_20(void *ctx, const struct store_leaf *leaf, struct err *err)
{
	(void)leaf;
	(void)err;
	return ++*(int *)ctx == 20;
}

WORLD_TEST(what_was_passed_on_before_the_end_is_read_twice_too)
{
	int count = 0;

	put_names(world->stub, NAMES);
	live_with(world, &(struct habits){.page = 7, .any_start = true});
	CHECK_INT(store_list_tree(world->store, "s3://b/ck", end_at_20, &count, &world->err), ==,
		  0);
	CHECK_INT(count, ==, 20);
	count = 0;
	world->stub->gap_token = 1;
	CHECK_INT(store_list_tree(world->store, "s3://b/ck", end_at_20, &count, &world->err), ==,
		  -1);
	CHECK_HAS(world->err.msg, "it has other names");
}

static int count_dir(void *ctx, const struct store_dir *dir, struct err *err)
{
	(void)dir;
	(void)err;
	++*(int *)ctx;
	return 0;
}

static int list_dirs(struct world *world, int *ret_count)
{
	*ret_count = 0;
	world->err = (struct err){0};
	return store_list_dirs(world->store, "s3://b/sp", "_metadata", count_dir, ret_count,
			       &world->err);
}

/* First all names, then directories only, and more of these than are asked for their leaf at a time. */
WORLD_TEST(also_in_a_listing_that_is_read_in_parts)
{
	enum { FULL = 12, FILES = 100, MORE = 4200 };
	int count;

	for (int i = 0; i < FULL; i++)
		for (int k = 0; k < FILES; k++)
			world->stub->objects[world->stub->object_count++] =
				(struct s3_object){xasprintf("sp/d%04d/%04d", i, k), 5, "\"e\""};
	for (int i = 0; i < MORE; i++)
		world->stub->objects[world->stub->object_count++] =
			(struct s3_object){xasprintf("sp/f%04d/_metadata", i), 5, "\"e\""};
	live_with(world, &(struct habits){.any_start = true});
	if (!CHECK_INT(list_dirs(world, &count), ==, 0))
		tap_note("%s", world->err.msg);
	CHECK_INT(count, ==, FULL + MORE);
	world->stub->gap_token = 1;
	CHECK_INT(list_dirs(world, &count), ==, -1);
	CHECK_HAS(world->err.msg, "it has other names");
}

int main(int argc, char **argv)
{
	return tap_main(argc, argv);
}
